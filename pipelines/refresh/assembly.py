"""Making the files of a table from the shards of a job's run.

The run has read the new files of a night. Its rejects include every further place of a pair that it
kept (``duplicate``) or that the table already had (``in_table``): these are provenance, not
rejects. The pairs of the table are looked up again here, because another night may have been
committed since the run began.
"""

import dataclasses
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.pipelines.refresh.chain import tables
from pairweave.pipelines.refresh.chain.inner_notes import open_run, read_shard
from pairweave.pipelines.refresh.chain.table_names import PROVENANCE, REJECTS, Entry
from pairweave.pipelines.refresh.table_schemas import NIGHT, OF_A_PLACE, fitted
from pairweave.transforms import schemas
from pairweave.transforms.arrow.replaced_columns import replaced
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.ids import SEPARATOR
from pairweave.transforms.known_pairs import TEXTS, IdSet
from pairweave.transforms.rejects import Reject, Stage
from pairweave.transforms.shards.spill import Spill
from pairweave.transforms.tags.tag_counts import count_tags

FILE_ROWS = 131_072
"""Approximate number of rows in a table's file; small input files share one."""

_CONTENT = pa.field("content", pa.string(), nullable=False)

PROVENANCE_ROWS = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("corpus", pa.string(), nullable=False),
        _CONTENT,
        pa.field("line", pa.int64(), nullable=False),
        NIGHT,
        pa.field("source_lang", pa.string(), nullable=False),
        pa.field("target_lang", pa.string(), nullable=False),
    ]
)

REJECTED_ROWS = pa.schema(
    [*(field for field in schemas.REJECTS if field.name != "file"), _CONTENT, NIGHT]
)

_PLACE = pa.schema(
    [
        pa.field(name, pa.int64() if name == "line" else pa.string())
        for name in ("id", "corpus", "content", "line", "source_lang", "target_lang", "reason")
    ]
)
"""A place of a pair in the input, and the reject reason if the place comes from the rejects."""

_PLACES = pa.array([Reject.DUPLICATE.value, Reject.IN_TABLE.value])


class StaleError(WorkerError):
    """A run rejected pairs as known that the table no longer has."""


@dataclasses.dataclass(frozen=True)
class Assembled:
    """The files made from a run.

    Attributes:
        added: New files of each table.
        pairs: Number of new pairs.
        quality: Sums for the night's means: of tagged rows and their tags, of links and their
            probabilities, and of pairs and their scores.
        reasons: Rejected rows by reason.
        samples: A few rejected rows for each reason.
        read: Rows of each input entry, by key.
        languages: Rows read in each pair of languages, such as ``en-de``.
    """

    added: Mapping[str, list[Entry]]
    pairs: int
    quality: Mapping[str, float]
    reasons: Mapping[str, int]
    samples: Mapping[str, list[dict[str, object]]]
    read: Mapping[str, int]
    languages: Mapping[str, int]


@dataclasses.dataclass(frozen=True)
class Source:
    """A finished run, and which of its rows are wanted.

    Attributes:
        directory: Its directory.
        contents: Key of the input entry, by corpus and file as the run's rows name them.
        wanted: Keys of the wanted entries, in order, with the number of rows of each.
    """

    directory: str
    contents: Mapping[tuple[str, str], str]
    wanted: Mapping[str, int]


@dataclasses.dataclass(frozen=True)
class Target:
    """Where the rows of a night go.

    Attributes:
        table: Directory of all tables.
        main: Name of the table of the job's rows.
        columns: The columns of that table.
        known: Ids of the pairs that are in the tables now.
        night: Number of the night.
    """

    table: str
    main: str
    columns: pa.Schema
    known: IdSet
    night: int


def assemble(source: Source, target: Target, scratch: Path) -> Assembled:
    """Write the files that a run adds to the tables.

    Args:
        source: The run.
        target: The tables.
        scratch: A local directory for temporary files.

    Raises:
        ConfigError: The run's manifest is damaged.
        StaleError: The run must be repeated.
        WorkerError: The run's rows contradict its manifest.
    """
    run = open_run(source.directory)
    making = _Making(source, target, scratch)
    for shard, name in enumerate(run.names):
        making.add_shard(read_shard(run, name), read_shard(run, run.rejects_name(shard)))
    return making.finish()


