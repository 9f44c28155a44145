"""Samples: the extremes of some shards, each pair once, as a sort in plain Python finds them."""

import pyarrow as pa
import pytest

from pairweave.transforms import schemas
from pairweave.transforms.report import sample_groups
from pairweave.transforms.report.sample_groups import choose, measures_of, measures_of_row
from tests.makers.rows import pair

ROWS = 60


def aligned_rows():
    """Return rows of `align` whose lengths and probabilities are in no order."""
    spans = [{"start": 0, "end": 1}, {"start": 1, "end": 2}]
    return [
        {
            **pair(number, "x" * (2 + number * 37 % 61), "yz"),
            "source_tokens": spans,
            "target_tokens": spans,
            "links": [
                {"source": 0, "target": place, "probability": (number * 29 % 59) / (59 + place)}
                for place in range(number % 3)
            ],
        }
        for number in range(ROWS)
    ]


def tagged_rows():
    """Return rows of `augment` with up to four tags, some in two parts."""
    tag = dict.fromkeys(["source_start", "source_end", "target_start", "target_end"], 0)
    return [
        {
            **pair(number, "x" * (1 + number * 37 % 61), "yz"),
            "variant": 0,
            "kind": "tagged",
            "tags": [{"index": n // 2, "form": "pair", **tag} for n in range(number * 7 % 9)],
        }
        for number in range(ROWS)
    ]


@pytest.mark.parametrize(
    ("made", "schema", "measure", "group", "sign"),
    [
        (aligned_rows, schemas.ALIGNED, "confidence", sample_groups.UNSURE, 1),
        (aligned_rows, schemas.ALIGNED, "length", sample_groups.LONGEST, -1),
        (tagged_rows, schemas.TAGGED, "tags", sample_groups.TAGGED, -1),
    ],
)
def test_extremes_are_those_of_a_sort(made, schema, measure, group, sign):
    rows = [{name: row[name] for name in schema.names} for row in made()]
    tables = [pa.Table.from_pylist(some, schema=schema) for some in (rows[:25], rows[25:])]
    groups = {actual.name: actual.rows for actual in choose(rows[:3], tables)}
    taken = {row["id"] for row in groups["At random"]}
    for name, actual in groups.items():
        if name == group:
            break
        taken |= {row["id"] for row in actual}
    left = [row for row in rows if row["id"] not in taken and measure in measures_of_row(row)]
    left.sort(key=lambda row: (sign * measures_of_row(row)[measure], row["id"]))
    ids = [row["id"] for row in left[: sample_groups.EACH]]
    assert [row["id"] for row in groups[group]] == ids
    every = [row["id"] for actual in groups.values() for row in actual]
    assert len(every) == len(set(every))


@pytest.mark.parametrize(
    ("rows", "schema"), [(aligned_rows(), schemas.ALIGNED), (tagged_rows(), schemas.TAGGED)]
)
def test_measures_of_a_table_are_those_of_its_rows(rows, schema):
    table = pa.Table.from_pylist(rows, schema=schema)
    columns = {name: values.tolist() for name, values in measures_of(table).items()}
    actual = [
        {name: values[row] for name, values in columns.items() if values[row] == values[row]}
        for row in range(len(rows))
    ]
    assert actual == [measures_of_row(row) for row in table.to_pylist()]


def test_a_pair_of_one_shard_may_be_in_no_second_group():
    rows = [{name: row[name] for name in schemas.TAGGED.names} for row in tagged_rows()[:5]]
    groups = choose(rows, [pa.Table.from_pylist(rows, schema=schemas.TAGGED)])
    assert [group.name for group in groups] == ["At random"]


def test_a_suggestion_is_as_sure_as_its_links_not_as_its_score():
    kinds = {name: schemas.SUGGESTIONS.field(name).type for name in ("confidence", "score")}
    rows = [{"confidence": 0.25, "score": 0.75}, {"confidence": 0.5, "score": 0.125}]
    assert [measures_of_row(row)["confidence"] for row in rows] == [0.25, 0.5]
    table = pa.Table.from_pylist(rows, schema=pa.schema(kinds))
    assert measures_of(table)["confidence"].tolist() == [0.25, 0.5]
    assert measures_of_row({"score": 0.75})["confidence"] == 0.75
