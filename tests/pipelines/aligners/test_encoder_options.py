"""Messages about an encoder's options before loading; needs no torch."""

import re
import subprocess
import sys

import pytest

from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.pipelines.command_line import validation
from pairweave.pipelines.job_options.pair_options import AlignOptions, AugmentOptions, FitOptions
from pairweave.transforms.errors import ConfigError
from tests.makers import runs

SIDES = ("--source_input", "a.en", "--target_input", "a.de", "--output", "out")


@pytest.fixture
def directory(tmp_path):
    (tmp_path / "a.en").write_text("The house is red .\n")
    (tmp_path / "a.de").write_text("Das Haus ist rot .\n")
    return tmp_path


@pytest.mark.parametrize("job", ["align", "augment"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--aligner", "encoder"), "--aligner encoder needs --model"),
        (
            ("--aligner", "encoder", "--model", "m", "--fit_pairs", "9", "--decode", "viterbi"),
            "--aligner encoder does not take --decode, --fit_pairs",
        ),
        (("--layer", "8"), "--aligner hmm does not take --layer"),
        (("--aligner", "hmm", "--head", "argmax"), "--aligner hmm does not take --head"),
        (
            ("--aligner", "encoder", "--model", "m", "--tokens", "sentencepiece"),
            "give pieces, sentencepiece:MODEL",
        ),
        (
            ("--aligner", "encoder", "--model", "m", "--tokens", "sentencepiece:a.en"),
            "--tokens sentencepiece:a.en: this is not a SentencePiece model",
        ),
        (("--tokens", "pieces"), "--tokens pieces: these are the pieces of an encoder"),
        (("--aligner", "encoder", "--model", "m", "--head", "loud"), "'loud'"),
        (("--aligner", "encoder", "--model", "m", "--token_budget", "0"), "token_budget"),
        (("--aligner", "encoder", "--model", "m", "--layer", "1000"), "layer"),
        (
            ("--aligner", "encoder", "--model", "m", "--head", "match", "--head_threshold", "0.2"),
            "head match has no threshold",
        ),
        (
            ("--aligner", "encoder", "--model", "m", "--distortion", "0.2"),
            "head softmax has no distortion",
        ),
        (
            ("--aligner", "encoder", "--model", "m", "--head", "ot", "--moved_mass", "0.5"),
            "head ot has no moved_mass",
        ),
        (("--cost", "euclidean"), "--aligner hmm does not take --cost"),
        (
            ("--cost", "euclidean", "--head", "ot"),
            "does not take --cost, --head; leave them out, or give --aligner encoder\n",
        ),
        (
            ("--layer", "8", "--attention_head", "0"),
            "--aligner hmm does not take --attention_head, --layer; leave them out\n",
        ),
    ],
)
def test_wrong_options_are_named_in_one_line(job, arguments, message, directory):
    status, _, errors = runs.run_here(job, *SIDES, *arguments, cwd=directory)
    assert status == 2
    assert message in errors
    assert len(errors.strip().splitlines()) == 1
    assert not (directory / "out").exists()


def test_a_model_is_not_fitted_on_the_pieces_of_an_encoder(directory):
    status, _, errors = runs.run_here("fit", *SIDES, "--tokens", "pieces", cwd=directory)
    assert status == 2
    assert "tokens: no such tokenizer; expected one of words, whitespace, sentencepiece" in errors
    assert not (directory / "out").exists()


def test_without_the_extra_its_installation_is_named(directory, monkeypatch):
    for name in ("neural", "encoder", "blocks", "heads", "optimal_transport"):
        monkeypatch.delitem(sys.modules, f"pairweave.models.encoder.{name}", raising=False)
    monkeypatch.delattr("pairweave.models.encoder.neural", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    status, _, errors = runs.run_here(
        "align", *SIDES, "--aligner", "encoder", "--model", "m", cwd=directory
    )
    assert status == 2
    assert "pip install 'pairweave[neural]'" in errors
    assert len(errors.strip().splitlines()) == 1


@pytest.mark.slow
def test_a_job_with_the_statistical_aligner_loads_no_neural_library():
    code = (
        "import sys, pairweave.pipelines.jobs.align, pairweave.pipelines.jobs.augment;"
        "sys.exit(any(name in sys.modules for name in ('torch', 'transformers')))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=runs.ROOT, check=False, timeout=60)
    assert done.returncode == 0


@pytest.mark.parametrize("budget", ["0", "-1", "1e3", "20000000", str((1 << 24) + 1)])
def test_a_token_budget_beyond_its_limits_is_refused_by_option_and_settings_alike(budget):
    message = r"must be auto or a whole number from 1 to 16,777,216, got '?" + re.escape(budget)
    with pytest.raises(ConfigError, match=f"^token_budget: {message}"):
        validation.validate(
            AlignOptions, {"output": "out", "token_budget": budget}, "pairweave align"
        )
    with pytest.raises(ConfigError, match=f"^token_budget {message}"):
        EncoderConfig("m", token_budget=budget)


@pytest.mark.parametrize("budget", [1, 1 << 24])
def test_a_token_budget_is_taken_up_to_its_limits(budget):
    options = AlignOptions(output="out", token_budget=budget)
    assert EncoderConfig("m", token_budget=options.token_budget).batch_pieces == budget
    assert EncoderConfig("m").batch_pieces is None


def test_a_token_budget_may_be_a_number_in_yaml():
    assert AlignOptions(output="out", token_budget=512).token_budget == "512"
    assert AugmentOptions(output="out").token_budget == "auto"
    assert "layer" not in FitOptions.model_fields
