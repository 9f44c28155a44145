"""Attaching given links to the pairs of a shard."""

from pairweave.models.given_links import GivenLinks
from pairweave.transforms.shards.shard import Shard
from pairweave.transforms.text.tokens import TokenConfig


def link_shard(
    shard: Shard, given_links: GivenLinks, tokens: TokenConfig, *, translations: bool = False
) -> Shard:
    """Link a shard's pairs; kept rows, rejected rows and working table stay consistent.

    Args:
        shard: The shard.
        given_links: The links.
        tokens: How text is cut.
        translations: Whether the links are those of translations.
    """
    wanted = shard.kept.column("translation").is_valid().to_numpy() if translations else None
    linked, given_up = given_links.align(shard.kept, shard.table, tokens, wanted)
    return shard.give_up(given_up).with_table(linked)
