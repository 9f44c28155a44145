"""From a job's options to its plan: every input is read once, nothing is written."""

import hashlib
import importlib.metadata
import math

from pipelines import external_choice, plan_facts, second_choice, worker
from pipelines.aligner_choice import (
    HOSTING,
    choose_aligner,
    model_name,
    program_settings,
    screen_tokens,
    tokens_text,
    unused_options,
)
from pipelines.cores import share_cores
from pipelines.corpora import corpora_of
from pipelines.job_options import AugmentOptions
from pipelines.options import CorpusOptions, JobOptions, unsaid_options
from pipelines.representation import symbols_in_text
from pipelines.run import Run
from pipelines.scorer_choice import choose_scorer
from pipelines.suggest_options import SuggestOptions
from pipelines.translator_choice import choose_translator, unused_translator_options
from transforms import run_files
from transforms.plan import make_plan
from transforms.screen import RESERVED, ScreenConfig, load_exclude
from transforms.signature import signature
from transforms.span_lengths import read_golden
from transforms.tag_profile import read_profile
from transforms.units import ReadLimits
from transforms.write import to_json

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


def prepare(job: str, options: JobOptions) -> Run:
    """Plan a job: read every input once, write nothing.

    Raises:
        ConfigError: The options or the input cannot be used.
    """
    if options.engine == "local" and options.workers > 1:
        worker.prepare_forks()  # now, before anything that may start a thread
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
        "models": [] if reference or job == run_files.FIT else [model_name(options)],
    }
    if golden is not None:
        document["golden"] = golden
    if profile is not None:
        document["tag_profile"] = profile
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
    )
    return share_cores(run)


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
