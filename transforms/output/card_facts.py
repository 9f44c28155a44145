"""The languages, the licence and the configurations in the header of a dataset card."""

import hashlib
from collections.abc import Iterable, Mapping
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


def configuration(name: str, path: str, digests: Iterable[str]) -> dict[str, Any]:
    """Return a configuration of a card for Hugging Face `datasets`.

    `datasets` finds the rows of a folder in its cache by the name of the folder and the
    configurations of its card, not by the files. So the description differs where the files differ:
    otherwise the rows of an earlier folder of the same name would be loaded.

    Args:
        name: Its name.
        path: Its files, a pattern.
        digests: The SHA-256 of each of them, in order.
    """
    digest = hashlib.sha256("\n".join(digests).encode()).hexdigest()
    return {
        "config_name": name,
        "description": f"SHA-256 of its files {digest}",
        "data_files": [{"split": "train", "path": path}],
    }
