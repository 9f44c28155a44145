"""From the shards of a run to the files of a table, on a few rows written by hand."""

from types import SimpleNamespace

import pyarrow as pa
import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from pairweave.pipelines.refresh import assembly, table_schemas
from pairweave.pipelines.refresh.chain import tables
from pairweave.transforms import schemas
from pairweave.transforms.errors import WorkerError
from tests.makers.refresh_tables import ids, key

SCORED = pa.schema(
    [
        *(schemas.REJECTS.field(name) for name in ("id", "corpus", "source_lang", "target_lang")),
        *(schemas.REJECTS.field(name) for name in ("file", "line", "source")),
        pa.field("score", pa.float32()),
    ]
)
CONTENTS = {("news", "a"): "A", ("news", "b"): "B", ("web", "a"): "C", ("help", "h"): "D"}


def kept(number, corpus, file, line, score=None):
    """Return a row of a pair that the run kept."""
    return {**_place(number, corpus, file, line), "source": f"text {number}", "score": score}


def rejected(number, corpus, file, line, reason="duplicate", stage="shuffle", detail=None):
    """Return a row of the rejects; a pair without a number has no id."""
    verdict = {"reason": reason, "stage": stage, "detail": detail}
    texts = {name: f"{name} {number}" for name in ("source", "target")}
    return {**_place(number, corpus, file, line), **verdict, **texts, "raw": b"raw"}


def _place(number, corpus, file, line):
    place = {"corpus": corpus, "file": file, "line": line, "source_lang": "en"}
    return {"id": None if number is None else key(number), **place, "target_lang": "de"}


@pytest.fixture
def assembled(tmp_path, monkeypatch):
    """Return a function that assembles shards, each with its rows and its rejects."""

    def assemble(
        *shards, wanted="ABCD", known=(), rows_of_a_file=None, main="pairs", schema=SCORED
    ):
        made = {}
        for number, (rows, rejects) in enumerate(shards):
            made[f"{number}"] = pa.Table.from_pylist(rows, schema=schema)
            made[f"rejects {number}"] = pa.Table.from_pylist(rejects, schema=schemas.REJECTS)
        names = [str(number) for number in range(len(shards))]
        run = SimpleNamespace(names=names, rejects_name=lambda shard: f"rejects {shard}")
        monkeypatch.setattr(assembly, "open_run", lambda _: run)
        monkeypatch.setattr(assembly, "read_shard", lambda _, name: made[name])
        source = assembly.Source("run", CONTENTS, rows_of_a_file or dict.fromkeys(wanted, 10))
        columns = table_schemas.main_columns(schema)
        target = assembly.Target(str(tmp_path), main, columns, ids(*known), 7)
        return assembly.assemble(source, target, tmp_path / "scratch")

    return assemble


def rows_of(tmp_path, made, name, *columns):
    """Return columns of the rows of each new file of a table; ids as numbers."""
    return [
        [
            tuple(int(row[each] or "0", 16) if each == "id" else row[each] for each in columns)
            for row in tables.read_rows(str(tmp_path), name, entry).to_pylist()
        ]
        for entry in made.added[name]
    ]


def test_a_new_pair_has_a_row_and_a_known_one_its_places_alone(tmp_path, assembled):
    made = assembled(
        ([kept(3, "news", "a", 5, 0.5), kept(1, "news", "a", 2, 0.25)], []),
        (
            [kept(9, "web", "a", 1)],
            [rejected(8, "web", "a", 2, "in_table"), rejected(9, "help", "h", 4)],
        ),
        known=[3, 8],
    )
    (rows,) = rows_of(tmp_path, made, "pairs", "id", "corpus", "night", "score")
    assert rows == [(1, "news", 7, 0.25), (9, "web", 7, None)]
    (places,) = rows_of(tmp_path, made, "provenance", "id", "corpus", "content", "line", "night")
    assert places == [
        (1, "news", "A", 2, 7),
        (3, "news", "A", 5, 7),
        (8, "web", "C", 2, 7),
        (9, "web", "C", 1, 7),
        (9, "help", "D", 4, 7),
    ]
    assert (made.pairs, made.added["rejects"]) == (2, [])
    assert made.quality == {"scored": 1, "score": 0.25}
    assert (made.read, made.languages) == ({"A": 2, "C": 2, "D": 1}, {"en-de": 5})
    assert (made.reasons, made.samples) == ({}, {})


def test_a_pair_from_an_unwanted_file_belongs_to_its_first_wanted_place(tmp_path, assembled):
    made = assembled(
        (
            [kept(1, "news", "b", 1), kept(2, "news", "b", 2), kept(3, "news", "a", 3)],
            [
                rejected(1, "web", "a", 2),
                rejected(1, "news", "a", 9),
                rejected(1, "news", "a", 8),
                rejected(3, "news", "b", 3),
                rejected(3, "help", "h", 1),
            ],
        ),
        wanted="ACD",
    )
    assert rows_of(tmp_path, made, "pairs", "id", "corpus") == [[(1, "news"), (3, "news")]]
    (places,) = rows_of(tmp_path, made, "provenance", "id", "content", "line")
    assert places == [(1, "A", 8), (1, "A", 9), (1, "C", 2), (3, "A", 3), (3, "D", 1)]
    assert (made.pairs, made.read) == (2, {"A": 3, "C": 1, "D": 1})


