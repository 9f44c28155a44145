"""Training: what the converted model says, and that an update depends on its number alone."""

import dataclasses

import numpy as np
import pytest

from pairweave.models.subwords.symbol_training import train_with_symbols
from pairweave.models.translation.translation_config import SIZES
from pairweave.models.translation.translation_decoder import too_long, translate
from pairweave.models.translation.translation_pairs import Stage, Vocabulary, encode_pass
from pairweave.transforms.errors import ConfigError, FullError
from pairweave.transforms.symbols.representations import symbols
from tests.makers.ablations import GERMAN, SIZE, WORDS, sentence
from tests.makers.file_limits import most_bytes

pytestmark = pytest.mark.slow

torch = pytest.importorskip("torch", reason="needs the extra `ablate`")
pytest.importorskip("ctranslate2", reason="needs the extra `ablate`")
translation_model = pytest.importorskip("pairweave.models.translation.translation_model")
translation_trainer = pytest.importorskip("pairweave.models.translation.translation_trainer")

SOURCES = [sentence(number, WORDS) for number in range(1_000, 1_200)]
CONFIG = SIZES["toy"].changed(
    **{name: value for name, value in SIZE.items() if name != "like"}, learning_rate=0.01
)
LATER_STEPS = 12


@pytest.fixture(scope="module")
def data():
    """Return a vocabulary and the pairs of a pass."""
    targets = [sentence(number, GERMAN) for number in range(1_000, 1_200)]
    model = train_with_symbols([*SOURCES, *targets], symbols("indexed", 10), 120, "unigram")
    vocabulary = Vocabulary(model)
    return vocabulary, encode_pass(vocabulary, SOURCES, targets, 50)


def training(data, precision="fp32", **changed):
    vocabulary, *pairs = data
    config = CONFIG.changed(**changed)
    later = [Stage((one,), LATER_STEPS) for one in pairs[1:]]
    first = Stage((pairs[0],), config.steps - LATER_STEPS * len(later))
    return translation_trainer.Training(
        config, vocabulary, (first, *later), None, None, 1, "cpu", precision, "key"
    )


def test_the_converted_model_says_what_the_trained_one_says(data, tmp_path):
    vocabulary, _ = data
    model = translation_trainer.train(
        training(data, steps=400, dimension=32), tmp_path / "state"
    ).model.eval()
    padding = model.get_input_embeddings().weight[vocabulary.padding]
    assert padding.abs().max() == 0  # as CTranslate2 takes for granted
    said = []
    for numbers in vocabulary.encode(SOURCES[:20]):
        source = torch.from_numpy(numbers.astype(np.int64))[None]
        actual = model.generate(
            source, num_beams=1, do_sample=False, max_new_tokens=20, forced_eos_token_id=None
        )[0, 1:].tolist()
        kept = [number for number in actual if number not in (0, vocabulary.padding)]
        said.append(vocabulary.join([vocabulary.pieces[number] for number in kept]))
    translation_model.convert(model, vocabulary, tmp_path / "model")
    made = translate(
        *(tmp_path / "model" / "ctranslate2", vocabulary, SOURCES[:20]),
        *(CONFIG.changed(beam_size=1), "cpu"),
    )
    # CTranslate2 may say more than the twenty pieces asked of transformers.
    assert all(text and whole.startswith(text) for whole, text in zip(made, said, strict=True))
    assert len(set(said)) > 1


def test_training_goes_on_from_a_checkpoint_with_the_same_weights(data, tmp_path):
    whole = translation_trainer.train(training(data), tmp_path / "whole")

    def kill(step, _steps, _loss):
        if step == 17:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        translation_trainer.train(training(data), tmp_path / "cut", kill)
    resumed = translation_trainer.train(training(data), tmp_path / "cut")
    assert (whole.resumed_at, resumed.resumed_at) == (0, 15)
    assert resumed.losses == whole.losses
    other = dict(resumed.model.named_parameters())
    for name, weight in whole.model.named_parameters():
        assert torch.equal(weight, other[name]), name


