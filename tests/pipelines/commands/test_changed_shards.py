"""Commands that use all rows of a finished run refuse a shard that was changed since."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pairweave.pipelines.commands import demo
from pairweave.pipelines.streaming.stream_options import StreamCommandOptions
from pairweave.pipelines.streaming.streamed_runs import open_stream
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.export.export import export
from pairweave.transforms.formats import registry
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.output.line_files.link_lines import collect_lines
from tests.makers import finished_runs


def export_rows(run):
    how = registry.row_export_of("jsonl", run.directory, run.job)
    export(run, how, f"{run.directory}.export")


def stream(run):
    opened = open_stream(StreamCommandOptions(runs=(run.directory,), epochs=1), links=False)
    opened.window(0, 0)


def write_links(run):
    collect_lines(run, [("news", "news <1>.tsv"), ("web", "news <1>.tsv")])


def show_richest(run):
    demo.richest(run.directory, 3)


@pytest.mark.parametrize(
    ("job", "command"),
    [
        ("augment", export_rows),
        ("augment", show_richest),
        ("align", stream),
        ("align", write_links),
    ],
)
def test_a_changed_shard_is_refused(tmp_path, job, command):
    output = str(tmp_path / "run")
    settings = {"job": job, "configuration": {"seed": 1, "tokens": "words"}}
    if job == "align":
        counts = {"pairs": 4, "links": 4}
        finished_runs.write_run(output, finished_runs.aligned_data, counts, **settings)
    else:
        finished_runs.write_run(output, **settings)
    run = FinishedRun.open(output)
    path = Path(output, run.names[1])
    rows = pq.read_table(path)
    pq.write_table(rows.slice(0, rows.num_rows - 1), path)
    with pytest.raises(WorkerError, match=f"{run.names[1]}: expected sha256"):
        command(run)
