"""The step that attaches given links to the pairs of a shard."""

import functools

import apache_beam as beam

from pairweave.models.given_links import GivenLinks
from pairweave.transforms.shards.shard import Shard, Shards
from pairweave.transforms.text.tokens import TokenConfig


class AddGivenLinks(beam.PTransform[Shards, Shards]):
    """Adds given links to the working table of every shard; rejects pairs with unusable links."""

    def __init__(self, given_links: GivenLinks, tokens: TokenConfig, *, translations: bool) -> None:
        """Set the run; with ``translations``, the links are those of translations."""
        super().__init__()
        self._link = functools.partial(
            link_shard, given_links=given_links, tokens=tokens, translations=translations
        )

    def expand(self, shards: Shards) -> Shards:
        """Link each shard."""
        return shards | "Table" >> beam.Map(self._link).with_output_types(Shard)


def link_shard(
    shard: Shard, given_links: GivenLinks, tokens: TokenConfig, *, translations: bool = False
) -> Shard:
    """Link a shard's pairs; kept rows, rejected rows and working table stay consistent."""
    wanted = shard.kept.column("translation").is_valid().to_numpy() if translations else None
    linked, given_up = given_links.align(shard.kept, shard.table, tokens, wanted)
    return shard.give_up(given_up).with_table(linked)
