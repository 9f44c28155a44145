"""What the tables of `refresh` must hold after each night, in plain Python on lists of lines.

Here stands once what a night must contain. Nothing is hashed, sorted into files or read again: a
pair is its two texts, the content of an input file is its lines, and a table is a dictionary.
"""

import dataclasses
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from pairweave.transforms.counted import counted

Pair = tuple[str, str]
"""Source and target text."""

Scope = frozenset[str] | None
"""The corpora that may not bring something back; None for all."""

TABLES = ("main", "provenance", "rejects", "files")

HIDDEN = ("taken_down", "control_char")
"""Reasons of rejected lines whose texts no table may keep."""


@dataclasses.dataclass(frozen=True)
class Line:
    """A line of an input file.

    Attributes:
        source: Source text.
        target: Target text, with as many words.
    """

    source: str
    target: str

    @property
    def pair(self) -> Pair | None:
        """Return the pair; None if the line cannot be read."""
        return None if "\x07" in self.source else (self.source, self.target)

    def fault(self, limit: int) -> str | None:
        """Return why the job rejects the line if its texts have at most so many words."""
        if self.pair is None:
            return "control_char"
        if not self.source:
            return "empty_source"
        if not self.target:
            return "empty_target"
        return "too_long" if len(self.source.split()) > limit else None


@dataclasses.dataclass(frozen=True)
class Content:
    """What a file gives: another licence makes another content, another name does not."""

    corpus: str
    licence: str | None
    lines: tuple[Line, ...]


@dataclasses.dataclass(frozen=True)
class InputFile:
    """A file as a night finds it.

    Attributes:
        content: What is in it.
        name: Its name within the corpus.
        stamp: When it was written.
    """

    content: Content
    name: str
    stamp: int


@dataclasses.dataclass(frozen=True)
class Rejected:
    """A rejected line; `pair` is None if it could not be read."""

    pair: Pair | None
    reason: str
    night: int


Place = tuple[Pair, Content, int]
"""A pair, where it stands, and the number of its line there, from 1."""

Tombstone = tuple[Literal["id", "text"], Pair | str]
"""What is taken down: a pair by its id, or a text (`plain`)."""


@dataclasses.dataclass(frozen=True)
class Tables:
    """All tables after a night.

    Attributes:
        night: Its number, from 1.
        limit: The setting with which its rows are made.
        files: The input files, in order.
        rows: Corpus and night of each pair.
        places: Where each pair stands, and the night that read it there.
        rejects: Rejected lines by content and number.
        stones: What was taken down, with the corpora that may not bring it back.
        versions: Version of each table.
    """

    night: int
    limit: int
    files: tuple[InputFile, ...]
    rows: Mapping[Pair, tuple[str, int]]
    places: Mapping[Place, int]
    rejects: Mapping[tuple[Content, int], Rejected]
    stones: Mapping[Tombstone, Scope]
    versions: Mapping[str, int]

    @property
    def shown(self) -> set[str]:
        """Return the texts that the tables show."""
        pairs = [*self.rows, *(one.pair for one in self.rejects.values() if _is_shown(one))]
        return {text for pair in pairs if pair for text in pair}


NOTHING = Tables(0, 0, (), {}, {}, {}, {}, dict.fromkeys(TABLES, -1))


