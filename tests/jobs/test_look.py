"""The look at the input before the work, in jobs."""

import json

import numpy as np
import pandas as pd
import pytest

from pairweave.pipelines.in_memory import job_functions
from pairweave.pipelines.job_options.pair_options import AugmentOptions
from pairweave.pipelines.jobs import augment
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.inspection import look
from tests.makers import runs
from tests.transforms.inspection.test_file_look import sentences

LANGS = ("--source_lang", "en", "--target_lang", "de")
WORDS = (
    *("augment", "--source_input", "a.en", "--target_input", "a.de", *LANGS, "--mix", "0"),
    *("--unit_rows", "150", "--shard_pairs", "200"),
)


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with a corpus of which lines 201 to 400 stand in another order."""
    directory = tmp_path_factory.mktemp("look")
    source, target = sentences("en")[:600], sentences("de")[:600]
    order = np.random.default_rng(7).permutation(np.arange(200, 400))
    target[200:400] = [target[place] for place in order]
    for name, lines in (("a.en", source), ("a.de", target)):
        (directory / name).write_text("".join(f"{line}\n" for line in lines))
    return directory


@pytest.fixture(scope="module")
def rejected(directory):
    words = (*WORDS, "--misaligned", "reject", "--output", "rejected", "--workers", "1")
    return runs.run_well_here(*words, cwd=directory), directory / "rejected"


def manifest_of(output):
    return json.loads((output / "_manifest.json").read_text())


def test_pairs_of_a_stretch_are_rejected_with_a_reason_of_their_own(rejected):
    _, output = rejected
    manifest = manifest_of(output)
    (finding,) = manifest["look"]["findings"]
    assert finding["kind"] == "misaligned"
    assert abs(finding["first_line"] - 201) < 6
    assert abs(finding["last_line"] - 400) < 6
    assert manifest["rejected"]["misaligned"] == finding["count"]
    assert manifest["configuration"]["misaligned"] == "reject"


def test_the_run_says_where_the_stretch_is_and_shows_it(rejected):
    said, output = rejected
    assert "a.en:2" in said
    assert "these pairs are rejected as misaligned [misaligned]" in said
    page = (output / "report.html").read_text()
    assert "Look at the input" in page
    assert 'class="mark"' in page


@pytest.mark.slow
def test_the_same_bytes_come_from_any_number_of_workers(rejected, directory):
    words = (*WORDS, "--misaligned", "reject", "--output", "two", "--workers", "2")
    runs.run_well_here(*words, cwd=directory)
    assert runs.tree_digest(directory / "two") == runs.tree_digest(rejected[1])


def planned(directory, **more):
    return augment.JOB.prepare(
        AugmentOptions(
            source_input=(str(directory / "a.en"),),
            target_input=(str(directory / "a.de"),),
            **{"source_lang": "en", "target_lang": "de", "output": str(directory / "out"), **more},
        ),
    ).document


def test_a_finding_is_a_notice_and_keeps_its_pairs_by_default(directory):
    document = planned(directory)
    assert any("--misaligned reject" in notice for notice in document["notices"])
    assert document["look"]["pairs"] == 600
    assert "misaligned" not in document["configuration"]
    assert "check" not in document["configuration"]


def test_nothing_is_looked_at_if_it_is_not_wanted(directory):
    document = planned(directory, check="none")
    assert "look" not in document
    assert not any("misaligned" in notice for notice in document["notices"])


@pytest.mark.parametrize(
    ("options", "rows"), [({}, 50), ({"check": "all"}, 600), ({"misaligned": "reject"}, 600)]
)
def test_all_lines_are_looked_at_if_asked_for_or_if_stretches_are_rejected(
    directory, monkeypatch, options, rows
):
    sizes = []
    monkeypatch.setattr(look, "sample_size", lambda _: 50)
    at_sample = look.look_at_sample
    noted = lambda units, limits, size: sizes.append(size) or at_sample(units, limits, size)  # noqa: E731
    monkeypatch.setattr(look, "look_at_sample", noted)
    planned(directory, **options)
    assert sizes == [rows]


def test_what_is_rejected_must_be_looked_for(directory):
    with pytest.raises(ConfigError, match="--check none does not look"):
        planned(directory, check="none", misaligned="reject")


def test_a_function_looks_if_it_is_asked_to(directory):
    lines = [(directory / name).read_text().splitlines() for name in ("a.en", "a.de")]
    table = pd.DataFrame({"source": lines[0], "target": lines[1]})
    options = {"source_lang": "en", "target_lang": "de", "mix": 0}
    with pytest.warns(UserWarning, match="misaligned"):
        result = job_functions.augment(table, misaligned="reject", **options)
    assert set(result.rejects["reason"]) == {"misaligned"}


@pytest.mark.parametrize(("first", "second"), [("sample", "none"), ("none", "all")])
def test_a_run_is_finished_by_its_command_with_another_look(directory, tmp_path, first, second):
    words = (*WORDS, "--workers", "1", "--output", tmp_path / "out", "--check")
    runs.run_well_here(*words, first, cwd=directory)
    before = runs.tree_digest(tmp_path / "out")
    plan = (tmp_path / "out" / "_plan.json").read_bytes()
    (tmp_path / "out" / "_manifest.json").unlink()
    next((tmp_path / "out" / "data").glob("part-*")).unlink()
    runs.run_well_here(*words, second, cwd=directory)
    assert runs.tree_digest(tmp_path / "out") == before
    assert (tmp_path / "out" / "_plan.json").read_bytes() == plan
    assert ("look" in manifest_of(tmp_path / "out")) == (first != "none")


def test_a_run_that_rejects_by_its_look_is_another_run(directory, tmp_path):
    words = (*WORDS, "--workers", "1", "--output", tmp_path / "out")
    runs.run_well_here(*words, cwd=directory)
    status, _, errors = runs.run_here(*words, "--misaligned", "reject", cwd=directory)
    assert status == 2
    assert "already belongs to another run: configuration.misaligned was " in errors


def test_exchanged_languages_and_bad_bytes_are_each_told_once(directory, tmp_path):
    lines = (directory / "a.de").read_text().splitlines()
    (tmp_path / "a.en").write_text((directory / "a.en").read_text())
    text = "".join(f"{line} \xfcber\n" if n % 4 else f"{line}\n" for n, line in enumerate(lines))
    (tmp_path / "a.de").write_text(text, "windows-1252")
    words = ("augment", "--source_input", "a.en", "--target_input", "a.de", "--mix", "0")
    given = ("--source_lang", "de", "--target_lang", "en", "--workers", "1", "--output", "out")
    said = runs.run_well_here(*words, *given, cwd=tmp_path)
    assert said.count("were rejected as invalid_utf8; write the file as UTF-8: iconv") == 1
    assert "pairs were rejected, " not in said
    assert said.count(" look like ") + said.count(" looks like ") == 1
    assert "[exchanged_languages]" in said


@pytest.mark.parametrize(("check", "warnings"), [("sample", 1), ("none", 0)])
def test_one_file_on_both_sides_is_one_notice(directory, tmp_path, check, warnings):
    words = ("augment", "--source_input", "a.en", "--target_input", "a.en", *LANGS, "--mix", "0")
    more = ("--check", check, "--workers", "1", "--output", tmp_path / "out")
    status, _, errors = runs.run_here(*words, *more, cwd=directory)
    assert status == 0
    notice = "a.en: the target is the same file; give the translation as target_input [copied]"
    assert errors.count(f"warning: {notice}") == warnings
    manifest = manifest_of(tmp_path / "out")
    assert manifest["notices"] == [notice]
    actual = manifest.get("look", {"findings": []})["findings"]
    assert [(each["kind"], each["count"]) for each in actual] == [("copied", 600)] * warnings


@pytest.mark.parametrize("log", ["text", "json"])
@pytest.mark.parametrize(("bad", "told"), [(400, 1), (20, 0)])
def test_lines_in_another_encoding_are_told_at_the_start_if_they_are_many(tmp_path, log, bad, told):
    lines = [line.encode("ascii", "replace").decode() for line in sentences("de")[:600]]
    (tmp_path / "a.en").write_text("".join(f"{line}\n" for line in sentences("en")[:600]))
    text = "".join(f"{line} \xfcber\n" if n < bad else f"{line}\n" for n, line in enumerate(lines))
    (tmp_path / "a.de").write_text(text, "windows-1252")
    words = (*WORDS, "--workers", "1", "--output", "out", "--log_format", log)
    status, _, errors = runs.run_here(*words, cwd=tmp_path)
    assert status == 0
    start = f"warning: a.de:1-{bad}: {bad} of 600 rows cannot be read as pairs: invalid_utf8 (first"
    assert errors.count(start) == told
    if told:
        assert "iconv -f WINDOWS-1252 -t UTF-8" in errors[errors.index(start) :].splitlines()[0]
    if log == "json":
        records = [json.loads(line) for line in errors.splitlines() if line.startswith("{")]
        assert [each["finding"]["kind"] for each in records if "finding" in each] == [
            "unreadable"
        ] * told
    manifest = manifest_of(tmp_path / "out")
    assert not any("[unreadable]" in notice for notice in manifest["notices"])
    about = [notice for notice in manifest["notices"] if "invalid_utf8" in notice]
    assert len(about) == told


def test_a_log_in_json_has_each_finding_as_an_object(directory, tmp_path):
    words = (*WORDS, "--workers", "1", "--output", tmp_path / "out", "--log_format", "json")
    status, _, errors = runs.run_here(*words, cwd=directory)
    assert status == 0
    records = [json.loads(line) for line in errors.splitlines() if line.startswith("{")]
    (record,) = [record for record in records if "finding" in record]
    assert record["level"] == "WARNING"
    assert [record["finding"]] == manifest_of(tmp_path / "out")["look"]["findings"]
    assert sum("[misaligned]" in record["message"] for record in records) == 1
