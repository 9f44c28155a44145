"""The earlier corpus of ``filter --earlier``: finished runs and files of pairs."""

from typing import Any

from pairweave.pipelines.options.base import PlannedOptions
from pairweave.pipelines.options.filter_options import EarlierOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output import run_files
from pairweave.transforms.planning.earlier_run import input_of_run
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.storage import files
from pairweave.transforms.units import CorpusInput, Plan, ReadLimits

_READING = ("html_entities", "c1_controls", "inline_tags", "inline_syntax")
"""Text options that apply to the earlier corpus too, so that equal texts match."""


def earlier_plan(options: PlannedOptions, plan: Plan, limits: ReadLimits) -> Plan | None:
    """Return the plan of the pairs to exclude; None if there are none.

    Raises:
        ConfigError: The corpus is in several languages, or a run cannot be read.
        InputError: A file cannot be used (`make_plan`).
    """
    if not isinstance(options, EarlierOptions) or not options.earlier:
        return None
    languages = {(unit.source_lang, unit.target_lang) for unit in plan.units}
    if len(languages) != 1:
        raise ConfigError(
            "--earlier: the corpora are in several languages, but files do not give theirs; filter "
            "each pair of languages separately"
        )
    ((source, target),) = languages
    reading: dict[str, Any] = {name: getattr(options, name) for name in _READING}
    corpora = [
        input_of_run(given, source, target, reading)
        if _is_run(given)
        else CorpusInput(input=(given,), source_lang=source, target_lang=target, **reading)
        for given in options.earlier
    ]
    return make_plan(corpora, limits, options.unit_rows)


def _is_run(given: str) -> bool:
    names = (run_files.PLAN, run_files.MANIFEST)
    return any(files.exists(files.join(given, name)) for name in names)


def earlier_facts(plan: Plan) -> list[dict[str, str]]:
    """Return the plan's entry for the files of an earlier corpus, without paths."""
    return [{"name": file.name, "sha256": file.sha256} for file in plan.files]
