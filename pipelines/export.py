"""The command ``export``: a finished run's rows as the files that trainers read."""

import sys
from collections.abc import Sequence

from pipelines import export_markup, finished, flags
from pipelines.cli import COMMANDS
from pipelines.command_options import ExportOptions
from transforms.errors import ConfigError
from transforms.export import export


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
    form = options.format
    if form == "tmx" or form == "xliff" or form == "xliff2":
        path = f"{options.output.rstrip('/')}/pairs.{export_markup.SUFFIXES[form]}"
        rows = export_markup.export_markup(options.directory, form, path, options.rows)
        sys.stdout.write(f"{path}\n{rows} rows\n")
        return 0
    if options.rows is not None:
        raise ConfigError(f"--rows: {form} holds them all; leave it out")
    done = export(options.directory, found, form, options.output, options.unfit)
    for path in done.paths:
        sys.stdout.write(f"{path}\n")
    out = f", {done.left_out} left out" if done.left_out else ""
    sys.stdout.write(f"{done.rows} rows{out}\n")
    return 0
