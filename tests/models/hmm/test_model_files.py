"""Finding a model's weights on a disk, and messages for files that are refused."""

import argparse
import itertools
import json
import shlex
import shutil
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

import transformers  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

from pairweave.models.encoder.encoder import load_encoder  # noqa: E402
from pairweave.models.encoder.encoder_config import EncoderConfig  # noqa: E402
from pairweave.models.weights.weights import find_model  # noqa: E402
from pairweave.transforms.errors import ConfigError  # noqa: E402
from tests.makers.encoders import write_bert  # noqa: E402

TEXTS = ["The cat sat on the mat.", "Die Katze sass auf der Matte.", "Le chat est là."]
WEIGHTS = "model.safetensors"


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    """Return a small BERT."""
    directory = tmp_path_factory.mktemp("models") / "bert"
    return write_bert(directory, TEXTS, layers=2, vocabulary=120)


@pytest.fixture
def copied(bert, tmp_path):
    """Return a copy that a test may spoil, under a name that a shell takes in quotes alone."""
    return shutil.copytree(bert, tmp_path / "someone's $model")


def refusal(directory):
    with pytest.raises(ConfigError) as caught:
        find_model(str(directory))
    return str(caught.value)


def command_in(message):
    """Return the arguments of Python in the command that a refusal ends with."""
    program, *arguments = shlex.split(message.splitlines()[-1])
    assert program == "python"
    return arguments


def vectors(directory):
    loaded = load_encoder(EncoderConfig(str(directory), layer=2, device="cpu"))
    ids = loaded.tokenizer.encode("The cat sat", add_special_tokens=False).ids
    return loaded.encode(torch.tensor([[*loaded.prefix, *ids, *loaded.suffix]]), None)


def pickled_with_heads(bert):
    """Return the weights as a checkpoint of awesome-align has them: under a name, with heads."""
    model = transformers.BertForMaskedLM(transformers.BertConfig.from_pretrained(bert))
    model.bert.load_state_dict(load_file(bert / WEIGHTS), strict=False)
    return {**model.state_dict(), "psi_cls.transform.weight": torch.zeros(2, 2)}


def test_the_command_converts_the_weights_and_not_what_a_trainer_saved_beside_them(bert, copied):
    (copied / WEIGHTS).unlink()
    torch.save(pickled_with_heads(bert), copied / "pytorch_model.bin")
    torch.save({"state": {}}, copied / "optimizer.pt")
    torch.save(argparse.Namespace(seed=1), copied / "training_args.bin")
    message = refusal(copied)
    assert message.startswith(f"{copied / 'pytorch_model.bin'}: the weights are pickled only")
    words = [sys.executable, "-W", "ignore", *command_in(message)]
    subprocess.run(words, check=True, timeout=120)
    torch.testing.assert_close(vectors(copied), vectors(bert))


def test_the_command_converts_all_parts_of_pickled_weights(bert, copied, monkeypatch):
    (copied / WEIGHTS).unlink()
    every = pickled_with_heads(bert)
    names = ["pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin"]
    parts = {name: {} for name in names}
    for name, part in zip(every, itertools.cycle(names), strict=False):
        parts[part][name] = every[name]
    for part, tensors in parts.items():
        torch.save(tensors, copied / part)
    # In this process, which has loaded torch.
    option, code, *arguments = command_in(refusal(copied))
    assert option == "-c"
    monkeypatch.setattr(sys, "argv", [option, *arguments])
    exec(code, {})
    torch.testing.assert_close(vectors(copied), vectors(bert))


@pytest.mark.parametrize("name", ["tf_model.h5", "flax_model.msgpack"])
def test_weights_of_other_libraries_get_no_command_that_cannot_work(copied, name):
    (copied / WEIGHTS).unlink()
    (copied / name).write_bytes(b"\x89HDF")
    message = refusal(copied)
    assert message.startswith(f"{copied / name}: not PyTorch weights")
    assert "python -c" not in message


@pytest.mark.parametrize("first_bytes", [0x0280, 0x0380, 0x0480, 0x0580, 0x4B50])
def test_a_header_whose_size_looks_like_a_pickle_is_one_of_safetensors(bert, copied, first_bytes):
    whole = (bert / WEIGHTS).read_bytes()
    size = int.from_bytes(whole[:8], "little")
    longer = next(it for it in itertools.count(size) if it & 0xFFFF == first_bytes)
    header = whole[8 : 8 + size].ljust(longer)
    (copied / WEIGHTS).write_bytes(longer.to_bytes(8, "little") + header + whole[8 + size :])
    torch.testing.assert_close(vectors(copied), vectors(bert))


@pytest.mark.parametrize("missing", [1, 4_000])
def test_weights_that_end_early_are_told_before_they_are_loaded(copied, missing):
    path = copied / WEIGHTS
    whole = path.read_bytes()
    path.write_bytes(whole[:-missing])
    assert f"it should have {len(whole):,} bytes but has" in refusal(copied)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "damaged: it does not begin with a safetensors header"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
        (b'\x08\0\0\0\0\0\0\0{"a": 1}', "damaged: no safetensors header"),
        (b'\x08\0\0\0\0\0\0\0{"a": no', "damaged: no safetensors header"),
    ],
)
def test_what_is_no_safetensors_is_told_with_its_file(copied, content, message):
    (copied / WEIGHTS).write_bytes(content)
    told = refusal(copied)
    assert told.startswith(f"{copied / WEIGHTS}: ")
    assert message in told


def test_weights_without_metadata_are_read(bert, copied):
    save_file(load_file(bert / WEIGHTS), copied / WEIGHTS)
    torch.testing.assert_close(vectors(copied), vectors(bert))


def test_a_file_of_a_model_is_answered_with_its_directory(bert):
    told = refusal(bert / WEIGHTS)
    assert told.endswith(f"expected a model's directory, found a file; give {bert}")


def test_the_encoder_inside_a_directory_of_sentence_transformers_is_named(bert, tmp_path):
    inner = shutil.copytree(bert, tmp_path / "0_Transformer")
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text("{}")
    (tmp_path / "modules.json").write_text(json.dumps([{"path": "0_Transformer"}]))
    assert refusal(tmp_path).endswith(f"; give {inner}, which has one")


def test_a_snapshot_of_links_into_a_cache_is_a_model(bert, tmp_path):
    blobs = shutil.copytree(bert, tmp_path / "blobs")
    snapshot = tmp_path / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    for path in blobs.iterdir():
        path.rename(blobs / f"0{path.name}")
        (snapshot / path.name).symlink_to(f"../../blobs/0{path.name}")
    torch.testing.assert_close(vectors(snapshot), vectors(bert))
