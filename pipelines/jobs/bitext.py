"""The job ``bitext``: document pairs become sentence pairs."""

import itertools
from collections.abc import Mapping

import apache_beam as beam
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.models.hmm import hmm_reference
from pairweave.models.hmm.hmm import HmmConfig
from pairweave.models.hmm.hmm_reference import NO_MODEL
from pairweave.models.sentences.document_aligning import (
    aligned_rows,
    found_pairs,
    rows_of_half,
    sure_pairs,
)
from pairweave.models.sentences.document_reading import DocumentSettings, is_table
from pairweave.models.similarity.similarity_options import options_of_scorer
from pairweave.pipelines.job_options.bitext_options import BitextOptions
from pairweave.pipelines.jobs.screened_rows import ScreenRows
from pairweave.pipelines.options.base import FITTING
from pairweave.pipelines.options.named_files import files_read
from pairweave.pipelines.parts.aligner_parts import ALIGNER
from pairweave.pipelines.parts.sentences_part import PARALLEL_TEXT, SENTENCES
from pairweave.pipelines.parts.text_parts import SCREEN
from pairweave.pipelines.run.beside_output import BesideFile, check_beside
from pairweave.pipelines.run.job import Job
from pairweave.pipelines.run.prepare import expected_rows
from pairweave.pipelines.run.run import Run
from pairweave.pipelines.steps.documents import Documents, EachDocument, Model
from pairweave.pipelines.steps.hmm_fitting import fit_aligner
from pairweave.pipelines.steps.steps import (
    Commit,
    GatherSample,
    LearnFromSample,
    MapBatches,
    ReadUnits,
    WriteShards,
    screen_rows,
)
from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_values import refuse_given
from pairweave.transforms.output.line_files import bead_files
from pairweave.transforms.output.write import ShardOutput
from pairweave.transforms.sentences.bead_rows import LeastScores, sentences_table
from pairweave.transforms.sentences.splitting import splitting_of
from pairweave.transforms.shards.shard import Batches, Shard
from pairweave.transforms.shards.shuffle import MakeShards
from pairweave.transforms.storage import files
from pairweave.transforms.units import Plan

_NOTHING_TO_FIT = (
    "there is nothing to fit the aligner on: no two sentences of the documents are certain to be a "
    "pair by their lengths alone; give parallel text (--parallel_source_input and "
    "--parallel_target_input) or a fitted --model"
)


def check(options: BitextOptions) -> None:
    """Refuse options that cannot be combined."""
    of_words = options_of_scorer(BitextOptions, "words")
    if options.model is not None:
        why = (
            "{applies} to an aligner fitted in the run, but --model is fitted; leave {it} or "
            "--model out"
        )
        refuse_given(options, of_words - {"model"}, why)
    for corpus in (options, *options.corpora):
        if corpus.document_field is not None and corpus.source_input:
            raise ConfigError(
                "--document_field: names a field of --input, tables of document pairs"
            )
        if corpus.pair_by == "name" and corpus.input:
            raise ConfigError("--pair_by name: applies to --source_input and --target_input")
        if corpus.format == "lxm":
            raise ConfigError(
                "--format lxm: its entries are paired by their names and need no bitext; give it "
                "to filter, align or augment"
            )
    if options.scorer == "words":
        for name in sorted(options_of_scorer(BitextOptions, "encoder")):
            if name in options.model_fields_set and getattr(options, name) is not None:
                raise ConfigError(f"--{name}: give --scorer encoder or --scorer both as well")
    else:
        if options.encoder is None:
            raise ConfigError(f"--scorer {options.scorer}: give --encoder as well")
        if options.paragraphs == "first":
            raise ConfigError("--paragraphs first: applies to --scorer words")
    if not options.aligns:
        why = "--scorer encoder does not use an hmm; leave {it} out"
        refuse_given(options, of_words | FITTING, why)
    if not options.fits_alone:
        why = (
            "applies to an aligner fitted on the documents alone; leave it out, or leave out the "
            "parallel text or the --model"
        )
        refuse_given(options, ["min_document_gain"], why)
    if bool(options.parallel_source_input) != bool(options.parallel_target_input):
        raise ConfigError("give both parallel_source_input and parallel_target_input, or neither")


