"""The options of the command ``run``, and of every command with jobs in a file."""

from typing import Annotated, Any, Literal

from pydantic import Field

from pairweave.pipelines.options.base import Options, OutputOptions, Workers
from pairweave.transforms.config import Share
from pairweave.transforms.option_places import FILE


class FileOfJobs(Options):
    """The file with the jobs and their options."""

    config: Annotated[str, FILE] = Field(description="YAML file with jobs and their options")


class EngineOptions(Options):
    """Where the jobs run, if not as the file says."""

    engine: Literal["local", "prism", "flink", "dataflow"] | None = Field(
        None, description="engine that runs the graphs (default: as in the file, else local)"
    )
    workers: Workers | None = Field(
        None, description="processes or parallel slots (default: as in the file, else cores)"
    )
    attempts: int | None = Field(
        None, ge=1, description="number of attempts of each step (default: as in the file, else 2)"
    )

    def of_engine(self) -> dict[str, Any]:
        """Return those of these options that are given, which take precedence over the file."""
        return self.model_dump(include=set(EngineOptions.model_fields), exclude_none=True)


class RecipeOptions(FileOfJobs, EngineOptions, OutputOptions, Options):
    """Running a recipe; FILE.yaml has its steps: options that apply to all of them."""

    plan_only: bool = Field(
        default=False, description="print the plan of every step, run nothing, write nothing"
    )
    max_rejected: Share | None = Field(
        None,
        description="largest share of its input that a step may reject; the recipe stops after one "
        "that rejects more (default: as in the file, else 0.5)",
    )
