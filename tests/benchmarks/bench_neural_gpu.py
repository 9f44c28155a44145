"""The neural aligner on a GPU beside awesome-align's own code at its batch of 32, same weights.

    PYTHONPATH=.oracles pytest -m "bench and gpu" -n 0 -s tests/benchmarks/bench_neural_gpu.py

An encoder of mBERT's size (12 layers of 768, 119,547 pieces, random weights), layer 8, real news
sentences; loading is left out. For each precision: pairs/s of two runs, the greatest memory, how
busy the GPU was, and the digest of the links, which must be the same twice. `BENCH_PAIRS` sets the
number of pairs (32,768), `BENCH_PEER_PAIRS` that of the peer (4,096), `BENCH_DEVICE` the device:
`cpu` with few pairs goes the same way where there is no GPU.
"""

import hashlib
import itertools
import os
import shutil
import statistics
import subprocess
import threading
import time

import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

from pairweave.models.encoder.encoder_config import EncoderConfig  # noqa: E402
from pairweave.models.encoder.neural import load_aligner  # noqa: E402
from tests.makers.awesome import AwesomeAlign  # noqa: E402
from tests.makers.encoders import both_directions, write_bert  # noqa: E402
from tests.makers.real_pairs import real_pairs  # noqa: E402
from tests.makers.token_tables import token_table  # noqa: E402

pytestmark = [pytest.mark.bench, pytest.mark.gpu]

PAIRS = int(os.environ.get("BENCH_PAIRS", "32768"))
PEER_PAIRS = int(os.environ.get("BENCH_PEER_PAIRS", "4096"))
DEVICE = os.environ.get("BENCH_DEVICE", "cuda")
SIZE = {"layers": 12, "hidden": 768, "heads": 12, "pieces": 119_547}


class Usage:
    """Asks nvidia-smi once in 0.2 s how busy the GPU is, while a block of code runs."""

    def __init__(self, device):
        """Start nothing yet."""
        self.device = torch.device(device)
        self.percent = []
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._ask, daemon=True)

    def __enter__(self):
        """Start asking; forget earlier memory."""
        if self.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(self.device)
            self._thread.start()
        return self

    def __exit__(self, *_):
        """Stop asking."""
        self._done.set()
        if self._thread.is_alive():
            self._thread.join()

    def _ask(self):
        command = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]
        command.append(f"--id={self.device.index or 0}")
        while shutil.which(command[0]) and not self._done.wait(0.2):
            result = subprocess.run(command, capture_output=True, text=True, check=False)
            if result.stdout.strip().isdigit():
                self.percent.append(int(result.stdout))

    def __str__(self):
        """Show the greatest memory and the middle of the answers."""
        if self.device.type != "cuda":
            return "no GPU"
        gigabytes = torch.cuda.max_memory_allocated(self.device) / 1e9
        busy = f"{statistics.median(self.percent):.0f} %" if self.percent else "unknown"
        return f"{gigabytes:.2f} GB, busy {busy}"


def digest_of(table):
    """Return a hash of the links and their probabilities."""
    state = hashlib.sha256()
    for name in ("forward", "reverse"):
        for row in table[name].to_pylist():
            state.update(repr(row).encode())
    return state.hexdigest()[:16]


def measure(directory, table, precision, device):
    """Align twice; return the best pairs/s, both digests and the links."""
    aligner = load_aligner(
        EncoderConfig(str(directory), layer=8, precision=precision, device=device)
    )
    aligner.align(table.slice(0, 64))
    speeds, digests = [], []
    for run in (1, 2):
        with Usage(device) as usage:
            start = time.perf_counter()
            made = aligner.align(table)
            speeds.append(table.num_rows / (time.perf_counter() - start))
        digests.append(digest_of(made))
        print(
            f"{precision}, run {run}: {speeds[-1]:9.1f} pairs/s, {usage}, links {digests[-1]}, "
            f"budget {aligner.budget.limit}, halved {aligner.budget.halvings} times",
            flush=True,
        )
    return max(speeds), digests, both_directions(made)


def compare(shared_data, directory, size, device, pairs, peer_pairs):
    """Print all figures; return pairs/s by what was measured, and digests by precision."""
    texts = list(itertools.chain(*real_pairs(shared_data, count=20_000)))
    write_bert(
        directory,
        texts,
        layers=size["layers"],
        hidden=size["hidden"],
        heads=size["heads"],
        vocabulary=min(size["pieces"], 30_000),
        embeddings=size["pieces"],
    )
    result = real_pairs(shared_data, count=pairs)
    chosen = list(itertools.islice(itertools.cycle(result), pairs))
    table = token_table(chosen)
    print(f"\n{pairs} pairs, torch {torch.__version__}, {device}")
    precisions = ("fp32", "bf16") if device == "cpu" else ("fp32", "bf16", "fp16")
    speeds, digests, links = {}, {}, {}
    for precision in precisions:
        speeds[precision], digests[precision], links[precision] = measure(
            directory, table, precision, device
        )
    peer = AwesomeAlign(directory, device)
    few = chosen[:peer_pairs]
    peer.links(few[:64], 8, "softmax")
    with Usage(device) as usage:
        start = time.perf_counter()
        expected = peer.links(few, 8, "softmax")
        speeds["awesome-align"] = len(few) / (time.perf_counter() - start)
    print(f"awesome-align, batch 32: {speeds['awesome-align']:.1f} pairs/s, {usage}")
    for precision, made in links.items():
        same = sum(map(set.__eq__, made, expected))
        ratio = speeds[precision] / speeds["awesome-align"]
        print(f"{precision}: {ratio:.1f}x; {same} of {len(few)} pairs with the same links")
    return speeds, digests


def test_pairs_a_second_on_a_gpu(shared_data, tmp_path):
    if DEVICE != "cpu" and not torch.cuda.is_available():
        pytest.skip("no GPU that torch can use; BENCH_DEVICE=cpu goes the same way")
    speeds, digests = compare(shared_data, tmp_path / "bert", SIZE, DEVICE, PAIRS, PEER_PAIRS)
    assert all(len(set(twice)) == 1 for twice in digests.values())
    if DEVICE != "cpu":
        assert max(speeds["bf16"], speeds["fp16"]) > 20 * speeds["awesome-align"]
