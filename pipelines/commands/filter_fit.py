"""The command ``filter_fit``: weights of the score of ``filter``, fitted on labelled pairs."""

import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from pairweave.pipelines.command_line.command_function import command
from pairweave.transforms.counted import counted
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.filtering.evidence import COLUMNS
from pairweave.transforms.filtering.score import fit_weights, score
from pairweave.transforms.metrics.ranking import area_under_curve
from pairweave.transforms.option_places import FILE, FINISHED_RUNS, OUTPUT_FILE
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.rejects import Reject
from pairweave.transforms.screen import ScreenReject
from pairweave.transforms.storage import files
from pairweave.transforms.storage.text_lines import read_text_lines
from pairweave.transforms.storage.whole_files import require_plain_name

_LABELS = {"1": True, "0": False}


@command()
def main(
    directory: Annotated[
        str, FINISHED_RUNS, "a run of filter --annotate_only on the labelled pairs"
    ],
    labels: Annotated[
        str, FILE, "a label for each line of the run's input: 1, a translation; 0, not"
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
    sys.stdout.write(
        f"{len(good)} of {len(labelled)} labelled pairs, {int(good.sum())} of them good; area "
        f"under the ROC curve {area:.4f} on the pairs fitted on; {output} is for "
        "filter --score_weights\n"
    )
    return 0


def check_folder(path: str) -> None:
    """Refuse a file in a folder that does not exist."""
    folder = Path(path).absolute().parent
    if not files.is_uri(path) and not folder.is_dir():
        raise ConfigError(
            f"--output {path}: there is no folder {folder}; make it, or check the name"
        )


def open_run(directory: str) -> FinishedRun:
    """Open a run of ``filter --annotate_only`` on one file.

    Raises:
        ConfigError: It is not such a run.
    """
    run = FinishedRun.open(directory)
    if not run.settings.get("annotate_only"):
        raise ConfigError(
            f"{directory}: is not a run of filter --annotate_only, which writes all pairs with "
            "the features of the score; label the input of such a run"
        )
    scorer = run.settings.get("scorer", "hmm")
    if scorer != "hmm":
        raise ConfigError(
            f"{directory}: was scored by --scorer {scorer}, whose score has no weights to fit; "
            "label the input of a run of --scorer hmm"
        )
    names = {entry["name"] for entry in run.manifest["inputs"] if entry["role"] != "target"}
    if len(names) != 1:
        raise ConfigError(
            f"{directory}: was made of {len(names)} files, so line numbers are ambiguous; run "
            "filter --annotate_only on one file, or one source file and one target file"
        )
    return run


def read_rows(run: FinishedRun) -> pa.Table:
    """Return the line numbers of a run's rows and the columns of the score's features.

    Pairs that the screen stops, and repetitions of a pair, are left out because their scores never
    count.
    """
    rows = pa.concat_tables(run.tables(["line", "reason", *COLUMNS]))
    stopped = pa.array([*map(str, ScreenReject), str(Reject.DUPLICATE)])
    scored = pc.is_valid(rows.column(COLUMNS[0]))
    return rows.filter(pc.and_(scored, pc.invert(pc.is_in(rows.column("reason"), stopped))))


def read_labels(path: str) -> np.ndarray:
    """Read labels, one per line: 1 for a good pair, 0 for a bad one.

    Returns:
        Booleans ``[line]``.

    Raises:
        ConfigError: A line contains something else.
    """
    labels = []
    for number, line in enumerate(read_text_lines(path), 1):
        label = _LABELS.get(line.strip())
        if label is None:
            raise ConfigError(
                f"{path} line {number}: {line.strip()[:40]!r} is not a label; write 1 for a pair "
                "that is a translation, 0 for any other"
            )
        labels.append(label)
    return np.array(labels, np.bool_)
