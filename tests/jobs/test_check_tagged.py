"""The independent check of tagged rows finds each fault that it checks for."""

import pytest

from tests import check_tagged


def row(source, target):
    """Return a tagged row of two texts, with the column that says where their tags stand."""
    plain, spans = zip(*map(check_tagged.parse, (source, target)), strict=True)
    tags = [
        {
            "index": index,
            "form": "pair",
            "source_start": spans[0][index][0],
            "source_end": spans[0][index][1],
            "target_start": spans[1][index][0],
            "target_end": spans[1][index][1],
        }
        for index in spans[0]
    ]
    return {"kind": "tagged", "source": source, "target": target, "tags": tags}, plain


def check(source, target, **settings):
    made, plain = row(source, target)
    assert check_tagged.check_row(made, check_tagged.Counter(), crossing=False, **settings) == plain


ENOUGH = "and so many other words"


@pytest.mark.parametrize(
    "target",
    [
        "die <a_0>Kfz-Papiere</a_0>",
        "<a_0>Vor-</a_0> und Nachteile",
        "ein Wort <a_0>24/7</a_0>",
        "l'<a_0>homme</a_0> grand",
        "オムニ<a_0>の</a_0>チャネル",
        "<a_0>绿色</a_0>女巫在这里",
        "Straße <a_0>é</a_0>",
        "the word--<a_0>word</a_0>",
    ],
)
def test_tags_round_words_pass(target):
    check(f"<a_0>one</a_0> {ENOUGH}", f"{target} {ENOUGH}")


@pytest.mark.parametrize(
    "target",
    [
        "<a_0>Kfz-</a_0>Papiere",
        "<a_0>Kfz</a_0>-Papiere",
        "<a_0>Vor</a_0>- und Nachteile",
        "<a_0>24</a_0>/7",
        "Stra<a_0>ße</a_0>",
        "オムニチ<a_0>ャネル</a_0>",
        "<a_0>#URL</a_0>1#",
        "{<a_0>name</a_0>}",
        "see https://<a_0>example</a_0>.org",
        "to me@<a_0>example.org</a_0>",
    ],
)
def test_a_tag_inside_a_word_is_found(target):
    with pytest.raises(AssertionError):
        check(f"<a_0>one</a_0> {ENOUGH}", f"{target} {ENOUGH}")


@pytest.mark.parametrize("sides", [("one<a_0>,</a_0>", "<a_0>eins</a_0>"), ("<a_0>?</a_0>",) * 2])
def test_a_tag_of_punctuation_alone_is_found_unless_the_run_allowed_it(sides):
    texts = [f"{side} {ENOUGH}" for side in sides]
    with pytest.raises(AssertionError):
        check(*texts)
    check(*texts, marks=True)
