"""Links given with pairs: Pharaoh format in a file or a column of the input."""

import numpy as np
import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.arrow.flat_columns import list_column
from pairweave.transforms.kernels.links import pharaoh as kernel
from pairweave.transforms.problems import Problem
from pairweave.transforms.rejects import Reject

LINK_SIDES = ("forward_links", "reverse_links")
"""Names of the columns among the texts of a reader."""

LINKS = LINK_SIDES[0]
"""The column of links without a direction."""

_TYPE = schemas.ROWS.field(LINK_SIDES[0]).type


def read_given_links(
    texts: pa.StringArray, side: str, problems: dict[int, Problem]
) -> pa.ListArray:
    """Parse links in lines or cells: ``i-j``, separated by blanks.

    Args:
        texts: Lines ``[row]``; an empty one has no links; null has a problem.
        side: ``forward_links`` or ``reverse_links``, for messages.
        problems: By row; rows with an invalid link are added; a row keeps its first problem.

    Returns:
        ``list<struct<source, target>>`` ``[row]``, in the order of the input, with repetitions.
    """
    lines = [text or "" for text in texts.to_pylist()]
    parsed = kernel.parse(_joined(lines), 0)
    if parsed[-1] >= 0 or len(parsed[0]) != len(lines) + 1:
        for row, line in enumerate(lines):
            problem = _problem(line, side)
            if problem is not None:
                problems.setdefault(row, problem)
                lines[row] = ""
        parsed = kernel.parse(_joined(lines), 0)
    offsets, source, target, _, _ = parsed
    return list_column(offsets, {"source": source, "target": target}, _TYPE)


def _joined(lines: list[str]) -> np.ndarray:
    return np.frombuffer("".join(f"{line}\n" for line in lines).encode(), np.uint8)


def _problem(line: str, side: str) -> Problem | None:
    """Return the problem of a line of links, or None."""
    data = line.encode()
    *_, bad = kernel.parse(np.frombuffer(data, np.uint8), 0)
    if bad < 0 and "\n" not in line:
        return None
    token = data[bad:].split(maxsplit=1)[0] if bad >= 0 else b"\n"
    shown = token[:40].decode("utf-8", "replace")
    if _is_link(token):
        detail = f"{side}: {shown!r}: token numbers go up to {kernel.MAX_INDEX}"
        return Problem(Reject.LINK_OUT_OF_RANGE, detail)
    detail = f"{side}: {shown!r} is not a link; expected i-j with two token numbers, such as 0-2"
    return Problem(Reject.INVALID_LINK, detail)


def _is_link(token: bytes) -> bool:
    numbers = token.split(b"-")
    return len(numbers) == 2 and all(number.isdigit() for number in numbers)


def written_links(value: object) -> str | None:
    """Return links in Pharaoh form, from a text or from objects or pairs of numbers.

    >>> written_links([[0, 1], {"source": 2, "target": 0}])
    '0-1 2-0'

    Returns:
        None for a value that cannot be links.
    """
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, list):
        return None
    numbers = [_numbers(link) for link in value]
    if any(pair is None for pair in numbers):
        return None
    return " ".join("-".join(map(str, pair or ())) for pair in numbers)


def _numbers(link: object) -> list[int] | None:
    pair = [link.get("source"), link.get("target")] if isinstance(link, dict) else link
    if not isinstance(pair, list) or len(pair) != 2:
        return None
    return pair if all(type(number) is int and number >= 0 for number in pair) else None
