"""What `verify` finds where Delta's log, or a table's version, is not as the records have it."""

import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from pairweave.pipelines.refresh.upkeep import verify
from tests.makers import nightly

NIGHT = nightly.record(versions={"links": 3})


def entry(name, rows=2):
    """Return a file of a table as Delta's log has it."""
    return {"path": name, "bytes": 9, "rows": rows, "partition": {}, "bounds": {}}


def test_each_file_that_the_log_has_otherwise_is_named(monkeypatch):
    logged = {("table", "links", 3): [entry("a"), entry("b"), entry("d", rows=3)]}
    monkeypatch.setattr(verify.tables, "at_version", lambda *asked: logged[asked])
    expected = {name: entry(name) for name in "acd"}
    assert list(verify._log_problems("table", "links", NIGHT, expected)) == [
        "links/b: is in no night's record",
        "links/c: is missing in the table",
        "links/d: the table's log contradicts its night's record",
    ]


@pytest.mark.parametrize(
    ("version", "nights", "is_wrong"),
    [(3, [1], False), (4, [1], True), (4, [1, 2], False), (2, [1], False)],
)
def test_a_version_after_the_last_night_is_of_another_program(
    monkeypatch, version, nights, is_wrong
):
    monkeypatch.setattr(verify.tables, "version_of", lambda *_: version)
    monkeypatch.setattr(verify.records, "numbers", lambda _: nights)
    problems = verify._version_problems("table", "links", NIGHT)
    message = "links is at version 4, and refresh left it at 3: another program has written to it"
    assert problems == ([message] if is_wrong else [])
