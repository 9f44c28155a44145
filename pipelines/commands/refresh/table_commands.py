"""The subcommands of ``refresh`` on a table, such as ``status`` and ``vacuum``."""

import functools
import itertools
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import Field

from pairweave.pipelines.command_line.command_function import CommandFunction, command
from pairweave.pipelines.options.base import Patterns
from pairweave.pipelines.process import terminal
from pairweave.pipelines.refresh.chain import log_seals, records, table_place, tables
from pairweave.pipelines.refresh.chain.records import Record
from pairweave.pipelines.refresh.upkeep.compact import compact
from pairweave.pipelines.refresh.upkeep.forget import forget
from pairweave.pipelines.refresh.upkeep.vacuum import vacuum
from pairweave.pipelines.refresh.upkeep.verify import verify
from pairweave.transforms.config import Seed
from pairweave.transforms.counted import counted
from pairweave.transforms.filtering.mixture import Mixture, read_weights
from pairweave.transforms.option_places import FILE, OUTPUT_DIRECTORY, TABLE, Metavar


def _table_command(run: Callable[..., int]) -> CommandFunction:
    """Make a subcommand of a function that begins with a check of its table.

    Options of Beam say how a store is reached.
    """

    @functools.wraps(run)
    def checked(*, table: str, **options: Any) -> int:  # noqa: ANN401 - values of any options
        table_place.require_delta()
        table_place.require_place(table)
        return run(table, **options)

    return command(beam=True)(checked)


_Table = Annotated[
    str, TABLE, Field(description="directory or URI of the tables, the --output of refresh")
]


@_table_command
def status(
    table: _Table,
    *,
    format: Annotated[Literal["text", "json"], "form of the output"] = "text",
) -> int:
    """Print what a table holds."""
    record = log_seals.last_night(table)
    if format == "json":
        facts = {"night": record.night, "when": record.when, "job": record.job}
        facts |= {"versions": record.versions, "metrics": record.metrics, "models": record.models}
        facts["settings"] = record.settings
        terminal.say_json(facts, indented=True)
        return 0
    terminal.say("\n".join(_status_lines(table, record)))
    return 0


def _status_lines(table: str, record: Record) -> list[str]:
    rows = record.metrics["table"]["pairs"]
    lines = [
        f"{table}: {record.job}, night {record.night} of {record.when}",
        f"  {counted(rows, 'pair')} of {counted(len(record.files), 'input')}",
        *(f"  {name} version {version}" for name, version in sorted(record.versions.items())),
        *(f"  model of {pair}: {place}" for pair, place in sorted(record.models.items())),
    ]
    if not tables.is_applied(table, record):
        lines.append("  its last night is not committed to all tables: run refresh again")
    return lines


@_table_command
def history(
    table: _Table,
    *,
    last: Annotated[int, Field(ge=1), "number of nights"] = 20,
    format: Annotated[Literal["text", "json"], "form of the output"] = "text",
) -> int:
    """Print the nights of a table, the last one last."""
    back = records.back_from(table, records.existing(table))
    nights = [*itertools.islice(back, last)][::-1]
    if format == "json":
        left_out = ("files", "tables")
        facts = [{k: v for k, v in vars(night).items() if k not in left_out} for night in nights]
        terminal.say_json(facts, indented=True)
        return 0
    terminal.say("\n".join(line for record in nights for line in _history_lines(record)))
    return 0


def _history_lines(record: Record) -> list[str]:
    metrics = record.metrics
    changed = ", ".join(f"{name} {record.versions[name]}" for name in sorted(record.tables))
    lines = [
        f"night {record.night}  {record.when}  {record.operation}: +{metrics['new']['pairs']:,} "
        f"-{metrics['removed']:,} = {counted(metrics['table']['pairs'], 'pair')}; "
        f"{f'versions {changed}' if changed else 'no table changed'}"
    ]
    if record.accepted is not None:
        failed = [gate["gate"] for gate in record.gates if not gate["passed"]]
        lines.append(f"  accepted {', '.join(failed) or 'with no failed gate'}: {record.accepted}")
    return lines


@_table_command
def verify_table(table: _Table) -> int:
    """Check a table; print what is wrong."""
    verified = verify(table)
    for line in verified.problems:
        terminal.warn(line)
    terminal.say(
        f"{counted(verified.files, 'file')}, {counted(verified.rows, 'row')}, "
        f"{counted(verified.nights, 'night')} checked"
    )
    return 1 if verified.problems else 0


@_table_command
def vacuum_table(
    table: _Table,
    *,
    retention: Annotated[
        float,
        Field(ge=0),
        "hours for which files are kept that the current version no longer needs, so that older "
        "versions stay readable; 0 deletes all of them",
    ] = 168.0,
    dry: Annotated[bool, "name the files, delete nothing"] = False,
) -> int:
    """Delete files of a table, or name them."""
    names = vacuum(table, retention, dry=dry)
    if dry and names:
        terminal.say("\n".join(names))
    terminal.say(f"{counted(len(names), 'file')} {'would be ' if dry else ''}deleted")
    return 0


@_table_command
def takedown(
    table: _Table,
    file: Annotated[str, FILE, "file of ids and texts, one per line, as for --takedown of a night"],
    *,
    everywhere: Annotated[
        bool,
        "keep what the list names from coming back through any corpus; otherwise only through "
        "those that have it now",
    ] = False,
) -> int:
    """Remove pairs from a table."""
    removed, is_committed = forget(table, file, everywhere=everywhere)
    if is_committed:
        night = records.existing(table).night
        terminal.say(f"removed {counted(removed, 'pair')}; committed night {night}")
    else:
        terminal.say("nothing has changed: all of it was taken down before")
    return 0


@_table_command
def compact_table(
    table: _Table,
    *,
    rows: Annotated[int, Field(ge=1), "files with fewer rows are joined up to this size"] = 131_072,
) -> int:
    """Join the small files of a table."""
    before, after = compact(table, rows)
    terminal.say(
        f"{counted(before, 'file')} became {after:,}" if before else "there is nothing to join"
    )
    return 0


@_table_command
def export_table(
    table: _Table,
    *,
    output: Annotated[str, OUTPUT_DIRECTORY, Field(min_length=1), "directory for the shards"],
    weights: Annotated[
        Patterns,
        Metavar("CORPUS=X"),
        "weight of a corpus, such as news=2; corpora that are not named have the weight 1, and 0 "
        "leaves a corpus out",
    ] = (),
    temperature: Annotated[
        float,
        Field(ge=1, le=1_000),
        "take corpora in proportion to weight times pairs to the power of 1 / temperature: 1 "
        "keeps their sizes, a higher one evens them out",
    ] = 1.0,
    seed: Annotated[Seed, "seed of the draws"] = 1,
    shard_rows: Annotated[int, Field(ge=1), "approximate number of rows in a shard"] = 131_072,
    night: Annotated[
        int | None, Field(ge=1), "night whose version is read (default: the last)"
    ] = None,
    since: Annotated[
        int | None,
        Field(ge=1),
        "only the rows that were added after this night, for a trainer that has the earlier ones; "
        "removed.txt has the ids of pairs that were removed since",
    ] = None,
) -> int:
    """Write a version of a table as shards."""
    from pairweave.pipelines.refresh.upkeep.mixing import export

    mixture = Mixture(read_weights(weights), temperature, seed)
    done = export(table, output, mixture, shard_rows, night, since)
    if not done:
        terminal.say("this version has no pairs, so there are no shards")
    for corpus, (pairs, taken) in done.items():
        terminal.say(f"{corpus}: {taken:,} of {counted(pairs, 'pair')}")
    return 0
