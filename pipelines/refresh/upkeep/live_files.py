"""Which files a table should have, by the records of its nights."""

from collections.abc import Iterable

from pairweave.pipelines.refresh.records import Json, Record


def live_after(before: set[str], change: Json) -> set[str]:
    """Return the files that a table has after a change; one with a schema replaces all of them."""
    left = set() if change.get("schema") else before
    gone = {entry["path"] for entry in change["remove"]}
    return (left - gone) | {entry["path"] for entry in change["add"]}


def live_paths(nights: Iterable[Record], name: str) -> set[str]:
    """Return the files that a table should have after all nights."""
    live: set[str] = set()
    for record in nights:
        change = record.tables.get(name)
        if change is not None:
            live = live_after(live, change)
    return live