def wanted_contents(rows: pa.Table, source: Source) -> pa.Array:
    """Return the key of the entry that each row of a run was read from; null for unwanted ones."""
    joined = pc.binary_join_element_wise(
        rows.column("corpus").cast(pa.string()),
        rows.column("file").cast(pa.string()),
        SEPARATOR,
    )
    encoded = joined.combine_chunks().dictionary_encode()
    places = (text.partition(SEPARATOR) for text in encoded.dictionary.to_pylist())
    keys = [source.contents.get((corpus, name)) for corpus, _, name in places]
    wanted = [key if key in source.wanted else None for key in keys]
    return pa.array(wanted, pa.string()).take(encoded.indices)


class _Making:
    """Collects the rows of one run and writes them to files."""

    def __init__(self, source: Source, target: Target, scratch: Path) -> None:
        self._source, self._target = source, target
        self._main, self._known, self._night = target.main, target.known, target.night
        self._buckets = _buckets(source.wanted)
        count = max(self._buckets.values(), default=0) + 1
        self._spills = {}
        for name in (target.main, PROVENANCE, REJECTS):
            directory = scratch / name
            directory.mkdir(parents=True)
            self._spills[name] = Spill(directory, count)
        self._count = count
        self._reasons: Counter[str] = Counter()
        self._samples: dict[str, list[dict[str, object]]] = {}
        self._read: Counter[str] = Counter()
        self._pairs = 0
        self._quality: Counter[str] = Counter()
        self._languages: Counter[str] = Counter()

    def add_shard(self, data: pa.Table, rejects: pa.Table) -> None:
        """Distribute the rows of one shard among the tables."""
        data = data.append_column("content", wanted_contents(data, self._source))
        rejects = rejects.append_column("content", wanted_contents(rejects, self._source))
        firsts = data.filter(pa.array(_first_rows(data.column("id"))))
        is_place = pc.is_in(rejects.column("reason"), _PLACES)
        kept_here = firsts.append_column("reason", pa.nulls(firsts.num_rows, pa.string()))
        both = (kept_here, rejects.filter(is_place))
        places = pa.concat_tables([rows.select(_PLACE.names).cast(_PLACE) for rows in both])
        places = places.filter(places.column("content").is_valid())
        in_first_rows = pc.is_in(places.column("id"), firsts.column("id").combine_chunks())
        known = pa.array(self._known.has(places.column("id")))
        useful = pc.or_(in_first_rows, known)
        self._check_fresh(places.filter(pc.invert(useful)))
        self._add_places(places.filter(useful))
        self._add_data(data, firsts, places)
        self._add_rejects(rejects, firsts)

    def _check_fresh(self, useless: pa.Table) -> None:
        stale = pc.equal(useless.column("reason"), Reject.IN_TABLE.value)
        if pc.any(stale).as_py():
            raise StaleError(
                f"{self._source.directory}: pairs that the table had when the run began were "
                "removed since; it is made again"
            )

    def _add_places(self, places: pa.Table) -> None:
        self._count_read(places)
        rows = self._at_night(places, PROVENANCE_ROWS)
        self._spills[PROVENANCE].add(rows, self._bucket(rows))

    def _add_data(self, data: pa.Table, firsts: pa.Table, places: pa.Table) -> None:
        """Add the rows of pairs that the table does not have."""
        new = ~self._known.has(firsts.column("id"))
        firsts = firsts.filter(pa.array(new))
        owners = _owners(firsts, places)
        self._pairs += len(owners)
        rows = data.filter(pc.is_in(data.column("id"), pa.array(list(owners), pa.string())))
        if rows.column("content").null_count:
            rows = _with_owners(rows, owners)
        self._measure(rows)
        buckets = self._bucket(rows)
        rows = rows.append_column("night", pa.array([self._night] * rows.num_rows, pa.int32()))
        rows = rows.drop_columns([name for name in OF_A_PLACE if name in rows.column_names])
        self._spills[self._main].add(fitted(rows, self._target.columns, self._main), buckets)

    def _measure(self, rows: pa.Table) -> None:
        """Add to the sums of the night."""
        if self._main == "tagged":
            counts = count_tags(rows)
            self._quality.update({name: counts[name] for name in ("tagged_rows", "tags")})
        if self._main == "links":
            links = rows.column("links").combine_chunks().flatten()
            self._quality["links"] += len(links)
            probabilities = pc.struct_field(links, "probability")
            self._quality["probability"] += pc.sum(probabilities, min_count=0).as_py()
        if self._main == "pairs" and "score" in rows.column_names:
            scores = rows.column("score")
            self._quality["scored"] += rows.num_rows - scores.null_count
            self._quality["score"] += pc.sum(scores, min_count=0).as_py()

    def _add_rejects(self, rejects: pa.Table, firsts: pa.Table) -> None:
        """Add rejected rows; a duplicate of a rejected pair gets that pair's reason."""
        is_place = pc.is_in(rejects.column("reason"), _PLACES)
        own = rejects.filter(pc.invert(is_place))
        doubles = rejects.filter(pc.equal(rejects.column("reason"), Reject.DUPLICATE.value))
        in_first_rows = pc.is_in(doubles.column("id"), firsts.column("id").combine_chunks())
        lost = pc.invert(pc.or_(in_first_rows, pa.array(self._known.has(doubles.column("id")))))
        rows = pa.concat_tables([own, _as_first(doubles.filter(lost), own)])
        rows = rows.filter(rows.column("content").is_valid())
        self._count_read(rows)
        self._reasons.update(rows.column("reason").to_pylist())
        self._sample(rows)
        rows = self._at_night(_without_unread_texts(rows), REJECTED_ROWS)
        self._spills[REJECTS].add(rows, self._bucket(rows))

    def _count_read(self, rows: pa.Table) -> None:
        counts = rows.column("content").value_counts().to_pylist()
        self._read.update({item["values"]: item["counts"] for item in counts})
        both = (rows.column(f"{side}_lang").cast(pa.string()) for side in ("source", "target"))
        pairs = pc.binary_join_element_wise(*both, "-").value_counts().to_pylist()
        self._languages.update({item["values"]: item["counts"] for item in pairs})

    def _sample(self, rows: pa.Table, most: int = 3) -> None:
        for reason in set(rows.column("reason").to_pylist()):
            held = self._samples.setdefault(reason, [])
            if len(held) < most:
                some = rows.filter(pc.equal(rows.column("reason"), reason)).slice(
                    0, most - len(held)
                )
                names = ["corpus", "line", "detail", "source", "target"]
                held.extend(some.select(names).to_pylist())

    def _at_night(self, rows: pa.Table, schema: pa.Schema) -> pa.Table:
        night = pa.array([self._night] * rows.num_rows, pa.int32())
        return rows.append_column("night", night).select(schema.names).cast(schema)

    def _bucket(self, rows: pa.Table) -> np.ndarray:
        encoded = rows.column("content").combine_chunks().dictionary_encode()
        numbers = [self._buckets[key] for key in encoded.dictionary.to_pylist()]
        return np.array(numbers or [0], np.int64)[encoded.indices.to_numpy()]

    def finish(self) -> Assembled:
        """Write the files."""
        added = {name: self._write(name) for name in self._spills}
        return Assembled(
            added=added,
            pairs=self._pairs,
            quality=dict(self._quality),
            reasons=dict(self._reasons),
            samples=self._samples,
            read=dict(self._read),
            languages=dict(self._languages),
        )

    def _write(self, name: str) -> list[Entry]:
        order = _ORDERS.get(name, _BY_ID)
        entries = []
        for number in range(self._count):
            for rows in self._spills[name].bucket(number, FILE_ROWS):
                present = [key for key in order if key[0] in rows.column_names]
                rows = rows.sort_by(present)
                for partition, part in tables.parts(rows, name):
                    entries.append(tables.write_file(self._target.table, name, part, partition))
        return entries


