import pytest

from pairweave.transforms.errors import InputError
from pairweave.transforms.planning.paired_names import pair_names


def paired(sources, targets, languages=("en", "fr")):
    return [
        (None if source is None else sources[source], None if target is None else targets[target])
        for source, target in pair_names(sources, targets, languages)
    ]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("a/b.txt", "a/b.txt"),
        ("a/b.txt", "a/b.txt.gz"),
        ("a/b.en.txt", "a/b.fr.txt"),
        ("b-en.txt.gz", "b-fr.txt"),
        ("b_EN", "b_fr"),
        ("x/en/b.txt", "x/fr/b.txt"),
        ("vie-en-rose.en.txt", "vie-en-rose.fr.txt"),
        ("vie-en-rose.txt", "vie-en-rose.txt"),
    ],
)
def test_names_that_differ_by_their_language_are_paired(source, target):
    assert paired([source], [target]) == [(source, target)]


@pytest.mark.parametrize(
    ("source", "target"),
    [("a/b.txt", "c/b.txt"), ("listen.txt", "listfr.txt"), ("a.en.txt", "a.de.txt")],
)
def test_other_names_are_not(source, target):
    assert paired([source], [target]) == [(source, None), (None, target)]


def test_regions_of_languages_may_be_left_out():
    languages = "pt-BR", "zh-Hant"
    assert paired(["a.pt.txt"], ["a.zh_Hant.txt"], languages) == [("a.pt.txt", "a.zh_Hant.txt")]


def test_files_of_one_side_alone_come_last():
    assert paired(["a", "b", "c"], ["c", "d", "a"]) == [
        ("a", "a"),
        ("c", "c"),
        ("b", None),
        (None, "d"),
    ]


def test_two_files_of_one_name_are_refused():
    with pytest.raises(InputError, match="ambiguous_name"):
        paired(["a.txt", "a.txt.gz"], ["a.txt"])
