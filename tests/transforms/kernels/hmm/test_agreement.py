import itertools

import numba
import numpy as np
import pytest

from pairweave.transforms.kernels.hmm import agreement, emissions
from pairweave.transforms.kernels.hmm.emissions import MAX_STATES
from pairweave.transforms.kernels.hmm.hmm import BUCKETS, JUMPS
from pairweave.transforms.kernels.hmm.lexicon import (
    NO_FREQUENT,
    Lexicon,
    search_row,
    tabulate_frequent,
)
from pairweave.transforms.kernels.hmm.model1 import FIXED_POINT
from pairweave.transforms.kernels.hmm.sides import Side, Words
from pairweave.transforms.kernels.scratch import make_scratch
from tests.makers.emissions import padded
from tests.oracles import slow_hmm

OWNED = make_scratch(0)  # too small for any array, so each has its own memory
P_NULL = 0.2
P_LAST = 0.3
SOURCE, TARGET, STEMS = 4, 5, 3
ROWS = [[0, 1, 4], [2], [], [1, 3]]
STEM_ROWS = [[0, 2], [1], [0, 1, 2]]


def flat(rows):
    sizes = [len(row) for row in rows]
    return (
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.array([item for row in rows for item in row], np.int32),
    )


@pytest.fixture
def model():
    """Return words of both sides, a lexicon, jumps and their factors, made at random."""
    rng = np.random.default_rng(11)

    def words(count):
        return Words(
            np.append(rng.integers(0, STEMS, count), -1).astype(np.int32),
            np.append(rng.random(count) * 9, 0).astype(np.float32),
            rng.random(count + 1).astype(np.float32),
            rng.random(count + 1).astype(np.float32) / 10,
            rng.random(count + 1).astype(np.float32) / 10 + np.float32(0.01),
            np.append(rng.random(STEMS) * 9, 0).astype(np.float32),
            rng.random(STEMS + 1).astype(np.float32),
            np.float32(10),
        )

    row_offsets, columns = flat(ROWS)
    stem_offsets, stem_columns = flat(STEM_ROWS)
    lexicon = Lexicon(
        row_offsets,
        columns,
        rng.random((len(columns), 2)).astype(np.float32),
        NO_FREQUENT,
        stem_offsets,
        stem_columns,
        rng.random(len(stem_columns)).astype(np.float32),
        NO_FREQUENT,
    )
    jumps = rng.random((2, 2 * JUMPS + 1)).astype(np.float32)
    factors = [
        rng.random((count + 2, BUCKETS)).astype(np.float32) + np.float32(0.1)
        for count in (SOURCE, TARGET)
    ]
    return words(SOURCE), words(TARGET), lexicon, jumps, *factors


def factors_of(factors, tokens):
    """Return the factors of each position of a side: its begin, then each (word, letters)."""
    return [factors[-1], *(factors[word if word >= 0 else -2] for word, _ in tokens)]


def share_of_last(pair):
    """Return the probability that the last word has the last state, of one of `PAIRS`."""
    return P_LAST if min(side[-1][0] for side in PAIRS[pair]) >= 0 else 0.0


PAIRS = [
    ([(0, "the"), (3, "house"), (-1, "Zidane"), (-3, "nation")], [(1, "la"), (3, "maison")]),
    ([(1, "x")], [(-1, "zidane"), (4, "y"), (4, "y"), (-2, "nations"), (2, "1975")]),
    ([], [(1, "la")]),
    ([(2, "nation")], [(-4, "nations")]),
    # Five of eight letters are too few to be looked at, six of nine are not.
    ([(-1, "abcde"), (-1, "abcdef")], [(-1, "abcdexyz"), (-1, "abcdefxyz")]),
    ([(1, "x"), (3, ".")], [(4, "y"), (1, "la"), (0, ".")]),
]


def sides(pairs=PAIRS):
    """Return both sides of pairs of (word number, letters)."""

    def one(number):
        lists = [pair[number] for pair in pairs]
        offsets, numbers = flat([[word for word, _ in row] for row in lists])
        texts = [[ord(letter) for letter in text] for row in lists for _, text in row]
        return Side(offsets, numbers, *flat(texts))

    return one(0), one(1)


