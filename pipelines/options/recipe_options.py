"""The options of the command ``run``."""

from typing import Literal

from pydantic import Field

from pairweave.pipelines.options.base import Options, OutputOptions


class RecipeOptions(OutputOptions, Options):
    """Running a recipe, --config FILE.yaml: options that apply to all of its steps."""

    plan_only: bool = Field(
        default=False, description="print the plan of every step, run nothing, write nothing"
    )
    engine: Literal["local", "prism", "flink", "dataflow"] | None = Field(
        None, description="engine that runs the graphs (default: as in the file, else local)"
    )
    workers: int | None = Field(
        None, ge=1, description="processes or parallel slots (default: as in the file, else cores)"
    )
    attempts: int | None = Field(
        None, ge=1, description="number of attempts of each step (default: as in the file, else 2)"
    )
