"""Pieces of an encoder, and the tokens that they overlap."""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.text import utf8
from pairweave.transforms.kernels.text.spans import FlatSpans


class UnitLinks(NamedTuple):
    """Links of units, which are pieces or words, grouped by pair.

    Attributes:
        offsets: Start of each pair's links, int64 ``[pair + 1]``.
        sources: Source unit, numbered within the pair, int32 ``[link]``.
        targets: Target unit, numbered within the pair, int32 ``[link]``.
        directions: 1 forward, 2 reverse, 3 both, uint8 ``[link]``.
        forward: Probability of the forward link, float32 ``[link]``.
        reverse: Probability of the reverse link, float32 ``[link]``.
    """

    offsets: np.ndarray
    sources: np.ndarray
    targets: np.ndarray
    directions: np.ndarray
    forward: np.ndarray
    reverse: np.ndarray


@numba.njit(nogil=True, cache=True)
def cover(
    piece_offsets: np.ndarray,
    piece_starts: np.ndarray,
    piece_ends: np.ndarray,
    token_offsets: np.ndarray,
    token_starts: np.ndarray,
    token_ends: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Find the tokens that each piece overlaps.

    A piece overlaps every token that it shares a character with. A piece that shares none, such as
    SentencePiece's lone word mark, belongs to the token that starts where it ends, if there is one.

    Args:
        piece_offsets: Start of each text's pieces, int64 ``[text + 1]``.
        piece_starts: First code point of each piece ``[piece]``.
        piece_ends: End of each piece, exclusive ``[piece]``.
        token_offsets: Start of each text's tokens, int64 ``[text + 1]``.
        token_starts: First code point of each token, ascending in a text ``[token]``.
        token_ends: End of each token, exclusive, ascending in a text ``[token]``.

    Returns:
        The first token of each piece and the one after its last, numbered within the text, int32
        ``[piece]``; equal if there is none.
    """
    first = np.zeros(len(piece_starts), dtype=np.int32)
    last = np.zeros(len(piece_starts), dtype=np.int32)
    for text in range(len(piece_offsets) - 1):
        base, stop = token_offsets[text], token_offsets[text + 1]
        for piece in range(piece_offsets[text], piece_offsets[text + 1]):
            start, end = piece_starts[piece], piece_ends[piece]
            low = base + np.searchsorted(token_ends[base:stop], start, side="right")
            high = base + np.searchsorted(token_starts[base:stop], end, side="left")
            if high <= low:
                follows = low < stop and token_starts[low] == end
                high = low + 1 if follows else low
            first[piece] = low - base
            last[piece] = high - base
    return first, last


@numba.njit(nogil=True, cache=True)
def token_links(
    links: UnitLinks,
    source_units: FlatSpans,
    target_units: FlatSpans,
    source_tokens: np.ndarray,
    target_tokens: np.ndarray,
) -> tuple[
    np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray
]:
    """Turn links of units into links of tokens, in both directions.

    Two tokens are linked if any of their units are. They are linked in both directions only if one
    pair of units is; if the directions link different units of the same two tokens, only the more
    probable direction has the link (forward in a tie). So the intersection of the token links is
    the intersection of the unit links, mapped to tokens, and the same holds for the union.

    Args:
        links: Links of units.
        source_units: Start of each pair's source units, and the source tokens that each unit
            overlaps (`cover`).
        target_units: The same for the target side.
        source_tokens: Number of source tokens ``[pair]``.
        target_tokens: Number of target tokens ``[pair]``.

    Returns:
        Offsets (int64), sources, targets (int16) and probabilities (float32) of the forward
        links, then the same for the reverse links, sorted by (source, target).
    """
    link_offsets, link_sources, link_targets = links.offsets, links.sources, links.targets
    directions = links.directions
    forward_probabilities, reverse_probabilities = links.forward, links.reverse
    source_offsets, source_first, source_last = source_units
    target_offsets, target_first, target_last = target_units
    pairs = len(link_offsets) - 1
    most_cells = 0
    room = 0
    for pair in range(pairs):
        most_cells = max(most_cells, source_tokens[pair] * target_tokens[pair])
        for link in range(link_offsets[pair], link_offsets[pair + 1]):
            source = source_offsets[pair] + link_sources[link]
            target = target_offsets[pair] + link_targets[link]
            room += (source_last[source] - source_first[source]) * (
                target_last[target] - target_first[target]
            )
    seen = np.zeros(most_cells, dtype=np.uint8)
    forward_best = np.zeros(most_cells, dtype=np.float32)
    reverse_best = np.zeros(most_cells, dtype=np.float32)
    cells = np.empty(room, dtype=np.int64)

    forward_offsets = np.zeros(pairs + 1, dtype=np.int64)
    reverse_offsets = np.zeros(pairs + 1, dtype=np.int64)
    made_sources = np.empty((2, room), dtype=np.int16)
    made_targets = np.empty((2, room), dtype=np.int16)
    made_probabilities = np.empty((2, room), dtype=np.float32)
    forward_made = 0
    reverse_made = 0
    for pair in range(pairs):
        width = target_tokens[pair]
        touched = 0
        for link in range(link_offsets[pair], link_offsets[pair + 1]):
            source = source_offsets[pair] + link_sources[link]
            target = target_offsets[pair] + link_targets[link]
            for i in range(source_first[source], source_last[source]):
                for j in range(target_first[target], target_last[target]):
                    cell = i * width + j
                    if seen[cell] == 0:
                        cells[touched] = cell
                        touched += 1
                        forward_best[cell] = -1.0
                        reverse_best[cell] = -1.0
                    direction = directions[link]
                    seen[cell] |= direction
                    if direction == 3:
                        seen[cell] |= 4
                    if direction & 1:
                        forward_best[cell] = max(forward_best[cell], forward_probabilities[link])
                    if direction & 2:
                        reverse_best[cell] = max(reverse_best[cell], reverse_probabilities[link])
        ordered = np.sort(cells[:touched])
        for place in range(touched):
            cell = ordered[place]
            state = seen[cell]
            seen[cell] = 0
            forward = state & 1 != 0
            reverse = state & 2 != 0
            if forward and reverse and state & 4 == 0:
                forward = forward_best[cell] >= reverse_best[cell]
                reverse = not forward
            if forward:
                made_sources[0, forward_made] = cell // width
                made_targets[0, forward_made] = cell % width
                made_probabilities[0, forward_made] = forward_best[cell]
                forward_made += 1
            if reverse:
                made_sources[1, reverse_made] = cell // width
                made_targets[1, reverse_made] = cell % width
                made_probabilities[1, reverse_made] = reverse_best[cell]
                reverse_made += 1
        forward_offsets[pair + 1] = forward_made
        reverse_offsets[pair + 1] = reverse_made
    return (
        forward_offsets,
        made_sources[0, :forward_made].copy(),
        made_targets[0, :forward_made].copy(),
        made_probabilities[0, :forward_made].copy(),
        reverse_offsets,
        made_sources[1, :reverse_made].copy(),
        made_targets[1, :reverse_made].copy(),
        made_probabilities[1, :reverse_made].copy(),
    )


@numba.njit(nogil=True, cache=True)
def merge_pieces(
    piece_offsets: np.ndarray,
    piece_starts: np.ndarray,
    piece_ends: np.ndarray,
    data: np.ndarray,
    offsets: np.ndarray,
    properties: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Make tokens from pieces.

    White space at the ends of a piece is left out; a piece of only white space makes no token.
    Pieces that share a character, such as its bytes or the parts of a fraction sign, are one token.

    Args:
        piece_offsets: Start of each text's pieces, int64 ``[text + 1]``.
        piece_starts: First code point of each piece, in any order ``[piece]``.
        piece_ends: End of each piece, exclusive ``[piece]``.
        data: UTF-8 of all texts, uint8 ``[byte]``.
        offsets: Start of each text, int64 ``[text + 1]``.
        properties: Properties of every code point, uint16
            (`transforms.text.codepoints.properties`).

    Returns:
        Token offsets int64 ``[text + 1]``, and the tokens' starts and ends, int32 ``[token]``:
        ascending, disjoint, not empty. Then the pieces' own starts and ends without white space,
        and the token that each belongs to, counted inside its text, int32 ``[piece]``: the one that
        it is part of, or the next one if nothing of it is left; -1 if there is none.
    """
    texts = len(offsets) - 1
    token_offsets = np.zeros(texts + 1, np.int64)
    starts = np.empty(len(piece_starts), np.int32)
    ends = np.empty(len(piece_starts), np.int32)
    piece_starts = piece_starts.astype(np.int32)
    piece_ends = piece_ends.astype(np.int32)
    piece_tokens = np.empty(len(piece_starts), np.int32)
    tokens = 0
    for text in range(texts):
        white = _white_space(data, offsets[text], offsets[text + 1], properties)
        base, stop = piece_offsets[text], piece_offsets[text + 1]
        # Almost always in order already, unless a normalizer reorders marks.
        order = base + np.argsort(piece_starts[base:stop], kind="mergesort")
        first = tokens
        for place in order:
            start = piece_starts[place]
            end = piece_ends[place]
            while start < end and white[start]:
                start += 1
            while start < end and white[end - 1]:
                end -= 1
            piece_starts[place] = start
            piece_ends[place] = max(start, end)
            shares = tokens > first and start < ends[tokens - 1]
            piece_tokens[place] = tokens - first - (1 if shares else 0)
            if start >= end:
                continue
            if shares:
                if end > ends[tokens - 1]:
                    ends[tokens - 1] = end
                continue
            starts[tokens] = start
            ends[tokens] = end
            tokens += 1
        token_offsets[text + 1] = tokens
        for place in range(base, stop):
            if piece_tokens[place] == tokens - first:
                piece_tokens[place] = -1
    return (
        token_offsets,
        starts[:tokens].copy(),
        ends[:tokens].copy(),
        piece_starts,
        piece_ends,
        piece_tokens,
    )


@numba.njit(nogil=True, cache=True)
def _white_space(
    data: np.ndarray, begin: np.int64, end: np.int64, properties: np.ndarray
) -> np.ndarray:
    """Flag code points of a text that are white space, bool ``[code point]``."""
    white = np.empty(end - begin, np.bool_)
    position = 0
    at = begin
    while at < end:
        point, width = utf8.decode(data, at, end)
        white[position] = properties[point] & utf8.WHITE != 0
        position += 1
        at += width
    return white[:position]
