"""Histograms: their bars name their values, and hold every value once."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.counts.histograms import ALL, HISTOGRAMS, are_bars, count_bars
from pairweave.transforms.filtering.evidence import EVIDENCE_COLUMNS
from pairweave.transforms.filtering.rules import COLUMNS
from pairweave.transforms.kernels.masks.masks import POSITIONS
from pairweave.transforms.output.column_meanings import MEANINGS
from pairweave.transforms.suggestions.suggestion_options import MAX_WORDS


@pytest.mark.parametrize(
    ("facet", "labels"),
    [
        ("tags", ["0", "1", "2"]),
        ("source_length", ["under 20", "20 to 39", "40 to 59"]),
        ("ratio", ["under 0.25", "0.25 to 0.33", "0.33 to 0.5"]),
        ("confidence", ["under 5", "5 to 9", "10 to 14"]),
        ("mask_position", ["under 5", "5 to 9", "10 to 14"]),
        ("forward_likelihood", ["under -30", "-30 to -29.5", "-29.5 to -29"]),
    ],
)
def test_bars_name_their_values(facet, labels):
    assert [HISTOGRAMS[facet].label(bar) for bar in range(3)] == labels
    last = HISTOGRAMS[facet].label(HISTOGRAMS[facet].bars - 1)
    ends = {"confidence": "100", "mask_position": "95 to 100"}
    assert last == ends[facet] if facet in ends else last.endswith(" and more")


@pytest.mark.parametrize(
    "value",
    [
        *([], {"heat": {}}, {"tags": []}, {"tags": {"c": 1}}, {"tags": {"c": [-1]}}),
        *({"tags": {"c": [1.5]}}, {"tags": {"c": [0] * 99}}, {"tags": {"c": [True]}}),
    ],
)
def test_what_is_no_histogram_is_refused(value):
    assert not are_bars(value)


def test_every_column_that_filter_measures_has_a_histogram_and_a_meaning():
    columns = {"score", *COLUMNS, *EVIDENCE_COLUMNS}
    assert {name for name, actual in HISTOGRAMS.items() if actual.by == "all"} == columns
    assert columns <= MEANINGS.keys()


def test_places_of_masks_have_a_bar_each_and_lengths_up_to_64():
    places = HISTOGRAMS["mask_position"].bars_of(np.arange(POSITIONS) * (100 // POSITIONS))
    assert places.tolist() == list(range(POSITIONS))
    lengths = HISTOGRAMS["suggestion_words"].bars_of(np.arange(1, MAX_WORDS + 1))
    assert lengths[:64].tolist() == list(range(1, 65))
    assert lengths.max() < HISTOGRAMS["suggestion_words"].bars


@given(st.sampled_from(sorted(HISTOGRAMS)), st.floats(-40, 200, width=32))
def test_a_value_is_in_the_bar_whose_edges_it_is_between(name, value):
    histogram = HISTOGRAMS[name]
    bar = int(histogram.bars_of_units(np.array([value], np.float32))[0])
    made = histogram.as_json({ALL: count_bars(histogram, np.array([bar]))})
    edges, counts = made["edges"], made["counts"][ALL]
    assert (len(counts), sum(counts), counts[bar]) == (len(edges) + 1, 1, 1)
    shown = value * 100 if histogram.unit == "%" else value
    assert bar == 0 or edges[bar - 1] <= shown + 1e-4
    assert bar == len(edges) or shown < edges[bar]


def test_a_share_that_float32_rounds_down_is_in_its_own_bar():
    shares = np.arange(0, 101, 5) / 100
    bars = HISTOGRAMS["gap"].bars_of_units(shares.astype(np.float32))
    assert bars.tolist() == list(range(21))
    assert HISTOGRAMS["gap"].bars_of_units(np.array([math.nan], np.float32)).tolist() == [0]


def test_bars_that_are_shown_as_one_name_all_of_their_values():
    tags, ratio = HISTOGRAMS["tags"], HISTOGRAMS["ratio"]
    assert [tags.range_label(*span) for span in ((0, 1), (2, 4), (15, 16))] == [
        *("under 2", "2 to 4", "15 and more"),
    ]
    assert ratio.range_label(12, 13) == "3 and more"
    assert HISTOGRAMS["gap"].range_label(19, 20) == "95 to 100"
