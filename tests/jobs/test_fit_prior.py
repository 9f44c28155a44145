"""The job `fit` with `--prior`: what it takes over, records and refuses."""

import json
import shutil

import pytest

from pairweave.models.hmm import hmm_reference
from tests.makers import corpora, runs

SIDES = ("--source_input", "corpus.en", "--target_input", "corpus.de")
LANGS = ("--source_lang", "en", "--target_lang", "de", "--workers", "1")
BACK = ("--source_input", "few.de", "--target_input", "few.en")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with a corpus, a fit on it, and a few more pairs."""
    directory = tmp_path_factory.mktemp("prior")
    corpora.write_corpus(directory, 260)
    sides = zip(*map(corpora.sentence, range(260, 290)), strict=True)
    for name, texts in zip(("few.en", "few.de"), sides, strict=True):
        (directory / name).write_text("".join(f"{text}\n" for text in texts))
    runs.run_well_here("fit", *SIDES, *LANGS, "--output", "earlier", cwd=directory)
    return directory


def fitted(directory, output, *arguments):
    runs.run_well_here("fit", *arguments, "--workers", "1", "--output", output, cwd=directory)
    return hmm_reference.read(str(directory / output))


FEW = ("--source_input", "few.en", "--target_input", "few.de", *LANGS[:4])


def test_the_model_and_the_plan_name_the_earlier_fit(directory):
    model = fitted(directory, "with", *FEW, "--prior", "earlier")
    alone = fitted(directory, "alone", *FEW)
    digest = hmm_reference.find(str(directory / "earlier")).digest
    assert model.about["prior"] == digest
    assert model.model.report["prior"] == {"digest": digest, "exchanged": False, "used": True}
    assert "prior" not in alone.about
    assert "prior" not in alone.model.report
    plans = [
        json.loads((directory / each / "_plan.json").read_text()) for each in ("with", "alone")
    ]
    assert plans[0]["configuration"]["prior"] == digest
    assert "prior" not in plans[1]["configuration"]
    assert len(model.model.parts.source) > len(alone.model.parts.source)


def test_a_notice_says_that_the_earlier_fit_was_left_out(directory):
    fitted(directory, "left_out", *SIDES, *LANGS[:4], "--prior", "earlier")
    report = hmm_reference.read(str(directory / "left_out")).model.report["prior"]
    assert not report["used"]
    manifest = json.loads((directory / "left_out" / "_manifest.json").read_text())
    (notice,) = (each for each in manifest["notices"] if "[prior_left_out]" in each)
    assert f"{report['agreement']:.2%}" in notice


def test_sides_are_exchanged_where_the_languages_say_so(directory):
    languages = ("--source_lang", "de-AT", "--target_lang", "en")
    model = fitted(directory, "back", *BACK, *languages, "--prior", "earlier")
    assert model.model.report["prior"]["exchanged"]


def test_workers_and_another_place_of_it_change_no_byte(directory, tmp_path):
    fitted(directory, "one", *FEW, "--prior", "earlier")
    shutil.copytree(directory / "earlier", tmp_path / "moved")
    arguments = ("--prior", tmp_path / "moved", "--workers", "2", "--output", "two")
    runs.run_well_here("fit", *FEW, *arguments, cwd=directory)
    for name in ("about.json", "model.json", "lexicon.arrow", "_plan.json"):
        assert (directory / "one" / name).read_bytes() == (directory / "two" / name).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--source_lang", "fr", "--prior", "earlier"),
            "--prior earlier: was fitted with source_lang en, but the pairs have fr; give an "
            "earlier fit of the pairs' languages, source and target in either order",
        ),
        (("--prior", "nowhere"), "--prior nowhere: no fitted aligner there"),
        (
            ("--prior", "earlier", "--tokens", "sentencepiece"),
            "--tokens sentencepiece: the model in earlier was fitted on words",
        ),
    ],
)
def test_what_cannot_be_a_prior_is_refused_in_one_line(directory, arguments, message):
    status, _, errors = runs.run_here("fit", *FEW, *arguments, "--output", "bad", cwd=directory)
    assert status == 2
    assert message in errors
    assert len(errors.strip().splitlines()) == 1
    assert not (directory / "bad").exists()
