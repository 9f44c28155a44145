"""Outputs, references and sources to measure, from line-parallel text or LXM JSON files."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import cast

from pairweave.transforms.errors import InputError
from pairweave.transforms.formats.lxm import parse_file
from pairweave.transforms.storage import files, text_lines
from pairweave.transforms.units import ReadLimits


@dataclasses.dataclass(frozen=True, slots=True)
class TagTexts:
    """Lines with tags, the same number of each kind.

    Attributes:
        hypotheses: Outputs ``[line]``.
        references: References ``[line]``.
        sources: Sources ``[line]``; None if not given.
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
    """Read the texts to measure: all files line-parallel text, or all LXM JSON.

    JSON has ``lang``, ``type`` and ``text``, an object of texts by id. All files must have the ids
    of the reference, in any order.

    Raises:
        InputError: A file cannot be read or has another form (`transforms.formats.lxm`); the
            numbers of lines differ (``line_count_mismatch``), or the ids (``id_mismatch``).
    """
    paths = [hypothesis, reference] if source is None else [hypothesis, reference, source]
    if len({is_json(path) for path in paths}) > 1:
        raise InputError("mixed_formats", hypothesis, "give all files as .json, or all as text")
    if is_json(reference):
        return _from_json(paths)
    lines = [tuple(text_lines.read_text_lines(path)) for path in paths]
    for path, texts in zip(paths, lines, strict=True):
        text_lines.require_equal_lines([path, reference], [len(texts), len(lines[1])])
    return TagTexts(lines[0], lines[1], lines[2] if source is not None else None, reference)


def _from_json(paths: Sequence[str]) -> TagTexts:
    texts_by_file = [_read_lxm(path) for path in paths]
    reference = paths[1]
    language, reference_texts = texts_by_file[1]
    for path, (_, texts) in zip(paths, texts_by_file, strict=True):
        odd = sorted(reference_texts.keys() ^ texts.keys())
        if odd:
            where = "lacks" if odd[0] in reference_texts else f"has, but {reference} lacks,"
            raise InputError(
                "id_mismatch", path, f"{where} the id {odd[0]!r} and {len(odd) - 1} others"
            )
    if texts_by_file[0][0] != language:
        raise InputError(
            "language_mismatch",
            paths[0],
            f"is in {texts_by_file[0][0]!r}, but {reference} is in {language!r}",
        )
    lines = [tuple(texts[key] for key in reference_texts) for _, texts in texts_by_file]
    return TagTexts(lines[0], lines[1], lines[2] if len(lines) > 2 else None, reference, language)


def _read_lxm(path: str) -> tuple[str | None, Mapping[str, str]]:
    """Return a file's language, if it names one, and its texts."""
    language, texts = parse_file(files.read_bytes(path), path, ReadLimits())
    for key, text in texts.items():
        if not isinstance(text, str):
            raise InputError("wrong_type", path, f'"text": {key} must be a string, got {text!r}')
    if language is not None and not isinstance(language, str):
        raise InputError("wrong_type", path, f'"lang" must be a string, got {language!r}')
    return language, cast("Mapping[str, str]", texts)
