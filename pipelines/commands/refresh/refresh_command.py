"""The command ``refresh``: brings versioned tables up to date, or looks after them."""

import contextlib
import itertools
import time
from collections.abc import Collection, Mapping, Sequence

from pairweave.pipelines.command_line import flags, outputs, subcommands
from pairweave.pipelines.command_line.command_table import words_after
from pairweave.pipelines.engines import engine_flags
from pairweave.pipelines.options.named_files import files_read
from pairweave.pipelines.process import interrupt, monitoring, terminal
from pairweave.pipelines.refresh import file_ledger, night_metrics, refitting
from pairweave.pipelines.refresh.chain import log_seals, records, table_place, tables
from pairweave.pipelines.refresh.chain.record_parts import LedgerEntry
from pairweave.pipelines.refresh.chain.records import Json, Record
from pairweave.pipelines.refresh.chain.table_lock import delete_leftovers, held
from pairweave.pipelines.refresh.file_ledger import NightInputs
from pairweave.pipelines.refresh.lineage import Lineage
from pairweave.pipelines.refresh.night import Night, commit, overtaken
from pairweave.pipelines.refresh.night_config import (
    NightConfig,
    differences,
    gives_more,
    read_config,
)
from pairweave.pipelines.refresh.refresh_options import RefreshOptions
from pairweave.transforms.counted import counted
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output.run_files import to_json
from pairweave.transforms.storage import files
from pairweave.transforms.storage.whole_files import require_outputs_apart

GATE_FAILED = 4
"""Exit status of a night that breaks a quality gate."""


def main(name: str, arguments: Sequence[str]) -> int:
    """Run a night, or a subcommand on a table."""
    if arguments and arguments[0] in words_after(name):
        return subcommands.run(name, arguments)
    options, extra = flags.parse_command(RefreshOptions, name, arguments)
    if options.launches is not None and options.prepared_only:
        raise ConfigError("--launches prepares jobs and --prepared_only takes them: give one")
    night_metrics.check(options.metrics)
    lineage = Lineage(options.lineage, options.output)
    table_place.require_delta()
    table_place.require_place(options.output)
    config = read_config(options.config, options.of_engine())
    used = {str(config.values.get("engine", "local"))}
    engine_flags.check_used(used, engine_flags.given_options(extra))
    return run(config, options, extra, lineage)


def run(
    config: NightConfig, options: RefreshOptions, extra: Sequence[str], lineage: Lineage
) -> int:
    """Bring a table up to date; return the exit status."""
    with contextlib.nullcontext() if options.plan_only else held(options.output, alone=False):
        return _run(config, options, extra, lineage)


def _run(
    config: NightConfig, options: RefreshOptions, extra: Sequence[str], lineage: Lineage
) -> int:
    started = time.time()
    base = records.latest(options.output)
    if base is not None and options.tombstones_of is not None:
        raise ConfigError(
            f"--tombstones_of {options.tombstones_of}: {options.output} is there already and has "
            "takedowns of its own; give the same list with --takedown, or a new --output"
        )
    if base is not None:
        log_seals.check(options.output, base)
    if not options.plan_only:
        if base is None:
            records.require_creation(options.output)
        delete_leftovers(options.output)
        if base is not None:  # it may have been stopped before the end of its commit
            tables.apply(options.output, base)
    news = [] if base is None else _check_version(config, options, base)
    why = _reasons_to_refit(config, options, base)
    inputs = _files(config, options, base, anew=options.migrate or bool(why))
    if options.plan_only:
        terminal.say("\n".join(_plan(inputs, base, options, news, why)))
        return 0
    if why:
        terminal.say("\n".join(["models are fitted anew, and all rows made with them:", *why]))
        options = options.model_copy(update={"migrate": True, "refit": True})
    if options.launches is not None:
        return _prepare(config, options, base, inputs)
    new_names = [name for key in inputs.new for name in inputs.entries[key].names]
    try:
        lineage.emit("START", new_names)
        if base is None or _may_change_rows(options, inputs):
            status = _work(config, options, base, inputs, extra)
        else:
            status = _quiet(config, options, base, inputs, started)
    except (Exception, interrupt.Stopped) as error:
        committed = None
        with contextlib.suppress(Exception):  # the first error counts
            committed = _committed(options.output, base)
        if committed is None:
            lineage.emit("FAIL", new_names, error=str(error))
        else:  # the command was stopped after the commit, while it reported the night
            lineage.emit("COMPLETE", new_names, committed)
        raise
    if status:
        lineage.emit("FAIL", new_names, error="a quality gate failed")
    else:
        lineage.emit("COMPLETE", new_names, _committed(options.output, base))
    return status


def _may_change_rows(options: RefreshOptions, inputs: NightInputs) -> bool:
    return options.migrate or inputs.changes_rows or options.takedown is not None


