"""Plan a job from its options; the content of its plan."""

import dataclasses
import importlib.metadata
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from pairweave.models.learned_languages import check_languages
from pairweave.pipelines.command_line import outputs
from pairweave.pipelines.engines import engine_flags, engines
from pairweave.pipelines.engines.local import worker
from pairweave.pipelines.options.base import (
    GraphOptions,
    InputOptions,
    PlannedOptions,
    left_out_options,
)
from pairweave.pipelines.options.corpora import corpora_of
from pairweave.pipelines.parts.look_part import LOOK
from pairweave.pipelines.parts.part import Part, Planning, Settled
from pairweave.pipelines.process import terminal, verbosity
from pairweave.pipelines.run.memory_plan import within_memory
from pairweave.pipelines.run.run import GraphT, Planned, Run
from pairweave.transforms.commit.claim import with_earlier_look
from pairweave.transforms.config import pick
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.finding_notices import finding_notices
from pairweave.transforms.findings import KINDS
from pairweave.transforms.output import run_files
from pairweave.transforms.output.documents.parts import FORMAT
from pairweave.transforms.output.signature_line import flat_configuration, signature
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.planning.reading_facts import input_facts, reading_facts
from pairweave.transforms.storage import files, json_files
from pairweave.transforms.text.iso_languages import UNDETERMINED
from pairweave.transforms.units import Notice, Plan, ReadLimits

_Kind = TypeVar("_Kind", bound=Planned[Any])
_Parts = Sequence[Part[Any, Any]]

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
    """Return the number of shards that the number or the size of pairs requires."""
    by_pairs = math.ceil(rows / shard_pairs)
    by_bytes = math.ceil(plan.text_bytes / (shard_pairs * MEAN_PAIR_BYTES))
    return max(1, by_pairs, by_bytes)


def prepare(
    name: str, parts: _Parts, options: GraphT, extra: Sequence[str], refuses: str | None
) -> Run[GraphT]:
    """Plan a job whose graph makes shards: read every input once, write nothing.

    Args:
        name: Name of the job.
        parts: Its parts, in the order in which they are planned.
        options: Its options.
        extra: Beam options of the user.
        refuses: The word for its input in the message that refuses a model for other languages;
            None if such a model only causes a notice.

    Raises:
        ConfigError: The options or the input cannot be used.
    """
    engine_flags.check_engine(options, extra)
    if engines.forks_workers(options.engine, extra):
        worker.prepare_forks()  # Do this before anything that may start a thread.
    run: Run[GraphT] = planned(Run, name, parts, options, refuses)
    return share_cores(within_memory(run))


def planned(
    kind: type[_Kind], name: str, parts: _Parts, options: PlannedOptions, refuses: str | None
) -> _Kind:
    """Plan the input and the parts; a job without a graph has one shard. See `prepare`."""
    plan, limits, settled = _settle(parts, options, refuses)
    _warn_of_unknown_languages(plan)
    shards = 1
    if isinstance(options, GraphOptions):
        shards = shard_count(plan, expected_rows(plan, options), options.shard_pairs)
    document = _document(name, options, plan, settled, shards)
    return kind(
        job=name,
        options=options,
        plan=plan,
        limits=limits,
        settled=settled,
        document=document,
        digest=run_files.plan_digest(document),
        shards=shards,
    )


