"""Which tests may be run against each fault of an area."""

import pytest

from tests.mutants import choose

TEST = """import subprocess
from tests.makers import runs
from pairweave.pipelines import cli

def started(tmp_path):
    return runs.run("augment")

def test_here():
    runs.run_well_here("augment")

def test_started():
    assert started(1)

def test_small_program():
    subprocess.run(["true"], check=True)

def test_python():
    subprocess.run([sys.executable, "-c", ""], check=True)

def test_plain():
    assert cli
"""


@pytest.mark.parametrize(
    ("area", "chosen"),
    [("pure", ["test_plain"]), ("pipelines", ["test_here", "test_small_program", "test_plain"])],
)
def test_jobs_run_for_faults_of_the_pipelines_but_the_command_never(tmp_path, area, chosen):
    path = tmp_path / "tests" / "jobs" / "test_toy.py"
    path.parent.mkdir(parents=True)
    path.write_text(TEST)
    for name in ("cluster", "docs"):
        (tmp_path / "tests" / name).mkdir()
        (tmp_path / "tests" / name / "test_toy.py").write_text(TEST)
    tests = [f"tests/jobs/test_toy.py::{name}" for name in chosen]
    assert choose.quick_tests(tmp_path, area) == {"tests/jobs/test_toy.py": tests}


def test_tests_of_processes_may_start_python_but_not_the_command(tmp_path):
    path = tmp_path / "tests" / "pipelines" / "engines" / "test_toy.py"
    path.parent.mkdir(parents=True)
    path.write_text(TEST)
    name = "tests/pipelines/engines/test_toy.py"
    chosen = ("test_here", "test_small_program", "test_python", "test_plain")
    actual = choose.quick_tests(tmp_path, "pipelines")
    assert actual == {name: [f"{name}::{test}" for test in chosen]}


def test_a_name_of_the_makers_is_known_by_itself(tmp_path):
    (tmp_path / "tests").mkdir()
    path = tmp_path / "tests" / "test_toy.py"
    path.write_text(
        "from tests.makers.runs import run, run_here\n"
        "def test_here():\n    assert run_here('a')\n"
        "def test_started():\n    assert run('a')\n"
    )
    chosen = choose.quick_tests(tmp_path, "pipelines")
    assert chosen == {"tests/test_toy.py": ["tests/test_toy.py::test_here"]}


def test_what_needs_no_pipeline_is_left_out_for_their_faults(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_words.py").write_text("def test_words():\n    assert True\n")
    (tmp_path / "tests" / "test_neural.py").write_text("import torch\ndef test_it(): ...\n")
    assert choose.quick_tests(tmp_path, "pipelines") == {}
    assert list(choose.quick_tests(tmp_path, "pure")) == ["tests/test_words.py"]
