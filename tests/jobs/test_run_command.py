"""The command ``run``: a recipe from documents to tagged pairs, stopped, repeated and changed."""

import json
import shutil
import signal
import time

import pytest

from tests.cluster.conftest import ready
from tests.makers import corpora, documents, runs

RECIPE = """source_lang: en
target_lang: de
workers: 1
steps:
- {job: fit, source_input: clean.en, target_input: clean.de}
- name: sentences
  job: bitext
  corpora:
  - {corpus: novels, source_input: 0.en, target_input: 0.de, licence: cc0-1.0}
  - {corpus: news, source_input: 1.en, target_input: 1.de}
  model: {from: fit}
- {job: filter, input: {from: sentences}, model: {from: fit}, select_words: 600}
- {job: augment, input: {from: filter}, model: {from: fit}, keep_origin: true,
   filter: {max_copied: 0.4}}
"""
STEPS = ("fit", "sentences", "filter", "augment")
RUN = ("run", "--config", "recipe.yaml", "--output")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with documents, clean text, a recipe and what it gave."""
    directory = tmp_path_factory.mktemp("recipe")
    documents.write_documents(directory, (60, 40))
    for side, name in enumerate(("en", "de")):
        lines = "".join(f"{corpora.sentence(number)[side]}\n" for number in range(300))
        (directory / f"clean.{name}").write_text(lines)
    (directory / "recipe.yaml").write_text(RECIPE)
    out = runs.run_well_here(*RUN, "out", cwd=directory)
    (directory / "said").write_text(out)
    return directory


def manifest(directory, step):
    return json.loads((directory / step / "_manifest.json").read_text())


def test_every_step_has_its_own_committed_run_and_reads_the_one_before(directory):
    out = directory / "out"
    rows = {step: manifest(out, step)["rows"] for step in STEPS}
    for counts in rows.values():
        assert counts["read"] == counts["kept"] + counts["rejected"]
    assert rows["filter"]["read"] == rows["sentences"]["kept"]
    assert rows["augment"]["read"] == rows["filter"]["kept"] > 20
    digests = {step: manifest(out, step)["configuration"].get("model") for step in STEPS[1:]}
    assert len(set(digests.values())) == 1
    assert None not in digests.values()


def test_the_summary_has_the_rows_of_every_step(directory):
    said = (directory / "said").read_text()
    actual = json.loads((directory / "out/_recipe.json").read_text())["steps"]
    assert [step["name"] for step in actual] == list(STEPS)
    assert actual[3]["reads"] == ["filter", "fit"]
    for step in actual:
        rows = manifest(directory / "out", step["name"])["rows"]
        assert step["rows"] == rows
        words = [step["name"], step["job"], *(str(rows[n]) for n in ("read", "kept", "rejected"))]
        assert words in [line.split() for line in said.splitlines()]


def test_tagged_rows_say_which_line_of_which_document_they_come_from(directory):
    rows = runs.rows_of(directory / "out/augment")
    by_id = {row["id"]: row for row in runs.rows_of(directory / "out/sentences")}
    assert {row["corpus"] for row in rows} == {"novels", "news"}
    for row in rows:
        bead = by_id[row["id"]]
        assert [row[n] for n in ("corpus", "file", "line", "source_lang", "target_lang")] == [
            bead[n] for n in ("corpus", "file", "line", "source_lang", "target_lang")
        ]
        if row["kind"] == "plain":
            lines = (directory / row["file"]).read_text().splitlines()
            assert row["source"].startswith(lines[row["line"] - 1])
    licences = {n: c["licence"] for n, c in manifest(directory, "out/augment")["corpora"].items()}
    assert licences == {"novels": "cc0-1.0", "news": None}


@pytest.mark.slow
def test_a_step_is_the_run_that_its_job_makes_alone(directory, tmp_path):
    words = ("filter", "--from_run", "out/sentences", "--model", "out/fit", "--workers", "1")
    output = tmp_path / "filter"
    runs.run_well_here(*words, "--select_words", "600", "--output", output, cwd=directory)
    assert runs.tree_digest(output) == runs.tree_digest(directory / "out/filter")


def test_the_same_command_again_makes_nothing_again(directory):
    before = {path: path.stat().st_mtime_ns for path in directory.glob("out/*/data/*")}
    digest = runs.tree_digest(directory / "out")
    runs.run_well_here(*RUN, "out", cwd=directory)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert runs.tree_digest(directory / "out") == digest


@pytest.mark.slow
def test_a_changed_step_is_refused_until_what_depends_on_it_is_gone(directory, tmp_path):
    shutil.copytree(directory, tmp_path, dirs_exist_ok=True)
    changed = RECIPE.replace("select_words: 600", "select_words: 400")
    (tmp_path / "recipe.yaml").write_text(changed)
    status, _, errors = runs.run_here(*RUN, "out", cwd=tmp_path)
    assert status == 2
    assert "recipe.yaml: step filter: " in errors
    assert "out/filter already belongs to another run: configuration.select_words was 600" in errors
    assert "delete out/filter and out/augment" in errors
    for step in ("filter", "augment"):
        shutil.rmtree(tmp_path / "out" / step)
    runs.run_well_here(*RUN, "out", cwd=tmp_path)
    assert manifest(tmp_path, "out/filter")["counts"]["kept_target_words"] <= 400
    for step in ("fit", "sentences"):
        assert runs.tree_digest(tmp_path / "out" / step) == runs.tree_digest(
            directory / "out" / step
        )


def test_a_plan_is_shown_of_every_step_as_far_as_it_is_known(directory):
    out = runs.run_well_here(*RUN, "new", "--plan_only", cwd=directory)
    for number, step in enumerate(STEPS, 1):
        assert f"step {number} of 4: {step}" in out
    assert "job fit, plan " in out
    assert "reads from filter, fit, which has not run" in out
    assert "max_copied: 0.4" in out
    assert "max_repetition" not in out
    assert not (directory / "new").exists()
    assert "job augment, plan " in runs.run_well_here(*RUN, "out", "--plan_only", cwd=directory)


def test_an_error_in_a_step_names_it(directory):
    text = RECIPE.replace("select_words: 600", "select_score: 1, min_script: 1")
    (directory / "strict.yaml").write_text(text)
    words = ("run", "--config", "strict.yaml", "--output", "strict")
    status, _, errors = runs.run_here(*words, cwd=directory)
    assert status == 2
    assert "strict.yaml: step filter: no pair of" in errors


def test_a_recipe_must_be_given(directory):
    for words, message in (
        (("run", "--output", "x"), "--config is required"),
        (("run", "--output", "x", "--config"), "argument --config: expected one argument"),
        (("run", "--config", "recipe.yaml"), "--output is required"),
        (
            ("run", "--config", "a.yaml", "--config", "b.yaml", "--output", "x"),
            "--config b.yaml: --config a.yaml is given already",
        ),
        ((*RUN, "x", "--max_tags", "3"), "unknown option --max_tags"),
    ):
        status, _, errors = runs.run_here(*words, cwd=directory)
        assert status == 2
        assert message in errors


@pytest.mark.slow
def test_an_interrupted_recipe_goes_on_where_it_was(directory, tmp_path):
    for path in directory.iterdir():
        if path.is_file():
            shutil.copy(path, tmp_path)
    process = runs.start(*RUN, "out", "--workers", "2", cwd=tmp_path)
    deadline = time.monotonic() + runs.SECONDS
    while not (tmp_path / "out/filter/_plan.json").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=runs.SECONDS)
    runs.kill_group(process)
    assert process.returncode == 130, (out, errors)
    assert "interrupted; run the same command again to continue" in errors
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("out/sentences/data/*")}
    assert kept
    assert not (tmp_path / "out/_recipe.json").exists()
    runs.run_well(*RUN, "out", "--workers", "2", cwd=tmp_path)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert runs.tree_digest(tmp_path / "out") == runs.tree_digest(directory / "out")


@pytest.mark.slow
def test_a_recipe_gives_the_same_bytes_on_another_engine(directory, tmp_path):
    ready("prism")
    words = ("--engine", "prism", "--workers", "2")
    runs.run_well(*RUN, tmp_path / "out", *words, cwd=directory)
    assert runs.tree_digest(tmp_path / "out") == runs.tree_digest(directory / "out")
