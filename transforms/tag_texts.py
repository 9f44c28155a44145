"""Outputs, references and sources to measure, from line-parallel text or LXM JSON files."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from transforms import files
from transforms.errors import InputError


@dataclasses.dataclass(frozen=True, slots=True)
class TagTexts:
    """Lines with tags, as many of each kind.

    Attributes:
        hypotheses: Outputs ``[line]``.
        references: What is right ``[line]``.
        sources: What was translated ``[line]``; None if not given.
        name: The references' file, for messages.
        language: The language that the files name, if they do.
    """

    hypotheses: tuple[str, ...]
    references: tuple[str, ...]
    sources: tuple[str, ...] | None
    name: str
    language: str | None = None

    def __post_init__(self) -> None:
        for lines in (self.hypotheses, self.sources):
            if lines is not None and len(lines) != len(self.references):
                raise ValueError(f"{len(lines)} lines for {len(self.references)} references")


def is_json(path: str) -> bool:
    """Tell whether a file is LXM JSON, by its name."""
    return path.endswith(".json")


def read_texts(hypothesis: str, reference: str, source: str | None) -> TagTexts:
    """Read what is measured: all files line-parallel text, or all LXM JSON.

    JSON holds ``lang``, ``type`` and ``text``, an object of texts by id. The reference's ids
    decide; the others must be the same, in any order.

    Raises:
        InputError: A file cannot be read or has another form; the numbers of lines differ
            (``line_count_mismatch``), or the ids (``id_mismatch``).
    """
    paths = [hypothesis, reference] if source is None else [hypothesis, reference, source]
    if len({is_json(path) for path in paths}) > 1:
        raise InputError("mixed_formats", hypothesis, "give all files as .json, or all as text")
    if is_json(reference):
        return _from_json(paths)
    lines = [read_lines(path) for path in paths]
    for path, found in zip(paths, lines, strict=True):
        if len(found) != len(lines[1]):
            raise InputError(
                "line_count_mismatch",
                path,
                f"has {len(found)} lines, but {reference} has {len(lines[1])}",
            )
    return TagTexts(lines[0], lines[1], lines[2] if source is not None else None, reference)


def read_lines(path: str) -> tuple[str, ...]:
    """Return the lines of a text file, less their terminators (LF or CRLF).

    Raises:
        InputError: The file is not UTF-8 (``not_utf8``).
    """
    text = _read(path)
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return tuple(line.removesuffix("\r") for line in lines)


def _read(path: str) -> str:
    try:
        return files.read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            "not_utf8", path, f"byte {error.start} is no UTF-8; convert the file"
        ) from error


def _from_json(paths: Sequence[str]) -> TagTexts:
    found = [_read_object(path) for path in paths]
    reference = paths[1]
    ids = list(found[1]["text"])
    for path, item in zip(paths, found, strict=True):
        odd = sorted(set(ids) ^ item["text"].keys())
        if odd:
            where = "lacks" if odd[0] in found[1]["text"] else f"has, but {reference} lacks,"
            raise InputError(
                "id_mismatch", path, f"{where} the id {odd[0]!r} and {len(odd) - 1} others"
            )
    language = found[1].get("lang")
    if found[0].get("lang") != language:
        raise InputError(
            "language_mismatch",
            paths[0],
            f"is in {found[0].get('lang')!r}, but {reference} is in {language!r}",
        )
    texts = [tuple(item["text"][key] for key in ids) for item in found]
    return TagTexts(texts[0], texts[1], texts[2] if len(texts) > 2 else None, reference, language)


def _read_object(path: str) -> Mapping[str, Any]:
    try:
        item = json.loads(_read(path))
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError("bad_json", path, f"is no JSON: {error}") from error
    text = item.get("text") if isinstance(item, dict) else None
    if not isinstance(text, dict) or not all(isinstance(value, str) for value in text.values()):
        raise InputError(
            "bad_json", path, 'has no object "text" of strings by id; see the LXM format'
        )
    language = item.get("lang")
    if language is not None and not isinstance(language, str):
        raise InputError("bad_json", path, f'"lang" must be a string, got {language!r}')
    return item
