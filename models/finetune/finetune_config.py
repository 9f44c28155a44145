"""Settings of fine-tuning; importable without torch."""

import dataclasses
from typing import Literal, get_args

from pairweave.models.encoder.encoder_config import check_choice, check_number, check_whole
from pairweave.transforms.errors import ConfigError

Objective = Literal["mlm", "tlm", "so", "psi", "co"]
OBJECTIVES: tuple[str, ...] = get_args(Objective)
DEFAULT_OBJECTIVES = ("mlm", "tlm", "so", "psi")
TRAINING_PRECISIONS = ("fp32", "bf16")


@dataclasses.dataclass(frozen=True, slots=True)
class FinetuneConfig:
    """How an encoder is fine-tuned on sentence pairs.

    The defaults are those of awesome-align's own recipe (Dou and Neubig 2021, section 3.2).

    Attributes:
        objectives: Any of ``mlm`` (masked language modelling), ``tlm`` (translation language
            modelling), ``so`` (self-training), ``psi`` (parallel sentence identification) and
            ``co`` (consistency). Their losses are added.
        layer: Layer that ``so`` and ``co`` work on and that is to be aligned with; ``psi`` works
            on the one above it. 8 is the eighth, -1 the last.
        threshold: Probability that a link of the self-training target must be above.
        learning_rate: Greatest step size of AdamW.
        batch_pairs: Pairs of one update.
        steps: Updates of the weights in all; None for as many as ``epochs`` makes.
        epochs: How often each pair is seen.
        warmup_steps: Updates over which the step size grows from 0; it then falls to 0.
        weight_decay: Decay of weights; biases and norms have none.
        max_gradient: Longest gradient; a longer one is scaled down.
        mask_share: Share of pieces that the language models guess.
        max_pieces: Longest side in pieces; both sides together must fit the encoder, too. Longer
            pairs are left out.
        token_budget: Padded pieces whose gradients are worked out at once. An update whose pairs
            need more adds the gradients of several batches up; but for dropout and rounding, that
            changes nothing.
        checkpoint_steps: Updates after which the state is saved.
        precision: ``fp32``, or ``bf16`` for the arithmetic inside the encoder.
        device: ``auto`` (a GPU if there is one), ``cpu``, ``cuda`` or ``cuda:N``.
        threads: Threads of the arithmetic on a CPU; another number may round otherwise.
        seed: Seed of all draws: order, masks, negative pairs, dropout, new heads.
    """

    objectives: tuple[str, ...] = DEFAULT_OBJECTIVES
    layer: int = 8
    threshold: float = 0.001
    learning_rate: float = 2e-5
    batch_pairs: int = 8
    steps: int | None = None
    epochs: int = 1
    warmup_steps: int = 0
    weight_decay: float = 0.0
    max_gradient: float = 1.0
    mask_share: float = 0.15
    max_pieces: int = 256
    token_budget: int = 4096
    checkpoint_steps: int = 1000
    precision: str = "fp32"
    device: str = "auto"
    threads: int = 1
    seed: int = 1

    def __post_init__(self) -> None:
        """Check every setting."""
        if not self.objectives:
            raise ConfigError(f"objectives: give at least one of {', '.join(OBJECTIVES)}")
        for objective in self.objectives:
            check_choice("objectives", objective, OBJECTIVES)
        if len(set(self.objectives)) < len(self.objectives):
            raise ConfigError(f"objectives: one is named twice: {','.join(self.objectives)}")
        check_number("threshold", self.threshold, 0.0, 1.0)
        check_number("learning_rate", self.learning_rate, 1e-9, 1.0)
        check_whole("batch_pairs", self.batch_pairs, 1, 1 << 20)
        if self.steps is not None:
            check_whole("steps", self.steps, 1, 1 << 40)
        check_whole("epochs", self.epochs, 1, 1 << 20)
        check_whole("warmup_steps", self.warmup_steps, 0, 1 << 40)
        check_number("weight_decay", self.weight_decay, 0.0, 1.0)
        check_number("max_gradient", self.max_gradient, 1e-6, 1e9)
        check_number("mask_share", self.mask_share, 1e-3, 0.9)
        check_whole("max_pieces", self.max_pieces, 1, 1 << 15)
        check_whole("token_budget", self.token_budget, 1, 1 << 24)
        check_whole("checkpoint_steps", self.checkpoint_steps, 1, 1 << 40)
        check_choice("precision", self.precision, TRAINING_PRECISIONS)
        check_whole("threads", self.threads, 1, 4096)
        check_whole("seed", self.seed, 0, (1 << 63) - 1)

    def rate(self, update: int, updates: int) -> float:
        """Return the step size of an update, counted from 0: linear up, then linear down.

        >>> config = FinetuneConfig(learning_rate=1.0, warmup_steps=2)
        >>> [config.rate(update, 6) for update in range(6)]
        [0.0, 0.5, 1.0, 0.75, 0.5, 0.25]
        """
        if update < self.warmup_steps:
            return self.learning_rate * update / self.warmup_steps
        return self.learning_rate * (updates - update) / max(updates - self.warmup_steps, 1)
