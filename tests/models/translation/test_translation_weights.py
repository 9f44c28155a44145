"""Weights from which other models go on."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from safetensors import safe_open  # noqa: E402

from pairweave.models.translation.translation_weights import (  # noqa: E402
    load_weights,
    weights_digest,
    write_weights,
)
from pairweave.transforms.errors import ConfigError  # noqa: E402


def model(width, seed):
    torch.manual_seed(seed)
    return torch.nn.Linear(width, 2)


def test_a_model_goes_on_from_the_weights_that_were_written(tmp_path):
    path = tmp_path / "weights.safetensors"
    first, other = model(3, 1), model(3, 2)
    write_weights(path, first, {"device": "cpu"})
    before = weights_digest(path)
    load_weights(path, other)
    assert torch.equal(first.weight, other.weight)
    assert torch.equal(first.bias, other.bias)
    write_weights(path, other, {"device": "cpu"})
    assert weights_digest(path) == before


def test_the_same_weights_and_facts_are_the_same_bytes(tmp_path):
    about = {name: name * 3 for name in "cadb"}
    paths = [tmp_path / f"{number}.safetensors" for number in range(20)]
    for path in paths:
        write_weights(path, model(3, 1), about)
    assert len({path.read_bytes() for path in paths}) == 1
    with safe_open(paths[0], "pt") as file:
        assert file.metadata() == about


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"", "is damaged"), (b"\x08" + bytes(20), "is damaged"), (None, "a model with other sizes")],
)
def test_weights_that_cannot_be_used_are_refused(tmp_path, data, said):
    path = tmp_path / "weights.safetensors"
    write_weights(path, model(3, 1), {})
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ConfigError, match=said):
        load_weights(path, model(3 if data is not None else 4, 2))
