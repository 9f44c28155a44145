"""Joins tokens of translations into words before tags are placed, and merges their links."""

import bisect
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from pairweave.transforms.links.soft_links import SoftLinks
from pairweave.transforms.markup.markup import Marked
from pairweave.transforms.projection.cut_tables import token_ranges
from pairweave.transforms.text.joined_tokens import join_tokens, words_to_join
from pairweave.transforms.text.tokens import TokenConfig

Tokens = Sequence[tuple[int, int]]


def join_words(
    tokens: Tokens, links: SoftLinks, words: Sequence[tuple[int, int]]
) -> tuple[Tokens, SoftLinks]:
    """Join the target tokens of a pair that are parts of one word, so that no tag is placed inside.

    Args:
        tokens: Tokens of the translation.
        links: Links of the pair's tokens.
        words: Words inside which no tag is placed (`transforms.text.joined_tokens`).

    Returns:
        The resulting tokens, and their links, each with the greatest probability among its parts'
        links.
    """
    joined = join_tokens(tokens, words)
    if len(joined) == len(tokens):
        return tokens, links
    starts = [start for start, _ in joined]
    word_of = np.array([bisect.bisect_right(starts, at) - 1 for at, _ in tokens], np.int64)
    return joined, join_targets(links, word_of)


def placings(
    table: pa.Table,
    sources: Iterable[Marked],
    links: Iterable[SoftLinks],
    tokens: TokenConfig,
    segmenter: str,
) -> Iterator[tuple[Tokens, Tokens, SoftLinks]]:
    """Yield source tokens, whole target words, and the links of each pair for placing tags.

    Args:
        table: TOKENS rows.
        sources: The source of each row, with its tags.
        links: The links of each row.
        tokens: How the texts were cut into tokens.
        segmenter: Finds words of scripts without spaces (`transforms.text.segmenter`).
    """
    sides = ("source", "target")
    cut = (token_ranges(table, side) for side in sides)
    words = (
        words_to_join(table.column(side), tokens, table.column(f"{side}_lang"), segmenter)
        for side in sides
    )
    for source, own, other, soft, inside, joined in zip(sources, *cut, links, *words, strict=True):
        yield own, *whole_words(source, other, soft, inside, joined)


def whole_words(
    source: Marked,
    tokens: Tokens,
    links: SoftLinks,
    inside: Sequence[tuple[int, int]],
    words: Sequence[tuple[int, int]],
) -> tuple[Tokens, SoftLinks]:
    """Return the target tokens and links of a pair among which tags are placed.

    Args:
        source: The source.
        tokens: Tokens of the translation.
        links: Links of the pair's tokens.
        inside: Words of the source inside which no tag is expected
            (`transforms.text.joined_tokens`).
        words: The same words of the translation.

    Returns:
        The result of `join_words`, unless a tag of the source is inside a word itself.
    """
    return (tokens, links) if splits_word(source, inside) else join_words(tokens, links, words)


def splits_word(source: Marked, words: Sequence[tuple[int, int]]) -> bool:
    """Tell whether a tag of the source is inside a word, so that its translation is split too."""
    starts = [start for start, _ in words]
    for tag in source.tags:
        word = bisect.bisect_left(starts, tag.offset) - 1
        if word >= 0 and tag.offset < words[word][1]:
            return True
    return False


def join_targets(links: SoftLinks, word_of: np.ndarray) -> SoftLinks:
    """Turn links of target tokens into links of the words that these tokens are part of.

    Args:
        links: The links.
        word_of: The word of each target token, int64 ``[token]``.
    """
    ends = np.stack([links.source, word_of[links.target]])
    (sources, targets), link_of = np.unique(ends, axis=1, return_inverse=True)
    forward, reverse = np.zeros(len(sources)), np.zeros(len(sources))
    np.maximum.at(forward, link_of.ravel(), links.forward)
    np.maximum.at(reverse, link_of.ravel(), links.reverse)
    return SoftLinks(sources, targets, forward, reverse)
