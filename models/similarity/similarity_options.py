"""Options of the neural scores of pairs; importable without torch."""

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import Field

from pairweave.models.encoder.encoder_options import (
    Accelerator,
    BatchPieces,
    Layer,
    LongPairs,
    Precision,
)
from pairweave.transforms.config import Config, Share
from pairweave.transforms.option_marks import (
    OF_ONE_RUN,
    PLANNED_OTHERWISE,
    UNPLANNED,
    Marks,
    mark_of,
    values_not_at_night,
)
from pairweave.transforms.option_places import HUB_MODEL, MODEL
from pairweave.transforms.plugins.name_option import own_or_plugin
from pairweave.transforms.plugins.pair_scorer import SCORER

if TYPE_CHECKING:
    ScorerName: TypeAlias = str
else:
    ScorerName = Annotated[str, *own_or_plugin(SCORER, ("hmm", "yisi2", "margin"))]
ProjectionKind = Literal["orthogonal", "least_squares"]
Pairing = Literal["mutual", "argmax"]
"""The choice of pieces of a clean pair for fitting a projection."""


OF_SCORER = "of_scorer"
"""The mark that `of_scorer` makes."""


def of_scorer(name: str) -> Marks:
    """Mark an option that only one scorer of a job has."""
    return {OF_SCORER: name}


def options_of_scorer(kind: type[Config], name: str) -> frozenset[str]:
    """Return the options of a job that only one of its scorers has."""
    fields = kind.model_fields.items()
    return frozenset(option for option, field in fields if mark_of(field, OF_SCORER) == name)


_OF_YISI = {**PLANNED_OTHERWISE, **of_scorer("yisi2")}
_OF_MARGIN = {**PLANNED_OTHERWISE, **of_scorer("margin")}


class SimilarityEncoderOptions(Config):
    """The encoder whose vectors are compared."""

    encoder: Annotated[str | None, HUB_MODEL] = Field(
        None,
        min_length=1,
        description="directory or hub name of the encoder, such as XLM-R",
        json_schema_extra=PLANNED_OTHERWISE,
    )
    revision: str | None = Field(
        None,
        description="branch, tag or commit of a hub model (default: its newest)",
        json_schema_extra=PLANNED_OTHERWISE,
    )
    layer: Layer | None = Field(
        None,
        description="layer of the encoder whose vectors are compared; negative layers count from "
        "the end, -1 the last (default: for yisi2 a third of the layers before the end, -8 of 24, "
        "-4 of 12; for margin the last)",
        json_schema_extra=PLANNED_OTHERWISE,
    )
    precision: Precision = Field(
        "fp32",
        description="arithmetic of the encoder; fp16 only on a GPU, int8 only on a CPU",
        json_schema_extra=PLANNED_OTHERWISE,
    )
    token_budget: BatchPieces | None = Field(
        None,
        description="pieces in a batch of the encoder, including padding (default: as the device "
        "holds)",
        json_schema_extra={**PLANNED_OTHERWISE, **OF_ONE_RUN},
    )


class SimilarityConfig(Config):
    """How vectors of an encoder become the score of a pair."""

    pooling: Literal["mean", "cls"] = Field(
        "mean",
        description="margin: the vector of a sentence: the mean of its pieces' vectors, or the "
        "vector of the special piece before them",
        json_schema_extra=_OF_MARGIN,
    )
    neighbours: int = Field(
        4,
        ge=1,
        le=64,
        description="margin: number of nearest sentences of the other side to compare a pair with",
        json_schema_extra=_OF_MARGIN,
    )
    alpha: Share = Field(
        0.5,
        description="yisi2: weight of precision (over the target) and recall (over the source): 0 "
        "precision alone, 1 recall alone",
        json_schema_extra=_OF_YISI,
    )
    lm_weight: Share = Field(
        0.0,
        description="yisi2: weight of the target's probability by the encoder's language model "
        "head in the score (0.1 in the NRC's systems for WMT20; 0: it is not computed)",
        json_schema_extra=_OF_YISI,
    )


class SimilarityOptions(SimilarityConfig, SimilarityEncoderOptions):
    """The scorer of pairs."""

    scorer: ScorerName = Field(
        "hmm",
        description="scorer of pairs: hmm, the statistical aligner and the rules, weighted, which "
        "ranks machine translation above people's; yisi2, the similarity of an encoder's pieces "
        "(--encoder); margin, that of its sentence vectors relative to their nearest neighbours in "
        "the corpus; or one of another installed package",
        json_schema_extra={
            **PLANNED_OTHERWISE,
            **values_not_at_night(margin="it compares a pair with all others; give another scorer"),
        },
    )
    sweep_layers: int | None = Field(
        None,
        ge=1,
        le=200,
        description="yisi2: also compare the vectors of each of the last N layers, in one pass: a "
        "column yisi2_layer_NUMBER for each, for filter --score_field in a run from this one",
        json_schema_extra=_OF_YISI,
    )
    long_pairs: LongPairs = Field(
        "windows",
        description="for a side over the encoder's limit, encode overlapping windows, or reject "
        "the pair",
        json_schema_extra=PLANNED_OTHERWISE,
    )
    idf: Annotated[str | None, MODEL] = Field(
        None,
        min_length=1,
        description="yisi2: counts of pieces, the directory models/idf of another run (default: "
        "count on a sample of the pairs that pass the rules)",
        json_schema_extra=_OF_YISI,
    )
    idf_pairs: int = Field(
        200_000,
        ge=1,
        description="yisi2: approximate number of pairs to count pieces on",
        json_schema_extra=_OF_YISI,
    )
    projection: Annotated[str | None, MODEL] = Field(
        None,
        min_length=1,
        description="yisi2: linear map of source vectors to target vectors, as projection_fit "
        "makes it",
        json_schema_extra=_OF_YISI,
    )
    accelerator: Accelerator | None = Field(
        None,
        description="accelerator to request from the runner for the step with the encoder only, "
        "such as 'type:nvidia-l4;count:1;install-nvidia-driver'",
        json_schema_extra=UNPLANNED,
    )
