"""Merging finished units into one table."""

from typing import Any

import orjson

from pairweave.pipelines.ablation.ablation_files import FinishedUnit
from pairweave.pipelines.ablation.prepared import Prepared, read_packed
from pairweave.pipelines.ablation.units import check_unit, scores, unit_path
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import files

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
