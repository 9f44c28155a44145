"""Loading encoders: layers, files and refusals."""

import itertools
import json
import pickle
import shlex
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

import transformers  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

from pairweave.models.encoder import encoder  # noqa: E402
from pairweave.models.encoder.encoder import load_encoder, measure_budget  # noqa: E402
from pairweave.models.encoder.encoder_config import EncoderConfig  # noqa: E402
from pairweave.models.weights import weights  # noqa: E402
from pairweave.transforms.errors import ConfigError  # noqa: E402
from pairweave.transforms.storage import object_stores  # noqa: E402
from tests.makers import stores  # noqa: E402
from tests.makers.encoders import write_bert, write_xlmr  # noqa: E402

TEXTS = ["The cat sat on the mat.", "Die Katze sass auf der Matte.", "Le chat est là.", "a b c d e"]


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    """Return a small BERT of four layers."""
    return write_bert(tmp_path_factory.mktemp("models") / "bert", TEXTS, vocabulary=120)


@pytest.fixture(scope="module")
def xlmr(tmp_path_factory):
    """Return a small XLM-RoBERTa of four layers."""
    return write_xlmr(tmp_path_factory.mktemp("models") / "xlmr", TEXTS, vocabulary=60)


@pytest.fixture
def copied(bert, tmp_path):
    """Return a copy of the BERT that a test may spoil."""
    return shutil.copytree(bert, tmp_path / "copy")


def load(directory, layer=4, **settings):
    return load_encoder(EncoderConfig(str(directory), layer=layer, device="cpu", **settings))


def sequence(loaded, text="The cat sat."):
    ids = loaded.tokenizer.encode(text, add_special_tokens=False).ids
    return torch.tensor([[*loaded.prefix, *ids, *loaded.suffix]])


@pytest.mark.parametrize("family", ["bert", "xlmr"])
@pytest.mark.parametrize(
    ("layer", "number"), [(0, 0), (1, 1), (3, 3), (4, 4), (-1, 4), (-2, 3), (-5, 0)]
)
def test_the_layer_in_use_is_that_of_the_whole_model(family, layer, number, request):
    directory = request.getfixturevalue(family)
    loaded = load(directory, layer=layer)
    whole = transformers.AutoModel.from_pretrained(directory).eval()
    ids = sequence(loaded)
    with torch.no_grad():
        expected = whole(ids, output_hidden_states=True).hidden_states[number]
    assert loaded.layer == number
    torch.testing.assert_close(loaded.encode(ids, None), expected, rtol=1e-5, atol=1e-5)


def test_padding_is_masked_and_changes_nothing(bert):
    loaded = load(bert, layer=3)
    ids = sequence(loaded)
    padded = torch.nn.functional.pad(ids, (0, 5), value=loaded.padding)
    mask = torch.arange(padded.shape[1])[None] < ids.shape[1]
    made = loaded.encode(padded, mask)[:, : ids.shape[1]]
    torch.testing.assert_close(made, loaded.encode(ids, None), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("layer", [1, 3])
def test_layers_above_are_neither_built_nor_loaded(copied, layer):
    path = copied / "model.safetensors"
    # Weights above the layer that would not even fit: reading them would fail.
    above = [f"encoder.layer.{number}." for number in range(layer, 4)]
    kept = {
        name: torch.zeros(1) if name.startswith(tuple(above)) else tensor
        for name, tensor in load_file(path).items()
    }
    save_file(kept, path, metadata={"format": "pt"})
    loaded = load(copied, layer=layer)
    count = sum(weight.numel() for weight in loaded.model.parameters())
    table = loaded.model._model.embeddings
    assert count == sum(w.numel() for w in table.parameters()) + layer * (12 * 32 * 32 + 13 * 32)
    with pytest.raises(ConfigError, match="do not fit"):
        load(copied, layer=4)


def test_special_pieces_and_the_limit_are_those_of_the_family(bert, xlmr):
    one, two = load(bert), load(xlmr, layer=-1)
    assert (one.prefix.tolist(), one.suffix.tolist(), one.limit) == ([2], [3], 510)
    assert (two.prefix.tolist(), two.suffix.tolist(), two.limit) == ([0], [2], 510)
    for loaded in (one, two):
        ids = np.full((1, 512), sequence(loaded)[0, 1].item())
        assert loaded.encode(torch.from_numpy(ids), None).isfinite().all()


def test_a_layer_that_is_not_there_is_refused(bert):
    for layer in (5, -6):
        with pytest.raises(ConfigError, match="has 4 layers; choose 0 to 4, or -1"):
            load(bert, layer=layer)


def test_missing_weights_are_refused_and_not_made_up(copied):
    path = copied / "model.safetensors"
    kept = load_file(path)
    del kept["encoder.layer.1.attention.self.query.weight"]
    save_file(kept, path, metadata={"format": "pt"})
    with pytest.raises(ConfigError, match=r"1 missing.*layer\.1\.attention\.self\.query\.weight"):
        load(copied)
    assert load(copied, layer=1).layer == 1


@pytest.mark.slow
def test_checkpoints_of_awesome_align_load_by_their_own_layout(bert, tmp_path):
    modeling = pytest.importorskip("awesome_align.modeling", reason="needs the extra `awesome`")
    from awesome_align.configuration_bert import BertConfig
    from awesome_align.tokenization_bert import BertTokenizer

    config = BertConfig.from_json_file(str(bert / "config.json"))
    # What its trainer saves: tokenizer files of its own kind, and heads beside the encoder.
    model = modeling.BertForMaskedLM(config)
    model.bert.load_state_dict(load_file(bert / "model.safetensors"), strict=False)
    model.config.save_pretrained(str(tmp_path))
    BertTokenizer(str(bert / "vocab.txt"), do_lower_case=False).save_pretrained(str(tmp_path))
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false, "max_len": 512}')
    torch.save(model.state_dict(), tmp_path / "pytorch_model.bin")

    with pytest.raises(ConfigError) as caught:
        load(tmp_path)
    _, *arguments = shlex.split(str(caught.value).splitlines()[-1])
    subprocess.run([sys.executable, "-W", "ignore", *arguments], check=True, timeout=120)

    ours, theirs = load(tmp_path, layer=3), load(bert, layer=3)
    text = "The Cat sat on là."
    assert ours.tokenizer.encode(text).ids == theirs.tokenizer.encode(text).ids
    ids = sequence(ours, text)
    torch.testing.assert_close(ours.encode(ids, None), theirs.encode(ids, None))


