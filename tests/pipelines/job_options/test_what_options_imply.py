"""What follows from a job's options: aligners, empty runs, shards that depend on each other."""

import math
import os

import pytest

from pairweave.pipelines.job_options.bitext_options import BitextOptions
from pairweave.pipelines.job_options.filter_options import FilterJobOptions
from pairweave.pipelines.job_options.pair_options import AlignOptions, AugmentOptions, FitOptions
from pairweave.pipelines.job_options.suggest_options import SuggestOptions
from pairweave.pipelines.jobs import bitext
from pairweave.pipelines.jobs.suggest import check_methods
from pairweave.pipelines.options.base import GraphOptions
from pairweave.transforms.errors import ConfigError


def options(kind, **given):
    return kind(output="out", input=("a.tsv",), **given)


@pytest.mark.parametrize(
    ("kind", "given", "fits_nothing", "empty"),
    [
        (FitOptions, {}, False, False),
        (AlignOptions, {}, False, False),
        (AugmentOptions, {"allow_empty": True}, True, True),
        (FilterJobOptions, {}, False, False),
        (FilterJobOptions, {"annotate_only": True}, True, False),
        (FilterJobOptions, {"allow_empty": True}, True, True),
    ],
)
def test_a_run_without_pairs_fails_unless_its_options_say_otherwise(
    kind, given, fits_nothing, empty
):
    made = options(kind, **given)
    assert (made.may_fit_nothing, made.may_be_empty) == (fits_nothing, empty)


@pytest.mark.parametrize(
    ("kind", "given", "independent"),
    [
        (FitOptions, {}, False),
        (AugmentOptions, {}, True),
        (FilterJobOptions, {}, True),
        (FilterJobOptions, {"select_words": 100}, False),
        (FilterJobOptions, {"select_share": 0.5}, False),
        (FilterJobOptions, {"duplicates": "near"}, False),
    ],
)
def test_shards_depend_on_each_other_where_pairs_are_compared_or_ranked(kind, given, independent):
    assert options(kind, **given).shards_are_independent is independent


@pytest.mark.parametrize(
    ("given", "aligns", "model"),
    [
        ({}, True, None),
        ({"model": "fitted"}, True, "fitted"),
        ({"scorer": "yisi2", "encoder": "e"}, False, None),
    ],
)
def test_filter_has_an_aligner_only_for_its_own_score(given, aligns, model):
    made = options(FilterJobOptions, **given)
    assert (made.aligns, made.given_model) == (aligns, model)


@pytest.mark.parametrize(
    ("methods", "mix", "used"),
    [
        (("random", "parallel"), 1.0, {"random", "parallel"}),
        (("random", "parallel"), 0.0, {"random"}),
        (("random", "parallel"), math.inf, {"parallel"}),
        (("parallel",), 1.0, {"parallel"}),
    ],
)
def test_the_mix_can_exclude_methods_of_suggest(methods, mix, used):
    made = options(SuggestOptions, methods=methods, mix=mix)
    assert made.used_methods == used
    assert made.segmented == (() if used == {"parallel"} else ("target",))


@pytest.mark.parametrize(
    "given",
    [{"aligner": "hmm"}, {"model": "fitted"}, {"min_confidence": 0.5}],
)
def test_options_of_an_aligner_are_refused_where_no_method_aligns(given):
    (name,) = given
    with pytest.raises(ConfigError, match=f"--{name}: for the method alignment, which --methods"):
        check_methods(options(SuggestOptions, methods=("random", "parallel"), **given))
    check_methods(options(SuggestOptions, methods=("alignment",), **given))
    check_methods(options(SuggestOptions, methods=("random",), tokens="whitespace"))


def test_documents_without_parallel_text_give_a_notice():
    parallel = {"parallel_source_input": ("p.en",), "parallel_target_input": ("p.de",)}
    made = BitextOptions(output="out", source_input=("a",), target_input=("b",), **parallel)
    assert list(made.notices()) == []
    alone = BitextOptions(output="out", source_input=("a",), target_input=("b",))
    assert [notice.code for notice in alone.notices()] == ["no_parallel_text"]


@pytest.mark.parametrize(("cores", "workers"), [(6, 6), (None, 1)])
def test_there_are_as_many_workers_as_cores(monkeypatch, cores, workers):
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert GraphOptions(output="out").workers == workers


def test_a_threshold_that_nothing_is_compared_with_is_refused():
    with pytest.raises((ConfigError, ValueError), match="near_threshold: applies to"):
        options(FilterJobOptions, near_threshold=0.9)
    assert options(FilterJobOptions, near_threshold=0.9, duplicates="near").near_threshold == 0.9


@pytest.mark.parametrize(
    ("given", "pair", "document"),
    [
        ({}, -0.6, -0.5),
        ({"scorer": "encoder"}, -0.6, -0.5),
        ({"scorer": "both", "similarity": "yisi2"}, -0.6, -0.5),
        ({"scorer": "encoder", "similarity": "yisi2"}, -0.8, -0.8),
        ({"scorer": "encoder", "similarity": "yisi2", "min_score": -0.6}, -0.6, -0.8),
        ({"scorer": "encoder", "similarity": "yisi2", "min_document_score": -9.0}, -0.8, -9.0),
    ],
)
def test_minimum_scores_by_default_are_those_of_the_score(given, pair, document):
    made = options(BitextOptions, **given)
    least = {"min_score": pair, "min_document_score": document}
    assert made.least_scores == least
    taken = bitext.least_scores(made)
    assert (taken.pair, taken.document, taken.gain) == (pair, document, 0.2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"similarity": "yisi2"}, "--similarity: give --scorer encoder or --scorer both"),
        ({"scorer": "encoder", "similarity": "yisi2"}, "--scorer encoder: give --encoder as well"),
    ],
)
def test_yisi2_compares_vectors_of_an_encoder(given, message):
    with pytest.raises(ConfigError, match=message):
        bitext.check(options(BitextOptions, **given))
