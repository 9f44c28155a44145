"""Options of a translator; importable without torch."""

from pydantic import Field

from pairweave.models.encoder.encoder_options import Precision
from pairweave.transforms.config import Config
from pairweave.transforms.option_marks import PLANNED_OTHERWISE


class TranslationOptions(Config):
    """Translation."""

    translator_revision: str | None = Field(
        None,
        description="translator: branch, tag or commit of a hub model (default: its newest)",
        json_schema_extra=PLANNED_OTHERWISE,
    )
    beam_size: int = Field(4, ge=1, le=100, description="translator: width of the beam")
    max_translation_tokens: int = Field(
        256,
        ge=1,
        le=4096,
        description="translator: longest translation, in its pieces; a longer one is rejected",
    )
    translator_source_tokens: int = Field(
        512,
        ge=2,
        le=4096,
        description="translator: longest source, in its pieces; a longer one is rejected",
    )
    translator_batch_tokens: int = Field(
        4096, ge=1, le=1 << 24, description="translator: source pieces in a batch, with padding"
    )
    translator_precision: Precision = Field(
        "fp32",
        description="translator: arithmetic; fp16 only on a GPU, int8 only with CTranslate2",
    )
