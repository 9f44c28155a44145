"""What determines neural scores is in the plan, so that a resumed run cannot mix two kinds."""

import dataclasses
import types

import pytest

from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.similarity.scorer_reference import SimilarityReference, find
from pairweave.models.similarity.similarity_options import (
    SimilarityConfig,
    SimilarityEncoderOptions,
)
from pairweave.models.similarity.vector_projection import ProjectionReference
from pairweave.transforms.errors import ConfigError

PLAIN = SimilarityReference(EncoderConfig("e", layer=2), "d" * 64, SimilarityConfig())


def encoder(**settings):
    return {"encoder": PLAIN.encoder.changed(**settings)}


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


@pytest.fixture
def options(tmp_path, monkeypatch):
    """Return the options of an encoder whose layer 2 is compared, with the digest ``d...``."""
    pytest.importorskip("torch", reason="needs the extra `neural`")
    from pairweave.models.encoder import encoder

    monkeypatch.setattr(encoder, "inspect_encoder", lambda _: (2, "d" * 64))
    return SimilarityEncoderOptions(encoder=str(tmp_path), layer=2)


def find_with_map(options, monkeypatch, *fitted_on):
    """Find a scorer with a map that was fitted on the vectors of an encoder and a layer."""
    fitted = types.SimpleNamespace(**dict(zip(("encoder", "layer"), fitted_on, strict=True)))
    monkeypatch.setattr(ProjectionReference, "load", lambda _: fitted)
    return find(options, SimilarityConfig(), projection=ProjectionReference("map", "f" * 64))


def test_a_map_of_these_vectors_is_taken(options, monkeypatch):
    actual = find_with_map(options, monkeypatch, "d" * 64, 2)
    assert (actual.encoder.layer, actual.projection.directory) == (2, "map")


@pytest.mark.parametrize("fitted_on", [("d", 1), ("d", 3), ("c", 2), ("e", 2)])
def test_a_map_of_other_vectors_is_refused(options, monkeypatch, fitted_on):
    encoder, layer = fitted_on
    message = f"--projection map: was fitted on layer {layer} of the encoder {encoder * 12},"
    with pytest.raises(ConfigError, match=message):
        find_with_map(options, monkeypatch, encoder * 64, layer)
