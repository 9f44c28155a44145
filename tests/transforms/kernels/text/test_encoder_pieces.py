"""Pieces and tokens, beside plain Python."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pairweave.models.encoder.pieces import cut_windows, pieces_of
from pairweave.transforms.kernels.text.encoder_pieces import (
    UnitLinks,
    cover,
    merge_pieces,
    token_links,
)
from pairweave.transforms.kernels.text.spans import FlatSpans
from pairweave.transforms.text.codepoints import properties


def flat(spans):
    """Return lists of (start, end) as offsets, starts and ends."""
    every = np.array([span for text in spans for span in text], dtype=np.int32).reshape(-1, 2)
    return np.cumsum([0, *map(len, spans)]), every[:, 0].copy(), every[:, 1].copy()


def covered(pieces, tokens):
    return [
        tuple(map(int, pair)) for pair in zip(*cover(*flat([pieces]), *flat([tokens])), strict=True)
    ]


def test_a_piece_lies_on_the_tokens_that_it_shares_characters_with():
    tokens = [(0, 5), (6, 9), (9, 10)]
    assert covered([(0, 3), (3, 5), (5, 9), (8, 10)], tokens) == [(0, 1), (0, 1), (1, 2), (1, 3)]


def test_a_lone_word_mark_belongs_to_the_token_that_follows():
    assert covered([(0, 0), (3, 4)], [(0, 3), (4, 6)]) == [(0, 1), (1, 2)]


def test_a_piece_between_tokens_belongs_to_none():
    ((first, last),) = covered([(3, 4)], [(0, 3), (5, 6)])
    assert first == last


def test_pieces_that_share_a_character_are_one_token_and_the_next_piece_is_another():
    offsets, starts, ends, *_, tokens = merge_pieces(
        np.array([0, 4]),
        np.array([0, 1, 3, 4], np.int32),
        np.array([2, 3, 4, 5], np.int32),
        np.frombuffer(b"abc d", np.uint8),
        np.array([0, 5]),
        properties(),
    )
    assert offsets.tolist() == [0, 2]
    assert list(zip(starts[:2], ends[:2], strict=True)) == [(0, 3), (4, 5)]
    assert tokens.tolist() == [0, 0, 1, 1]  # a blank alone is of the token behind it


def test_the_given_places_of_pieces_stay_as_they_are():
    given_starts, given_ends = np.array([0, 3], np.int32), np.array([2, 6], np.int32)
    actual = merge_pieces(
        *(np.array([0, 2]), given_starts, given_ends),
        *(np.frombuffer(b"abc  d", np.uint8), np.array([0, 6]), properties()),
    )
    assert (given_starts.tolist(), given_ends.tolist()) == ([0, 3], [2, 6])
    shown = actual[3:5]
    assert [places.tolist() for places in shown] == [[0, 5], [2, 6]]
    assert {places.dtype for places in actual[1:]} == {np.dtype(np.int32)}


def test_a_piece_behind_the_last_token_belongs_to_none():
    offsets, *_, tokens = merge_pieces(
        np.array([0, 2, 3]),
        np.array([0, 2, 0], np.int32),
        np.array([2, 3, 1], np.int32),
        np.frombuffer(b"ab  ", np.uint8),
        np.array([0, 3, 4]),
        properties(),
    )
    assert offsets.tolist() == [0, 1, 1]
    assert tokens.tolist() == [0, -1, -1]


@st.composite
def texts(draw):
    """Draw the pieces and the tokens of some texts."""
    result = []
    for _ in range(draw(st.integers(0, 3))):
        marks = sorted(draw(st.sets(st.integers(0, 14), max_size=10)))
        tokens = [
            (start, end)
            for start, end in itertools.pairwise(marks)
            if draw(st.booleans()) and end > start
        ]
        starts = sorted(draw(st.lists(st.integers(0, 14), max_size=6)))
        pieces = [(start, start + draw(st.integers(0, 4))) for start in starts]
        result.append((pieces, tokens))
    return result


@given(texts())
def test_cover_equals_its_slow_twin(found):
    pieces, tokens = [text[0] for text in found], [text[1] for text in found]
    first, last = cover(*flat(pieces), *flat(tokens))
    ranges = iter(zip(first, last, strict=True))
    for own, words in zip(pieces, tokens, strict=True):
        for (start, end), (low, high) in zip(own, ranges, strict=False):
            shared = [k for k, (a, b) in enumerate(words) if a < end and start < b]
            if not shared:
                shared = [k for k, (a, b) in enumerate(words) if a == end and b > start]
            assert list(range(low, high)) == shared


@given(texts())
def test_pieces_of_turns_cover_round(found):
    pieces, tokens = flat([text[0] for text in found]), flat([text[1] for text in found])
    first, last = cover(*pieces, *tokens)
    listed, counts = pieces_of(first, last, pieces[0], tokens[0])
    groups = np.split(listed, np.cumsum(counts)[:-1]) if len(counts) else []
    for text in range(len(found)):
        for token in range(tokens[0][text], tokens[0][text + 1]):
            inside = token - tokens[0][text]
            own = range(pieces[0][text], pieces[0][text + 1])
            assert list(groups[token]) == [p for p in own if first[p] <= inside < last[p]]


@st.composite
def piece_links(draw):
    """Draw links of pieces, and which tokens the pieces lie on, for some pairs."""
    pairs = []
    for _ in range(draw(st.integers(0, 3))):
        sizes = draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
        sides = []
        for tokens in sizes:
            firsts = draw(st.lists(st.integers(0, tokens), max_size=5))
            sides.append([(first, draw(st.integers(first, tokens))) for first in firsts])
        cells = st.tuples(st.integers(0, len(sides[0]) - 1), st.integers(0, len(sides[1]) - 1))
        chance = st.sampled_from([0.25, 0.5, 0.75])
        links = st.dictionaries(cells, st.tuples(st.integers(1, 3), chance, chance), max_size=9)
        pairs.append((sizes, sides, draw(links) if all(sides) else {}))
    return pairs


@given(piece_links())
def test_token_links_equal_their_slow_twin(pairs):
    every = [(cell, link) for _, _, links in pairs for cell, link in sorted(links.items())]
    sides = [flat([sides[side] for _, sides, _ in pairs]) for side in (0, 1)]
    actual = UnitLinks(
        np.cumsum([0, *(len(links) for _, _, links in pairs)]),
        np.array([cell[0] for cell, _ in every], dtype=np.int32),
        np.array([cell[1] for cell, _ in every], dtype=np.int32),
        np.array([link[0] for _, link in every], dtype=np.uint8),
        np.array([link[1] for _, link in every], dtype=np.float32),
        np.array([link[2] for _, link in every], dtype=np.float32),
    )
    made = token_links(
        actual,
        FlatSpans(*sides[0]),
        FlatSpans(*sides[1]),
        np.array([sizes[0] for sizes, _, _ in pairs], dtype=np.int64),
        np.array([sizes[1] for sizes, _, _ in pairs], dtype=np.int64),
    )
    for pair, (_, (source, target), links) in enumerate(pairs):
        best, both = ({}, {}), set()
        for (i, j), (direction, *chances) in links.items():
            for word in range(*source[i]):
                for other in range(*target[j]):
                    for side in (0, 1):
                        if direction & 1 << side:
                            key = word, other
                            best[side][key] = max(best[side].get(key, 0.0), chances[side])
                    if direction == 3:
                        both.add((word, other))
        forward, reverse = dict(best[0]), dict(best[1])
        for key in (best[0].keys() & best[1].keys()) - both:
            del (reverse if best[0][key] >= best[1][key] else forward)[key]
        for start, wanted in ((0, forward), (4, reverse)):
            offsets, *fields = made[start : start + 4]
            own = [field[offsets[pair] : offsets[pair + 1]].tolist() for field in fields]
            assert list(zip(*own, strict=True)) == [(*key, wanted[key]) for key in sorted(wanted)]
        assert forward.keys() & reverse.keys() == both
        assert forward.keys() | reverse.keys() == best[0].keys() | best[1].keys()


@given(st.lists(st.integers(0, 60), max_size=4), st.integers(2, 12), st.data())
def test_every_piece_is_kept_once_and_away_from_the_edges(lengths, limit, data):
    overlap = data.draw(st.integers(0, limit // 2))
    offsets = np.cumsum([0, *lengths])
    windows = cut_windows(offsets, limit, overlap)
    kept = [
        piece
        for start, stop in zip(windows.kept_from, windows.kept_to, strict=True)
        for piece in range(start, stop)
    ]
    assert sorted(kept) == list(range(offsets[-1]))
    assert (windows.lengths <= limit).all()
    for start, length, low, high in zip(
        windows.starts, windows.lengths, windows.kept_from, windows.kept_to, strict=True
    ):
        text = np.searchsorted(offsets, start, side="right") - 1
        assert offsets[text] <= start
        assert start + length <= offsets[text + 1]
        # Inside a text, at least half the overlap is context.
        assert low == offsets[text] or low - start >= overlap // 2
        assert high == offsets[text + 1] or start + length - high >= overlap // 2
