"""Sheets of the tags of translations: which tags, which copies, and what judgements add up to."""

import csv
import json
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.pipelines.command_line import subcommands
from pairweave.transforms.errors import InputError
from pairweave.transforms.markup.markup import INDEXED, XLIFF, XML, find_syntax, parse_markup
from pairweave.transforms.metrics.tags.translation_judgement import (
    COLUMNS,
    JUDGEMENTS,
    TranslatedTag,
    draw_translations,
    summarize,
    tags_of_line,
    write_translations,
)

GROUP_OF = {
    **dict.fromkeys(["correct"], "good"),
    **dict.fromkeys(["incorrect", "missing", "duplicated", "hallucinated", "mutilated"], "bad"),
    **dict.fromkeys(["impossible", "unclear"], "residual"),
}


def tags(source, translation, syntax=XLIFF):
    both = parse_markup(source, syntax), parse_markup(translation, syntax)
    return [
        (tag.index, tag.form, tag.markup, tag.found, tag.source, tag.target)
        for tag in tags_of_line(1, *both, syntax)
    ]


def test_every_tag_is_shown_where_the_source_and_the_translation_have_it():
    source = 'the <g id="1">red <x id="2"/>house</g>'
    assert tags(source, '<x id="2"/>das rote <g id="1">Haus</g>') == [
        (1, "pair", '<g id="1">', 1, "the ⟦red house⟧", "das rote ⟦Haus⟧"),
        (2, "self_closing", '<x id="2"/>', 1, "the red ⟦⟧house", "⟦⟧das rote Haus"),
    ]


def test_missing_duplicated_added_and_mutilated_tags_are_shown():
    source = '<g id="1">a</g> <g id="2">b</g> <x id="4"/>'
    translation = '<g id="1">A</g> <g id="1">A</g> <g id="5">c</g> <g id="2" B <x id="4"/>'
    text = 'A A c <g id="2" B '
    assert tags(source, translation) == [
        (1, "pair", '<g id="1">', 2, "⟦a⟧ b ", f"⟦A⟧ ⟦A⟧{text[3:]}"),
        (2, "pair", '<g id="2">', 0, "a ⟦b⟧ ", text),
        (4, "self_closing", '<x id="4"/>', 1, "a b ⟦⟧", f"{text}⟦⟧"),
        (0, "pair", '<g id="5">', 1, "a b ", 'A A ⟦c⟧ <g id="2" B '),
    ]


def test_half_a_pair_has_one_bracket():
    assert tags('<g id="1">a</g>', '<g id="1">A b')[0][-1] == "⟦A b"
    actual = tags('<g id="1">a</g>', "A</g> b")
    assert [(row[0], row[3], row[-1]) for row in actual] == [(1, 0, "A b"), (0, 1, "A⟧ b")]


def test_tags_without_numbers_are_matched_in_order_and_surplus_ones_are_the_last_s():
    actual = tags("<b>a</b> <b>c</b>", "<b>A</b> <b>C</b> <b>D</b>", XML)
    assert [row[-1] for row in actual] == ["⟦A⟧ C D", "A ⟦C⟧ ⟦D⟧"]
    assert [row[0] for row in actual] == [1, 2]


def test_indexes_are_counted_from_one():
    assert [row[0] for row in tags("<a_0>a</a_0> <a_3/>", "", INDEXED)] == [1, 4]
    assert [row[0] for row in tags('<g id="x">a</g> <g id="7">b</g>', "")] == [1, 7]


@given(st.data())
def test_each_tag_of_both_sides_is_judged_once(data):
    parts = st.lists(
        st.sampled_from(
            ['<g id="1">', "</g>", '<g id="2">', '<x id="3"/>', '<x id="9"/>', "a", " "]
        )
    )
    source, translation = ("".join(data.draw(parts)) for _ in range(2))
    if not parse_markup(source, XLIFF).tags:
        source += '<x id="1"/>'
    actual = tags(source, translation)
    brackets = sum(row[-1].count("⟦") + row[-1].count("⟧") for row in actual)
    marked = parse_markup(translation, XLIFF)
    halves = {"self_closing": 2}
    assert brackets == sum(halves.get(tag.kind.value, 1) for tag in marked.tags)
    for row in actual:
        assert re.sub("[⟦⟧]", "", row[-1]) == marked.text
        assert (row[0] == 0) == (not re.search("[⟦⟧]", row[-2]))


