"""The subcommands of ``refresh`` on a table, such as ``status`` and ``vacuum``."""

import itertools
from collections.abc import Callable, Sequence
from typing import TypeVar

import orjson

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.process import terminal
from pairweave.pipelines.refresh.chain import log_seals, records, table_place, tables
from pairweave.pipelines.refresh.chain.records import Record
from pairweave.pipelines.refresh.refresh_options import (
    CompactOptions,
    ForgetOptions,
    HistoryOptions,
    MixOptions,
    StatusOfTableOptions,
    TableOptions,
    VacuumOptions,
)
from pairweave.pipelines.refresh.upkeep.compact import compact
from pairweave.pipelines.refresh.upkeep.forget import forget
from pairweave.pipelines.refresh.upkeep.vacuum import vacuum
from pairweave.pipelines.refresh.upkeep.verify import verify


def main(name: str, arguments: Sequence[str]) -> int:
    """Run a subcommand; ``name`` is as typed, such as ``refresh status``."""
    table_place.require_delta()
    return RUNS[name.partition(" ")[2]](name, arguments)


OptionsT = TypeVar("OptionsT", bound=TableOptions)


def _parsed(model: type[OptionsT], name: str, about: str, arguments: Sequence[str]) -> OptionsT:
    """Read the options of a subcommand, and check the place of its table.

    Options of Beam say how a store is reached, as for a night.
    """
    options, _ = flags.parse(model, f"pairweave {name}", about, arguments, beam=True)
    table_place.require_place(options.table)
    return options


def _status(name: str, arguments: Sequence[str]) -> int:
    options = _parsed(StatusOfTableOptions, name, "show what a table holds", arguments)
    record = log_seals.last_night(options.table)
    if options.format == "json":
        facts = {"night": record.night, "when": record.when, "job": record.job}
        facts |= {"versions": record.versions, "metrics": record.metrics, "models": record.models}
        facts["settings"] = record.settings
        terminal.say(orjson.dumps(facts, option=orjson.OPT_INDENT_2).decode())
        return 0
    terminal.say("\n".join(_status_lines(options.table, record)))
    return 0


def _status_lines(table: str, record: Record) -> list[str]:
    rows = record.metrics["table"]["pairs"]
    lines = [
        f"{table}: {record.job}, night {record.night} of {record.when}",
        f"  {rows:,} pairs of {len(record.files):,} inputs",
        *(f"  {name} version {version}" for name, version in sorted(record.versions.items())),
        *(f"  model of {pair}: {place}" for pair, place in sorted(record.models.items())),
    ]
    if not tables.is_applied(table, record):
        lines.append("  its last night is not committed to all tables: run refresh again")
    return lines


def _history(name: str, arguments: Sequence[str]) -> int:
    options = _parsed(HistoryOptions, name, "list the nights of a table", arguments)
    last = records.existing(options.table)
    nights = [*itertools.islice(records.back_from(options.table, last), options.last)][::-1]
    if options.format == "json":
        left_out = ("files", "tables")
        facts = [{k: v for k, v in vars(night).items() if k not in left_out} for night in nights]
        terminal.say(orjson.dumps(facts, option=orjson.OPT_INDENT_2).decode())
        return 0
    terminal.say("\n".join(line for record in nights for line in _history_lines(record)))
    return 0


def _history_lines(record: Record) -> list[str]:
    metrics = record.metrics
    changed = ", ".join(f"{name} {record.versions[name]}" for name in sorted(record.tables))
    lines = [
        f"night {record.night}  {record.when}  {record.operation}: +{metrics['new']['pairs']:,} "
        f"-{metrics['removed']:,} = {metrics['table']['pairs']:,} pairs; "
        f"{f'versions {changed}' if changed else 'no table changed'}"
    ]
    if record.accepted is not None:
        failed = [gate["gate"] for gate in record.gates if not gate["passed"]]
        lines.append(f"  accepted {', '.join(failed) or 'with no failed gate'}: {record.accepted}")
    return lines


def _verify(name: str, arguments: Sequence[str]) -> int:
    options = _parsed(
        TableOptions,
        name,
        "check the files of a table by their hashes, its rows by their provenance, and its nights",
        arguments,
    )
    verified = verify(options.table)
    for line in verified.problems:
        terminal.warn(line)
    terminal.say(
        f"{verified.files} files, {verified.rows:,} rows, {verified.nights} nights checked"
    )
    return 1 if verified.problems else 0


def _vacuum(name: str, arguments: Sequence[str]) -> int:
    options = _parsed(
        VacuumOptions, name, "delete files that no version within the retention has", arguments
    )
    names = vacuum(options.table, options.retention, dry=options.dry)
    if options.dry and names:
        terminal.say("\n".join(names))
    terminal.say(f"{len(names)} files {'would be ' if options.dry else ''}deleted")
    return 0


def _takedown(name: str, arguments: Sequence[str]) -> int:
    options = _parsed(
        ForgetOptions, name, "remove pairs by id or text, without reading any input file", arguments
    )
    removed, is_committed = forget(options.table, options.file, everywhere=options.everywhere)
    if is_committed:
        night = records.existing(options.table).night
        terminal.say(f"removed {removed:,} pairs; committed night {night}")
    else:
        terminal.say("nothing has changed: all of it was taken down before")
    return 0


def _compact(name: str, arguments: Sequence[str]) -> int:
    options = _parsed(
        CompactOptions,
        name,
        "join the small files of a table, in one version that changes no row",
        arguments,
    )
    before, after = compact(options.table, options.rows)
    terminal.say(f"{before} files became {after}" if before else "there is nothing to join")
    return 0


def _export(name: str, arguments: Sequence[str]) -> int:
    from pairweave.pipelines.refresh.upkeep.mixing import Mixture, export, read_weights

    options = _parsed(
        MixOptions,
        name,
        "write a version as plain Parquet shards, corpora mixed by weight and temperature",
        arguments,
    )
    mixture = Mixture(read_weights(options.weights), options.temperature, options.seed)
    done = export(
        options.table, options.output, mixture, options.shard_rows, options.night, options.since
    )
    if not done:
        terminal.say("this version has no pairs, so there are no shards")
    for corpus, (pairs, taken) in done.items():
        terminal.say(f"{corpus}: {taken:,} of {pairs:,} pairs")
    return 0


RUNS: dict[str, Callable[[str, Sequence[str]], int]] = {
    "status": _status,
    "history": _history,
    "verify": _verify,
    "vacuum": _vacuum,
    "takedown": _takedown,
    "compact": _compact,
    "export": _export,
}