@dataclasses.dataclass(frozen=True)
class Asked:
    """What a night is asked to do besides reading its files.

    Attributes:
        limit: The setting in the configuration.
        taken: What to take down.
        everywhere: Whether that counts for all corpora.
        migrate: Whether all rows are made anew.
        accept: Whether broken gates are accepted.
        inherited: Tombstones of another table.
    """

    limit: int
    taken: Sequence[Tombstone] | None = None
    everywhere: bool = False
    migrate: bool = False
    accept: bool = False
    inherited: Mapping[Tombstone, Scope] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a night ends.

    Attributes:
        status: Exit status of the command.
        tables: The tables afterwards.
        said: What the night says of its rows, or of their absence.
        made: Number of pairs that it adds.
    """

    status: int
    tables: Tables
    said: tuple[str, ...]
    made: int = 0


def plain(text: str) -> str:
    """Return a text without what a takedown does not distinguish."""
    return " ".join(unicodedata.normalize("NFKC", text).split()).casefold()


def distinct(files: Iterable[InputFile]) -> tuple[InputFile, ...]:
    """Return the files without those that have the content of an earlier one of their corpus."""
    first: dict[Content, InputFile] = {}
    for file in files:
        first.setdefault(file.content, file)
    return tuple(first.values())


def night(before: Tables, given: Sequence[InputFile], asked: Asked) -> Outcome:
    """Return how a night ends: refused, without a change, or with other tables.

    Args:
        before: The tables before it; `NOTHING` if there are none.
        given: The input files that there are, in order.
        asked: What it is asked to do.
    """
    if before.night and before.limit != asked.limit and not asked.migrate:
        return Outcome(2, before, ("the rows of",))
    files = distinct(given)
    anew = asked.migrate or not before.night
    known = {file.content: file for file in before.files}
    here = {file.content for file in files}
    new = [file for file in files if anew or file.content not in known]
    gone = {file.content for file in before.files if anew or file.content not in here}
    noted = sum(1 for file in files if file.content in known and file != known[file.content])
    base = before if not before.night else _emptied(before) if anew else before

    stones = _joined(before.stones, asked.inherited)
    down: set[Pair] = set()
    if asked.taken is not None:
        more, down = _takedown(before, asked.taken, new, everywhere=asked.everywhere)
        stones = _joined(stones, more)
    number = before.night + 1
    places = {p: n for p, n in base.places.items() if p[1] not in gone and p[0] not in down}
    rejects = {
        place: one
        for place, one in base.rejects.items()
        if place[0] not in gone and one.pair not in down
    }
    read = rejected = 0
    for file in new:
        for at, line in enumerate(file.content.lines, 1):
            read += 1
            why = _reason(line, file.content.corpus, asked.limit, stones, down, base.rows)
            if why is None:
                assert line.pair is not None
                places[(line.pair, file.content, at)] = number
            else:
                rejected += 1
                rejects[(file.content, at)] = Rejected(line.pair, why, number)
    rows = _rows(base.rows, places, number)
    made = sum(1 for pair in rows if pair not in base.rows)
    removed = len(before.rows) if anew else sum(1 for pair in before.rows if pair not in rows)
    lost = sum(1 for pair in before.rows if pair not in rows)

    after = Tables(number, asked.limit, files, rows, places, rejects, stones, {})
    after = dataclasses.replace(after, versions=_versions(before, after, anew=anew))
    changed = anew or new or gone or noted or after.versions != before.versions
    if not changed and stones == before.stones:
        return Outcome(0, before, (f"nothing has changed since night {before.night}",))
    if not (anew or new or gone or asked.taken is not None):
        said = f"no row changes; noted {counted(noted, 'file')} that moved or were written again"
        return Outcome(0, after, (said,))
    said_of_rows = (
        f"read {counted(read, 'pair')}: {made:,} new, {read - made - rejected:,} in the table or "
        f"repeated, {rejected:,} rejected",
        f"removed {counted(removed, 'pair')}; the table has {len(rows):,}",
    )
    broken = 2 * lost > len(before.rows) or 10 * rejected > 7 * read
    if broken and not asked.accept:
        return Outcome(4, before, said_of_rows)
    return Outcome(0, after, (*said_of_rows, f"committed night {number}"), made)


def takedown(before: Tables, taken: Sequence[Tombstone], *, everywhere: bool) -> Outcome:
    """Return how a takedown without a night ends: no file is read and no gate is asked."""
    more, down = _takedown(before, taken, (), everywhere=everywhere)
    stones = _joined(before.stones, more)
    places = {place: n for place, n in before.places.items() if place[0] not in down}
    rejects = {at: one for at, one in before.rejects.items() if one.pair not in down}
    rows = {pair: row for pair, row in before.rows.items() if pair not in down}
    after = dataclasses.replace(
        before, night=before.night + 1, rows=rows, places=places, rejects=rejects, stones=stones
    )
    after = dataclasses.replace(after, versions=_versions(before, after, anew=False))
    if after.versions == before.versions and stones == before.stones:
        return Outcome(0, before, ("nothing has changed: all of it was taken down before",))
    gone = len(before.rows) - len(rows)
    return Outcome(0, after, (f"removed {counted(gone, 'pair')}; committed night {after.night}",))


def compacted(before: Tables, changed: Iterable[str]) -> Tables:
    """Return the tables after small files of some of them were joined: no row changes."""
    versions = {**before.versions, **{name: before.versions[name] + 1 for name in changed}}
    return dataclasses.replace(before, night=before.night + 1, versions=versions)


def _emptied(before: Tables) -> Tables:
    return dataclasses.replace(before, rows={}, places={}, rejects={})


def _reason(
    line: Line,
    corpus: str,
    limit: int,
    stones: Mapping[Tombstone, Scope],
    down: set[Pair],
    held: Mapping[Pair, tuple[str, int]],
) -> str | None:
    """Return why a line is rejected; pairs that the table has are not judged again."""
    if line.pair is None:
        return line.fault(limit)
    keys: list[Tombstone] = [("id", line.pair), *(("text", plain(text)) for text in line.pair)]
    scopes = [stones[key] for key in keys if key in stones]
    if line.pair in down or any(scope is None or corpus in scope for scope in scopes):
        return "taken_down"
    return None if line.pair in held else line.fault(limit)


def _rows(
    before: Mapping[Pair, tuple[str, int]], places: Mapping[Place, int], number: int
) -> dict[Pair, tuple[str, int]]:
    """Return a row for each pair that stands somewhere.

    It is under the corpus that it came with, while that has the pair; else under the first that has
    it, by name.
    """
    corpora: dict[Pair, set[str]] = {}
    for pair, content, _ in places:
        corpora.setdefault(pair, set()).add(content.corpus)
    rows = {}
    for pair, names in corpora.items():
        corpus, since = before.get(pair, (min(names), number))
        rows[pair] = (corpus if corpus in names else min(names), since)
    return rows


def _takedown(
    before: Tables, taken: Sequence[Tombstone], new: Sequence[InputFile], *, everywhere: bool
) -> tuple[dict[Tombstone, Scope], set[Pair]]:
    """Return the tombstones of a list, and the pairs that go."""
    where: dict[Pair, set[str]] = {}
    for pair, content, _ in before.places:
        where.setdefault(pair, set()).add(content.corpus)
    visible = set(before.rows)
    for (content, _), one in before.rejects.items():
        if one.pair is not None:
            where.setdefault(one.pair, set()).add(content.corpus)
            if _is_shown(one):
                visible.add(one.pair)
    for file in new:
        for line in file.content.lines:
            if line.pair is not None:
                where.setdefault(line.pair, set()).add(file.content.corpus)
                visible.add(line.pair)
    stones: dict[Tombstone, Scope] = {}
    down: set[Pair] = set()
    for kind, what in taken:
        pairs = {what} if kind == "id" else {one for one in visible if what in map(plain, one)}
        corpora = {name for pair in pairs for name in where.get(pair, ())}
        # What is nowhere now keeps the scope of its first takedown, or is kept out of all corpora.
        scope = frozenset(corpora) if corpora else before.stones.get((kind, what))
        stones[(kind, what)] = None if everywhere else scope
        down |= pairs
    return stones, down


def _joined(
    one: Mapping[Tombstone, Scope], other: Mapping[Tombstone, Scope]
) -> dict[Tombstone, Scope]:
    made = dict(one)
    for key, scope in other.items():
        earlier = made.get(key, frozenset())
        made[key] = None if scope is None or earlier is None else scope | earlier
    return made


def _is_shown(one: Rejected) -> bool:
    return one.reason not in HIDDEN


def _versions(before: Tables, after: Tables, *, anew: bool) -> dict[str, int]:
    """Return the version of each table: a table that changes, or is made anew, gets one more.

    The names of the input files do not have a night, so the table of files may stay as it is.
    """
    changed = {
        "main": anew or before.rows != after.rows,
        "provenance": anew or before.places != after.places,
        "rejects": anew or before.rejects != after.rejects,
        "files": not before.night or _listed(before) != _listed(after),
    }
    return {name: before.versions[name] + changed[name] for name in TABLES}


def _listed(tables: Tables) -> list[tuple[Content, str]]:
    return [(file.content, file.name) for file in tables.files]
