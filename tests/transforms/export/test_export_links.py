"""Links of the words of exported lines."""

import itertools
import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.export.export_links import (
    add_links,
    cut_moses,
    cut_whitespace,
    line_links,
)
from pairweave.transforms.text.moses_words import MosesWords
from tests.makers import corpora, finished_runs, runs

pytest.importorskip("sacremoses")

TAGS = re.compile(r"</?a_[0-9]/?>|<g id=\"[0-9]\">|</g>")
SIDES = ("--source_input", "corpus.en", "--target_input", "corpus.de")
LANGS = ("--source_lang", "en", "--target_lang", "de")
SMALL = ("--shard_pairs", "150", "--unit_rows", "100", "--workers", "1")
pieces = st.lists(
    st.sampled_from(["a", "bc", "d.", " ", "  ", "\xa0", "<a_1>", "</a_1>", '<g id="2">', "'s"]),
    max_size=10,
).map("".join)


@given(pieces)
def test_words_between_white_space_are_those_of_split(text):
    words = cut_whitespace(text, TAGS)
    assert [word.text for word in words] == text.split()
    plain = TAGS.sub("", text)
    for word in words:
        if not word.tagged:
            assert plain[word.start : word.end] == word.text


@given(pieces)
def test_characters_of_a_word_lie_where_a_slow_count_says(text):
    where, number, inside = {}, -1, False
    place = at = 0
    while at < len(text):
        if text[at].isspace():
            inside = False
        elif not inside:
            inside, number = True, number + 1
        tag = TAGS.match(text, at)
        if tag:
            for character in tag[0]:
                if character.isspace():
                    inside = False
                elif not inside:
                    inside, number = True, number + 1
            at = tag.end()
            continue
        if not text[at].isspace():
            where[place] = number
        place, at = place + 1, at + 1
    actual = {
        place: number
        for number, word in enumerate(cut_whitespace(text, TAGS))
        for place in range(word.start, word.end)
    }
    assert actual == where


@given(pieces)
def test_tags_are_words_of_their_own_beside_moses_words(text):
    words = cut_moses(text, TAGS, MosesWords("en"))
    assert [word.text for word in words if word.tagged] == "\n".join(TAGS.findall(text)).split()
    plain = TAGS.sub("", text)
    joined = "".join(word.text for word in words if not word.tagged)
    assert joined == "".join(plain.split())
    rebuilt = "".join(word.text for word in words)
    assert rebuilt.replace(" ", "") == "".join(text.split())


def test_a_tag_inside_a_word_parts_it():
    words = cut_moses("Kfz-<a_1>Papiere</a_1>.", TAGS, MosesWords("de"))
    assert [word.text for word in words] == ["Kfz-", "<a_1>", "Papiere", "</a_1>", "."]
    parts = ["Kraft", "<a_1>", "fahr", "</a_1>", "zeug-", "<a_2>", "Papiere", "</a_2>"]
    words = cut_moses("".join(parts), TAGS, MosesWords("de"))
    assert [word.text for word in words] == parts


def test_links_follow_their_words_past_tags():
    link = {"source_start": 4, "source_end": 9, "target_start": 0, "target_end": 6}
    sides = ("The <a_1>green</a_1> witch", "<a_1>Grüne,</a_1> Hexe")
    moses = [cut_moses(text, TAGS, MosesWords("en")) for text in sides]
    assert [[word.text for word in words] for words in moses] == [
        ["The", "<a_1>", "green", "</a_1>", "witch"],
        ["<a_1>", "Grüne", ",", "</a_1>", "Hexe"],
    ]
    assert line_links(*moses, [link]) == [(1, 0), (2, 1), (2, 2), (3, 3)]
    # Who replaces a linked word would lose its tag.
    assert line_links(*[cut_whitespace(text, TAGS) for text in sides], [link]) == []