_BY_ID = [("id", "ascending"), ("variant", "ascending")]
_ORDERS = {
    PROVENANCE: [("id", "ascending"), ("content", "ascending"), ("line", "ascending")],
    REJECTS: [("content", "ascending"), ("line", "ascending"), ("reason", "ascending")],
}


def _first_rows(column: pa.ChunkedArray) -> np.ndarray:
    """Tell which rows have a different id from the row before, ``[row]``."""
    encoded = column.combine_chunks().dictionary_encode().indices.to_numpy()
    first = np.ones(len(encoded), np.bool_)
    first[1:] = encoded[1:] != encoded[:-1]
    return first


def _owners(firsts: pa.Table, places: pa.Table) -> dict[str, tuple[str, str]]:
    """Return corpus and key of each new pair's first wanted place; a pair may have none."""
    names = ["id", "corpus", "content"]
    owners = {
        row["id"]: (row["corpus"], row["content"])
        for row in firsts.select(names).to_pylist()
        if row["content"] is not None
    }
    others = firsts.filter(firsts.column("content").is_null()).column("id")
    if len(others):
        repeats = places.filter(pc.is_in(places.column("id"), others.combine_chunks()))
        for row in repeats.sort_by([("corpus", "descending"), ("line", "descending")]).to_pylist():
            owners[row["id"]] = (row["corpus"], row["content"])
    return owners