class Bomb:
    """Runs when it is unpickled."""

    def __reduce__(self):
        return pytest.fail, ("a pickle was read",)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "weights.pt", "weights.pkl"])
def test_pickled_weights_are_refused_by_name(copied, name):
    (copied / "model.safetensors").unlink()
    (copied / name).write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(ConfigError, match=r"are pickled only.*safetensors only") as caught:
        load(copied)
    command = str(caught.value).splitlines()[-1]
    assert "weights_only=True" in command
    assert shlex.split(command)[-2:] == [str(copied / "model.safetensors"), str(copied / name)]
    with pytest.raises(ConfigError, match="pickled data"):
        load(copied / name)


@pytest.mark.parametrize("protocol", [2, 4, 5, "zip"])
def test_pickled_weights_are_refused_by_content(copied, protocol):
    path = copied / "model.safetensors"
    if protocol == "zip":
        torch.save({"a": torch.zeros(2)}, path)
    else:
        path.write_bytes(pickle.dumps(Bomb(), protocol=protocol))
    with pytest.raises(ConfigError, match="its content is pickled"):
        load(copied)


def test_a_damaged_file_is_refused(copied):
    path = copied / "model.safetensors"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ConfigError, match="damaged"):
        load(copied)


def test_weights_in_several_files_are_read_by_their_index(copied, bert):
    path = copied / "model.safetensors"
    every = load_file(path)
    path.unlink()
    parts = {"a.safetensors": {}, "b.safetensors": {}}
    listed = {}
    for name, part in zip(every, itertools.cycle(parts), strict=False):
        parts[part][name] = every[name]
        listed[name] = part
    for part, tensors in parts.items():
        save_file(tensors, copied / part, metadata={"format": "pt"})
    index = copied / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": listed}))
    ids = sequence(load(bert))
    torch.testing.assert_close(load(copied).encode(ids, None), load(bert).encode(ids, None))

    (copied / "b.safetensors").unlink()
    with pytest.raises(ConfigError, match=r"b\.safetensors: missing"):
        load(copied)
    index.write_text(json.dumps({"weight_map": {"x": "../other.safetensors"}}))
    with pytest.raises(ConfigError, match="outside the model"):
        load(copied)
    index.write_text(json.dumps({"weight_map": {"x": "pytorch_model-1.bin"}}))
    with pytest.raises(ConfigError, match="safetensors only"):
        load(copied)


