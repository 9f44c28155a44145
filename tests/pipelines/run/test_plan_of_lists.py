"""A run is planned with the contents of its lists, and with the licence of each corpus."""

import hashlib

import pyarrow as pa
import pytest

from pairweave.pipelines.job_options.pair_options import AugmentOptions
from pairweave.pipelines.jobs import augment
from pairweave.transforms.known_pairs import IdSet, Tombstones
from pairweave.transforms.output.signature_line import flat_configuration
from tests.makers import runs


@pytest.fixture
def directory(tmp_path):
    """Return a directory with two corpora, the ids of known pairs, and texts taken down."""
    (tmp_path / "a.tsv").write_text("a b\tc d\n")
    (tmp_path / "b.tsv").write_text("e f\tg h\n")
    (tmp_path / "known.ids").write_bytes(IdSet.of(pa.array([f"{1:032x}"])).to_bytes())
    (tmp_path / "down.jsonl").write_bytes(Tombstones({f"{2:032x}": None}, {}).to_bytes())
    return tmp_path


def test_a_plan_has_the_contents_of_both_lists(directory):
    lists = {"known_pairs": "known.ids", "taken_down": "down.jsonl"}
    options = {name: str(directory / file) for name, file in lists.items()}
    options |= {"source_lang": "en", "target_lang": "de", "output": str(directory / "out")}
    run = augment.JOB.prepare(AugmentOptions(input=(str(directory / "a.tsv"),), **options))
    settings = run.document["configuration"]
    digests = {
        name: hashlib.sha256((directory / file).read_bytes()).hexdigest()
        for name, file in lists.items()
    }
    assert {name: settings[name] for name in lists} == {
        name: [{"name": file, "sha256": digests[name]}] for name, file in lists.items()
    }
    flat = flat_configuration(settings)
    assert {name: flat[name] for name in lists} == {
        name: [digest[:12]] for name, digest in digests.items()
    }


@pytest.mark.parametrize("name", ["known.ids", "down.jsonl"])
def test_a_run_is_not_resumed_with_another_list(directory, name):
    lists = ("--known_pairs", "known.ids", "--taken_down", "down.jsonl")
    words = ("augment", "--input", "a.tsv", "--source_lang", "en", "--target_lang", "de", *lists)
    words = (*words, "--output", "out", "--mix", "0")
    runs.run_well_here(*words, "--allow_empty", cwd=directory)
    (directory / "out" / "_manifest.json").unlink()
    other = {
        "known.ids": IdSet.of(pa.array([f"{3:032x}"])).to_bytes(),
        "down.jsonl": Tombstones({f"{4:032x}": None}, {}).to_bytes(),
    }
    (directory / name).write_bytes(other[name])
    status, _, errors = runs.run_here(*words, "--allow_empty", cwd=directory)
    assert status == 2
    entry = {"known.ids": "known_pairs", "down.jsonl": "taken_down"}[name]
    assert f"already belongs to another run: configuration.{entry}" in errors


def test_a_corpus_has_its_own_licence_before_that_of_all_corpora(directory):
    corpora = [
        {"corpus": "own", "input": [str(directory / "a.tsv")], "licence": "mit"},
        {"corpus": "other", "input": [str(directory / "b.tsv")]},
    ]
    options = {"licence": "cc0-1.0", "source_lang": "en", "target_lang": "de", "corpora": corpora}
    shared = AugmentOptions.model_validate({**options, "output": str(directory / "out")})
    told = augment.JOB.prepare(shared).document["corpora"]
    assert {corpus["name"]: corpus["licence"] for corpus in told} == {
        "own": "mit",
        "other": "cc0-1.0",
    }
