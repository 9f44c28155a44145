"""Symbols of the output which no text of the input may contain."""

import re

import pytest

from pairweave.pipelines.job_options.pair_options import AugmentOptions
from pairweave.pipelines.job_options.representation import output_symbols, representation_of
from pairweave.transforms.errors import ConfigError
from tests.makers import runs


def options(**given):
    return AugmentOptions(output="out", input=("a.tsv",), **given)


def test_names_of_a_profile_are_reserved_where_tags_are_written_with_them(tmp_path):
    (tmp_path / "text").write_text("one <emph id='1'>two</emph> three\nfour <keycap/> five\n")
    words = ("tags", "profile", "--input", "text", "--syntax", "xml", "--output", "profile.json")
    runs.run_well_here(*words, cwd=tmp_path)
    profile = str(tmp_path / "profile.json")
    pattern = output_symbols(options(representation="raw", tag_profile=profile))
    assert re.search(pattern, "a <emph> b")
    assert re.search(pattern, "a <keycap/> b")
    assert not re.search(pattern, "a <other> b")
    assert output_symbols(options(representation="raw")) == ""


@pytest.mark.parametrize(
    ("given", "found", "other"),
    [
        ({"representation": "html"}, "<b>", "<a_3>"),
        ({"representation": "xliff"}, '<g id="3">', "<b>"),
        (
            {"representation": "template", "template": ("⟦{index}⟧", "⟦/{index}⟧", "⟦{index}/⟧")},
            "⟦3⟧",
            "<b>",
        ),
    ],
)
def test_symbols_of_other_representations_are_reserved(given, found, other):
    pattern = output_symbols(options(**given))
    assert re.search(pattern, f"a {found} b")
    assert not re.search(pattern, f"a {other} b")


def test_indexed_tags_are_reserved_by_the_screen_and_not_twice():
    assert output_symbols(options()) == ""


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"representation": "template"}, "needs --template OPENING CLOSING"),
        ({"template": ("a", "b", "c")}, "needs --template OPENING CLOSING"),
        ({"representation": "template", "template": ("a", "b")}, "needs three forms.* got 2"),
    ],
)
def test_a_template_and_its_name_go_together(given, message):
    with pytest.raises(ConfigError, match=message):
        representation_of(options(**given))
