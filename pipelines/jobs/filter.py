"""The job ``filter``: applies rules to pairs, scores them, and selects the best."""

import functools
from collections.abc import Sequence

import apache_beam as beam
import pyarrow as pa

from pairweave.models.hmm.hmm_reference import HmmReference
from pairweave.models.hmm.pair_scores import scoring_models
from pairweave.models.similarity.compared_pairs import count_pieces, judge_and_compare
from pairweave.pipelines.aligners.aligner_choice import choose_aligner
from pairweave.pipelines.job_options.filter_options import FilterJobOptions
from pairweave.pipelines.jobs.screened_rows import screened_rows
from pairweave.pipelines.options.corpora import corpora_of
from pairweave.pipelines.parts.aligner_parts import ALIGNER
from pairweave.pipelines.parts.excluded_pairs import EARLIER, KNOWN_PAIRS
from pairweave.pipelines.parts.look_part import LOOK
from pairweave.pipelines.parts.rule_parts import RULES, check_detector
from pairweave.pipelines.parts.scorer_part import SCORER, Similarity
from pairweave.pipelines.parts.text_parts import SCREEN, screen_of
from pairweave.pipelines.process import terminal
from pairweave.pipelines.run.beside_output import BesideFile, line_file
from pairweave.pipelines.run.job import Job
from pairweave.pipelines.run.run import Run
from pairweave.pipelines.steps.comparing_sentences import CompareSentences
from pairweave.pipelines.steps.earlier_pairs import RejectEarlier
from pairweave.pipelines.steps.hmm_fitting import nothing_to_fit
from pairweave.pipelines.steps.near_duplicates import FindNearCopies
from pairweave.pipelines.steps.scoring_pairs import (
    FindBorder,
    ReadScored,
    SelectAll,
    WriteScored,
    judge_and_score,
    tokenize,
)
from pairweave.pipelines.steps.steps import (
    Commit,
    GatherSample,
    LearnFromSample,
    MapBatches,
    MapShards,
    WriteShards,
)
from pairweave.transforms import schemas
from pairweave.transforms.config import pick
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.filtering import (
    annotated,
    filtered,
    rules,
    scored_shards,
    vector_files,
)
from pairweave.transforms.filtering.deduplication.duplicates import masked_shard_numbers
from pairweave.transforms.filtering.deduplication.earlier import Division, parts_of
from pairweave.transforms.filtering.judging import (
    judge_and_score_by_plugin,
    reject_by_rules,
    reject_low_scores,
    settle,
    take_scores,
)
from pairweave.transforms.filtering.plugin_rules import plan_rules
from pairweave.transforms.filtering.rule_options import DuplicateConfig
from pairweave.transforms.filtering.rule_preview import preview_lines
from pairweave.transforms.filtering.rules import RuleConfig
from pairweave.transforms.filtering.score import Weights
from pairweave.transforms.filtering.scored_shards import Place
from pairweave.transforms.filtering.selection import Aim
from pairweave.transforms.formats.registry import read_first
from pairweave.transforms.output import receipts
from pairweave.transforms.output.line_files.score_lines import score_lines
from pairweave.transforms.output.write import ShardOutput
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.plugins.entry_points import Plugin
from pairweave.transforms.rejects import Reason
from pairweave.transforms.screen import screen
from pairweave.transforms.shards.shard import Batches, Shard, Shards
from pairweave.transforms.shards.shuffle import MakeShards
from pairweave.transforms.storage import files
from pairweave.transforms.units import ReadLimits


def preview(options: FilterJobOptions) -> int | None:
    """Show the results of the rules for some pairs, if the options request that instead of a run.

    Raises:
        ConfigError: The options request a run, but give no output.
    """
    if options.preview is not None:
        check_detector(options.detector)
        _show_preview(options, options.preview)
        return 0
    if not options.output:
        raise ConfigError("--output is required; see pairweave filter --help")
    return None


def _show_preview(options: FilterJobOptions, pairs: int) -> None:
    """Print the results of the screen and the rules for the first pairs of each corpus.

    The input is planned as for a run, so it is read once; nothing is written.
    """
    limits = pick(ReadLimits, options)
    config_of_rules = pick(RuleConfig, options, plugins=plan_rules(options.plugin_rules))
    plan = make_plan(corpora_of(options), limits, options.unit_rows)
    _, tokens = choose_aligner(options)
    config = screen_of(options, tokens)
    if tokens is None:
        config = config.before_training()
    batches = [screen(batch, config) for batch in read_first(plan.units, limits, pairs)]
    rows = pa.Table.from_batches(batches, schemas.ROWS).unify_dictionaries()
    for line in preview_lines(rows, config_of_rules):
        terminal.say(line)


def check_run(run: Run[FilterJobOptions]) -> None:
    """Refuse a model that cannot score."""
    if isinstance(run.model, HmmReference):
        scoring_models(run.model)


