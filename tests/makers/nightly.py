"""Tables of `refresh` for tests: corpora that change every night, and what a table holds."""

import dataclasses
import json

import pyarrow.parquet as pq
from deltalake import DeltaTable

from pairweave.pipelines.refresh.chain import records
from tests.makers import corpora, runs

HEAD = """job: augment
source_lang: en
target_lang: de
mix: 0
workers: 1
shard_pairs: 60
"""

CORPORA = """corpora:
- {corpus: news, source_input: "news/*.en", target_input: "news/*.de", licence: mit}
- {corpus: help, input: "help/*.tsv"}
"""

OF_ARRIVAL = ("corpus", "night")
"""Columns that depend on the night in which a pair came, and by which corpus."""


def record(night=1, **changes):
    """Return the record of a night that changes no table; fields may be others."""
    new = {"read": 0, "pairs": 0, "rejected": 0, "places": 0, "share": 0.0, "reasons": {}}
    metrics = {
        "seconds": 0.0,
        "files": dict.fromkeys(("all", "new", "changed", "moved", "gone"), 0),
        "new": new,
        "removed": 0,
        "lost": 0,
        "table": {"before": 0, "pairs": 0},
    }
    whole = records.Record(
        night=night,
        operation="refresh",
        when="2026-01-01T00:00:00Z",
        job="augment",
        settings={"job": "augment", "release": "0", "options": {}},
        models={},
        files=[],
        tombstones=None,
        tables={},
        versions={},
        metrics=metrics,
        previous=None if night == 1 else "0" * 64,
    )
    changed = dataclasses.replace(whole, **changes)
    return dataclasses.replace(changed, live=dict.fromkeys(changed.versions, "0" * 64))


def write_news(directory, name, numbers):
    """Write a file of each side with sentences of these numbers."""
    (directory / "news").mkdir(exist_ok=True)
    for side, language in enumerate(("en", "de")):
        lines = "".join(f"{corpora.sentence(number)[side]}\n" for number in numbers)
        (directory / "news" / f"{name}.{language}").write_text(lines)


def write_help(directory, name, numbers, more=()):
    """Write a TSV file with sentences of these numbers, and further lines."""
    (directory / "help").mkdir(exist_ok=True)
    lines = ["\t".join(corpora.sentence(number)) for number in numbers]
    (directory / "help" / f"{name}.tsv").write_text("".join(f"{x}\n" for x in [*lines, *more]))


def write_config(directory, *, head=HEAD, of=CORPORA, more="", name="nightly.yaml"):
    """Write the configuration."""
    (directory / name).write_text(head + more + of)


def night(directory, *words, table="table", config="nightly.yaml"):
    """Run a night in this process; return its exit status, output and errors."""
    words = ("refresh", "--config", config, "--output", table, *words)
    return runs.run_here(*words, cwd=directory)


def good_night(directory, *words, table="table", config="nightly.yaml"):
    """Run a night and expect success; return its output."""
    status, out, errors = night(directory, *words, table=table, config=config)
    assert status == 0, errors[-4000:]
    return out


def rows(table, name="tagged", version=None, left_out=OF_ARRIVAL):
    """Return the rows of a version of a table as sorted JSON."""
    opened = DeltaTable(str(table / name), version=version)
    facts = []
    columns = opened.metadata().partition_columns
    for action in opened.get_add_actions(flatten=True).to_struct_array().to_pylist():
        partition = {column: action[f"partition.{column}"] for column in columns}
        for row in pq.read_table(table / name / action["path"], partitioning=None).to_pylist():
            whole = {**row, **partition}
            facts.append({k: v for k, v in whole.items() if k not in left_out})
    return sorted(json.dumps(row, sort_keys=True, default=str) for row in facts)


def ids(table, name="tagged", version=None):
    """Return the ids of the pairs in a version of a table."""
    return {json.loads(row)["id"] for row in rows(table, name, version)}


def versions(table):
    """Return the Delta version of each table."""
    names = ("tagged", "provenance", "rejects", "files")
    return {name: DeltaTable(str(table / name)).version() for name in names}


def sources(table, version=None):
    """Return the source texts of the plain rows."""
    return {json.loads(row)["source"] for row in rows(table, version=version)}
