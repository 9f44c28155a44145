"""The job ``suggest``: pairs and translations become translation-suggestion examples.

The examples are those of WeTS (Yang et al. 2022), made as Zhu et al. make them.
"""

import functools

import apache_beam as beam
import numpy as np
import pyarrow as pa

from pairweave.models.aligner import AlignerReference
from pairweave.models.translators.shard_translation import translate_or_reject
from pairweave.pipelines.aligners.aligner_options import AlignerSettings
from pairweave.pipelines.aligners.job_aligner import JobAligner
from pairweave.pipelines.job_options.suggest_options import SuggestOptions
from pairweave.pipelines.jobs.screened_rows import screened_rows
from pairweave.pipelines.options.text_options import SegmenterOptions, TranslatorOptions
from pairweave.pipelines.parts.aligner_parts import ALIGNER
from pairweave.pipelines.parts.excluded_pairs import KNOWN_PAIRS
from pairweave.pipelines.parts.look_part import LOOK
from pairweave.pipelines.parts.rule_parts import RULE_BLOCK
from pairweave.pipelines.parts.suggestion_parts import GOLDEN, PAIR_SCORER
from pairweave.pipelines.parts.text_parts import SCREEN, SEGMENTER
from pairweave.pipelines.parts.translator_part import TRANSLATOR
from pairweave.pipelines.run.job import Job
from pairweave.pipelines.run.run import Run
from pairweave.pipelines.steps.steps import Commit, MapShards, MapWholeShards, WriteShards
from pairweave.transforms.arrow.replaced_columns import replaced
from pairweave.transforms.config import pick
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.links.link_options import SymmetrizeConfig
from pairweave.transforms.links.monolingual import add_comparison, as_monolingual
from pairweave.transforms.links.phrase_extraction import unlinked
from pairweave.transforms.links.symmetrize import symmetrize
from pairweave.transforms.option_marks import mark_of
from pairweave.transforms.option_values import refuse_given
from pairweave.transforms.output.write import ShardOutput
from pairweave.transforms.rejects import Reject, Stage
from pairweave.transforms.shards.merge import pairs_of
from pairweave.transforms.shards.shard import Shard
from pairweave.transforms.shards.shuffle import MakeShards
from pairweave.transforms.suggestions.pair_filters import filter_pairs
from pairweave.transforms.suggestions.suggestion_options import (
    OF_LENGTHS,
    OF_METHODS,
    AlignedConfig,
    FilterConfig,
    HintConfig,
    RandomConfig,
)
from pairweave.transforms.suggestions.suggestion_scores import Scorer
from pairweave.transforms.suggestions.suggestions import (
    SuggestionConfig,
    draw_span_pairs,
    make_suggestions,
)
from pairweave.transforms.symbols.mask import MASK
from pairweave.transforms.text.tokens import TokenConfig, add_tokens


def _limits_of(*methods: str) -> set[str]:
    """Return the limits of an example that apply to only some methods."""
    fields = FilterConfig.model_fields.items()
    return {name for name, field in fields if mark_of(field, OF_METHODS) == list(methods)}


_OF_RANDOM = {*RandomConfig.model_fields, "fit_lengths"}
_OF_ALIGNMENT = {
    *AlignedConfig.model_fields,
    *SymmetrizeConfig.model_fields,
    *_limits_of("alignment"),
    # All methods use tokens.
    *(AlignerSettings.model_fields.keys() - {"tokens"}),
    *TranslatorOptions.model_fields,
}
_OF_SPANS = {*_limits_of("random", "alignment"), *SegmenterOptions.model_fields}


def check(options: SuggestOptions) -> None:
    """Refuse options of a method, a model or a distribution that is not used."""
    check_methods(options)
    kind = lengths_of(options)
    fields = SuggestOptions.model_fields.items()
    marks = {name: mark_of(field, OF_LENGTHS) for name, field in fields}
    others = {name for name, used in marks.items() if isinstance(used, list) and kind not in used}
    refuse_given(options, others, f"{{does}} not apply to --lengths {kind}; leave {{it}} out")
    if kind == "empirical" and not options.fit_lengths:
        raise ConfigError("--lengths empirical needs --fit_lengths FILE.mask FILE.tgt")


def check_methods(options: SuggestOptions) -> None:
    """Refuse given options that no method in use needs."""
    used = options.used_methods
    # A golden set is also compared with examples of the method alignment.
    of_random = _OF_RANDOM - ({"fit_lengths"} if "alignment" in used else set())
    for method, names in (("random", of_random), ("alignment", _OF_ALIGNMENT)):
        if method not in used:
            refuse_given(options, names, f"for the method {method}, {_why_unused(options, method)}")
    if used == {"parallel"}:
        why = (
            "for the methods random and alignment; parallel masks whole sentences, of any length. "
            "Leave {it} out, or name one of them in --methods"
        )
        refuse_given(options, _OF_SPANS, why)
    if not {"parallel"} < set(options.methods):
        why = "the ratio of parallel to other examples, so --methods must name parallel and another"
        refuse_given(options, ["mix"], f"{why} method")
    if options.hint != "letters":
        refuse_given(options, ["hint_letters"], "applies to --hint letters; give both")


def _why_unused(options: SuggestOptions, method: str) -> str:
    if method in options.methods:
        return f"of which --mix {options.mix:g} makes no examples; leave {{it}} out"
    return "which --methods does not name; leave {it} out, or name the method"


def lengths_of(options: SuggestOptions) -> str:
    """Return the distribution of the lengths of random spans."""
    return options.lengths or ("empirical" if options.fit_lengths else "geometric")


