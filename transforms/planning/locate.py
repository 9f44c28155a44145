"""Finds the files that the input patterns match, with their formats and names.

A file's name is the same on every machine: a relative path or URI as in the pattern
(``data/a.tsv`` for ``data/*.tsv``); for an absolute pattern, the path below the pattern's fixed
directory (``b/a.tsv`` for ``/home/me/data/*/a.tsv``). If two files of one corpus would have the
same name, both are prefixed with as many of their directories as needed to distinguish them.
"""

import dataclasses
import os
import posixpath
import re
from collections.abc import Iterator, Sequence

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.formats import registry
from pairweave.transforms.planning.hub_data_sets import check_first_row, data_set_files
from pairweave.transforms.planning.paired_names import below_pattern, pair_names
from pairweave.transforms.plugins.corpus_format import FORMAT
from pairweave.transforms.plugins.entry_points import known_names
from pairweave.transforms.reading.input_format import InputFormat
from pairweave.transforms.reading.json_documents import IS_JSON
from pairweave.transforms.storage import files
from pairweave.transforms.storage.byte_streams import COMPRESSIONS
from pairweave.transforms.storage.hub_places import is_data_set, parse_place
from pairweave.transforms.units import CorpusInput

# Line-parallel text may have any extension except these, which belong to other formats.
_NO_TEXT = frozenset({".zip", ".7z", ".tar", ".tgz", ".lz4", ".br", ".z"})
_SIDES: dict[str, tuple[str, str | None]] = {
    "source": ("source_input", None),
    "target": ("target_input", None),
    "translation": ("translation_input", None),
    "score": ("score_input", None),
    "links": ("links", "pharaoh"),
    "forward_links": ("forward_links", "pharaoh"),
    "reverse_links": ("reverse_links", "pharaoh"),
    "attention": ("attention", "attention"),
}
"""The option for the files of each role, and their format if it is not that of the texts."""

_BESIDE_LINES = {"pharaoh": True, "attention": False}
"""Formats of files that accompany line-parallel text, and whether they may be compressed."""

_GLOB = re.compile(r"[*?[]")


@dataclasses.dataclass(slots=True)
class LocatedFile:
    """One file of the input.

    Attributes:
        role: As in `transforms.units.InputFile`.
        path: Its path, from the pattern.
        name: Its name in the output and in messages.
        format: As in `transforms.units.InputFile`.
        compression: ``none``, ``gzip`` or ``zstd``.
    """

    role: str
    path: str
    name: str
    format: str
    compression: str


@dataclasses.dataclass(slots=True)
class FileGroup:
    """The files that are read together: one, or those of line-parallel text."""

    corpus: CorpusInput
    files: list[LocatedFile]

    def format(self) -> InputFormat:
        """Return the format of the texts."""
        return registry.input_format(self.files[0].format)

    def langs(self) -> tuple[str, str]:
        """Return source and target language.

        Raises:
            ConfigError: The source language is not given and the format does not imply it.
        """
        source = self.corpus.source_lang or self.format().source_lang
        if source is None:
            raise ConfigError(f"{self.files[0].name}: source_lang is missing")
        assert self.corpus.target_lang is not None
        return source, self.corpus.target_lang

    def inline_tags(self) -> str:
        """Return how tags inside texts are treated."""
        return self.corpus.inline_tags or self.format().inline_tags

    def inline_syntax(self) -> str:
        """Return the syntax of tags."""
        return self.corpus.inline_syntax or self.format().inline_syntax


def option_of(role: str) -> str:
    """Return the option that names the files of a role.

    >>> option_of("score"), option_of("pairs")
    ('score_input', 'input')
    """
    return "input" if role == "pairs" else _SIDES[role][0]


def locate(corpora: Sequence[CorpusInput]) -> list[FileGroup]:
    """Find the files of all corpora, in order.

    Raises:
        InputError: ``no_match``, ``file_count_mismatch``, ``unsupported_format`` or
            ``unreadable``.
    """
    groups = [group for corpus in corpora for group in _resolve(corpus)]
    _tell_apart(groups)
    return groups


def _resolve(corpus: CorpusInput) -> Iterator[FileGroup]:
    if corpus.input:
        for pattern in corpus.input:
            if is_data_set(pattern):
                yield from _of_data_set(corpus, pattern)
                continue
            for path, name in _match_all([pattern]):
                yield FileGroup(corpus, [_typed("pairs", path, name, corpus.format)])
        return
    for option, _ in _SIDES.values():
        for place in filter(is_data_set, getattr(corpus, option)):
            raise InputError(
                "no_match", place, f"{option}: a data set has both sides; give it with --input"
            )
    sides = [(role, getattr(corpus, option)) for role, (option, _) in _SIDES.items()]
    sides = [(role, patterns) for role, patterns in sides if patterns]
    if corpus.pair_by == "name":
        yield from _paired(corpus, sides)
        return
    matched = [(role, _match_all(patterns)) for role, patterns in sides]
    counts = [len(matches) for _, matches in matched]
    if len(set(counts)) > 1:
        spelled = ", ".join(
            f"{_SIDES[role][0]} {' '.join(patterns)} matches {count}"
            for (role, patterns), count in zip(sides, counts, strict=True)
        )
        raise InputError(
            "file_count_mismatch",
            corpus.source_input[0],
            f"{spelled}; give the same number of each",
        )
    for row in range(counts[0]):
        yield FileGroup(
            corpus,
            [
                _typed(
                    role, *matches[row], _SIDES[role][1] or corpus.format or registry.LINE_PARALLEL
                )
                for role, matches in matched
            ],
        )


