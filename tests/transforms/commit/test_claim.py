"""The claim of a directory: what is in the way, and which plans belong to the same run."""

import pytest

from pairweave.transforms.commit.claim import LOOK, NOTICES, claim, with_earlier_look
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output.run_files import read_json
from tests.makers.finished_runs import plan


@pytest.mark.parametrize(
    "name",
    ["_manifest.json", "README.md", "report.html", "symbols.txt", "data/x", "rejects/x"],
)
def test_a_file_that_the_run_would_write_is_in_the_way(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    with pytest.raises(ConfigError, match=f"already has {name}, which the run would overwrite"):
        claim(str(tmp_path), plan())
    assert path.read_text() == "mine"
    assert not (tmp_path / "_plan.json").exists()


def test_a_plan_that_a_full_disk_cut_off_is_written_again(tmp_path):
    (tmp_path / "_plan.json").write_text('{"format": ')
    claim(str(tmp_path), plan())
    assert read_json(str(tmp_path / "_plan.json")) == plan()


def test_a_plan_that_differs_in_the_look_alone_is_the_earlier_one(tmp_path):
    claim(str(tmp_path), plan(**{LOOK: {"pairs": 1}, NOTICES: ["first"]}))
    later = plan(**{LOOK: {"pairs": 2}, NOTICES: ["second"]})
    assert with_earlier_look(str(tmp_path), later)[NOTICES] == ["first"]
    other = plan(**{LOOK: {"pairs": 2}, "configuration": {"seed": 2}})
    assert with_earlier_look(str(tmp_path), other) == other
