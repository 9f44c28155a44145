"""Options of ``demo`` and of several commands, which ``--help`` reads without Beam."""

from typing import Annotated, Literal

from pydantic import Field

from pairweave.pipelines.options.base import Options
from pairweave.transforms.config import Seed
from pairweave.transforms.option_places import OUTPUT_DIRECTORY

PairSeed = Annotated[Seed, Field(description="another seed draws other pairs")]


class DemoOptions(Options):
    """Options of ``demo``."""

    output: Annotated[str, OUTPUT_DIRECTORY] = Field(
        "demo-output",
        min_length=1,
        description="directory of the demonstration's files",
    )
    target_lang: Literal["de", "es", "fr"] = Field("de", description="German, Spanish or French")
    pairs: int = Field(6, ge=1, le=100, description="tagged pairs to print")