def bead_files_of(run: Run[BitextOptions]) -> list[BesideFile]:
    """Return the file of beads, if the options request one.

    Raises:
        ConfigError: The file is in the output, or the run reads it.
    """
    wanted, output = run.options.beads, run.options.output
    if wanted is None:
        return []
    inputs = {file.path for file in run.plan.files}.union(files_read(run.options))
    check_beside("beads", wanted, output, inputs)
    units = [unit.index for unit in run.plan.units]

    def content() -> bytes:
        return bead_files.collect(files.absolute(output), run.digest, units)

    return [BesideFile(wanted, content)]


def check_run(run: Run[BitextOptions]) -> None:
    """Refuse tables in a format whose rows cannot be documents."""
    for unit in run.plan.units:
        if unit.parts[0].role == "pairs" and not is_table(unit):
            raise ConfigError(
                f"{unit.file}: bitext reads tables of document pairs as .jsonl, .parquet or .tsv, "
                f"but this is {unit.format}"
            )


def graph(pipeline: beam.Pipeline, run: Run[BitextOptions], wanted: frozenset[int]) -> None:
    """Align by length, fit, align by words, fit again; align, screen, shuffle, write, commit."""
    options, config = run.options, run.write_config
    models: Mapping[str, Model] = {"model": NO_MODEL}
    if isinstance(run.model, hmm_reference.HmmReference):
        models = {"model": run.model}
    elif options.aligns:
        models = fitted_models(pipeline, run)
    align = EachDocument(
        aligned_rows,
        models,
        settings=document_settings(run),
        least=least_scores(options),
        output=config.output,
        plan=run.digest,
        first=first_documents(run.plan),
        encoder=run.result_of(SENTENCES),
    )
    rows = pipeline | "Documents" >> Documents(run.plan.units) | "Align" >> align
    rows = rows | "Screen" >> ScreenRows(run, None)
    shards = rows | "Shuffle" >> MakeShards(run.shards, wanted, begin=run.begin)
    named = any(is_table(unit) for unit in run.plan.units)
    schema = schemas.NAMED_SENTENCES if named else schemas.SENTENCES
    step = WriteShards(finish, config, schema=schema)
    receipts = shards | "Sentences" >> step
    _ = receipts | "Commit" >> Commit(config, {}, allow_empty=options.allow_empty)


def least_scores(options: BitextOptions) -> LeastScores:
    """Return the minimum scores of pairs and documents."""
    least = options.least_scores
    return LeastScores(least["min_score"], least["min_document_score"], options.min_document_gain)


def first_documents(plan: Plan) -> dict[int, int]:
    """Return the number of the first document of each unit."""
    counts = [unit.rows if is_table(unit) else 1 for unit in plan.units]
    starts = itertools.accumulate([0, *counts])
    return {unit.index: start for unit, start in zip(plan.units, starts, strict=False)}


def document_settings(run: Run[BitextOptions]) -> DocumentSettings:
    """Return how documents are read and cut."""
    options = run.options
    assert run.tokens is not None
    return DocumentSettings(
        run.limits,
        run.tokens,
        run.screen.max_tokens,
        splitting_of(options.split),
        options.paragraphs,
    )


