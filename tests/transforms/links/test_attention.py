"""Attention matrices become links by either method, and bad files are named."""

import zipfile

import numpy as np
import pytest

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.links.attention import Attention

# Rows: steps that write x, y and the end; columns: a, b, the end.
MATRIX = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.3, 0.6, 0.1]], np.float32)


def pairs(links):
    return list(zip(links.source.tolist(), links.target.tolist(), strict=True))


@pytest.fixture(params=["npz", "npy"])
def attention(request, tmp_path):
    path = tmp_path / f"attention.{request.param}"
    if request.param == "npz":
        np.savez(path, MATRIX, MATRIX[:2, :2])
    else:
        padded = np.zeros((2, 4, 5), np.float32)
        padded[0, :3, :3] = MATRIX
        padded[1, :2, :2] = MATRIX[:2, :2]
        np.save(path, padded)
    return Attention(path)


def test_naive_takes_the_step_that_writes_a_token(attention):
    assert len(attention) == 2
    assert pairs(attention.links(0, 2, 2, "naive")) == [(0, 0)]
    assert pairs(attention.links(1, 2, 2, "naive")) == [(0, 0), (1, 1)]


def test_shift_takes_the_step_that_reads_a_token(attention):
    assert pairs(attention.links(0, 2, 2, "shift")) == [(1, 1)]


def test_no_tokens_have_no_links(attention):
    assert (
        pairs(attention.links(0, 0, 2, "naive")) == pairs(attention.links(0, 2, 0, "shift")) == []
    )


def test_an_unknown_method_is_refused(attention):
    with pytest.raises(ConfigError, match="attention_method"):
        attention.links(0, 2, 2, "other")


def test_a_matrix_that_is_too_small_names_file_and_line(tmp_path):
    np.savez(tmp_path / "a.npz", MATRIX[:2])
    with pytest.raises(InputError, match=r"a\.npz: line 1: attention \[2, 3\] is too small"):
        Attention(tmp_path / "a.npz").links(0, 2, 2, "shift")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"arr_1": MATRIX}, "line 1: expected an array arr_0"),
        ({"arr_0": MATRIX[0]}, "arr_0 has 1 dimensions, expected 2"),
        ({"arr_0": MATRIX * np.nan}, "not a finite number"),
        ({"arr_0": np.full((3, 3), "a")}, "not a finite number"),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused(tmp_path, arrays, message):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(InputError, match=message):
        Attention(tmp_path / "a.npz").links(0, 2, 2, "naive")


def test_a_part_of_a_file_that_is_no_array_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as file:
        file.writestr("arr_0.npy", b"text")
    with pytest.raises(InputError, match=r"a\.npz: line 1: expected an array arr_0 of numbers"):
        Attention(tmp_path / "a.npz").check()


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04broken"])
def test_a_file_of_another_kind_is_refused(tmp_path, content):
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(InputError, match=r"expected numbers in \.npz or \.npy") as caught:
        Attention(tmp_path / "a.npz")
    assert "pickle" not in str(caught.value)


def test_pickles_are_never_loaded(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(InputError, match="expected numbers"):
        Attention(tmp_path / "a.npy")


def test_an_array_needs_three_dimensions(tmp_path):
    np.save(tmp_path / "a.npy", MATRIX)
    with pytest.raises(InputError, match="found 2 dimensions"):
        Attention(tmp_path / "a.npy")


def test_heads_are_averaged_unless_one_is_chosen(tmp_path):
    heads = np.stack([MATRIX, MATRIX[:, ::-1]])
    np.savez(tmp_path / "a.npz", heads)
    mean = Attention(tmp_path / "a.npz")
    assert mean.layers_and_heads() == (None, 2)
    expected = np.argmax(heads.mean(axis=0)[:2], axis=1).tolist()
    assert [(s, t) for t, s in enumerate(expected) if s < 2] == pairs(mean.links(0, 2, 2, "naive"))
    last = Attention(tmp_path / "a.npz", head=-1)
    assert pairs(last.links(0, 2, 2, "naive")) == [(0, 1)]


def test_the_only_layer_need_not_be_chosen(tmp_path):
    np.savez(tmp_path / "a.npz", np.stack([[MATRIX]]))
    only = Attention(tmp_path / "a.npz")
    only.check()
    assert only.layers_and_heads() == (1, 1)
    assert pairs(only.links(0, 2, 2, "naive")) == [(0, 0)]


@pytest.mark.parametrize("padded", [False, True])
def test_a_layer_is_chosen_in_files_of_both_forms(tmp_path, padded):
    layers = np.stack([[MATRIX[:, ::-1]], [MATRIX]])
    path = tmp_path / ("a.npy" if padded else "a.npz")
    if padded:
        np.save(path, layers[None])
    else:
        np.savez(path, layers)
    assert Attention(path).layers_and_heads() == (2, 1)
    with pytest.raises(ConfigError, match="has attention of 2 layers"):
        Attention(path).check()
    chosen = Attention(path, layer=1)
    chosen.check()
    assert pairs(chosen.links(0, 2, 2, "naive")) == [(0, 0)]
    for first in (0, -2):
        assert pairs(Attention(path, layer=first).links(0, 2, 2, "naive")) == [(0, 1)]
    with pytest.raises(ConfigError, match=r"layer 2: .* has 2 layers, numbered from 0 to 1"):
        Attention(path, layer=2).check()
