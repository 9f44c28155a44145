"""The languages and the licence in the header of a dataset card."""

from collections.abc import Mapping
from typing import Any


def languages_and_licence(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields ``language``, ``license`` and ``task_categories`` of a run's card."""
    corpora = manifest["corpora"].values()
    languages = {corpus[side] for corpus in corpora for side in ("source_lang", "target_lang")}
    licences = {corpus["licence"] or "unknown" for corpus in corpora}
    return {
        "language": sorted(languages),
        "license": next(iter(licences)) if len(licences) == 1 else "other",
        "task_categories": ["translation"],
    }
