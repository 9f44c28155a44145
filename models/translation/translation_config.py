"""Sizes of a translation model and settings of its training. No torch."""

from typing import Literal, Self

import pydantic
from pydantic import Field

from pairweave.transforms.config import Config
from pairweave.transforms.errors import ConfigError

SizeName = Literal["toy", "small", "base"]
Precision = Literal["fp32", "bf16"]

_POSITIONS = 512
"""Minimum number of positions of a side; they are sinusoids, so they are not learned."""

CURVE_STEPS = 50
"""Number of updates whose mean loss is one point of the learning curve."""


class TranslationConfig(Config):
    """A model and its training.

    The architecture is that of Marian (Junczys-Dowmunt et al. 2018) as implemented in transformers:
    the Transformer of Vaswani et al. (2017) with swish, sinusoidal positions, and one table of
    embeddings for both sides and the output.
    """

    dimension: int = Field(ge=8, le=4096, description="width of the model")
    heads: int = Field(ge=1, le=64, description="attention heads of a layer")
    feed_forward: int = Field(ge=8, le=16384, description="width inside a layer")
    encoder_layers: int = Field(ge=1, le=48, description="layers of the encoder")
    decoder_layers: int = Field(ge=1, le=48, description="layers of the decoder")
    steps: int = Field(ge=1, le=10_000_000, description="updates")
    batch_tokens: int = Field(ge=16, le=1 << 22, description="pieces of a batch, with padding")
    learning_rate: float = Field(gt=0, le=1, description="highest learning rate")
    warmup_steps: int = Field(ge=0, le=1_000_000, description="updates until it is reached")
    dropout: float = Field(ge=0, lt=1, description="of the layers")
    label_smoothing: float = Field(0.1, ge=0, lt=1, description="Szegedy et al. (2016)")
    max_pieces: int = Field(ge=4, le=4096, description="longest side of a pair to train on")
    checkpoint_steps: int = Field(ge=1, le=10_000_000, description="updates between checkpoints")
    beam_size: int = Field(4, ge=1, le=100, description="width of the beam")
    threads: int = Field(1, ge=1, le=256, description="threads of a unit on a CPU")

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        if self.dimension % self.heads:
            raise ConfigError(
                f"dimension must be a multiple of heads, got {self.dimension} and {self.heads}"
            )
        return self

    @property
    def positions(self) -> int:
        """Return the maximum number of pieces of a side, including its end."""
        return max(_POSITIONS, self.max_pieces + 1)

    def rate(self, step: int) -> float:
        """Return the learning rate of an update, numbered from 0 (Vaswani et al. 2017, 5.3).

        It grows linearly to the highest rate, then falls with the inverse square root of the
        update's number.
        """
        number, warmup = step + 1, max(1, self.warmup_steps)
        return self.learning_rate * min(number / warmup, (warmup / number) ** 0.5)


SIZES: dict[str, TranslationConfig] = {
    # Chosen by time: an arm takes some minutes on one core with AVX2.
    "toy": TranslationConfig(
        dimension=96,
        heads=4,
        feed_forward=384,
        encoder_layers=2,
        decoder_layers=1,
        steps=1_500,
        batch_tokens=1500,
        learning_rate=3e-3,
        warmup_steps=200,
        dropout=0.1,
        max_pieces=60,
        checkpoint_steps=100,
    ),
    # Deep encoder, shallow decoder: nearly the quality of equal depths in less time (Kasai et al.
    # 2021).
    "small": TranslationConfig(
        dimension=256,
        heads=4,
        feed_forward=1024,
        encoder_layers=3,
        decoder_layers=2,
        steps=2_500,
        batch_tokens=1_500,
        learning_rate=1e-3,
        warmup_steps=500,
        dropout=0.1,
        max_pieces=120,
        checkpoint_steps=250,
    ),
    # The base model of Vaswani et al. (2017, table 3).
    "base": TranslationConfig(
        dimension=512,
        heads=8,
        feed_forward=2048,
        encoder_layers=6,
        decoder_layers=6,
        steps=50_000,
        batch_tokens=25_000,
        learning_rate=5e-4,
        warmup_steps=4_000,
        dropout=0.1,
        max_pieces=200,
        checkpoint_steps=1_000,
    ),
}
"""The sizes with names."""
