"""Families of encoders: each cut after a layer, padded, and with whatever attention it has."""

import itertools
import json

import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

import transformers  # noqa: E402

from models.encoder_config import EncoderConfig, HeadConfig  # noqa: E402
from models.neural import load_aligner  # noqa: E402
from tests.encoders import links_of, token_table, write_bert  # noqa: E402
from transforms.errors import ConfigError  # noqa: E402

PAIRS = [
    ("The cat sat on the mat .", "Die Katze sass auf der Matte ."),
    ("a", "b c d e"),
    ("The mat", "Le chat est là ."),
    ("e d c b a", "Die Matte"),
]

SIZE = {
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
}
NAMED_ALIKE = [
    *("albert", "bert", "camembert", "deberta-v2", "electra", "ernie", "eurobert"),
    *("modernbert", "mpnet", "rembert", "roberta", "xlm-roberta", "xlm-roberta-xl"),
]
SIZES = dict.fromkeys(NAMED_ALIKE, SIZE) | {
    "distilbert": {"dim": 32, "n_layers": 3, "n_heads": 4, "hidden_dim": 64},
    "xlm": {"emb_dim": 32, "n_layers": 3, "n_heads": 4, "n_langs": 1},
    "xmod": SIZE | {"languages": ["en_XX"], "default_language": "en_XX"},
}


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    """Return a BERT, whose tokenizer the others get."""
    texts = list(itertools.chain(*PAIRS))
    return write_bert(tmp_path_factory.mktemp("models") / "bert", texts, vocabulary=120)


def write_family(directory, family, bert, sizes=None):
    """Write a random model of a family with the tokenizer of another; returns the model."""
    backend = transformers.AutoTokenizer.from_pretrained(bert).backend_tokenizer
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend,
        **{f"{name}_token": f"[{name.upper()}]" for name in ("pad", "cls", "sep", "unk", "mask")},
    ).save_pretrained(directory)
    numbers = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "cls_token_id": 2}
    config = transformers.AutoConfig.for_model(
        family,
        vocab_size=backend.get_vocab_size(),
        sep_token_id=3,
        **numbers,
        **(sizes or SIZES[family]),
    )
    torch.manual_seed(1)
    model = transformers.AutoModel.from_config(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.normal_(0.0, 0.85 / weight.shape[-1] ** 0.5)
    model.save_pretrained(directory)
    return model


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
    found = []
    for budget in (1, 512):
        config = EncoderConfig(
            str(tmp_path), layer=2, head=HeadConfig("argmax"), device="cpu", token_budget=budget
        )
        found.append(links_of(load_aligner(config).align(table)))
    assert found[0] == found[1]
    assert all(found[0])


@pytest.mark.parametrize(
    "family", ["big_bird", "convbert", "fnet", "mobilebert", "mra", "nystromformer", "yoso"]
)
def test_a_family_whose_vectors_hang_on_other_texts_is_refused(family, bert, tmp_path):
    write_family(tmp_path, family, bert, SIZE)
    with pytest.raises(ConfigError, match=f"a {family} encodes a text in another way beside"):
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
