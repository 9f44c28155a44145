"""Stretches of lines that are not translations of each other."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pytest

from pairweave.transforms.sentences import stretches
from pairweave.transforms.sentences.stretches import Stretch, features_of, judge_lines


def text(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="\n") as lines:
        return [line.rstrip("\n") for line in lines]


def found(source, target):
    return judge_lines(*(features_of(pa.array(side)) for side in (source, target)))[0]


def made(lines, seed=1):
    """Return lines and their translations: alike in length, numbers, and a name now and then."""
    draws = np.random.default_rng(seed)
    names = ["Anna", "Berlin", "Csaba", "Dublin", "Emil", "Fatima"]
    sides = []
    for _ in range(lines):
        words = [
            "abcdefghij"[each % 10] * (2 + each // 10)
            for each in draws.integers(0, 80, draws.integers(2, 30))
        ]
        other = [f"{word}o" for word in words[:1] + words]
        if draws.random() < 0.3:
            number, name = str(draws.integers(0, 3000)), str(draws.choice(names))
            words, other = [number, *words, name], [number, *other, name]
        sides.append((" ".join(words) + ".", " ".join(other) + "."))
    return tuple(map(list, zip(*sides, strict=True)))


@pytest.fixture(scope="module")
def clean():
    return made(3_000)


@pytest.fixture(scope="module")
def news(shared_data):
    names = (shared_data / "parallel" / f"newstest.en-de.{side}.gz" for side in ("en", "de"))
    return tuple(text(name)[:6_000] for name in names)


def shuffled(target, first, size):
    block = np.random.default_rng(first).permutation(target[first : first + size]).tolist()
    return [*target[:first], *block, *target[first + size :]]


def moved(target, first, size, move):
    """Return a target of which a block is some lines ahead, or behind."""
    if move < 0:
        block = [*["Another line."] * -move, *target[first : first + size + move]]
    else:
        block = [*target[first + move : first + size], *["Another line."] * move]
    return [*target[:first], *block, *target[first + size :]]


def places(lines, size, number=10):
    return np.random.default_rng(size).integers(0, lines - size, number).tolist()


def test_nothing_is_found_in_translations(clean):
    assert found(*clean) == []


@pytest.mark.parametrize("first", places(3_000, 150))
def test_a_block_in_another_order_is_found_with_its_lines(clean, first):
    source, target = clean
    (stretch,) = found(source, shuffled(target, first, 150))
    assert stretch.move is None
    assert abs(stretch.first - first) <= 8
    assert abs(stretch.last - (first + 149)) <= 8


@pytest.mark.parametrize("move", [1, -1, 2, -3])
def test_lines_that_have_moved_are_found_with_how_far(clean, move):
    source, target = clean
    for first in places(3_000, 120):
        (stretch,) = [each for each in found(source, moved(target, first, 120, move)) if each.move]
        assert stretch.move == -move
        assert abs(stretch.first - first) <= 4
        assert abs(stretch.last - (first + 119)) <= 4


def test_a_target_that_begins_late_is_moved_as_a_whole(clean):
    source, target = clean
    (stretch,) = found(source, ["Title", *target[:-1]])
    assert (stretch.first, stretch.last, stretch.move) == (0, 2_999, 1)


def test_sides_in_random_order_do_not_belong_together(clean):
    source, target = clean
    (stretch,) = found(source, shuffled(target, 0, len(target)))
    assert (stretch.first, stretch.last, stretch.move) == (0, 2_999, None)


def test_a_part_that_is_translated_at_greater_length_is_no_stretch(clean):
    source, target = clean
    longer = [*target[:1_000], *(f"{line} {line}" for line in target[1_000:1_060]), *target[1_060:]]
    assert found(source, longer) == []


def test_a_file_of_equal_pairs_says_nothing():
    assert found(["the same line"] * 500, ["dieselbe Zeile"] * 500) == []


def test_few_lines_are_not_judged(clean):
    source, target = clean
    lines = stretches.MIN_CORPUS_LINES - 1
    assert found(source[:lines], target[1 : lines + 1]) == []


def test_empty_lines_belong_to_any(clean):
    source, target = clean
    blank = [*target[:500], *[""] * 300, *target[800:]]
    assert found(source, blank) == []


@pytest.mark.parametrize("first", places(6_000, 80))
def test_a_block_of_news_in_another_order_is_found(news, first):
    source, target = news
    (stretch,) = found(source, shuffled(target, first, 80))
    assert abs(stretch.first - first) <= 6
    assert abs(stretch.last - (first + 79)) <= 6


def test_the_news_of_2014_are_found_and_nothing_else(shared_data):
    sides = (text(shared_data / "parallel" / f"newstest.en-fr.{name}.gz") for name in ("en", "fr"))
    (stretch,) = found(*sides)
    assert isinstance(stretch, Stretch)
    assert stretch.move is None
    assert abs(stretch.first + 1 - 16_574) <= 2
    assert abs(stretch.last + 1 - 19_576) <= 2


def help_pages(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [row["source"] for row in rows], [row["target"] for row in rows]


def parallel(*names):
    return lambda data: tuple(text(data / name) for name in names)


CLEAN = {
    "news en-de": parallel("parallel/newstest.en-de.en.gz", "parallel/newstest.en-de.de.gz"),
    "captions en-de": parallel("parallel/multi30k.en.gz", "parallel/multi30k.de.gz"),
    "captions de-fr": parallel("parallel/multi30k.de.gz", "parallel/multi30k.fr.gz"),
    "suggestions en-de": parallel("wets/en2de.train.src.gz", "wets/en2de.train.mask.gz"),
    "suggestions de-en": parallel("wets/de2en.train.src.gz", "wets/de2en.train.mask.gz"),
    "wmt16": parallel("triples/en-de/wmt16.src.gz", "triples/en-de/wmt16.ref.gz"),
    "wmt17": parallel("triples/en-de/wmt17.src.gz", "triples/en-de/wmt17.ref.gz"),
    "wmt18": parallel("triples/en-de/wmt18.src.gz", "triples/en-de/wmt18.ref.gz"),
    "sv": parallel("align/sv.en", "align/sv.xx"),
    "es": parallel("align/xlwa-es.en", "align/xlwa-es.xx"),
    "it": parallel("align/xlwa-it.en", "align/xlwa-it.xx"),
    "nl": parallel("align/xlwa-nl.en", "align/xlwa-nl.xx"),
    "law en-hu": parallel("tagged/eurlex-dev.en", "tagged/eurlex-dev.hu"),
    "help en-de": lambda data: help_pages(data / "help" / "office.en-de.jsonl.gz"),
    "help en-fr": lambda data: help_pages(data / "help" / "office.en-fr.jsonl.gz"),
    "help en-ko": lambda data: help_pages(data / "help" / "gnome.en-ko.jsonl.gz"),
    "help en-fi": lambda data: help_pages(data / "help" / "gnome.en-fi.jsonl.gz"),
}


QUICK = ("wmt16", "sv", "help en-ko")


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in CLEAN],
)
def test_nothing_is_found_in_clean_corpora(shared_data, name):
    source, target = CLEAN[name](shared_data)
    assert found(source, target) == []
    assert found(target, source) == []


@pytest.mark.parametrize(("translated", "number"), [(99, 0), (100, 1)])
def test_lines_without_a_translation_are_no_corpus(clean, translated, number):
    source, target = clean[0][:400], shuffled(clean[1], 0, 400)
    target = [text if line % 4 == 0 else "" for line, text in enumerate(target[:400])]
    target[:4] = target[0] if translated == 100 else "", "", "", ""
    assert len(found(source, target)) == number
