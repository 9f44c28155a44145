"""Tags in formats whose tags are characters of their texts."""

import pytest

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.markup.pair_markup import PairMarkup
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.units import Unit
from tests.makers.reading import corpus, moses, pairs, read_all, reasons, single

PAIRS = [
    ('a <b class="x">bold</b> word<br>', "ein <B>fettes</B> Wort<br>"),
    ("1 < 2 > 0 & no tag", "1 < 2 > 0"),
    ("<p>one side", "eine Seite"),
    ("plain", "schlicht"),
]


@pytest.fixture
def tsv(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("".join("\t".join(pair) + "\n" for pair in PAIRS))
    return path


def read(path, **fields):
    return read_all(single(path, **fields))


def test_tags_stay_in_text_unless_something_else_is_asked_for(tsv):
    plain = read(tsv)
    assert pairs(plain) == PAIRS
    assert all(row["markup"] is None for row in plain)
    assert read(tsv, inline_tags="raw") == plain


def test_tags_are_taken_out(tsv):
    assert pairs(read(tsv, inline_tags="strip", inline_syntax="html")) == [
        ("a bold word", "ein fettes Wort"),
        PAIRS[1],
        ("one side", "eine Seite"),
        PAIRS[3],
    ]


def test_pairs_with_tags_are_rejected_as_they_stand(tsv):
    rows = read(tsv, inline_tags="reject", inline_syntax="html")
    assert reasons(rows) == ["inline_tags", None, "inline_tags", None]
    assert [(row["source"], row["target"]) for row in rows] == PAIRS
    assert rows[0]["detail"] == '6 tags, the first is <b class="x">'


def test_tags_are_kept_beside_the_pair(tsv):
    rows = read(tsv, inline_tags="index", inline_syntax="html", tags_differ="keep")
    assert pairs(rows)[0] == ("a bold word", "ein fettes Wort")
    markup = PairMarkup.from_json(rows[0]["markup"])
    for place, side in enumerate(("source", "target")):
        assert markup.original(side, rows[0][side]) == PAIRS[0][place]
    # HTML's names know no case: b and B are one element.
    assert markup.indexed("target", rows[0]["target"]) == "ein <a_0>fettes</a_0> Wort<a_1/>"
    assert [row["markup"] is None for row in rows] == [False, True, False, True]


def test_ids_are_those_of_the_text_with_tags_and_of_the_text_alone_without(tsv):
    raw = [row["id"] for row in read(tsv)]
    kept = read(tsv, inline_tags="index", inline_syntax="html", tags_differ="keep")
    assert [row["id"] for row in kept] == raw
    stripped = [row["id"] for row in read(tsv, inline_tags="strip", inline_syntax="html")]
    assert [one == other for one, other in zip(raw, stripped, strict=True)] == [
        False,
        True,
        False,
        True,
    ]


def test_a_translation_loses_its_tags_with_the_pair(tmp_path):
    for name, text in (("a.en", "<b>a</b>\n"), ("a.de", "<b>b</b>\n"), ("a.mt", "<i>c</i>\n")):
        (tmp_path / name).write_text(text)
    files = [tmp_path / name for name in ("a.en", "a.de", "a.mt")]
    for mode, translation in (("strip", "c"), ("index", "c"), ("raw", "<i>c</i>")):
        (row,) = read_all(moses(*files, inline_tags=mode))
        assert row["translation"] == translation


def test_html_in_message_catalogues_is_left_alone_by_default_and_html_if_asked_for(tmp_path):
    path = tmp_path / "a.po"
    path.write_text('msgid "a<br>b"\nmsgstr "c<br>d"\n')
    assert pairs(read(path)) == [("a<br>b", "c<br>d")]
    (row,) = read(path, inline_tags="index")
    assert PairMarkup.from_json(row["markup"]).elements[0].form == "self_closing"


@pytest.mark.parametrize(
    ("syntax", "source"),
    [("xliff", "<b>a</b>c"), ("indexed", '<b>a</b><x id="1"/>c'), ("xml", "ac")],
)
def test_the_syntax_says_what_is_a_tag(tmp_path, syntax, source):
    path = tmp_path / "a.tsv"
    lines = ['<b>a</b><x id="1"/>c\t<b>d</b><x id="1"/>\n', "<a_0>e</a_0>\t<a_0>f</a_0>\n"]
    path.write_text("".join(lines))
    (actual, _), *_ = pairs(read(path, inline_tags="strip", inline_syntax=syntax))
    assert actual == source


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"inline_tags": "drop"}, "inline_tags must be one of raw, strip, index, reject"),
        ({"inline_syntax": "sgml"}, "unknown syntax 'sgml'"),
        ({"tags_differ": "drop"}, "tags_differ must be one of reject, keep"),
    ],
)
def test_options_that_nobody_knows_are_refused(fields, message):
    with pytest.raises(ConfigError, match=message):
        corpus(input=("a.tsv",), **fields)


def test_units_survive_json(tsv):
    (unit,) = make_plan([single(tsv, inline_tags="index", inline_syntax="html")]).units
    assert unit.inline_syntax == "html"
    assert Unit.from_json(unit.to_json()) == unit


@pytest.mark.parametrize("lang", ["de", "fr", "hu"])
@pytest.mark.parametrize(("name", "tagged"), [("eurlex", 1_710), ("glossary", 286)])
def test_real_xliff_text_comes_apart_and_together_again(shared_data, name, tagged, lang):
    files = [shared_data / "tagged" / f"{name}-dev.{side}" for side in ("en", lang)]
    (raw, kept) = (
        read_all(moses(*files, inline_tags=mode, inline_syntax="xliff"))
        for mode in ("raw", "index")
    )
    assert set(reasons(kept)) == {None}
    assert sum(row["markup"] is not None for row in kept) == tagged
    for before, after in zip(raw, kept, strict=True):
        if after["markup"] is not None:
            markup = PairMarkup.from_json(after["markup"])
            for side in ("source", "target"):
                assert markup.original(side, after[side]) == before[side]