def sheet(path, rows):
    """Write rows of (line, highest, judgement), each a tag."""
    numbers = Counter()
    made = []
    for line, highest, said in rows:
        made.append(
            TranslatedTag(line, highest, numbers[line], 1, "pair", "<g>", 1, "s", "t", said)
        )
        numbers[line] += 1
    write_translations(str(path), made)
    return str(path)


def test_shares_are_those_of_the_paper_s_table(tmp_path):
    # Hanneman and Dinu (2020), table 5, English to German: 188, 36 and 1 of 225 tags are the
    # 83.6 %, 16.0 % and 0.4 % of raw tags on lines with indexes 3 and above.
    said = ["correct"] * 188 + ["missing"] * 20 + ["mutilated"] * 16 + ["unclear"]
    low = ["correct"] * 62 + ["duplicated"]
    rows = [(line, 3, what) for line, what in enumerate(said, 1)]
    rows += [(line, 2, what) for line, what in enumerate(low, 1000)]
    actual = summarize([sheet(tmp_path / "raw.tsv", rows)], 2).as_dict()
    figures = actual["systems"][str(tmp_path / "raw.tsv")]
    shares = {name: figures[name]["shares"] for name in ("beyond 2", "up to 2")}
    assert {k: round(100 * v, 1) for k, v in shares["beyond 2"].items()} == {
        "good": 83.6,
        "bad": 16.0,
        "residual": 0.4,
    }
    assert {k: round(100 * v, 1) for k, v in shares["up to 2"].items()} == {
        "good": 98.4,
        "bad": 1.6,
        "residual": 0.0,
    }
    assert (figures["all"]["tags"], figures["all"]["lines"]) == (288, 288)


@given(
    st.lists(st.tuples(st.integers(1, 5), st.sampled_from(JUDGEMENTS)), min_size=1, max_size=30),
    st.integers(0, 4),
)
def test_every_judgement_counts_once_in_its_group(tmp_path_factory, rows, split):
    path = sheet(tmp_path_factory.mktemp("s") / "s.tsv", [(n, n, said) for n, said in rows])
    figures = summarize([path], split).as_dict()["systems"][path]
    for name, part in (
        (f"up to {split}", [row for row in rows if row[0] <= split]),
        (f"beyond {split}", [row for row in rows if row[0] > split]),
        ("all", rows),
    ):
        groups = Counter(GROUP_OF[said] for _, said in part)
        assert figures[name]["tags"] == len(part)
        assert figures[name]["lines"] == len({line for line, _ in part})
        for group, share in figures[name]["shares"].items():
            assert share == (groups[group] / len(part) if part else None)


@pytest.fixture
def folder(tmp_path):
    sources = [f'<g id="1">s{n}</g> x' for n in range(6)]
    sources += [f'<g id="3">t{n}</g> <x id="4"/>' for n in range(6)] + ["no tags"]
    (tmp_path / "src").write_text("\n".join(sources) + "\n")
    for system, result in (("one", '<g id="1">A</g>'), ("two", "plain")):
        (tmp_path / system).write_text(f"{result}\n" * len(sources))
    return tmp_path


def judge(path, said):
    """Fill a sheet as a person would, and return its path."""
    rows = list(csv.DictReader(path.read_text().splitlines(), dialect="excel-tab"))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, dialect="excel-tab")
        writer.writeheader()
        writer.writerows({**row, "judgement": said} for row in rows)


