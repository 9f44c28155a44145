"""The step that fits the statistical aligner on a sample of a run's rows."""

from collections.abc import Callable, Iterable

import apache_beam as beam
import pyarrow as pa

from pairweave.models.hmm import hmm_reference
from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.hmm.phrase_table import build_phrase_table
from pairweave.models.hmm.prior import Earlier
from pairweave.models.hmm.word_order import build_word_order
from pairweave.pipelines.options.base import FitSettings
from pairweave.pipelines.steps.aligner_run import AlignerRun
from pairweave.pipelines.steps.steps import GatherSample, LearnFromSample, Receipts, timed
from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.filtering.rule_block import RuleBlockOptions
from pairweave.transforms.links.monolingual import translated_only
from pairweave.transforms.output.run_files import REJECTS
from pairweave.transforms.shards.sample import gather_sample, why_empty
from pairweave.transforms.shards.shard import Batches
from pairweave.transforms.storage import files
from pairweave.transforms.text.iso_languages import primary_tag
from pairweave.transforms.text.tokens import TokenConfig, add_tokens
from pairweave.transforms.units import Plan

View = Callable[[pa.Table], pa.Table]

_NOTHING_TO_FIT = (
    "there is nothing to fit the aligner on: no pair passed {passed}, or the sample of "
    "--fit_pairs contains none of those that did; check the input, the limits of {passed} and "
    "the languages, or align with a fitted --model"
)

_NO_ROWS = "there is nothing to fit the aligner on: {why}; give files with pairs"

_NOTHING_SCREENED = _NOTHING_TO_FIT.format(passed=FitSettings.PASSED)


def fitted_model(
    rows: Batches,
    run: AlignerRun,
    pieces: beam.pvalue.AsSingleton | None,
    after: Receipts | None,
    *,
    translations: bool,
) -> beam.pvalue.AsSingleton:
    """Return a model fitted on a sample of a run's rows, as a side input.

    Args:
        rows: Screened rows.
        run: The run.
        pieces: The SentencePiece model that the run trains, if any.
        after: Receipts that must exist before a model is fitted.
        translations: Whether to fit it on translations and targets instead of sources and targets.
    """
    options = run.options
    facts = run.language_facts()
    if translations:
        facts["source_lang"] = facts["target_lang"]
    optional = {"pieces": pieces, "_after": None if after is None else beam.pvalue.AsList(after)}
    step = LearnFromSample(
        "Fit",
        GatherSample(run.plan.rows, options.fit_pairs, options.seed),
        fit_aligner,
        directory=run.model_directory,
        tokens=run.tokens,
        config=HmmConfig(decode=options.decode),
        threads=options.workers,
        facts=facts,
        allow_empty=options.may_fit_nothing,
        view=translated_only if translations else None,
        nothing=nothing_to_fit(options, run.plan),
        prior=None if options.prior_model is None else hmm_reference.find(options.prior_model),
        **{name: each for name, each in optional.items() if each is not None},
    )
    return beam.pvalue.AsSingleton(rows | "FitAligner" >> step)


def nothing_to_fit(options: FitSettings, plan: Plan) -> str:
    """Return the message for a run without a pair to fit an aligner on."""
    if plan.why_no_rows:
        return _NO_ROWS.format(why=plan.why_no_rows)
    has_rules = isinstance(options, RuleBlockOptions) and options.filter is not None
    return _NOTHING_TO_FIT.format(
        passed="the screen and the rules" if has_rules else options.PASSED
    )


def fit_aligner(
    element: tuple[int, Iterable[pa.Table]],
    directory: str,
    tokens: TokenConfig | None,
    config: HmmConfig,
    threads: int,
    facts: dict[str, object],
    *,
    allow_empty: bool = False,
    view: View | None = None,
    pieces: bytes = b"",
    nothing: str = _NOTHING_SCREENED,
    prior: hmm_reference.HmmReference | None = None,
    _after: list[str] | None = None,
) -> hmm_reference.HmmReference:
    """Fit an aligner on the parts of a sample and save it.

    Args:
        element: The sample's parts under one key.
        directory: Directory of the model.
        tokens: How text is cut; None for the pieces of the SentencePiece model.
        config: Settings of the fit.
        threads: Number of threads, which does not affect the model.
        facts: Further metadata of the model.
        allow_empty: Whether an empty sample gives no model instead of an error.
        view: Turns the sample's PAIRS rows into those that the aligner is fitted on.
        pieces: The SentencePiece model that the run trained, if any.
        nothing: Message for an empty sample.
        prior: An earlier fit that this one starts from.
        _after: Receipts that the step waited for.

    Returns:
        A reference to the model; `hmm_reference.NO_MODEL` for an empty sample, if that is allowed.

    Raises:
        ConfigError: The sample is empty and that is not allowed.
    """
    parts = list(element[1])
    sample = gather_sample(parts)
    if view is not None:
        sample = view(sample)
    if not sample.num_rows and allow_empty:
        return hmm_reference.NO_MODEL
    if not sample.num_rows:
        rejects = files.join(directory, REJECTS)
        why = why_empty(parts)
        where = f"; the rejected pairs are in {rejects}" if _after is not None and why else ""
        raise ConfigError(nothing + (f"; {why}" if why else "") + where)
    if tokens is None:
        tokens = TokenConfig("sentencepiece", pieces)
    cut = add_tokens(sample, tokens)
    with timed(sample.num_rows):
        model = fit(cut, config, threads, earlier_of(prior, facts))
    if prior is not None:
        facts = {**facts, "prior": prior.digest}
    # Only fragments need phrases; fragments are made of words and are between two languages.
    wanted = view is None and tokens.model is None
    phrases = build_phrase_table(model, cut, threads) if wanted else None
    order = build_word_order(model.parts.target, cut) if view is None else None
    packed = hmm_reference.pack(model, tokens, {**facts, "pairs": sample.num_rows}, phrases, order)
    return hmm_reference.save(directory, packed)


def earlier_of(
    prior: hmm_reference.HmmReference | None, facts: dict[str, object]
) -> Earlier | None:
    """Return an earlier fit, with its sides exchanged if more languages then agree."""
    if prior is None:
        return None
    fitted = hmm_reference.load(prior)
    sides = ("source_lang", "target_lang")
    theirs, ours = ([_languages(of.get(side)) for side in sides] for of in (fitted.about, facts))
    straight, crossed = (
        sum(bool(one & other) for one, other in zip(theirs, each, strict=True))
        for each in (ours, ours[::-1])
    )
    return Earlier(fitted.model.parts, prior.digest, exchanged=crossed > straight)


def _languages(tags: object) -> set[str]:
    """Return the languages of language tags, such as en for en-GB."""
    return {primary_tag(str(tag)) for tag in tags} if isinstance(tags, list) else set()


def no_tokens(table: pa.Table) -> pa.Table:
    """Return the TOKENS rows of a shard without pairs, for a run without a pair to fit a model on.

    Raises:
        ConfigError: The shard has pairs, which passed the screen but are not in the sample.
    """
    if table.num_rows:
        raise ConfigError(_NOTHING_SCREENED)
    return schemas.TOKENS.empty_table()
