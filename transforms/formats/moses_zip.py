"""Line-parallel text in one zip archive, as OPUS distributes its corpora for Moses.

The archive has a member for each side, ``Corpus.cs-en.cs`` and ``Corpus.cs-en.en``, and others
(a licence, identifiers) that are not read. Members are read as streams, in constant memory.
"""

import contextlib
import dataclasses
import posixpath
import re
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from pairweave.transforms.counted import counted
from pairweave.transforms.errors import InputError, WorkerError
from pairweave.transforms.formats.moses import Side, read_sides, shift_between
from pairweave.transforms.reading.input_format import InputFormat
from pairweave.transforms.reading.language_tags import normal
from pairweave.transforms.reading.scan import Digests, Scan, ScanRequest, stored_file
from pairweave.transforms.reading.scan_lines import LineCounter
from pairweave.transforms.storage import files
from pairweave.transforms.storage.byte_streams import PLAIN_CHUNK_BYTES, part_bytes
from pairweave.transforms.text.iso_languages import NAMES, primary_tag
from pairweave.transforms.units import ReadLimits, Unit

_SIDES = ("source", "target")
_UNKNOWN = "und"
_LANGUAGE = re.compile(r"[a-z]{2,3}([-_][a-z0-9]{2,8})*", re.IGNORECASE)
_NO_LANGUAGES = frozenset({"ids", "txt", "xml"})
"""Suffixes of other members of OPUS's archives that could be languages by their form."""

_ADVICE = "unpack it, and give the two files with source_input and target_input"


@contextlib.contextmanager
def _archive(path: str, name: str) -> Iterator[zipfile.ZipFile]:
    """Open an archive.

    Raises:
        InputError: ``zip_corrupt``, ``unsupported_format`` or ``unreadable``, now or when it is
            read.
    """
    try:
        with files.open_read(path) as file, zipfile.ZipFile(file) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        message = f"the zip archive is damaged ({error}); fetch it again"
        raise InputError("zip_corrupt", name, message) from error
    except (NotImplementedError, RuntimeError) as error:
        message = f"the zip archive cannot be read ({error}); {_ADVICE}"
        raise InputError("unsupported_format", name, message) from error
    except OSError as error:
        raise InputError("unreadable", name, f"cannot be read: {error}") from error


def _members(
    archive: zipfile.ZipFile, langs: tuple[str, str], name: str
) -> tuple[list[zipfile.ZipInfo], tuple[str, str]]:
    """Return the member of each side, and its language.

    If a language is not given, there must be only one pair of members whose names differ only in
    the language (`_sides_of`), of which one is in the other language, if that is given; else its
    first member by name is the source.

    Raises:
        InputError: ``no_match``: there are no such members, or several.
    """
    pairs: dict[str, dict[str, zipfile.ZipInfo]] = defaultdict(dict)
    for member in archive.infolist():
        stem, suffix = posixpath.splitext(member.filename)
        if not member.is_dir() and _LANGUAGE.fullmatch(suffix[1:]):
            pairs[stem][_tag(suffix[1:])] = member
    matches = []
    for stem, by_language in pairs.items():
        if _UNKNOWN in langs:
            of_stem = {tag: by_language[tag] for tag in sorted(_sides_of(stem, by_language))}
            in_order = _in_order(of_stem, langs) if len(of_stem) == 2 else None
            if in_order is not None:
                matches.append([(tag, of_stem[tag]) for tag in in_order])
            continue
        sides = [_member_of(by_language, lang) for lang in langs]
        if None not in sides and sides[0] != sides[1]:
            matches.append([(lang, by_language[lang]) for lang in sides if lang is not None])
    if len(matches) != 1:
        wanted = "" if _UNKNOWN in langs else f" that end in .{langs[0]} and .{langs[1]}"
        names = ", ".join(sorted(archive.namelist())[:8])
        what = f"{len(matches)} pairs" if matches else "no pair"
        mend = "give source_lang and target_lang" if _UNKNOWN in langs else "give other languages"
        message = (
            f"the archive has {what} of members of one name{wanted} (it has {names}); {mend}, or "
            f"{_ADVICE}"
        )
        raise InputError("no_match", name, message)
    (source, target) = matches[0]
    tags = [
        found if lang == _UNKNOWN else lang
        for lang, (found, _) in zip(langs, (source, target), strict=True)
    ]
    return [source[1], target[1]], (tags[0], tags[1])


def _tag(suffix: str) -> str:
    return suffix.replace("_", "-")


