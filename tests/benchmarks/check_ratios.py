"""Fails where a step has become slower beside another program in the same run.

``make bench-check``, or ``python -m tests.benchmarks.check_ratios [--rounds 5] [--write]``. Seconds
depend on the machine and on what else runs there; how many times as fast a step is as something
else, measured by turns in one process, hardly does. So the ratios are compared with those in
``ratios.json``. A step is compared with a peer (``make bench`` installs them; without them it is
left out) or with the plain-Python twin of its kernel, which tests use as an oracle.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.transforms.links.link_options import SymmetrizeConfig
from pairweave.transforms.links.symmetrize import symmetrize
from tests.benchmarks.aligner_peers import eflomal, fast_align, words, write_sides
from tests.makers.hmm_corpora import english_french, link_rows, tokens_table
from tests.makers.links import symmetrize_slowly
from tests.oracles.slow_hmm import windowed

RATIOS = Path(__file__).with_name("ratios.json")
"""The expected ratios by step, and the share by which a measured one may be lower."""

PAIRS = 3_000
"""Pairs to fit on and to align: the first news of the training text of ``bench_hmm.py``."""

SLOW_PAIRS = 20
"""Pairs of `SLOW_WORDS` words that the plain passes take."""

SLOW_WORDS = 10


@dataclass(frozen=True)
class Step:
    """Something of ours and something to compare it with.

    Attributes:
        name: What is measured, as in ``ratios.json``.
        ours: Runs ours and returns pairs per second of CPU time.
        other: The same of the other; None where it is not installed.
    """

    name: str
    ours: Callable[[], float]
    other: Callable[[], float | None]


def ratio_of(step: Step, rounds: int) -> float | None:
    """Return how many times as fast ours is, each at its best of some rounds by turns.

    Returns:
        None where the other is not installed.
    """
    best = [0.0, 0.0]
    for _ in range(rounds):
        other = step.other()
        if other is None:
            return None
        best = [max(best[0], step.ours()), max(best[1], other)]
    return best[0] / best[1]


def too_slow(
    measured: Mapping[str, float], expected: Mapping[str, float], margin: float
) -> list[str]:
    """Return a message for each step whose ratio is too low or is not expected at all.

    Args:
        measured: Ratios by step.
        expected: Those to compare with; steps that were not measured do not matter.
        margin: Share of the expected ratio by which a measured one may be lower.
    """
    messages = []
    for name, ratio in measured.items():
        if name not in expected:
            messages.append(f"{name}: measured {ratio:.3g}, no expected ratio in {RATIOS.name}")
        elif ratio < expected[name] * (1 - margin):
            messages.append(
                f"{name}: expected a ratio of {expected[name]:.3g}, measured {ratio:.3g}, which is "
                f"{100 * (1 - ratio / expected[name]):.0f} % slower (at most {100 * margin:.0f} %)"
            )
    return messages


def per_second(pairs: int, work: Callable[[], object]) -> float:
    """Run something once and return its pairs per second of CPU time."""
    start = time.process_time()
    work()
    return pairs / (time.process_time() - start)


def plain_passes() -> None:
    """Run the forward and backward passes of both directions in plain Python, for short pairs."""
    rng = np.random.default_rng(1)
    jumps, null = rng.random(129), [0.01] * SLOW_WORDS
    for _ in range(2 * SLOW_PAIRS):
        emission = rng.random((SLOW_WORDS, SLOW_WORDS)).tolist()
        windowed(emission, [0] * SLOW_WORDS, null, jumps, 0.1)


def steps(data: Path, directory: Path) -> list[Step]:
    """Return what is measured.

    Args:
        data: The folder of development data.
        directory: Where the peers' files are written.
    """
    table = tokens_table(english_french(data)[:PAIRS])
    model = fit(table, HmmConfig())  # compiles, too
    linked = model.align(table)
    config = SymmetrizeConfig(heuristic="grow-diag")
    symmetrize(linked, config)
    links = [link_rows(linked, direction) for direction in ("forward", "reverse")]
    write_sides(directory, words(table, "source"), words(table, "target"))

    def slowly() -> None:
        for forward, reverse in zip(*links, strict=True):
            symmetrize_slowly(forward, reverse, "grow-diag")

    def peer(key: str) -> float | None:
        result = fast_align(directory, 1, range(PAIRS))
        return None if result is None else PAIRS / result[key]

    def sampler() -> float | None:
        result = eflomal(directory)
        return None if result is None else PAIRS / result[2]

    def fitted() -> float:
        return per_second(PAIRS, lambda: fit(table, HmmConfig()))

    def aligned() -> float:
        return per_second(PAIRS, lambda: model.align(table))

    def plain() -> float:
        return per_second(SLOW_PAIRS, plain_passes)

    return [
        Step("fit beside plain passes", fitted, plain),
        Step("align beside plain passes", aligned, plain),
        Step(
            "grow-diag beside plain grow-diag",
            lambda: per_second(PAIRS, lambda: symmetrize(linked, config)),
            lambda: per_second(PAIRS, slowly),
        ),
        Step("fit beside fast_align", fitted, lambda: peer("training")),
        Step("fit beside eflomal", fitted, sampler),
        Step("align beside fast_align", aligned, lambda: peer("aligning")),
    ]


def main(arguments: list[str] | None = None) -> int:
    """Measure every step, and return 1 where one is too slow."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--write", action="store_true", help="write the measured ratios instead of comparing them"
    )
    chosen = parser.parse_args(arguments)
    data = Path(os.environ.get("PAIRWEAVE_DATA", "../shared/data"))
    if not data.is_dir():
        sys.exit(f"{data}: no such directory; PAIRWEAVE_DATA names the development data")
    known = json.loads(RATIOS.read_text(encoding="utf-8"))
    measured = {}
    with tempfile.TemporaryDirectory() as directory:
        for step in steps(data, Path(directory)):
            ratio = ratio_of(step, chosen.rounds)
            if ratio is not None:
                measured[step.name] = ratio
                print(f"{step.name}: {ratio:.3g}, expected {known['ratios'].get(step.name)}")
    if chosen.write:
        known["ratios"] |= {name: float(f"{ratio:.3g}") for name, ratio in measured.items()}
        RATIOS.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8", newline="\n")
        return 0
    messages = too_slow(measured, known["ratios"], known["margin"])
    print("\n".join(messages), file=sys.stderr)
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
