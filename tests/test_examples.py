"""The files of examples/, run as they are."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.peers import PYTHON
from tests.makers import corpora, runs

EXAMPLES = runs.ROOT / "examples"
LANGS = ("--source_lang", "en", "--target_lang", "de", "--workers", 1)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    directory = tmp_path_factory.mktemp("examples")
    corpora.write_corpus(directory, 300)
    files = ("--source_input", "corpus.en", "--target_input", "corpus.de")
    more = ("--keep_links", "--output", "tagged")
    runs.run_well_here("augment", *files, *LANGS, *more, cwd=directory)
    return directory / "tagged"


def run_example(name, *arguments, **environment):
    """Run an example as a person does; return what it prints."""
    script = EXAMPLES / name
    command = [sys.executable, script] if script.suffix == ".py" else [script]
    launcher = Path(sys.executable).parent / "pairweave"
    done = subprocess.run(
        [*command, *map(str, arguments)],
        env={
            **os.environ,
            "PYTHONPATH": str(runs.ROOT),
            "OMP_NUM_THREADS": "1",
            "PAIRWEAVE": str(launcher),
            **{name: str(value) for name, value in environment.items()},
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_the_list_names_every_example():
    listed = (EXAMPLES / "README.md").read_text()
    names = [path.name for path in EXAMPLES.iterdir() if path.suffix in (".py", ".sh", ".ipynb")]
    assert len(names) == 5
    assert all(f"]({name})" in listed for name in names)


@pytest.mark.slow
def test_the_notebook_runs_from_top_to_bottom(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((EXAMPLES / "tags_in_tables.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    names: dict[str, object] = {}
    for number, cell in enumerate(cells):
        exec(compile(cell, f"cell {number}", "exec"), names)
    assert len(cells) == 4
    assert "<a_" in capsys.readouterr().out
    assert len({row["source"] for row in names["epochs"]}) > len(names["pairs"])


def test_every_tag_is_one_piece_of_sentencepiece(run, tmp_path):
    printed = run_example("sentencepiece_tags.py", run, tmp_path / "model.spm", 400)
    pieces = printed.split()
    opening = [piece for piece in pieces if piece.startswith("<a_")]
    closing = [piece for piece in pieces if piece.startswith("</a_")]
    assert opening
    assert sorted(piece.replace("/", "") for piece in closing) == sorted(opening)
    assert set(opening) <= set((run / "symbols.txt").read_text().split())


def test_lines_for_marian_have_three_fields_and_new_tags(run, tmp_path):
    fed = tmp_path / "fed"
    run_example("marian_tsv.sh", run, 2, TRAINER=f"tee {fed}")
    lines = fed.read_text().splitlines()
    assert {line.count("\t") for line in lines} == {2}
    tagged = [line for line in lines if "<a_" in line]
    assert len(set(tagged)) > 0.9 * len(tagged)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no torch")
def test_a_tiny_marian_model_learns_from_a_stream(run):
    printed = run_example("huggingface_marian.py", run, 40)
    first, last = map(float, printed.split("loss ")[1].split(" to "))
    assert last < 0.7 * first


@pytest.mark.skipif(not PYTHON.exists(), reason="no peers (make bench)")
def test_opustrainer_reads_the_export_and_feeds_a_trainer(run, tmp_path):
    fed = tmp_path / "fed"
    program = PYTHON.parent / "opustrainer-train"
    programs = {"OPUSTRAINER": program, "TRAINER": f"tee {fed}"}
    run_example("opustrainer.sh", run, tmp_path, **programs)
    lines = fed.read_text().splitlines()
    assert len(lines) >= 200
    assert {line.count("\t") for line in lines} == {1}  # as its trainer expects
    assert sum("__source__" in line for line in lines) > 0.8 * len(lines)
    fed.unlink()
    run_example("opustrainer.sh", run, tmp_path, "--do-not-resume", **programs)
    assert len(fed.read_text().splitlines()) == len(lines)
