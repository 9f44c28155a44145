"""From a job's options to its plan: every input is read once, nothing is written."""

import importlib.metadata
import math

from pipelines import plan_facts, second_choice, worker
from pipelines.aligner_choice import choose_aligner, model_name, screen_tokens
from pipelines.configuration import flat_configuration, resolved_configuration
from pipelines.cores import share_cores
from pipelines.corpora import corpora_of
from pipelines.job_options import AugmentOptions
from pipelines.options import JobOptions
from pipelines.representation import symbols_in_text
from pipelines.run import Run
from pipelines.scorer_choice import choose_scorer
from pipelines.suggest_options import SuggestOptions
from pipelines.translator_choice import choose_translator
from transforms import run_files
from transforms.plan import make_plan
from transforms.screen import RESERVED, ScreenConfig, load_exclude
from transforms.signature import signature
from transforms.span_lengths import read_golden
from transforms.tag_profile import read_profile
from transforms.units import ReadLimits


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
    second = second_choice.choose_second(options, tokens)
    golden = None
    if isinstance(options, SuggestOptions) and options.fit_lengths:
        golden = read_golden(options.fit_lengths, options.target_lang).as_json()
    profile = None
    if isinstance(options, AugmentOptions) and options.tag_profile is not None:
        profile = read_profile(options.tag_profile).to_json()
    settings = resolved_configuration(
        options,
        reference=reference,
        tokens=tokens,
        second=second,
        translator=translator,
        scorer=scorer,
        profile=profile,
    )
    document: dict[str, object] = {
        "job": job,
        "version": version,
        "signature": signature({"job": job, **flat_configuration(settings)}, version),
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
