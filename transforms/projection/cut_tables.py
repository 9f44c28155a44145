"""Tokens of tables as ranges, and tables whose tokens are split at tags."""

import itertools
from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.arrow.flat_columns import fields_of, list_column
from pairweave.transforms.markup.markup import Marked
from pairweave.transforms.projection.project import Tokens, cut_tokens


def token_ranges(table: pa.Table, side: str) -> list[Tokens]:
    """Return the tokens of one side of TOKENS rows ``[row]``."""
    offsets, fields = fields_of(table.column(f"{side}_tokens"))
    ranges = list(zip(fields["start"].tolist(), fields["end"].tolist(), strict=True))
    return [ranges[start:end] for start, end in itertools.pairwise(offsets.tolist())]


def cut_table(table: pa.Table, sources: Iterable[Marked], targets: Iterable[str]) -> pa.Table:
    """Return TOKENS rows whose tokens are split at tags (`cut_tokens`).

    Args:
        table: The rows.
        sources: The source of each row, with its tags.
        targets: The translation of each row.
    """
    sides: list[list[Tokens]] = [[], []]
    tokens = (token_ranges(table, side) for side in ("source", "target"))
    for source, target, *uncut in zip(sources, targets, *tokens, strict=True):
        for side, cut in zip(sides, cut_tokens(source, target, *uncut), strict=True):
            side.append(cut)
    for name, side in zip(("source_tokens", "target_tokens"), sides, strict=True):
        flat = np.array([span for row in side for span in row], np.int32).reshape(-1, 2)
        fields = {"start": flat[:, 0].copy(), "end": flat[:, 1].copy()}
        field = schemas.TOKENS.field(name)
        column = list_column(np.cumsum([0, *map(len, side)]), fields, field.type)
        table = table.set_column(table.schema.get_field_index(name), field, column)
    return table
