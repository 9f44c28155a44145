"""Texts with tokens, tags and the places where a mask may begin or end, as flat arrays."""

import dataclasses
import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.arrow.flat_columns import chunk_of, fields_of, texts_of
from pairweave.transforms.indexed_tag import TAG_PATTERN, digits_of
from pairweave.transforms.kernels.masks.masks import CutTokens, TokenTags
from pairweave.transforms.kernels.text import spans
from pairweave.transforms.markup.own_markup import TAG_BEGINS, own_tags
from pairweave.transforms.text import codepoints
from pairweave.transforms.text.segmenter import NONE
from pairweave.transforms.text.tokens import Texts
from pairweave.transforms.text.whole_words import find_cuts

_TAG = re.compile(TAG_PATTERN)


@dataclasses.dataclass(frozen=True, slots=True)
class TokenView:
    """Texts to make masks on.

    Attributes:
        data: UTF-8 of all texts, uint8 ``[byte]``.
        offsets: Offsets of the texts in it, int64 ``[text + 1]``.
        token_offsets: Offsets of the texts' tokens, int64 ``[text + 1]``, from 0.
        starts: Start of each token, in code points of its text, int32 ``[token]``.
        ends: End of each token, in the same unit.
        cuts: Whether a mask may begin or end before a token, or after the last one of a text,
            bool ``[tokens + texts]``.
        tag_offsets: Offsets of the texts' opening and closing tags, int64 ``[text + 1]``.
        tags: The token of its text that contains each opening or closing tag, int64 ``[tag]``.
        partners: The token that contains its other half; -1 if there is none.
        wordlike: Whether a token has a letter or digit and no tag, bool ``[token]``.
        byte_starts: Start of each token in ``data``, int64 ``[token]``.
        byte_ends: End of each token in ``data``.
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
        """Return the number of tokens of each text, int64 ``[text]``."""
        return np.diff(self.token_offsets)

    @property
    def cut_tokens(self) -> CutTokens:
        """Return the tokens as an argument for kernels."""
        return CutTokens(self.data, self.token_offsets, self.byte_starts, self.byte_ends, self.cuts)

    @property
    def held_tags(self) -> TokenTags:
        """Return the tags as an argument for kernels."""
        return TokenTags(self.tag_offsets, self.tags, self.partners)


def view_tokens(
    texts: Texts, tokens: pa.ChunkedArray, languages: Texts, segmenter: str = NONE
) -> TokenView:
    """Return texts and their tokens as flat arrays.

    A mask may begin and end where a tag may (`transforms.text.whole_words.find_cuts`), between the
    parts of a hyphenated compound, and at both ends of the text.

    Args:
        texts: Strings without nulls ``[text]``.
        tokens: Their tokens, as `transforms.text.tokens.tokenize` returns them.
        languages: BCP 47 tags ``[text]``.
        segmenter: Finds words in scripts without spaces (`transforms.text.segmenter`).
    """
    data, offsets = texts_of(texts)
    token_offsets, fields = fields_of(tokens)
    first, last = token_offsets[0], token_offsets[-1]
    token_offsets = token_offsets - first
    starts, ends = fields["start"][first:last], fields["end"][first:last]
    cuts_of_texts = find_cuts(texts, tokens, languages, segmenter, compounds=False)
    cuts = cuts_of_texts.flatten().to_numpy(zero_copy_only=False)
    cuts = cuts.copy()
    places = token_offsets + np.arange(len(token_offsets))
    cuts[places[:-1]] = True
    cuts[places[1:] - 1] = True
    bytes_at = spans.token_bytes(data, offsets, token_offsets, starts, ends)
    wordlike = spans.wordlike_tokens(data, *bytes_at, codepoints.properties())
    tag_offsets, tags, partners, wordless = _tags(texts, token_offsets, starts, ends)
    wordlike[wordless] = False
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
    texts: Texts, token_offsets: np.ndarray, starts: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Find the tags of texts, skipping texts without tags.

    Returns:
        The tags as in `TokenView`: opening and closing indexed ones, and the halves of elements of
        HTML and XML; and the tokens that contain an indexed tag, or consist only of another one.
    """
    column = chunk_of(texts)
    counts = np.zeros(len(column), np.int64)
    tags: list[int] = []
    partners: list[int] = []
    wordless: list[int] = []
    tagged = pc.match_substring_regex(column, TAG_BEGINS).to_numpy(zero_copy_only=False)
    for row in np.flatnonzero(tagged).tolist():
        own = slice(token_offsets[row], token_offsets[row + 1])
        row_starts = starts[own]
        text = column[row].as_py()
        for tag in own_tags(text):
            if _TAG.match(text, tag.start):
                continue
            place = int(np.searchsorted(row_starts, tag.start, side="right")) - 1
            if tag.start <= row_starts[place] and ends[own][place] <= tag.end:
                wordless.append(int(token_offsets[row]) + place)
            if tag.partner is not None:
                other = int(np.searchsorted(row_starts, tag.partner, side="right")) - 1
                tags.append(place)
                partners.append(other)
                counts[row] += 1
        opened: dict[int, int] = {}
        for match in _TAG.finditer(text):
            token = int(np.searchsorted(row_starts, match.start(), side="right")) - 1
            wordless.append(int(token_offsets[row]) + token)
            if match.group().endswith("/>"):
                continue
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
    flat = [np.array(each, np.int64) for each in (tags, partners, wordless)]
    return tag_offsets, flat[0], flat[1], flat[2]