def check_run(run: Run[SuggestOptions]) -> None:
    """Refuse an aligner of two languages, and masks that cannot be drawn."""
    run.aligner.check_translations(run.model)
    suggestion_config(run)


def suggestion_config(run: Run[SuggestOptions]) -> SuggestionConfig:
    """Return how examples are made."""
    options = run.options
    empirical = lengths_of(options) == "empirical"
    golden = run.result_of(GOLDEN) if empirical else None
    return pick(
        SuggestionConfig,
        options,
        random=pick(RandomConfig, options),
        golden=golden,
        aligned=pick(AlignedConfig, options),
        filters=pick(FilterConfig, options),
        hints=pick(HintConfig, options),
        words="whitespace" if run.screen.tokens.kind == "whitespace" else "words",
        segmenter=run.result_of(SEGMENTER),
    )


def extra_files(_run: Run[SuggestOptions]) -> dict[str, bytes]:
    """Return ``symbols.txt``: the mask token, for SentencePiece."""
    return {"symbols.txt": f"{MASK}\n".encode()}


def graph(pipeline: beam.Pipeline, run: Run[SuggestOptions], wanted: frozenset[int]) -> None:
    """Read, screen, shuffle, filter; fit, translate, tokenize, align, compare; mask, write, commit.

    Only the method ``alignment`` uses translations.
    """
    options, aligner, config = run.options, run.aligner, run.write_config
    translator, scorer = run.result_of(TRANSLATOR), run.result_of(PAIR_SCORER)
    making = suggestion_config(run)
    rows, pieces = screened_rows(pipeline, run)
    shards = rows | "Shuffle" >> MakeShards(run.shards, wanted, begin=run.begin)
    # Cheap checks come before the translation and alignment of a pair.
    cheap = functools.partial(
        filter_pairs, filters=making.filters, words=making.words, scored=scorer is None
    )
    shards = shards | "FilterPairs" >> beam.Map(cheap).with_output_types(Shard)
    if "alignment" in options.used_methods:
        model = aligner.model(rows, run, pieces, translations=True)
        if translator is not None:
            looked_at = functools.partial(draw_span_pairs, making)
            settings = {"reference": translator, "config": run.screen, "wanted": looked_at}
            shards = shards | "Translate" >> MapWholeShards(translate_or_reject, **settings)
        cut = MapShards(cut_translations, model, aligner=aligner, tokens=run.tokens)
        tokens = shards | "Tokenize" >> cut
        linked = tokens | "Align" >> aligner.step(run, model, translations=True)
        compare = beam.Map(compare_linked, config=pick(SymmetrizeConfig, options))
        compared = linked | "Compare" >> compare.with_output_types(Shard)
    else:
        compared = shards | "Compare" >> MapShards(compare_nothing, tokens=run.tokens)
    write = WriteShards(finish, config, suggestions=making, scorer=scorer)
    receipts = compared | "MakeSuggestions" >> write
    _ = receipts | "Commit" >> Commit(config, extra_files(run), allow_empty=options.allow_empty)


def cut_translations(
    pairs: pa.Table, reference: AlignerReference, aligner: JobAligner, tokens: TokenConfig | None
) -> pa.Table:
    """Return PAIRS rows with translations as sources, tokenized for the aligner.

    Args:
        pairs: Pairs with translations.
        reference: Reference to the aligner.
        aligner: Its entry in the registry.
        tokens: How text is cut; None for the tokens that it was fitted on.
    """
    return aligner.cut(as_monolingual(pairs), reference, tokens)


def compare_linked(shard: Shard, config: SymmetrizeConfig) -> Shard:
    """Turn LINKED rows of translations into COMPARED rows.

    A pair without a translation has no translation tokens and no links.
    """
    links = symmetrize(shard.table, config)
    return shard.with_table(add_comparison(pairs_of(shard.kept), links))


def compare_nothing(pairs: pa.Table, tokens: TokenConfig) -> pa.Table:
    """Turn PAIRS rows into COMPARED rows as if no pair had a translation.

    This tokenizes targets when no method compares them with translations.
    """
    nothing = pa.nulls(pairs.num_rows, pairs.column("translation").type)
    bare = replaced(pairs, "translation", nothing)
    cut = add_tokens(as_monolingual(bare), tokens)
    return add_comparison(bare, unlinked(cut))


def finish(shard: Shard, suggestions: SuggestionConfig, scorer: Scorer | None) -> ShardOutput:
    """Make examples, reject the pairs that give none, and count the results."""
    scores = shard.kept.column("score").to_numpy()  # NaN where a pair has none
    examples = make_suggestions(shard.table, suggestions, scorer, scores)
    reasons, details = examples.reasons, examples.details
    for reason in sorted({reason for reason in reasons if reason is not None}):
        marks = np.equal(reasons, reason)
        texts = details[marks].tolist()
        shard = shard.reject(marks, Stage.SUGGEST, Reject(reason), texts)
        reasons, details = reasons[~marks], details[~marks]
    return ShardOutput(shard, examples.rows, examples.counts, examples.words, examples.histograms)


JOB = Job(
    name="suggest",
    options=SuggestOptions,
    parts=(
        RULE_BLOCK,
        ALIGNER,
        TRANSLATOR,
        PAIR_SCORER,
        SCREEN,
        GOLDEN,
        SEGMENTER,
        KNOWN_PAIRS,
        LOOK,
    ),
    graph=graph,
    check=check,
    check_run=check_run,
    extra_files=extra_files,
)
main = JOB.main