def _sides_of(stem: str, tags: Iterable[str]) -> list[str]:
    """Return the suffixes of members of one name that are those of its sides.

    They are the languages that the name ends in, as in ``Corpus.cs-en``; else the suffixes that are
    languages of ISO 639-1; else all. Suffixes of other members of OPUS do not count.

    >>> _sides_of("Tatoeba.ast-en", ["ast", "en", "ids", "xml"])
    ['ast', 'en']
    """
    suffixes = [tag for tag in tags if tag.lower() not in _NO_LANGUAGES]
    pair = posixpath.splitext(stem)[1].replace("_", "-")
    named = [tag for tag in suffixes if pair in {f".{tag}-{other}" for other in suffixes}]
    named += [tag for tag in suffixes if pair in {f".{other}-{tag}" for other in suffixes}]
    known = [tag for tag in suffixes if primary_tag(tag) in NAMES]
    return named or (known if len(known) == 2 else suffixes)


def _in_order(
    by_language: dict[str, zipfile.ZipInfo], langs: tuple[str, str]
) -> tuple[str, str] | None:
    """Return the tags of two members, that of the source first; None if a given one is missing."""
    one, other = by_language
    for order in ((one, other), (other, one)):
        if all(
            lang == _UNKNOWN or _member_of(by_language, lang) == tag
            for lang, tag in zip(langs, order, strict=True)
        ):
            return order
    return None


def _member_of(by_language: dict[str, zipfile.ZipInfo], lang: str) -> str | None:
    """Return the tag of the member in a language: the same, or else the only one with its code."""
    same = [tag for tag in by_language if normal(tag) == normal(lang)]
    code = normal(lang).partition("-")[0]
    alike = [tag for tag in by_language if normal(tag).partition("-")[0] == code]
    chosen = same or alike
    return chosen[0] if len(chosen) == 1 else None


def _text(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, limits: ReadLimits
) -> Iterator[bytes]:
    """Yield the text of a member in pieces.

    Raises:
        InputError: ``expansion_limit``.
    """
    most = max(limits.expansion_floor_bytes, limits.max_expansion * member.compress_size)
    size = 0
    with archive.open(member) as stream:
        while chunk := stream.read(PLAIN_CHUNK_BYTES):
            size += len(chunk)
            if size > min(most, limits.max_file_bytes):
                raise InputError(
                    "expansion_limit",
                    name,
                    f"{member.filename} holds over {size} bytes of text, more than max_expansion "
                    f"{limits.max_expansion} or max_file_bytes {limits.max_file_bytes} allow; "
                    "raise them if the archive is sound",
                )
            yield chunk


def scan_zip(file: ScanRequest) -> Scan:
    """Scan an archive: its digest, its members, and their lines.

    Raises:
        InputError: The archive cannot be used; ``line_count_mismatch`` if the sides differ.
    """
    digests = Digests()
    for _ in digests.pass_on(stored_file(file.path, file.name)):
        pass
    counters = []
    with _archive(file.path, file.name) as archive:
        members, langs = _members(archive, file.langs, file.name)
        for member in members:
            counter = LineCounter()
            for chunk in counter.pass_on(_text(archive, member, file.name, file.limits)):
                digests.text_bytes += len(chunk)
            counters.append(counter)
        more = counters[1].lines - counters[0].lines
        if more:
            told = " and ".join(
                f"{member.filename} has {counted(counter.lines, 'line')}"
                for member, counter in zip(members, counters, strict=True)
            )
            source, target = _sides(archive, members, file.limits)
            shift = shift_between(source, target, more, file.limits)
            message = f"{told}; both sides must have the same number of lines"
            message += f", and {shift.message}" if shift is not None else ""
            raise InputError("line_count_mismatch", file.name, message)
    return dataclasses.replace(
        digests.scan(counters[0].lines),
        carriage_returns=sum(counter.carriage_returns for counter in counters),
        byte_order_mark=any(counter.byte_order_mark for counter in counters),
        langs=langs if _UNKNOWN in file.langs else None,
    )


def read_zip(unit: Unit, limits: ReadLimits, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of an archive, in ROWS batches.

    Raises:
        WorkerError: The archive is not what was planned.
    """
    part = unit.parts[0]
    for _ in part_bytes(part):  # this compares the archive with the plan
        pass
    langs = unit.source_lang, unit.target_lang
    try:
        with _archive(part.path, part.name) as archive:
            members, _ = _members(archive, langs, part.name)
            yield from read_sides(unit, _sides(archive, members, limits), limits, batch_rows)
    except InputError as error:
        raise WorkerError(f"{error}; it was sound when the plan was made") from error


def _sides(
    archive: zipfile.ZipFile, members: Sequence[zipfile.ZipInfo], limits: ReadLimits
) -> list[Side]:
    return [
        Side(member.filename, side, _text(archive, member, member.filename, limits), limits)
        for side, member in zip(_SIDES, members, strict=True)
    ]


INPUT = InputFormat("moses_zip", scan_zip, read_zip, (".zip",), compressed=False)
