"""The command ``export``: converts a finished run's rows to files for trainers."""

import dataclasses
from collections.abc import Sequence

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.commands.command_options import ExportOptions
from pairweave.pipelines.commands.finished.export_golden import GoldenSet
from pairweave.pipelines.process import terminal
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.export.export import Exported, export
from pairweave.transforms.export.export_formats import RowExport, Templates
from pairweave.transforms.export.export_markup import export_markup
from pairweave.transforms.export.export_rows import Selection
from pairweave.transforms.formats import registry
from pairweave.transforms.output.finished_run import FinishedRun, run_of

_GOLDEN_FORMATS = ("wets", "mt5")


def main(name: str, arguments: Sequence[str]) -> int:
    """Export a run from the command line."""
    options = flags.read_command(ExportOptions, name, arguments)
    run = FinishedRun.open(options.directory)
    outer = run_of(f"{options.output.rstrip('/')}/file")
    if outer is not None:
        raise ConfigError(
            f"{options.output} is inside the run {outer}, which must stay as its manifest "
            "describes it; give another directory: --output DIR"
        )
    selection = selection_of(options, run.job)
    _check_series(options)
    if options.format in registry.markup_export_names():
        done = export_markup(
            run,
            registry.markup_export(options.format),
            options.output,
            options.rows,
            options.unfit,
            options.inline_syntax,
            selection,
        )
        return _say(done, options.sample)
    if options.inline_syntax is not None:
        raise ConfigError(
            f"--inline_syntax: {options.format} has the tags of the run; leave it out"
        )
    golden = None
    if options.golden:  # read it now, to report its errors before anything is written
        how = registry.row_export(options.format)
        golden = GoldenSet.read(options.golden, how, options.unfit, options.golden_sizes)
    done = export(
        run,
        _with_templates(
            registry.row_export_of(options.format, options.directory, run.job), options, run.job
        ),
        options.output,
        options.unfit,
        selection,
        alignment=options.alignment,
        header=options.header,
        sizes=options.sizes,
    )
    _say(done, options.sample)
    if golden is not None:
        wanted = Selection(shuffle=options.shuffle, seed=options.seed)
        _say(golden.export(options.output, wanted, options.golden_sizes), None)
    return 0


def selection_of(options: ExportOptions, job: str) -> Selection:
    """Return the selection of rows from the options.

    Raises:
        ConfigError: Options contradict each other, or do not apply to the format.
    """
    set_options = options.model_fields_set
    in_markup = options.format in registry.markup_export_names()
    if "header" in set_options and (
        in_markup or registry.row_export(options.format).header is None
    ):
        raise ConfigError(f"--header: {options.format} has none; leave it out")
    for name in ("instruction", "system"):
        if name in set_options and (
            in_markup or registry.row_export(options.format).templated is None
        ):
            raise ConfigError(f"--{name}: {options.format} has no messages; leave it out")
    if "alignment" in set_options and in_markup:
        raise ConfigError(f"--alignment: {options.format} has no links; leave it out")
    drawn = options.sample is not None or options.sizes or options.golden_sizes
    if "seed" in set_options and not drawn and not options.shuffle:
        raise ConfigError(
            "--seed: nothing is drawn; give --sample, --sizes or --shuffle, or leave it out"
        )
    kinds = options.kinds
    if options.rows is not None:
        if kinds:
            raise ConfigError("--rows and --kinds mean the same; give only one of them")
        if job != "augment" and not in_markup:
            raise ConfigError(f"--rows: rows of {job} have no tags; leave it out")
        if options.rows != "all" and job == "augment":
            kinds = (options.rows,)
    return Selection(options.methods, kinds, options.sample, options.shuffle, options.seed)


def _with_templates(how: RowExport, options: ExportOptions, job: str) -> RowExport:
    """Return a format that writes the texts of the options round each row."""
    if how.templated is None:
        return how
    templates = Templates(options.instruction, options.system)
    return dataclasses.replace(how, write=how.templated(job, templates))


def _check_series(options: ExportOptions) -> None:
    """Refuse options of series and golden sets that do not go together.

    Raises:
        ConfigError: There are such options; the message names them.
    """
    if options.sizes and options.sample is not None:
        raise ConfigError("--sample and --sizes exclude each other; leave one out")
    for name in ("sizes", "golden_sizes"):
        sizes = getattr(options, name)
        if len(set(sizes)) < len(sizes):
            raise ConfigError(f"--{name}: a size is given twice; leave one out")
    if options.sizes and options.format in registry.markup_export_names():
        raise ConfigError(f"--sizes: {options.format} has one file for all pairs; give --sample")
    if options.golden and options.format not in _GOLDEN_FORMATS:
        raise ConfigError(
            f"--golden: {options.format} is not a format of golden sets; give "
            f"{' or '.join(_GOLDEN_FORMATS)}, or leave it out"
        )
    if options.golden_sizes and not options.golden:
        raise ConfigError("--golden_sizes: there is no golden set; give --golden, or leave it out")


def _say(done: Exported, wanted: int | None) -> int:
    for path in done.paths:
        terminal.say(path)
    out = f", {done.left_out} left out" if done.left_out else ""
    few = f", fewer than the {wanted} asked for" if done.rows < (wanted or 0) else ""
    terminal.say(f"{done.rows} rows{out}{few}")
    return 0
