"""Tags of a corpus in another syntax than `inline_syntax` are refused or noticed by the plan."""

import json

import pytest

from pairweave.transforms.errors import InputError
from pairweave.transforms.planning import other_tags
from pairweave.transforms.planning.plan import make_plan
from tests.makers.reading import moses, single

HTML = "see <b>the</b> house"
OWN = 'see <g id="1">the</g> house'
PLAIN = "see the house"


def write_sides(directory, source, target):
    for name, lines in (("a.en", source), ("a.de", target)):
        (directory / name).write_text("".join(f"{line}\n" for line in lines))
    return directory / "a.en", directory / "a.de"


def notices(plan):
    return [str(each) for each in plan.notices if each.code == "other_syntax"]


@pytest.mark.parametrize("how", ["strip", "index", "reject"])
@pytest.mark.parametrize("syntax", ["xliff", "indexed"])
def test_a_corpus_with_tags_of_another_syntax_alone_is_refused(tmp_path, how, syntax):
    sides = write_sides(tmp_path, [PLAIN, PLAIN], [PLAIN, HTML])
    with pytest.raises(InputError) as caught:
        make_plan([moses(*sides, inline_tags=how, inline_syntax=syntax)])
    message = str(caught.value)
    assert caught.value.code == "other_syntax"
    assert message.startswith("a.de:2: ")
    assert f" xml, not {syntax}, the first is <b>" in message
    assert "give --inline_syntax xml" in message


@pytest.mark.parametrize(("how", "syntax"), [("raw", "xliff"), ("strip", "xml"), ("strip", "html")])
def test_a_corpus_whose_tags_are_all_read_or_left_is_planned_without_notice(tmp_path, how, syntax):
    sides = write_sides(tmp_path, [PLAIN, HTML], [PLAIN, HTML])
    assert notices(make_plan([moses(*sides, inline_tags=how, inline_syntax=syntax)])) == []


def test_tags_of_another_syntax_beside_its_own_are_a_notice(tmp_path):
    sides = write_sides(tmp_path, [OWN, HTML], [OWN, PLAIN])
    plan = make_plan([moses(*sides, inline_tags="index", inline_syntax="xliff")])
    assert notices(plan) == [
        "a.en: 1 tag in 1 of 2 rows looked at is xml, not xliff, the first is <b>; such tags are "
        "taken for text [other_syntax]"
    ]


@pytest.mark.parametrize(
    ("syntax", "text", "said"),
    [
        (
            "html",
            OWN,
            'xliff, not html, the first is <g id="1">; such tags are read without their ids; give '
            "--inline_syntax xliff if this is XLIFF",
        ),
        (
            "xml",
            OWN,
            'xliff, not xml, the first is <g id="1">; such tags are read without their ids; give '
            "--inline_syntax xliff if this is XLIFF",
        ),
        (
            "xml",
            f"{HTML}<br>",
            "html, not xml, the first is <br>; such tags are taken for opening tags that "
            "nothing closes; give --inline_syntax html if this is HTML, or write <br/>",
        ),
    ],
)
def test_kept_tags_that_are_read_as_something_else_are_a_notice(tmp_path, syntax, text, said):
    sides = write_sides(tmp_path, [PLAIN, text], [PLAIN, PLAIN])
    plan = make_plan([moses(*sides, inline_tags="index", inline_syntax=syntax)])
    assert notices(plan) == [f"a.en: 1 tag in 1 of 2 rows looked at is {said} [other_syntax]"]
    for how in ("strip", "reject"):
        assert notices(make_plan([moses(*sides, inline_tags=how, inline_syntax=syntax)])) == []


@pytest.mark.parametrize("syntax", ["xml", "html"])
def test_kept_tags_of_xml_and_html_are_no_notice(tmp_path, syntax):
    sides = write_sides(tmp_path, [PLAIN, HTML], [PLAIN, HTML])
    assert notices(make_plan([moses(*sides, inline_tags="index", inline_syntax=syntax)])) == []


def test_columns_of_one_file_are_looked_at_together(tmp_path):
    path = tmp_path / "a.jsonl"
    rows = [{"source": PLAIN, "target": PLAIN}, {"source": PLAIN, "target": HTML}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InputError, match=r"^a\.jsonl:2: .* 1 of 2 rows looked at is xml"):
        make_plan([single(path, inline_tags="strip", inline_syntax="xliff")])


def test_rows_of_every_unit_are_looked_at(tmp_path, monkeypatch):
    monkeypatch.setattr(other_tags, "ROWS", 2)
    lines = [PLAIN] * 6
    lines[4] = HTML
    sides = write_sides(tmp_path, lines, lines)
    fields = {"inline_tags": "strip", "inline_syntax": "xliff"}
    with pytest.raises(InputError, match=r"^a\.en:5: .* in 1 of 4 rows looked at"):
        make_plan([moses(*sides, **fields)], unit_rows=4)
    assert notices(make_plan([moses(*sides, **fields)], unit_rows=6)) == []