@pytest.mark.parametrize(
    ("words", "cut", "texts", "links"),
    [
        ("whitespace", cut_whitespace, ("a <a_1>b</a_1>,", "x, y"), "0-1"),
        (
            "moses",
            lambda text, tags: cut_moses(text, tags, MosesWords("en")),
            ("a <a_1> b </a_1> ,", "x , y"),
            "0-2 2-0",
        ),
    ],
)
def test_rows_get_their_links_and_moses_words_stand_apart(words, cut, texts, links):
    ends = [f"{side}_{end}" for side in ("source", "target") for end in ("start", "end")]
    linked = [dict(zip(ends, link, strict=True)) for link in ((0, 1, 3, 4), (2, 3, 0, 1))]
    row = {"source": "a <a_1>b</a_1>,", "target": "x, y", "word_links": linked}
    rows = pa.RecordBatch.from_pylist([{**row, "source_lang": "en", "target_lang": "en"}])
    made = add_links(rows, words, lambda text, _: cut(text, TAGS)).to_pylist()
    assert [(each["source"], each["target"], each["links"]) for each in made] == [(*texts, links)]


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    directory = tmp_path_factory.mktemp("links")
    corpora.write_corpus(directory, 300)
    runs.run_well_here("fit", *SIDES, *LANGS, *SMALL, "--output", "m", cwd=directory)
    more = (*SIDES, *LANGS, *SMALL, "--model", "m", "--max_ratio", "1.5", "--max_tokens", "250")
    runs.run_well_here("align", *more, "--output", "aligned", cwd=directory)
    more = (*more, "--keep_links", "true")
    runs.run_well_here("augment", *more, "--output", "run", cwd=directory)
    more = (*more, "--representation", "xliff", "--whitespace_shift", "true")
    runs.run_well_here("augment", *more, "--output", "xliff", cwd=directory)
    return directory


def overlap(one, other):
    return one in other or other in one


def rows_of(run):
    return [r for p in sorted(run.glob("data/*")) for r in pq.read_table(p).to_pylist()]


@pytest.mark.parametrize("run", ["run", "xliff"])
def test_every_row_keeps_the_links_that_align_finds(directory, run):
    aligned = {row["id"]: row for row in rows_of(directory / "aligned")}
    rows = rows_of(directory / run)
    assert {row["kind"] for row in rows} == {"plain", "tagged"}
    for row in rows:
        pair = aligned[row["id"]]
        wanted = [
            {
                f"{side}_{end}": pair[f"{side}_tokens"][link[side]][end]
                for side, end in itertools.product(("source", "target"), ("start", "end"))
            }
            for link in pair["links"]
        ]
        assert row["word_links"] == wanted


@pytest.mark.parametrize("run", ["run", "xliff"])
@pytest.mark.parametrize("words", ["whitespace", "moses"])
def test_the_links_of_an_export_join_words_that_are_linked(directory, tmp_path, run, words):
    arguments = ("export", directory / run, "--format", "opustrainer", "--alignment", words)
    runs.run_well_here(*arguments, "--output", tmp_path)
    lines = (tmp_path / "tagged.opustrainer.tsv").read_text().splitlines()
    rows = rows_of(directory / run)
    assert len(lines) == len(rows)
    pairs = {row["id"]: row for row in rows_of(directory / "aligned")}
    linked = 0
    for line, row in zip(lines, rows, strict=True):
        source, target, links = line.split("\t")
        if words == "whitespace":
            assert (source, target) == (row["source"], row["target"])
        one, other = source.split(), target.split()
        plain = [pairs[row["id"]][side] for side in ("source", "target")]
        aligned = {
            (
                plain[0][link["source_start"] : link["source_end"]],
                plain[1][link["target_start"] : link["target_end"]],
            )
            for link in row["word_links"]
        }
        for i, j in (map(int, link.split("-")) for link in links.split()):
            linked += 1
            if {"<", ">"} & {*one[i], *other[j]}:  # of tags alone
                assert one[i] == other[j]
                continue
            near = [(a, b) for a, b in aligned if overlap(a, one[i]) and overlap(b, other[j])]
            assert near, (line, i, j, aligned)
        if words == "moses" and run == "run":
            assert sum(map(bool, map(TAGS.search, one))) == 2 * len(row["tags"])
    assert linked > 5 * len(lines)


@pytest.mark.slow
def test_plain_rows_have_the_links_of_align_on_white_space(directory, tmp_path):
    more = (*SIDES, *LANGS, *SMALL, "--tokens", "whitespace", "--max_ratio", "inf")
    runs.run_well_here("fit", *more, "--output", tmp_path / "m", cwd=directory)
    more = (*more, "--model", tmp_path / "m", "--max_tokens", "1000", "--max_token_chars", "1000")
    runs.run_well_here("align", *more, "--output", tmp_path / "a", cwd=directory)
    arguments = ("--keep_links", "true", "--mix", "0.5", "--output", tmp_path / "r")
    runs.run_well_here("augment", *more, *arguments, cwd=directory)
    arguments = ("--format", "moses", "--alignment", "whitespace", "--output", tmp_path / "x")
    runs.run_well_here("export", tmp_path / "r", "--kinds", "plain", *arguments)
    pairs = {(row["source"], row["target"]): row["links"] for row in rows_of(tmp_path / "a")}
    texts = [
        (tmp_path / "x" / f"tagged.{end}").read_text().splitlines()
        for end in ("src", "tgt", "align")
    ]
    assert len(texts[0]) == len(texts[1]) == len(texts[2]) > 200
    for source, target, links in zip(*texts, strict=True):
        expected = [f"{link['source']}-{link['target']}" for link in pairs[source, target]]
        assert links == " ".join(expected)


