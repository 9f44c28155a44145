"""Languages have one code each, whichever of their codes a tag has."""

import pytest

from pairweave.transforms.filtering.scripts import scripts_of
from pairweave.transforms.text.iso_languages import DEPRECATED, NAMES, primary_tag
from pairweave.transforms.text.stemming import has_stemmer


@pytest.mark.parametrize("short", NAMES)
def test_a_language_has_its_code_of_two_letters(short):
    assert primary_tag(NAMES[short][1]) == primary_tag(short) == short


@pytest.mark.parametrize(("old", "short"), DEPRECATED.items())
def test_a_former_code_is_that_of_today(old, short):
    assert old not in NAMES
    assert primary_tag(f"{old.upper()}_XX") == short
    assert scripts_of(old) == scripts_of(short) != ()


def test_a_former_code_has_the_rules_of_its_language():
    assert has_stemmer("in-ID")
    assert has_stemmer("mo")