def test_rejects_are_counted_with_a_few_of_each_reason(tmp_path, assembled):
    long = [rejected(number, "news", "a", 9 - number, "too_long") for number in range(1, 4)]
    more = [rejected(5, "news", "a", 9, "too_long"), rejected(4, "web", "a", 1, "identical")]
    unwanted = rejected(6, "news", "b", 1, "identical")
    made = assembled(([], long[:2]), ([], [long[2], *more, unwanted]), wanted="AC")
    (rows,) = rows_of(tmp_path, made, "rejects", "content", "line", "reason", "id")
    first = [("A", line, "too_long", number) for line, number in ((6, 3), (7, 2), (8, 1), (9, 5))]
    assert rows == [*first, ("C", 1, "identical", 4)]
    assert (made.pairs, made.reasons) == (0, {"too_long": 4, "identical": 1})
    assert [row["line"] for row in made.samples["too_long"]] == [8, 7, 6]
    texts = {"source": "source 4", "target": "target 4", "detail": None}
    assert made.samples["identical"] == [{"corpus": "web", "line": 1, **texts}]
    assert made.read == {"A": 4, "C": 1}


def test_a_duplicate_of_a_rejected_pair_has_the_reason_of_that_pair(tmp_path, assembled):
    first = rejected(1, "news", "a", 1, "too_long", "filter", "901 tokens")
    later = rejected(1, "web", "a", 2, "identical", "filter", "other")
    doubles = [rejected(1, "help", "h", 3), rejected(1, "news", "b", 3)]
    made = assembled(([kept(2, "news", "a", 2)], [first, *doubles, later]), wanted="ACD")
    (rows,) = rows_of(tmp_path, made, "rejects", "content", "reason", "stage", "detail")
    expected = ("too_long", "filter", "901 tokens")
    assert rows == [("A", *expected), ("C", "identical", "filter", "other"), ("D", *expected)]
    assert made.reasons == {"too_long": 2, "identical": 1}
    with pytest.raises(WorkerError, match="whose pair was neither kept nor rejected"):
        assembly._as_first(
            pa.Table.from_pylist(doubles, schema=schemas.REJECTS), schemas.REJECTS.empty_table()
        )


def test_a_run_that_rejected_pairs_which_the_table_has_lost_is_stale(assembled):
    gone = ([], [rejected(1, "news", "a", 1, "in_table")])
    with pytest.raises(assembly.StaleError, match="were removed since; it is made again"):
        assembled(gone)


@pytest.mark.parametrize(
    ("row", "hidden"),
    [
        (rejected(1, "news", "a", 1, "too_long", "screen", "x"), False),
        (rejected(1, "news", "a", 1, "line_too_long", "read", "x"), True),
        (rejected(None, "news", "a", 1, "no_text", "shuffle", "x"), True),
    ],
)
def test_texts_that_no_takedown_could_find_are_not_kept(tmp_path, assembled, row, hidden):
    made = assembled(([], [row]))
    names = ("source", "target", "detail", "raw")
    ((actual,),) = rows_of(tmp_path, made, "rejects", *names, "line", "corpus")
    assert actual == (*((None,) * 4 if hidden else (row[name] for name in names)), 1, "news")


def test_small_input_files_share_a_file_and_large_ones_have_their_own(
    tmp_path, assembled, monkeypatch
):
    monkeypatch.setattr(assembly, "FILE_ROWS", 4)
    sizes = {"A": 1, "B": 3, "C": 1, "D": 9}
    rows = [kept(4, "help", "h", 1), kept(3, "web", "a", 1), kept(2, "news", "b", 1)]
    made = assembled(([*rows, kept(1, "news", "a", 1)], []), rows_of_a_file=sizes)
    assert rows_of(tmp_path, made, "pairs", "id") == [[(1,), (2,)], [(3,)], [(4,)]]


def test_means_of_links_are_of_new_pairs_alone(assembled):
    links = pa.field("links", pa.list_(pa.struct([("probability", pa.float64())])))
    schema = SCORED.append(links)
    rows = [
        {**kept(number, "news", "a", number), "links": [{"probability": each} for each in given]}
        for number, given in ((1, [0.5, 0.25]), (2, []), (3, [1.0]), (4, [0.125]))
    ]
    made = assembled((rows[:2], []), (rows[2:], []), known=[3], main="links", schema=schema)
    assert made.quality == {"links": 3, "probability": 0.875}


def test_means_of_tags_are_sums_over_the_shards(assembled, monkeypatch):
    schema = SCORED.append(pa.field("kind", pa.string())).append(pa.field("variant", pa.int32()))
    counts = lambda rows: {"plain_rows": 9, "tagged_rows": rows.num_rows, "tags": 5}  # noqa: E731
    monkeypatch.setattr(assembly, "count_tags", counts)
    rows = [{**kept(number, "news", "a", number), "kind": "plain"} for number in range(3)]
    made = assembled((rows[:1], []), (rows[1:], []), main="tagged", schema=schema)
    assert made.quality == {"tagged_rows": 3, "tags": 10}


def test_a_place_lacks_nothing():
    assert [field.name for field in assembly.PROVENANCE_ROWS if field.nullable] == []
