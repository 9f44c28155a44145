"""Letters of one script as those of another, beside the same by plain loops."""

import collections
import dataclasses
import math
import sys

import numpy as np
import pyarrow as pa
import pytest

from pairweave.models.hmm import respelling
from pairweave.models.hmm.hmm import HmmConfig, HmmModel, fit
from pairweave.models.hmm.hmm_files import RESPELLING
from pairweave.models.hmm.hmm_vocabulary import build_vocabulary
from pairweave.models.hmm.prior import Earlier, evidence_of
from pairweave.models.hmm.respelling import Respelling, Scripts
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.kernels.hmm.model1 import FIXED_POINT
from tests.makers.corpora import sentence
from tests.makers.hmm_corpora import (
    error_rate,
    gold_pairs,
    in_cyrillic_letters,
    in_georgian_letters,
    link_rows,
    plain_table,
)
from tests.makers.links import symmetrize_slowly

NAMES = (
    *("London", "Warschau", "Madrid", "Belgrad", "Kopenhagen", "Lissabon", "Budapest", "Hamburg"),
    *("Stockholm", "Helsinki", "Amsterdam", "Florenz", "Jerewan", "Sofia", "Bukarest", "Venedig"),
    *("Minsk", "Danzig", "Salzburg", "Granada", "Dublin", "Oslo", "Athen", "Marseille", "Toledo"),
)


def vocabulary(words):
    return build_vocabulary(pa.array(words, pa.string()), np.full(len(words), 3, dtype=np.int64))


def learnt(words, others, links=1.0):
    """Return what is learnt from words of which each is linked to the one at its place."""
    count = len(words)
    scripts = Scripts.of(vocabulary(words), vocabulary(others))
    if scripts is None:
        return None
    counts = np.full(count, int(links * FIXED_POINT))
    return scripts.learn(np.arange(count + 1), np.arange(count, dtype=np.int32), counts)


def as_letters(made):
    return dict(
        zip(*(map(chr, side.tolist()) for side in (made.letters, made.others)), strict=True)
    )


@pytest.fixture(scope="module")
def names():
    folded = [name.casefold() for name in NAMES]
    return folded, [in_georgian_letters(name) for name in NAMES]


@pytest.fixture(scope="module")
def truth():
    latin = "abcdefghijklmnopqrstuvwxyz"
    return dict(zip(in_georgian_letters(latin), latin, strict=True))


def test_letters_of_names_are_learnt(names, truth):
    actual = as_letters(learnt(*names))
    assert actual.items() <= truth.items()
    assert set(actual.values()) >= set("abdegilmnorstu")


def test_letters_with_higher_code_points_are_respelled_whichever_side_has_them(names):
    one, other = learnt(*names), learnt(*reversed(names))
    assert as_letters(one) == as_letters(other)


def test_letters_are_replaced_and_all_else_is_kept(names, truth):
    made = learnt(*names)
    text = f"{in_georgian_letters('Granada')} Granada 42-ж"
    points = np.frombuffer(text.encode("utf-32-le"), dtype=np.int32)
    applied = made.apply(points)
    assert applied.dtype == np.int32
    expected = "".join(truth.get(letter, letter) for letter in text)
    assert applied.tobytes().decode("utf-32-le") == expected == "granada Granada 42-ж"


@pytest.mark.parametrize(
    ("words", "others"),
    [
        pytest.param(NAMES, [f"{name}a" for name in NAMES], id="one script"),
        pytest.param(
            NAMES,
            ["北京市政府"[: 3 + number % 3] for number in range(25)],
            id="short words in Chinese",
        ),
        pytest.param(["Rom", "Wien"], ["рим", "вена"], id="too little"),
        pytest.param(["1990", "2024"], ["1991", "2025"], id="numbers"),
        pytest.param(["1990", "2024"], ["вена", "прага"], id="one side of numbers"),
        pytest.param([], [], id="nothing"),
    ],
)
def test_nothing_is_respelled(words, others):
    folded = sorted({word.casefold() for word in words}), sorted(set(map(str.casefold, others)))
    count = min(map(len, folded))
    assert learnt(folded[0][:count], folded[1][:count]) is None


@pytest.mark.parametrize("first", [0x3042, 0x4E00, 0xAC00], ids=["kana", "Han", "Hangul"])
def test_sides_with_syllables_or_logograms_are_not_respelled(names, first):
    words = ["".join(chr(first + ord(letter) - ord("a")) for letter in word) for word in names[0]]
    assert learnt(names[0], words) is None


