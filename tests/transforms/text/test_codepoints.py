"""The tables of code points."""

import numpy as np
import pytest
import regex

from pairweave.transforms.text import codepoints


def test_no_letter_of_a_script_lies_behind_the_end_of_scripts():
    ((_, end),) = codepoints.SCRIPT_RANGES
    behind = "".join(map(chr, range(end, 0x110000)))
    scripts = "".join(rf"\p{{Script={script}}}" for script in codepoints.SCRIPTS)
    assert regex.search(f"[{scripts}]", behind) is None


def test_no_character_lies_outside_the_ranges_that_are_searched():
    # A Unicode version with another block there makes this fail.
    inside = np.zeros(0x110000, np.bool_)
    for begin, end in codepoints.RANGES:
        inside[begin:end] = True
    outside = "".join(map(chr, np.flatnonzero(~inside).tolist()))
    assert set(regex.findall(r"[^\p{Cn}\p{Co}]", outside)) == set()
    assert regex.search(r"[\p{L}\p{M}\p{N}\p{P}]", outside) is None
    for members, _ in (
        *codepoints._CLASSES,
        *codepoints._WHOLE_WORD_CLASSES,
        *codepoints._FLAGS,
        *codepoints._UPPER_FLAGS,
    ):
        assert regex.search(rf"[{members}]", outside, regex.V1) is None, members


def test_characters_of_one_meaning_are_folded_alike():
    table = codepoints.folds()
    for forms in ("Éé", "Ｎn", "İIi", "٣۳३３3", "’'", "𝐀a"):  # noqa: RUF001 - all are meant
        assert {table[ord(form)] for form in forms} == {ord(forms[-1])}
    for itself in "ßﬁ한漢":
        assert table[ord(itself)] == ord(itself)


@pytest.mark.parametrize("whole_words", [False, True])
def test_tables_hold_the_classes_of_code_points_at_both_ends_of_the_ranges(whole_words):
    table = codepoints.properties(whole_words=whole_words)
    blank = next(flag for members, flag in codepoints._FLAGS if "Default_Ignorable" in members)
    assert table[0xE0FFF] & blank
    assert table[0xE1000] == 0
    assert table[0xDFFFF] == 0
    assert table[ord("A")] & codepoints.utf8.WORD
