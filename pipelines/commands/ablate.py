"""The command ``ablate``: trains the same small model on each variant of the data."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from pairweave.models.encoder.encoder_options import Device
from pairweave.pipelines.ablation.ablation_config import read_ablation, split_unit
from pairweave.pipelines.ablation.comparison import (
    REPORT,
    compare_arms,
    read_units,
    report_page,
    text_lines,
    write_results,
)
from pairweave.pipelines.ablation.machines import Machine
from pairweave.pipelines.ablation.prepared import Prepared, prepare
from pairweave.pipelines.ablation.units import make_unit, unit_path
from pairweave.pipelines.command_line.command_function import command
from pairweave.pipelines.options.base import Patterns
from pairweave.pipelines.process import terminal
from pairweave.transforms.counted import counted
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_places import FILE, OUTPUT_DIRECTORY
from pairweave.transforms.storage import disk_files, files


@command()
def main(
    *,
    config: Annotated[
        str, FILE, "YAML file with arms, seeds, test sets, metrics and the size of the models"
    ],
    output: Annotated[
        str,
        OUTPUT_DIRECTORY,
        Field(min_length=1),
        "directory of prepared pairs, finished units, results and report",
    ],
    only: Annotated[Patterns, "units to train, ARM/SEED (default: all that are not finished)"] = (),
    device: Annotated[
        Device,
        "cpu, cuda or cuda:N; auto: a GPU if there is one",
    ] = "auto",
    precision: Annotated[
        Literal["auto", "fp32", "bf16"],
        "arithmetic; auto: bf16 where the device is quicker with it",
    ] = "auto",
    merge_only: Annotated[
        bool, "train nothing; write results and report of finished units"
    ] = False,
) -> int:
    """Run an ablation from the command line."""
    ablation = read_ablation(config)
    chosen = [split_unit(word, ablation) for word in only] or ablation.units()
    if disk_files.is_uri(output):
        raise ConfigError(f"--output {output}: give a directory on a disk")
    machine = None if merge_only else Machine.find(device, precision)
    arms = {arm for arm, _ in chosen} if only else None
    prepared = prepare(ablation, Path(output), set() if merge_only else arms)
    if machine is not None:
        _train(prepared, chosen, machine)
    return _merge(prepared)


def _train(prepared: Prepared, chosen: Sequence[tuple[str, int]], machine: Machine) -> None:
    """Make the units in order, except those that another process is making."""
    for number, (arm, seed) in enumerate(chosen, 1):
        if unit_path(prepared.directory, arm, seed).exists():
            continue
        terminal.note(f"unit {number} of {len(chosen)}: {arm}/{seed} on {machine.kind}")
        if not make_unit(prepared, arm, seed, machine):
            terminal.note(f"{arm}/{seed}: another process is making it")


def _merge(prepared: Prepared) -> int:
    """Write results and report of the finished units, and name the missing units."""
    units = read_units(prepared)
    rows = write_results(prepared, units)
    wanted = prepared.ablation.units()
    missing = [f"{arm}/{seed}" for arm, seed in wanted if (arm, seed) not in units]
    terminal.say(
        f"{len(units)} of {counted(len(wanted), 'unit')} finished, {counted(len(rows), 'result')}"
    )
    if missing:
        terminal.say(f"not finished: {', '.join(missing)}")
    if units:
        tables = compare_arms(prepared, units)
        for line in text_lines(tables):
            terminal.say(line)
        place = str(prepared.directory / REPORT)
        files.write_bytes(place, report_page(prepared, units, tables, missing).encode())
        terminal.say(f"report: {place}")
    return 0
