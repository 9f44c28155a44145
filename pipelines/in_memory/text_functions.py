"""The functions on texts and links: symmetrize, project tags, evaluate."""

import contextlib
import importlib
import io
import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from pairweave.pipelines.in_memory.keyword_options import (
    in_python,
    keywords_of_kinds,
    refuse,
    require_known,
    with_keywords,
)
from pairweave.pipelines.options.base import Options
from pairweave.transforms.arrow.flat_columns import list_column
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.links.link_options import Heuristic
from pairweave.transforms.links.pharaoh import parse_links, symmetrize_files

LinksLike: TypeAlias = Iterable[str | Sequence[tuple[int, int]]]
"""For each sentence, Pharaoh text (``0-0 1-2``) or pairs of word numbers from 0."""

Lines: TypeAlias = str | os.PathLike[str] | Iterable[str]
"""A file, or its lines."""

EvaluatedKind: TypeAlias = Literal["links", "sentences", "suggestions", "tags"]


def _of_commands(module: str, name: str) -> Any:  # noqa: ANN401
    """Return what a module of commands defines; named, as no function imports a command."""
    return getattr(importlib.import_module(f"pairweave.pipelines.commands.{module}"), name)


_KINDS: Mapping[str, type[Options]] = {
    kind: _of_commands("evaluate.evaluate_command", "FUNCTIONS")[kind].model(f"evaluate {kind}")
    for kind in ("links", "sentences", "suggestions", "tags")
}
_EVALUATED = keywords_of_kinds(_KINDS)
_IN_PLACE = ("hypothesis", "gold", "reference")
"""Options of these commands that stand in their place, without a flag."""

_PROJECTED = keywords_of_kinds(
    {"project": _of_commands("tags.projection_options", "TagsProjectOptions")}
)
_OF_FILES = ("source_input", "target_input", "output", "confidence")

_LINKS = pa.list_(pa.struct([("source", pa.int32()), ("target", pa.int32())]))


def symmetrize(
    forward: LinksLike, reverse: LinksLike, heuristic: Heuristic = "grow-diag"
) -> pa.Table:
    """Combine two directions of links (Och and Ney 2003; Koehn et al. 2005).

    Args:
        forward: Links of one direction, for each sentence.
        reverse: Links of the other, also as source and target.
        heuristic: As ``pairweave symmetrize --heuristic``.

    Returns:
        The column ``links``: ``list<struct<source: int32, target: int32>>`` ``[sentence]``, sorted.

    Raises:
        ConfigError: The heuristic is unknown, or the text of a sentence's links has a line break.
        InputError: Links are malformed, or the sides have other numbers of sentences.
    """
    with tempfile.TemporaryDirectory(prefix="pairweave-") as directory:
        paths = [Path(directory, name) for name in ("forward", "reverse")]
        for path, links in zip(paths, (forward, reverse), strict=True):
            lines = (_line(_pharaoh(each), path.name) for each in links)
            path.write_text("".join(lines), encoding="utf-8")
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
        ConfigError: An option cannot be used, or a text has a line break.
        InputError: The tags of a source are malformed, or links do not fit the texts.
    """
    refuse(options, _OF_FILES, "texts in memory are projected")
    require_known(options, _PROJECTED, "project_tags", suggested=_PROJECTED)
    with tempfile.TemporaryDirectory(prefix="pairweave-") as directory:
        names = {"source_input": sources, "target_input": translations}
        if links is not None:
            names["links"] = map(_pharaoh, links)
        for name, texts in names.items():
            path = Path(directory, name)
            path.write_text("".join(_line(text, name) for text in texts), encoding="utf-8")
            options[name] = str(path)
        options["output"] = str(Path(directory, "output"))
        sure = options.get("rules", "best") == "best"
        if sure:
            options["confidence"] = str(Path(directory, "confidence"))
        with in_python("project_tags", directory):
            _command("tags.tags_project", "tags project", options)
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


@with_keywords(_EVALUATED, without=_IN_PLACE)
def evaluate(
    kind: EvaluatedKind,
    hypothesis: Lines,
    gold: Lines,
    *,
    source: Lines | None = None,
    baseline: Lines | None = None,
    **options: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Measure results against gold data.

    Args:
        kind: ``links`` (alignment error rate), ``sentences``, ``suggestions`` or ``tags``.
        hypothesis: The results: a file, or its lines.
        gold: The gold data, likewise.
        source: Of tags, the sources with their tags, likewise, to count flagrant failures.
        baseline: Of suggestions and tags, another system's results, likewise: every figure is
            tested against its own.
        options: See below; most are of some kinds alone, which the help names.

    Returns:
        The figures, by name.

    Raises:
        ConfigError: The kind or an option is unknown, or an option or a file cannot be used.

    >>> evaluate("links", ["0-0 1-1"], ["1-1 2-2"], one_based=True)["aer"]
    0.0
    """
    if kind not in _KINDS:
        raise ConfigError(f"kind: must be one of {', '.join(_KINDS)}, got {kind!r}")
    files = {"hypothesis": hypothesis, "gold": gold, "source": source, "baseline": baseline}
    given = {name: lines for name, lines in files.items() if lines is not None}
    _require_of_kind(kind, [*list(given)[2:], *options])
    with tempfile.TemporaryDirectory(prefix="pairweave-") as directory:
        paths = {name: _file(lines, Path(directory, name)) for name, lines in given.items()}
        first = kind, paths.pop("hypothesis"), paths.pop("gold")
        with in_python("evaluate", directory):
            printed = _command("evaluate.evaluate_command", kind, {**options, **paths}, first)
    figures: dict[str, Any] = json.loads(printed.strip().splitlines()[-1])
    return figures


def _require_of_kind(kind: str, names: Sequence[str]) -> None:
    """Refuse keywords that `evaluate` does not have, or has for other kinds.

    Raises:
        ConfigError: There is one.
    """
    refuse(names, _IN_PLACE, "it is the argument gold")
    require_known(names, _EVALUATED, "evaluate", suggested=_KINDS[kind].model_fields)
    for name in names:
        having = [each for each, model in _KINDS.items() if name in model.model_fields]
        if kind not in having:
            raise ConfigError(f"{name}: applies to {' and '.join(having)}, not to {kind}")


def _file(lines: Lines, path: Path) -> str:
    """Return the name of a file of lines, which are written to a path unless they are one."""
    if isinstance(lines, str | os.PathLike):
        return os.fspath(lines)
    path.write_text("".join(_line(line, path.name) for line in lines), encoding="utf-8")
    return str(path)


def _command(module: str, name: str, options: dict[str, Any], first: Sequence[str] = ()) -> str:
    """Run a command with options as flags; return what it prints."""
    words = list(first)
    for option, value in options.items():
        if value is None:  # as if it were not given
            continue
        values = value if isinstance(value, list | tuple) else (value,)
        words += [f"--{option}", *map(_word, values)]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        _of_commands(module, "main")(name, words)
    return out.getvalue()


def _word(value: object) -> str:
    """Return the value of an option as its flag takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _pharaoh(links: str | Sequence[tuple[int, int]]) -> str:
    if isinstance(links, str):
        return links
    return " ".join(f"{source}-{target}" for source, target in links)


def _line(text: str, name: str) -> str:
    if "\n" in text or "\r" in text:
        raise ConfigError(f"{name}: {text[:40]!r} has a line break; give one sentence each")
    return f"{text}\n"