@pytest.mark.parametrize(("times", "is_learnt"), [(1, True), (2_000, False)])
def test_letters_that_are_little_of_the_text_are_not_respelled(names, times, is_learnt):
    filler = "".join(map(chr, range(0x10EA, 0x10F0)))
    words, others = ([*side, more] for side, more in zip(names, ("wort", filler), strict=True))
    counts = np.append(np.full(25, 3), times)
    scripts = Scripts.of(
        *(build_vocabulary(pa.array(side, pa.string()), counts) for side in (words, others))
    )
    links = np.append(np.full(25, FIXED_POINT), 0)
    made = scripts.learn(np.arange(27), np.arange(26, dtype=np.int32), links)
    assert (made is not None) == is_learnt


def test_accents_hide_no_letter_and_are_kept(names):
    accent = "\u0301"
    accented = ["".join(f"{letter}{accent}" for letter in word) for word in names[1]]
    made = learnt(names[0], accented)
    assert as_letters(made) == as_letters(learnt(*names))
    assert made.apply(np.array([ord(accent)])).tolist() == [ord(accent)]


def test_a_few_words_in_other_scripts_change_nothing(names):
    strange = ["".join(chr(0x4E00 + 7 * n + at) for at in range(6)) for n in range(90)]
    (words, others), more = names, [f"seltsam{n}" for n in range(90)]
    scripts = Scripts.of(
        build_vocabulary(pa.array([*words, *more]), np.append(np.full(25, 3000), np.full(90, 1))),
        build_vocabulary(
            pa.array([*others, *strange]), np.append(np.full(25, 3000), np.full(90, 1))
        ),
    )
    counts = np.full(115, FIXED_POINT)
    made = scripts.learn(np.arange(116), np.arange(115, dtype=np.int32), counts)
    assert as_letters(made) == as_letters(learnt(*names))


def test_words_that_are_not_linked_teach_nothing(names):
    assert learnt(*names, links=respelling.MIN_LINKS - 0.01) is None


def slowly(pairs, letters):
    """Return the expected occurrences of each pair of letters, as `_corresponding` does."""
    usual = collections.Counter(letter for _, other in pairs for letter in other)
    total = sum(usual.values()) + len(letters)
    noise = [sum(math.log((usual[c] + 1) / total) for c in other) for _, other in pairs]

    def window(word, other, at):
        centre = (at + 0.5) * len(word) / len(other) - 0.5
        return word[max(math.floor(centre) - 1, 0) : math.ceil(centre) + 2]

    counts = collections.Counter()
    for word, other in pairs:
        for at, letter in enumerate(other):
            near = window(word, other, at)
            for one in near:
                counts[one, letter] += 1 / len(near)
    odds = 1.0
    for _ in range(respelling.ROUNDS):
        chances = {}
        for one in letters:
            row = [counts[one, letter] + respelling.SMOOTHING for letter in letters]
            chances.update({(one, c): n / sum(row) for c, n in zip(letters, row, strict=True)})
        counts, alike = collections.Counter(), []
        for (word, other), chance in zip(pairs, noise, strict=True):
            parts = []
            for at, letter in enumerate(other):
                near = window(word, other, at)
                parts.append({})
                for one in near:
                    share = chances[one, letter] / len(near)
                    parts[-1][one] = parts[-1].get(one, 0.0) + share
            logs = sum(math.log(sum(part.values())) for part in parts)
            alike.append(1 / (1 + math.exp(-(logs - chance + math.log(odds)))))
            for part, letter in zip(parts, other, strict=True):
                for one, share in part.items():
                    counts[one, letter] += alike[-1] * share / sum(part.values())
        share = min(max(sum(alike) / len(alike), 0.01), 0.99)
        odds = share / (1 - share)
    return counts


def test_expected_occurrences_are_those_of_plain_loops(names):
    words, others = names
    others = [*others[:18], *others[-1:-8:-1]]  # the last ones are not alike
    letters = sorted({letter for word in (*words, *others) for letter in word})
    points = np.array([ord(letter) for letter in letters], dtype=np.int32)
    sides = [respelling._Letters.of(vocabulary(side), points) for side in (words, others)]
    every = np.arange(len(words))
    made = respelling._corresponding(*((side, every) for side in sides), len(points))
    expected = slowly(list(zip(words, others, strict=True)), letters)
    for row, one in enumerate(letters):
        for column, letter in enumerate(letters):
            assert made[row, column] == pytest.approx(expected[one, letter], abs=1e-9)


