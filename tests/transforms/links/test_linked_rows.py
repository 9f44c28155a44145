"""Rows of finished runs, read back as pairs with tokens and links."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms import schemas
from pairweave.transforms.arrow.flat_columns import texts_of
from pairweave.transforms.kernels.links.linked_tokens import fill_gaps
from pairweave.transforms.kernels.text import utf8
from pairweave.transforms.kernels.text.spans import FlatSpans
from pairweave.transforms.links.kept_links import with_links
from pairweave.transforms.links.linked_rows import linked_rows
from pairweave.transforms.links.phrase_extraction import PhraseConfig, extract_phrases
from pairweave.transforms.tags.tag_config import TagConfig
from pairweave.transforms.tags.tags import inject_tags
from pairweave.transforms.text import codepoints
from pairweave.transforms.text.tokens import TokenConfig, add_tokens

TEXTS = st.lists(st.text("ab ,\u00e9\u3000\u4e2d", max_size=12), min_size=1, max_size=4)


def slow_fill(text, linked):
    """Return the tokens of a text: the linked ones, and what shows between them as one each."""
    tokens, at = [], 0
    for start, end in [*linked, (len(text), len(text))]:
        gap = text[at:start]
        if gap.strip():
            first = at + len(gap) - len(gap.lstrip())
            tokens.append((first, first + len(gap.strip())))
        if start < end:
            tokens.append((start, end))
        at = end
    return tokens


@given(TEXTS, st.data())
def test_gaps_are_filled_as_plain_python_fills_them(texts, data):
    linked = []
    for text in texts:
        borders = data.draw(st.sets(st.integers(0, len(text)), max_size=6).map(sorted))
        spans = zip(borders[::2], borders[1::2], strict=False)
        linked.append([span for span in spans if text[slice(*span)].strip() == text[slice(*span)]])
    check_gaps(texts, linked)


def test_a_gap_ends_before_the_white_space_that_follows_it():
    check_gaps(["ab cd", "a b c d", "ab"], [[(3, 5)], [(2, 3), (6, 7)], []])


def check_gaps(texts, linked):
    """Check the tokens of texts of which some are linked."""
    sizes = np.cumsum([0, *map(len, linked)]).astype(np.int64)
    flat = np.array([span for spans in linked for span in spans], np.int32).reshape(-1, 2)
    filled = utf8.split_at_white_space(*texts_of(pa.array(texts)), codepoints.properties())
    known = FlatSpans(sizes, np.ascontiguousarray(flat[:, 0]), np.ascontiguousarray(flat[:, 1]))
    offsets, starts, ends, numbers = fill_gaps(known, FlatSpans(*filled))
    for row, text in enumerate(texts):
        own = slice(offsets[row], offsets[row + 1])
        actual = list(zip(starts[own].tolist(), ends[own].tolist(), strict=True))
        assert actual == slow_fill(text, linked[row])
        assert [actual[n] for n in numbers[sizes[row] : sizes[row + 1]]] == linked[row]


LINKS = [
    [[(0, 0), (1, 2), (3, 3)], [(0, 1), (0, 0), (2, 2)], []],
    [[(0, 0), (1, 1), (2, 2), (3, 3)], [(1, 1)], [(0, 0)]],
]
PAIRS = [
    ("The red house, now.", "Das rote Haus, jetzt."),
    ("don't go there", "nicht dorthin gehen"),
    ("naïve 24/7", "naiv 24/7"),
]


def symmetrized(links, pairs=PAIRS, kind="words"):
    """Return SYMMETRIZED rows of pairs."""
    rows = [
        {
            "id": f"{number:032x}",
            "corpus": "c",
            "source_lang": "en",
            "target_lang": "de",
            "file": "",
            "line": 0,
            "source": source,
            "target": target,
            "translation": None,
        }
        for number, (source, target) in enumerate(pairs)
    ]
    table = add_tokens(pa.Table.from_pylist(rows, schema=schemas.PAIRS), TokenConfig(kind))
    column = [
        [{"source": s, "target": t, "probability": 1.0} for s, t in sorted(set(pair))]
        for pair in links
    ]
    column = pa.array(column, schemas.LINK_LIST)
    return table.append_column(schemas.SYMMETRIZED.field("links"), column)


@pytest.mark.parametrize("links", LINKS)
def test_rows_of_augment_give_the_phrase_pairs_that_they_were_made_from(links):
    phrases = extract_phrases(symmetrized(links), PhraseConfig())
    tags = TagConfig(seed=3)
    rows = with_links(inject_tags(phrases, tags)[0], phrases)
    linked = linked_rows(rows, "augment")
    assert {link["probability"] for row in linked["links"].to_pylist() for link in row} <= {1.0}
    again = extract_phrases(linked, PhraseConfig())
    assert again.column("id").equals(phrases.column("id"))
    assert inject_tags(again, tags)[0].equals(inject_tags(phrases, tags)[0])


@pytest.mark.parametrize("kind", ["words", "whitespace"])
def test_invisible_text_between_words_is_a_token_only_where_it_was_one(kind):
    pairs = [
        ("the \u202c house", "das \u200dHaus"),  # a mark of direction, a joiner after a space
        ("ក\u200bខ", "a \u0301 b"),
    ]
    cut = symmetrized([[], []], pairs, kind).select(["source_tokens", "target_tokens"])
    lasts = [
        (len(row["source_tokens"]) - 1, len(row["target_tokens"]) - 1) for row in cut.to_pylist()
    ]
    table = symmetrized([[(0, 0), last] for last in lasts], pairs, kind)
    rows = table.select(["id", "corpus", "source_lang", "target_lang", "source", "target"])
    rows = with_links(rows.append_column("variant", pa.array([0, 0], pa.int16())), table)
    linked = linked_rows(rows, "augment", kind)
    for name in ("source_tokens", "target_tokens"):
        assert linked.column(name).to_pylist() == table.column(name).to_pylist()


def test_pieces_that_show_nothing_are_left_out_with_their_links():
    whole = symmetrized(LINKS[0])
    rows = whole.select(schemas.ALIGNED.names)
    first = rows.column("source_tokens").to_pylist()
    first[0].insert(1, {"start": 4, "end": 4})
    links = rows.column("links").to_pylist()
    for link in links[0]:
        link["source"] += link["source"] > 0
    links[0].insert(1, {"source": 1, "target": 1, "probability": 0.5})
    for name, values in (("source_tokens", first), ("links", links)):
        place = rows.schema.get_field_index(name)
        field = schemas.ALIGNED.field(name)
        rows = rows.set_column(place, field, pa.array(values, field.type))
    assert linked_rows(rows, "align").equals(whole)
    turned = pa.concat_tables([rows[1:], rows[:1]]).combine_chunks()
    assert linked_rows(turned[1:], "align").equals(pa.concat_tables([whole[2:], whole[:1]]))
