"""One schema for the rows of all languages, corpora and nights of a table."""

import pyarrow as pa
import pytest

from pairweave.pipelines.refresh import table_schemas
from pairweave.transforms.errors import ConfigError

KEY = pa.field("id", pa.string(), nullable=False)
SCORE = pa.field("score", pa.float32(), nullable=False)
NOTE = pa.field("note", pa.string())
PLAIN = table_schemas.main_columns(pa.schema([KEY, pa.field("file", pa.string()), NOTE]))
SCORED = table_schemas.main_columns(pa.schema([KEY, SCORE, NOTE, pa.field("line", pa.int64())]))


def test_columns_that_some_runs_lack_may_be_null():
    assert PLAIN.names == ["id", "note", "night"]
    either = SCORE.with_nullable(True)
    expected = pa.schema([KEY, either, NOTE, table_schemas.NIGHT])
    assert table_schemas.united([SCORED, PLAIN], "pairs") == expected
    swapped = pa.schema([KEY, NOTE, either, table_schemas.NIGHT])
    assert table_schemas.united([PLAIN, SCORED, PLAIN], "pairs") == swapped
    assert table_schemas.united([SCORED], "pairs") == SCORED


@pytest.mark.parametrize("nullable", [(True, False), (False, True)])
def test_a_column_that_may_be_null_in_one_run_may_be_null_in_the_table(nullable):
    runs = [pa.schema([KEY, SCORE.with_nullable(either)]) for either in nullable]
    expected = pa.schema([KEY, SCORE.with_nullable(True), table_schemas.NIGHT])
    assert table_schemas.united(runs, "pairs") == expected


def test_the_columns_of_a_table_have_no_metadata():
    noted = pa.schema([KEY.with_metadata({"a": "1"}), NOTE])
    united = table_schemas.united([noted, pa.schema([KEY, NOTE])], "pairs")
    assert [field.metadata for field in united] == [None, None, None]


def test_a_column_of_two_types_is_refused_by_name():
    other = pa.schema([KEY, pa.field("score", pa.string())])
    with pytest.raises(ConfigError, match="pairs: column score is float for some languages and st"):
        table_schemas.united([SCORED, other], "pairs")


def test_a_run_with_a_new_column_is_told_to_migrate_before_its_rows_are_read():
    with pytest.raises(
        ConfigError, match=r"rows of en-de have the column score, which t/pairs lacks: .*--migrate"
    ):
        table_schemas.require_columns(SCORED, PLAIN, "en-de", "t/pairs")
    table_schemas.require_columns(PLAIN, SCORED, "en-de", "t/pairs")


def test_rows_are_fitted_to_the_columns_of_their_table():
    columns = table_schemas.united([SCORED, PLAIN], "pairs")
    rows = pa.table({"night": [1], "id": ["a"], "note": pa.array([None], pa.string())})
    actual = table_schemas.fitted(rows, columns, "pairs")
    assert actual.schema == columns
    assert actual.to_pylist() == [{"id": "a", "score": None, "note": None, "night": 1}]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"id": ["a"], "night": [1], "extra": [1]}, "pairs has no column extra, which tonight"),
        ({"night": [1], "score": [0.5]}, "pairs has the column id, which tonight's rows lack"),
        ({"id": ["a"], "score": ["high"], "night": [1]}, "column score is float, and tonight"),
    ],
)
def test_rows_that_do_not_fit_are_refused_by_column(rows, message):
    with pytest.raises(ConfigError, match=message):
        table_schemas.fitted(pa.table(rows), pa.schema([KEY, SCORE, table_schemas.NIGHT]), "pairs")
