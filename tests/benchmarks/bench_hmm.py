"""The statistical aligner: error, fit and alignment speed, beside eflomal and fast_align.

fast_align is measured by systran-align, its library form. CPU seconds, one core each.
"""

import importlib.util
import os
import resource
import subprocess
import time
from pathlib import Path

import pyarrow as pa
import pytest

from models.hmm import HmmConfig, fit
from tests.links import symmetrize_slowly
from tests.models.corpora import (
    english_french,
    error_rate,
    gold_pairs,
    link_rows,
    plain_table,
    tokens_table,
)

ROOT = Path(__file__).resolve().parents[2]
HEURISTICS = ("intersection", "grow-diag", "grow-diag-final-and", "union")

pytestmark = pytest.mark.bench


def errors(forward, reverse, gold):
    """Return the error rate in percent by heuristic."""
    return {
        heuristic: error_rate(
            [
                set(symmetrize_slowly(one, other, heuristic))
                for one, other in zip(forward, reverse, strict=True)
            ],
            gold,
        )
        for heuristic in HEURISTICS
    }


def show(name, rates):
    print(f"{name:34}", *(f"{heuristic} {rate:6.2f} %" for heuristic, rate in rates.items()))


def words(table, side):
    """Return the lowercased words of each pair."""
    texts, tokens = table[side].to_pylist(), table[f"{side}_tokens"].to_pylist()
    return [
        [text[span["start"] : span["end"]].lower() for span in spans]
        for text, spans in zip(texts, tokens, strict=True)
    ]


def ours(table):
    """Return links of our own, and CPU seconds of the fit."""
    start = time.process_time()
    model = fit(table, HmmConfig())
    return model, time.process_time() - start


def eflomal(directory, source, target):
    """Return eflomal's links in both directions and its CPU seconds, or None where it is not."""
    python = Path(os.environ.get("PAIRWEAVE_PEERS", ROOT / ".peers")) / "bin" / "python"
    script = (
        "import sys; from eflomal import Aligner; a = Aligner(); d = sys.argv[1]; "
        "a.align(open(d + '/s'), open(d + '/t'), d + '/f', d + '/r')"
    )
    if not python.exists():
        return None
    for name, lines in (("s", source), ("t", target)):
        text = "".join(" ".join(line) + "\n" for line in lines)
        (directory / name).write_text(text, encoding="utf-8")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [python, "-c", script, directory],
        env={"OMP_NUM_THREADS": "1", "PATH": os.environ["PATH"]},
        capture_output=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        print(f"eflomal could not run: {done.stderr.decode()[-200:]}")
        return None
    links = [
        [[tuple(map(int, link.split("-"))) for link in line.split()] for line in lines]
        for lines in ((directory / name).read_text().splitlines() for name in "fr")
    ]
    return *links, after.ru_utime - before.ru_utime


def fast_align(directory, source, target):
    """Return a function of sentences to links, and CPU seconds of the training, or None."""
    if importlib.util.find_spec("systran_align") is None:
        return None
    import systran_align

    joined = directory / "joined"
    lines = (
        " ".join(one) + " ||| " + " ".join(other) for one, other in zip(source, target, strict=True)
    )
    joined.write_text("\n".join(lines) + "\n", encoding="utf-8")
    paths = str(directory / "forward"), str(directory / "reverse")
    start = time.process_time()
    systran_align.generate_alignment_probabilities(
        str(joined), *paths, favor_diagonal=True, optimize_tension=True, variational_bayes=True
    )
    seconds = time.process_time() - start
    return systran_align.Aligner(*paths), seconds


@pytest.mark.parametrize("name", ["roen", "enfr"])
def test_error_and_speed(shared_data, tmp_path, name):
    pairs, gold = gold_pairs(shared_data, name)
    test = plain_table(pairs)
    train = tokens_table(english_french(shared_data)) if name == "enfr" else None
    table = pa.concat_tables([test, train]) if train is not None else test
    fit(test.slice(0, 9), HmmConfig()).align(test.slice(0, 9))  # compile
    size = table.num_rows
    print(f"\n{name}: {size:,} pairs, {len(gold)} with gold links")
    model, seconds = ours(table)
    made = model.align(test)
    show(
        "hmm, test text in the fit",
        errors(*(link_rows(made, c) for c in ("forward", "reverse")), gold),
    )
    print(f"hmm fit: {seconds:.1f} s cpu, {size / seconds:,.0f} pairs/s")
    if train is not None:
        after = ours(train)[0].align(test)
        show(
            "hmm, test text aligned afterwards",
            errors(*(link_rows(after, c) for c in ("forward", "reverse")), gold),
        )
        new = train.slice(0, 20_000)
        start = time.process_time()
        model.align(new)
        seconds = time.process_time() - start
        count = sum(map(len, words(new, "source"))) / new.num_rows
        print(f"hmm align: {new.num_rows / seconds:,.0f} pairs/s of {count:.1f} source words")
    source, target = words(table, "source"), words(table, "target")
    found = eflomal(tmp_path, source, target)
    if found is not None:
        show("eflomal", errors(found[0][: len(gold)], found[1][: len(gold)], gold))
        print(f"eflomal: {found[2]:.1f} s cpu, {size / found[2]:,.0f} pairs/s")
    peer = fast_align(tmp_path, source, target)
    if peer is not None:
        aligner, seconds = peer
        links = [
            set(aligner.align(one, other)["alignments"])
            for one, other in zip(source[: len(gold)], target[: len(gold)], strict=True)
        ]
        print(f"fast_align: {error_rate(links, gold):.2f} %, own joint links")
        print(f"fast_align training: {seconds:.1f} s cpu, {size / seconds:,.0f} pairs/s")
        some = slice(len(gold), len(gold) + 20_000) if train is not None else slice(None)
        start = time.process_time()
        aligner.align_batch(source[some], target[some])
        seconds = time.process_time() - start
        print(f"fast_align align: {len(source[some]) / seconds:,.0f} pairs/s")
    best = min(errors(*(link_rows(made, c) for c in ("forward", "reverse")), gold).values())
    assert best < {"enfr": 7.5, "roen": 33.0}[name]
