"""The steps from screened rows to symmetrized links, with either aligner."""

import apache_beam as beam
import numpy as np

from models import encoder_store
from models.encoder_store import EncoderReference
from pipelines.fitting import fitted_aligner
from pipelines.options import AlignOptions, AugmentOptions
from pipelines.run import Run
from pipelines.steps import EachShard, align, tokenize
from transforms.rejects import Reject, Stage
from transforms.shards import Batches, MakeShards, Shard, Shards, reject
from transforms.symmetrize import SymmetrizeConfig, symmetrize
from transforms.tokens import add_tokens


def aligned_shards(
    pipeline: beam.Pipeline, rows: Batches, run: Run, wanted: frozenset[int]
) -> Shards:
    """Shuffle rows into shards, cut them into tokens, align them, symmetrize the links."""
    options = run.options
    assert isinstance(options, AlignOptions | AugmentOptions)
    if isinstance(run.model, EncoderReference):
        cut = EachShard(add_tokens, config=run.tokens)
        step: beam.PTransform[Shards, Shards] = AlignOrReject(run.model)
    else:
        model = fitted_aligner(pipeline, rows, run)
        cut, step = EachShard(tokenize, model, tokens=run.tokens), EachShard(align, model)
    return (
        rows
        | "Shuffle" >> MakeShards(run.shards, wanted)
        | "Tokenize" >> cut
        | "Align" >> step
        | "Symmetrize" >> EachShard(symmetrize, config=SymmetrizeConfig(options.heuristic))
    )


class AlignOrReject(beam.PTransform[Shards, Shards]):
    """Aligns the working table of every shard; pairs that the encoder cannot take are rejected."""

    def __init__(self, reference: EncoderReference) -> None:
        super().__init__()
        self._reference = reference

    def expand(self, shards: Shards) -> Shards:
        """Align each shard."""
        return shards | "Table" >> beam.Map(align_or_reject, self._reference).with_output_types(
            Shard
        )


def align_or_reject(shard: Shard, reference: EncoderReference) -> Shard:
    """Align a shard's pairs; kept rows, rejected rows and working table stay in step."""
    number, kept, rejected, table = shard
    linked, given_up = encoder_store.align(reference, table)
    reasons = np.array([given_up.get(row, ("",))[0] for row in range(kept.num_rows)], dtype=object)
    for reason in sorted({reason for reason, _ in given_up.values()}):
        marks = reasons == reason
        details = [detail for why, detail in given_up.values() if why == reason]
        kept, rejected = reject(kept, rejected, marks, Stage.ALIGN, Reject(reason), details)
        reasons = reasons[~marks]
    return number, kept, rejected, linked
