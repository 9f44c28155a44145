"""Near-duplicates: signatures, buckets and comparisons against a plain-Python twin."""

import gzip
import itertools

import numpy as np
import pyarrow as pa
import pytest

from pairweave.transforms import schemas
from pairweave.transforms.filtering.deduplication import near_duplicates
from tests.makers.rows import pair
from tests.oracles import slow_near_duplicates as slow

TEXTS = (
    ("The old house at the river stands empty.", "Das alte Haus am Fluss steht leer."),
    ("The old house at the river stood empty!", "Das alte Haus am Fluss stand leer!"),
    ("THE OLD HOUSE at the river - stands empty", "das alte Haus am Fluss steht leer"),
    ("Posted on 12 at www.x.de by ann", "Am 12 auf www.x.de von Ann"),
    ("Posted on 13,000 at http://y.com by bob", "Am 7 auf www.z.de von Bob"),
    ("Yes", "Ja"),
    ("...", "?!"),
    ("Straße İstanbul", "北京市 ไทย e\u0301te\u0301"),
)


def table(rows):
    return pa.Table.from_pylist(rows, schema=schemas.PAIRS)


def found_in(rows, threshold, shards, part_rows=7):
    """Return what the near-duplicates of rows are alike to, found as the job does."""
    partitions, made = 3, {}
    for shard in range(shards):
        own = rows[shard::shards]
        scores = pa.array([row["score"] for row in own], pa.float32())
        pairs = table([{k: v for k, v in row.items() if k != "score"} for row in own])
        pairs = pairs.append_column("score", scores)
        made[shard] = pairs, *near_duplicates.signatures(pairs, threshold)
    keys = regroup(near_duplicates.key_tables(made[n][1], n, partitions) for n in made)
    buckets = regroup(near_duplicates.repeated_keys(tables) for tables in keys.values())
    candidates = regroup(
        near_duplicates.candidates(
            *made[shard],
            np.concatenate([part.column("key").to_numpy() for part in parts]),
            shard,
            partitions,
        )
        for shard, parts in buckets.items()
    )
    copies = {}
    for tables in candidates.values():
        whole = pa.concat_tables(tables)
        parts = [whole.slice(at, part_rows) for at in range(0, len(whole), part_rows)]
        leaders = parts[0].slice(0, 0)
        for part in parts:
            leaders = near_duplicates.best_of_buckets([leaders, part])
        for part in parts:
            each = near_duplicates.copies_of(part, leaders, threshold)
            for shard in range(shards):
                own = each.filter(pa.compute.equal(each.column("shard"), shard))
                copies.setdefault(shard, []).append(own)
    return {
        row["row"] * shards + shard: row["line"] - 1
        for shard, parts in copies.items()
        for row in near_duplicates.best_reasons(parts).to_pylist()
    }


def regroup(tables):
    """Return tables by their key, as the shuffle does."""
    result = {}
    for each in tables:
        for key, part in each.items():
            result.setdefault(key, []).append(part)
    return result


