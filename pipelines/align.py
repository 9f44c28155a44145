"""The job ``align``: pairs become links."""

from collections.abc import Sequence

import apache_beam as beam
import pyarrow as pa

from pipelines import flags, plan_text
from pipelines.aligning import aligned_shards
from pipelines.cli import COMMANDS
from pipelines.options import AlignOptions
from pipelines.run import Run, execute, prepare
from pipelines.steps import Commit, ReadUnits, Screen, WriteShards
from transforms import files, schemas
from transforms.link_lines import collect_lines


def main(name: str, arguments: Sequence[str]) -> int:
    """Run the job from its command line."""
    options, extra = flags.parse(
        AlignOptions, f"pairweave {name}", COMMANDS[name].about, arguments, beam=True
    )
    run = prepare(name, options)
    if options.plan_only:
        return plan_text.show(run, graph, extra)
    execute(run, graph, extra, {})
    if options.pharaoh is not None:
        order = [(unit.corpus, unit.file) for unit in run.plan.units]
        lines = collect_lines(files.absolute(options.output), run.shards, order)
        files.write_bytes(options.pharaoh, lines)
    plan_text.say_where(options.output)
    return 0


def graph(pipeline: beam.Pipeline, run: Run, wanted: frozenset[int]) -> None:
    """Read, screen, shuffle, align, symmetrize, write, commit."""
    config = run.write_config
    rows = (
        pipeline
        | "Read" >> ReadUnits(run.plan.units, run.limits, config.output, run.digest)
        | "Screen" >> Screen(run.screen)
    )
    receipts = aligned_shards(pipeline, rows, run, wanted) | "Links" >> WriteShards(finish, config)
    _ = receipts | "Commit" >> Commit(config.output, {}, allow_empty=run.options.allow_empty)


def finish(
    kept: pa.Table, rejected: pa.Table, links: pa.Table
) -> tuple[pa.Table, pa.Table, pa.Table, dict[str, int]]:
    """Keep what a user of links needs, and count."""
    data = links.select(schemas.ALIGNED.names).cast(schemas.ALIGNED)
    lengths = pa.compute.list_value_length(data.column("links"))
    counts = {"pairs": data.num_rows, "links": pa.compute.sum(lengths, min_count=0).as_py()}
    return kept, rejected, data, counts
