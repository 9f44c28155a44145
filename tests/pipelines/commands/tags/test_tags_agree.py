"""The command ``tags agree`` keeps the lines whose tags are the same in every language."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.markup.agreeing_tags import common_tags, tags_agree
from pairweave.transforms.markup.markup import XLIFF, find_elements, parse_markup
from tests.makers.runs import run_here, run_well_here

LINES = {
    "en": [
        '<g id="1">a</g> b',
        "plain",
        '<x id="1"/>c',
        '<g id="1">a</g> b',
        "d",
        '<g id="1">e</g>',
    ],
    "de": ['B <g id="1">A</g>', "schlicht", "C", 'B <g id="1">A</g>', "", '<g id="1">E</g>'],
    "hu": [
        '<g id="1">Á</g> B',
        "sima",
        '<x id="1"/>C',
        '<g id="1">Á</g> B',
        "D",
        '<g id="2">É</g>',
    ],
}


@pytest.fixture
def folder(tmp_path):
    for language, lines in LINES.items():
        (tmp_path / f"t.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def agree(folder, *more):
    sides = [folder / f"t.{language}" for language in LINES]
    out = run_well_here("tags", "agree", "--input", *sides, "--output", folder / "out", *more)
    kept = [
        (folder / "out" / f"t.{language}").read_text(encoding="utf-8").splitlines()
        for language in LINES
    ]
    return list(zip(*kept, strict=True)), json.loads(out.splitlines()[-1])


def test_tags_with_other_names_or_forms_do_not_agree():
    bold, italic, empty = map(parse_markup, ("<b>a</b>", "<i>a</i>", "<b/>a"))
    assert tags_agree([bold, bold])
    assert not tags_agree([bold, italic])
    assert not tags_agree([bold, empty])


FIRST = ('<g id="1">a</g> b', 'B <g id="1">A</g>', '<g id="1">Á</g> B')


def test_lines_whose_tags_differ_empty_ones_and_repeated_ones_are_left_out(folder):
    kept, count = agree(folder)
    assert kept == [FIRST, ("plain", "schlicht", "sima")]
    del count["output"]
    assert count == {
        "lines": 6,
        "kept": 2,
        "tags_differ": 2,
        "untagged": 0,
        "empty": 1,
        "duplicates": 1,
    }


def test_tags_that_are_not_in_every_language_can_be_removed(folder):
    kept, count = agree(folder, "--differing", "trim")
    assert kept == [FIRST, ("plain", "schlicht", "sima"), ("c", "C", "C"), ("e", "E", "É")]
    assert count["tags_differ"] == 0
    kept, count = agree(folder, "--differing", "trim", "--tagged_only")
    assert kept == [FIRST]
    assert count["untagged"] == 3


parts = st.lists(st.sampled_from(['<g id="1">', "</g>", '<x id="2"/>', "<x id='2'/>", "a", " "]))


@given(st.lists(parts.map("".join), min_size=2, max_size=4))
def test_texts_with_their_common_tags_agree(lines):
    texts = [parse_markup(line, XLIFF) for line in lines]
    common = common_tags(texts)
    assert [text.text for text in common] == [text.text for text in texts]
    assert tags_agree(common)
    least = min(len(find_elements(text.tags)) for text in texts)
    assert len(find_elements(common[0].tags)) <= least
    if tags_agree(texts):
        assert common == texts


def test_the_published_dev_sets_agree_in_four_languages(tmp_path, shared_data):
    sides = [shared_data / "tagged" / f"glossary-dev.{name}" for name in ("en", "de", "fr", "hu")]
    out = run_well_here("tags", "agree", "--input", *sides, "--output", tmp_path / "out")
    count = json.loads(out.splitlines()[-1])
    assert count["tags_differ"] == 0
    assert (count["lines"], count["kept"] + count["duplicates"]) == (286, 286)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--input", "t.en", "--output", "out"), "at least two"),
        (("--input", "t.en", "other/t.en", "--output", "out"), "two files are named t.en"),
        (("--input", "t.en", "t.de", "--output", "."), "t.en"),
        (
            ("--input", "t.en", "t.de", "--output", "out", "--syntax", "indexed"),
            "expected tags of indexed, but",
        ),
        (("--input", "t.en", "short", "--output", "out"), "ends after line 1"),
    ],
)
def test_what_the_user_must_mend_is_said_and_nothing_is_written(folder, more, message):
    (folder / "short").write_text("x\n")
    status, _, errors = run_here("tags", "agree", *more, cwd=folder)
    assert status == 2
    assert message in errors
    assert not list((folder / "out").glob("*"))
    assert (folder / "t.en").read_text().startswith('<g id="1">a</g> b\nplain')
