"""New tags in every epoch beside OpusTrainer, one core, CPU time; news text in English and German.

The stream reads a run of ``align`` from a disk and makes lines for a trainer. OpusTrainer gets the
same pairs with the same links as text (`bench_tags`) and puts tags round as many single words.
"""

import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairweave.pipelines.streaming.lines import Lines
from pairweave.pipelines.streaming.stream_options import StreamCommandOptions
from pairweave.pipelines.streaming.streamed_runs import open_stream
from pairweave.transforms.links.linked_rows import COLUMNS, linked_rows
from tests.benchmarks.bench_tags import run_opustrainer, show
from tests.makers import runs

pytestmark = pytest.mark.bench

EPOCHS = 5


@pytest.fixture(scope="module")
def aligned(shared_data, tmp_path_factory):
    """Return the directory of a run of ``align``."""
    output = tmp_path_factory.mktemp("stream") / "links"
    texts = [str(shared_data / "parallel" / f"newstest.en-de.{lang}.gz") for lang in ("en", "de")]
    files = ("--source_input", texts[0], "--target_input", texts[1])
    languages = ("--source_lang", "en", "--target_lang", "de")
    fast = ("--fit_pairs", 5_000, "--workers", 1, "--shard_pairs", 7_000)
    runs.run_well_here("align", *files, *languages, *fast, "--output", output)
    return output


def epoch_seconds(stream, options):
    """Return the CPU seconds of each epoch."""
    lines, taken = Lines(stream.tags, options), []
    for epoch in range(EPOCHS):
        start = time.process_time()
        for window in range(stream.windows):
            for batch in lines.fit(stream.window(epoch, window).rows):
                lines.write(batch)
        taken.append(time.process_time() - start)
    return taken


def test_speed_of_a_stream_beside_opustrainer(aligned, tmp_path):
    rows = []
    for what, memory in (("as long as they fit into memory", 1024), ("one shard in memory", 0)):
        options = StreamCommandOptions(runs=(str(aligned),), epochs=EPOCHS, cache_mib=memory)
        epoch_seconds(open_stream(options), options)  # compiles
        stream = open_stream(options)
        pairs = sum(stream.shares)
        taken = epoch_seconds(stream, options)
        rows.append((f"{what}: first epoch", pairs / taken[0]))
        rows.append((f"{what}: later epochs", pairs / min(taken[1:])))
        rows.append((f"{what}: {EPOCHS} epochs", EPOCHS * pairs / sum(taken)))
    made = stream.window(0, 0).rows
    tagged = made.filter(pa.compute.equal(made.column("kind"), "tagged"))
    places = len(tagged.column("tags").combine_chunks().values) / tagged.num_rows
    shard = sorted((aligned / "data").iterdir())[0]
    links = linked_rows(pq.read_table(shard, columns=list(COLUMNS["align"])), "align")
    actual = run_opustrainer(links, places, tmp_path)
    if actual is not None:
        peer, peer_places = actual
        rows.append((f"OpusTrainer, {peer_places:.1f} places a pair", peer))
        assert EPOCHS * pairs / sum(taken) > 10 * peer
    show(f"{pairs} pairs an epoch, {places:.1f} tags in a tagged row, lines for a trainer", rows)
