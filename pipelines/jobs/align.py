"""The job ``align``: pairs become links."""

from typing import Any

import apache_beam as beam
import pyarrow as pa

from pairweave.models.aligner import AlignerReference
from pairweave.models.hmm import hmm_reference
from pairweave.pipelines.aligners.job_aligner import JobAligner
from pairweave.pipelines.job_options.pair_options import AlignOptions
from pairweave.pipelines.jobs.screened_rows import screened_rows
from pairweave.pipelines.parts.aligner_parts import ALIGNER, SECOND_ALIGNER
from pairweave.pipelines.parts.excluded_pairs import KNOWN_PAIRS
from pairweave.pipelines.parts.look_part import LOOK
from pairweave.pipelines.parts.rule_parts import RULE_BLOCK
from pairweave.pipelines.parts.text_parts import SCREEN
from pairweave.pipelines.run.beside_output import BesideFile, line_file
from pairweave.pipelines.run.job import Job
from pairweave.pipelines.run.run import Run
from pairweave.pipelines.steps.aligning import align_with_second
from pairweave.pipelines.steps.steps import Commit, MapShards, MapWholeShards, WriteShards
from pairweave.transforms import schemas
from pairweave.transforms.config import pick
from pairweave.transforms.links.link_options import SymmetrizeConfig
from pairweave.transforms.links.symmetrize import symmetrize
from pairweave.transforms.output.write import ShardOutput
from pairweave.transforms.shards.shard import Shard
from pairweave.transforms.shards.shuffle import MakeShards
from pairweave.transforms.text.tokens import TokenConfig


def line_files(run: Run[AlignOptions]) -> list[BesideFile]:
    """Return the file of links that the options request, if they do."""
    wanted = run.options.pharaoh
    return [] if wanted is None else [line_file("pharaoh", wanted, run)]


def graph(pipeline: beam.Pipeline, run: Run[AlignOptions], wanted: frozenset[int]) -> None:
    """Read, screen, fit, shuffle, tokenize, align, symmetrize, align again, write, commit."""
    options, aligner, config = run.options, run.aligner, run.write_config
    rows, pieces = screened_rows(pipeline, run)
    model = aligner.model(rows, run, pieces)
    shards = rows | "Shuffle" >> MakeShards(run.shards, wanted, begin=run.begin)
    tokens = shards | "Tokenize" >> MapShards(aligner.cut, model, tokens=run.tokens)
    linked = tokens | "Align" >> aligner.step(run, model)
    both = pick(SymmetrizeConfig, options)
    links = linked | "Symmetrize" >> MapShards(symmetrize, config=both)
    if (reference := run.result_of(SECOND_ALIGNER)) is not None:
        ways = {"heuristic": options.heuristic, "way": options.combine}
        second = MapWholeShards(align_with_second, reference=reference, **ways)
        links = links | "AlignWithSecond" >> second
    settings: dict[str, Any] = {"aligner": aligner, "reference": run.model, "tokens": run.tokens}
    step = WriteShards(finish, config, **settings, fitted=run.model_directory)
    receipts = links | "Links" >> step
    _ = receipts | "Commit" >> Commit(config, {}, allow_empty=options.allow_empty)


def finish(
    shard: Shard,
    *,
    aligner: JobAligner,
    reference: AlignerReference | None,
    tokens: TokenConfig | None,
    fitted: str,
) -> ShardOutput:
    """Return the rows of the output and their counts; tokens are numbered as by their tokenizer.

    Args:
        shard: A shard whose working table is `transforms.schemas.SYMMETRIZED`.
        aligner: The registry's entry of the aligner.
        reference: Reference to the aligner; None if the run fitted it.
        tokens: How text was cut; None for the SentencePiece model that the run trained.
        fitted: Reference to the aligner that the run fitted.
    """
    links = shard.table
    if tokens is None:
        fitted_reference = hmm_reference.find(fitted)
        # There is no model if there was no pair to train on.
        tokens = None if fitted_reference is None else hmm_reference.load(fitted_reference).tokens
    if tokens is not None:
        links = aligner.in_pieces(links, reference, tokens)
    data = links.select(schemas.ALIGNED.names).cast(schemas.ALIGNED)
    lengths = pa.compute.list_value_length(data.column("links"))
    counts = {"pairs": data.num_rows, "links": pa.compute.sum(lengths, min_count=0).as_py()}
    return ShardOutput(shard, data, counts)


JOB = Job(
    name="align",
    options=AlignOptions,
    parts=(RULE_BLOCK, ALIGNER, SCREEN, SECOND_ALIGNER, KNOWN_PAIRS, LOOK),
    graph=graph,
    beside=line_files,
)
main = JOB.main
