"""What determines neural scores is in the plan, so that a resumed run cannot mix two kinds."""

import dataclasses

import pytest

from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.similarity.scorer_reference import SimilarityReference
from pairweave.models.similarity.similarity_config import SimilarityConfig
from pairweave.models.similarity.vector_projection import ProjectionReference

PLAIN = SimilarityReference(EncoderConfig("e", layer=2), "d" * 64, SimilarityConfig())


def encoder(**settings):
    return {"encoder": dataclasses.replace(PLAIN.encoder, **settings)}


def config(**settings):
    return {"config": SimilarityConfig(**settings)}


BOTH = (
    encoder(precision="bf16"),
    encoder(layer=3),
    encoder(long_pairs="reject"),
    {"digest": "e" * 64},
)
YISI = (
    config(alpha=0.7),
    config(lm_weight=0.1),
    {"projection": ProjectionReference("map", "f" * 64)},
    {"scorer": "margin"},
)
MARGIN = (config(pooling="cls"), config(neighbours=5), {"scorer": "yisi2"})


@pytest.mark.parametrize(
    ("scorer", "change"),
    [
        *(("yisi2", each) for each in (*BOTH, *YISI)),
        *(("margin", each) for each in (*BOTH, *MARGIN)),
    ],
)
def test_a_plan_names_everything_that_changes_scores(scorer, change):
    plain = dataclasses.replace(PLAIN, scorer=scorer)
    changed = dataclasses.replace(plain, **change)
    assert changed.settings != plain.settings


def test_a_plan_does_not_name_what_changes_no_score():
    elsewhere = dataclasses.replace(PLAIN, **encoder(model="other", token_budget=9), threads=4)
    assert elsewhere.settings == PLAIN.settings
