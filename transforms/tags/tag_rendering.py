"""Write the indexed tags of pairs in another representation (`transforms.symbols`)."""

import re

import numpy as np
import pyarrow as pa

from pairweave.transforms.arrow.flat_columns import chunk_of, text_column, texts_of
from pairweave.transforms.indexed_tag import INDICES, MAX_TAGS
from pairweave.transforms.kernels.tags import indexed_tags, tag_names
from pairweave.transforms.kernels.text.spans import FlatSpans
from pairweave.transforms.symbols.representations import find_representation
from pairweave.transforms.symbols.tag_symbols import Representation

Name = str | tuple[str, str, str]
"""A representation's name, or a template: an opening, a closing and an empty tag.

Tags that are ``indexed`` stay in the form in which they are injected.
"""


def render_columns(
    source: pa.Array, target: pa.Array, name: Name, ids: np.ndarray | None = None
) -> tuple[pa.Array, pa.Array]:
    """Write the indexed tags of pairs in a representation.

    Sequences such as XLIFF's ids are numbered from 1, left to right in the source (Hanneman and
    Dinu 2020, section 3.1), unless ids are given.

    Args:
        source: Sources with indexed tags, string ``[row]``.
        target: Targets with indexed tags, string ``[row]``.
        name: The representation.
        ids: XLIFF ids to write, from 0, int64 ``[row, element]``.
    """
    representation = find_representation(name)
    texts = [texts_of(chunk_of(side)) for side in (source, target)]
    tags_of_sides = [indexed_tags.find_tags(*side) for side in texts]
    symbols, names = _symbols(tags_of_sides[0], tags_of_sides[1], representation, ids)
    parted = np.zeros(256, np.bool_)
    parted[list(representation.parted_from.encode())] = True
    source_column, target_column = (
        text_column(
            *indexed_tags.replace_tags(side, FlatSpans(*tags[:3]), own, texts_of(names), parted)
        )
        for side, tags, own in zip(texts, tags_of_sides, symbols, strict=True)
    )
    return source_column, target_column


_TagColumns = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _symbols(
    source: _TagColumns, target: _TagColumns, representation: Representation, ids: np.ndarray | None
) -> tuple[tuple[np.ndarray, np.ndarray], pa.StringArray]:
    """Return the numbers of the symbols of both sides' tags, and the symbols by number.

    Args:
        source: The tags of the sources (`transforms.kernels.tags.indexed_tags.find_tags`).
        target: The tags of the targets.
        representation: How tags are written.
        ids: As for `render_columns`.
    """
    sizes = np.diff(source[0]), np.diff(target[0])
    offsets = np.concatenate([[0], np.cumsum(sizes[0] + sizes[1])]).astype(np.int64)
    # The tags of a pair are adjacent, those of its source first.
    places = [
        np.arange(len(side[3])) + np.repeat(shift, size)
        for side, shift, size in (
            (source, offsets[:-1] - source[0][:-1], sizes[0]),
            (target, offsets[1:] - target[0][1:], sizes[1]),
        )
    ]
    tags = np.empty(offsets[-1], np.int64)
    tags[places[0]], tags[places[1]] = source[3], target[3]
    if representation.way is None:
        uses, numbers = tags % tag_names.KINDS, tags // tag_names.KINDS
    else:
        uses, numbers = tag_names.name_tags(offsets, sizes[0], tags, representation.way)
        if ids is not None and representation.way == tag_names.XLIFF:
            rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
            numbers = ids[rows, numbers]
    distinct, symbols = np.unique(tag_names.USES * numbers + uses, return_inverse=True)
    names = [
        representation.symbol(*divmod(code, tag_names.USES)[::-1]) for code in distinct.tolist()
    ]
    return (symbols[places[0]], symbols[places[1]]), pa.array(names, pa.string())


def symbols_of(name: Name, *, self_closing: bool, max_id: int | None = None) -> list[str]:
    """Return all tags that a run can write, in a fixed order."""
    representation = find_representation(name)
    if max_id is not None:
        return representation.symbols(max_id)
    if name != "indexed":
        # A template writes the drawn number; others write consecutive numbers.
        return representation.symbols(MAX_TAGS if isinstance(name, str) else INDICES)
    symbols = representation.symbols(INDICES)
    # Self-closing tags that the run never writes would waste entries of a vocabulary.
    return [symbol for symbol in symbols if self_closing or not symbol.endswith("/>")]


def symbol_pattern(name: Name) -> str:
    """Return a regular expression (also valid in RE2) for a representation's tags."""
    pattern = find_representation(name).pattern().pattern
    return re.sub(r"\(\?P<[a-z_]+>", "(?:", pattern)
