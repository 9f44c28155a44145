"""The options of the command ``refresh``; subcommands have theirs in ``table_commands.py``."""

from typing import Annotated

from pydantic import Field

from pairweave.pipelines.options.base import Label, Options, OutputOptions
from pairweave.pipelines.recipes.recipe_options import EngineOptions, FileOfJobs
from pairweave.transforms.option_places import FILE, OUTPUT_FILE, OUTPUT_OR_URL, TABLE, Metavar


class RefreshOptions(FileOfJobs, EngineOptions, OutputOptions, Options):
    """Bringing tables up to date; FILE.yaml has the key job, its options, corpora and gates."""

    plan_only: bool = Field(
        default=False, description="print what this night would do, run nothing, write nothing"
    )
    launches: Annotated[str | None, OUTPUT_FILE] = Field(
        None,
        min_length=1,
        description="run no job, and write those that this night needs as JSON to this file (job, "
        "config, output), for a scheduler that starts them, for example by a Flex Template; once "
        "they are done, the same command with --prepared_only in its place commits the night",
    )
    prepared_only: bool = Field(
        default=False,
        description="start no job, and commit the night from those that --launches prepared: files "
        "that came after it are left for the next night, and it is an error (status 1) if a job is "
        "not finished or no longer fits",
    )
    full_check: bool = Field(
        default=False,
        description="read every input file to see whether it has changed; otherwise a file of the "
        "same size and modification time counts as unchanged, except with --migrate or --refit",
    )
    takedown: Annotated[str | None, FILE] = Field(
        None,
        min_length=1,
        description="file of pairs to take down, one per line: the id of a pair, or a text of "
        "either side (case, spacing and compatibility forms are ignored); in a file named *.jsonl "
        "a JSON object with id or text, for texts with line ends",
    )
    everywhere: bool = Field(
        default=False,
        description="keep what --takedown names from coming back through any corpus; otherwise "
        "only through those corpora that have it now",
    )
    tombstones_of: Annotated[str | None, TABLE] = Field(
        None,
        min_length=1,
        description="table whose takedowns also apply to this one, which this night creates: what "
        "was taken down there does not come back here",
    )
    migrate: bool = Field(
        default=False,
        description="make all rows again with the changed configuration, model or release, and "
        "replace the old rows in one version",
    )
    refit: bool = Field(
        default=False,
        description="fit the table's own models again on all that it holds now, and make all rows "
        "again with them, in one version; the key refit_growth of the file does so automatically",
    )
    accept: Annotated[Label | None, Metavar("REASON")] = Field(
        None,
        min_length=1,
        description="commit although quality gates fail, for this reason, which the table's "
        "history keeps",
    )
    metrics: Annotated[str | None, OUTPUT_OR_URL] = Field(
        None,
        min_length=1,
        description="file for the metrics of this run in OpenMetrics text, replaced in one step, "
        "such as for the textfile collector of a node exporter; or http(s) URL of a Pushgateway's "
        "group, such as http://gateway:9091/metrics/job/refresh, which they replace",
    )
    lineage: Annotated[str | None, OUTPUT_OR_URL] = Field(
        None,
        min_length=1,
        description="file or http(s) URL for OpenLineage events of this run: a file gets one JSON "
        "object per line, a server that does not answer causes a warning",
    )
