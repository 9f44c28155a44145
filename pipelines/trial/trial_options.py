"""Options of ``try``."""

from typing import Annotated, ClassVar

from pydantic import Field

from pairweave.pipelines.job_options.pair_options import AugmentOptions
from pairweave.pipelines.options.base import OF_OUTPUT
from pairweave.pipelines.options.first_help import INPUT, LANGUAGES, TWO_FILES, FirstHelp
from pairweave.transforms.option_places import OUTPUT_DIRECTORY


class TrialOptions(AugmentOptions):
    """Options of ``try``: those of ``augment``, where output and engine have no effect."""

    FIRST_HELP: ClassVar[FirstHelp | None] = FirstHelp(
        f"pairweave try {TWO_FILES} \\\n  {LANGUAGES} --model model/ --pairs 5 "
        "--change heuristic=union",
        f"{INPUT} source_lang target_lang pairs change model fit_pairs aligner tokens heuristic "
        "max_words method max_tags",
    )

    output: Annotated[str, OUTPUT_DIRECTORY] = Field(
        "-",
        min_length=1,
        description="not used: nothing is written",
        json_schema_extra=OF_OUTPUT,
    )
    fit_pairs: int = Field(
        20_000, ge=1, description="approximate number of pairs that an aligner is fitted on"
    )
    pairs: int = Field(20, ge=1, le=1_000, description="pairs of each corpus to show")
    change: tuple[str, ...] = Field(
        (),
        description="show only the pairs that other options change, before and after: "
        "OPTION=VALUE, such as heuristic=union",
    )