def _with_owners(rows: pa.Table, owners: Mapping[str, tuple[str, str]]) -> pa.Table:
    """Return rows with the corpus and key of the place to which each pair is assigned."""
    places = [owners[key] for key in rows.column("id").to_pylist()]
    for name, values in (("corpus", [f[0] for f in places]), ("content", [f[1] for f in places])):
        rows = replaced(rows, name, pa.array(values, pa.string()))
    return rows


def _without_unread_texts(rows: pa.Table) -> pa.Table:
    """Return rejects with the texts removed from rows that no takedown could find.

    A takedown finds rows by id, and tombstones are compared with pairs that were read. Neither
    finds a row without an id, or one rejected by a reader; such a row keeps its corpus and line.
    """
    is_read = pc.equal(rows.column("stage").cast(pa.string()), Stage.READ.value)
    hidden = pc.or_(is_read, rows.column("id").is_null())
    for name in (each for each in TEXTS if each in rows.column_names):
        texts = rows.column(name)
        rows = replaced(rows, name, pc.if_else(hidden, pa.scalar(None, texts.type), texts))
    return rows


def _as_first(doubles: pa.Table, own: pa.Table) -> pa.Table:
    """Return duplicates of rejected pairs with the stage, reason and detail of those pairs."""
    if not doubles.num_rows:
        return doubles
    wanted = own.filter(pc.is_in(own.column("id"), doubles.column("id").combine_chunks()))
    columns = ["stage", "reason", "detail"]
    firsts = {
        row["id"]: [row[name] for name in columns]
        for row in reversed(wanted.select(["id", *columns]).to_pylist())
    }
    verdicts = [firsts.get(key) for key in doubles.column("id").to_pylist()]
    if None in verdicts:
        raise WorkerError("a duplicate was rejected whose pair was neither kept nor rejected")
    for number, name in enumerate(columns):
        values = [each[number] for each in verdicts if each is not None]
        doubles = replaced(doubles, name, pa.array(values, doubles.column(name).type))
    return doubles


def _buckets(wanted: Mapping[str, int]) -> dict[str, int]:
    """Divide input entries into buckets of about `FILE_ROWS` rows, in their order."""
    buckets: dict[str, int] = {}
    number = rows = 0
    for key, count in wanted.items():
        if rows and rows + count > FILE_ROWS:
            number, rows = number + 1, 0
        buckets[key] = number
        rows += count
    return buckets
