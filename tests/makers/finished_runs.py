"""Runs with handmade shards, committed like those of a job."""

import re

import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.commit.claim import claim
from pairweave.transforms.commit.commit import commit_run
from pairweave.transforms.export.export_markup import export_markup
from pairweave.transforms.formats import registry
from pairweave.transforms.output import receipts, run_files, write
from pairweave.transforms.output.documents.parts import FORMAT
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.shards.merge import merge_rows
from pairweave.transforms.shards.shard import Shard
from tests.makers.rows import batch, row

SCRIPT = "<script>alert(\"1\")</script> & 'more'"
ARABIC = "ذهبت إلى البيت 3 مرات"

COUNTS = {"plain_rows": 4, "tagged_rows": 4, "tags": 7}

# Source, target and the same with tags.
PAIRS = [
    (SCRIPT, "harmlos", f"<a_2>{SCRIPT}</a_2>", "<a_2>harmlos</a_2>"),
    (
        "The red house stands there.",
        "Das rote Haus steht dort.",
        "The <a_7><a_0>red</a_0> house</a_7> stands there.",
        "Das <a_7><a_0>rote</a_0> Haus</a_7> steht dort.",
    ),
    (
        "I went home 3 times.",
        ARABIC,
        "I <a_1>went</a_1> <a_4>home</a_4> <a_5>3</a_5> times.",
        "<a_1>ذهبت</a_1> إلى <a_4>البيت</a_4> <a_5>3</a_5> مرات",
    ),
    ("bell \x1b[31m", "line one\nline two", "<a_9>bell</a_9> \x1b[31m", "line <a_9>one</a_9>\ntwo"),
]


def plan(**changes):
    """Return a run's plan."""
    base = {
        "format": FORMAT,
        "job": "augment",
        "version": "1.2.3",
        "signature": "job:augment|seed:1|v:1.2.3",
        "configuration": {"seed": 1, "mix": None, "exclude": [{"name": "dev.en", "sha256": "ee"}]},
        "corpora": [
            {"name": "news", "source_lang": "en", "target_lang": "de", "licence": "cc-by-4.0"},
            {"name": "web", "source_lang": "en", "target_lang": "ar", "licence": None},
        ],
        "inputs": [
            {
                "bytes": 12_345,
                "corpus": "news",
                "format": "tsv",
                "name": "news <1>.tsv",
                "role": "pairs",
                "rows": 10,
                "sha256": "0123abcd",
            }
        ],
        "units": [{"index": 0, "file": "news <1>.tsv", "line": 1, "rows": 10}],
        "notices": ["one file has no line end"],
        "rows": 10,
        "shards": 2,
        "models": [],
    }
    return {**base, **changes}


def manifest(names, **changes):
    """Return the manifest of a run without rows that lists files of these names."""
    document = plan(rows=0, **changes)
    taken = ("format", "job", "version", "signature", "configuration", "inputs", "notices")
    return {
        **{name: document[name] for name in (*taken, "shards")},
        "plan_sha256": run_files.plan_digest(document),
        "corpora": {
            corpus["name"]: {**corpus, "kept": 0, "rejected": {}} for corpus in document["corpora"]
        },
        "rows": {"read": 0, "kept": 0, "rejected": 0},
        "rejected": {},
        "counts": {},
        "histograms": {},
        "files": [{"name": name, "bytes": 0, "sha256": "0" * 64} for name in names],
    }


def run_note(**changes):
    """Return the content of a run's ``_run.json``."""
    note = {
        "started": "2026-01-02T03:04:05Z",
        "seconds": 2.5,
        "pairs_per_second": 4.0,
        "engine": "local",
        "workers": 2,
        "attempts": 1,
        "shards_reused": 0,
        "machine": {"cores": 2, "platform": "Linux"},
        "python": "3.11.9",
        "packages": {"numpy": "2.0"},
    }
    return {**note, **changes}


