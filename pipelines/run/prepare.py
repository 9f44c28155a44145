"""Plan a job from its options."""

import dataclasses
import importlib.metadata
import math
from collections.abc import Sequence

from pairweave.models.similarity import idf
from pairweave.pipelines.aligners.aligner_choice import choose_aligner
from pairweave.pipelines.aligners.aligner_registry import aligner_of
from pairweave.pipelines.aligners.model_languages import (
    REFUSING,
    check_score_model,
    notices_on_languages,
)
from pairweave.pipelines.aligners.second_aligner_choice import choose_second
from pairweave.pipelines.aligners.token_choice import screen_tokens
from pairweave.pipelines.command_line import outputs
from pairweave.pipelines.engines import engines
from pairweave.pipelines.engines.local import worker
from pairweave.pipelines.filtering.earlier_corpus import earlier_plan
from pairweave.pipelines.model_choice import segmenter_choice
from pairweave.pipelines.model_choice.scorer_choice import choose_scorer
from pairweave.pipelines.model_choice.similarity_choice import choose_similarity
from pairweave.pipelines.model_choice.translator_choice import choose_translator
from pairweave.pipelines.options.base import PlannedOptions
from pairweave.pipelines.options.corpora import corpora_of
from pairweave.pipelines.process import terminal
from pairweave.pipelines.run import plan_facts
from pairweave.pipelines.run.configuration import flat_configuration, resolved_configuration
from pairweave.pipelines.run.cores import share_cores
from pairweave.pipelines.run.memory_plan import within_memory
from pairweave.pipelines.run.run import GraphT, Planned, PlannedT, Run
from pairweave.transforms.config import pick
from pairweave.transforms.filtering.rule_block import RuleBlockOptions
from pairweave.transforms.output import run_files
from pairweave.transforms.output.signature_line import signature
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.screen import ScreenConfig, load_exclude
from pairweave.transforms.storage import files
from pairweave.transforms.text.tokens import TokenConfig
from pairweave.transforms.units import Plan, ReadLimits

MEAN_PAIR_BYTES = 8 << 10
"""Average size of pairs above which shards have fewer pairs, so that a shard fits a table."""


UNIT_DOCUMENTS = 256
"""Maximum number of rows of a table of document pairs in one unit."""

SENTENCE_BYTES = 100
"""Average size of sentences, to estimate how many a text has before it is split."""


