"""Distribution of a run's cores among its neural models."""

import pytest

from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.encoder.hosting.encoder_reference import EncoderReference
from pairweave.models.hmm.hmm_reference import HmmReference
from pairweave.models.translators.translator import TranslatorConfig
from pairweave.models.translators.translator_reference import TranslatorReference
from pairweave.pipelines.aligners.aligner_registry import aligner_of
from pairweave.pipelines.job_options.pair_options import AlignOptions, FitOptions
from pairweave.pipelines.parts.aligner_parts import ALIGNER, SECOND_ALIGNER, ChosenAligner
from pairweave.pipelines.parts.part import Settled
from pairweave.pipelines.parts.suggestion_parts import PAIR_SCORER, PairScorer
from pairweave.pipelines.parts.translator_part import TRANSLATOR
from pairweave.pipelines.run.prepare import share_cores
from pairweave.pipelines.run.run import Run

ENCODER = EncoderReference(EncoderConfig("x"), "0")
REFERENCE = TranslatorReference(TranslatorConfig("ctranslate2", "x"), "0")
INPUT = {"source_input": ("a",), "target_input": ("b",), "output": "o"}
LANGUAGES = {"source_lang": "en", "target_lang": "de"}


def shared(shards, kind=AlignOptions, model=ENCODER, **options):
    """Return a run that has every kind of model, its cores shared."""
    made = kind(**INPUT, **LANGUAGES, **options)
    copies = aligner_of(made).copies(made)
    run = Run(
        job="align",
        options=made,
        plan=None,
        limits=None,
        document={},
        digest="",
        shards=shards,
        settled={
            ALIGNER.name: Settled(ChosenAligner(model, None), copies=copies),
            SECOND_ALIGNER.name: Settled(ENCODER),
            TRANSLATOR.name: Settled(REFERENCE),
            PAIR_SCORER.name: Settled(PairScorer(REFERENCE, REFERENCE)),
        },
    )
    return share_cores(run)


@pytest.mark.parametrize(
    ("options", "shards", "first", "others"),
    [
        ({"workers": 2}, 1, 2, 2),
        ({"workers": 2}, 2, 1, 1),
        ({"workers": 2}, 3, 1, 1),
        ({"workers": 16}, 1, 16, 16),
        ({"workers": 16}, 3, 5, 5),
        ({"workers": 16}, 40, 1, 1),
        ({"workers": 16, "large_model": True}, 40, 16, 1),
        ({"workers": 16, "model_copies": 4}, 40, 4, 1),
        ({"workers": 16, "model_copies": 4}, 2, 8, 8),
        ({"workers": 4, "engine": "prism"}, 40, 4, 4),
        ({"workers": 4, "engine": "flink"}, 2, 2, 2),
    ],
)
def test_no_core_is_idle_or_used_twice(options, shards, first, others):
    run = shared(shards, aligner="encoder", model=ENCODER, **options)
    assert run.model.threads == first
    scorer = run.result_of(PAIR_SCORER)
    models = [
        run.result_of(SECOND_ALIGNER),
        run.result_of(TRANSLATOR),
        scorer.forward,
        scorer.reverse,
    ]
    assert [model.threads for model in models] == [others] * 4


def test_what_is_no_neural_model_stays():
    fitted = HmmReference("x", "0")
    assert shared(1, kind=FitOptions, model=fitted, workers=4).model == fitted
    assert shared(1, kind=FitOptions, model=None).model is None
