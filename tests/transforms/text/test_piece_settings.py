"""Advice on the settings of a SentencePiece model."""

import pytest

from pairweave.transforms.text.piece_settings import piece_advice


@pytest.mark.parametrize("shifted", [True, False, None])
def test_the_advice_names_every_setting_with_its_value(shifted):
    advice = piece_advice("symbols.txt", shifted=shifted)
    assert "`--user_defined_symbols_file=symbols.txt` and `--split_digits=true`" in advice
    kept = "`add_dummy_prefix`, `remove_extra_whitespaces`, `split_by_whitespace`"
    assert f"leave {kept} and `split_by_unicode_script` true" in advice
    assert "and `treat_whitespace_as_suffix` false, which are their defaults" in advice


def test_the_advice_says_what_the_shift_does():
    ends = {
        True: "words have the pieces that they have without tags.",
        False: "unless the data are made with `--whitespace_shift true`.",
        None: "in text with `--whitespace_shift`, words have the pieces that they have without "
        "tags.",
    }
    for shifted, end in ends.items():
        assert piece_advice("symbols.txt", shifted=shifted).endswith(end)
