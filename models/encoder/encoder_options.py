"""Options of an encoder, from which its settings are made; importable without torch.

Options that the one-line name of an encoder can set, as in ``encoder:DIRECTORY:layer=8``, are
marked `IN_NAME`. Options that only some heads know have the mark that `of_heads` makes.
"""

import re
from typing import Annotated, Literal

import pydantic
from pydantic import Field

from pairweave.transforms.config import Config
from pairweave.transforms.option_marks import (
    OF_ONE_RUN,
    ONLY_IN_RUNS,
    PLANNED_OTHERWISE,
    UNPLANNED,
    UNSAID,
    Marks,
    listed_before,
)
from pairweave.transforms.option_values import has_form

HeadName = Literal[
    "softmax", "entmax15", "argmax", "itermax", "match", "ot", "unbalanced_ot", "partial_ot"
]
CompareUnit = Literal["pieces", "words"]
TransportCost = Literal["cosine", "euclidean"]
TransportMass = Literal["uniform", "norm"]
Precision = Literal["fp32", "bf16", "fp16", "int8"]
LongPairs = Literal["windows", "reject"]

Layer = Annotated[int, Field(ge=-200, le=200)]

MAX_BATCH_PIECES = 1 << 24
BatchPieces = Annotated[int, Field(ge=1, le=MAX_BATCH_PIECES)]

Device = Annotated[
    str,
    has_form(r"auto|cpu|cuda(:\d+)?", "auto, cpu, cuda or cuda:N"),
    Field(description="auto, cpu, cuda or cuda:N"),
]

Accelerator = Annotated[
    str,
    has_form(
        r"type:[\w.-]+;count:[1-9]\d*(;[\w.:-]+)*",
        "such as type:nvidia-l4;count:1;install-nvidia-driver",
    ),
]
"""Beam's notation for the accelerator that a step asks for."""

IN_NAME: Marks = {"in_name": True}
"""Marks an option that the one-line name of an encoder can set, by its title if it has one."""

OF_HEADS = "of_heads"
"""The mark that `of_heads` makes."""


def of_heads(*names: HeadName) -> Marks:
    """Mark an option that only some heads know."""
    return {OF_HEADS: list(names)}


_OF_TRANSPORTS = of_heads("ot", "unbalanced_ot", "partial_ot")


