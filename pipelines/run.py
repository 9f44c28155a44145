"""How every job on a corpus runs: plan, claim, resume, graph, commit."""

import dataclasses
import hashlib
import importlib.metadata
import logging
import math
import os
import platform
import re
import time
from collections.abc import Callable, Sequence

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from models import encoder_store, store, translator_store
from models.encoder_store import EncoderReference
from models.translator_store import TranslatorReference
from pipelines import engines, external_choice, plan_facts, second_choice
from pipelines.aligner_choice import (
    HOSTING,
    Reference,
    choose_aligner,
    find_fitted,
    model_name,
    program_settings,
    screen_tokens,
    tokens_text,
    unused_options,
)
from pipelines.job_options import AugmentOptions
from pipelines.options import CorpusOptions, InputOptions, JobOptions, unsaid_options
from pipelines.progress import Progress
from pipelines.representation import symbols_in_text
from pipelines.scorer_choice import PairScorer, choose_scorer
from pipelines.suggest_options import SuggestOptions
from pipelines.translator_choice import choose_translator, unused_translator_options
from transforms import files, manifest
from transforms.errors import ConfigError, WorkerError
from transforms.plan import make_plan
from transforms.screen import RESERVED, ScreenConfig, load_exclude
from transforms.signature import signature
from transforms.span_lengths import read_golden
from transforms.tag_profile import read_profile
from transforms.tokens import TokenConfig
from transforms.units import CorpusInput, Plan, ReadLimits
from transforms.write import WriteConfig, to_json

LOG = logging.getLogger("pairweave")

UNDETERMINED = "und"
"""The language tag of text whose language nobody stated (BCP 47)."""

# Where a job runs and where its files lie: none of it may change an output byte.
_PLACE = {
    *("output", "engine", "workers", "attempts", "plan_only", "pharaoh", "exclude"),
    *("model", "revision", "translator_revision", "allow_empty", "fit_lengths"),
    *CorpusOptions.model_fields,
    "corpora",
    *HOSTING,
    *external_choice.PLACE,
    *second_choice.OPTIONS,
}


@dataclasses.dataclass(frozen=True)
class Run:
    """A job that is planned and may start.

    Attributes:
        job: The job's name.
        options: Its options.
        plan: Its input, cut into units.
        limits: What the readers accept.
        screen: What the screen accepts.
        document: What ``_plan.json`` says; it names no absolute path.
        digest: Its digest, which every receipt carries.
        shards: Number of shards.
        model: The given model; None if one is fitted first.
        tokens: How text is cut; None if a SentencePiece model is trained first.
        second: The second aligner, where there is one.
        translator: What translates sources without a translation, if anything does.
        scorer: What scores suggestions, if anything does.
    """

    job: str
    options: JobOptions
    plan: Plan
    limits: ReadLimits
    screen: ScreenConfig
    document: dict[str, object]
    digest: str
    shards: int
    model: Reference | None
    tokens: TokenConfig | None
    second: Reference | None = None
    translator: TranslatorReference | None = None
    scorer: PairScorer | None = None

    @property
    def write_config(self) -> WriteConfig:
        """Return where the run's shards go."""
        line = str(self.document["signature"])
        translator = None if self.translator is None else self.translator.digest
        output = files.absolute(self.options.output)
        return WriteConfig(output, self.shards, self.digest, line, translator)

    @property
    def model_directory(self) -> str:
        """Return where a model that this run fits goes."""
        output = files.absolute(self.options.output)
        if self.job == manifest.FIT:
            return output
        return files.join(output, model_name(self.options))

    def language_facts(self) -> dict[str, object]:
        """Return the languages that a model fitted by this run is for."""
        return {
            "source_lang": sorted({unit.source_lang for unit in self.plan.units}),
            "target_lang": sorted({unit.target_lang for unit in self.plan.units}),
        }


Graph = Callable[[beam.Pipeline], None]
"""Adds a job's steps to a pipeline."""


