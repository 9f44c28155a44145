"""Tables of ``refresh`` in other people's readers, at every night."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from deltalake import DeltaTable

from tests.makers import corpora, nightly

pytestmark = pytest.mark.slow

NIGHTS = 3


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Return a table whose nights have 20, 30 and 25 pairs."""
    directory = tmp_path_factory.mktemp("readers")
    of = 'corpora:\n- {corpus: help, input: "help/*.tsv"}\n'
    nightly.write_config(directory, of=of)
    nightly.write_help(directory, "one", range(20))
    nightly.good_night(directory)
    nightly.write_help(directory, "two", range(20, 30))
    nightly.good_night(directory)
    nightly.write_help(directory, "one", range(5, 20))
    nightly.good_night(directory)
    return directory / "table" / "tagged"


def expected(night):
    """Return the source texts of a night, in order."""
    numbers = [range(20), range(30), range(5, 30)][night]
    return sorted(corpora.sentence(number)[0] for number in numbers)


def files_of(table, night):
    return DeltaTable(str(table), version=night).file_uris()


@pytest.mark.parametrize("night", range(NIGHTS))
def test_polars_reads_every_night(table, night):
    polars = pytest.importorskip("polars")
    actual = polars.read_delta(str(table), version=night)
    assert sorted(actual["source"]) == expected(night)
    assert set(actual["kind"]) == {"plain"}


@pytest.mark.parametrize("night", range(NIGHTS))
def test_pandas_reads_every_night(table, night):
    pandas = pytest.importorskip("pandas")
    actual = pandas.read_parquet(files_of(table, night))
    assert sorted(actual["source"]) == expected(night)
    assert set(actual["kind"]) == {"plain"}


@pytest.mark.parametrize("night", range(NIGHTS))
def test_duckdb_reads_every_night(table, night):
    duckdb = pytest.importorskip("duckdb")
    actual = duckdb.execute(
        "select source, source_lang, kind from read_parquet(?, hive_partitioning=true)",
        [files_of(table, night)],
    ).fetchall()
    assert sorted(source for source, _, _ in actual) == expected(night)
    assert {tuple(others) for _, *others in actual} == {("en", "plain")}


@pytest.mark.parametrize("night", range(NIGHTS))
def test_duckdb_reads_the_table_itself_where_its_extension_is_installed(table, night):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    try:
        connection.execute(f"load '{extension()}'")
    except duckdb.Error as error:
        pytest.skip(f"DuckDB's extension delta is not installed: {error}")
    scan = f"select source from delta_scan('{table}', version => {night})"
    actual = connection.execute(scan).fetchall()
    assert sorted(source for (source,) in actual) == expected(night)


def extension():
    """Return the file of DuckDB's extension in the package of that name, or the name alone."""
    result = importlib.util.find_spec("duckdb_extension_delta")
    paths = Path(result.origin).parent.rglob("delta.duckdb_extension") if result else ()
    return next(map(str, paths), "delta")


@pytest.mark.parametrize("night", range(NIGHTS))
def test_datasets_reads_every_night(table, night, tmp_path):
    datasets = pytest.importorskip("datasets")
    actual = datasets.load_dataset(
        "parquet", data_files=files_of(table, night), cache_dir=str(tmp_path), split="train"
    )
    assert sorted(actual["source"]) == expected(night)


def test_the_rows_of_a_night_are_selected_by_its_number(table):
    polars = pytest.importorskip("polars")
    actual = polars.scan_delta(str(table)).filter(polars.col("night") == 2).collect()
    assert sorted(actual["source"]) == sorted(corpora.sentence(n)[0] for n in range(20, 30))
