"""The golden run of the cells, and the record of how they end."""

import pytest

from tests.cluster.conftest import flink as flink
from tests.cluster.conftest import flink_libraries as flink_libraries
from tests.faults import matrix, reliability
from tests.makers import corpora, runs


@pytest.fixture(scope="session")
def golden(tmp_path_factory):
    """An undisturbed run of the cells' job."""
    directory = tmp_path_factory.mktemp("golden")
    corpora.write_corpus(directory, matrix.PAIRS)
    sides = ("--source_input", directory / "corpus.en", "--target_input", directory / "corpus.de")
    arguments = (*matrix.JOB, *map(str, sides))
    runs.run_well_here(*arguments, "--output", directory / "out", "--workers", "1")
    return matrix.Golden(arguments, runs.tree_digests(directory / "out"))


@pytest.fixture
def record(request):
    """Return a function that compares how a cell ended with the table, or writes it there."""

    def keep(cell, statuses):
        row = reliability.row(cell, statuses)
        if request.config.getoption("--write_reliability"):
            reliability.write(row)
        assert row in reliability.rows(), f"{row}: not in {reliability.TABLE}; --write_reliability"

    return keep