def _as_text(value: object) -> object:
    """Accept a number for an option that also takes a word."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _check_budget(text: str) -> str:
    if text != "auto" and not (
        re.fullmatch(r"[1-9][0-9]{0,9}", text) and int(text) <= MAX_BATCH_PIECES
    ):
        raise ValueError(f"must be auto or a whole number from 1 to {MAX_BATCH_PIECES:,}")
    return text


TokenBudget = Annotated[
    str, pydantic.BeforeValidator(_as_text), pydantic.AfterValidator(_check_budget)
]


class HeadOptions(Config):
    """How links are extracted from vectors.

    ``softmax`` and ``entmax15`` come from Dou and Neubig (2021), ``argmax``, ``itermax`` and
    ``match`` from Jalili Sabet et al. (2020), ``ot``, ``unbalanced_ot`` and ``partial_ot`` from
    Arase et al. (2023).

    A link's probability exceeds the threshold for ``softmax`` (0.001 in awesome-align) and for
    transport plans scaled to [0, 1] (0.3: the best of 0.1 to 0.9 over all three transports and both
    gold sets of ``tests/benchmarks/README.md``; Arase et al. tune it for each data set). The
    distortion is ``kappa`` in Jalili Sabet et al., section 3.2. The weight of the entropy is 0.1 in
    OTAlign too; the cost of mass that ``unbalanced_ot`` does not move is its ``tau``.
    """

    head: HeadName = Field(
        "softmax", description="encoder: how links are found", json_schema_extra=IN_NAME
    )
    head_threshold: float | None = Field(
        None,
        ge=0,
        le=1,
        title="threshold",
        description="encoder: a link's probability must exceed this, with the heads softmax "
        "(default 0.001), ot, unbalanced_ot and partial_ot (default 0.3)",
        json_schema_extra={**IN_NAME, **of_heads("softmax", "ot", "unbalanced_ot", "partial_ot")},
    )
    distortion: float = Field(
        0.0,
        ge=0,
        le=1,
        description="encoder: how much the similarity of words at different positions is lowered, "
        "with all heads except softmax and entmax15; 0 for no change",
        json_schema_extra={
            **IN_NAME,
            **of_heads("argmax", "itermax", "match", "ot", "unbalanced_ot", "partial_ot"),
        },
    )
    cost: TransportCost = Field(
        "cosine",
        description="encoder, optimal transport heads: cost of moving mass between two vectors",
        json_schema_extra={**UNSAID, **IN_NAME, **_OF_TRANSPORTS},
    )
    mass: TransportMass = Field(
        "uniform",
        description="encoder, optimal transport heads: weight of each vector; norm: its length",
        json_schema_extra={**UNSAID, **IN_NAME, **_OF_TRANSPORTS},
    )
    # Costs are in [0, 1]: below 0.005 the kernel exp(-1 / regularization) leaves float64.
    regularization: float = Field(
        0.1,
        ge=0.005,
        le=10,
        description="encoder, optimal transport heads: weight of the entropy",
        json_schema_extra={**UNSAID, **IN_NAME, **_OF_TRANSPORTS},
    )
    relaxation: float = Field(
        0.5,
        ge=1e-4,
        le=1e4,
        description="encoder, unbalanced_ot: cost of surplus or created mass",
        json_schema_extra={**UNSAID, **IN_NAME, **of_heads("unbalanced_ot")},
    )
    moved_mass: float = Field(
        0.8,
        ge=1e-3,
        le=1,
        description="encoder, partial_ot: share of the lighter side's mass that is moved",
        json_schema_extra={**UNSAID, **IN_NAME, **of_heads("partial_ot")},
    )


class ComparingOptions(Config):
    """The vectors that are compared, and how they are computed.

    Layer 8 is the eighth, 0 the embeddings, -8 the eighth from the back.
    """

    revision: str | None = Field(
        None,
        description="encoder: branch, tag or commit of a hub model (default: its newest)",
        json_schema_extra={**PLANNED_OTHERWISE, **listed_before("head")},
    )
    layer: Layer = Field(
        8,
        description="encoder: layer whose output is compared; -1 the last",
        json_schema_extra={**IN_NAME, **listed_before("head")},
    )
    unit: CompareUnit = Field(
        "pieces",
        description="encoder: units that are compared: its pieces, or words (tokens), each the "
        "mean of its pieces",
        json_schema_extra=IN_NAME,
    )
    precision: Precision = Field(
        "fp32",
        description="encoder: arithmetic; fp16 only on a GPU, int8 only on a CPU",
        json_schema_extra=IN_NAME,
    )
    long_pairs: LongPairs = Field(
        "windows",
        description="encoder: for a side over its limit, encode overlapping windows, or reject the "
        "pair",
    )
    token_budget: TokenBudget = Field(
        "auto",
        description="encoder: pieces in a batch, including padding; auto measures the device",
        json_schema_extra=OF_ONE_RUN,
    )


class Hosting(Config):
    """How workers hold an encoder, which does not change the output.

    One of the worker processes of a machine holds the copy of ``large_model``.
    """

    large_model: bool = Field(
        default=False,
        description="encoder: the worker processes of a machine share one copy of the model",
        json_schema_extra={**UNPLANNED, **ONLY_IN_RUNS},
    )
    model_copies: int | None = Field(
        None,
        ge=1,
        description="encoder: number of copies that the worker processes of a machine share "
        "(default: one per process)",
        json_schema_extra={**UNPLANNED, **ONLY_IN_RUNS},
    )
    accelerator: Accelerator | None = Field(
        None,
        description="encoder: accelerator to request from the runner for the alignment step only, "
        "such as 'type:nvidia-l4;count:1;install-nvidia-driver'",
        json_schema_extra={**UNPLANNED, **ONLY_IN_RUNS},
    )