def line_files(run: Run[FilterJobOptions]) -> list[BesideFile]:
    """Return the file of scores, if the options request one."""
    wanted = run.options.scores
    return [] if wanted is None else [line_file("scores", wanted, run, score_lines)]


def forget_scored(run: Run[FilterJobOptions]) -> None:
    """Delete the scored shards of a finished run."""
    scored_shards.delete(files.absolute(run.options.output))


def graph(pipeline: beam.Pipeline, run: Run[FilterJobOptions], wanted: frozenset[int]) -> None:
    """Read, screen, fit, shuffle, tokenize, judge and score; select, write, commit.

    Near-duplicates and a selection by rank need the scores of all shards, so scored shards are
    written, and read again once the border of the selection is known. Shards that an earlier
    attempt scored are reused.
    """
    options, config = run.options, run.write_config
    aim = Aim(options.select_words, options.select_share)
    if aim == Aim() and options.duplicates != "near":
        judged = scored(pipeline, run, wanted)
    else:
        judged = selected(pipeline, run, wanted, aim)
    if options.select_score is not None:
        judged = judged | "Select" >> MapShards(reject_low_scores, least=options.select_score)
    applied = run.result_of(RULES)
    write = WriteShards(
        finish,
        config,
        annotate=options.annotate_only,
        detects=applied.detector != "none",
        reasons=rules.reasons(applied),
    )
    written = judged | "Write" >> write
    _ = written | "Commit" >> Commit(config, {}, allow_empty=options.allow_empty)


def selected(
    pipeline: beam.Pipeline, run: Run[FilterJobOptions], wanted: frozenset[int], aim: Aim
) -> Shards:
    """Return the wanted shards, with a reason for near-duplicates and pairs not selected."""
    options, place = run.options, Place(run.write_config.output, run.write_config.plan)
    near = options.near_threshold if options.duplicates == "near" else None
    border = scored_shards.read_border(place)
    whole = scored_shards.finished(place, run.shards)
    missing = (frozenset(range(run.shards)) if border is None else wanted) - whole
    unread = receipts.unread_units(place.output, place.plan, len(run.plan.units))
    if missing or unread:
        numbers = scored(pipeline, run, missing) | "Scored" >> WriteScored(place, near)
    else:
        numbers = pipeline | "Scored" >> beam.Create([], reshuffle=False)
    if border is not None:
        after_scoring = beam.Map(lambda _, border, __: border, border, beam.pvalue.AsList(numbers))
        once = pipeline | "Border" >> beam.Create([0])
        return pipeline | "Selected" >> ReadScored(
            wanted, place, beam.pvalue.AsSingleton(once | "AfterScoring" >> after_scoring)
        )
    if near is not None:
        numbers = numbers | "NearDuplicates" >> FindNearCopies(place, run.shards, near)
    find = SelectAll(place) if aim == Aim() else FindBorder(place, run.shards, aim)
    end = beam.pvalue.AsSingleton(numbers | "FindBorder" >> find)
    return pipeline | "Selected" >> ReadScored(wanted, place, end)


def scored(pipeline: beam.Pipeline, run: Run[FilterJobOptions], wanted: frozenset[int]) -> Shards:
    """Return the wanted shards, whose working tables are SCORED rows."""
    options, scorer = run.options, run.result_of(SCORER)
    rows, pieces = screened_rows(pipeline, run)
    sampled = rows
    if run.fits and run.find_fitted() is None:
        sampled = rows | "Reject" >> MapBatches("Rules", reject_by_rules, run.result_of(RULES))
    if scorer is None:
        shards = _shuffled(rows, run, wanted)
        take = beam.Map(take_scores, config=run.result_of(RULES)).with_output_types(Shard)
        with_scores = shards | "Score" >> take
    elif isinstance(scorer, Plugin):
        with_scores = by_plugin(rows, run, wanted, scorer)
    elif isinstance(scorer, Weights):
        with_scores = by_aligner(rows, sampled, run, wanted, scorer, pieces)
    elif scorer.reference.scorer == "margin":
        with_scores = by_margin(rows, run, wanted, scorer)
    else:
        with_scores = by_encoder(rows, sampled, run, wanted, scorer)
    copies, nothing = pick(DuplicateConfig, options), nothing_to_fit(options, run.plan)
    settled = beam.Map(settle, copies=copies, nothing=nothing)
    with_scores = with_scores | "Settle" >> settled.with_output_types(Shard)
    earlier = run.result_of(EARLIER)
    if earlier is None:
        return with_scores
    division = Division(
        place=Place(run.write_config.output, run.write_config.plan),
        shards=run.shards,
        parts=parts_of(earlier.rows, run.shards),
        masked=options.duplicates != "exact",
    )
    return with_scores | "Earlier" >> RejectEarlier(earlier, run.limits, division)


