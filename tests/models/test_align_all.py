"""Rows that an aligner gives up have no links, and the others stay in their places."""

import pytest

from pairweave.models.aligner import align_all
from pairweave.transforms import schemas
from pairweave.transforms.text.text_tables import token_table
from pairweave.transforms.text.tokens import TokenConfig


class GivesUp:
    """An aligner that links the first tokens of each pair, and gives some pairs up."""

    def __init__(self, rows):
        self.rows = rows

    def align_or_reject(self, table):
        link = [{"source": 0, "target": 0, "probability": 1.0}]
        rows = [
            {**row, "forward": link, "reverse": link}
            for number, row in enumerate(table.to_pylist())
            if number not in self.rows
        ]
        linked = schemas.LINKED.empty_table().from_pylist(rows, schema=schemas.LINKED)
        return linked, dict.fromkeys(self.rows, ("too_long_for_encoder", "900 pieces"))


@pytest.mark.parametrize("rows", [(), (1,), (0, 2), (0, 1, 2)])
def test_rows_that_are_given_up_have_no_links(rows):
    texts = ["a cat", "two cats", "three"], ["eine Katze", "zwei Katzen", "drei"]
    table = token_table(texts, TokenConfig("words"), ("en", "de"))
    linked = align_all(GivesUp(rows), table)
    assert linked.schema == schemas.LINKED
    assert linked.column("source").to_pylist() == texts[0]
    for name in ("forward", "reverse"):
        counts = [len(links) for links in linked.column(name).to_pylist()]
        assert counts == [0 if number in rows else 1 for number in range(3)]
