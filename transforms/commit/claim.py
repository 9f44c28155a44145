"""The plan that claims a directory: the first file of a run, created only if it is absent."""

import fnmatch
from collections.abc import Mapping

import orjson

from pairweave.transforms.errors import ClaimedError, ConfigError
from pairweave.transforms.output.run_files import (
    CARD,
    DATA,
    MANIFEST,
    MODELS,
    PLAN,
    REJECTS,
    Json,
    read_json,
    to_json,
    writes_rows,
)
from pairweave.transforms.report import page as report_page
from pairweave.transforms.storage import files, hashed_files

LOOK, NOTICES = "look", "notices"
"""Entries of a plan about the look at the input, and its notices."""

OTHER_FILES = ("symbols.txt",)
"""Further files that a run writes at the top of its directory."""

_DIRECTORIES = (DATA, REJECTS, "_*", MODELS, f"{MODELS}/*")
"""Names of the directories that a run makes in its own."""


def claim(output: str, plan: Mapping[str, object]) -> None:
    """Claim a directory for one plan, or find that it is already claimed for the same one.

    A plan file that is not JSON, as after a full disk, claims nothing and is written again: the
    receipts name their plan, so those of another run cannot be mistaken for this run's.

    Raises:
        ConfigError: The directory belongs to another plan (says where they differ), holds files
            that the run would overwrite and that no plan explains, or leads elsewhere by a link.
    """
    data = to_json(plan)
    _check_links(output)
    files.make_directory(output)
    check_unclaimed(output, plan)
    path = files.join(output, PLAN)
    if files.create(path, data):
        return
    if _is_json(path):
        check_claim(output, plan)
    else:
        files.write_bytes(path, data)


def _check_links(output: str) -> None:
    """Check that no directory of a run is a link, through which it would write elsewhere.

    ``output`` itself may be a link.

    Raises:
        ConfigError: A directory is a link; names it.
    """
    name = first_link(output)
    if name is not None:
        raise ConfigError(
            f"{output}: {name} is a symbolic link to a directory, so the run would write "
            "outside its own; remove the link, or give another --output"
        )


def first_link(output: str) -> str | None:
    """Return the first of a run's directories that is a link; None if there is none."""
    for name in files.linked_directories(output):
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in _DIRECTORIES):
            return name
    return None


def check_unclaimed(output: str, plan: Mapping[str, object]) -> None:
    """Check that a directory without a plan holds no file that the run would write.

    Raises:
        ConfigError: There is such a file; names the first.
    """
    path = files.join(output, PLAN)
    if files.exists(path):
        return
    in_the_way = _first_in_the_way(output, plan)
    # Another launcher may have claimed the directory since; then its plan decides.
    if in_the_way is not None and not files.exists(path):
        raise ConfigError(
            f"{output} already has {in_the_way}, which the run would overwrite, but no {PLAN} that "
            "identifies it as this run's; give another --output or an empty directory"
        )


def _first_in_the_way(output: str, plan: Mapping[str, object]) -> str | None:
    rows = writes_rows(plan)
    patterns = (
        (MANIFEST, CARD, report_page.REPORT, *OTHER_FILES)
        if rows
        else (MANIFEST, hashed_files.ABOUT)
    )
    directories = (DATA, REJECTS) if rows else (REJECTS,)
    for name in files.list_names(output):
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            return name
    for directory in directories:
        for name in files.list_names(files.join(output, directory)):
            return f"{directory}/{name}"
    # A run treats existing models here as its own, including models that its plan does not
    # name: `bitext` fits several aligners one after another.
    below = files.list_below(files.join(output, MODELS)) if plan.get("models") else []
    return f"{MODELS}/{below[0]}" if below else None


def _is_json(path: str) -> bool:
    try:
        orjson.loads(files.read_bytes(path))
    except orjson.JSONDecodeError:
        return False
    return True


def check_claim(output: str, plan: Mapping[str, object]) -> None:
    """Check that a claimed directory is claimed for this plan; a broken plan claims nothing.

    Raises:
        ConfigError: The directory belongs to another plan (says where they differ).
    """
    if not _is_json(files.join(output, PLAN)):
        return
    claimed = read_json(files.join(output, PLAN))
    if claimed.get("format") != plan.get("format"):
        raise ClaimedError(
            f"{output}: pairweave {claimed.get('version')} began this run, and writes its files in "
            f"another form (format {claimed.get('format')}, this version writes "
            f"{plan.get('format')}); give another --output, or finish it with that version"
        )
    if to_json(claimed) != to_json(plan):
        raise ClaimedError(
            f"{output} already belongs to another run: {_difference(claimed, dict(plan))}. "
            "Give another --output, or repeat that run's command to finish it"
        )


def with_earlier_look(output: str, plan: dict[str, object]) -> dict[str, object]:
    """Return a plan with the look at the input that the directory's run has already taken.

    The look only reports and changes no row. So a plan that differs from the directory's plan only
    in the results of the look belongs to the same run, and the look of that run counts.
    """
    path = files.join(output, PLAN)
    if not files.exists(path) or not _is_json(path):
        return plan
    claimed = read_json(path)
    if to_json(_without_look(claimed)) == to_json(_without_look(plan)):
        return claimed
    return plan


def _without_look(plan: Mapping[str, object]) -> dict[str, object]:
    return {name: fact for name, fact in plan.items() if name not in (LOOK, NOTICES)}


def _difference(claimed: Json, wanted: Json, prefix: str = "") -> str:
    for key in sorted({*claimed, *wanted}):
        old, new = claimed.get(key), wanted.get(key)
        if old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            return _difference(old, new, f"{prefix}{key}.")
        return f"{prefix}{key} was {_short(old)}, is now {_short(new)}"
    return "its plan cannot be compared"


def _short(value: object) -> str:
    text = orjson.dumps(value).decode()
    return text if len(text) <= 160 else text[:157] + "..."
