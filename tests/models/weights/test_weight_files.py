"""A model's weights are located without torch, and nothing is unpickled."""

import json
import pickle
import zipfile

import pytest

from pairweave.models.weights.pickled_weights import looks_pickled
from pairweave.models.weights.weights import inspect_model
from pairweave.transforms.errors import ConfigError


def write_index(directory, *names):
    """Write a model whose index names these files of weights."""
    (directory / "config.json").write_text("{}")
    index = {"weight_map": {f"layer.{number}": name for number, name in enumerate(names)}}
    (directory / "model.safetensors.index.json").write_text(json.dumps(index))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../model.safetensors", "names a file outside the model"),
        (".model.safetensors", "names a file outside the model"),
        ("model.bin", "the index names weights that are not safetensors"),
        ("model-2.safetensors", "missing; model.safetensors.index.json names it"),
    ],
)
def test_an_index_names_safetensors_in_its_own_directory_alone(tmp_path, name, message):
    write_index(tmp_path, "model-1.safetensors", name)
    (tmp_path / "model-1.safetensors").write_bytes(b"\2\0\0\0\0\0\0\0{}")
    with pytest.raises(ConfigError, match=message):
        inspect_model(tmp_path)


def test_all_files_of_an_index_are_found(tmp_path):
    names = ["model-1.safetensors", "model-2.safetensors"]
    write_index(tmp_path, *names)
    for name in names:
        (tmp_path / name).write_bytes(b"\2\0\0\0\0\0\0\0{}")
    assert [path.name for path in inspect_model(tmp_path).weights] == names


def test_a_pickle_is_known_by_its_first_bytes(tmp_path):
    path = tmp_path / "weights"
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        path.write_bytes(pickle.dumps([1], protocol))
        assert looks_pickled(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.pkl", b"")
    assert looks_pickled(path)
    for data in (b"", b"{}", b"\x80", b"\x80\x01", b"P"):
        path.write_bytes(data)
        assert not looks_pickled(path)


def test_a_model_without_pytorch_weights_says_what_is_there_instead(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ConfigError, match=r": no model\.safetensors$"):
        inspect_model(tmp_path)
    (tmp_path / "flax_model.msgpack").write_bytes(b"")
    with pytest.raises(ConfigError, match=r"flax_model\.msgpack: not PyTorch weights"):
        inspect_model(tmp_path)