def share_cores(run: Run[GraphT]) -> Run[GraphT]:
    """Give each copy of a neural model its share of the cores.

    One process handles a shard. If there are fewer shards than workers, or if workers share copies
    of an encoder, a copy processes several batches at once.
    """
    options = run.options
    if options.engine == "dataflow":
        return run  # Dataflow's workers are other machines, with one process per core.
    # Prism has one process, whose threads take turns using a model.
    processes = 1 if options.engine == "prism" else min(options.workers, run.shards)
    settled = {
        name: part.with_threads(options.workers // min(part.copies or processes, processes))
        for name, part in run.settled.items()
    }
    return dataclasses.replace(run, settled=settled)


def _settle(
    parts: _Parts, options: PlannedOptions, refuses: str | None
) -> tuple[Plan, ReadLimits, dict[str, Settled[Any]]]:
    """Plan the input, then each part; return the plan with all notices, and the parts' results."""
    checked = {part.name: part.check(options) for part in parts}
    plan, limits = _plan_input(parts, options)
    planning = Planning(plan, limits, checked=checked)
    for part in parts:
        planning.settled[part.name] = part.plan(options, planning)
    learned = [each for part in planning.settled.values() for each in part.learned]
    notices = [
        *(each for part in planning.settled.values() for each in part.notices),
        *check_languages(plan, learned, refuses, translations=options.TRANSLATIONS),
    ]
    _warn_of(notices, planning.settled)
    # A finding of planning is already a notice of the plan.
    said = dict.fromkeys((*plan.notices, *options.notices(), *notices))
    plan = dataclasses.replace(plan, notices=tuple(said))
    return plan, limits, planning.settled


def _warn_of(notices: Sequence[Notice], settled: Mapping[str, Settled[Any]]) -> None:
    """Print the warnings of planning; a log in JSON has each finding of the look as an object."""
    looked = settled[LOOK.name].result if LOOK.name in settled else None
    told = () if looked is None else looked.told
    if looked is not None and verbosity.current().log_format == "json":
        for finding in told:
            terminal.warn(f"warning: {finding}", finding.as_json())
        notices = [notice for notice in notices if notice.code not in KINDS]
        told = ()
    # Some findings are not notices of the run, because the run counts such pairs itself.
    for notice in dict.fromkeys((*notices, *finding_notices(told))):
        terminal.warn(f"warning: {notice}")


def _plan_input(parts: _Parts, options: PlannedOptions) -> tuple[Plan, ReadLimits]:
    """Read every input once; return the plan of reading it, and the limits of the readers."""
    files.check_store(options.output)  # Check this before reading the input, which may be long.
    outputs.require_outside_tables("output", options.output)
    outputs.require_outside_runs("output", options.output)
    limits = pick(ReadLimits, options)
    corpora = corpora_of(options)
    for corpus in corpora:
        patterns = (*corpus.input, *corpus.source_input, *corpus.target_input)
        outputs.require_unmatched("output", options.output, patterns)
    for part in parts:
        part.check_corpora(options, corpora)
    if options.DOCUMENTS:
        corpora = tuple(dataclasses.replace(corpus, documents=True) for corpus in corpora)
        unit_rows = min(options.unit_rows, UNIT_DOCUMENTS)
        plan = make_plan(corpora, limits, unit_rows, documents=True)
    else:
        plan = make_plan(corpora, limits, options.unit_rows)
    outputs.require_apart("output", options.output, (file.path for file in plan.files))
    return plan, limits


def _warn_of_unknown_languages(plan: Plan) -> None:
    """Warn of input without a language tag, on standard error and not in the plan."""
    sides = [
        side
        for side in ("source", "target")
        if any(getattr(unit, f"{side}_lang") == UNDETERMINED for unit in plan.units)
    ]
    if sides:
        names = " and ".join(f"--{side}_lang" for side in sides)
        terminal.warn(
            f"warning: the {' and the '.join(sides)} language of some input is not known; give "
            f"{names}, such as en. Rules of a language (apostrophes in words, scripts, stems) are "
            "not applied to it"
        )


def _document(
    job: str,
    options: PlannedOptions,
    plan: Plan,
    settled: dict[str, Settled[Any]],
    shards: int,
) -> dict[str, object]:
    """Return the content of ``_plan.json`` for a job."""
    fitted = [part.fitting.directory for part in settled.values() if part.fitting is not None]
    version = importlib.metadata.version("pairweave")
    settings = configuration(options, settled.values())
    # Convert to plain values: the types of settings only matter for the signature.
    plain = json_files.parse_object(run_files.to_json(settings), run_files.PLAN)
    facts = {name: fact for part in settled.values() for name, fact in part.facts.items()}
    document = {
        "format": FORMAT,
        "job": job,
        "version": version,
        "signature": signature({"job": job, **flat_configuration(settings)}, version),
        "configuration": plain,
        "corpora": corpora_facts(plan, options),
        "inputs": [input_facts(file) for file in plan.files],
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
        "reading": reading_facts(plan),
        "notices": [str(notice) for notice in plan.notices],
        "rows": plan.rows,
        "shards": shards,
        "models": fitted if options.WRITES_ROWS else [],
        **({} if options.WRITES_ROWS else {run_files.WRITES_ROWS: False}),
        **facts,
    }
    return with_earlier_look(options.output, document)


def configuration(options: PlannedOptions, settled: Iterable[Settled[Any]]) -> dict[str, object]:
    """Return the settings of a job for its plan: its options, and the settings of its parts.

    A setting that any part leaves out is left out, even if another part lists it.
    """
    parts = list(settled)
    elsewhere = {"corpora", *options.corpus_kind().model_fields} | left_out_options(options)
    left_out: set[str] = set().union(*(part.left_out for part in parts))
    settings = options.model_dump(mode="json", exclude=elsewhere | left_out)
    for part in parts:
        settings |= {name: each for name, each in part.settings.items() if name not in left_out}
    return {name: _finite(value) for name, value in settings.items()}


def _finite(value: object) -> object:
    """Return a value without infinity, which JSON does not have."""
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    return "inf" if value == math.inf else value


def corpora_facts(plan: Plan, options: InputOptions) -> list[dict[str, object]]:
    """Return the plan's entry for each corpus.

    Raises:
        ConfigError: A corpus in the rows of finished runs has another licence in other input.
    """
    licences = {corpus.corpus: corpus.licence or options.licence for corpus in options.corpora}
    facts: dict[str, dict[str, object]] = {}
    for unit in plan.units:
        own = ((unit.corpus, licences.get(unit.corpus, options.licence)),)
        for name, licence in unit.earlier or own:
            entry = facts.setdefault(
                name,
                {
                    "name": name,
                    "source_lang": unit.source_lang,
                    "target_lang": unit.target_lang,
                    "licence": licence,
                },
            )
            if entry["licence"] != licence:
                raise ConfigError(
                    f"the corpus {name} has the licence {entry['licence'] or 'unknown'} in one "
                    f"input and {licence or 'unknown'} in another; give one of them another name "
                    "with corpus, or both the same licence"
                )
    return list(facts.values())