def expected_rows(plan: Plan, options: PlannedOptions) -> int:
    """Return the number of rows that a job will read: an estimate if texts are split first."""
    return max(plan.rows, plan.text_bytes // SENTENCE_BYTES) if options.splits else plan.rows


def shard_count(plan: Plan, rows: int, shard_pairs: int) -> int:
    """Return the number of shards that the number or the size of pairs requires.

    Args:
        plan: The plan.
        rows: Rows that the job will read.
        shard_pairs: Pairs in a shard.
    """
    by_pairs = math.ceil(rows / shard_pairs)
    by_bytes = math.ceil(plan.text_bytes / (shard_pairs * MEAN_PAIR_BYTES))
    return max(1, by_pairs, by_bytes)


def prepare(job: str, options: GraphT, extra: Sequence[str] = ()) -> Run[GraphT]:
    """Plan a job whose graph makes shards: read every input once, write nothing.

    Args:
        job: The job's name.
        options: Its options.
        extra: Beam options of the user.

    Raises:
        ConfigError: The options or the input cannot be used.
    """
    engines.check_place(options, extra)
    if options.engine == "local":
        worker.prepare_forks()  # Do this before anything that may start a thread.
    _check_rules(options)
    plan, limits = _plan_input(options)
    plan = dataclasses.replace(plan, notices=(*plan.notices, *options.notices()))
    reference, tokens = choose_aligner(options)
    if reference is not None:
        reference = aligner_of(options).of_plan(reference, plan)
        known = None if job in REFUSING else reference
        found = notices_on_languages(plan, known, translations=options.TRANSLATIONS)
        for notice in found:
            terminal.warn(f"warning: {notice}")
        plan = dataclasses.replace(plan, notices=(*plan.notices, *found))
    translator = choose_translator(options, plan.units)
    scorer = choose_scorer(options, plan.units)
    similarity = choose_similarity(options)
    screen = screen_of(options, tokens)
    second = choose_second(options, tokens)
    facts = options.plan_facts()
    segmenter = segmenter_choice.choose(options, plan.units, limits)
    glossary = options.read_glossary()
    earlier = earlier_plan(options, plan, limits)
    settings = resolved_configuration(
        options,
        reference=reference,
        tokens=tokens,
        second=second,
        translator=translator,
        scorer=scorer,
        similarity=similarity,
        segmenter=segmenter,
        glossary=glossary,
        earlier=earlier,
    )
    shards = shard_count(plan, expected_rows(plan, options), options.shard_pairs)
    fits = reference is None and options.aligns and options.WRITES_ROWS
    models = [aligner_of(options).model_name(options)] if fits else []
    if similarity is not None and similarity.counts:
        models = [idf.DIRECTORY]
    document = _document(job, options, plan, settings, shards=shards, models=models) | facts
    run = Run(
        job=job,
        options=options,
        plan=plan,
        limits=limits,
        screen=screen,
        document=document,
        digest=run_files.plan_digest(document),
        shards=shards,
        model=reference,
        tokens=tokens,
        second=second,
        translator=translator,
        scorer=scorer,
        similarity=similarity,
        segmenter=segmenter,
        glossary=glossary,
        earlier=earlier,
    )
    check_score_model(run)
    run = share_cores(within_memory(run))
    _warn_of_unknown_languages(plan)
    return run


def _check_rules(options: PlannedOptions) -> None:
    """Check, before the input is read, that the rules can be applied.

    Raises:
        ConfigError: The language detector is not installed, or the model cannot score.
    """
    if not isinstance(options, RuleBlockOptions) or options.filter is None:
        return
    if options.filter.score_model is not None:
        from pairweave.models.hmm import hmm_reference
        from pairweave.models.hmm.pair_scores import scoring_models

        hmm_reference.read(options.filter.score_model)
        found = hmm_reference.find(options.filter.score_model)
        if found is not None:
            scoring_models(found)
    if options.filter.detector != "none":
        from pairweave.transforms.filtering import detectors

        detectors.load(options.filter.detector)


def prepare_training(job: str, options: PlannedT) -> Planned[PlannedT]:
    """Plan a job that runs in one process without a graph: read every input once, write nothing.

    Raises:
        ConfigError: The options or the input cannot be used.
    """
    plan, limits = _plan_input(options)
    reference, tokens = choose_aligner(options)
    screen = screen_of(options, tokens)
    settings = resolved_configuration(options, reference=reference, tokens=tokens)
    document = _document(job, options, plan, settings, shards=1, models=[])
    _warn_of_unknown_languages(plan)
    return Planned(
        job=job,
        options=options,
        plan=plan,
        limits=limits,
        screen=screen,
        document=document,
        digest=run_files.plan_digest(document),
        shards=1,
        model=reference,
        tokens=tokens,
    )


def _plan_input(options: PlannedOptions) -> tuple[Plan, ReadLimits]:
    """Read every input once; return the plan of reading it, and the limits of the readers."""
    files.check_store(options.output)  # Check this before reading the input, which may be long.
    outputs.require_outside_tables("output", options.output)
    limits = pick(ReadLimits, options)
    corpora = corpora_of(options)
    aligner_of(options).check_corpora(options, corpora)
    if options.DOCUMENTS:
        corpora = tuple(dataclasses.replace(corpus, documents=True) for corpus in corpora)
        unit_rows = min(options.unit_rows, UNIT_DOCUMENTS)
        plan = make_plan(corpora, limits, unit_rows, documents=True)
    else:
        plan = make_plan(corpora, limits, options.unit_rows)
    outputs.require_apart("output", options.output, (one.path for one in plan.files))
    return plan, limits


def _warn_of_unknown_languages(plan: Plan) -> None:
    """Tell on standard error, and not in the plan, that input has no language tag."""
    sides = [
        side
        for side in ("source", "target")
        if any(getattr(unit, f"{side}_lang") == segmenter_choice.UNKNOWN for unit in plan.units)
    ]
    if sides:
        names = " and ".join(f"--{side}_lang" for side in sides)
        terminal.warn(
            f"warning: the {' and the '.join(sides)} language of some input is not known; give "
            f"{names}, such as en. Rules of a language (apostrophes in words, scripts, stems) are "
            "not applied to it"
        )


def screen_of(options: PlannedOptions, tokens: TokenConfig | None) -> ScreenConfig:
    """Return the settings of a job's screen."""
    return pick(
        ScreenConfig,
        options,
        excluded=load_exclude(options.exclude),
        tokens=screen_tokens(tokens),
        reserved=options.reserved_text(),
        translations=options.TRANSLATIONS,
    )


def _document(
    job: str,
    options: PlannedOptions,
    plan: Plan,
    settings: dict[str, object],
    *,
    shards: int,
    models: list[str],
) -> dict[str, object]:
    """Return the content of ``_plan.json`` for a job."""
    version = importlib.metadata.version("pairweave")
    return {
        "job": job,
        "version": version,
        "signature": signature({"job": job, **flat_configuration(settings)}, version),
        "configuration": settings,
        "corpora": plan_facts.corpora_facts(plan, options),
        "inputs": [plan_facts.input_facts(file) for file in plan.files],
        "units": [
            {
                "index": unit.index,
                "file": unit.file,
                "line": unit.first_line,
                "rows": unit.rows,
                # The rows of documents are known only once they are aligned.
                **({"aligned": True} if options.DOCUMENTS else {}),
                **({"unbounded": True} if options.splits else {}),
            }
            for unit in plan.units
        ],
        "reading": plan_facts.reading_facts(plan),
        "notices": [str(notice) for notice in plan.notices],
        "rows": plan.rows,
        "shards": shards,
        "models": models,
    }
