"""The command ``export``: a finished run's rows as the files that trainers read."""

import sys
from collections.abc import Sequence
from typing import cast

from pipelines import export_markup, finished, flags
from pipelines.cli import COMMANDS
from pipelines.command_options import ExportOptions
from transforms.errors import ConfigError
from transforms.export import Exported, ExportFormat, export


def main(name: str, arguments: Sequence[str]) -> int:
    """Export a run from the command line."""
    options, _ = flags.parse(
        ExportOptions, f"pairweave {name}", COMMANDS[name].about, arguments, beam=False
    )
    found = finished.open_manifest(options.directory)
    run = finished.run_of(f"{options.output.rstrip('/')}/file")
    if run is not None:
        raise ConfigError(
            f"{options.output} lies in the run {run}, which stays as its manifest says; "
            "give another directory: --output DIR"
        )
    if options.format in export_markup.FORMATS:
        done = export_markup.export_markup(
            options.directory,
            options.format,
            options.output,
            options.rows,
            options.unfit,
            options.inline_syntax,
        )
        return _say(done)
    form = cast("ExportFormat", options.format)
    if options.rows is not None:
        raise ConfigError(f"--rows: {form} holds them all; leave it out")
    if options.inline_syntax is not None:
        raise ConfigError(f"--inline_syntax: {form} has the tags of the run; leave it out")
    return _say(export(options.directory, found, form, options.output, options.unfit))


def _say(done: Exported) -> int:
    for path in done.paths:
        sys.stdout.write(f"{path}\n")
    out = f", {done.left_out} left out" if done.left_out else ""
    sys.stdout.write(f"{done.rows} rows{out}\n")
    return 0
