"""Settings of the neural aligner; importable without torch."""

from typing import Literal, Self, get_args

import pydantic
from pydantic import Field

from pairweave.models.encoder.encoder_options import (
    OF_HEADS,
    ComparingOptions,
    Device,
    HeadName,
    HeadOptions,
)
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_marks import listed_before, mark_of

HEADS: tuple[str, ...] = get_args(HeadName)

_DEFAULT_THRESHOLDS = {"softmax": 0.001, "ot": 0.3, "unbalanced_ot": 0.3, "partial_ot": 0.3}


class HeadConfig(HeadOptions):
    """Settings of extracting links from hidden states.

    Attributes:
        max_iterations: Maximum number of scaling rounds (1000 in OTAlign).
        tolerance: Relative change of the scaling at which iteration ends.
    """

    max_iterations: int = Field(1000, ge=1, le=1_000_000)
    tolerance: float = Field(1e-9, ge=1e-15, le=1e-2)

    @pydantic.model_validator(mode="after")
    def _check_head(self) -> Self:
        """Refuse settings that the head does not have."""
        for name, field in type(self).model_fields.items():
            heads, value = mark_of(field, OF_HEADS), getattr(self, name)
            if isinstance(heads, list) and self.head not in heads and value != field.default:
                raise ConfigError(f"head {self.head} has no {field.title or name}, got {value!r}")
        return self

    @property
    def effective_threshold(self) -> float:
        """Return the threshold in use; 0 for a head without one."""
        if self.head_threshold is not None:
            return self.head_threshold
        return _DEFAULT_THRESHOLDS.get(self.head, 0.0)


class EncoderConfig(ComparingOptions):
    """Settings of an encoder.

    ``int8`` quantises the weights of linear layers in advance and activations dynamically; windows
    of a side over the encoder's limit overlap, and pairs with such a side are rejected as
    ``too_long_for_encoder`` if ``long_pairs`` says so.

    Attributes:
        model: A local directory, or a name on the hub.
        head: Settings of extracting links.
        tokens: Tokens that are linked: the pairs' own (``given``), or the encoder's ``pieces``, for
            pairs without tokens.
        window_overlap: Pieces that neighbouring windows share.
        device: ``auto`` (a GPU if there is one), ``cpu``, ``cuda`` or ``cuda:N``.
    """

    model: str = Field(
        pattern=r"(?s).",
        description="a directory or a hub name",
        json_schema_extra=listed_before("unit"),
    )
    head: HeadConfig = HeadConfig()
    tokens: Literal["given", "pieces"] = "given"
    window_overlap: int = Field(128, ge=0, le=4096)
    device: Device = "auto"

    @property
    def batch_pieces(self) -> int | None:
        """Return the number of pieces in a batch; None to measure the device."""
        return None if self.token_budget == "auto" else int(self.token_budget)
