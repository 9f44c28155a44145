"""A tagged row keeps the links of its pair, as ranges of characters."""

import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.links.kept_links import with_links

SPANS = [{"start": 0, "end": 2}, {"start": 3, "end": 7}]
LINKS = [[(0, 0)], [(0, 1), (1, 0)], [(1, 1)]]


def test_each_row_has_the_linked_words_of_its_own_pair():
    columns = {
        "id": ["a", "b", "c"],
        "links": [
            [{"source": i, "target": j, "probability": 1.0} for i, j in links] for links in LINKS
        ],
        "source_tokens": [SPANS] * 3,
        "target_tokens": [SPANS] * 3,
    }
    kinds = [schemas.PHRASES.field(name).type for name in columns]
    made = [pa.array(values, kind) for values, kind in zip(columns.values(), kinds, strict=True)]
    pairs = pa.table(dict(zip(columns, made, strict=True)))[1:]
    actual = with_links(pa.table({"id": ["c", "b", "c"]}), pairs)["word_links"].to_pylist()
    ranges = [[tuple(link.values()) for link in row] for row in actual]
    assert ranges == [[(3, 7, 3, 7)], [(0, 2, 3, 7), (3, 7, 0, 2)], [(3, 7, 3, 7)]]
