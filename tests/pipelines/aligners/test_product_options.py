"""The aligner `product` on the command line: what it refuses before loading a model."""

import pytest

from pairweave.pipelines.aligners.aligner_registry import NAMED, places_in_name, read_name
from pairweave.pipelines.aligners.hmm import tokens_for
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_places import Use
from pairweave.transforms.text.tokens import TokenConfig
from tests.makers import runs

SIDES = ("--source_input", "a.en", "--target_input", "a.de", "--output", "out")
PRODUCT = ("--aligner", "product")
BOTH = (*PRODUCT, "--model", "m", "--hmm_model", "h")


@pytest.fixture
def directory(tmp_path):
    (tmp_path / "a.en").write_text("The house is red .\n")
    (tmp_path / "a.de").write_text("Das Haus ist rot .\n")
    return tmp_path


@pytest.mark.parametrize("job", ["align", "augment"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (PRODUCT, "--aligner product needs its encoder: --model DIRECTORY"),
        (
            (*PRODUCT, "--model", "m"),
            "--aligner product needs a fitted hmm: --hmm_model DIRECTORY; make one with: pairweave "
            "fit --output MODEL_DIR",
        ),
        (BOTH, "--hmm_model h: no fitted aligner there (it has no about.json)"),
        ((*BOTH, "--fit_pairs", "9"), "--aligner product does not take --fit_pairs"),
        ((*BOTH, "--large_model"), "--aligner product does not take --large_model"),
        (("--hmm_model", "h"), "--aligner hmm does not take --hmm_model"),
        ((*BOTH, "--tokens", "pieces"), "--tokens pieces: these are the pieces of an encoder"),
    ],
)
def test_wrong_options_are_named_in_one_line(job, arguments, message, directory):
    status, _, errors = runs.run_here(job, *SIDES, *arguments, cwd=directory)
    assert status == 2
    assert message in errors
    assert len(errors.strip().splitlines()) == 1
    assert not (directory / "out").exists()


def test_a_one_line_name_has_two_models():
    text = "product:bert:hmm=fitted:layer=7:unit=words"
    name = read_name(text)
    assert (name.model, name.settings["hmm"]) == ("bert", "fitted")
    places = [(text[part.first : part.last], part.on_hub) for part in places_in_name(text)]
    assert places == [("bert", True), ("fitted", False)]
    assert not NAMED["product"].learns(name)
    assert NAMED["product"].learns(read_name("product:bert"))


def test_a_model_of_words_aligns_words_between_blanks_and_no_pieces():
    words, blanks = TokenConfig(), TokenConfig(kind="whitespace")
    assert tokens_for(None, "h", words, "--hmm_model") == words
    assert tokens_for("whitespace", "h", words, "--hmm_model") == blanks
    assert tokens_for("words", "h", blanks, "--hmm_model") == words
    with pytest.raises(ConfigError, match="--tokens sentencepiece: the model in h was fitted on w"):
        tokens_for("sentencepiece", "h", words, "--hmm_model")


def test_a_program_without_a_model_is_the_only_place_of_its_name():
    text = "fast_align:path=bin/fast_align"
    (part,) = places_in_name(text)
    assert (text[part.first : part.last], part.use) == ("bin/fast_align", Use.PROGRAM)


def test_as_the_second_aligner_it_needs_a_fitted_hmm():
    name = read_name("product:bert:layer=7", "--second_aligner")
    with pytest.raises(ConfigError, match="needs a fitted hmm, as in product:ENCODER:hmm=DIREC"):
        NAMED["product"].second(name, None, None)


def test_an_unknown_setting_is_refused():
    name = read_name("product:bert:hmm=h:depth=7", "--second_aligner")
    with pytest.raises(ConfigError, match="unknown setting depth"):
        NAMED["product"].second(name, None, None)
