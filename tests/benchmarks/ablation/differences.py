"""Differences of arms from the baseline, from kept units, as tables in Markdown.

usage: python -m tests.benchmarks.ablation.differences [--means] [CONFIG.yaml[:BASELINE] UNITS/]...

Measures the translations in the units again, so it needs the test sets that the configuration
names, and neither a model nor a prepared directory. Units of other start models must not be in one
directory. Prints a table for each test set: the difference of the means, its 95 % interval over
seeds, in bold if it is significant by both tests (`transforms.metrics.seed_comparison`). With
``--means``, the mean and the standard deviation of each arm instead.
"""

import gzip
import sys
from pathlib import Path
from types import SimpleNamespace

import orjson

from pairweave.pipelines.ablation.ablation_config import read_ablation
from pairweave.pipelines.ablation.comparison import compare_arms
from pairweave.pipelines.ablation.tasks import task_of


def read_units(directory, tests):
    """Return the units of a directory by arm and seed, refusing those of several start models."""
    units, starts = {}, set()
    for file in sorted(Path(directory).glob("*.json.gz")):
        unit = orjson.loads(gzip.decompress(file.read_bytes()))
        if tests <= set(unit["translations"]):
            units[unit["arm"], unit["seed"]] = unit
            starts.add(unit["start_weights"])
    if len(starts) > 1:
        raise SystemExit(f"{directory}: units of {len(starts)} start models")
    return units


def tables(config, directory, cell, kind):
    """Yield the lines of the tables of one ablation, given the text of a cell for a row."""
    path, _, baseline = config.partition(":")
    ablation = read_ablation(path)
    if baseline:
        ablation = ablation.model_copy(update={"baseline": baseline})
    task = task_of(ablation)
    tests = {name: task.read_test(name, files, name) for name, files in ablation.tests.items()}
    rows = compare_arms(
        SimpleNamespace(ablation=ablation, tests=tests), read_units(directory, set(tests))
    )
    for name in tests:
        of_test = [row for row in rows if row.test == name and cell(row)]
        metrics = list(dict.fromkeys(row.metric for row in of_test))
        yield f"`{Path(path).name}`, test set `{name}`, {kind} `{ablation.baseline}`:"
        yield ""
        yield f"| | {' | '.join(metrics)} |"
        yield f"| --- |{' ---: |' * len(metrics)}"
        for arm in dict.fromkeys(row.arm for row in of_test):
            cells = {row.metric: cell(row) for row in of_test if row.arm == arm}
            yield f"| `{arm}` | {' | '.join(cells.get(metric, '') for metric in metrics)} |"
        yield ""


def difference_of(row):
    """Return the difference of a row from the baseline and its interval; none for the baseline."""
    difference = row.difference
    if difference is None:
        return ""
    if difference.margin is None:
        return f"{difference.mean:+.1f} (one seed)".replace("-", "\N{MINUS SIGN}")
    low, high = difference.mean - difference.margin, difference.mean + difference.margin
    text = f"{difference.mean:+.1f} ({low:+.1f} to {high:+.1f})".replace("-", "\N{MINUS SIGN}")
    return f"**{text}**" if difference.is_significant else text


def mean_of(row):
    """Return the mean of a row and its deviation."""
    mean = f"{row.spread.mean:.1f}"
    if row.difference is not None and row.difference.is_significant:
        mean = f"**{mean}**"
    return mean if row.spread.deviation is None else f"{mean} ± {row.spread.deviation:.1f}"


def main(*words):
    """Print the tables."""
    cell, kind = difference_of, "differences from"
    if words[0] == "--means":
        cell, kind, words = mean_of, "means, beside", words[1:]
    for config, directory in zip(words[::2], words[1::2], strict=True):
        print(*tables(config, directory, cell, kind), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
