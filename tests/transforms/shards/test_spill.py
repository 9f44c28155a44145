"""Rows sorted into buckets, on the way from shards to files."""

import numpy as np
import pyarrow as pa

from pairweave.transforms.shards.spill import Spill


def test_each_bucket_has_its_rows_in_the_order_of_the_shards(tmp_path):
    spill = Spill(tmp_path, 4)
    for first, buckets in ((0, [3, 0, 3, 1]), (4, []), (4, [1, 3, 0]), (7, [3, 3])):
        rows = pa.table({"row": pa.array(range(first, first + len(buckets)), pa.int64())})
        spill.add(rows, np.array(buckets, np.int64))

    def parts(number, most):
        return [part.column("row").to_pylist() for part in spill.bucket(number, most)]

    assert [parts(number, 100) for number in range(4)] == [
        [[1, 6]],
        [[3, 4]],
        [],
        [[0, 2, 5, 7, 8]],
    ]
    assert parts(3, 3) == [[0, 2, 5], [7, 8]]
    assert parts(3, 2) == [[0, 2], [5, 7, 8]]
    assert parts(3, 5) == [[0, 2, 5, 7, 8]]
