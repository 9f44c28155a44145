"""The command ``filter_fit``: weights of the score of ``filter``, fitted on labelled pairs."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from pairweave.pipelines.command_line.command_function import command
from pairweave.pipelines.process import terminal
from pairweave.transforms.counted import counted
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.filtering.evidence import COLUMNS
from pairweave.transforms.filtering.score import fit_weights, score
from pairweave.transforms.metrics.labelled_run import open_run, read_labels, read_rows
from pairweave.transforms.metrics.ranking import area_under_curve
from pairweave.transforms.option_places import FILE, FINISHED_RUNS, OUTPUT_FILE
from pairweave.transforms.storage import files
from pairweave.transforms.storage.whole_files import require_plain_name


@command()
def main(
    directory: Annotated[
        str, FINISHED_RUNS, "a run of filter --annotate_only on the labelled pairs"
    ],
    labels: Annotated[
        str,
        FILE,
        "a label for each line of the run's input: 1 for a translation, 0 for anything else",
    ],
    *,
    output: Annotated[
        str, OUTPUT_FILE, Field(min_length=1), "file for the weights, for filter --score_weights"
    ],
) -> int:
    """Fit weights from the command line."""
    check_folder(output)
    require_plain_name(output, "a file of weights")
    run = open_run(directory)
    rows = read_rows(run)
    labelled = read_labels(labels)
    read = run.manifest["rows"]["read"]
    if read != len(labelled):
        raise ConfigError(
            f"{labels}: has {counted(len(labelled), 'label')}, but {directory} was made of "
            f"{counted(read, 'line')}; give one label for each line of the input"
        )
    lines = rows.column("line").to_numpy()
    if len(lines) and lines.max() > read:
        raise ConfigError(
            f"{directory}: has {read} pairs, one of line {lines.max()}, so lines are not pairs; "
            "run filter --annotate_only on line-parallel text or on TSV"
        )
    good = labelled[lines - 1]
    values = {column: rows.column(column).to_numpy() for column in COLUMNS}
    weights = fit_weights(values, good)
    files.write_alone(output, weights.to_json())
    area = area_under_curve(score(values, weights), good)
    terminal.say(
        f"{len(good)} of {len(labelled)} labelled pairs, {int(good.sum())} of them good; area "
        f"under the ROC curve {area:.4f} on the pairs fitted on; {output} is for "
        "filter --score_weights"
    )
    return 0


def check_folder(path: str) -> None:
    """Refuse a file in a folder that does not exist."""
    folder = Path(path).absolute().parent
    if not files.is_uri(path) and not folder.is_dir():
        raise ConfigError(
            f"--output {path}: there is no folder {folder}; make it, or check the name"
        )
