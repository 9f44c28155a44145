"""Models that cannot align are refused before a run, with the file and a remedy."""

import importlib
import itertools
import json
import shutil
import sys

import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

import sentencepiece  # noqa: E402
import transformers  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

from pairweave.models.encoder import encoder_tokenizer  # noqa: E402
from pairweave.models.encoder.encoder import inspect_encoder, load_encoder  # noqa: E402
from pairweave.models.encoder.encoder_config import EncoderConfig  # noqa: E402
from pairweave.transforms.errors import ConfigError  # noqa: E402
from tests.makers.encoder_families import PAIRS, write_family  # noqa: E402
from tests.makers.encoders import write_bert, write_xlmr  # noqa: E402

TEXTS = list(itertools.chain(*PAIRS))
DECODER = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4}


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    """Return a small BERT."""
    directory = tmp_path_factory.mktemp("models") / "bert"
    return write_bert(directory, TEXTS, layers=3, vocabulary=120)


@pytest.fixture
def copied(bert, tmp_path):
    """Return a copy of the BERT that a test may spoil."""
    return shutil.copytree(bert, tmp_path / "copy")


def settings(directory, **more):
    return EncoderConfig(str(directory), layer=2, device="cpu", **more)


def refusal(directory, read=inspect_encoder):
    with pytest.raises(ConfigError) as caught:
        read(settings(directory))
    assert len(str(caught.value).splitlines()) == 1
    assert str(directory) in str(caught.value)
    return str(caught.value)


def change(directory, **entries):
    path = directory / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | entries))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[1]", "config.json: expected a JSON object, found list"),
        (b'"bert"', "config.json: expected a JSON object, found str"),
        (b'{"model_type": "bert",', "config.json: not JSON"),
        (b"\xff\xfe\x00", "config.json: not JSON"),
    ],
)
def test_a_configuration_that_is_none(copied, content, message):
    (copied / "config.json").write_bytes(content)
    assert message in refusal(copied)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"num_hidden_layers": "3"}, "config.json: not an encoder that transformers supports"),
        ({"dtype": "float17"}, "config.json: not an encoder that transformers supports"),
        ({"model_type": "frobnicator"}, "has model type `frobnicator`"),
        (
            {"model_type": "frobnicator", "auto_map": {"AutoConfig": "evil.C"}},
            "comes with its own code (auto_map), which pairweave never runs",
        ),
        (
            {"quantization_config": {"quant_method": "gptq", "bits": 4}},
            "config.json: quantization_config: the weights are quantised",
        ),
        ({"vocab_size": 8}, "the tokenizer belongs to another model: it makes pieces up to number"),
    ],
)
def test_a_configuration_that_cannot_be_used(copied, entries, message):
    change(copied, **entries)
    assert message in refusal(copied)


@pytest.mark.parametrize("entries", [{"hidden_act": "frob"}, {"num_attention_heads": 5}])
def test_a_configuration_that_no_model_is_built_of(copied, entries):
    change(copied, **entries)
    assert "cannot be loaded" in refusal(copied, load_encoder)


@pytest.mark.parametrize("family", ["bloom", "gpt2", "llama"])
def test_a_model_that_writes_is_no_encoder(family, bert, tmp_path):
    write_family(tmp_path, family, bert, DECODER)
    assert f"a {family} cannot align; use an encoder trained" in refusal(tmp_path)


def test_a_model_of_images_is_no_encoder_of_text(bert, tmp_path):
    write_family(tmp_path, "vit", bert, DECODER | {"intermediate_size": 64})
    assert "a vit is not a text encoder: it reads pixel_values" in refusal(tmp_path, load_encoder)


@pytest.mark.parametrize("family", ["clip", "blip"])
def test_a_model_without_layers_of_its_own_is_no_encoder_of_text(family, copied):
    (copied / "config.json").write_text(json.dumps({"model_type": family}))
    assert "config.json has no num_hidden_layers" in refusal(copied)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tokenizer.json", '{"version": "1.0"}'),
        ("tokenizer.json", "[]"),
        ("tokenizer.json", "{"),
        ("tokenizer_config.json", "[]"),
        ("tokenizer_config.json", "{"),
    ],
)
def test_a_tokenizer_that_is_none(copied, name, content):
    (copied / name).write_text(content)
    assert "no tokenizer: tokenizer.json, or what it is made of, is missing" in refusal(copied)