def fitted_models(pipeline: beam.Pipeline, run: Run[BitextOptions]) -> dict[str, Model]:
    """Return the aligner fitted on the documents, as ``model``.

    If it is fitted on the documents alone, ``half_0`` and ``half_1`` are aligners fitted on either
    half of the pairs. Models of an earlier attempt are reused. Each fit reads the input again,
    because a step cannot use a model that is fitted on its output.
    """
    options, plan = run.options, run.result_of(PARALLEL_TEXT)
    models: dict[str, Model] = {}
    for iteration in range(1, options.iterations + 1):
        last = iteration == options.iterations
        places = {"model": "" if last else f"-{iteration}"}
        if last and plan is None:
            places |= {f"half_{half}": f"-half-{half}" for half in (0, 1)}
        fitted = {
            name: hmm_reference.find_whole(run.model_directory + place)
            for name, place in places.items()
        }
        pairs: Batches | None = None
        previous, models = models, {}
        for name, reference in fitted.items():
            if reference is not None:
                models[name] = reference
                continue
            if pairs is None:
                pairs = pairs_to_fit_on(pipeline, run, plan, previous, iteration)
            models[name] = fit_on(pairs, run, plan, name, places[name], iteration)
    return models


def pairs_to_fit_on(
    pipeline: beam.Pipeline,
    run: Run[BitextOptions],
    plan: Plan | None,
    models: Mapping[str, Model],
    iteration: int,
) -> Batches:
    """Return the pairs that an aligner is fitted on, from the documents and from parallel text."""
    find = found_pairs if models else sure_pairs
    step = EachDocument(find, models, settings=document_settings(run))
    documents = pipeline | f"Documents{iteration}" >> Documents(run.plan.units)
    pairs: Batches = documents | f"Pairs{iteration}" >> step
    if plan is not None:
        read = pipeline | f"Parallel{iteration}" >> ReadUnits(plan.units, run.limits)
        parallel = read | f"Screen{iteration}" >> MapBatches("Rules", screen_rows, run.screen)
        pairs = (pairs, parallel) | f"Join{iteration}" >> beam.Flatten()
    return pairs


def fit_on(
    pairs: Batches,
    run: Run[BitextOptions],
    plan: Plan | None,
    name: str,
    place: str,
    iteration: int,
) -> Model:
    """Return an aligner fitted on pairs, or on a half of them.

    Args:
        pairs: The pairs.
        run: The planned job.
        plan: The parallel text among the pairs, if there is any.
        name: ``model``, or ``half_0`` or ``half_1`` for the pairs of that half.
        place: Suffix of the directory of the run's model.
        iteration: Number of the fit.
    """
    options = run.options
    if name != "model":
        half = beam.Map(rows_of_half, half=int(name[-1])).with_output_types(pa.RecordBatch)
        pairs = pairs | f"Rows_{name}" >> half
    rows = expected_rows(run.plan, options) + (plan.rows if plan else 0)
    fit = LearnFromSample(
        "Fit",
        GatherSample(rows, options.fit_pairs, options.seed),
        fit_aligner,
        directory=run.model_directory + place,
        tokens=run.tokens,
        config=HmmConfig(decode=options.decode),
        threads=options.workers,
        facts=run.language_facts(),
        allow_empty=options.allow_empty or name != "model",
        nothing=_NOTHING_TO_FIT,
    )
    label = f"Fit{iteration}" + ("" if name == "model" else f"_{name}")
    return beam.pvalue.AsSingleton(pairs | label >> fit)


def finish(shard: Shard, schema: pa.Schema) -> ShardOutput:
    """Turn the kept beads into the rows of the output, and count them."""
    table = sentences_table(shard.kept, schema)
    sides = [table.column(f"{side}_sentences") for side in ("source", "target")]
    single = pc.equal(table.column("bead"), "1-1")
    counts = {
        "pairs": table.num_rows,
        "one_to_one_pairs": pc.sum(single, min_count=0).as_py(),
        "source_sentences": pc.sum(pc.list_value_length(sides[0]), min_count=0).as_py(),
        "target_sentences": pc.sum(pc.list_value_length(sides[1]), min_count=0).as_py(),
    }
    return ShardOutput(shard, table, counts)


JOB = Job(
    name="bitext",
    options=BitextOptions,
    parts=(ALIGNER, SCREEN, PARALLEL_TEXT, SENTENCES),
    graph=graph,
    check=check,
    check_run=check_run,
    refuses="documents",
    beside=bead_files_of,
)
main = JOB.main