def by_aligner(
    rows: Batches,
    sampled: Batches,
    run: Run[FilterJobOptions],
    wanted: frozenset[int],
    weights: Weights,
    pieces: beam.pvalue.AsSingleton | None,
) -> Shards:
    """Return the wanted shards with the scores of the statistical aligner and the rules.

    Args:
        rows: Screened rows.
        sampled: The rows that the aligner is fitted on, if the run fits one.
        run: The run.
        wanted: Numbers of the shards.
        weights: Weights of the score.
        pieces: The SentencePiece model that the run trains, if any.
    """
    aligner = run.aligner
    model = aligner.model(sampled, run, pieces)
    shards = _shuffled(rows, run, wanted)
    cut = functools.partial(aligner.cut, tokens=run.tokens)
    tokens = shards | "Tokenize" >> MapShards(tokenize, model, cut=cut)
    return tokens | "Score" >> MapShards(
        judge_and_score,
        model,
        config=run.result_of(RULES),
        weights=weights,
    )


def by_encoder(
    rows: Batches,
    sampled: Batches,
    run: Run[FilterJobOptions],
    wanted: frozenset[int],
    similarity: Similarity,
) -> Shards:
    """Return the wanted shards scored by the similarity of pieces; see `by_aligner`."""
    options = run.options
    counted = similarity.idf or run.find_fitted() or counted_pieces(sampled, run, similarity)
    shards = _shuffled(rows, run, wanted)
    score = MapShards(
        judge_and_compare,
        counted,
        reference=similarity.reference,
        config=run.result_of(RULES),
        every=options.annotate_only,
    )
    hints = {} if options.accelerator is None else {"accelerator": options.accelerator}
    return shards | "Score" >> score.with_resource_hints(**hints)


def counted_pieces(
    rows: Batches, run: Run[FilterJobOptions], similarity: Similarity
) -> beam.pvalue.AsSingleton:
    """Return the document frequencies of pieces in a sample of a run's rows, as a side input."""
    step = LearnFromSample(
        "Count",
        GatherSample(run.plan.rows, similarity.idf_pairs, run.options.seed),
        count_pieces,
        encoder=similarity.encoder,
        directory=run.model_directory,
        facts=run.language_facts(),
    )
    return beam.pvalue.AsSingleton(rows | "CountPieces" >> step)


def by_plugin(
    rows: Batches, run: Run[FilterJobOptions], wanted: frozenset[int], scorer: Plugin
) -> Shards:
    """Return the wanted shards scored by a scorer of another package; see `by_aligner`."""
    shards = _shuffled(rows, run, wanted)
    return shards | "Score" >> MapShards(
        judge_and_score_by_plugin,
        scorer=scorer,
        config=run.result_of(RULES),
        every=run.options.annotate_only,
    )


def by_margin(
    rows: Batches, run: Run[FilterJobOptions], wanted: frozenset[int], similarity: Similarity
) -> Shards:
    """Return the wanted shards scored by the margins of sentence vectors; see `by_aligner`."""
    options = run.options
    place = Place(run.write_config.output, run.write_config.plan)
    whole = vector_files.all_there(place, run.shards)
    encoded = wanted if whole else frozenset(range(run.shards))
    shards = _shuffled(rows, run, encoded, begins=False)
    return shards | "Score" >> CompareSentences(
        similarity.reference,
        place,
        run.shards,
        wanted,
        rules=run.result_of(RULES),
        every=options.annotate_only,
        accelerator=options.accelerator,
    )


def _shuffled(
    rows: Batches, run: Run[FilterJobOptions], wanted: frozenset[int], *, begins: bool = True
) -> Shards:
    """Return shards whose kept pairs are to be scored."""
    begin = run.begin if begins else None
    shards = rows | "Shuffle" >> MakeShards(run.shards, wanted, masked_shard_numbers, begin)
    if not run.options.annotate_only:
        return shards
    return shards | "TakeUp" >> beam.Map(annotated.take_up).with_output_types(Shard)


def finish(
    shard: Shard, *, annotate: bool, detects: bool, reasons: Sequence[Reason]
) -> ShardOutput:
    """Reject the pairs with a reason, unless pairs are only annotated, and count.

    Args:
        shard: A shard whose working table is SCORED rows.
        annotate: Whether all pairs are kept.
        detects: Whether there is a language detector.
        reasons: Reasons of the rules, in their order.
    """
    rows = shard.table
    counts = filtered.counts_of(annotated.passed_rows(shard), reasons)
    data = filtered.data_of(rows, annotate=annotate, detects=detects)
    if annotate:
        shard, data = annotated.with_every_pair(shard, data)
    else:
        shard = shard.reject_each(filtered.reasons_of(rows))
    return ShardOutput(shard, data, counts, histograms=filtered.column_bars(rows))


JOB = Job(
    name="filter",
    options=FilterJobOptions,
    parts=(RULES, ALIGNER, SCORER, SCREEN, EARLIER, KNOWN_PAIRS, LOOK),
    graph=graph,
    without_run=preview,
    check_run=check_run,
    refuses="pairs",
    beside=line_files,
    after=forget_scored,
)
main = JOB.main
