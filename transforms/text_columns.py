"""Formats rows of cells as lines of text."""

from collections.abc import Sequence


def text_columns(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Return a line for each row, in columns two blanks apart.

    Args:
        rows: The cells; all rows have the same number of them.
        left: Number of columns, from the first, that are aligned left; the others are aligned
            right.

    >>> text_columns([("name", "pairs"), ("a", "12")])
    ['name  pairs', 'a        12']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
