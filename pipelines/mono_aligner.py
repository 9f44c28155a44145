"""The links of translations with their references, by any aligner, in the shards of a job."""

import functools

import apache_beam as beam
import pyarrow as pa
import pyarrow.compute as pc

from models import store
from models.encoder_store import EncoderReference
from models.ter_aligner import TerAligner
from pipelines.aligning import align_or_reject
from pipelines.fitting import fitted_aligner
from pipelines.run import Run
from pipelines.steps import EachShard
from transforms.errors import ConfigError
from transforms.monolingual import add_comparison, as_monolingual
from transforms.shards import Batches, Shard, Shards
from transforms.symmetrize import SymmetrizeConfig, symmetrize
from transforms.tokens import TokenConfig, add_tokens


def require_monolingual(run: Run) -> None:
    """Check that a given model was fitted within one language.

    Raises:
        ConfigError: It was fitted on pairs of two languages.
    """
    if not isinstance(run.model, store.ModelReference):
        return
    about = store.load(run.model).about
    languages = [about.get(name) for name in ("source_lang", "target_lang")]
    if languages[0] != languages[1]:
        shown = " to ".join(",".join(each or ["unknown"]) for each in languages)
        raise ConfigError(
            f"--model {run.model.directory}: was fitted from {shown}; translations are aligned "
            "with their references within one language. Leave --model out to fit one first, or "
            "fit it on translations as the source, both languages being that of the target"
        )


def align_monolingual(
    shards: Shards,
    pipeline: beam.Pipeline,
    rows: Batches,
    run: Run,
    heuristic: str = "grow-diag",
) -> Shards:
    """Align the translation of every pair with its target.

    Args:
        shards: Shards whose working tables are `transforms.schemas.PAIRS`.
        pipeline: The run's pipeline.
        rows: Screened rows; without a given model, one is fitted on their translations.
        run: The run; its model says which aligner.
        heuristic: How the two directions are combined.

    Returns:
        The shards, with `transforms.schemas.COMPARED` as working tables; a pair without a
        translation has no tokens there and no links. Pairs that an encoder cannot take are
        rejected.
    """
    config = SymmetrizeConfig(heuristic)
    if isinstance(run.model, TerAligner):
        step = EachShard(compare_by_edits, aligner=run.model, tokens=run.tokens, config=config)
    elif isinstance(run.model, EncoderReference):
        assert run.tokens is not None  # only a fitted aligner may train its own
        function = functools.partial(
            compare_or_reject, reference=run.model, tokens=run.tokens, config=config
        )
        return shards | "Compare" >> beam.Map(function).with_output_types(Shard)
    else:
        model = fitted_aligner(pipeline, rows, run, monolingual=True)
        step = EachShard(compare_by_model, model, tokens=run.tokens, config=config)
    return shards | "Compare" >> step


def compare_by_edits(
    pairs: pa.Table, aligner: TerAligner, tokens: TokenConfig, config: SymmetrizeConfig
) -> pa.Table:
    """Turn PAIRS rows into COMPARED rows with the aligner that has no model."""
    linked = aligner.align(add_tokens(as_monolingual(pairs), tokens))
    return add_comparison(pairs, symmetrize(linked, config))


def compare_by_model(
    pairs: pa.Table,
    reference: store.ModelReference,
    tokens: TokenConfig | None,
    config: SymmetrizeConfig,
) -> pa.Table:
    """Turn PAIRS rows into COMPARED rows with a fitted model; tokens None for the model's own."""
    fitted = store.load(reference)
    linked = fitted.model.align(add_tokens(as_monolingual(pairs), tokens or fitted.tokens))
    return add_comparison(pairs, symmetrize(linked, config))


def compare_or_reject(
    shard: Shard, reference: EncoderReference, tokens: TokenConfig, config: SymmetrizeConfig
) -> Shard:
    """Align a shard's pairs with an encoder; those that it cannot take are rejected."""
    number, kept, rejected, pairs = shard
    table = add_tokens(as_monolingual(pairs), tokens)
    number, kept, rejected, linked = align_or_reject((number, kept, rejected, table), reference)
    left = pairs.filter(pc.is_in(pairs.column("id"), linked.column("id").combine_chunks()))
    return number, kept, rejected, add_comparison(left, symmetrize(linked, config))
