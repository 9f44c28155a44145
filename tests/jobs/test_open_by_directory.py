"""A run's rows, opened by their directory with common libraries."""

import datasets
import duckdb
import pandas as pd
import polars as pl
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from tests.makers import finished_runs

READERS = {
    "pandas": lambda path: pd.read_parquet(path).to_dict("records"),
    "polars": lambda path: pl.read_parquet(path).to_dicts(),
    "pyarrow.dataset": lambda path: pyarrow.dataset.dataset(path).to_table().to_pylist(),
    "duckdb": lambda path: duckdb.read_parquet(f"{path}/*.parquet").to_arrow_table().to_pylist(),
}


@pytest.fixture(autouse=True)
def no_bars():
    datasets.disable_progress_bars()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    finished_runs.write_run(str(directory))
    return directory


def expected(directory):
    parts = sorted((directory / "data").iterdir())
    return [row for part in parts for row in pq.ParquetFile(part).read().to_pylist()]


def load(directory, cache, name=None):
    return datasets.load_dataset(str(directory), name, cache_dir=str(cache), split="train")


@pytest.mark.parametrize("name", READERS)
def test_the_directory_of_the_rows_opens_in(name, run):
    rows = READERS[name](str(run / "data"))
    assert len(rows) == 8
    for actual, wanted in zip(rows, expected(run), strict=True):
        assert {**actual, "tags": list(actual["tags"])} == wanted


@pytest.mark.parametrize("name", READERS)
def test_the_directory_of_the_rejects_opens_in(name, run):
    rows = READERS[name](str(run / "rejects"))
    assert sorted(row["reason"] for row in rows) == sorted(
        row["reason"] for row in finished_runs.rejects()
    )


def test_the_run_loads_in_datasets_with_both_configurations(run, tmp_path):
    assert datasets.get_dataset_config_names(str(run)) == ["default", "rejects"]
    assert load(run, tmp_path).to_list() == expected(run)
    assert load(run, tmp_path, "rejects").num_rows == len(finished_runs.rejects())


@pytest.mark.parametrize("job", ["augment", "align"])
def test_a_run_without_rejects_loads_in_datasets(tmp_path, job):
    data = {"augment": finished_runs.tagged_data, "align": finished_runs.aligned_data}[job]
    run = tmp_path / "run"
    finished_runs.write_run(str(run), data, {}, turned_away=[], job=job)
    assert load(run, tmp_path / "cache").to_list() == expected(run)
    assert datasets.get_dataset_config_names(str(run)) == ["default"]


@pytest.mark.parametrize("name", READERS)
def test_a_directory_without_any_row_opens_in(name, tmp_path):
    finished_runs.write_run(str(tmp_path), turned_away=[])
    assert READERS[name](str(tmp_path / "rejects")) == []


def test_rejects_of_one_shard_only_load_in_datasets(tmp_path):
    run = tmp_path / "run"
    finished_runs.write_run(str(run), turned_away=finished_runs.rejects()[:1])
    assert load(run, tmp_path / "cache", "rejects")["reason"] == ["length_ratio"]


def test_rows_of_one_shard_only_load_in_datasets(tmp_path):
    run = tmp_path / "run"
    tables = iter([finished_runs.tagged_data, lambda kept: finished_runs.tagged_data(kept)[:0]])
    finished_runs.write_run(str(run), lambda kept: next(tables)(kept))
    assert load(run, tmp_path / "cache").num_rows == len(expected(run)) > 0


def test_a_run_is_not_loaded_as_another_one_of_the_same_name(tmp_path):
    rejects = finished_runs.rejects()
    variants = [
        (finished_runs.tagged_data, rejects[:1]),
        (finished_runs.tagged_data, rejects[:2]),
        (lambda kept: finished_runs.tagged_data(kept)[::-1], rejects[:2]),
    ]
    for number, (data, turned_away) in enumerate(variants):
        run = tmp_path / str(number) / "tagged"
        finished_runs.write_run(str(run), data, turned_away=turned_away)
        assert load(run, tmp_path / "cache").to_list() == expected(run)
        assert load(run, tmp_path / "cache", "rejects").num_rows == len(turned_away)