def test_other_rows_of_a_run_that_keeps_links_are_those_of_one_that_does_not(directory, tmp_path):
    more = (*SIDES, *LANGS, *SMALL, "--model", "m", "--max_ratio", "1.5", "--max_tokens", "250")
    runs.run_well_here("augment", *more, "--output", tmp_path / "r", cwd=directory)
    kept = rows_of(directory / "run")
    for row in kept:
        del row["word_links"]
    assert rows_of(tmp_path / "r") == kept
    settings = json.loads((tmp_path / "r" / "_plan.json").read_text())["configuration"]
    assert "keep_links" not in settings
    settings = json.loads((directory / "run" / "_plan.json").read_text())["configuration"]
    assert settings["keep_links"] is True


def test_a_run_without_links_says_how_to_get_them(tmp_path):
    finished_runs.write_run(str(tmp_path / "run"))
    arguments = ("export", tmp_path / "run", "--format", "opustrainer", "--unfit", "leave_out")
    status, _, errors = runs.run_here(*arguments, "--output", tmp_path / "x")
    assert status == 2
    assert "augment --keep_links true" in errors
    assert "--alignment none" in errors
    runs.run_well_here(*arguments, "--alignment", "none", "--output", tmp_path / "y")
    lines = (tmp_path / "y" / "tagged.opustrainer.tsv").read_text().splitlines()
    assert all(line.count("\t") == 1 for line in lines)


def test_escapes_and_links_exclude_each_other(directory, tmp_path):
    arguments = ("--format", "opustrainer", "--unfit", "escape", "--output", tmp_path)
    status, _, errors = runs.run_here("export", directory / "run", *arguments)
    assert status == 2
    assert "escapes change the words that links refer to" in errors


def test_nothing_is_aligned_where_no_pair_is_tagged_so_no_links_are_kept(directory, tmp_path):
    more = (*SIDES, *LANGS, *SMALL, "--mix", "0", "--keep_links", "true")
    status, _, errors = runs.run_here("augment", *more, "--output", tmp_path / "o", cwd=directory)
    assert status == 2
    assert "--keep_links: --mix 0 tags no pair" in errors


def test_fragments_keep_no_links(directory, tmp_path):
    more = (*SIDES, *LANGS, *SMALL, "--model", "m", "--method", "fragment", "--keep_links", "true")
    status, _, errors = runs.run_here("augment", *more, "--output", tmp_path / "o", cwd=directory)
    assert status == 2
    assert "--method fragment does not take --keep_links" in errors


def test_a_run_with_tags_of_its_own_keeps_links_of_the_text_without_them(tmp_path):
    source = [f"a{n} red <b>green</b> witch {n}" for n in range(60)]
    target = [f"z{n} rote <b>grüne</b> Hexe {n}" for n in range(60)]
    (tmp_path / "t.en").write_text("".join(f"{line}\n" for line in source))
    (tmp_path / "t.de").write_text("".join(f"{line}\n" for line in target))
    sides = ("--source_input", "t.en", "--target_input", "t.de", *LANGS, *SMALL)
    more = ("--inline_tags", "index", "--inline_syntax", "html", "--keep_links", "true")
    runs.run_well_here("augment", *sides, *more, "--output", "run", cwd=tmp_path)
    tagged = [row for row in rows_of(tmp_path / "run") if row["kind"] == "tagged"]
    assert len(tagged) == 60
    for row in tagged:
        assert re.search("<a_[0-9]>green</a_[0-9]>", row["source"])
        plain = [TAGS.sub("", row[side]) for side in ("source", "target")]
        linked = {
            (
                plain[0][link["source_start"] : link["source_end"]],
                plain[1][link["target_start"] : link["target_end"]],
            )
            for link in row["word_links"]
        }
        assert {("red", "rote"), ("green", "grüne"), ("witch", "Hexe")} <= linked
