"""Overlap with an earlier corpus, against sets of plain Python."""

import itertools

import numpy as np
import pyarrow as pa
import pytest

from pairweave.transforms import schemas
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.filtering import filtered, rules
from pairweave.transforms.filtering.deduplication import earlier
from pairweave.transforms.filtering.deduplication.duplicates import masked_shard_numbers
from pairweave.transforms.filtering.deduplication.earlier import Division
from pairweave.transforms.filtering.scored_shards import Place
from pairweave.transforms.shards.merge import merge_rows, pairs_of
from tests.makers.rows import batch, row

SHARDS = 3


def rejected(texts, before, tmp_path, *, parts=2, masked=True):
    """Return the texts that are rejected, found as the job does."""
    division = Division(Place(str(tmp_path), "plan"), SHARDS, parts, masked)
    made = [row(*each, line=number) for number, each in enumerate(before)]
    made.append(row(None, None, line=99, reason="invalid_utf8"))
    batches = [batch(*rows) for rows in (made[:2], made[2:])]
    grouped = {}
    for part, table in itertools.chain(*(earlier.divide([each], division) for each in batches)):
        grouped.setdefault(part, []).append(table)
    written = frozenset(earlier.write(each, division) for each in grouped.items())
    assert all(part < SHARDS * parts for part in written)
    rows = batch(*(row(*each, line=number) for number, each in enumerate(texts)))
    shards = masked_shard_numbers(rows, SHARDS)
    result = set()
    for shard in range(SHARDS):
        own = rows.filter(pa.array(shards == shard))
        pairs = pairs_of(merge_rows([pa.Table.from_batches([own])])[0])
        table = filtered.unscored(pairs, rules.judge(pairs, rules.RuleConfig()))
        for each in earlier.reject(table, shard, division, written).to_pylist():
            if each["reason"] == "in_earlier_corpus":
                result.add((each["source"], each["target"]))
    return result


def texts(numbers):
    return [(f"sentence {chr(97 + n)} {n}", f"dieser satz {chr(97 + n)} {n}") for n in numbers]


@pytest.mark.parametrize("parts", [1, 2, 5])
def test_pairs_of_the_earlier_corpus_are_rejected_and_no_others(tmp_path, parts):
    new, before = texts(range(20)), texts(range(10, 26))
    actual = rejected(new, [*before, *before[:3]], tmp_path, parts=parts)
    assert actual == set(new) & set(before)


def test_masked_pairs_meet_whatever_their_numbers_are_and_exact_ones_do_not(tmp_path):
    new = [("Page 1", "Seite 1"), ("Page 2", "Seite 2"), ("Page", "Seite")]
    assert rejected(new, [("Page 2", "Seite 3")], tmp_path) == set(new[:2])
    assert rejected(new, [("Page 2", "Seite 3")], tmp_path / "exact", masked=False) == set()
    assert rejected(new, [new[1]], tmp_path / "equal", masked=False) == {new[1]}


def test_a_pair_that_a_rule_rejects_keeps_that_reason(tmp_path):
    copied = ("the cat sat on it", "the cat sat on it")
    assert rejected([copied, ("a b", "c d")], [copied], tmp_path) == set()


def test_sides_and_languages_are_of_a_digest():
    rows = batch(row("a", "bc"), row("ab", "c"), row("a", "bc", target_lang="fr"))
    assert rows.schema == schemas.ROWS
    actual = earlier.digests(rows, masked=True)
    assert len(set(map(tuple, actual.T.tolist()))) == 3


@pytest.mark.parametrize(
    ("pairs", "shards", "parts"), [(0, 1, 1), (1 << 20, 1, 1), (5 << 20, 2, 3)]
)
def test_a_part_has_about_a_million_pairs(pairs, shards, parts):
    assert earlier.parts_of(pairs, shards) == parts


def test_a_damaged_file_of_digests_is_named(tmp_path):
    division = Division(Place(str(tmp_path), "plan"), 1, 1, masked=True)
    digests = earlier.digests(batch(row("a", "b")), masked=True)
    table = pa.table({"high": digests[0], "low": digests[1]}, schema=earlier.DIGESTS)
    earlier.write((0, [table]), division)
    (tmp_path / "_scored" / "earlier-000000.npy").write_bytes(b"none")
    pairs = pairs_of(merge_rows([pa.Table.from_batches([batch(row("a", "b"))])])[0])
    rows = filtered.unscored(pairs, rules.judge(pairs, rules.RuleConfig()))
    with pytest.raises(WorkerError, match="cannot be read"):
        earlier.reject(rows, 0, division, frozenset({0}))


def test_digests_are_compared_in_full():
    known = np.array([[1, 1, 5], [1, 2, 0]], np.uint64)
    own = np.array([[1, 1, 5, 0], [3, 2, 0, 1]], np.uint64)
    assert earlier._are_among(own, known).tolist() == [False, True, True, False]