def prepare(job: str, options: JobOptions) -> Run:
    """Plan a job: read every input once, write nothing.

    Raises:
        ConfigError: The options or the input cannot be used.
    """
    version = importlib.metadata.version("pairweave")
    limits = ReadLimits(
        max_line_bytes=options.max_line_bytes,
        max_expansion=options.max_expansion,
        max_file_bytes=options.max_file_bytes,
        max_json_depth=options.max_json_depth,
    )
    plan = make_plan(corpora_of(options), limits, options.unit_rows)
    reference, tokens = choose_aligner(options)
    translator = choose_translator(options, plan.units)
    scorer = choose_scorer(options, plan.units)
    screen = ScreenConfig(
        max_tokens=options.max_tokens,
        max_ratio=options.max_ratio,
        max_token_chars=options.max_token_chars,
        drop_identical=options.drop_identical,
        exclude=load_exclude(options.exclude),
        tokens=screen_tokens(tokens),
        reserved=RESERVED.get(job, ""),
        symbols=symbols_in_text(options),
        translations=job == "suggest",
    )
    shards = max(1, math.ceil(plan.rows / options.shard_pairs))
    unused = unused_options(options) | unused_translator_options(options)
    left_out = _PLACE | unused | unsaid_options(options)
    settings = options.model_dump(mode="json", exclude=left_out)
    # JSON has no infinity.
    settings = {name: "inf" if value == math.inf else value for name, value in settings.items()}
    settings["model"] = reference.digest if reference else None
    settings["tokens"] = tokens_text(tokens)
    settings |= program_settings(options)
    second = second_choice.choose_second(options, tokens)
    settings |= second_choice.second_settings(options, second)
    if translator is not None:
        settings["translator"] = translator.digest
    if scorer is not None:
        settings["scorer"] = scorer.forward.digest
        settings["reverse_scorer"] = scorer.reverse.digest
    settings["exclude"] = plan_facts.files_facts(options.exclude)
    golden = None
    if isinstance(options, SuggestOptions):
        settings["fit_lengths"] = plan_facts.files_facts(options.fit_lengths)
        if options.fit_lengths:
            golden = read_golden(options.fit_lengths, options.target_lang).as_json()
    profile = None
    if isinstance(options, AugmentOptions) and options.tag_profile is not None:
        profile = read_profile(options.tag_profile).to_json()
        settings["tag_profile"] = hashlib.sha256(to_json(profile)).hexdigest()
    document: dict[str, object] = {
        "job": job,
        "version": version,
        "signature": signature({"job": job, **_flat(settings)}, version),
        "configuration": settings,
        "corpora": plan_facts.corpora_facts(plan, options),
        "inputs": [plan_facts.input_facts(file) for file in plan.files],
        "units": [
            {"index": unit.index, "file": unit.file, "line": unit.first_line, "rows": unit.rows}
            for unit in plan.units
        ],
        "reading": plan_facts.reading_facts(plan),
        "notices": [str(notice) for notice in plan.notices],
        "rows": plan.rows,
        "shards": shards,
        "models": [] if reference or job == manifest.FIT else [model_name(options)],
    }
    if golden is not None:
        document["golden"] = golden
    if profile is not None:
        document["tag_profile"] = profile
    return Run(
        job=job,
        options=options,
        plan=plan,
        limits=limits,
        screen=screen,
        document=document,
        digest=manifest.plan_digest(document),
        shards=shards,
        model=reference,
        tokens=tokens,
        second=second,
        translator=translator,
        scorer=scorer,
    )


