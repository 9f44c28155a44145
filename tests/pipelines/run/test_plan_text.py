"""What `--plan_only` prints of a run, and whether the run could start."""

import pytest

from pairweave.pipelines.run import plan_text
from tests.makers import runs

WORDS = ("augment", "--source_lang", "en", "--target_lang", "de", "--output", "out")


@pytest.fixture
def directory(tmp_path):
    for number in range(3):
        (tmp_path / f"{number}.tsv").write_text("a b\tc d\n" * (number + 1))
    return tmp_path


def sections(out):
    """Return the lines of each section by its title."""
    result, title = {}, None
    for line in out.splitlines():
        if line and not line.startswith(" "):
            title = line
            result[title] = []
        elif line:
            result[title].append(line.strip())
    return result


def test_a_plan_lists_files_units_settings_steps_and_what_prevents_a_start(directory):
    words = (*WORDS, "--input", "[0-9].tsv", "--unit_rows", 2, "--plan_only")
    out = runs.run_well_here(*words, cwd=directory)
    actual = sections(out)
    assert out.startswith("job augment, plan ")
    assert [line.split(",")[0] for line in actual["inputs"]] == [
        "0.tsv: 1 row",
        "1.tsv: 2 rows",
        "2.tsv: 3 rows",
    ]
    assert actual["units 4"] == [
        "0: 0.tsv from line 1, 1 row",
        "1: 1.tsv from line 1, 2 rows",
        "2: 2.tsv from line 1, 2 rows",
        "3: 2.tsv from line 3, 1 row",
    ]
    assert "rows 6, shards 1" in actual
    assert "seed: 1" in actual["configuration"]
    assert not any(line.startswith("output") for line in actual["configuration"])
    assert len(actual["graph"]) > 5
    assert len(set(actual["graph"])) > 5
    assert (actual["notices"], actual["refusals"]) == (["none"], ["none"])
    assert not (directory / "out").exists()


def test_of_many_files_the_rest_is_counted(directory, monkeypatch):
    monkeypatch.setattr(plan_text, "MAX_LINES", 2)
    words = (*WORDS, "--input", "[0-9].tsv", "--plan_only")
    actual = sections(runs.run_well_here(*words, cwd=directory))
    assert len(actual["inputs"]) == 3
    assert actual["inputs"][-1] == "… and 1 more"
    assert actual["units 3"][-1] == "… and 1 more"


def test_a_run_that_would_be_refused_says_why_with_status_2(directory):
    (directory / "out").mkdir()
    (directory / "out" / "README.md").write_text("mine")
    status, out, _ = runs.run_here(*WORDS, "--input", "0.tsv", "--plan_only", cwd=directory)
    assert status == 2
    (refusal,) = sections(out)["refusals"]
    assert refusal.startswith("out already has README.md, which the run would overwrite")
    assert [path.name for path in (directory / "out").iterdir()] == ["README.md"]


def test_a_directory_of_another_run_is_named_as_such(directory):
    words = (*WORDS, "--mix", "0", "--allow_empty")
    runs.run_well_here(*words, "--input", "0.tsv", cwd=directory)
    (directory / "out" / "_manifest.json").unlink()
    status, out, _ = runs.run_here(*words, "--input", "1.tsv", "--plan_only", cwd=directory)
    assert status == 2
    assert "already belongs to another run" in sections(out)["refusals"][0]
