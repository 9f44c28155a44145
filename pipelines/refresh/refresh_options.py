"""The options of the command ``refresh`` and of its subcommands."""

from typing import Annotated, Literal

from pydantic import Field

from pairweave.pipelines.options.base import Label, Options, OutputOptions, Patterns
from pairweave.pipelines.recipes.recipe_options import EngineOptions
from pairweave.transforms.option_places import (
    FILE,
    OUTPUT_DIRECTORY,
    OUTPUT_FILE,
    OUTPUT_OR_URL,
    TABLE,
)


class RefreshOptions(EngineOptions, OutputOptions, Options):
    """Bringing a table up to date, --config FILE.yaml: a job's options and the key job."""

    plan_only: bool = Field(
        default=False, description="print what tonight would do, run nothing, write nothing"
    )
    launches: Annotated[str | None, OUTPUT_FILE] = Field(
        None,
        min_length=1,
        description="run no job, and write those that tonight needs as JSON to this file (job, "
        "config, output), for a scheduler that starts them, such as by a Flex Template; once they "
        "are done, the same command with --prepared_only instead commits the night",
    )
    prepared_only: bool = Field(
        default=False,
        description="start no job, and commit the night from those that --launches prepared: files "
        "that came after it are left for the next night, and it is an error (status 1) if a job is "
        "not finished or no longer fits",
    )
    full_check: bool = Field(
        default=False,
        description="read every input file to see whether it has changed; else a file of the same "
        "size and modification time counts as unchanged, except with --migrate or --refit",
    )
    takedown: Annotated[str | None, FILE] = Field(
        None,
        min_length=1,
        description="file of pairs to take down, one a line: the id of a pair, or a text of either "
        "side (case, spacing and compatibility forms are ignored); in a file named *.jsonl a JSON "
        "object with id or text, for texts with line ends",
    )
    everywhere: bool = Field(
        default=False,
        description="keep what --takedown names from coming back through any corpus; else through "
        "those corpora that have it now",
    )
    tombstones_of: Annotated[str | None, TABLE] = Field(
        None,
        min_length=1,
        description="table whose takedowns hold for this one too, which is made tonight: what was "
        "taken down there does not come back here",
    )
    migrate: bool = Field(
        default=False,
        description="make all rows anew with the changed configuration, model or release, and "
        "replace the old rows in one version",
    )
    refit: bool = Field(
        default=False,
        description="fit the table's own models anew to all that it holds now, and make all rows "
        "anew with them, in one version; the key refit_growth of the file does so by itself",
    )
    accept: Label | None = Field(
        None,
        min_length=1,
        description="commit although quality gates fail, for this reason, which the table's "
        "history keeps",
        json_schema_extra={"metavar": "REASON"},
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
        "object a line, a server that does not answer is a warning",
    )


class TableOptions(Options):
    """Options of every subcommand of ``refresh``; ``refresh verify`` has no other."""

    table: Annotated[str, TABLE] = Field(
        description="the table: --output of refresh", json_schema_extra={"at": 0}
    )


class StatusOfTableOptions(TableOptions):
    """Options of ``refresh status``."""

    format: Literal["text", "json"] = Field("text", description="how to print it")


class HistoryOptions(TableOptions):
    """Options of ``refresh history``."""

    last: int = Field(20, ge=1, description="number of nights")
    format: Literal["text", "json"] = Field("text", description="how to print them")


class VacuumOptions(TableOptions):
    """Options of ``refresh vacuum``."""

    retention: float = Field(
        168.0,
        ge=0,
        description="hours for which files that no current version has are kept, for time travel; "
        "0 deletes all of them, which must not be done while a refresh runs",
    )
    dry: bool = Field(default=False, description="name the files, delete nothing")


class ForgetOptions(TableOptions):
    """Options of ``refresh takedown``."""

    file: Annotated[str, FILE] = Field(
        description="file of ids and texts, one a line, as for --takedown of a night",
        json_schema_extra={"at": 1},
    )
    everywhere: bool = Field(
        default=False,
        description="keep what the list names from coming back through any corpus; else through "
        "those that have it now",
    )


class CompactOptions(TableOptions):
    """Options of ``refresh compact``."""

    rows: int = Field(131_072, ge=1, description="files with fewer rows are joined up to this size")


class MixOptions(TableOptions):
    """Options of ``refresh export``."""

    output: Annotated[str, OUTPUT_DIRECTORY] = Field(
        min_length=1,
        description="directory for the shards",
    )
    weights: Patterns = Field(
        (),
        description="weight of a corpus, as news=2; 1 for those that are not named, 0 for none",
        json_schema_extra={"metavar": "CORPUS=X"},
    )
    temperature: float = Field(
        1.0,
        ge=1,
        le=1_000,
        description="take corpora in proportion to weight times pairs to the power of 1 / "
        "temperature: 1 keeps their sizes, a higher one evens them out",
    )
    seed: int = Field(1, ge=0, le=(1 << 63) - 1, description="seed of the draws")
    shard_rows: int = Field(131_072, ge=1, description="rows of a shard, about")
    night: int | None = Field(
        None, ge=1, description="night whose version is read (default: the last)"
    )
    since: int | None = Field(
        None,
        ge=1,
        description="only the rows that came after this night, for a trainer that has those "
        "before, and the file removed.txt: ids of pairs that it must forget",
    )
