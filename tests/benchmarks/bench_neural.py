"""The neural aligner beside awesome-align's own code and SimAlign, on the same random weights.

    pytest -m bench -n 0 -s tests/benchmarks/bench_neural.py

A 12x768 encoder, layer 8, real news sentences, one CPU thread; loading is left out. `BENCH_PAIRS`
sets the number of pairs (2,000), `BENCH_PEER_PAIRS` that of SimAlign, which takes one pair at a
time (200).
"""

import itertools
import os
import time

import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

from models.encoder_config import EncoderConfig, HeadConfig  # noqa: E402
from models.neural import load_aligner  # noqa: E402
from tests.awesome import AwesomeAlign  # noqa: E402
from tests.encoders import both_directions, real_pairs, token_table, write_bert  # noqa: E402

pytestmark = pytest.mark.bench

PAIRS = int(os.environ.get("BENCH_PAIRS", "2000"))
PEER_PAIRS = int(os.environ.get("BENCH_PEER_PAIRS", "200"))


def timed(label, pairs, work, found):
    """Run once and print pairs/s of CPU time and of real time."""
    processor, clock = time.process_time(), time.perf_counter()
    result = work()
    processor, clock = time.process_time() - processor, time.perf_counter() - clock
    found[label] = pairs / processor
    print(f"{label:24} {pairs / processor:8.2f} pairs/s cpu {pairs / clock:8.2f} wall", flush=True)
    return result


def test_pairs_a_second_beside_the_peers(shared_data, tmp_path):
    torch.set_num_threads(1)
    texts = list(itertools.chain(*real_pairs(shared_data, count=20_000)))
    directory = write_bert(
        tmp_path / "bert", texts, layers=12, hidden=768, heads=12, vocabulary=30_000
    )
    pairs = real_pairs(shared_data, count=PAIRS, skip=3000)
    table = token_table(pairs)
    found = {}
    print(f"\n{PAIRS} pairs, torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}")

    links = {}
    for precision in ("fp32", "bf16", "int8"):
        config = EncoderConfig(str(directory), layer=8, precision=precision, device="cpu")
        aligner = load_aligner(config)
        aligner.align(table.slice(0, 2))
        made = timed(precision, PAIRS, lambda aligner=aligner: aligner.align(table), found)
        links[precision] = both_directions(made)

    awesome = AwesomeAlign(directory)
    expected = timed("awesome-align", PAIRS, lambda: awesome.links(pairs, 8, "softmax"), found)
    for precision, made in links.items():
        same = sum(map(set.__eq__, made, expected))
        print(
            f"{precision}: {found[precision] / found['awesome-align']:.2f}x; {same} of {PAIRS} same"
        )
    # A link whose probability is next to the threshold may fall to either side of it.
    assert sum(map(set.__eq__, links["fp32"], expected)) >= 0.998 * PAIRS
    assert found["fp32"] > 2 * found["awesome-align"]

    simalign = pytest.importorskip("simalign", reason="needs simalign, see tests/oracles.txt")
    peer = simalign.SentenceAligner(model=str(directory), matching_methods="a", layer=8)
    few = table.slice(0, PEER_PAIRS)
    aligner = load_aligner(
        EncoderConfig(str(directory), layer=8, head=HeadConfig("argmax"), device="cpu")
    )
    made = timed("fp32 argmax", few.num_rows, lambda: aligner.align(few), found)
    expected = timed(
        "simalign argmax",
        few.num_rows,
        lambda: [set(peer.get_word_aligns(*pair)["inter"]) for pair in pairs[:PEER_PAIRS]],
        found,
    )
    same = sum(map(set.__eq__, both_directions(made), expected))
    ratio = found["fp32 argmax"] / found["simalign argmax"]
    print(f"argmax: {ratio:.2f}x; {same} of {few.num_rows} same")