def heads(model):
    """Return the heads that `emissions` takes: -1 for each target word and each target stem."""
    return emissions.heads_of(model[1])


def entry_of(rows, row, column):
    """Return where an entry is in compressed rows, or None."""
    if row < 0 or column not in rows[row]:
        return None
    return sum(map(len, rows[:row])) + rows[row].index(column)


def plain_emission(model, ours, theirs, direction):
    """Return p(target | source), or the reverse for direction 1, of two tokens."""
    sides = model[0], model[1]
    (one, text), (other, other_text) = ours, theirs
    lexicon = model[2]
    entry = entry_of(ROWS, one, other) if one >= 0 else None
    if entry is not None:
        return lexicon.probabilities[entry, direction]

    def known(words, number):
        index = number if number >= 0 else len(words.mass) - 1
        stem = words.stem[number] if number >= 0 else -2 - number if number < -1 else -1
        share = words.share[number] if number >= 0 else words.stem_share[stem]
        mass = words.mass[index] if number >= 0 else 0.0
        return stem, mass, words.stem_mass[stem], share, words.unigram[index]

    facts = known(sides[0], one), known(sides[1], other)
    stem_entry = entry_of(STEM_ROWS, facts[0][0], facts[1][0])
    given, to = facts[direction], facts[1 - direction]
    common = len({ord(x) & 63 for x in text} & {ord(x) & 63 for x in other_text})
    most = max(len({ord(x) & 63 for x in word}) for word in (text, other_text))
    return slow_hmm.translation_probability(
        0.0,
        given[1],
        10,
        lexicon.stem_counts[stem_entry] if stem_entry is not None else 0.0,
        given[2],
        to[3],
        slow_hmm.likeness(text, other_text) if 3 * common >= 2 * most else 0.0,
        to[4],
    )


@pytest.mark.parametrize("pair", [0, 1, 3, 4, 5])
def test_emissions_are_those_of_the_formula(model, pair):
    source, target = sides()
    of_target = heads(model)
    made, back_made, entries = emissions.emissions(
        source, target, pair, *model[:3], of_target, OWNED
    )
    ours, theirs = PAIRS[pair]
    forward, reverse = made.values, back_made.values
    assert forward.shape == reverse.T.shape == (8, 8)
    assert (made.width, back_made.width) == entries.shape == (len(ours), len(theirs))
    assert made.low.tolist() == [0] * len(theirs)
    assert back_made.low.tolist() == [0] * len(ours)
    for matrix in (forward, reverse.T):
        assert not matrix[len(theirs) :].any()
        assert not matrix[:, len(ours) :].any()
    for i, one in enumerate(ours):
        for j, other in enumerate(theirs):
            entry = entry_of(ROWS, *(one[0], other[0])) if one[0] >= 0 else None
            assert entries[i, j] == (-1 if entry is None else entry)
            assert forward[j, i] == pytest.approx(plain_emission(model, one, other, 0), rel=1e-4)
            assert reverse[i, j] == pytest.approx(plain_emission(model, one, other, 1), rel=1e-4)
    for emission, words, tokens in ((made, model[1], theirs), (back_made, model[0], ours)):
        nulls = [words.null[number if number >= 0 else -1] for number, _ in tokens]
        assert emission.null[: len(tokens)].tolist() == nulls
    assert all((head == -1).all() for head in of_target)


