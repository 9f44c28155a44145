"""Links of lines with tags from given files: Pharaoh files, or attention."""

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.counted import counted
from pairweave.transforms.errors import InputError
from pairweave.transforms.links.attention import Attention
from pairweave.transforms.links.given_links import out_of_range
from pairweave.transforms.links.link_options import Heuristic
from pairweave.transforms.links.pharaoh import read_links
from pairweave.transforms.links.soft_links import SoftLinks, harden, soften
from pairweave.transforms.markup.markup import Marked
from pairweave.transforms.storage import files
from pairweave.transforms.storage.text_lines import Line, count_lines
from pairweave.transforms.text.piece_numbers import number_cut_sides, token_links
from pairweave.transforms.text.tokens import TokenConfig


@dataclasses.dataclass(frozen=True, slots=True)
class Block:
    """A block of consecutive lines.

    Attributes:
        first: Number of the first line, from 0.
        sources: Source lines with their tags.
        targets: Target lines without tags.
        marked_targets: Target lines with their tags, if they have any.
        tagged: Numbers of the lines with tags, within the block.
        table: Texts and tokens of the lines with tags, as TOKENS.
    """

    first: int
    sources: list[Marked]
    targets: list[Line]
    marked_targets: list[Marked]
    tagged: list[int]
    table: pa.Table

    def pieces(self, tokens: TokenConfig) -> tuple[list[list[int]], list[list[int]]]:
        """Return the token of each piece that the tokenizer counts, for each line with tags."""
        source, target = number_cut_sides(self.table, tokens)
        return source.tokens_by_text(), target.tokens_by_text()


READ_TWICE = "text is read twice here, so save a pipe's output to a file"
"""What to do with a pipe in place of a file of text."""

LinkBlock = Callable[[Block], list[SoftLinks]]
"""Returns the links of the lines with tags of a block."""


def pharaoh_links(
    names: Sequence[str], source: str, tokens: TokenConfig, heuristic: Heuristic | None
) -> LinkBlock:
    """Return a function that reads the links of a block from one file or from two directions.

    Args:
        names: The file of links, or those of both directions.
        source: The file of the source.
        tokens: The tokens between which the links are.
        heuristic: How two directions are combined; None for the evidence of each direction.

    Raises:
        ConfigError: A file is a pipe.
        InputError: A file of links has another number of lines than the source, or is malformed.
    """
    for name in names:
        files.require_regular(name, "links are read twice, so save a pipe's output to a file")
    paths = [files.on_disk(name) for name in names]
    for path in paths:
        _require_lines(str(path), sum(len(links) for links in read_links(path)), source)
    streams = [_link_lines(path) for path in paths]

    def link(block: Block) -> list[SoftLinks]:
        sides = [list(itertools.islice(stream, len(block.sources))) for stream in streams]
        for path, lines in zip(paths, sides, strict=True):
            for number, source_pieces, target_pieces in zip(
                block.tagged, *block.pieces(tokens), strict=True
            ):
                line = block.first + number + 1
                _require_tokens(lines[number], len(source_pieces), len(target_pieces), path, line)
                lines[number] = token_links(lines[number], source_pieces, target_pieces)
        if len(sides) == 1:
            return [SoftLinks.certain(sides[0][number]) for number in block.tagged]
        table = _directed(block, *sides)
        return soften(table) if heuristic is None else harden(table, heuristic)

    return link


def _require_tokens(
    links: list[tuple[int, int]], sources: int, targets: int, path: Path, line: int
) -> None:
    for source, target in links:
        if source >= sources or target >= targets:
            message = out_of_range(source, target, sources, targets)
            raise InputError("link_out_of_range", str(path), message, line)


def _directed(
    block: Block, forward: list[list[tuple[int, int]]], reverse: list[list[tuple[int, int]]]
) -> pa.Table:
    """Return LINKED rows for the lines with tags of a block."""
    table = block.table
    for name, side in (("forward", forward), ("reverse", reverse)):
        column = [
            [{"source": i, "target": j, "probability": 1.0} for i, j in side[number]]
            for number in block.tagged
        ]
        field = schemas.LINKED.field(name)
        table = table.append_column(field, pa.array(column, field.type))
    return table


def _link_lines(path: Path) -> Iterator[list[tuple[int, int]]]:
    for links in read_links(path):
        for start, end in itertools.pairwise(links.offsets.tolist()):
            sides = links.sources[start:end].tolist(), links.targets[start:end].tolist()
            yield list(zip(*sides, strict=True))


def attention_links(
    name: str, layer: int | None, head: int | None, method: str, source: str, tokens: TokenConfig
) -> LinkBlock:
    """Return a function that extracts the links of a block from attention.

    Args:
        name: The file of attention.
        layer: Its layer; None if there is only one.
        head: Its head; None for the mean over all.
        method: How links are extracted (`transforms.links.attention`).
        source: The file of the source.
        tokens: The tokens between which the attention is.

    Raises:
        ConfigError: The file has no such layer or head.
        InputError: It has another number of lines than the source, or is malformed.
    """
    attention = Attention(files.on_disk(name), layer, head)
    attention.check()
    _require_lines(name, len(attention), source)

    def link(block: Block) -> list[SoftLinks]:
        links = []
        for number, source_pieces, target_pieces in zip(
            block.tagged, *block.pieces(tokens), strict=True
        ):
            line = block.first + number
            soft = attention.links(line, len(source_pieces), len(target_pieces), method)
            pairs = zip(soft.source.tolist(), soft.target.tolist(), strict=True)
            links.append(SoftLinks.certain(token_links(pairs, source_pieces, target_pieces)))
        return links

    return link


def _require_lines(name: str, count: int, source: str) -> None:
    files.require_regular(source, READ_TWICE)
    lines = count_lines(source)
    if lines != count:
        raise InputError(
            "line_count_mismatch",
            name,
            f"has links of {counted(count, 'line')}, but {source} has {counted(lines, 'line')}",
        )
