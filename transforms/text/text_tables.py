"""Makes tables for aligners from texts that were not read by a job."""

from collections.abc import Sequence

import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.text.tokens import TokenConfig, add_tokens


def token_table(
    sides: tuple[Sequence[str], Sequence[str]],
    tokens: TokenConfig,
    languages: tuple[str, str],
    *,
    first_id: int = 0,
) -> pa.Table:
    """Return sentence pairs as a TOKENS table, with lines numbered from 1 and consecutive ids.

    Args:
        sides: Source texts and target texts ``[pair]``.
        tokens: How texts are cut.
        languages: BCP 47 tags of the sides.
        first_id: The id of the first pair.
    """
    count = len(sides[0])
    columns = {
        "id": [f"{number:032x}" for number in range(first_id, first_id + count)],
        "corpus": [""] * count,
        "source_lang": [languages[0]] * count,
        "target_lang": [languages[1]] * count,
        "file": [""] * count,
        "line": range(1, count + 1),
        "source": sides[0],
        "target": sides[1],
        "translation": [None] * count,
    }
    arrays = [pa.array(columns[field.name], field.type) for field in schemas.PAIRS]
    return add_tokens(pa.Table.from_arrays(arrays, schema=schemas.PAIRS), tokens)
