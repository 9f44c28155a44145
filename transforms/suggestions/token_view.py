"""Texts, their tokens, where a mask may begin or end, and their tags, as flat arrays."""

import dataclasses
import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.arrow.flat_lists import chunk_of, fields_of
from pairweave.transforms.arrow.flat_texts import texts_of
from pairweave.transforms.indexed_tag import TAG_PATTERN, digits_of
from pairweave.transforms.kernels.masks.masks import CutTokens, HeldTags
from pairweave.transforms.kernels.text import spans
from pairweave.transforms.text import codepoints
from pairweave.transforms.text.segmenter import NONE
from pairweave.transforms.text.tokens import Texts, find_cuts

_TAG = re.compile(TAG_PATTERN)


@dataclasses.dataclass(frozen=True, slots=True)
class TokenView:
    """What masks are made on.

    Attributes:
        data: UTF-8 of all texts, uint8 ``[byte]``.
        offsets: Where each text begins in it, int64 ``[text + 1]``.
        token_offsets: Tokens of each text, int64 ``[text + 1]``, from 0.
        starts: Where they begin, in code points of their text, int32 ``[token]``.
        ends: Where they end, likewise.
        cuts: Whether a mask may begin or end before a token, or behind the last one of a text,
            bool ``[tokens + texts]``.
        tag_offsets: Tags of each text, int64 ``[text + 1]``.
        tags: Which token of its text holds a tag, int64 ``[tag]``.
        partners: Which one holds its other half; -1 if there is none.
        wordlike: Which tokens hold a letter or a digit and no tag, bool ``[token]``.
        byte_starts: Where tokens begin in ``data``, int64 ``[token]``.
        byte_ends: Where they end, likewise.
    """

    data: np.ndarray
    offsets: np.ndarray
    token_offsets: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    cuts: np.ndarray
    tag_offsets: np.ndarray
    tags: np.ndarray
    partners: np.ndarray
    wordlike: np.ndarray
    byte_starts: np.ndarray
    byte_ends: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        """Return the tokens of each text, int64 ``[text]``."""
        return np.diff(self.token_offsets)

    @property
    def cut_tokens(self) -> CutTokens:
        """Return the tokens as kernels take them."""
        return CutTokens(self.data, self.token_offsets, self.byte_starts, self.byte_ends, self.cuts)

    @property
    def held_tags(self) -> HeldTags:
        """Return the tags as kernels take them."""
        return HeldTags(self.tag_offsets, self.tags, self.partners)


def view_tokens(
    texts: Texts, tokens: pa.ChunkedArray, languages: Texts, segmenter: str = NONE
) -> TokenView:
    """Look at texts and their tokens as flat arrays.

    A mask may begin and end where a tag may (`transforms.text.tokens.find_cuts`), between the parts
    of a compound with hyphens, and at both ends.

    Args:
        texts: Strings without nulls ``[text]``.
        tokens: Their tokens, as `transforms.text.tokens.tokenize` returns them.
        languages: BCP 47 tags ``[text]``.
        segmenter: What finds words of scripts without spaces (`transforms.text.segmenter`).
    """
    data, offsets = texts_of(texts)
    token_offsets, fields = fields_of(tokens)
    first, last = token_offsets[0], token_offsets[-1]
    token_offsets = token_offsets - first
    starts, ends = fields["start"][first:last], fields["end"][first:last]
    found = find_cuts(texts, tokens, languages, segmenter, compounds=False)
    cuts = found.flatten().to_numpy(zero_copy_only=False)
    cuts = cuts.copy()
    places = token_offsets + np.arange(len(token_offsets))
    cuts[places[:-1]] = True
    cuts[places[1:] - 1] = True
    bytes_at = spans.token_bytes(data, offsets, token_offsets, starts, ends)
    wordlike = spans.wordlike_tokens(data, *bytes_at, codepoints.properties())
    tag_offsets, tags, partners = _tags(texts, token_offsets, starts)
    wordlike[np.repeat(token_offsets[:-1], np.diff(tag_offsets)) + tags] = False
    return TokenView(
        data,
        offsets,
        token_offsets,
        starts,
        ends,
        cuts,
        tag_offsets,
        tags,
        partners,
        wordlike,
        *bytes_at,
    )


def _tags(
    texts: Texts, token_offsets: np.ndarray, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the tags of texts; only the texts that hold one cost anything."""
    column = chunk_of(texts)
    counts = np.zeros(len(column), np.int64)
    tags: list[int] = []
    partners: list[int] = []
    tagged = pc.match_substring_regex(column, TAG_PATTERN).to_numpy(zero_copy_only=False)
    for row in np.flatnonzero(tagged).tolist():
        here = starts[token_offsets[row] : token_offsets[row + 1]]
        opened: dict[int, int] = {}
        for match in _TAG.finditer(column[row].as_py()):
            token = int(np.searchsorted(here, match.start(), side="right")) - 1
            number = int(digits_of(match.group()))
            tags.append(token)
            partners.append(-1)
            counts[row] += 1
            if match.group()[1] != "/":
                opened.setdefault(number, len(tags) - 1)
            elif number in opened:
                other = opened.pop(number)
                partners[-1], partners[other] = tags[other], token
    tag_offsets = np.zeros(len(column) + 1, np.int64)
    np.cumsum(counts, out=tag_offsets[1:])
    return tag_offsets, np.array(tags, np.int64), np.array(partners, np.int64)
