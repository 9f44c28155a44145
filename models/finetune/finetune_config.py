"""Settings of fine-tuning; importable without torch."""

import os
from typing import Annotated, Literal, Self, get_args

import pydantic
from pydantic import Field

from pairweave.models.encoder.encoder_options import BatchPieces, Device, Layer
from pairweave.transforms.config import Config, Seed, Share
from pairweave.transforms.counted import counted
from pairweave.transforms.errors import ConfigError

Objective = Literal["mlm", "tlm", "so", "psi", "co"]
OBJECTIVES: tuple[str, ...] = get_args(Objective)

_Threads = Annotated[int, Field(ge=1, le=4096)]


class TrainingOptions(Config):
    """Settings of training an encoder.

    The defaults are those of awesome-align's own recipe (Dou and Neubig 2021, section 3.2).
    ``so`` and ``co`` use ``layer``, ``psi`` the layer above it. An update whose pairs exceed
    ``token_budget`` accumulates the gradients of several batches; this affects only dropout and
    rounding. Both sides of a pair must also fit the encoder together.
    """

    layer: Layer = Field(8, description="layer to align with; -1 the last")
    steps: int | None = Field(
        None, ge=1, le=1 << 40, description="total number of updates (default: see epochs)"
    )
    epochs: int = Field(1, ge=1, le=1 << 20, description="how often each pair is seen")
    batch_pairs: int = Field(8, ge=1, le=1 << 20, description="pairs of one update")
    learning_rate: float = Field(2e-5, ge=1e-9, le=1, description="largest step size of AdamW")
    warmup_steps: int = Field(
        0, ge=0, le=1 << 40, description="updates over which the step size grows"
    )
    weight_decay: Share = Field(0.0, description="weight decay of AdamW")
    max_gradient: float = Field(
        1.0, ge=1e-6, le=1e9, description="norm to which gradients are clipped"
    )
    threshold: Share = Field(
        0.001, description="so: a link's probability must exceed this in both directions"
    )
    mask_share: float = Field(
        0.15, ge=0.001, le=0.9, description="mlm, tlm: share of pieces masked"
    )
    max_pieces: int = Field(256, ge=1, le=1 << 15, description="longest side, in encoder pieces")
    token_budget: BatchPieces = Field(4096, description="pieces in one batch, including padding")
    checkpoint_steps: int = Field(
        1000,
        ge=1,
        le=1 << 40,
        description="updates between saved states, from which a run can continue",
    )
    precision: Literal["fp32", "bf16"] = Field("fp32", description="arithmetic of the encoder")
    device: Device = "auto"
    threads: _Threads = Field(
        default_factory=lambda: os.cpu_count() or 1,
        description="threads of a CPU; another number rounds results differently",
    )


class FinetuneConfig(TrainingOptions):
    """Settings of fine-tuning an encoder on sentence pairs.

    Attributes:
        objectives: Any of ``mlm`` (masked language modelling), ``tlm`` (translation language
            modelling), ``so`` (self-training), ``psi`` (parallel sentence identification) and
            ``co`` (consistency). Their losses are added.
        threads: 1 by default, for the same result on every machine.
    """

    seed: Seed = 1
    objectives: tuple[Objective, ...] = Field(("mlm", "tlm", "so", "psi"), min_length=1)
    threads: _Threads = 1

    @pydantic.model_validator(mode="after")
    def _check_objectives(self) -> Self:
        if len(set(self.objectives)) < len(self.objectives):
            raise ConfigError(f"objectives: named twice: {','.join(self.objectives)}")
        return self

    def require_pairs(self, number: int, left_out: str) -> None:
        """Check that there are enough pairs to train on.

        Args:
            number: The number of pairs.
            left_out: The end of the message: what became of the others.

        Raises:
            ConfigError: There are too few.
        """
        compares = "psi" in self.objectives
        if number <= int(compares):
            needed = "2 needed: objective psi compares pairs" if compares else "1 needed"
            raise ConfigError(f"{counted(number, 'pair')} to train on, {needed}{left_out}")

    def rate(self, update: int, updates: int) -> float:
        """Return the step size of an update (from 0): linear warm-up, then linear decay.

        >>> config = FinetuneConfig(learning_rate=1.0, warmup_steps=2)
        >>> [config.rate(update, 6) for update in range(6)]
        [0.0, 0.5, 1.0, 0.75, 0.5, 0.25]
        """
        if update < self.warmup_steps:
            return self.learning_rate * update / self.warmup_steps
        return self.learning_rate * (updates - update) / max(updates - self.warmup_steps, 1)