@pytest.mark.parametrize("markov", [False, True])
def test_counts_are_products_of_both_directions(model, markov):
    source_words, target_words, lexicon, jumps, *factors = model
    source, target = sides()
    counts = [np.zeros(size, np.int64) for size in (len(lexicon.columns), TARGET, SOURCE)]
    after = [np.zeros(table.shape, np.int64) for table in factors]
    jump_counts = np.zeros((2, 2 * JUMPS + 1))
    agreement.expect(
        0,
        len(PAIRS),
        source,
        target,
        agreement.Model(*model[:3], jumps if markov else jumps[:0], *factors, P_NULL, P_LAST),
        agreement.Counts(*counts, jump_counts, *after),
        make_scratch(),
    )
    flat_jumps = np.ones(2 * JUMPS + 1)
    expected = [np.zeros(len(count)) for count in counts]
    expected_after = [np.zeros(table.shape) for table in factors]
    for pair, (ours, theirs) in enumerate(PAIRS):
        if not ours or not theirs:
            continue
        made, back_made, entries = emissions.emissions(
            source, target, pair, source_words, target_words, lexicon, heads(model), OWNED
        )
        forward, null = made.values[: len(theirs), : len(ours)], made.null[: len(theirs)]
        reverse, back_null = (
            back_made.values[: len(ours), : len(theirs)],
            back_made.null[: len(ours)],
        )
        used = jumps if markov else (flat_jumps, flat_jumps)
        p_last = share_of_last(pair) if markov else 0.0
        after_ours = factors_of(factors[0], ours) if markov else None
        after_theirs = factors_of(factors[1], theirs) if markov else None
        ahead = slow_hmm.enumerated(
            forward.tolist(), null.tolist(), used[0], P_NULL, after_ours, p_last
        )
        back = slow_hmm.enumerated(
            reverse.tolist(), back_null.tolist(), used[1], P_NULL, after_theirs, p_last
        )
        one, other = ahead[1], back[1]
        for table, tokens, made in zip(expected_after, (ours, theirs), (ahead, back), strict=True):
            for row, jumped in zip((-1, *(word for word, _ in tokens)), made[4], strict=True):
                table[row if row >= 0 else -2] += jumped
            table[-2] -= made[4][0]  # the begin, which is not an unseen word
            table[-1] += made[4][0]
        for i, (number, _) in enumerate(ours):
            for j in range(len(theirs)):
                if entries[i, j] >= 0:
                    expected[0][entries[i, j]] += one[j][i] * other[i][j]
            if number >= 0:
                expected[2][number] += 1 - sum(other[i])
        for j, (number, _) in enumerate(theirs):
            if number >= 0:
                expected[1][number] += 1 - sum(one[j])
    for count, wanted in zip(counts, expected, strict=True):
        np.testing.assert_allclose(count / FIXED_POINT, wanted, atol=1e-5)
    assert jump_counts.any() == markov
    for count, wanted in zip(after, expected_after, strict=True):
        # Positions of less than a ten-thousandth are not counted.
        np.testing.assert_allclose(count / FIXED_POINT, wanted if markov else 0, atol=2e-3)


@pytest.mark.parametrize("greatest", [1.0, 1e-3, 1e-6, 1e-9, 1e-11])
def test_every_link_of_a_unit_or_more_is_counted(greatest):
    rng = np.random.default_rng(7)
    one = (rng.random((3, 19)) * greatest).astype(np.float32)
    other = rng.random((3, 19)).astype(np.float32)
    entries = rng.permutation(np.arange(-7, 50)).reshape(3, 19).clip(-1)
    counts = np.zeros(50, np.int64)
    agreement.count_links(padded(one), padded(other, np.nan), entries, counts, OWNED)
    expected = np.zeros(50, np.int64)
    for entry, both in zip(entries.ravel(), (one * other).ravel(), strict=True):
        if entry >= 0:
            expected[entry] += int(float(both) * FIXED_POINT)
    assert counts.tolist() == expected.tolist()
    assert counts.any() == (greatest >= 1e-9)


@pytest.mark.parametrize(("words", "states"), [(2, 2), (1, 3), (9, 5), (13, 17), (8, 24)])
def test_each_direction_hears_the_odds_of_the_other(words, states):
    rng = np.random.default_rng(words)
    own = rng.dirichlet(np.ones(states + 1), words)[:, :states].astype(np.float32)
    other = rng.dirichlet(np.ones(words + 1), states)[:, :words].astype(np.float32)
    given = agreement.odds_of(padded(other, np.nan), OWNED)
    combined = agreement.combine_posteriors(padded(own), given, states, OWNED)
    windows = agreement.weigh(
        padded(own),
        np.zeros(words, np.int32),
        states,
        given,
        np.zeros(states, np.int32),
        words,
        OWNED,
    )
    agreement.combine_windows(windows, padded(own), words, states, OWNED)
    for word in range(words):
        odds = [(chance + 0.1) / (1.1 - chance) for chance in other[:, word]]
        weights = own[word] * odds
        total = weights.sum() + 1 - own[word].sum()
        assert combined[:states, word] == pytest.approx(weights / total, rel=1e-5)
        assert given[:states, word] == pytest.approx(odds, rel=1e-5)
    # To the bit: pairs with windows differ in nothing else.
    assert combined[:states, :words].tolist() == windows[:words, :states].T.tolist()
    assert not combined[:states, words:].any()


