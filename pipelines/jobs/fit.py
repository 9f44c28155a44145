"""The job ``fit``: trains the statistical aligner on a sample and saves it."""

import json

import apache_beam as beam

from pairweave.models.hmm import hmm_reference
from pairweave.models.hmm.hmm_files import HEADER
from pairweave.models.hmm.prior_choice import left_out
from pairweave.pipelines.job_options.pair_options import FitOptions
from pairweave.pipelines.jobs.screened_rows import screened_rows
from pairweave.pipelines.parts.aligner_parts import ALIGNER
from pairweave.pipelines.parts.look_part import LOOK
from pairweave.pipelines.parts.rule_parts import RULE_BLOCK
from pairweave.pipelines.parts.text_parts import SCREEN
from pairweave.pipelines.run.job import Job
from pairweave.pipelines.run.run import Run
from pairweave.pipelines.steps.steps import WriteShards
from pairweave.transforms.commit.commit import summarize, write_manifest
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output import run_files
from pairweave.transforms.output.run_files import file_entry
from pairweave.transforms.output.write import ShardOutput
from pairweave.transforms.shards.shard import Shard
from pairweave.transforms.shards.shuffle import MakeShards
from pairweave.transforms.storage import files, hashed_files


def graph(pipeline: beam.Pipeline, run: Run[FitOptions], wanted: frozenset[int]) -> None:
    """Read, screen, shuffle, write the rejects; sample, fit; commit."""
    config = run.write_config
    rows, pieces = screened_rows(pipeline, run)
    # The shuffle serves the rejects: it finds duplicates, and divides the files that every job
    # writes. They are written first, so they can be inspected if no pair is left to fit on.
    shards = rows | "Shuffle" >> MakeShards(run.shards, wanted)
    receipts = shards | "Rejects" >> WriteShards(finish, config)
    model = run.aligner.model(rows, run, pieces, after=receipts)
    _ = (
        pipeline
        | "Once" >> beam.Create([config.output])
        | "Commit" >> beam.Map(commit, _receipts=beam.pvalue.AsList(receipts), _model=model)
    )


def finish(shard: Shard) -> ShardOutput:
    """Leave the kept pairs out of the output."""
    return ShardOutput(shard, None, {})


def commit(
    output: str,
    _receipts: list[str] | None = None,
    _model: hmm_reference.HmmReference | None = None,
) -> str:
    """Check that no pair was lost, then write the manifest of a fitted model.

    Args:
        output: The directory of the model and of the rejects.
        _receipts: Receipts that the step waited for.
        _model: Model that the step waited for.

    Returns:
        The manifest's path.

    Raises:
        ConfigError: The model does not say how many pairs it was fitted on.
        WorkerError: A receipt or file is missing or is not the one that was written, or pairs do
            not add up.
    """
    files.delete_temporary(output)
    document, _ = summarize(output)
    model = hashed_files.read(output)
    about = files.join(output, hmm_reference.ABOUT)
    fitted = hashed_files.parse_about(model[hmm_reference.ABOUT]).get("pairs")
    if type(fitted) is not int:
        raise ConfigError(
            f"{about}: does not say how many pairs the model was fitted on; was it edited? "
            "Delete it and repeat the command"
        )
    document["rows"]["fitted"] = fitted
    notice = left_out(json.loads(model[HEADER])["fit"])
    if notice is not None:
        document["notices"].append(str(notice))
    document["files"] += [file_entry(name, data) for name, data in model.items()]
    write_manifest(output, document)
    return files.join(output, run_files.MANIFEST)


JOB = Job(
    name="fit",
    options=FitOptions,
    parts=(RULE_BLOCK, ALIGNER, SCREEN, LOOK),
    graph=graph,
    commit=commit,
)
main = JOB.main
