"""The whole job: pairs/s, growth with the input, one worker against two, Beam's share.

PAIRWEAVE_BENCH_PAIRS sets the size (default 200,000; the documented figures say theirs).
"""

import gzip
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pairweave.models.hmm import hmm_reference
from pairweave.pipelines.command_line import flags
from pairweave.pipelines.job_options.pair_options import AugmentOptions
from pairweave.pipelines.jobs import augment
from pairweave.transforms.formats.registry import read_unit
from pairweave.transforms.links.link_options import SymmetrizeConfig
from pairweave.transforms.links.phrase_extraction import PhraseConfig, extract_phrases
from pairweave.transforms.links.symmetrize import symmetrize
from pairweave.transforms.output.write import write_shard
from pairweave.transforms.screen import screen
from pairweave.transforms.shards.shuffle import make_shard, split_rows
from pairweave.transforms.text.tokens import add_tokens
from tests.makers import runs

PAIRS = int(os.environ.get("PAIRWEAVE_BENCH_PAIRS", "200000"))
LANGS = ("--source_lang", "en", "--target_lang", "de")

pytestmark = pytest.mark.bench


def write_corpus(shared_data, directory, pairs):
    """Write that many distinct pairs: real ones, again and again with another number at the end."""
    sides = []
    for side in ("en", "de"):
        lines = []
        for name in (f"newstest.en-de.{side}.gz", f"multi30k.{side}.gz"):
            data = gzip.decompress((shared_data / "parallel" / name).read_bytes())
            lines += data.decode().rstrip("\n").split("\n")
        sides.append(lines)
    for side, lines in zip(("en", "de"), sides, strict=True):
        with (directory / f"{pairs}.{side}").open("w", encoding="utf-8", newline="\n") as file:
            for number in range(pairs):
                around, place = divmod(number, len(lines))
                file.write(lines[place] + (f" {around}" if around else "") + "\n")
    return (
        "--source_input",
        directory / f"{pairs}.en",
        "--target_input",
        directory / f"{pairs}.de",
    )


@pytest.fixture(scope="module")
def model(shared_data, tmp_path_factory):
    """Fit an HMM model on 50,000 real pairs; return its directory."""
    directory = tmp_path_factory.mktemp("model")
    sides = write_corpus(shared_data, directory, 50_000)
    runs.run_well("fit", *sides, *LANGS, "--output", directory / "model")
    return directory / "model"


def timed(*arguments):
    """Run the command; return wall seconds and the children's CPU seconds."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    runs.run_well(*arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = time.perf_counter() - start
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def plain_loop(arguments):
    """Do the job's work by calling its functions one after the other; return wall seconds."""
    options, _ = flags.parse(
        AugmentOptions, "bench", "", [str(word) for word in arguments], beam=True
    )
    start = time.perf_counter()
    run = augment.JOB.prepare(options)
    fitted = hmm_reference.load(run.model)
    config = run.write_config
    parts = {shard: [] for shard in range(run.shards)}
    for unit in run.plan.units:
        batches = [screen(batch, run.screen) for batch in read_unit(unit, run.limits)]
        for shard, part in split_rows(batches, run.shards, None):
            parts[shard].append(part)
    for element in parts.items():
        shard = make_shard(element)
        table = fitted.model.align(add_tokens(shard.table, fitted.tokens))
        table = extract_phrases(
            symmetrize(table, SymmetrizeConfig(options.heuristic)),
            PhraseConfig(options.max_words, options.unaligned_words),
        )
        made = augment.finish(shard.with_table(table), augment.tag_config(run))
        write_shard(made, config)
    return time.perf_counter() - start


def test_the_whole_job(shared_data, model, tmp_path):
    rows = []
    for pairs, workers in ((PAIRS // 4, 2), (PAIRS, 2), (PAIRS, 1)):
        sides = write_corpus(shared_data, tmp_path, pairs)
        output = tmp_path / f"out-{pairs}-{workers}"
        arguments = ("augment", *sides, *LANGS, "--model", model, "--output", output)
        seconds, cpu = timed(*arguments, "--workers", workers)
        rows.append((f"{pairs:,} pairs, {workers} workers", seconds, cpu, pairs / seconds))
    sides = write_corpus(shared_data, tmp_path, PAIRS)
    output = tmp_path / "loop"
    arguments = (*sides, *LANGS, "--model", model, "--output", output)
    script = (
        "import sys; from tests.benchmarks.bench_augment import plain_loop; "
        "print(plain_loop(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        cwd=runs.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    loop = float(done.stdout.split()[-1])
    rows.append((f"{PAIRS:,} pairs, plain loop", loop, float("nan"), PAIRS / loop))
    print()
    for name, seconds, cpu, speed in rows:
        print(f"{name:32} {seconds:8.1f} s wall {cpu:8.1f} s cpu {speed:10,.0f} pairs/s")
    print(f"two workers against one: {rows[2][1] / rows[1][1]:.2f}x")
    print(f"growth from {PAIRS // 4:,} to {PAIRS:,}: {rows[1][1] / rows[0][1]:.2f}x")
    print(f"Beam's share of one worker: {1 - loop / rows[2][1]:.1%}")
    manifest = json.loads((Path(output.parent) / f"out-{PAIRS}-2" / "_manifest.json").read_text())
    assert manifest["rows"]["read"] == PAIRS
