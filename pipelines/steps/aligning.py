"""The steps from screened rows to symmetrized links, with any aligner."""

import apache_beam as beam

from pairweave.models.encoder.encoder_store import EncoderReference
from pairweave.models.given_links import GivenLinks
from pairweave.models.ter_aligner import TerAligner
from pairweave.pipelines.aligners.aligner_choice import HOSTING
from pairweave.pipelines.options.base import AlignerSettings
from pairweave.pipelines.options.job_options import AlignOptions, AugmentOptions
from pairweave.pipelines.run.run import Run
from pairweave.pipelines.steps.external_aligning import AlignExternally, learned_aligner
from pairweave.pipelines.steps.fitting import fitted_aligner
from pairweave.pipelines.steps.given_linking import LinkAsGiven
from pairweave.pipelines.steps.screened_rows import ScreenedRows
from pairweave.pipelines.steps.second_aligner import AlignAgain
from pairweave.pipelines.steps.steps import EachShard, align, tokenize
from pairweave.transforms.config import pick
from pairweave.transforms.links.symmetrize import SymmetrizeConfig, symmetrize
from pairweave.transforms.shards.shard import Shards
from pairweave.transforms.shards.shuffle import MakeShards
from pairweave.transforms.text.tokens import add_tokens


def aligned_shards(
    pipeline: beam.Pipeline, rows: ScreenedRows, run: Run, wanted: frozenset[int]
) -> Shards:
    """Shuffle rows into shards, cut them into tokens, align them, symmetrize the links."""
    options = run.options
    assert isinstance(options, AlignOptions | AugmentOptions)
    aligned = linked_shards(pipeline, rows, run, wanted) | "Symmetrize" >> EachShard(
        symmetrize, config=pick(SymmetrizeConfig, options)
    )
    if run.second is None:
        return aligned
    assert not isinstance(run.second, TerAligner | GivenLinks)
    return aligned | "AlignAgain" >> AlignAgain(run.second, options.heuristic, options.combine)


def linked_shards(
    pipeline: beam.Pipeline, rows: ScreenedRows, run: Run, wanted: frozenset[int]
) -> Shards:
    """Shuffle rows into shards, cut them into tokens, align them in both directions."""
    options = run.options
    assert isinstance(options, AlignOptions | AugmentOptions)
    if isinstance(run.model, EncoderReference):
        # An encoder's pieces are cut where it is loaded.
        given = run.tokens is not None and run.tokens.kind != "pieces"
        cut = EachShard(add_tokens, config=run.tokens) if given else None
        step = encoder_step(run.model, options)
    elif isinstance(run.model, GivenLinks):
        cut = EachShard(add_tokens, config=run.tokens)
        step = LinkAsGiven(run)
    elif options.aligner == "external":
        cut = EachShard(add_tokens, config=run.tokens)
        step = AlignExternally(learned_aligner(pipeline, rows, run))
    else:
        model = fitted_aligner(pipeline, rows, run)
        cut, step = EachShard(tokenize, model, tokens=run.tokens), EachShard(align, model)
    shards = rows.batches | "Shuffle" >> MakeShards(run.shards, wanted)
    if cut is not None:
        shards = shards | "Tokenize" >> cut
    return shards | "Align" >> step


def encoder_step(
    reference: EncoderReference, options: AlignerSettings
) -> beam.PTransform[Shards, Shards]:
    """Return the step that aligns with an encoder, held where the options say."""
    # What Beam's inference imports, torch among it, takes seconds that other jobs need not spend.
    from pairweave.models.encoder.handler import AlignShards, Hosting

    return AlignShards(reference, Hosting(**{name: getattr(options, name) for name in HOSTING}))
