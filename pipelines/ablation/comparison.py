"""Finished units merged into the table: means, spread over seeds, differences from the baseline."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import orjson

from pairweave.models.translation.translation_config import CURVE_STEPS
from pairweave.pipelines.ablation.ablation_files import FinishedUnit, read_packed
from pairweave.pipelines.ablation.arm_data import first_pairs
from pairweave.pipelines.ablation.prepared import Prepared
from pairweave.pipelines.ablation.tasks import task_of
from pairweave.pipelines.ablation.units import check_unit, scores, unit_path
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.markup.markup import INDEXED, parse_markup
from pairweave.transforms.metrics.measured import Measured
from pairweave.transforms.metrics.seed_comparison import (
    Difference,
    Spread,
    compare_seeds,
    spread,
)
from pairweave.transforms.metrics.significance_options import Significance
from pairweave.transforms.report import ablation_page
from pairweave.transforms.storage import files
from pairweave.transforms.text_columns import text_columns

REPORT = "report.html"

SIGNIFICANCE = Significance(resamples=1, trials=2_000, seed=12345)
"""The draws of the significance tests; only the draws over segments are used."""

SHOWN = 8
"""Segments of each test set that the report shows, most of them with tags."""

Units = Mapping[tuple[str, int], dict[str, Any]]

_COLUMNS = ("arm", "seeds", "mean", "deviation", "difference", "95 % interval", "p", "")


@dataclasses.dataclass(frozen=True)
class Row:
    """One metric of an arm on a test set.

    Attributes:
        test: The test set.
        metric: The metric, with its usual name.
        arm: The arm.
        spread: The values of the metric over the seeds.
        difference: Difference from the baseline; None for the baseline itself, or if the two have
            no seed in common.
        signature: The line with everything that determines the values.
    """

    test: str
    metric: str
    arm: str
    spread: Spread
    difference: Difference | None
    signature: str

    def cells(self) -> dict[str, str]:
        """Return the cells of the row in a table, by column."""
        cells = dict.fromkeys(_COLUMNS, "")
        cells["arm"], cells["seeds"] = self.arm, str(self.spread.seeds)
        cells["mean"] = f"{self.spread.mean:.2f}"
        if self.spread.deviation is not None:
            cells["deviation"] = f"{self.spread.deviation:.2f}"
        difference = self.difference
        if difference is not None:
            cells["difference"] = f"{difference.mean:+.2f}"
            if difference.margin is not None:
                low, high = difference.mean - difference.margin, difference.mean + difference.margin
                cells["95 % interval"] = f"{low:+.2f} to {high:+.2f}"
            cells["p"] = f"{difference.p:.4f}"
            cells[""] = "*" if difference.is_significant else ""
        return cells


def compare_arms(prepared: Prepared, units: Units) -> list[Row]:
    """Return the rows of the table, by test set, metric and arm in the configuration's order."""
    ablation, rows = prepared.ablation, []
    for name, test in prepared.tests.items():
        by_metric: dict[str, dict[str, dict[int, Measured]]] = {}
        for (arm, seed), unit in units.items():
            measured = task_of(ablation).measure(ablation, test, unit["translations"][name])
            for metric, one in measured.items():
                by_metric.setdefault(metric, {}).setdefault(arm, {})[seed] = one
        for metric in (one for one in ablation.used_metrics if one in by_metric):
            sums = {
                arm: {seed: one.sums for seed, one in by_seed.items()}
                for arm, by_seed in by_metric[metric].items()
            }
            for arm, by_seed in by_metric[metric].items():
                difference = None
                if arm != ablation.baseline and ablation.baseline in sums:
                    difference = compare_seeds(sums[arm], sums[ablation.baseline], SIGNIFICANCE)
                values = spread({seed: one.value for seed, one in by_seed.items()})
                signature = next(iter(by_seed.values())).signature
                title = ablation.known_metrics[metric].title
                rows.append(Row(name, title, arm, values, difference, signature))
    return rows


def text_lines(rows: Sequence[Row]) -> list[str]:
    """Return the table for a terminal."""
    table = text_columns([_COLUMNS, *(tuple(row.cells().values()) for row in rows)])
    head, *shown = [f"  {line}".rstrip() for line in table]
    lines, last = [], None
    for row, line in zip(rows, shown, strict=True):
        if (row.test, row.metric) != last:
            last = row.test, row.metric
            lines += [f"{row.test}: {row.metric}", head]
        lines.append(line)
    return lines


def report_page(
    prepared: Prepared, units: Units, rows: Sequence[Row], missing: Sequence[str]
) -> str:
    """Return the report."""
    return ablation_page.render(
        _facts(prepared, units),
        [_table(name, rows) for name in prepared.tests],
        _curves(prepared, units),
        CURVE_STEPS,
        _sentences(prepared, units),
        {row.metric: row.signature for row in rows},
        missing,
    )


def _table(name: str, rows: Sequence[Row]) -> ablation_page.ResultTable:
    shown = [{"metric": row.metric, **row.cells()} for row in rows if row.test == name]
    kinds = [(column, "text" if column in ("arm", "") else "number") for column in _COLUMNS]
    kinds[-1] = ("significant", "text")
    for cells in shown:
        cells["significant"] = cells.pop("")
    return ablation_page.ResultTable(name, [("metric", "text"), *kinds], shown)