def test_programs_beside_the_weights_are_never_run(copied):
    (copied / "evil.py").write_text("raise SystemExit('ran')")
    config = json.loads((copied / "config.json").read_text())
    config["auto_map"] = {"AutoModel": "evil.Model", "AutoConfig": "evil.Config"}
    (copied / "config.json").write_text(json.dumps(config))
    assert load(copied).layer == 4
    config["model_type"] = "evil"
    (copied / "config.json").write_text(json.dumps(config))
    with pytest.raises(ConfigError, match="not an encoder that transformers supports"):
        load(copied)


def test_a_name_that_is_no_directory_is_looked_up_on_the_hub(bert, monkeypatch):
    import huggingface_hub

    asked = []

    def fetch(name, **wanted):
        asked.append((name, wanted))
        return str(bert)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fetch)
    assert load("owner/model", revision="abc").limit == 510
    ((name, wanted),) = asked
    assert (name, wanted["revision"]) == ("owner/model", "abc")
    assert not any(pattern.endswith((".bin", ".py", ".pt")) for pattern in wanted["allow_patterns"])

    def fail(_, **__):
        raise OSError("no network")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fail)
    with pytest.raises(ConfigError, match=r"downloading it from .* failed: no network"):
        load("owner/model")
    for name in ("/no/such/directory", "./nowhere", "a b"):
        with pytest.raises(ConfigError, match="neither a directory nor a hub name"):
            load(name)


def test_precisions_give_similar_vectors(bert):
    ids = sequence(load(bert), TEXTS[0])
    exact = load(bert, layer=3).encode(ids, None)
    for precision, least in (("bf16", 0.999), ("int8", 0.98)):
        made = load(bert, layer=3, precision=precision).encode(ids, None).float()
        cosine = torch.nn.functional.cosine_similarity(made, exact, dim=2)
        assert cosine.min() > least, precision
        assert not torch.equal(made, exact)


def test_what_a_device_cannot_do_is_refused(bert, monkeypatch):
    with pytest.raises(ConfigError, match="fp16 needs a GPU"):
        load(bert, precision="fp16")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(ConfigError, match="this machine has 0 GPUs"):
        load_encoder(EncoderConfig(str(bert), device="cuda:1"))


def test_bf16_on_a_gpu_without_instructions_for_it_is_said(bert, monkeypatch, caplog):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    for supported in (True, False):
        monkeypatch.setattr(
            torch.cuda,
            "is_bf16_supported",
            lambda including_emulation, answer=supported: answer or including_emulation,
        )
        caplog.clear()
        config = EncoderConfig(str(bert), device="cuda", precision="bf16")
        assert encoder._device(config) == torch.device("cuda")
        assert ("fp16 is faster here" in caplog.text) is not supported


def test_bf16_without_instructions_for_it_is_said_and_not_slow(bert, monkeypatch, caplog):
    monkeypatch.setattr(encoder, "has_fast_bf16", lambda: False)
    loaded = load(bert, precision="bf16")
    assert {weight.dtype for weight in loaded.model.parameters()} == {torch.float32}
    assert "no bf16 instructions" in caplog.text
    monkeypatch.setattr(encoder, "has_fast_bf16", lambda: True)
    assert {w.dtype for w in load(bert, precision="bf16").model.parameters()} == {torch.bfloat16}


def test_the_digest_names_weights_and_tokenizer(bert, copied):
    assert load(bert).digest == load(copied).digest
    other = json.loads((copied / "tokenizer_config.json").read_text()) | {"do_lower_case": True}
    (copied / "tokenizer_config.json").write_text(json.dumps(other))
    assert load(bert).digest != load(copied).digest


def test_the_budget_of_a_cpu_is_a_constant(bert):
    assert measure_budget(load(bert)) == 512


def test_a_decoder_is_no_encoder(copied):
    config = json.loads((copied / "config.json").read_text()) | {"is_decoder": True}
    (copied / "config.json").write_text(json.dumps(config))
    with pytest.raises(ConfigError, match="cannot align; use an encoder"):
        load(copied)


def test_files_are_listed_without_reading_what_is_not_needed(copied):
    (copied / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb()))
    actual = weights.find_model(str(copied))
    assert [path.name for path in actual.weights] == ["model.safetensors"]
    assert "pytorch_model.bin" not in [path.name for path in actual.others]


def test_an_encoder_in_a_store_is_the_one_on_a_disk(bert, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with stores.running("s3") as store:
        object_stores.use_beam_flags([])
        for path in bert.iterdir():
            store.put(f"models/bert/{path.name}", path.read_bytes())
        actual = load("s3://bucket/models/bert")
        assert actual.digest == load(bert).digest
        with pytest.raises(ConfigError, match=r"s3://bucket/none: no such file or directory"):
            load("s3://bucket/none")
    object_stores.use_beam_flags([])
