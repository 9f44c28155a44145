"""The functions on texts and links: symmetrize, project tags."""

import io
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from pairweave.pipelines.command_line.command_table import SUBCOMMANDS
from pairweave.pipelines.in_memory.keyword_options import (
    in_python,
    keywords_of_kinds,
    refuse,
    require_known,
    with_keywords,
)
from pairweave.pipelines.job_options.projection_options import TagsProjectOptions
from pairweave.pipelines.process import terminal
from pairweave.transforms.arrow.flat_columns import list_column
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.links.link_options import Heuristic
from pairweave.transforms.links.pharaoh import parse_links, symmetrize_files

LinksLike: TypeAlias = Iterable[str | Sequence[tuple[int, int]]]
"""For each sentence, Pharaoh text (``0-0 1-2``) or pairs of word numbers from 0."""


_PROJECTED = keywords_of_kinds({"project": TagsProjectOptions.model_fields})
_OF_FILES = ("source_input", "target_input", "output", "confidence")
_FILES = {"sources": "source_input", "translations": "target_input", "links": "links"}
"""The option of the command that names the file of each argument."""

_LINKS = pa.list_(pa.struct([("source", pa.int32()), ("target", pa.int32())]))


def symmetrize(
    forward: LinksLike, reverse: LinksLike, heuristic: Heuristic = "grow-diag"
) -> pa.Table:
    """Combine two directions of links (Och and Ney 2003; Koehn et al. 2005).

    Args:
        forward: Links of one direction, for each sentence.
        reverse: Links of the other direction, also as (source, target).
        heuristic: As ``pairweave symmetrize --heuristic``.

    Returns:
        The column ``links``: ``list<struct<source: int32, target: int32>>`` ``[sentence]``, sorted.

    Raises:
        ConfigError: The heuristic is unknown, or something is not the links of a sentence.
        InputError: Links are malformed, or both directions differ in their number of sentences.
    """
    with (
        tempfile.TemporaryDirectory(prefix="pairweave-") as directory,
        in_python("symmetrize", directory),
    ):
        paths = [Path(directory, name) for name in ("forward", "reverse")]
        for path, links in zip(paths, (forward, reverse), strict=True):
            write_lines(path, _pharaoh(links, path.name))
        out = io.BytesIO()
        symmetrize_files(paths[0], paths[1], heuristic, out)
    joined = parse_links(out.getvalue(), paths[0])
    sides = {"source": joined.sources, "target": joined.targets}
    fields = {name: numbers.astype(np.int32) for name, numbers in sides.items()}
    return pa.table({"links": list_column(joined.offsets, fields, _LINKS)})


@with_keywords(_PROJECTED, without=_OF_FILES)
def project_tags(
    sources: Iterable[str],
    translations: Iterable[str],
    links: LinksLike | None = None,
    **options: Any,  # noqa: ANN401
) -> pa.Table:
    """Put the tags of sources onto their translations (Hanneman and Dinu 2020, section 3).

    Args:
        sources: Texts with tags ``[sentence]``.
        translations: Their translations without tags ``[sentence]``.
        links: Links of the words of each source, without its tags, and its translation; by default
            an aligner makes them.
        options: See below.

    Returns:
        The column ``text``: the translations with tags ``[sentence]``; and ``confidence``: for each
        tag of the source, how sure its place is, in [0, 1] (null with ``rules="paper"``).

    Raises:
        ConfigError: An option cannot be used, or something is not the text of one sentence.
        InputError: The tags of a source are malformed, or links do not match the texts.
    """
    refuse(options, _OF_FILES, "texts in memory are projected")
    require_known(options, _PROJECTED, "project_tags", suggested=_PROJECTED)
    with tempfile.TemporaryDirectory(prefix="pairweave-") as directory:
        given = {"sources": sources, "translations": translations}
        if links is not None:
            given["links"] = _pharaoh(links, "links")
        for name, texts in given.items():
            path = Path(directory, name)
            write_lines(path, texts)
            options[_FILES[name]] = str(path)
        options["output"] = str(Path(directory, "output"))
        sure = options.get("rules", "best") == "best"
        if sure:
            options["confidence"] = str(Path(directory, "confidence"))
        with in_python("project_tags", directory):
            printed_by("tags project", options)
        lines = Path(options["output"]).read_text(encoding="utf-8").split("\n")[:-1]
        confidences: list[list[float] | None] = [None] * len(lines)
        if sure:
            rows = map(json.loads, Path(options["confidence"]).read_bytes().splitlines())
            confidences = [[tag["confidence"] for tag in row] for row in rows]
    columns = {
        "text": pa.array(lines, pa.string()),
        "confidence": pa.array(confidences, pa.list_(pa.float64())),
    }
    return pa.table(columns)


def printed_by(name: str, options: dict[str, Any], first: Sequence[str] = ()) -> str:
    """Run a subcommand with options as flags; return what it prints."""
    words = list(first)
    for option, value in options.items():
        if value is None:  # the same as an option that is not given
            continue
        values = value if isinstance(value, list | tuple) else (value,)
        words += [f"--{option}", *map(_word, values)]
    said: list[str] = []
    with terminal.saying_to(said.append):
        SUBCOMMANDS[name].load()(name, words)
    return "\n".join(said)


def _word(value: object) -> str:
    """Return the value of an option in the form for its flag."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _pharaoh(links: LinksLike, name: str) -> Iterator[str]:
    """Yield the links of each sentence as Pharaoh text.

    Raises:
        ConfigError: Something is neither text nor pairs of numbers.
    """
    _require_several(links, name)
    for number, each in enumerate(links):
        if isinstance(each, str):
            yield each
            continue
        try:
            pairs = [f"{source}-{target}" for source, target in each]
        except (TypeError, ValueError) as error:
            raise ConfigError(
                f"{name}: item {number} is {str(each)[:40]}; give text such as 0-0 1-2, or pairs "
                "of word numbers"
            ) from error
        yield " ".join(pairs)


def write_lines(path: Path, texts: Iterable[str]) -> None:
    """Write sentences as the lines of a file that is named after their argument.

    Raises:
        ConfigError: Something is not the text of one sentence.
    """
    name = path.name
    _require_several(texts, name)
    with path.open("w", encoding="utf-8") as file:
        for number, text in enumerate(texts):
            if not isinstance(text, str):
                raise ConfigError(f"{name}: item {number} is {type(text).__name__}; give text")
            if "\n" in text or "\r" in text:
                raise ConfigError(f"{name}: {text[:40]!r} has a line break; give one sentence each")
            try:
                file.write(f"{text}\n")
            except UnicodeEncodeError as error:
                raise ConfigError(
                    f"{name}: item {number} cannot be written as UTF-8: {error}"
                ) from error


def _require_several(given: Iterable[object], name: str) -> None:
    """Refuse one text in place of several: its letters would be read as the texts."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise ConfigError(
            f"{name}: got {type(given).__name__}; give a list with one item per sentence"
        )
