"""The job ``align``: pairs become links."""

import fnmatch
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import apache_beam as beam
import pyarrow as pa

from pairweave.models import store
from pairweave.models.encoder import encoder_store, pieces
from pairweave.models.encoder.encoder_store import EncoderReference
from pairweave.pipelines.cli import COMMANDS
from pairweave.pipelines.options import flags
from pairweave.pipelines.options.job_options import AlignOptions
from pairweave.pipelines.run import plan_text
from pairweave.pipelines.run.execute import execute
from pairweave.pipelines.run.prepare import prepare
from pairweave.pipelines.run.run import Run
from pairweave.pipelines.steps.aligning import aligned_shards
from pairweave.pipelines.steps.screened_rows import screened_rows
from pairweave.pipelines.steps.steps import Commit, WriteShards
from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output import run_files
from pairweave.transforms.output.link_lines import check_copies, collect_lines
from pairweave.transforms.output.write import ShardOutput
from pairweave.transforms.shards.shard import Shard
from pairweave.transforms.storage import files
from pairweave.transforms.text.piece_numbers import in_pieces, number_sides
from pairweave.transforms.text.tokens import TokenConfig

_LEADING = ("pairs", "source")
"""Roles of the files whose lines a corpus' pairs are counted in."""

_WRITTEN = (
    run_files.CARD,
    "report.html",
    "data",
    "data/*",
    "_*",
    "rejects",
    "rejects/*",
    "models",
    "models/*",
)
"""What a run writes under its directory."""


def main(name: str, arguments: Sequence[str]) -> int:
    """Run the job from its command line."""
    options, extra = flags.parse(
        AlignOptions, f"pairweave {name}", COMMANDS[name].about, arguments, beam=True
    )
    run = prepare(name, options)
    order = [(file.corpus, file.name) for file in run.plan.files if file.role in _LEADING]
    if options.pharaoh is not None:
        check_copies(run.plan.units, order)
        check_pharaoh(options.pharaoh, options.output, [file.path for file in run.plan.files])
    if options.plan_only:
        return plan_text.show(run, graph, extra)
    execute(run, graph, extra, {})
    if options.pharaoh is not None:
        lines = collect_lines(files.absolute(options.output), run.shards, order)
        files.write_bytes(options.pharaoh, lines)
    plan_text.say_where(options.output)
    return 0


def check_pharaoh(path: str, output: str, inputs: Iterable[str]) -> None:
    """Find out before a run whether a file can be written after it.

    Args:
        path: The file of the links.
        output: The run's directory, which need not be there yet.
        inputs: Absolute paths of the files that are read.

    Raises:
        ConfigError: The file's directory is missing or cannot be written to, the path is a
            directory or an input, or the run writes a file of that name itself.
    """
    if files.absolute(path) in inputs:
        raise ConfigError(
            f"--pharaoh {path}: is an input and would be overwritten; give another file"
        )
    parent, _, name = files.absolute(path).rpartition("/")
    if f"{parent}/".startswith(files.absolute(output).rstrip("/") + "/"):
        inside = files.absolute(path)[len(files.absolute(output).rstrip("/")) + 1 :]
        if any(fnmatch.fnmatchcase(inside, pattern) for pattern in _WRITTEN):
            raise ConfigError(f"--pharaoh {path}: the run writes {inside} itself; name another")
        return
    if files.is_uri(path):
        files.check_store(path)
        return
    if Path(path).is_dir() or not name:
        raise ConfigError(f"--pharaoh {path}: is a directory; name a file")
    try:
        with tempfile.TemporaryFile(dir=parent or "/"):
            pass
    except OSError as error:
        raise ConfigError(
            f"--pharaoh {path}: no file can be written in {parent or '/'}: {error.strerror}"
        ) from error


def graph(pipeline: beam.Pipeline, run: Run, wanted: frozenset[int]) -> None:
    """Read, screen, shuffle, align, symmetrize, write, commit."""
    config = run.write_config
    rows = screened_rows(pipeline, run)
    step = WriteShards(
        finish,
        config,
        tokens=run.tokens,
        encoder=run.model if isinstance(run.model, EncoderReference) else None,
        fitted=run.model_directory,
    )
    receipts = aligned_shards(pipeline, rows, run, wanted) | "Links" >> step
    _ = receipts | "Commit" >> Commit(config.output, {}, allow_empty=run.options.allow_empty)


def finish(
    shard: Shard,
    *,
    tokens: TokenConfig | None,
    encoder: EncoderReference | None,
    fitted: str,
) -> ShardOutput:
    """Keep what a user of links needs, with tokens as their tokenizer counts them, and count."""
    links = counted_in_pieces(shard.table, tokens, encoder, fitted)
    data = links.select(schemas.ALIGNED.names).cast(schemas.ALIGNED)
    lengths = pa.compute.list_value_length(data.column("links"))
    counts = {"pairs": data.num_rows, "links": pa.compute.sum(lengths, min_count=0).as_py()}
    return ShardOutput(shard, data, counts)


def counted_in_pieces(
    links: pa.Table, tokens: TokenConfig | None, encoder: EncoderReference | None, fitted: str
) -> pa.Table:
    """Turn a job's tokens into those that their tokenizer counts (`transforms.text.piece_numbers`).

    Args:
        links: SYMMETRIZED rows.
        tokens: How text was cut; None by the SentencePiece model that the run trained.
        encoder: The encoder that aligned, if one did.
        fitted: Where the aligner is that the run fitted.

    Raises:
        WorkerError: The encoder is no longer the one that cut the text.
    """
    if tokens is None:
        reference = store.find(fitted)
        if reference is None:  # there was no pair to train on
            return links
        tokens = store.load(reference).tokens
    if encoder is not None and tokens.kind == "pieces":
        tokenizer = encoder_store.load_tokenizer(encoder)
        return in_pieces(links, *pieces.number_sides(links, tokenizer))
    if tokens.kind != "sentencepiece":
        return links
    return in_pieces(links, *number_sides(links, tokens))
