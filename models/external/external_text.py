"""Convert tokens to lines of text for external programs, and their links back.

A program must see the same number of tokens in a line as the pair has, so a token must not contain
separators of tokens or sides. Links name tokens by number, so the form of a token can change a
program's links but not the numbering.
"""

import dataclasses
import re
import unicodedata
from pathlib import Path

import numpy as np
import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.arrow import flat_columns
from pairweave.transforms.arrow.flat_columns import fields_of, list_column
from pairweave.transforms.errors import InputError, WorkerError
from pairweave.transforms.links.pharaoh import parse_links

# White space inside a token, control characters, the separator of sides, and fast_align's null
# word; or a token without a letter, a digit or ASCII punctuation, which may consist only of marks
# that a program drops.
_UNSAFE = re.compile(
    r"[^\S ]|[\x00-\x1f\x7f]|\|\|\||(?<!\S)<eps>(?!\S)|(?<!\S)[^\w\s!-~]+(?!\S)|  |^ | $"
)


@dataclasses.dataclass(frozen=True, slots=True)
class Text:
    """Sentence pairs as lines, with tokens separated by one blank; no line is empty.

    Attributes:
        source: Lines of the source side.
        target: Lines of the target side.
        rows: The row of each pair in its table, int64 ``[line]``.
    """

    source: list[str]
    target: list[str]
    rows: np.ndarray

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.source)


@dataclasses.dataclass(frozen=True, slots=True)
class Directions:
    """The output of a program for the pairs of a `Text`, line by line, as Pharaoh text.

    Attributes:
        forward: Links of the forward direction as source-target, or the only ones.
        reverse: Links of the other direction, also as source-target.
        given_up: Reason and detail of the pairs that the program cannot align, by line; their links
            are empty.
    """

    forward: bytes
    reverse: bytes
    given_up: dict[int, tuple[str, str]] = dataclasses.field(default_factory=dict)


def text_of(table: pa.Table) -> Text:
    """Return the pairs of a TOKENS table that have tokens on both sides.

    Programs refuse a whole file for one empty line, so a pair with an empty side is not sent; it
    has no links.
    """
    table = table.combine_chunks()
    sides = [_lines(table, side) for side in ("source", "target")]
    full = [
        row for row, (source, target) in enumerate(zip(*sides, strict=True)) if source and target
    ]
    source, target = ([lines[row] for row in full] for lines in sides)
    return Text(source, target, np.array(full, np.int64))


def safe_token(token: str) -> str:
    """Return a token without white space and separators, and not empty.

    >>> [safe_token(token) for token in ("word", "a|||b", "New York", "<eps>")]
    ['word', 'a|_|_|b', 'New_York', '<eps>_']
    """
    if token == "<eps>":
        return "<eps>_"
    text = "".join(
        "_" if mark.isspace() or mark < " " or mark == "\x7f" else mark for mark in token
    )
    while "|||" in text:
        text = text.replace("|||", "|_|_|")
    if all(unicodedata.category(mark)[0] in "CMZ" or mark == "\ufffd" for mark in text):
        return "?"
    return text


def linked_table(
    table: pa.Table, text: Text, directions: Directions, name: str
) -> tuple[pa.Table, dict[int, tuple[str, str]]]:
    """Add a program's links to their rows.

    Args:
        table: TOKENS rows.
        text: Their text, as given to the program.
        directions: The program's output.
        name: The program's name in messages.

    Returns:
        LINKED rows in the same order, without those given up; and the reason and a detail of each
        row given up, by row of ``table``.

    Raises:
        WorkerError: Its output has another number of lines, an invalid link, or a link outside a
            pair's tokens.
    """
    table = table.combine_chunks()
    columns = [
        _link_column(table, text, lines, name) for lines in (directions.forward, directions.reverse)
    ]
    linked = pa.Table.from_arrays([*table.columns, *columns], schema=schemas.LINKED)
    for column in ("forward", "reverse"):
        try:
            flat_columns.links_of(linked, column)
        except WorkerError as error:
            raise WorkerError(f"{name} linked words that do not exist: {error}") from error
    given_up = {int(text.rows[line]): why for line, why in directions.given_up.items()}
    if given_up:
        kept = np.ones(table.num_rows, np.bool_)
        kept[list(given_up)] = False
        linked = linked.filter(pa.array(kept))
    return linked, dict(sorted(given_up.items()))


def _lines(table: pa.Table, side: str) -> list[str]:
    """Return each row's tokens separated by blanks; empty for a row without tokens."""
    offsets, fields = fields_of(table.column(f"{side}_tokens"))
    bounds = offsets.tolist()
    starts, ends = fields["start"].tolist(), fields["end"].tolist()
    lines = []
    for row, text in enumerate(table.column(side).to_pylist()):
        places = range(bounds[row], bounds[row + 1])
        tokens = [text[starts[place] : ends[place]] for place in places]
        line = " ".join(tokens)
        if _UNSAFE.search(line) or line.count(" ") + 1 != len(tokens):
            line = " ".join(map(safe_token, tokens))
        lines.append(line)
    return lines


def _link_column(table: pa.Table, text: Text, lines: bytes, name: str) -> pa.ListArray:
    """Return a column of links, each row's sorted and each link once, with probability 1."""
    try:
        links = parse_links(lines, Path(name))
    except InputError as error:
        raise WorkerError(
            f"{name} printed something that is not a link: line {error.line}: {error.message}"
        ) from error
    if len(links) != len(text):
        raise WorkerError(f"{name}: {len(text)} pairs in, {len(links)} lines of links out")
    rows = np.repeat(text.rows, np.diff(links.offsets))
    keys = (rows << 32) | (links.sources.astype(np.int64) << 16) | links.targets.astype(np.int64)
    keys = np.unique(keys)
    offsets = np.searchsorted(keys >> 32, np.arange(table.num_rows + 1))
    fields: dict[str, np.ndarray] = {
        "source": ((keys >> 16) & 0xFFFF).astype(np.int16),
        "target": (keys & 0xFFFF).astype(np.int16),
        "probability": np.ones(len(keys), np.float32),
    }
    return list_column(offsets, fields, schemas.LINK_LIST)
