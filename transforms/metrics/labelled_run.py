"""Pairs with labels, good or bad, from which the weights of the score of ``filter`` are fitted."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.filtering.evidence import COLUMNS
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.rejects import Reject
from pairweave.transforms.screen import ScreenReject
from pairweave.transforms.storage.text_lines import read_text_lines

_LABELS = {"1": True, "0": False}


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