def _facts(prepared: Prepared, units: Units) -> dict[str, str]:
    first = next(iter(units.values()))
    model = prepared.ablation.model
    packages = {
        ", ".join(f"{name} {version}" for name, version in unit["packages"].items()): None
        for unit in units.values()
    }
    hours = sum(unit["run"]["seconds"] for unit in units.values()) / 3600
    return {
        "baseline": prepared.ablation.baseline,
        "device": first["device"],
        "packages": "; ".join(packages),
        "size": ", ".join(f"{name} {value}" for name, value in model.model_dump().items()),
        "vocabulary": prepared.vocabulary_digest,
        "pairs": ", ".join(
            f"{arm} {' then '.join(f'{count:,}' for count in first_pairs(about))}"
            for arm, about in prepared.arms.items()
        ),
        "hours of the units": f"{hours:.2f}",
    }


def _curves(prepared: Prepared, units: Units) -> dict[str, dict[str, list[float]]]:
    """Return the mean losses of each arm."""
    curves: dict[str, dict[str, list[float]]] = {}
    for arm in prepared.ablation.arms:
        own = [unit["losses"] for (name, _), unit in units.items() if name == arm]
        curves[arm] = {
            kind: np.mean([losses[kind] for losses in own], axis=0).tolist() if own else []
            for kind in ("train", "dev")
        }
    return curves


def _sentences(prepared: Prepared, units: Units) -> dict[str, list[ablation_page.Sentence]]:
    """Return some segments of each test set, as each arm translates them with the first seed."""
    arms = list(dict.fromkeys(arm for arm, _ in units))
    seeds = [seed for seed in prepared.ablation.seeds if all((arm, seed) in units for arm in arms)]
    if not seeds:
        return {}
    shown = {}
    for name, test in prepared.tests.items():
        tagged = [at for at, text in enumerate(test.sources) if parse_markup(text, INDEXED).tags]
        others = [at for at in range(len(test.sources)) if at not in set(tagged)]
        chosen = [*tagged[: SHOWN - 2], *others][:SHOWN]
        shown[name] = [
            ablation_page.Sentence(
                test.sources[at],
                test.references[at],
                {arm: units[arm, seeds[0]]["translations"][name][at] for arm in arms},
            )
            for at in chosen
        ]
    return shown


RESULTS = "results.jsonl"


def read_units(prepared: Prepared) -> dict[tuple[str, int], dict[str, Any]]:
    """Return the finished units of the configuration, in its order.

    Raises:
        ConfigError: A unit does not belong to the directory (`units.check_unit`), was made on
            another kind of device or by another version than the others, or has another number of
            losses.
    """
    units: dict[tuple[str, int], dict[str, Any]] = {}
    for arm, seed in prepared.ablation.units():
        path = unit_path(prepared.directory, arm, seed)
        if arm not in prepared.arms or not path.exists():
            continue
        unit = read_packed(path)
        check_unit(unit, prepared, arm, path)
        if (unit["arm"], unit["seed"]) != (arm, seed):
            raise ConfigError(f"{path}: belongs to the unit {unit['arm']}/{unit['seed']}")
        first = next(iter(units.values()), unit)
        if first["device"] != unit["device"]:
            raise ConfigError(
                f"{path}: was trained on {unit['device']}, but {first['arm']}-{first['seed']} "
                f"on {first['device']}, so they cannot be compared; train all units on one "
                "kind of device, each table in a directory of its own"
            )
        if first["start_weights"] != unit["start_weights"]:
            raise ConfigError(
                f"{path}: started from other weights than {first['arm']}-{first['seed']}, so "
                "they cannot be compared; copy the directory with its start/ to every machine"
            )
        if first.get("version") != unit.get("version"):
            raise ConfigError(
                f"{path}: was trained by another version of pairweave than "
                f"{first['arm']}-{first['seed']}, which trains other weights, so they cannot "
                "be compared; delete the older of them to train it again"
            )
        if _points(first) != _points(unit):
            raise ConfigError(
                f"{path}: losses: has another number of points than the curve of "
                f"{first['arm']}-{first['seed']}; {FinishedUnit.ADVICE}"
            )
        units[arm, seed] = unit
    return units


def _points(unit: dict[str, Any]) -> list[int]:
    return [len(unit["losses"][kind]) for kind in ("train", "dev")]


def write_results(
    prepared: Prepared, units: dict[tuple[str, int], dict[str, Any]]
) -> list[dict[str, Any]]:
    """Write a line for each arm, seed, test set and metric, and return them."""
    rows = []
    for (arm, seed), unit in units.items():
        known = unit["scores"]
        asked = {row["metric"] for row in known}
        if not set(prepared.ablation.used_metrics) <= asked:  # metrics were added
            known = scores(prepared, unit["translations"])
        rows += [
            {"arm": arm, "seed": seed, **row}
            for row in known
            if row["metric"] in prepared.ablation.used_metrics
        ]
    data = b"".join(orjson.dumps(row) + b"\n" for row in rows)
    files.write_bytes(str(prepared.directory / RESULTS), data)
    return rows