@pytest.mark.parametrize(
    ("words", "states"), [(1, 1), (256, 256), (300, 40), (40, 300), (900, 999), (30, 3000)]
)
def test_windows_lie_round_the_diagonal(words, states):
    width, low = emissions.window(words, states, OWNED)
    assert width == min(states, MAX_STATES)
    assert np.all(np.diff(low) >= 0)
    assert low.min() >= 0
    assert low.max() + width <= states
    centres = (2 * np.arange(words) + 1) * states // (2 * words)
    assert np.all((low <= centres) & (centres < low + width))
    assert np.all(np.abs(low + low[::-1] - (states - width)) <= 1)  # the same from both ends


def test_outside_its_window_a_direction_believes_in_no_link():
    other = padded(np.array([[0.5], [0.25], [1.0]], np.float32))
    own = padded(np.array([[1.0, 1.0], [2.0, 1.0]], np.float32))
    low, other_low = np.array([0, 1], np.int32), np.array([0, 1, 1], np.int32)
    weighed = agreement.weigh(own, low, 2, agreement.odds_of(other, OWNED), other_low, 1, OWNED)
    none = 0.1 / 1.1
    assert weighed[0, :2] == pytest.approx([1.0, none], rel=1e-5)
    assert weighed[1, :2] == pytest.approx([2 * 0.35 / 0.85, 1.1 / 0.1], rel=1e-5)


def test_places_are_listed_row_by_row_if_they_reach_the_threshold():
    chances = np.array([[0.25, 0.5, 0.1], [0.0, 0.0, 0.0], [0.75, 0.2, 0.25]], np.float32)
    rows, columns = (np.empty(5, np.int32) for _ in range(2))
    assert agreement.likely_places(padded(chances, 1.0), 3, 0.25, rows, columns) == 4
    assert list(zip(rows[:4], columns[:4], strict=True)) == [(0, 0), (0, 1), (2, 0), (2, 2)]


@pytest.mark.parametrize("threshold", [0.1, 0.2, 0.3, 0.7, 1.0])
def test_a_threshold_is_not_rounded_down(threshold):
    near = np.float32(threshold)
    chances = np.array([[np.nextafter(near, np.float32(at)) for at in (0, 2)] + [near]], np.float32)
    rows, columns = (np.empty(4, np.int32) for _ in range(2))
    used = agreement.likely_places(padded(chances), 1, threshold, rows, columns)
    expected = [at for at, chance in enumerate(chances[0].tolist()) if chance >= threshold]
    assert columns[:used].tolist() == expected


def test_places_of_a_path_are_its_words_with_a_state():
    path = np.array([3, -1, 5], np.int32)
    words, states = (np.empty(3, np.int32) for _ in range(2))
    assert agreement.path_places(path, words, states) == 2
    assert list(zip(words[:2], states[:2], strict=True)) == [(0, 3), (2, 5)]


def found(row, numbers, *, frequent=False):
    """Return the entries of some columns in a row, as `find_entries` and a search find them."""
    offsets = np.array([0, len(row)], np.int64)
    heads = np.full(5000, -1, np.int32)
    following = emissions.chain(numbers, heads, OWNED)
    table = tabulate_frequent(offsets, row, 5000) if frequent else NO_FREQUENT
    assert len(table) == frequent
    known = emissions.nothing_known(2, len(numbers), OWNED)
    rows = np.array([0, -1], np.int32)
    emissions.find_entries(offsets, row, table, rows, numbers, heads, following, known)
    begins = known.begins.tolist()
    assert begins[1] == begins[2]
    places = {
        int(place): int(entry)
        for place, entry in zip(known.places[: begins[1]], known.found[: begins[1]], strict=True)
    }
    entries = known.entries.tolist()
    assert entries[1] == [-1] * len(numbers)
    assert places == {place: entry for place, entry in enumerate(entries[0]) if entry >= 0}
    assert len(places) == begins[1]
    return entries[0]


