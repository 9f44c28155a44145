"""Pairs to leave out: known to a table, taken down, or in the earlier corpus of ``filter``."""

from typing import Any

from pairweave.pipelines.job_options.filter_options import FilterJobOptions
from pairweave.pipelines.options.corpora import corpora_of
from pairweave.pipelines.options.corpus_options import ScoredCorpus
from pairweave.pipelines.parts.part import Part, Planning, Settled, files_facts
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.known_options import KnownPairOptions
from pairweave.transforms.known_pairs import KnownPairs, PlannedFile
from pairweave.transforms.option_marks import SHAPES_TEXT, marked
from pairweave.transforms.output import run_files
from pairweave.transforms.planning.earlier_run import input_of_run
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.storage import files
from pairweave.transforms.units import CorpusInput, Plan

_READING = sorted(marked(ScoredCorpus, SHAPES_TEXT))
"""Text options that apply to the earlier corpus too, so that equal texts match."""


def _plan_earlier(options: FilterJobOptions, planning: Planning) -> Settled[Plan | None]:
    """Plan the earlier corpus, whose files are in the plan without their paths.

    Raises:
        ConfigError: The corpus is in several languages, or a run cannot be read.
        InputError: A file cannot be used (`make_plan`).
    """
    if not options.earlier:
        return Settled(None)
    languages = {(unit.source_lang, unit.target_lang) for unit in planning.plan.units}
    if len(languages) != 1:
        raise ConfigError(
            "--earlier: the corpora are in several languages, but files do not give theirs; "
            "filter each pair of languages separately"
        )
    ((source, target),) = languages
    reading = _reading(options)
    corpora = [
        _run_input(path, source, target, reading)
        if _is_run(path)
        else CorpusInput(input=(path,), source_lang=source, target_lang=target, **reading)
        for path in options.earlier
    ]
    plan = make_plan(corpora, planning.limits, options.unit_rows)
    facts = [{"name": file.name, "sha256": file.sha256} for file in plan.files]
    return Settled(plan, settings={"earlier": facts})


EARLIER = Part("earlier", _plan_earlier)
"""The plan of the pairs to exclude; None if there are none."""


def _reading(options: FilterJobOptions) -> dict[str, Any]:
    """Return the treatments of text that all corpora share.

    Raises:
        ConfigError: The corpora have different ones.
    """
    corpora = corpora_of(options)
    for name in _READING:
        ways = sorted({str(getattr(corpus, name)) for corpus in corpora})
        if len(ways) > 1:
            raise ConfigError(
                f"--earlier: the corpora have {name} {' and '.join(ways)}, and equal texts match "
                "only if they are read alike; filter these corpora separately"
            )
    return {name: getattr(corpora[0], name) for name in _READING}


def _run_input(directory: str, source: str, target: str, reading: dict[str, Any]) -> CorpusInput:
    """Return the pairs of a finished run.

    Raises:
        ConfigError: The run cannot be read, or is in other languages than the corpus.
    """
    earlier = input_of_run(directory, None, None, reading)
    if (earlier.source_lang, earlier.target_lang) != (source, target):
        raise ConfigError(
            f"--earlier {directory}: its pairs are {earlier.source_lang}-{earlier.target_lang}, "
            f"those of the corpus {source}-{target}; give --source_lang and --target_lang, or "
            "leave the run out"
        )
    return earlier


def _is_run(path: str) -> bool:
    names = (run_files.PLAN, run_files.MANIFEST)
    return any(files.exists(files.join(path, name)) for name in names)


def _plan_known_pairs(options: KnownPairOptions, planning: Planning) -> Settled[KnownPairs | None]:
    """Hash the files, if any are given."""
    named = options.known_files()
    if not named:
        return Settled(None)
    settings = {name: files_facts(paths) for name, paths in named.items()}
    planned = {
        name: PlannedFile(files.absolute(path), settings[name][0]["sha256"])
        for name, (path,) in named.items()
    }
    known = KnownPairs(planned.get("known_pairs"), planned.get("taken_down"))
    return Settled(known, settings=settings)


KNOWN_PAIRS = Part("known_pairs", _plan_known_pairs)
"""The pairs; None if none are given."""
