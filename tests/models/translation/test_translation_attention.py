"""The attention of a translation model, beside that of one step after another."""

import numpy as np
import pytest

from pairweave.models.subwords.symbol_training import train_with_symbols
from pairweave.models.translation.translation_config import SIZES
from pairweave.models.translation.translation_pairs import Vocabulary
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.links.attention import Attention
from tests.makers.ablations import GERMAN, SIZE, WORDS, sentence

pytestmark = pytest.mark.slow

torch = pytest.importorskip("torch", reason="needs the extra `ablate`")
translation_model = pytest.importorskip("pairweave.models.translation.translation_model")
translation_attention = pytest.importorskip("pairweave.models.translation.translation_attention")

SIDES = [[sentence(n, words) for n in (1_000, 1_234, 21)] for words in (WORDS, GERMAN)]


@pytest.fixture(scope="module")
def model():
    """Return an untrained model of two layers and its vocabulary."""
    texts = [sentence(n, words) for words in (WORDS, GERMAN) for n in range(1_000, 1_200)]
    vocabulary = Vocabulary(train_with_symbols(texts, [], 100, "unigram"))
    sizes = {name: value for name, value in SIZE.items() if name != "like"}
    config = SIZES["toy"].changed(**sizes, decoder_layers=2)
    return translation_model.new_model(config, vocabulary, 1), vocabulary


def step_by_step(model, vocabulary, source, target):
    """Yield the attention of each step, of a decoder that has seen the pieces before it alone."""
    for step in range(len(target)):
        steps = torch.tensor([[vocabulary.padding, *target[:step].tolist()]])
        output = model(
            input_ids=torch.tensor([source.tolist()]),
            decoder_input_ids=steps,
            output_attentions=True,
        )
        yield torch.stack([layer[0, :, -1] for layer in output.cross_attentions], 0)


def test_each_row_is_the_attention_of_a_decoder_that_has_written_the_pieces_before_it(model):
    made = list(translation_attention.cross_attention(*model, *SIDES))
    sides = [model[1].encode(side) for side in SIDES]
    for matrix, source, target in zip(made, *sides, strict=True):
        assert matrix.shape == (2, 2, len(target), len(source))
        with torch.no_grad():
            steps = torch.stack(list(step_by_step(*model, source, target)), 2)
        np.testing.assert_allclose(matrix, steps.numpy(), atol=1e-6)
        np.testing.assert_allclose(matrix.sum(-1), 1, atol=1e-5)
    assert np.abs(made[0][0] - made[0][1]).max() > 0.01  # the layers are not the same


def test_the_file_has_every_line_and_layer(model, tmp_path):
    path = tmp_path / "made" / "attention.npz"
    translation_attention.write_attention(path, *model, *SIDES)
    pieces = [[len(line) - 1 for line in model[1].encode(side)] for side in SIDES]
    for layer in (0, 1):
        attention = Attention(path, layer)
        assert len(attention) == 3
        for line, sizes in enumerate(zip(*pieces, strict=True)):
            links = attention.links(line, *sizes, "shift")
            assert set(links.target.tolist()) <= set(range(sizes[1]))


def test_a_pair_that_is_too_long_is_refused_by_its_line(model):
    longest = model[0].config.max_position_embeddings
    texts = [["tree"] * 2, ["Baum", "Baum " * longest]]
    with pytest.raises(ConfigError, match=r"line 2: has \d+ pieces"):
        list(translation_attention.cross_attention(*model, *texts))


def test_the_pieces_of_a_translation_beyond_the_models_positions_are_linked_with_nothing(
    model, tmp_path
):
    longest = model[0].config.max_position_embeddings
    texts = ["tree house"], ["Baum " * longest]
    path = tmp_path / "attention.npz"
    translation_attention.write_attention(path, *model, *texts, cut_targets=True)
    (source,), (target,) = map(model[1].encode, texts)
    (whole,) = Attention(path, 0)._file.values()
    assert whole.shape == (2, 2, len(target), len(source))
    cut = [texts[0], [model[1].join(model[1].cut(texts[1])[0][: longest - 1])]]
    (first,) = translation_attention.cross_attention(*model, *cut)
    np.testing.assert_allclose(whole[:, :, :longest], first, atol=1e-6)
    for method in ("naive", "shift"):
        links = Attention(path, 0).links(0, len(source) - 1, len(target) - 1, method)
        assert max(links.target.tolist()) < longest
