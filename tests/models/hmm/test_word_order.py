import re

import numpy as np
import pytest

from pairweave.models.hmm import hmm_vocabulary, word_order
from pairweave.models.hmm.hmm_vocabulary import collect_vocabulary, cut
from pairweave.models.hmm.word_order import WordOrder, build_word_order, pack, unpack
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.kernels.hmm import word_order as kernel
from pairweave.transforms.kernels.hmm.sides import Side
from tests.makers import corpora
from tests.makers.hmm_corpora import plain_table
from tests.oracles import slow_word_order
from tests.oracles.slow_word_order import SlowOrder

TEXTS = [
    *(corpora.sentence(number)[1] for number in range(120)),
    *(f"Am {day}. Mai kamen {day * 7} Gäste" for day in range(1, 20)),
]
OTHERS = [
    *TEXTS[::20],
    "Mai Gäste . kamen Am 19",
    "niemals gehörte Wörter",
    "42",
    "das das das das",
]


def measured(order, vocabulary, texts):
    table = plain_table([("x", text) for text in texts])
    result = [order.roughness(vocabulary.side(*part)) for part in cut(table, "target")]
    return np.concatenate(result)


@pytest.fixture(scope="module", params=[3, kernel.FREQUENT])
def made(request):
    """Return a model, its vocabulary, and its twin; most words are frequent, or few are."""
    table = plain_table([("x", text) for text in TEXTS])
    vocabulary = collect_vocabulary(table, "target", 10_000 if request.param > 3 else 3)
    order = build_word_order(vocabulary, table)
    frequent = set(vocabulary.words.to_pylist()[: kernel.FREQUENT])
    return order, vocabulary, SlowOrder([folded(text) for text in TEXTS], frequent)


def folded(text):
    return [
        word.casefold().replace("ä", "a\u0308").replace("ö", "o\u0308") for word in text.split()
    ]


def test_roughness_is_that_of_counts_in_dictionaries(made):
    order, vocabulary, slow = made
    assert slow_word_order.FREQUENT == kernel.FREQUENT
    expected = [slow.roughness(folded(text)) for text in OTHERS]
    np.testing.assert_allclose(measured(order, vocabulary, OTHERS), expected, rtol=1e-5, atol=1e-6)


def key_of(kind, *classes):
    """Return the key of an n-gram or a context in a file of a fitted model."""
    state = kind << 56
    for each in classes:
        state = ((state ^ each) + 0x9E3779B97F4A7C15) % 2**64
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            state = (state ^ state >> shift) * factor % 2**64
        state ^= state >> 31
    return state | 1


def test_keys_do_not_change_so_that_files_of_earlier_versions_can_be_read():
    letters = [*b"haus", *b"42", *b"das"]
    side = Side(
        np.array([0, 3]),
        np.array([7, -1, kernel.FREQUENT - 1], np.int32),
        np.array([0, 4, 6, 9]),
        np.array(letters, np.int32),
    )
    digits, begin, end, unseen = (1 << bit for bit in (40, 42, 43, 44))
    classes = [begin, begin, 7, digits, kernel.FREQUENT - 1, end]
    actual = kernel.grams(side)
    for place in range(4):
        before, last, here = classes[place : place + 3]
        assert int(actual.single[place]) == key_of(1, here)
        assert int(actual.double[place]) == key_of(2, last, here)
        assert int(actual.triple[place]) == key_of(3, before, last, here)
        assert int(actual.after_one[place]) == key_of(4, last)
        assert int(actual.after_two[place]) == key_of(5, before, last)
    assert int(kernel.unseen_key()) == key_of(1, unseen)


def test_words_in_another_order_are_rougher(made):
    order, vocabulary, _ = made
    turned = [" ".join(reversed(text.split())) for text in TEXTS]
    assert (measured(order, vocabulary, turned) > measured(order, vocabulary, TEXTS)).mean() > 0.9


def test_a_text_that_was_seen_once_hardly_vouches_for_itself(made):
    _, vocabulary, _ = made
    strange = "Gäste 19 Mai Am . kamen"
    fits = [[*TEXTS, *[strange] * times] for times in (0, 1, 5)]
    tables = [plain_table([("x", text) for text in fit]) for fit in fits]
    never, once, often = (
        measured(build_word_order(vocabulary, table), vocabulary, [strange])[0] for table in tables
    )
    assert never - once < 0.2 * (never - often)


@pytest.mark.parametrize("most", [1, 57, 300, 10_000])
def test_only_the_tokens_of_the_first_pairs_are_counted_in_however_many_batches(
    made, monkeypatch, most
):
    _, vocabulary, _ = made
    table = plain_table([("x", text) for text in TEXTS])
    ends = np.cumsum([len(text.split()) for text in TEXTS])
    first = table.slice(0, int(np.searchsorted(ends, most, side="right")))
    expected = build_word_order(vocabulary, first)
    monkeypatch.setattr(word_order, "MAX_TOKENS", most)
    for rows in (7, len(TEXTS)):
        monkeypatch.setattr(hmm_vocabulary, "ROWS", rows)
        actual = build_word_order(vocabulary, table)
        assert actual.keys.tolist() == expected.keys.tolist()
        assert actual.values.tolist() == expected.values.tolist()


def test_a_text_without_words_is_not_rough(made):
    order, vocabulary, _ = made
    (empty,) = measured(order, vocabulary, [""])
    assert 0 <= empty < 10


def test_the_first_pairs_are_counted_up_to_a_number_of_tokens(made, monkeypatch):
    _, vocabulary, _ = made
    table = plain_table([("x", text) for text in TEXTS])
    first = sum(len(text.split()) for text in TEXTS[:50])
    monkeypatch.setattr(word_order, "MAX_TOKENS", first + 1)
    assert same(build_word_order(vocabulary, table), build_word_order(vocabulary, table[:50]))


def same(one, other):
    return np.array_equal(one.keys, other.keys) and np.array_equal(one.values, other.values)


def test_a_file_reads_as_it_was_written(made):
    order, _, _ = made
    assert same(unpack(pack(order)), order)
    assert pack(unpack(pack(order))) == pack(order)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[: len(data) // 2], "is damaged"),
        (lambda data: pack(WordOrder(*(part[::-1] for part in parts(data)))), "in order"),
        (lambda data: pack(WordOrder(*(part[:0] for part in parts(data)))), "not whole"),
        (lambda data: pack(WordOrder(parts(data)[0], parts(data)[1] * 0)), "a value is not in"),
    ],
)
def test_a_damaged_file_is_refused(made, change, message):
    with pytest.raises(ConfigError, match=re.escape(word_order.FILE) + ".*" + message):
        unpack(change(pack(made[0])))


def parts(data):
    order = unpack(data)
    return order.keys, order.values