def _committed(table: str, base: Record | None) -> Record | None:
    """Return the night that this run has committed; None if it has committed none."""
    last = records.latest(table)
    return None if base is not None and last is not None and last.night == base.night else last


def _files(
    config: NightConfig, options: RefreshOptions, base: Record | None, *, anew: bool
) -> NightInputs:
    ledger = [] if base is None else [LedgerEntry.model_validate(entry) for entry in base.files]
    # If all rows are made anew, all files are read, so each must be compared by its content.
    full_check = options.full_check or anew
    inputs = file_ledger.find(config.inputs, config.licences, ledger, full_check=full_check)
    paths = [file.path for group in inputs.groups.values() for file in group.files]
    outputs.require_no_input_inside(options.output, paths)
    places = (options.launches, options.metrics, options.lineage)
    written = [place for place in places if place is not None and not monitoring.is_url(place)]
    if written:
        paths += files_read(config.options)
        require_outputs_apart([config.path, options.takedown, *paths], written)
    return inputs


def _check_version(config: NightConfig, options: RefreshOptions, base: Record) -> list[str]:
    """Return how the settings differ from those of the table, if they are allowed to differ.

    Raises:
        ConfigError: They may not differ, because rows of the table would be made in two ways.
    """
    if base.job != config.job:
        raise ConfigError(
            f"{options.output} is a table of {base.job}, and {config.path} says {config.job}; give "
            "another --output"
        )
    changes = differences(base.settings, config.settings) + _change_of_scores(config, base)
    if changes and not (options.migrate or options.plan_only):
        raise ConfigError(
            f"{config.path}: the rows of {options.output} are made in another way: "
            f"{'; '.join(changes)}. Give --migrate to make all rows anew (--plan_only says what "
            "that costs), or undo the change"
            + (
                f". pairweave refresh takedown {options.output} {options.takedown} takes the list "
                "down without a night"
                if options.takedown
                else ""
            )
        )
    return changes


def _change_of_scores(config: NightConfig, base: Record) -> list[str]:
    """Return how the scores of `filter` change if its corpora gave them, or give them now."""
    gave = {entry.get("gives_more") for entry in base.files}
    if config.job != "filter" or gave <= {None, any(map(gives_more, config.inputs))}:
        return []
    ways = ("given with the pairs", "computed")
    before, now = ways if True in gave else ways[::-1]
    return [f"scores were {before}, are now {now}"]


def _reasons_to_refit(
    config: NightConfig, options: RefreshOptions, base: Record | None
) -> list[str]:
    """Return why models are fitted again; empty if they are not, or a migration does it anyway."""
    if base is None or options.migrate:
        return []
    return refitting.reasons(options.output, base, config.refit_growth, asked=options.refit)


def _work(
    config: NightConfig,
    options: RefreshOptions,
    base: Record | None,
    inputs: NightInputs,
    extra: Sequence[str],
) -> int:
    try:
        night = Night(config, options, base, inputs, extra)
        late = night.late() if options.prepared_only else set()
        if late:
            _say_late(inputs, late)
            inputs = inputs.without(late)
            night = Night(config, options, base, inputs, extra)
        ready = night.make()
    except Exception as error:
        if records.latest(options.output) != base:  # another night's commit deleted the shared run
            raise overtaken(options.output) from error
        raise
    if base is not None and _changes_nothing(inputs, base, ready.record):
        _write_metrics(options, ready.record, committed=False)
        terminal.say(f"nothing has changed since night {base.night}: no new version")
        return 0
    terminal.say("\n".join(_lines(ready.record)))
    if ready.failed and options.accept is None:
        _report_failure(ready.failed, ready.samples)
        _write_metrics(options, ready.record, committed=False)
        return GATE_FAILED
    commit(options.output, ready)
    _write_metrics(options, ready.record, committed=True)
    terminal.say(f"committed night {ready.record.night}: {_versions(ready.record)}")
    return 0


def _say_late(inputs: NightInputs, keys: Collection[str]) -> None:
    names = [" ".join(inputs.entries[key].names) for key in inputs.new if key in keys]
    terminal.say(
        "\n".join(f"left for the next night, came too late: {name}" for name in names[:20])
    )


def _prepare(
    config: NightConfig, options: RefreshOptions, base: Record | None, inputs: NightInputs
) -> int:
    """Write the jobs that a night needs to a file without starting them."""
    assert options.launches is not None
    jobs = []
    if base is None or _may_change_rows(options, inputs):
        jobs = Night(config, options, base, inputs, ()).launches()
    files.write_bytes(options.launches, to_json(jobs))
    terminal.say(f"{counted(len(jobs), 'job')} to start: {options.launches}")
    return 0


def _changes_nothing(inputs: NightInputs, base: Record, record: Record) -> bool:
    """Tell whether a night has nothing to commit, not even new tombstones."""
    same_files = not (inputs.changes_rows or inputs.moved or inputs.touched)
    return same_files and not record.tables and record.tombstones == base.tombstones


