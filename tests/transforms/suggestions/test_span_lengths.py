import bz2
import lzma
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.metrics.example_metrics import has_files
from pairweave.transforms.suggestions.span_lengths import (
    Histograms,
    compare,
    from_json,
    golden_bars,
    golden_sides,
    jensen_shannon,
    length_weights,
    read_golden,
)

histograms = st.dictionaries(st.integers(1, 5), st.integers(1, 9), max_size=5)


@given(one=histograms, other=histograms)
def test_the_distance_is_that_of_scipy(one, other):
    distance = pytest.importorskip("scipy.spatial.distance")
    actual = jensen_shannon(one, other)
    if not one or not other:
        assert actual is None
        return
    weights = [[side.get(key, 0) for key in range(1, 6)] for side in (one, other)]
    wanted = distance.jensenshannon(*weights, base=2)
    assert actual == pytest.approx(0.0 if math.isnan(wanted) else wanted, abs=2e-6)
    assert actual == jensen_shannon(other, one)


def test_lengths_are_geometric_or_uniform():
    geometric = length_weights("geometric", 2.0, 4)
    assert np.diff(geometric, prepend=0).tolist() == [1.0, 0.5, 0.25, 0.125]
    assert length_weights("geometric", 1.0, 3).tolist() == [1.0, 1.0, 1.0]
    assert length_weights("uniform", 3.0, 3).tolist() == [1.0, 2.0, 3.0]


def test_a_run_is_compared_bar_by_bar_with_a_golden_set():
    made = Histograms(Counter({1: 3, 12: 1}), Counter({0: 2, 19: 2}), Counter({4: 1}))
    assert from_json(made.as_json()) == made
    bars = {
        "suggestion_words": {"random": [0, 3, *[0] * 10, 1], "alignment": [0, 0, 0, 9]},
        "mask_position": {"random": [2, *[0] * 18, 2]},
        "sentence_masks": {"random": [0, 0, 0, 0, 1]},
    }
    assert compare(made.as_json(), bars) == {
        "random": {"words": 0, "position": 0, "masks": 0},
        "alignment": {"words": 1, "position": None, "masks": None},
    }


def test_lengths_of_one_bar_are_alike():
    golden = Histograms({100: 1, 65: 1}, {0: 1}, {1: 1})
    bars = {"suggestion_words": {"random": [*[0] * 64, 1, *[0] * 1, 1]}}
    assert golden_bars("words", golden.words) == {64: 1, 66: 1}
    assert compare(golden.as_json(), bars)["random"]["words"] == 0


def write(directory, **sides):
    for ending, lines in sides.items():
        (directory / f"gold.{ending}").write_text("".join(f"{line}\n" for line in lines))
    return [str(directory / f"gold.{ending}") for ending in sides]


def test_a_golden_set_tells_lengths_places_and_numbers(tmp_path):
    paths = write(
        tmp_path,
        mask=["<MASK_REP> b c", "a  <MASK_REP>  c", "a b <MASK_REP>"],
        tgt=["x", "x y", "x y"],
        src=["one", "one", "two"],
    )
    actual = read_golden(paths, "de")
    assert actual.words == {1: 1, 2: 2}
    assert actual.position == {0: 1, 10: 1, 19: 1}
    assert actual.masks == {2: 1, 1: 1}
    assert read_golden(paths[:2], "de").masks == {1: 3}


def test_an_empty_suggestion_of_a_golden_set_has_no_length(tmp_path):
    paths = write(tmp_path, mask=["a <MASK_REP>", "<MASK_REP> b"], tgt=["<NULL_REP>", "x y"])
    actual = read_golden(paths, "de")
    assert actual.words == {2: 1}
    assert actual.position == {0: 1, 19: 1}
    assert actual.masks == {1: 2}


@pytest.mark.parametrize(("ending", "compress"), [("xz", lzma.compress), ("bz2", bz2.compress)])
def test_a_golden_set_may_be_compressed_like_any_input(tmp_path, ending, compress):
    paths = write(tmp_path, mask=["<MASK_REP> b c"], tgt=["x"])
    packed = [Path(f"{path}.{ending}") for path in paths]
    for path, other in zip(paths, packed, strict=True):
        other.write_bytes(compress(Path(path).read_bytes()))
    assert read_golden(list(map(str, packed)), "de") == read_golden(paths, "de")
    for path in paths:
        Path(path).unlink()
    assert has_files(str(tmp_path / "gold"))
    (tmp_path / "other.src").write_text("a\n")
    assert not has_files(str(tmp_path / "other"))


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        ({"mask": ["<MASK_REP>"]}, "the .tgt file"),
        ({"mask": ["<MASK_REP>", "<MASK_REP>"], "tgt": ["x"]}, "differ in their lines"),
        ({"mask": ["<MASK_REP> <MASK_REP>"], "tgt": ["x"]}, "found 2"),
        ({"mask": [], "tgt": []}, "is empty"),
        ({"mask": ["<MASK_REP>"], "tgt": [""]}, "suggestions of 1 to 512 words"),
    ],
)
def test_what_is_no_golden_set_is_refused(tmp_path, sides, message):
    with pytest.raises(ConfigError, match=message):
        read_golden(write(tmp_path, **sides))


@pytest.mark.parametrize("name", ["b.mask", "b.mask.gz", "b.txt"])
def test_a_golden_set_has_one_file_for_each_side(name):
    with pytest.raises(ConfigError, match=f"--golden {name}: expected one .mask and one .tgt"):
        golden_sides(["a.mask", name, "c.tgt"], "--golden")


def test_the_golden_set_of_wets_is_read(shared_data):
    paths = [str(shared_data / "wets" / f"en2de.train.{end}.gz") for end in ("mask", "tgt", "src")]
    actual = read_golden(paths, "de")
    assert sum(actual.words.values()) == 13_953 - 1_566  # empty suggestions
    assert sum(actual.position.values()) == 13_953
    assert sum(number * sentences for number, sentences in actual.masks.items()) == 13_953