def corpus(draw, size):
    """Return pairs of which many are variants of few, some of them of one boilerplate."""
    words = [f"word{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(300)]
    rows, bases = [], []
    for number in range(size):
        if not bases or draw.random() < 0.3:
            bases.append((draw.choice(words, 12).tolist(), draw.choice(words, 12).tolist()))
        sides = [list(side) for side in bases[draw.integers(len(bases))]]
        for side in sides:
            for _ in range(draw.integers(3)):
                side[draw.integers(12)] = draw.choice(words)
        texts = (" ".join(side) for side in sides)
        score = float(np.float32(draw.integers(4) / 4))
        rows.append(pair(number, *texts, score=score, file=f"f{draw.integers(2)}"))
    return rows


def test_signatures_are_those_of_plain_python():
    rows = [pair(number, *texts) for number, texts in enumerate(TEXTS)]
    keys, codes = near_duplicates.signatures(table(rows), 0.8)
    for row, texts in enumerate(TEXTS):
        actual = slow.shingles(*texts)
        if not actual:
            assert not keys[:, row].any()
            continue
        expected = [slow.mix64(value) >> 56 for value in slow.signature(actual)]
        assert codes[row].tolist() == expected
    assert (codes[0] == codes[2]).all()
    assert (keys[:, 0] == keys[:, 2]).all()


def test_other_forms_of_letters_and_digits_are_alike():
    one = pair(0, "The İndir button of 2019, in full width", "لعام 2019")
    other = pair(1, "The indir button of ２０１９, in ｆｕｌｌ width", "لعام ٢٠١٩")  # noqa: RUF001
    keys, codes = near_duplicates.signatures(table([one, other]), 0.8)
    assert (keys[:, 0] == keys[:, 1]).all()
    assert (codes[0] == codes[1]).all()


def test_languages_are_of_the_key_and_make_no_bucket_across():
    rows = [pair(0, "a house", "ein Haus"), pair(1, "a house", "ein Haus", target_lang="fr")]
    keys, codes = near_duplicates.signatures(table(rows), 0.8)
    assert not (keys[:, 0] == keys[:, 1]).any()
    assert (codes[0] == codes[1]).all()


@pytest.mark.parametrize("threshold", [0.5, 0.65, 0.8, 0.95, 1.0])
def test_bands_find_what_they_should_and_no_more_rows_would(threshold):
    bands, rows = near_duplicates.bands_of(threshold)
    assert (bands, rows) == slow.bands_of(threshold)
    assert bands * rows <= near_duplicates.VALUES
    assert near_duplicates.meeting(threshold, bands, rows) >= near_duplicates.MIN_RECALL
    more = near_duplicates.VALUES // (rows + 1), rows + 1
    assert more[0] == 0 or near_duplicates.meeting(threshold, *more) < near_duplicates.MIN_RECALL


def test_signatures_estimate_the_jaccard_index():
    draw = np.random.default_rng(5)
    rows = corpus(draw, 300)
    _, codes = near_duplicates.signatures(table([dict(list(row.items())[:9]) for row in rows]), 0.8)
    sets = [slow.shingles(row["source"], row["target"]) for row in rows]
    errors = []
    for one in range(0, 300, 3):
        for other in range(one):
            true = slow.jaccard(sets[one], sets[other])
            if true > 0.3:
                equal = float((codes[one] == codes[other]).mean())
                errors.append((equal - 1 / 256) / (255 / 256) - true)
    assert len(errors) > 100
    assert abs(np.mean(errors)) < 0.01
    assert np.std(errors) < 0.06


@pytest.mark.parametrize(("threshold", "seed"), [(0.6, 1), (0.8, 2)])
def test_near_duplicates_are_those_of_plain_python_however_they_are_divided(threshold, seed):
    rows = corpus(np.random.default_rng(seed), 150)
    expected = slow.near_copies(rows, threshold)
    assert len(expected) > 15
    for shards in (1, 4):
        assert found_in(rows, threshold, shards) == expected


@pytest.mark.slow
def test_a_large_bucket_is_compared_with_its_best_pairs_only(monkeypatch):
    monkeypatch.setattr(near_duplicates, "LEADERS", 3)
    monkeypatch.setattr(slow, "LEADERS", 3)
    rows = corpus(np.random.default_rng(3), 120)
    expected = slow.near_copies(rows, 0.6)
    assert found_in(rows, 0.6, 3) == expected
    monkeypatch.setattr(slow, "LEADERS", 64)
    assert slow.near_copies(rows, 0.6).keys() >= expected.keys()


def test_the_work_of_boilerplate_grows_with_its_size(monkeypatch):
    """5,000 variants of one line are compared with at most 64 others each."""
    compared = []
    whole = near_duplicates.minhash.first_alike

    def counted(pairs, leaders, begins, ends, least):
        compared.append(int((ends - begins).sum()))
        return whole(pairs, leaders, begins, ends, least)

    monkeypatch.setattr(near_duplicates.minhash, "first_alike", counted)
    names = [f"{chr(97 + n // 676)}{chr(97 + n // 26 % 26)}{chr(97 + n % 26)}" for n in range(5000)]
    rows = [
        pair(number, f"Posted by {name} in the forum today", f"Von {name} im Forum", score=0.5)
        for number, name in enumerate(names)
    ]
    actual = found_in(rows, 0.5, 2, part_rows=1 << 18)
    assert len(actual) > 4_000
    assert sum(compared) <= len(rows) * 42 * near_duplicates.LEADERS


def test_of_a_chain_the_pair_without_a_better_one_alike_stays():
    """The first and the last are not alike; the middle one, alike to both, is the worst."""
    words = [f"{letter}{letter}rd" for letter in "abcdefghijkl"]
    texts = [" ".join(words[at : at + 10]) for at in (0, 1, 2)]
    rows = [
        pair(number, texts[place], texts[place], score=score)
        for number, (place, score) in enumerate(((0, 0.9), (1, 0.1), (2, 0.8)))
    ]
    sets = [slow.shingles(text, text) for text in texts]
    assert slow.jaccard(sets[0], sets[2]) < 0.7 < slow.jaccard(sets[0], sets[1])
    assert found_in(rows, 0.7, 1) == {1: 0}
    rows[0]["score"], rows[1]["score"] = 0.1, 0.9
    assert found_in(rows, 0.7, 1) == {0: 1, 2: 1}


@pytest.mark.slow
def test_on_real_text_as_many_near_pairs_meet_as_with_datasketch(shared_data):
    """Of pairs whose true index is over the threshold, both find nearly all, and few others."""
    datasketch = pytest.importorskip("datasketch")
    draw = np.random.default_rng(7)
    lines = [
        gzip.decompress((shared_data / "parallel" / f"multi30k.{lang}.gz").read_bytes())
        .decode()
        .split("\n")[:400]
        for lang in ("en", "de")
    ]
    texts = [*zip(*lines, strict=True)]
    for number in range(400):
        sides = [side.split() for side in texts[number]]
        for _ in range(draw.integers(1, 3)):
            side = sides[draw.integers(2)]
            del side[draw.integers(len(side))]
        texts.append(tuple(" ".join(side) for side in sides))
    sets = [slow.shingles(*each) for each in texts]
    true = {
        (one, other)
        for one, other in itertools.combinations(range(len(sets)), 2)
        if slow.jaccard(sets[one], sets[other]) >= 0.8
    }
    rows = [pair(number, *each) for number, each in enumerate(texts)]
    keys, codes = near_duplicates.signatures(table(rows), 0.8)
    equal = (codes[:, None] == codes[None]).sum(axis=2) >= near_duplicates.least_equal(0.8)
    ours = {
        (one, other)
        for one, other in itertools.combinations(range(len(sets)), 2)
        if equal[one, other] and (keys[:, one] == keys[:, other]).any()
    }
    index = datasketch.MinHashLSH(threshold=0.8, num_perm=128)
    hashes = {}
    for number, each in enumerate(sets):
        hashes[number] = datasketch.MinHash(num_perm=128)
        hashes[number].update_batch([f"{side}{text}".encode() for side, text in each])
        index.insert(number, hashes[number])
    theirs = {
        (min(one, other), max(one, other))
        for one in hashes
        for other in index.query(hashes[one])
        if one != other and hashes[one].jaccard(hashes[other]) >= 0.8
    }
    actual, peer = (len(each & true) / len(true) for each in (ours, theirs))
    right, peers = (len(each & true) / len(each) for each in (ours, theirs))
    assert len(true) > 100
    assert actual > max(0.85, peer - 0.05)
    assert right > max(0.85, peers - 0.05)
