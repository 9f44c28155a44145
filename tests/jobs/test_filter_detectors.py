"""`filter --detector`: every detector from the command line."""

import hashlib
import importlib.metadata
import json

import pyarrow.parquet as pq
import pytest

from tests.makers import corpora, runs
from tests.makers.fasttext_model import write_model

LANGS = ("--source_lang", "en", "--target_lang", "de", "--workers", "1")
SMALL = ("--shard_pairs", "2")
SIDES = ("--source_input", "corpus.en", "--target_input", "corpus.de")
FRENCH = ("The old dog never likes the red house.", "Le vieux chien n'aime pas la maison rouge.")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with a corpus whose last target is French, and a model of words."""
    directory = tmp_path_factory.mktemp("detectors")
    for side, name in enumerate(("en", "de")):
        lines = [corpora.sentence(number)[side] for number in range(60)] + [FRENCH[side]]
        (directory / f"corpus.{name}").write_text("".join(f"{line}\n" for line in lines))
    words = {"The": [9.0, 0, 0], "das": [0, 9.0, 0], "Das": [0, 9.0, 0], "la": [0, 0, 9.0]}
    labels = {"en": [9.0, 0, 0], "de": [0, 9.0, 0], "fr": [0, 0, 9.0]}
    labelled = {f"__label__{name}": vector for name, vector in labels.items()}
    write_model(directory / "lid.bin", words, labelled)
    runs.run_well_here("fit", *SIDES, *LANGS, "--output", "model", cwd=directory)
    return directory


@pytest.mark.parametrize(
    ("detector", "module"),
    [("cld2", "pycld2"), ("langid", "py3langid"), ("fasttext:lid.bin", "fasttext")],
)
def test_a_target_in_another_language_is_rejected(directory, detector, module):
    pytest.importorskip(module)
    name = f"by-{module}"
    options = ("--model", "model", "--detector", detector, "--output", name)
    runs.run_well_here("filter", *SIDES, *LANGS, *SMALL, *options, cwd=directory)
    shards = [pq.read_table(path) for path in (directory / name / "data").iterdir()]
    assert {len(shard) > 0 for shard in shards} == {True, False}
    assert all("source_detected" in shard.column_names for shard in shards)
    rejects = pq.read_table(directory / name / "rejects").to_pylist()
    actual = {row["line"]: row["detail"] for row in rejects if row["reason"] == "target_language"}
    assert actual[61] == "fr, expected de"
    assert len(actual) <= 2  # CLD2 takes a German sentence for Afrikaans
    settings = json.loads((directory / name / "_manifest.json").read_text())["configuration"]
    digest = hashlib.sha256((directory / "lid.bin").read_bytes()).hexdigest()
    expected = f"fasttext:{digest}" if module == "fasttext" else detector
    assert settings["detector"] == expected
    package = "fasttext-predict" if module == "fasttext" else module
    assert settings["detector_version"] == f"{package}-{importlib.metadata.version(package)}"


@pytest.mark.parametrize(
    ("detector", "message"),
    [
        ("cld3", "must be none, cld2, langid, lingua or fasttext:FILE"),
        ("fasttext:nowhere.bin", "nowhere.bin: no such file; give a fastText model"),
        ("fasttext:corpus.en", "corpus.en: is not a fastText classifier"),
    ],
)
def test_a_detector_that_cannot_be_is_refused_before_the_run(directory, detector, message):
    pytest.importorskip("fasttext")
    status, _, errors = runs.run_here(
        *("filter", *SIDES, *LANGS, "--detector", detector, "--output", "refused"), cwd=directory
    )
    assert (status, len(errors.splitlines())) == (2, 1)
    assert message in errors
    assert not (directory / "refused").exists()
