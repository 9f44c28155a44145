"""Histograms of a shard: the same as pair by pair, and bars that name their values."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms import schemas
from pairweave.transforms.counts.histograms import are_bars
from pairweave.transforms.output.shard_histograms import count_histograms
from tests.makers.rows import pair
from tests.oracles import slow_histograms

TEXT = "The red house stands there, and nobody lives in it any more."
places = st.integers(0, 12)  # few, so that tokens and tags often begin and end together
spans = st.tuples(places, places).map(sorted)


@st.composite
def shards(draw):
    """Return kept rows, a working table with a row that was rejected since, and tagged rows."""
    table, data = [], []
    for number in range(draw(st.integers(1, 5))):
        texts = draw(st.tuples(*[st.integers(1, len(TEXT))] * 2))
        corpus = draw(st.sampled_from(["a", "b"]))
        tokens = [
            sorted({tuple(span) for span in draw(st.lists(spans, max_size=4))}) for _ in range(2)
        ]
        cells = [(s, t) for s in range(len(tokens[0])) for t in range(len(tokens[1]))]
        links = sorted(draw(st.sets(st.sampled_from(cells)))) if cells else []
        row = pair(number, TEXT[: texts[0]], TEXT[: texts[1]], corpus=corpus)
        table.append(
            {
                **row,
                **{
                    f"{side}_tokens": [{"start": a, "end": b} for a, b in each]
                    for side, each in zip(("source", "target"), tokens, strict=True)
                },
                "links": [
                    {"source": s, "target": t, "probability": draw(st.floats(0, 1, width=32))}
                    for s, t in links
                ],
            }
        )
        data.extend(draw(st.lists(rows_of(row), max_size=2)))
    kept = table[: draw(st.integers(max(0, len(table) - 1), len(table)))]
    ids = {row["id"] for row in kept}
    return kept, table, [row for row in data if row["id"] in ids]


@st.composite
def rows_of(draw, row):
    """Return a row of a pair with tags anywhere, some in two parts."""
    tags = [
        {
            "index": draw(st.integers(0, 2)),
            "form": "pair",
            "source_start": start,
            "source_end": end,
            "target_start": 0,
            "target_end": 0,
        }
        for start, end in draw(st.lists(spans, max_size=4))
    ]
    names = ("id", "source", "target", "source_lang", "target_lang", "corpus")
    kept = {name: row[name] for name in names}
    return {**kept, "variant": 0, "kind": "tagged" if tags else "plain", "tags": tags}


def plain(found):
    """Return histograms as dictionaries without empty bars."""
    return {
        facet: {
            corpus: {bar: number for bar, number in enumerate(counts) if number}
            for corpus, counts in corpora.items()
        }
        for facet, corpora in found.items()
    }


@given(shards())
def test_histograms_are_those_of_pair_by_pair(found):
    kept, table, data = found
    tables = (
        pa.Table.from_pylist(kept, schema=schemas.SYMMETRIZED),
        pa.Table.from_pylist(table, schema=schemas.SYMMETRIZED),
        pa.Table.from_pylist(data, schema=schemas.TAGGED),
    )
    counted = count_histograms(*tables)
    assert are_bars(counted)
    assert plain(counted) == slow_histograms.histograms(kept, table, data)


def test_suggestions_are_counted_by_words_without_whole_sentences():
    kept = pa.Table.from_pylist([pair(0, "a b", "c")], schema=schemas.PAIRS)
    data = pa.table({"id": ["0"] * 4, "corpus": ["c"] * 4})
    actual = count_histograms(kept, kept, data, np.array([2, -1, 0, 2]))
    assert actual["mask"] == {"c": [1, 0, 2]}
