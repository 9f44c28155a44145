"""Training pairs as pieces: their numbers, and which of them each update has."""

import numpy as np
import pytest

from pairweave.models.subwords.symbol_training import train_with_symbols
from pairweave.models.translation.translation_pairs import (
    END,
    UNKNOWN,
    Batches,
    Stage,
    StagedBatches,
    Vocabulary,
    encode_pass,
    padded,
)
from pairweave.transforms.symbols.representations import symbols
from tests.makers.ablations import GERMAN, WORDS, sentence

NUMBERS = range(1_000, 1_200)


@pytest.fixture(scope="module")
def vocabulary():
    texts = (sentence(number, words) for number in NUMBERS for words in (WORDS, GERMAN))
    return Vocabulary(train_with_symbols(texts, symbols("indexed", 10), 120, "unigram"))


def pairs(vocabulary, numbers=NUMBERS, most=100):
    sides = [[sentence(n, words) for n in numbers] for words in (WORDS, GERMAN)]
    return encode_pass(vocabulary, *sides, most)


def test_a_text_is_read_back_from_its_numbers(vocabulary):
    text = "tree <a_0>house</a_0> 1234"
    (numbers,) = vocabulary.encode([text])
    names = [vocabulary.pieces[number] for number in numbers]
    assert names[-1] == vocabulary.pieces[END] == "</s>"
    assert vocabulary.cut([text]) == [names]
    assert vocabulary.join(names[:-1]) == text
    assert {"<a_0>", "</a_0>"} <= set(names)


def test_special_pieces_are_first_and_padding_is_last(vocabulary):
    assert vocabulary.pieces[UNKNOWN] == "<unk>"
    assert vocabulary.pieces[vocabulary.padding] == "<pad>"
    assert len(set(vocabulary.pieces)) == len(vocabulary.pieces)
    assert vocabulary.encode(["\u0416"])[0].tolist()[-2:] == [UNKNOWN, END]


def test_pairs_that_are_empty_or_too_long_are_left_out(vocabulary):
    actual = encode_pass(vocabulary, ["tree", "", "tree " * 50], ["Baum", "x", "Baum"], 20)
    assert (len(actual.sources), actual.left_out) == (1, 2)


def test_each_pass_has_every_pair_once_and_within_the_budget(vocabulary):
    data = pairs(vocabulary)
    batches = Batches([data], 200, seed=1)
    seen, step, orders = [], 0, []
    for _ in range(2):
        rows = []
        while len(rows) < len(data.sources):
            number, chosen = batches.batch(step)
            assert number == 0
            assert len(chosen) * data.lengths[chosen].max() <= 200
            rows += chosen.tolist()
            step += 1
        seen.append(sorted(rows))
        orders.append(rows)
    assert seen == [list(range(len(data.sources)))] * 2
    assert orders[0] != orders[1]
    longest = [int(data.lengths[batches.batch(at)[1]].max()) for at in range(step // 2)]
    assert len(set(longest)) > 1
    assert longest != sorted(longest, reverse=True)


def test_a_batch_depends_on_its_number_and_the_seed_alone(vocabulary):
    data = [pairs(vocabulary), pairs(vocabulary, range(1_500, 1_540))]
    whole = Batches(data, 300, seed=5)
    in_order = [whole.batch(step) for step in range(40)]
    number, rows = Batches(data, 300, seed=5).batch(37)
    assert number == in_order[37][0]
    assert np.array_equal(rows, in_order[37][1])
    assert {number for number, _ in in_order} == {0, 1}
    other = Batches(data, 300, seed=6)
    assert any(not np.array_equal(other.batch(step)[1], in_order[step][1]) for step in range(40))


def test_each_stage_begins_with_its_own_first_pass(vocabulary):
    first = [pairs(vocabulary), pairs(vocabulary, range(1_500, 1_540))]
    second = pairs(vocabulary, range(1_600, 1_620))
    staged = StagedBatches([Stage(tuple(first), 25), Stage((second,), 15)], 300, seed=5)
    alone = Batches(first, 300, seed=5), Batches([second], 300, seed=5)
    for step in (39, 0, 24, 25, 10):  # in any order, as after a checkpoint
        data, rows = staged.batch(step)
        batches, own = (alone[0], step) if step < 25 else (alone[1], step - 25)
        number, wanted = batches.batch(own)
        assert data is batches.passes[number]
        assert np.array_equal(rows, wanted)


def test_rows_are_padded_to_the_longest():
    made = padded([np.array([1, 2]), np.array([3])], 9)
    assert made.tolist() == [[1, 2], [3, 9]]