def rejects():
    """Return rows that were turned away, for four reasons."""
    return [
        row("one", "eins zwei drei", corpus="news", reason="length_ratio", detail="1 : 3 tokens"),
        row("two", "eins zwei drei", corpus="web", line=2, reason="length_ratio", detail="1 : 3"),
        row("a", "a", corpus="news", line=3, reason="identical"),
        row(None, None, corpus="news", line=4, reason="invalid_utf8", raw=b"bad \xff <byte>"),
        row("", "leer <i>", corpus="web", line=5, reason="empty_source"),
        row("three", "x" * 3_000, corpus="web", line=6, reason="length_ratio"),
    ]


def tag(token):
    """Return a tag of which only the index is right."""
    names = ["source_start", "source_end", "target_start", "target_end"]
    return {"index": int(token[3]), "form": "pair", **dict.fromkeys(names, 0)}


def tagged_data(kept):
    """Return a plain and a tagged row (`schemas.TAGGED`) of each kept row."""
    tagged = {source: texts for source, _, *texts in PAIRS}
    rows = []
    for pair in kept.select(["id", "source", "target", "corpus"]).to_pylist():
        other = {"variant": 0, "source_lang": "en", "target_lang": "de", "tags": []}
        source, target = tagged[pair["source"]]
        rows.append({**pair, **other, "kind": "plain"})
        tags = [tag(token) for token in re.findall("<a_[0-9]>", source)]
        texts = {"source": source, "target": target, "tags": tags}
        rows.append({**pair, **other, "kind": "tagged", **texts})
    return pa.Table.from_pylist(rows, schema=schemas.TAGGED)


def aligned_data(kept):
    """Return the rows of a job `align`, each with a link between the first tokens."""
    rows = [
        {
            **pair,
            "source_tokens": [{"start": 0, "end": 3}, {"start": 4, "end": 7}],
            "target_tokens": [{"start": 0, "end": 3}],
            "links": [{"source": 0, "target": 0, "probability": 0.9}],
        }
        for pair in kept.select(
            ["id", "source", "target", "source_lang", "target_lang", "corpus", "file", "line"]
        ).to_pylist()
    ]
    return pa.Table.from_pylist(rows, schema=schemas.ALIGNED)


def write_run(output, data=tagged_data, counts=COUNTS, turned_away=None, **changes):
    """Write and commit a run of four kept and, if nothing else is said, six rejected pairs.

    The first shard holds two of the kept and two of the rejected pairs, the second the others.
    """
    turned_away = rejects() if turned_away is None else turned_away
    read = len(PAIRS) + len(turned_away)
    units = [{"index": 0, "file": "news <1>.tsv", "line": 1, "rows": read}]
    document = plan(**{"rows": read, "units": units, **changes})
    claim(output, document)
    digest = run_files.plan_digest(document)
    kept_rows = [
        row(source, target, corpus="news", file="news <1>.tsv", line=10 + line)
        for line, (source, target, *_) in enumerate(PAIRS)
    ]
    shards = [[*kept_rows[:2], *turned_away[:2]], [*kept_rows[2:], *turned_away[2:]]]
    config = run_files.WriteConfig(output, 2, digest, document["signature"])
    for number, rows in enumerate(shards):
        kept, rejected = merge_rows([pa.Table.from_batches([batch(*rows)])])
        shard = Shard(number, kept, rejected, data(kept))
        own = counts if number == 0 else dict.fromkeys(counts, 0)
        write.write_shard(write.ShardOutput(shard, shard.table, own), config)
    receipts.write_unit_receipt(output, digest, 0, read)
    return commit_run(output, {"symbols.txt": b"<a_0>\n"})


def export_pairs(directory, form, output, **options):
    """Export a run's pairs with their markup, as the command does."""
    run, how = FinishedRun.open(directory), registry.markup_export(form)
    return export_markup(run, how, output, **options)
