"""The command ``export``: converts a finished run's rows to files for trainers."""

from collections.abc import Sequence

from pairweave.pipelines.cli import COMMANDS
from pairweave.pipelines.command_line import flags
from pairweave.pipelines.options.command_options import ExportOptions
from pairweave.pipelines.process import terminal
from pairweave.pipelines.run import finished_run
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.export.export import Exported, export
from pairweave.transforms.export.export_markup import export_markup
from pairweave.transforms.export.export_rows import Selection
from pairweave.transforms.formats import registry


def main(name: str, arguments: Sequence[str]) -> int:
    """Export a run from the command line."""
    options, _ = flags.parse(
        ExportOptions, f"pairweave {name}", COMMANDS[name].about, arguments, beam=False
    )
    found = finished_run.open_manifest(options.directory)
    run = finished_run.run_of(f"{options.output.rstrip('/')}/file")
    if run is not None:
        raise ConfigError(
            f"{options.output} is inside the run {run}, which must stay as its manifest "
            "describes it; give another directory: --output DIR"
        )
    selection = selection_of(options, str(found["job"]))
    if options.format in registry.markup_export_names():
        done = export_markup(
            options.directory,
            found,
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
    done = export(
        options.directory,
        found,
        registry.row_export_of(options.format, options.directory, str(found["job"])),
        options.output,
        options.unfit,
        selection,
        alignment=options.alignment,
        header=options.header,
    )
    return _say(done, options.sample)


def selection_of(options: ExportOptions, job: str) -> Selection:
    """Return the selection of rows from the options.

    Raises:
        ConfigError: Options contradict each other, or do not apply to the format.
    """
    given = options.model_fields_set
    in_markup = options.format in registry.markup_export_names()
    if "header" in given and (in_markup or registry.row_export(options.format).header is None):
        raise ConfigError(f"--header: {options.format} has none; leave it out")
    if "alignment" in given and in_markup:
        raise ConfigError(f"--alignment: {options.format} has no links; leave it out")
    if "seed" in given and options.sample is None and not options.shuffle:
        raise ConfigError("--seed: nothing is drawn; give --sample or --shuffle, or leave it out")
    kinds = options.kinds
    if options.rows is not None:
        if kinds:
            raise ConfigError("--rows and --kinds mean the same; give only one of them")
        if job != "augment" and not in_markup:
            raise ConfigError(f"--rows: rows of {job} have no tags; leave it out")
        if options.rows != "all" and job == "augment":
            kinds = (options.rows,)
    return Selection(options.methods, kinds, options.sample, options.shuffle, options.seed)


def _say(done: Exported, wanted: int | None) -> int:
    for path in done.paths:
        terminal.say(path)
    out = f", {done.left_out} left out" if done.left_out else ""
    few = f", fewer than the {wanted} asked for" if done.rows < (wanted or 0) else ""
    terminal.say(f"{done.rows} rows{out}{few}")
    return 0