def _of_data_set(corpus: CorpusInput, text: str) -> Iterator[FileGroup]:
    """Yield the files of a data set; they are one corpus, by default named after the data set."""
    place = parse_place(text)
    for file in data_set_files(place):
        own = dataclasses.replace(
            corpus,
            name=corpus.name or place.corpus,
            format_options={**file.format_options, **corpus.format_options},
        )
        if corpus.format in (None, file.format):
            check_first_row(file, own)
        kind = corpus.format or file.format
        yield FileGroup(own, [LocatedFile("pairs", file.path, file.name, kind, file.compression)])


def _paired(corpus: CorpusInput, sides: Sequence[tuple[str, Sequence[str]]]) -> Iterator[FileGroup]:
    """Yield documents whose files have the same name; files without a counterpart come last.

    Raises:
        InputError: No two files belong together (``no_match``), or a name is `ambiguous_name`.
    """
    matched: list[list[tuple[str, str]]] = []
    names: list[list[str]] = []
    for _, patterns in sides:
        matches = [(pattern, each) for pattern in patterns for each in _match_all([pattern])]
        matched.append([each for _, each in matches])
        names.append([below_pattern(path, pattern) for pattern, (path, _) in matches])
    languages = corpus.source_lang or "und", corpus.target_lang or "und"
    pairs = pair_names(names[0], names[1], languages)
    if not any(source is not None and target is not None for source, target in pairs):
        raise InputError(
            "no_match",
            matched[0][0][1],
            "and the other files of source_input have no counterpart of the same name in "
            f"target_input, such as {matched[1][0][1]}; names below the patterns must be the same, "
            f"except for the languages {' and '.join(languages)}",
        )
    kind = corpus.format or registry.LINE_PARALLEL
    for places in pairs:
        yield FileGroup(
            corpus,
            [
                _typed(role, *matches[place], kind)
                for place, matches, (role, _) in zip(places, matched, sides, strict=True)
                if place is not None
            ],
        )


def _match_all(patterns: Sequence[str]) -> list[tuple[str, str]]:
    """Return (path, name) of each match, sorted within each pattern."""
    matches: list[tuple[str, str]] = []
    for pattern in patterns:
        try:
            paths = files.match(pattern)
        except OSError as error:
            reason = error.strerror or error
            raise InputError("unreadable", pattern, f"cannot be listed: {reason}") from error
        files.require_regular(pattern, "input is read twice, so save a pipe's output to a file")
        if not paths and not files.is_uri(pattern) and os.path.isdir(pattern):  # noqa: PTH112
            raise InputError("no_match", pattern, f"is a directory; give {pattern.rstrip('/')}/*")
        if not paths:
            raise InputError("no_match", pattern, "no file has this name or matches this pattern")
        for path in paths:
            _require_unicode(path)
        matches.extend((path, _name(path, pattern)) for path in paths)
    return matches


def _require_unicode(path: str) -> None:
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise InputError("unreadable", path, "its name is not UTF-8; rename it") from error


def _name(path: str, pattern: str) -> str:
    if files.is_uri(path):
        return path
    if not path.startswith("/"):
        return posixpath.normpath(path)
    if path == pattern:
        return posixpath.basename(path)
    fixed = _GLOB.split(pattern, maxsplit=1)[0]
    return posixpath.relpath(path, posixpath.dirname(fixed))


def _typed(role: str, path: str, name: str, kind: str | None) -> LocatedFile:
    stem, extension = posixpath.splitext(path)
    compression = COMPRESSIONS.get(extension.lower(), "none")
    if compression != "none":
        extension = posixpath.splitext(stem)[1]
    if kind is None:
        format_ = registry.extensions().get(extension.lower())
        kind = format_.name if format_ is not None else None
    elif _is_lines(kind) and extension.lower() in _NO_TEXT:
        kind = None
    if kind is None and extension.lower() == ".json":
        raise InputError("unsupported_format", name, f"{IS_JSON}; {_supported()}")
    if kind is None or (compression != "none" and not _may_be_compressed(kind)):
        raise InputError(
            "unsupported_format", name, f"its format is unknown or unsupported; {_supported()}"
        )
    return LocatedFile(role, path, name, kind, compression)


def _is_lines(kind: str) -> bool:
    """Return True for line-parallel text and files that accompany it."""
    return kind == registry.LINE_PARALLEL or kind in _BESIDE_LINES


def _may_be_compressed(kind: str) -> bool:
    if kind in _BESIDE_LINES:
        return _BESIDE_LINES[kind]
    return registry.input_format(kind).compressed


def _supported() -> str:
    formats = registry.extensions()
    packed = f"{', '.join(list(COMPRESSIONS)[:-1])} or {list(COMPRESSIONS)[-1]}"
    others = known_names(FORMAT)
    more = f"; or --format with a format of an installed package: {', '.join(others)}"
    plain = " or ".join(ending for ending, each in formats.items() if not each.compressed)
    return (
        f"supported: {', '.join(formats)}, each also as {packed} except {plain}; "
        f"and line-parallel text by source_input and target_input, plain, {packed}"
        f"{more if others else ''}"
    )


def _tell_apart(groups: Sequence[FileGroup]) -> None:
    """Lengthen the names of different files of one corpus until they differ."""
    lengths: dict[int, int] = {}
    while True:
        by_name: dict[tuple[str | None, str], list[LocatedFile]] = {}
        for group in groups:
            for file in group.files:
                by_name.setdefault((group.corpus.name, file.name), []).append(file)
        shared = [
            same
            for same in by_name.values()
            if len({files.absolute(file.path) for file in same}) > 1
        ]
        if not shared:
            return
        for same in shared:
            for file in same:
                length = lengths[id(file)] = lengths.get(id(file), 0) + 1
                file.name = "/".join(files.absolute(file.path).split("/")[-length:]).lstrip("/")
