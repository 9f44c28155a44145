"""The settings of a job in its plan, exactly those that determine an output byte; its corpora."""

import math
from collections.abc import Iterable
from typing import Any

from pairweave.pipelines.options.base import InputOptions, PlannedOptions, left_out_options
from pairweave.pipelines.parts.part import Settled
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.units import Plan


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