def corpora_of(options: InputOptions) -> tuple[CorpusInput, ...]:
    """Return the corpora that flags or a YAML file name.

    Each corpus of a list takes what it leaves out, but for its files, from the options around it.

    Raises:
        ConfigError: There is none, or both ways are used at once.
    """
    single = CorpusOptions(**{name: getattr(options, name) for name in _corpus_options(options)})
    has_single = bool(single.input or single.source_input or single.target_input)
    if not options.corpora:
        if not has_single:
            raise ConfigError(
                "no input: give --input FILE ..., or --source_input FILE --target_input FILE, "
                "or a YAML file with corpora"
            )
        return (_corpus_input(single),)
    if has_single or single.translation_input or single.corpus is not None:
        raise ConfigError(
            "give corpora in the YAML file, or corpus, --input and --source_input, not both"
        )
    around = {name: getattr(single, name) for name in single.model_fields_set}
    names = [corpus.corpus for corpus in options.corpora]
    corpora = []
    for corpus in options.corpora:
        if corpus.corpus is None and corpus.licence is not None:
            raise ConfigError("a corpus with a licence needs a name (corpus: ...)")
        if corpus.corpus is not None and names.count(corpus.corpus) > 1:
            raise ConfigError(f"two corpora are named {corpus.corpus}; give each its own name")
        own = {name: getattr(corpus, name) for name in corpus.model_fields_set}
        corpora.append(_corpus_input(CorpusOptions(**{**around, **own})))
    return tuple(corpora)


def _corpus_options(options: InputOptions) -> set[str]:
    return options.model_fields_set & set(CorpusOptions.model_fields)


def _corpus_input(corpus: CorpusOptions) -> CorpusInput:
    values = corpus.model_dump(exclude={"corpus", "licence"})
    if corpus.source_lang is None and not _is_po(corpus):
        values["source_lang"] = UNDETERMINED
    values["target_lang"] = corpus.target_lang or UNDETERMINED
    return CorpusInput(name=corpus.corpus, **values)


def _is_po(corpus: CorpusOptions) -> bool:
    """Tell whether a corpus is PO, whose messages are English unless something else is said."""
    names = [re.sub(r"\.(gz|zst)$", "", name) for name in corpus.input]
    return corpus.format == "po" or (bool(names) and all(n.endswith(".po") for n in names))


def _flat(settings: dict[str, object]) -> dict[str, object]:
    """Return settings as a signature shows them: digests cut to 12 characters."""
    flat = dict(settings)
    digests = ("model", "second_model", "translator", "scorer", "reverse_scorer", "tag_profile")
    for name in digests:
        if flat.get(name) is not None:
            flat[name] = str(flat[name])[:12]
    flat["exclude"] = len(list(flat["exclude"]))  # type: ignore[call-overload]
    if "fit_lengths" in flat:
        golden = [file["sha256"][:12] for file in flat["fit_lengths"]]  # type: ignore[attr-defined]
        flat["fit_lengths"] = golden
    kind, colon, digest = str(flat["tokens"]).partition(":")
    flat["tokens"] = kind + colon.replace(":", "-") + digest[:12]
    return flat


def execute(
    run: Run,
    graph: Callable[[beam.Pipeline, Run, frozenset[int]], None],
    extra: Sequence[str],
    extra_files: dict[str, bytes],
    commit: Callable[[str], object] | None = None,
) -> None:
    """Claim the directory, make the shards that are missing, commit.

    Args:
        run: The planned job.
        graph: Adds the job's steps to a pipeline, for the shards that are wanted.
        extra: Beam options of the user.
        extra_files: Files to commit beside the shards.
        commit: How the run's directory is committed if nothing else is left to do; None for the
            way of a job that writes pairs.

    Raises:
        ConfigError: The user must mend something.
        WorkerError: The run failed on every attempt.
    """
    output = files.absolute(run.options.output)
    reused = 0

    def missing() -> Graph | None:
        nonlocal reused
        done = manifest.finished_shards(
            output, run.digest, run.shards, rejects_only=run.job == manifest.FIT
        )
        unread = manifest.unread_units(output, run.digest, len(run.plan.units))
        reused = max(reused, len(done))
        fitted = find_fitted(run.options, run.model_directory)
        fits = not run.model and fitted is None
        if done:
            LOG.info("%d of %d shards are there already", len(done), run.shards)
        wanted = frozenset(range(run.shards)) - done
        if not wanted and not unread and not fits:
            if commit is not None:
                commit(output)
            else:
                manifest.commit(output, extra_files, allow_empty=run.options.allow_empty)
            return None
        return lambda pipeline: graph(pipeline, run, wanted)

    check_start(run, extra)
    manifest.claim(output, run.document)
    started = time.time()
    attempts = resume(run, extra, missing)
    note_run(run, output, started, attempts, reused)