def test_sheets_of_two_systems_are_drawn_judged_and_summarized(folder, capsys):
    for system, said in (("one", " Correct"), ("two", "missing")):
        sides = ("--source", folder / "src", "--translation", folder / system)
        more = ("--number", "4", "--output", folder / f"{system}.tsv")
        assert subcommands.run("evaluate", ["judgements", *map(str, (*sides, *more))]) == 0
        judge(folder / f"{system}.tsv", said)
    sheets = [str(folder / f"{system}.tsv") for system in ("one", "two")]
    capsys.readouterr()
    assert subcommands.run("evaluate", ["judgements", "--sheets", *sheets]) == 0
    shown = capsys.readouterr().out
    actual = json.loads(shown.splitlines()[-1])["systems"]
    assert actual[sheets[0]]["up to 2"]["shares"] == {"good": 1, "bad": 0, "residual": 0}
    assert actual[sheets[1]]["beyond 2"]["shares"] == {"good": 0, "bad": 1, "residual": 0}
    assert [actual[path]["beyond 2"]["lines"] for path in sheets] == [4, 4]
    assert actual[sheets[0]]["beyond 2"]["tags"] == 12  # one added to each line
    assert "lines with indexes beyond 2" in shown
    assert f"  {sheets[0]}: good 100.0 %" in shown


def test_the_same_lines_are_drawn_for_every_system_and_others_by_another_seed(folder):
    drawn = [
        {tag.line for tag in draw_translations(str(folder / "src"), str(path), XLIFF, 3, seed, 2)}
        for path, seed in ((folder / "one", 1), (folder / "two", 1), (folder / "one", 4))
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(drawn[0]) == 6
    assert 13 not in drawn[0]


def test_what_cannot_be_compared_is_refused(tmp_path):
    one = sheet(tmp_path / "one", [(1, 1, "correct"), (2, 3, "correct")])
    other = sheet(tmp_path / "other", [(1, 1, "correct"), (3, 3, "correct")])
    with pytest.raises(InputError, match=r"one:3: judges line 2, which is not in .*other"):
        summarize([one, other], 2)
    with pytest.raises(
        InputError, match=r"expected one of correct, .* for line 1, tag 0, found no"
    ):
        summarize([sheet(tmp_path / "empty", [(1, 1, "")])], 2)
    with pytest.raises(InputError, match="whole number as highest index, found 'x'"):
        summarize([sheet(tmp_path / "bad", [(1, "x", "correct")])], 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--source", "src", "--output", "o"), "--source and --translation belong together"),
        (("--source", "src", "--translation", "one"), "--source needs --output SHEET.tsv"),
        (("--output", "o"), "give either --sample RUN"),
        (("--sheets", "a.tsv", "--sample", "x"), "give either --sample RUN"),
        (
            ("--source", "src", "--translation", "one", "--output", "o", "--syntax", "indexed"),
            "expected tags of indexed, but 18 tags in 12 of 13 lines are xliff",
        ),
        (("--source", "src", "--translation", "src", "--output", "one"), "already exists"),
    ],
)
def test_what_the_user_must_mend_is_said(folder, capsys, monkeypatch, arguments, message):
    monkeypatch.chdir(folder)
    from pairweave.pipelines import cli

    assert cli.main(["evaluate", "judgements", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_sheets_of_a_run_and_of_translations_are_not_mixed(tmp_path, capsys):
    from pairweave.pipelines import cli

    one = sheet(tmp_path / "one", [(1, 1, "correct")])
    (tmp_path / "other").write_text("id\tvariant\ttag\tform\tsource\ttarget\tjudgement\n")
    assert cli.main(["evaluate", "judgements", "--sheets", one, str(tmp_path / "other")]) == 2
    assert "has tags of translations" in capsys.readouterr().err


def test_all_syntaxes_are_read():
    for name, tag in (("html", "<b>a</b>"), ("xml", "<b>a</b>"), ("indexed", "<a_0>a</a_0>")):
        assert len(tags(tag, tag, find_syntax(name))) == 1
