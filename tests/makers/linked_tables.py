"""Tables of pairs with links made by hand."""

import pyarrow as pa

from pairweave.transforms import schemas
from tests.makers.rows import pair


def token_rows(lengths):
    """Return TOKENS rows whose words have one letter, for (source words, target words)."""
    return [
        pair(
            row,
            " ".join("s" * source),
            " ".join("t" * target),
            source_tokens=[{"start": 2 * word, "end": 2 * word + 1} for word in range(source)],
            target_tokens=[{"start": 2 * word, "end": 2 * word + 1} for word in range(target)],
        )
        for row, (source, target) in enumerate(lengths)
    ]


def link_rows(links):
    """Return links of (source, target, probability) as rows of a column."""
    return [{"source": i, "target": j, "probability": p} for i, j, p in links]


def linked(lengths, forward, reverse):
    """Return a LINKED table."""
    rows = token_rows(lengths)
    for row, one, other in zip(rows, forward, reverse, strict=True):
        row |= {"forward": link_rows(one), "reverse": link_rows(other)}
    return pa.Table.from_pylist(rows, schema=schemas.LINKED)


def symmetrized(lengths, links):
    """Return a SYMMETRIZED table of links without probabilities."""
    rows = token_rows(lengths)
    for row, pairs in zip(rows, links, strict=True):
        row["links"] = link_rows([(i, j, 1.0) for i, j in pairs])
    return pa.Table.from_pylist(rows, schema=schemas.SYMMETRIZED)
