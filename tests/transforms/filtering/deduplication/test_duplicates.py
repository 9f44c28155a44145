import numpy as np
import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.filtering.deduplication.duplicates import (
    masked_keys,
    masked_shard_numbers,
    worse_copies,
)
from tests.makers.rows import pair, row


def table(*pairs):
    return pa.Table.from_pylist([pair(*each) for each in pairs], schema=schemas.PAIRS)


def keys(*texts):
    return masked_keys(table(*((number, *sides) for number, sides in enumerate(texts)))).tolist()


def test_addresses_and_numbers_make_no_difference_and_all_else_does():
    actual = keys(
        ("Page 5 of 12", "Seite 5 von 12"),
        ("Page 1,024 of 7", "Seite 1 von 2"),
        ("Page x of 12", "Seite 5 von 12"),
        ("write a@b.de or www.x.de", "y"),
        ("write c.d@e.org or http://y.com/z", "y"),
        ("write www.x.de or a@b.de", "y"),
    )
    assert actual[0] == actual[1]
    assert actual[3] == actual[4]
    assert len({actual[0], actual[2], actual[3], actual[5]}) == 4


def test_a_side_does_not_run_into_the_other():
    assert len(set(keys(("a", "bc"), ("ab", "c"), ("abc", "")))) == 3


def test_languages_are_of_the_key():
    rows = [pair(0, "a", "b"), pair(1, "a", "b", target_lang="fr")]
    assert len(set(masked_keys(pa.Table.from_pylist(rows, schema=schemas.PAIRS)).tolist())) == 2


def test_the_best_copy_stays_then_the_first():
    rows = table(
        (0, "Page 1", "Seite 1"),
        (1, "Page 2", "Seite 2"),
        (2, "another", "andere"),
        (3, "Page 3", "Seite 3"),
        (4, "Page 4", "Seite 4"),
    )
    scores = np.array([0.1, 0.9, 0.5, 0.9, 0.2], np.float32)
    assert worse_copies(rows, scores).tolist() == [1, -1, -1, 1, 1]
    assert worse_copies(rows.take([4, 3, 2, 1, 0]), scores[::-1]).tolist() == [3, 3, -1, -1, 3]
    assert worse_copies(rows[:0], scores[:0]).tolist() == []


def test_copies_fall_into_one_shard_and_rows_without_texts_into_any():
    made = [row(f"Page {number}", f"Seite {number}", line=number) for number in range(20)]
    made.append(row(None, None, line=99, reason="invalid_utf8"))
    batch = pa.RecordBatch.from_pylist(made, schema=schemas.ROWS)
    numbers = masked_shard_numbers(batch, 1000)
    assert len(set(numbers[:20].tolist())) == 1
    assert (numbers >= 0).all()
    assert (numbers < 1000).all()
    texts = [row(f"word {chr(97 + number)}", "Wort") for number in range(26)]
    spread = masked_shard_numbers(pa.RecordBatch.from_pylist(texts, schema=schemas.ROWS), 1000)
    assert len(set(spread.tolist())) > 15
