"""Turn PHRASES rows into TAGGED rows with the inline tags that the input already has."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms import ids, schemas
from pairweave.transforms.arrow.flat_columns import chunk_of
from pairweave.transforms.indexed_tag import INDICES, MAX_TAGS
from pairweave.transforms.kernels import sampling
from pairweave.transforms.kernels.tags import tags as kernel
from pairweave.transforms.markup.markup import INDEXED, parse_markup
from pairweave.transforms.markup.pair_markup import PairMarkup
from pairweave.transforms.symbols.tag_coding import shift_tags
from pairweave.transforms.tags.tag_config import TagConfig
from pairweave.transforms.tags.tag_rendering import render_columns, symbols_of
from pairweave.transforms.tags.tags import draw_ids, inject_tags


def keep_or_inject_tags(
    kept: pa.Table, table: pa.Table, config: TagConfig
) -> tuple[pa.Table, np.ndarray, np.ndarray]:
    """Turn pairs into TAGGED rows; a pair with tags of its own keeps those instead of new ones.

    Such a pair has one tagged row, regardless of ``variants``, and its tags are numbered at random,
    like injected ones. `transforms.tags.tags.inject_tags` describes which pairs get a tagged and a
    plain row. A pair with more elements than there are tag numbers has no tagged row.

    Args:
        kept: The kept rows (`transforms.schemas.ROWS`), with the column ``markup``.
        table: The same pairs with phrase pairs (`transforms.schemas.PHRASES`).
        config: How tags are injected.

    Returns:
        The rows (`transforms.schemas.TAGGED_MARKUP`), in the order of pairs, then by variant;
        whether each pair has no row; and whether that is because it has too many tags; bool
        ``[pair]`` each.
    """
    markups = [
        PairMarkup.from_json(line) if line is not None else None
        for line in kept.column("markup").to_pylist()
    ]
    own = np.array([bool(markup and markup.shared) for markup in markups], np.bool_)
    drawn, _ = inject_tags(table.filter(pa.array(~own)), config)
    rows, too_many = _own_rows(table, markups, np.flatnonzero(own), config)
    nulls = pa.nulls(drawn.num_rows, pa.string())
    drawn = drawn.append_column(schemas.TAGGED_MARKUP.field("markup"), nulls)
    together = pa.concat_tables([drawn, rows])
    place = pc.index_in(together.column("id"), table.column("id")).to_numpy()
    order = np.lexsort((together.column("variant").to_numpy(), place))
    without = np.bincount(place, minlength=table.num_rows) == 0
    return together.take(pa.array(order)).combine_chunks(), without, too_many & without


def _own_rows(
    table: pa.Table, markups: list[PairMarkup | None], own: np.ndarray, config: TagConfig
) -> tuple[pa.Table, np.ndarray]:
    seed, keys = np.uint64(config.seed), ids.pair_keys(table.column("id"))
    is_plain, is_tagged = (
        sampling.picked(seed, keys, sampling.STEP_MIX, np.float64(share))
        for share in (config.plain_share, config.tagged_share)
    )
    too_many = np.zeros(table.num_rows, np.bool_)
    columns = ("id", "source", "target", "source_lang", "target_lang", "corpus")
    pairs = table.select(columns).take(pa.array(own, pa.int64())).to_pylist()
    indexed = config.representation == "indexed"
    max_elements = INDICES if indexed else MAX_TAGS
    indices = np.empty(INDICES, np.int64)
    rows = []
    for place, pair in zip(own.tolist(), pairs, strict=True):
        markup = markups[place]
        assert markup is not None
        too_many[place] = len(markup.shared) > max_elements
        if is_plain[place]:
            rows.append({**pair, "variant": 0, "kind": "plain", "tags": [], "markup": None})
        if is_tagged[place] and not too_many[place]:
            if config.tag_numbers == "in_order":
                indices[:] = np.arange(INDICES)
            else:
                kernel.draw_indices(seed, keys[place], 1, len(markup.shared), indices)
            rows.append({**pair, **_tagged(pair, markup.renumbered(indices), config)})
    tagged = pa.Table.from_pylist(rows, schema=schemas.TAGGED_MARKUP)
    return tagged if indexed else _rendered(tagged, config), too_many


def _rendered(rows: pa.Table, config: TagConfig) -> pa.Table:
    source, target = (chunk_of(rows.column(side)) for side in ("source", "target"))
    rendered = render_columns(source, target, config.representation, draw_ids(rows, config))
    for side, column in zip(("source", "target"), rendered, strict=True):
        field = schemas.TAGGED_MARKUP.field(side)
        rows = rows.set_column(rows.schema.get_field_index(side), field, column)
    return rows


def _tagged(pair: dict[str, str], markup: PairMarkup, config: TagConfig) -> dict[str, object]:
    texts = {side: markup.indexed(side, pair[side]) for side in ("source", "target")}
    if config.whitespace_shift:
        texts = {
            side: str(shift_tags(parse_markup(text, INDEXED))[0]) for side, text in texts.items()
        }
    tags = []
    for element in markup.shared:
        spans = {
            f"{side}_{end}": offset
            for side in ("source", "target")
            for end, offset in zip(("start", "end"), getattr(element, side), strict=True)
        }
        tags.append({"index": element.index, "form": str(element.form), **spans})
    return {**texts, "variant": 1, "kind": "tagged", "tags": tags, "markup": markup.to_json()}


def own_symbols(config: TagConfig) -> list[str]:
    """Return all tags that can occur in pairs with tags of their own."""
    return symbols_of(config.representation, self_closing=True, max_id=config.max_id)