@pytest.mark.parametrize("size", [3, 90, 100, 2000])
def test_entries_of_a_row_are_found_whether_it_is_read_searched_or_in_a_table(size):
    row = np.arange(0, 2 * size, 2, dtype=np.int32)
    numbers = np.array([0, 7, 1998, -1, 2, 2, 3998], np.int32)
    expected = [list(row).index(number) if number in row else -1 for number in numbers]
    assert found(row, numbers) == expected
    assert found(row, numbers, frequent=size == 2000) == expected
    assert [search_row_of(row, number) for number in numbers] == expected


@pytest.mark.parametrize(
    ("sizes", "targets", "rows"),
    [
        ([200, 150, 100, 99, 100, 3], 200, 5),  # up to the last long row
        ([200, 99], 200, 1),
        ([99, 99], 200, 0),
        ([200, 200], 801, 1),  # 16 bytes for each entry
        ([200, 200], 1601, 0),
    ],
)
def test_a_table_has_the_entries_of_the_first_long_rows(sizes, targets, rows):
    columns = np.concatenate([np.arange(size, dtype=np.int32) for size in sizes])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    table = tabulate_frequent(offsets, columns, targets)
    assert table.shape == (rows, targets)
    for row in range(rows):
        expected = [*range(offsets[row], offsets[row + 1]), *[-1] * (targets - sizes[row])]
        assert table[row].tolist() == expected


@numba.njit
def search_row_of(row, number):
    """Search a row, as kernels do."""
    return search_row(row, 0, len(row), number)


@pytest.mark.parametrize(
    ("size", "tabulated"), [(3, False), (40, False), (60, False), (2000, False), (2000, True)]
)
@pytest.mark.parametrize("row_number", [-1, 0])
def test_counts_of_words_without_an_entry_are_those_of_the_whole_row(size, tabulated, row_number):
    row = np.arange(0, 2 * size, 2, dtype=np.int32)
    offsets = np.array([0, size], np.int64)
    numbers = np.array([0, 7, 2, -1, 2], np.int32)
    heads = np.full(2 * size + 8, -1, np.int32)
    following = emissions.chain(numbers, heads, OWNED)
    values = np.arange(1, size + 1, dtype=np.float32)
    expected = np.array([1 + number // 2 if number in row else 0 for number in numbers], np.float32)
    if row_number < 0:
        expected[:] = 0
    rows = np.array([row_number], np.int32)
    table = tabulate_frequent(offsets, row, 2 * size) if tabulated else NO_FREQUENT
    assert len(table) == tabulated
    for entries in itertools.product([-1, 5], repeat=5):
        known = emissions.nothing_known(1, 5, OWNED)
        known.entries[0] = entries
        known.counts[:] = -9
        wanted = np.array(entries) < 0
        known.begins[:] = 0, 5 - wanted.sum()
        stored = offsets, row, values, table
        emissions.find_counts(stored, rows, numbers, heads, following, known)
        assert known.counts[0, :5][wanted].tolist() == expected[wanted].tolist()
        if wanted.any():
            assert not known.counts[0, 5:].any()


@pytest.mark.parametrize(
    ("source", "target", "share"),
    [
        ([40, 19], [0], P_LAST),
        ([40, 20], [0], 0.0),
        ([0], [1, 19], P_LAST),
        ([0], [1, 20], 0.0),
        ([0], [3, -1], 0.0),
        ([0] * 256, [1] * 256, P_LAST),
        ([0] * 257, [1], 0.0),
        ([0], [1] * 257, 0.0),
    ],
)
def test_last_words_are_linked_if_both_are_common_and_no_window_ends_before(source, target, share):
    before = [7, 7, 7]
    one, other = (
        Side(np.array([0, 3, 3 + len(words)]), np.array(before + words, np.int32), *flat([]))
        for words in (source, target)
    )
    assert agreement.share_of_last(one, other, 1, P_LAST) == share
