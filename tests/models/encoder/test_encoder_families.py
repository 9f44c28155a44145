"""Families of encoders: truncated after a layer, padded, with every kind of attention."""

import itertools
import json

import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

import transformers  # noqa: E402

from pairweave.models.encoder.encoder_config import EncoderConfig, HeadConfig  # noqa: E402
from pairweave.models.encoder.neural import load_aligner  # noqa: E402
from pairweave.transforms.errors import ConfigError  # noqa: E402
from tests.makers.encoder_families import PAIRS, SIZE, SIZES, write_family  # noqa: E402
from tests.makers.encoders import write_bert  # noqa: E402
from tests.makers.token_tables import links_of, token_table  # noqa: E402


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    """Return a BERT, whose tokenizer the others get."""
    texts = list(itertools.chain(*PAIRS))
    return write_bert(tmp_path_factory.mktemp("models") / "bert", texts, vocabulary=120)


@pytest.mark.parametrize("family", sorted(SIZES))
def test_a_family_is_cut_after_a_layer_and_padded(family, bert, tmp_path):
    whole = write_family(tmp_path, family, bert)
    for layer in (1, 2, 3):
        config = EncoderConfig(str(tmp_path), layer=layer, device="cpu")
        loaded = load_aligner(config).encoder
        ids = loaded.tokenizer.encode("The cat sat on").ids
        made = loaded.encode(torch.tensor([ids]), None)
        with torch.no_grad():
            hidden = whole(torch.tensor([ids]), output_hidden_states=True).hidden_states
        assert torch.allclose(made, hidden[layer], atol=1e-4), layer
        padding = [loaded.padding] * 3
        mask = torch.tensor([[True] * len(ids) + [False] * 3])
        padded = loaded.encode(torch.tensor([ids + padding]), mask)[:, : len(ids)]
        assert torch.allclose(made, padded, atol=1e-4), layer


@pytest.mark.parametrize("family", sorted(SIZES))
def test_a_family_may_be_run_by_several_threads_at_once(family, bert, tmp_path):
    write_family(tmp_path, family, bert)
    table = token_table(PAIRS * 10)
    config = EncoderConfig(str(tmp_path), layer=2, device="cpu", token_budget=16)
    alone, together = load_aligner(config).align(table), load_aligner(config, 4)
    for _ in range(2):
        assert together.align(table).equals(alone)


def test_padding_moves_no_link_of_a_family_without_fused_attention(bert, tmp_path):
    write_family(tmp_path, "deberta-v2", bert)
    table = token_table(PAIRS)
    actual = []
    for budget in (1, 512):
        config = EncoderConfig(
            str(tmp_path), layer=2, head=HeadConfig("argmax"), device="cpu", token_budget=budget
        )
        actual.append(links_of(load_aligner(config).align(table)))
    assert actual[0] == actual[1]
    assert all(actual[0])


def test_layers_that_share_weights_in_groups_are_not_cut(bert, tmp_path):
    write_family(tmp_path, "albert", bert, SIZE | {"num_hidden_groups": 2})
    with pytest.raises(ConfigError, match=r"share weights in 2 groups.*use layer -1"):
        load_aligner(EncoderConfig(str(tmp_path), layer=2, device="cpu"))
    assert load_aligner(EncoderConfig(str(tmp_path), layer=-1, device="cpu")).encoder.layer == 3


@pytest.mark.parametrize(
    "family", ["big_bird", "convbert", "fnet", "mobilebert", "mra", "nystromformer", "yoso"]
)
def test_a_family_whose_vectors_hang_on_other_texts_is_refused(family, bert, tmp_path):
    write_family(tmp_path, family, bert, SIZE)
    with pytest.raises(ConfigError, match=f"a {family} encodes a text differently depending"):
        load_aligner(EncoderConfig(str(tmp_path), layer=2, device="cpu"))


def test_a_family_that_cannot_be_cut_is_refused(tmp_path):
    directory = tmp_path / "longformer"
    model = write_bert(directory, list(itertools.chain(*PAIRS)), layers=2, vocabulary=120)
    config = transformers.LongformerConfig(
        vocab_size=120, hidden_size=32, num_hidden_layers=3, num_attention_heads=4, pad_token_id=0
    )
    transformers.LongformerModel(config).save_pretrained(model)
    assert len(json.loads((model / "config.json").read_text())["attention_window"]) == 3
    with pytest.raises(ConfigError, match=r"cannot be loaded: .*attention_window"):
        load_aligner(EncoderConfig(str(model), layer=2, device="cpu"))