def test_a_later_stage_has_other_data_and_goes_on_from_a_checkpoint_too(data, tmp_path):
    vocabulary, pairs = data
    reverse = encode_pass(vocabulary, ["wall"] * 50, ["Wand"] * 50, 50)
    staged = training((vocabulary, pairs, reverse))
    whole = translation_trainer.train(staged, tmp_path / "whole")

    def kill(step, _steps, _loss):
        if step == 27:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        translation_trainer.train(staged, tmp_path / "cut", kill)
    resumed = translation_trainer.train(staged, tmp_path / "cut")
    assert resumed.resumed_at == 25  # after the 18 updates of the first stage
    one_stage = translation_trainer.train(training(data), tmp_path / "other")
    weights = [one.model.get_input_embeddings().weight for one in (whole, resumed, one_stage)]
    assert torch.equal(*weights[:2])
    assert not torch.equal(weights[0], weights[2])


def test_bf16_gives_other_weights_that_are_finite(data, tmp_path):
    one, other = (
        translation_trainer.train(training(data, precision, steps=5), tmp_path / precision).model
        for precision in ("fp32", "bf16")
    )
    weights = [model.get_input_embeddings().weight for model in (one, other)]
    assert torch.isfinite(weights[1]).all()
    assert not torch.equal(*weights)


@pytest.mark.parametrize("most", [1_000, 100_000])
def test_a_model_that_has_no_room_is_named(data, tmp_path, most):
    vocabulary, _ = data
    model = translation_model.new_model(CONFIG.changed(dimension=64), vocabulary, 1)
    place = tmp_path / "model"
    with most_bytes(most), pytest.raises(FullError, match=f"^{place}: the model cannot be written"):
        translation_model.convert(model, vocabulary, place)


def test_each_update_has_a_rate_of_its_own(data, tmp_path):
    # The first updates of both have the same rate.
    rates = [{"learning_rate": 0.01 * steps, "warmup_steps": steps} for steps in (1, 3)]
    one, other = (
        translation_trainer.train(training(data, steps=2, **rate), tmp_path / str(number)).model
        for number, rate in enumerate(rates)
    )
    weights = [model.get_input_embeddings().weight for model in (one, other)]
    assert not torch.equal(*weights)


def test_the_learning_curve_has_mean_losses_and_those_of_the_dev_pairs(data, tmp_path):
    vocabulary, _ = data
    dev = encode_pass(vocabulary, SOURCES[:3], SOURCES[3:6], 50)
    given = dataclasses.replace(training(data, steps=70, dropout=0.5), dev=dev)
    losses = []
    trained = translation_trainer.train(
        given, tmp_path / "state", lambda _step, _steps, loss: losses.append(loss)
    )
    means = [np.mean(losses[:50]), np.mean(losses[50:])]
    assert trained.losses["train"] == pytest.approx(means)
    model, total = trained.model.eval(), 0.0
    for source, target in zip(dev.sources, dev.targets, strict=True):
        steps = torch.tensor([[vocabulary.padding, *target[:-1].tolist()]])
        with torch.no_grad():
            scores = model(
                input_ids=torch.tensor([source.tolist()]), decoder_input_ids=steps
            ).logits[0, :, :-1]
        chosen = scores.log_softmax(1).gather(1, torch.tensor(target.tolist())[:, None])
        total -= float(chosen.sum())
    pieces = sum(map(len, dev.targets))
    assert trained.losses["dev"][-1] == pytest.approx(total / pieces, rel=1e-4)


def test_a_model_that_does_not_end_writes_no_more_pieces_than_it_has_positions(data, tmp_path):
    vocabulary, _ = data
    model = translation_model.new_model(CONFIG, vocabulary, 1)
    translation_model.convert(model, vocabulary, tmp_path / "model")
    text = " ".join(SOURCES[:18])
    assert 200 < len(vocabulary.cut([text])[0]) <= CONFIG.positions
    assert too_long(vocabulary, ["", text, " ".join(SOURCES)], CONFIG)[0] == 2
    (made,) = translate(tmp_path / "model" / "ctranslate2", vocabulary, [text], CONFIG, "cpu")
    assert made


def test_pairs_that_are_all_too_long_are_refused(data, tmp_path):
    vocabulary, _ = data
    none = encode_pass(vocabulary, SOURCES, SOURCES, 4)
    with pytest.raises(ConfigError, match="no pair is left to train on"):
        translation_trainer.train(training((vocabulary, none)), tmp_path / "state")
