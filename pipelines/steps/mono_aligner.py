"""The links of translations with their references, by any aligner, in the shards of a job."""

import apache_beam as beam
import pyarrow as pa

from pairweave.models import store
from pairweave.models.encoder.encoder_store import EncoderReference
from pairweave.models.given_links import GivenLinks
from pairweave.models.ter_aligner import TerAligner
from pairweave.pipelines.options.base import AlignerSettings
from pairweave.pipelines.run.run import Run
from pairweave.pipelines.steps.aligning import encoder_step
from pairweave.pipelines.steps.fitting import fitted_aligner
from pairweave.pipelines.steps.given_linking import LinkAsGiven
from pairweave.pipelines.steps.screened_rows import ScreenedRows
from pairweave.pipelines.steps.steps import EachShard
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.links.link_options import Heuristic
from pairweave.transforms.links.monolingual import add_comparison, as_monolingual
from pairweave.transforms.links.phrases import unlinked
from pairweave.transforms.links.symmetrize import SymmetrizeConfig, symmetrize
from pairweave.transforms.shards.merge import pairs_of
from pairweave.transforms.shards.shard import Shard, Shards
from pairweave.transforms.text.tokens import TokenConfig, add_tokens


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
            "fit one on translations as the source, with the target language as both languages"
        )


def align_monolingual(
    shards: Shards,
    pipeline: beam.Pipeline,
    rows: ScreenedRows,
    run: Run,
    heuristic: Heuristic = "grow-diag",
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
    config = SymmetrizeConfig(heuristic=heuristic)
    if isinstance(run.model, TerAligner):
        step = EachShard(compare_by_edits, aligner=run.model, tokens=run.tokens, config=config)
    elif isinstance(run.model, EncoderReference):
        assert isinstance(run.options, AlignerSettings)
        return (
            shards
            | "View" >> EachShard(cut_translations, tokens=run.tokens)
            | "Align" >> encoder_step(run.model, run.options)
            | "Compare" >> beam.Map(compare_linked, config=config).with_output_types(Shard)
        )
    elif isinstance(run.model, GivenLinks):
        return (
            shards
            | "View" >> EachShard(cut_translations, tokens=run.tokens)
            | "Align" >> LinkAsGiven(run, monolingual=True)
            | "Compare" >> beam.Map(compare_linked, config=config).with_output_types(Shard)
        )
    else:
        model = fitted_aligner(pipeline, rows, run, monolingual=True)
        step = EachShard(compare_by_model, model, tokens=run.tokens, config=config)
    return shards | "Compare" >> step


def cut_references(shards: Shards, run: Run) -> Shards:
    """Cut targets into tokens, where no method compares them with translations.

    Returns:
        The shards, with `transforms.schemas.COMPARED` as working tables, as if no pair had a
        translation.
    """
    return shards | "Compare" >> EachShard(compare_nothing, tokens=run.tokens)


def compare_nothing(pairs: pa.Table, tokens: TokenConfig) -> pa.Table:
    """Turn PAIRS rows into COMPARED rows without a translation."""
    place = pairs.schema.get_field_index("translation")
    field = pairs.schema.field(place)
    bare = pairs.set_column(place, field, pa.nulls(pairs.num_rows, field.type))
    cut = add_tokens(as_monolingual(bare), tokens)
    return add_comparison(bare, unlinked(cut))


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


def cut_translations(pairs: pa.Table, tokens: TokenConfig | None) -> pa.Table:
    """Return PAIRS rows with translations as sources, cut unless an encoder's pieces are meant."""
    assert tokens is not None  # only a fitted aligner may train its own
    view = as_monolingual(pairs)
    return view if tokens.kind == "pieces" else add_tokens(view, tokens)


def compare_linked(shard: Shard, config: SymmetrizeConfig) -> Shard:
    """Turn the LINKED rows that an encoder made of translations into COMPARED rows."""
    links = symmetrize(shard.table, config)
    return shard.with_table(add_comparison(pairs_of(shard.kept), links))