def _quiet(
    config: NightConfig, options: RefreshOptions, base: Record, inputs: NightInputs, started: float
) -> int:
    """End a night that changes no row; record files that moved or were written again."""
    if inputs.moved or inputs.touched:
        ready = Night(config, options, base, inputs, ()).make()
        commit(options.output, ready)
        count = len(inputs.moved) + len(inputs.touched)
        terminal.say(
            f"no row changes; noted {counted(count, 'file')} that moved or were written again"
        )
        _write_metrics(options, ready.record, committed=True)
        return 0
    seconds = time.time() - started
    pairs = base.metrics["table"]["pairs"]
    metrics = night_metrics.measure(inputs, (), before=pairs, removed=0, lost=0, seconds=seconds)
    _write_text(options, metrics, base.night, committed=False)
    terminal.say(f"nothing has changed since night {base.night}: no new version")
    return 0


def _plan(
    inputs: NightInputs,
    base: Record | None,
    options: RefreshOptions,
    news: Sequence[str],
    refit: Sequence[str],
) -> list[str]:
    """Return lines that say what a night would do."""
    lines = [*_file_lines(inputs)]
    if base is None:
        return [*lines, f"{options.output} would be made: there is no table yet"]
    if not news and not refit:
        return lines
    rows = sum(entry["rows"] for entry in base.files)
    rate = _rate(options.output, base)
    cost = f", about {rows / rate / 60:,.0f} minutes at the speed of earlier nights" if rate else ""
    return [
        *lines,
        *(f"changed: {each}" for each in news),
        *(f"fitted anew: {each}" for each in refit),
        f"{'--migrate' if news else 'the night'} would make all rows anew: {rows:,} pairs to "
        f"read{cost}",
    ]


def _rate(table: str, base: Record) -> float | None:
    """Return the speed, in pairs per second, of the night that read the most pairs."""
    nights = [*itertools.islice(records.back_from(table, base), 30)]
    most = max(nights, key=lambda record: record.metrics["new"]["read"])
    read = most.metrics["new"]["read"]
    return read / most.metrics["seconds"] if read else None


def _file_lines(inputs: NightInputs) -> list[str]:
    same = len(inputs.entries) - len(inputs.new) - len(inputs.moved)
    fresh = len(inputs.new) - len(inputs.changed)
    lines = [
        f"input files: {same} unchanged, {fresh} new, {len(inputs.changed)} changed, "
        f"{len(inputs.moved)} moved, {len(inputs.gone)} gone or changed"
    ]
    lines += [f"  new: {' '.join(inputs.entries[key].names)}" for key in inputs.new[:20]]
    lines += [f"  gone: {' '.join(entry.names)}" for entry in inputs.gone[:20]]
    lines += [f"  left out, same content as another: {name}" for name in inputs.repeated[:20]]
    return lines


def _lines(record: Record) -> list[str]:
    metrics = record.metrics
    new, count = metrics["new"], metrics["files"]
    findings = ", ".join(f"{kind} {lines:,}" for kind, lines in new.get("findings", {}).items())
    return [
        f"night {record.night}: {counted(count['new'], 'new or changed file')}, "
        f"{count['gone']} gone",
        f"  read {counted(new['read'], 'pair')}: {new['pairs']:,} new, {new['places']:,} in the "
        f"table or repeated, {new['rejected']:,} rejected",
        f"  removed {counted(metrics['removed'], 'pair')}; "
        f"the table has {metrics['table']['pairs']:,}",
        *([f"  lines with findings: {findings}"] if findings else []),
    ]


def _versions(record: Record) -> str:
    changed = [f"{name} version {record.versions[name]}" for name in sorted(record.tables)]
    return ", ".join(changed) or "no table changes"


def _report_failure(failed: list[Json], samples: Mapping[str, list[dict[str, object]]]) -> None:
    lines = ["quality gates failed, nothing was committed:"]
    lines += [f"  {gate['gate']}: {gate['value']:g}, limit {gate['limit']:g}" for gate in failed]
    for reason, rows in sorted(samples.items()):
        lines.append(f"  rejected as {reason}, for example:")
        for row in rows:
            place = f"{row['corpus']} line {row['line']}"
            detail = f" ({row['detail']})" if row["detail"] else ""
            lines.append(f"    {place}: {row['source']!r} | {row['target']!r}{detail}")
    lines.append('to commit all the same: the same command with --accept "REASON"')
    terminal.warn("\n".join(lines))


def _write_metrics(options: RefreshOptions, record: Record, *, committed: bool) -> None:
    night = record.night if committed else record.night - 1
    _write_text(options, record.metrics, night, committed=committed)


def _write_text(options: RefreshOptions, metrics: Json, night: int, *, committed: bool) -> None:
    if options.metrics is not None:
        text = night_metrics.openmetrics(metrics, night, committed=committed, when=time.time())
        night_metrics.write(options.metrics, text)
