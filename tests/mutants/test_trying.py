"""Which of the measured tests are run against a fault, and in which order."""

import json

import pytest

pytest.importorskip("coverage", reason="needs the extra `mutants`")
pytest.importorskip("cosmic_ray", reason="needs the extra `mutants`")

from tests.mutants.sample import OPERATOR, Fault
from tests.mutants.trying import Reached

PATH = "pipelines/run/toy.py"
MODULE = """SIZE = 3

def reached():
    return SIZE

def elsewhere():
    return 2
"""


@pytest.fixture
def tree(tmp_path):
    """Return a project with a module, and tests of which one starts a process."""
    for name in (PATH, "tests/pipelines/run/test_forked.py", "tests/pipelines/run/test_toy.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "tests/jobs").mkdir()
    (tmp_path / "tests/jobs/test_job.py").write_text("")
    (tmp_path / PATH).write_text(MODULE)
    seconds = {
        "tests/jobs/test_job.py::test_fast": 0.1,
        "tests/pipelines/run/test_forked.py::test_it": 0.2,
        "tests/pipelines/run/test_toy.py::test_it": 3.0,
        "tests/jobs/test_job.py::test_long": 30.0,
    }
    lines = {PATH: {"4": [name for name in seconds if "forked" not in name]}}
    (tmp_path / "measured.json").write_text(json.dumps({"seconds": seconds, "lines": lines}))
    return tmp_path


def chosen(tree, line):
    fault = Fault(PATH, OPERATOR, "core/NumberReplacer", 0, line, "")
    return [*Reached([tree / "measured.json"]).tests_of(tree, fault)]


def test_those_named_after_the_module_are_first_and_none_takes_too_long(tree):
    assert chosen(tree, 4) == [
        "tests/pipelines/run/test_toy.py::test_it",
        "tests/jobs/test_job.py::test_fast",
    ]


@pytest.mark.parametrize("line", [1, 7])
def test_those_beside_the_module_may_notice_a_constant_or_what_another_process_runs(tree, line):
    assert "tests/pipelines/run/test_forked.py::test_it" in chosen(tree, line)