@pytest.fixture(scope="module")
def table():
    """Return pairs whose targets are in Georgian letters, each with a name on both sides."""
    pairs = [sentence(number) for number in range(200)]
    named = [
        (f"{one} {NAMES[n % 25]}", f"{NAMES[n % 25]} {two}") for n, (one, two) in enumerate(pairs)
    ]
    return plain_table([(one, in_georgian_letters(two)) for one, two in named])


@pytest.fixture(scope="module")
def model(table):
    return fit(table, HmmConfig())


def test_a_fit_learns_letters_and_its_files_have_them(table, model, truth):
    assert as_letters(model.parts.respelling).items() <= truth.items()
    files = model.to_files()
    again = HmmModel.from_files(files)
    assert again.digest == model.digest
    assert again.to_files() == files
    assert again.align(table).equals(model.align(table))


def test_a_fit_within_one_script_has_no_file_of_letters():
    made = fit(plain_table([sentence(number) for number in range(50)]), HmmConfig())
    assert made.parts.respelling is None
    assert RESPELLING not in made.to_files()


def test_an_unseen_name_is_linked_by_its_letters(model):
    new = plain_table([("bis Linderod", f"{in_georgian_letters('bis Linderod')}")])
    without = HmmModel(dataclasses.replace(model.parts, respelling=None))
    assert (1, 1) in link_rows(model.align(new), "forward")[0]
    assert link_rows(without.align(new), "forward") != link_rows(model.align(new), "forward")


def test_threads_change_nothing(table, model):
    assert fit(table, HmmConfig(), threads=3).digest == model.digest


def test_a_damaged_file_is_refused(model):
    files = model.to_files()
    with pytest.raises(ConfigError, match=r"respelling\.arrow is missing"):
        HmmModel.from_files({name: data for name, data in files.items() if name != RESPELLING})
    made = model.parts.respelling
    turned = Respelling(made.letters[::-1].copy(), made.others)
    spoilt = HmmModel(dataclasses.replace(model.parts, respelling=turned)).to_files()
    with pytest.raises(ConfigError, match=r"respelling\.arrow is damaged: its letters are not"):
        HmmModel.from_files(spoilt)
    beyond = Respelling(made.letters, np.full_like(made.others, sys.maxunicode + 1))
    spoilt = HmmModel(dataclasses.replace(model.parts, respelling=beyond)).to_files()
    with pytest.raises(ConfigError, match=r"respelling\.arrow is damaged: it has no letters"):
        HmmModel.from_files(spoilt)


def test_letters_that_later_rounds_do_not_confirm_are_forgotten(table, monkeypatch):
    rounds = iter([Respelling(np.array([4304], np.int32), np.array([97], np.int32)), None, None])
    monkeypatch.setattr(Scripts, "learn", lambda *_: next(rounds))
    assert fit(table, HmmConfig()).parts.respelling is None


def test_a_later_fit_has_the_letters_of_the_earlier_one_until_it_learns_its_own(table, model):
    few = table.slice(0, 2)
    assert fit(few, HmmConfig()).parts.respelling is None
    later = fit(few, HmmConfig(), earlier=Earlier(model.parts, "0" * 64))
    assert as_letters(later.parts.respelling) == as_letters(model.parts.respelling)


def test_what_an_earlier_fit_knows_is_recovered_with_its_letters(model):
    links = evidence_of(model.parts).links
    mass = model.parts.source_words.mass[:-1].sum()
    assert links.sum() == pytest.approx(mass, rel=0.02)


@pytest.mark.parametrize(("name", "error"), [("xlwa-es", 16.2), ("xlwa-it", 21.0)])
def test_links_across_scripts_are_nearly_as_good_as_within_one(shared_data, name, error):
    pairs, gold = gold_pairs(shared_data, name)
    table = plain_table([(one, in_cyrillic_letters(two)) for one, two in pairs])
    made = fit(table, HmmConfig()).align(table.slice(0, len(gold)))
    links = [
        set(symmetrize_slowly(one, other, "grow-diag"))
        for one, other in zip(*(link_rows(made, c) for c in ("forward", "reverse")), strict=True)
    ]
    # 17.2 and 22.2 without letters that correspond; 15.6 and 20.0 in Latin script.
    assert error_rate(links, gold) < error
