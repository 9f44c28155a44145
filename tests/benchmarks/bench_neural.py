"""The neural aligner beside awesome-align's own code and SimAlign, on the same random weights.

    pytest -m bench -n 0 -s tests/benchmarks/bench_neural.py

A 12x768 encoder, layer 8, real news sentences: in one process on one CPU thread, loading left out;
and the commands, on all cores. `BENCH_PAIRS` sets the number of pairs (2,000; with fewer, start-up
weighs), `BENCH_PEER_PAIRS` that of SimAlign, which takes one pair at a time (200).
"""

import itertools
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

from safetensors.torch import load_file  # noqa: E402

from pairweave.models.encoder.encoder_config import EncoderConfig, HeadConfig  # noqa: E402
from pairweave.models.encoder.neural import load_aligner  # noqa: E402
from tests.makers.awesome import AwesomeAlign  # noqa: E402
from tests.makers.encoders import both_directions, write_bert  # noqa: E402
from tests.makers.real_pairs import real_pairs  # noqa: E402
from tests.makers.token_tables import token_table  # noqa: E402

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


@pytest.fixture(scope="module")
def directory(shared_data, tmp_path_factory):
    """Return an encoder of BERT's size with random weights."""
    texts = list(itertools.chain(*real_pairs(shared_data, count=20_000)))
    path = tmp_path_factory.mktemp("encoder") / "bert"
    return write_bert(path, texts, layers=12, hidden=768, heads=12, vocabulary=30_000)


def test_pairs_a_second_beside_the_peers(shared_data, directory):
    torch.set_num_threads(1)
    pairs = real_pairs(shared_data, count=PAIRS, skip=3000)
    table = token_table(pairs)
    actual = {}
    print(f"\n{PAIRS} pairs, torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}")

    links = {}
    for precision in ("fp32", "bf16", "int8"):
        config = EncoderConfig(str(directory), layer=8, precision=precision, device="cpu")
        aligner = load_aligner(config)
        aligner.align(table.slice(0, 2))
        made = timed(precision, PAIRS, lambda aligner=aligner: aligner.align(table), actual)
        links[precision] = both_directions(made)

    awesome = AwesomeAlign(directory)
    expected = timed("awesome-align", PAIRS, lambda: awesome.links(pairs, 8, "softmax"), actual)
    for precision, made in links.items():
        same = sum(map(set.__eq__, made, expected))
        print(
            f"{precision}: {actual[precision] / actual['awesome-align']:.2f}x; "
            f"{same} of {PAIRS} same"
        )
    # A link whose probability is next to the threshold may fall to either side of it.
    assert sum(map(set.__eq__, links["fp32"], expected)) >= 0.998 * PAIRS
    assert actual["fp32"] > 2 * actual["awesome-align"]

    simalign = pytest.importorskip("simalign", reason="needs simalign, see tests/oracles.txt")
    peer = simalign.SentenceAligner(model=str(directory), matching_methods="a", layer=8)
    few = table.slice(0, PEER_PAIRS)
    aligner = load_aligner(
        EncoderConfig(str(directory), layer=8, head=HeadConfig("argmax"), device="cpu")
    )
    made = timed("fp32 argmax", few.num_rows, lambda: aligner.align(few), actual)
    expected = timed(
        "simalign argmax",
        few.num_rows,
        lambda: [set(peer.get_word_aligns(*pair)["inter"]) for pair in pairs[:PEER_PAIRS]],
        actual,
    )
    same = sum(map(set.__eq__, both_directions(made), expected))
    ratio = actual["fp32 argmax"] / actual["simalign argmax"]
    print(f"argmax: {ratio:.2f}x; {same} of {few.num_rows} same")


def seconds(*command, path=()):
    """Run a command with its own number of threads and return how long it took."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    start = time.perf_counter()
    subprocess.run(command, check=True, env=environment, capture_output=True)
    return time.perf_counter() - start


def links_in(path):
    """Return the links of each line of a Pharaoh file."""
    return [set(line.split()) for line in path.read_text().splitlines()]


def test_the_commands_side_by_side(shared_data, directory, tmp_path):
    awesome = pytest.importorskip("awesome_align", reason="needs awesome-align")
    pairs = [
        [" ".join(text.split()) for text in pair]
        for pair in real_pairs(shared_data, count=PAIRS, skip=3000)
    ]
    for name, lines in zip(("en", "de"), zip(*pairs, strict=True), strict=True):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "text").write_text("".join(f"{' ||| '.join(pair)}\n" for pair in pairs))
    old = tmp_path / "old"
    old.mkdir()
    for name in ("config.json", "vocab.txt", "tokenizer_config.json"):
        (old / name).write_bytes((directory / name).read_bytes())
    weights = load_file(directory / "model.safetensors")
    torch.save(
        {f"bert.{name}": weight for name, weight in weights.items()}, old / "pytorch_model.bin"
    )
    peer = seconds(
        *(sys.executable, "-m", "awesome_align.run_align", "--data_file", tmp_path / "text"),
        *("--output_file", tmp_path / "links", "--model_name_or_path", old, "--align_layer", "8"),
        *("--extraction", "softmax", "--batch_size", "32", "--num_workers", "1"),
        path=[str(Path(path).parent) for path in awesome.__path__],
    )
    print(f"\nawesome-align {peer:8.1f} s")
    expected = links_in(tmp_path / "links")
    for precision, least in (("fp32", 2), ("bf16", 3)):
        ours = seconds(
            *(sys.executable, "-m", "pairweave.pipelines.cli", "align", "--aligner", "encoder"),
            *("--source_input", tmp_path / "en", "--target_input", tmp_path / "de"),
            *("--source_lang", "en", "--target_lang", "de", "--tokens", "whitespace"),
            *("--model", directory, "--precision", precision, "--heuristic", "intersection"),
            *("--output", tmp_path / precision, "--pharaoh", tmp_path / f"{precision}.links"),
        )
        same = sum(map(set.__eq__, links_in(tmp_path / f"{precision}.links"), expected))
        print(f"align {precision} {ours:8.1f} s  {peer / ours:.2f}x; {same} of {PAIRS} same")
        assert peer > least * ours
        assert precision != "fp32" or same >= 0.998 * PAIRS