def check_start(run: Run, extra: Sequence[str]) -> None:
    """Find out, before a directory is claimed, what would stop a run as it starts.

    Args:
        run: The planned job.
        extra: Beam options of the user.

    Raises:
        ConfigError: The engine lacks something, or this machine, where the workers are to be,
            cannot run the encoder as it is configured.
    """
    with engines.beam_options(run.options.engine, run.options.workers, "check", extra):
        pass
    if isinstance(run.model, EncoderReference) and engines.works_here(run.options.engine, extra):
        encoder_store.check_device(run.model)


def resume(run: Run, extra: Sequence[str], missing: Callable[[], Graph | None]) -> int:
    """Run what is missing, and again after a failure, as often as the options allow.

    Args:
        run: The planned job.
        extra: Beam options of the user.
        missing: Returns the graph of what is still to be done, None if nothing is.

    Returns:
        How often a graph was run.

    Raises:
        ConfigError: The user must mend something.
        WorkerError: The run failed on every attempt.
    """
    for attempt in range(1, run.options.attempts + 1):
        graph = missing()
        if graph is None:
            return attempt - 1
        try:
            _attempt(run, graph, extra)
        except Exception as error:
            message, mendable = engines.failure_message(error)
            if mendable:
                raise ConfigError(message) from error
            if attempt == run.options.attempts:
                raise WorkerError(message) from error
            LOG.warning("attempt %d failed: %s; resuming", attempt, message)
        else:
            return attempt
    raise AssertionError("an attempt returns or raises")


def _attempt(run: Run, graph: Graph, extra: Sequence[str]) -> None:
    job_name = f"pairweave-{run.job}-{run.digest[:8]}"
    options = run.options
    with engines.beam_options(options.engine, options.workers, job_name, extra) as arguments:
        pipeline = beam.Pipeline(options=PipelineOptions(arguments))
        graph(pipeline)
        output = files.absolute(options.output)
        model = None if run.model else files.join(run.model_directory, store.ABOUT)
        progress = Progress(output, len(run.plan.units), run.shards, run.plan.rows, model)
        with progress:
            pipeline.run().wait_until_finish()


def note_run(run: Run, output: str, started: float, attempts: int, reused: int) -> None:
    """Write ``_run.json``: what differs between runs that make the same bytes.

    A command that found everything done says nothing of the run that did it.
    """
    if not attempts and files.exists(files.join(output, manifest.RUN)):
        return
    seconds = time.time() - started
    packages: tuple[str, ...] = ("pairweave", "apache-beam", "pyarrow", "numpy", "numba")
    if isinstance(run.model, EncoderReference):
        packages += ("torch", "transformers")
    translators = [run.translator]
    if run.scorer is not None:
        translators += [run.scorer.forward, run.scorer.reverse]
    for translator in translators:
        if translator is not None:
            packages += translator_store.packages(translator)
    note = {
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
        "seconds": round(seconds, 3),
        "pairs_per_second": round(run.plan.rows / seconds, 1) if seconds else None,
        "engine": run.options.engine,
        "workers": run.options.workers,
        "attempts": attempts,
        "shards_reused": reused,
        "machine": {"cores": os.cpu_count(), "platform": platform.platform()},
        "python": platform.python_version(),
        "packages": {name: importlib.metadata.version(name) for name in packages},
    }
    files.write_bytes(files.join(output, manifest.RUN), to_json(note))
