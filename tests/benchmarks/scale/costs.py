"""Hours and money of a run: from measured rates, an assumed GPU and list prices.

``python tests/benchmarks/scale/costs.py`` prints the table of `README.md`; ``--pairs`` and
``--costs FILE`` take other sizes, rates and prices. Storage, traffic, disks and the
launcher are not in it: they are small beside the machines, except where regions differ.
"""

import argparse
import dataclasses
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.shards.shuffle import DIRECT_SHARDS

COSTS = Path(__file__).with_name("costs.yaml")
SIZES = (10_000_000, 1_000_000_000, 10_000_000_000)
HOUR = 3600
GIB = 1 << 30

KEYS = {
    "measured": {
        "date",
        "pairs_per_core_second",
        "text_bytes_per_pair",
        "plan_bytes_per_second",
        "shuffle_bytes_per_pair",
        "shuffle_bytes_per_pair_twice",
    },
    "assumed": {"pairs_per_gpu_second", "start_minutes", "busy_share"},
    "prices": {"date", "core_hour", "memory_gib_hour", "gpu_hour", "shuffle_gib"},
    "run": {"shard_pairs", "workers_cores", "memory_gib_per_core", "gpus"},
}


@dataclasses.dataclass(frozen=True)
class Cost:
    """What a run takes.

    Attributes:
        pairs: Its pairs.
        shards: Its shards.
        cores: Cores that work at once; with fewer shards, fewer.
        core_hours: Hours of cores that are paid for.
        shuffle_gib: What is shuffled.
        plan_hours: Hours in which the launcher reads the input to plan.
        hours: Hours from the command to the manifest, these included.
        dollars: Cores, memory and shuffle, and GPUs if there are any.
        gpus: GPUs; 0 for the statistical aligner.
    """

    pairs: int
    shards: int
    cores: int
    core_hours: float
    shuffle_gib: float
    plan_hours: float
    hours: float
    dollars: float
    gpus: int = 0


def read_costs(path: Path) -> dict[str, Any]:
    """Read rates and prices.

    Raises:
        ConfigError: A key is missing or unknown, or a number is not above 0.
    """
    result = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(result, dict) or set(result) != set(KEYS):
        raise ConfigError(f"{path}: expected the keys {', '.join(KEYS)}")
    for part, names in KEYS.items():
        if set(result[part]) != names:
            raise ConfigError(f"{path}: {part}: expected the keys {', '.join(sorted(names))}")
        for name in names - {"date"}:
            value = result[part][name]
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise ConfigError(f"{path}: {part}.{name}: expected a number above 0")
    if result["assumed"]["busy_share"] > 1:
        raise ConfigError(f"{path}: assumed.busy_share: expected 1 or less")
    return result


def cost_of(pairs: int, costs: dict[str, Any], *, encoder: bool = False) -> Cost:
    """Return what a run takes, with the statistical aligner or with an encoder on GPUs.

    With an encoder, cores read, screen, shuffle and write at the rate of the whole job, and GPUs
    align beside them: the slower of both decides how long it takes.
    """
    measured, assumed, prices, run = (costs[name] for name in KEYS)
    shards = math.ceil(pairs / run["shard_pairs"])
    cores = min(run["workers_cores"], shards)
    busy_core_hours = pairs / measured["pairs_per_core_second"] / HOUR
    core_hours = busy_core_hours / assumed["busy_share"]
    twice = shards > DIRECT_SHARDS
    each = measured["shuffle_bytes_per_pair_twice" if twice else "shuffle_bytes_per_pair"]
    shuffle_gib = pairs * each / GIB
    plan_hours = pairs * measured["text_bytes_per_pair"] / measured["plan_bytes_per_second"] / HOUR
    hours = core_hours / cores
    gpus, gpu_hours = 0, 0.0
    if encoder:
        gpus = min(run["gpus"], shards)
        gpu_hours = pairs / assumed["pairs_per_gpu_second"] / HOUR / assumed["busy_share"]
        hours = max(hours, gpu_hours / gpus)
    hours += plan_hours + assumed["start_minutes"] / 60
    core_price = prices["core_hour"] + run["memory_gib_per_core"] * prices["memory_gib_hour"]
    dollars = core_hours * core_price + shuffle_gib * prices["shuffle_gib"]
    dollars += gpu_hours * prices["gpu_hour"]
    return Cost(pairs, shards, cores, core_hours, shuffle_gib, plan_hours, hours, dollars, gpus)


def rounded(value: float) -> str:
    """Write a number with two digits that count, which is more than the model knows.

    >>> rounded(0.0123), rounded(27.4), rounded(1249)
    ('0.012', '27', '1,200')
    """
    if not value:
        return "0"
    digits = 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, digits):,.{max(0, digits)}f}"


def table(sizes: Sequence[int], costs: dict[str, Any]) -> str:
    """Return the table as Markdown."""
    lines = [
        "| pairs | aligner | shards | cores | GPUs | core hours | shuffled, GiB | hours to plan "
        "| hours | US$ |",
        "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for pairs in sizes:
        for encoder in (False, True):
            cost = cost_of(pairs, costs, encoder=encoder)
            aligner = "encoder (assumed rate)" if encoder else "`hmm`"
            shown = [f"{cost.pairs:,}", aligner, f"{cost.shards:,}", str(cost.cores)]
            shown += [str(cost.gpus), rounded(cost.core_hours), rounded(cost.shuffle_gib)]
            shown += [rounded(cost.plan_hours), rounded(cost.hours), rounded(cost.dollars)]
            lines.append(f"| {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Hours and money of runs.")
    parser.add_argument("--pairs", type=int, nargs="+", default=SIZES, help="sizes of runs")
    parser.add_argument("--costs", type=Path, default=COSTS, help="rates and prices, in YAML")
    given = parser.parse_args(arguments)
    try:
        if min(given.pairs) < 1:
            raise ConfigError("--pairs: expected 1 or more")
        sys.stdout.write(table(given.pairs, read_costs(given.costs)))
    except ConfigError as error:
        sys.stderr.write(f"costs.py: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
