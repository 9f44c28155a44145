"""Faults in runs on this machine: `local` with one and two processes."""

import functools
import importlib
import importlib.util

import pytest

from tests.faults import matrix
from tests.makers import runs

FAULTS = importlib.util.spec_from_file_location(
    "faults_at_import", matrix.AT_IMPORT / "sitecustomize.py"
)


def end_here(cell, words, directory, number=0):
    """Run the command in this process with the faults put into its modules."""
    injected = importlib.util.module_from_spec(FAULTS)
    FAULTS.loader.exec_module(injected)
    with pytest.MonkeyPatch.context() as patch:
        for place, fault in enumerate(() if number else cell.faults):
            module, _, name = fault.at.partition(":")
            *owners, name = name.split(".")
            owner = functools.reduce(getattr, owners, importlib.import_module(module))
            described = fault.described(directory / f"met{place}")
            patch.setattr(owner, name, injected._faulty(getattr(owner, name), described))
        status, _, errors = runs.run_here(*words)
    return status, errors


@pytest.mark.slow
@pytest.mark.parametrize("cell", matrix.QUICK, ids=lambda cell: cell.id)
def test_a_fault_in_the_process_of_the_command(cell, golden, tmp_path, record, caplog):
    caplog.set_level("INFO", "pairweave")

    def run(*arguments):
        caplog.clear()
        status, errors = end_here(*arguments)
        logged = [each.getMessage() for each in caplog.records if each.name == "pairweave"]
        return status, "\n".join([errors, *logged])

    record(cell, matrix.examine(cell, golden, tmp_path, run))


@pytest.mark.slow
@pytest.mark.parametrize("cell", matrix.SLOW, ids=lambda cell: cell.id)
def test_a_fault_in_a_process_of_a_run(cell, golden, tmp_path, record):
    record(cell, matrix.examine(cell, golden, tmp_path))