@pytest.mark.parametrize("number", [float("inf"), float("nan")])
@pytest.mark.parametrize(
    "name", ["embeddings.LayerNorm.weight", "encoder.layer.0.output.dense.bias"]
)
def test_weights_that_are_not_finite_are_named(copied, name, number):
    path = copied / "model.safetensors"
    weights = load_file(path)
    weights[name].view(-1)[-1] = number
    save_file(weights, path, metadata={"format": "pt"})
    told = refusal(copied, load_encoder)
    assert told.endswith(f"weight {name} is not finite in fp32; the model is damaged")


def test_an_encoder_without_room_for_a_text_is_refused(tmp_path):
    write_bert(tmp_path, TEXTS, layers=2, vocabulary=120, max_position_embeddings=2)
    assert "max_position_embeddings 2 leaves no room" in refusal(tmp_path, load_encoder)


@pytest.fixture
def pieces(tmp_path):
    """Return a SentencePiece model."""
    (tmp_path / "texts").write_text("\n".join(TEXTS * 20))
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "texts"),
        model_prefix=str(tmp_path / "pieces"),
        vocab_size=60,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return tmp_path / "pieces.model"


@pytest.mark.parametrize("readable", [True, False])
def test_a_tokenizer_of_sentencepiece_alone_is_read_beside_any_protocol_buffers(
    pieces, tmp_path, monkeypatch, readable
):
    # As mDeBERTa lies on the hub: spm.model, and no tokenizer.json.
    name = "sentencepiece.sentencepiece_model_pb2"
    monkeypatch.delitem(sys.modules, name, raising=False)
    if readable:
        own = importlib.import_module("transformers.utils.sentencepiece_model_pb2_new")
        monkeypatch.setitem(sys.modules, name, own)
    directory = tmp_path / "deberta"
    config = transformers.DebertaV2Config(
        vocab_size=80,
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=64,
        pad_token_id=0,
        position_biased_input=False,
        relative_attention=True,
        position_buckets=16,
        pos_att_type=["p2c", "c2p"],
        norm_rel_ebd="layer_norm",
        share_att_key=True,
        type_vocab_size=0,
    )
    model = transformers.DebertaV2Model(config)
    directory.mkdir()
    config.save_pretrained(directory)
    # Its weights have a name in front, and heads that transformers does not know.
    weights = {f"deberta.{key}": value for key, value in model.state_dict().items()}
    weights["mask_predictions.dense.weight"] = torch.zeros(2, 2)
    save_file(weights, directory / "model.safetensors", metadata={"format": "pt"})
    (directory / "tokenizer_config.json").write_text(
        '{"do_lower_case": false, "vocab_type": "spm"}'
    )
    shutil.copy(pieces, directory / "spm.model")
    loaded = load_encoder(settings(directory))
    made = loaded.tokenizer.encode(TEXTS[0], add_special_tokens=False)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(pieces))
    assert made.tokens == processor.encode(TEXTS[0], out_type=str)
    assert (len(loaded.prefix), len(loaded.suffix)) == (1, 1)


def test_what_comes_with_sentencepiece_is_taken_where_it_can_be(monkeypatch):
    name = "sentencepiece.sentencepiece_model_pb2"
    monkeypatch.setitem(sys.modules, name, sentencepiece)
    encoder_tokenizer._let_sentencepiece_be_read()
    assert sys.modules[name] is sentencepiece


def test_truncation_and_padding_inside_a_tokenizer_are_left_out(tmp_path):
    write_xlmr(tmp_path, TEXTS, vocabulary=60)
    whole = load_encoder(settings(tmp_path)).tokenizer.encode(TEXTS[0]).ids
    path = tmp_path / "tokenizer.json"
    kept = json.loads(path.read_text())
    kept["truncation"] = {
        "direction": "Right",
        "max_length": 4,
        "strategy": "LongestFirst",
        "stride": 0,
    }
    kept["padding"] = {
        "strategy": {"Fixed": 16},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 1,
        "pad_type_id": 0,
        "pad_token": "<pad>",
    }
    path.write_text(json.dumps(kept))
    loaded = load_encoder(settings(tmp_path))
    assert loaded.tokenizer.encode(TEXTS[0]).ids == whole
    assert (len(loaded.prefix), len(loaded.suffix)) == (1, 1)
