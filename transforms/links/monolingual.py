"""A translation and its reference as a pair in one language, and their links added to the pair.

Any aligner can then align them (Zhu et al., section 4.2): it sees the translation as the source and
the reference as the target.
"""

import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError, WorkerError


def as_monolingual(pairs: pa.Table) -> pa.Table:
    """Return PAIRS rows whose source is the translation, in the target's language.

    A pair without a translation has an empty source: it gets no tokens and no links. The ids are
    those of the pairs.
    """
    schemas.require(pairs, schemas.PAIRS)
    replaced = {
        "source": pc.fill_null(pairs.column("translation"), ""),
        "source_lang": pairs.column("target_lang"),
    }
    columns = [replaced.get(name, pairs.column(name)) for name in schemas.PAIRS.names]
    return pa.Table.from_arrays(columns, schema=schemas.PAIRS)


def translated_only(pairs: pa.Table) -> pa.Table:
    """Return the monolingual view of the pairs that have a translation, to fit an aligner on.

    Raises:
        ConfigError: There are pairs, but none has a translation.
    """
    translated = pairs.filter(pc.is_valid(pairs.column("translation")))
    if pairs.num_rows and not translated.num_rows:
        raise ConfigError(
            f"none of {pairs.num_rows} sampled pairs has a translation in the input, so there is "
            "nothing to fit the aligner on; give translations, --aligner ter, or a fitted --model"
        )
    return as_monolingual(translated)


def add_comparison(pairs: pa.Table, links: pa.Table) -> pa.Table:
    """Turn PAIRS rows into COMPARED rows, in the same order.

    Args:
        pairs: The pairs.
        links: The links of their monolingual view (`transforms.schemas.SYMMETRIZED`).

    Raises:
        WorkerError: The links are not those of these pairs.
    """
    schemas.require(pairs, schemas.PAIRS)
    schemas.require(links, schemas.SYMMETRIZED)
    if not pairs.column("id").equals(links.column("id")):
        raise WorkerError(
            f"{pairs.num_rows} pairs, but the links of {links.num_rows} others or in another order"
        )
    columns = [links.column(name) for name in ("source_tokens", "target_tokens", "links")]
    return pa.Table.from_arrays([*pairs.columns, *columns], schema=schemas.COMPARED)
