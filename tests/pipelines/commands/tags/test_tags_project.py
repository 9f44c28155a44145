"""The command ``tags project`` puts tags onto lines of text, from links of every kind."""

import gzip
import json
import os

import numpy as np
import pytest
import sentencepiece

from pairweave.pipelines.commands.tags import tagged_blocks
from pairweave.transforms.text import segmenter
from pairweave.transforms.text.segmenter import installed_name
from pairweave.transforms.text.tokens import train_sentencepiece
from tests.makers.runs import run_here, run_well_here

SOURCE = '<g id="1">the red</g> house<x id="2"/>\n\nno tags\nold <g id="1">car</g>\r\n'
TARGET = "das haus rot\n\nohne\nauto alt\r\n"
LINKS = "0-0 1-2 2-1\n\n\n0-1 1-0\n"
MADE = '<g id="1">das haus rot</g><x id="2"/>\n\nohne\n<g id="1">auto</g> alt\r\n'


@pytest.fixture
def folder(tmp_path):
    for name, text in (("s", SOURCE), ("t", TARGET), ("l", LINKS)):
        (tmp_path / name).write_bytes(text.encode())
    return tmp_path


def command(folder, *more):
    sides = ("--source_input", folder / "s", "--target_input", folder / "t")
    return ("tags", "project", *sides, "--output", folder / "out", *more)


def test_links_of_a_file_place_the_tags_and_counts_are_told(folder):
    out = run_well_here(*command(folder, "--links", folder / "l", "--rules", "paper"))
    assert (folder / "out").read_bytes().decode() == MADE
    assert json.loads(out.splitlines()[-1]) == {
        "lines": 4,
        "tagged_lines": 2,
        "tags": 5,
        "rules": "paper",
        "output": str(folder / "out"),
    }


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("l", ("--links", "l")),
        ("l", ("--forward_links", "l", "--reverse_links", "r")),
        ("s", ("--links", "r")),
        ("s", ()),
        ("t", ()),
        ("t", ("--links", "r")),
    ],
)
def test_a_pipe_that_would_be_read_twice_is_refused(folder, name, more):
    (folder / "r").write_text(LINKS)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    words = [word if word.startswith("--") else folder / word for word in more]
    status, out, errors = run_here(*command(folder, *words))
    assert (status, out) == (2, "")
    assert f"{folder / name}: is not a regular file" in errors
    assert "read twice" in errors
    assert not (folder / "out").exists()


@pytest.mark.parametrize("name", ["s", "t"])
def test_a_line_with_more_tokens_than_links_can_number_is_named(folder, name):
    long = (
        (folder / name).read_text().replace("old", "old " * 33_000).replace("alt", "alt " * 33_000)
    )
    (folder / name).write_text(long)
    status, out, errors = run_here(*command(folder))
    assert (status, out) == (2, "")
    assert f"{folder / name}:4: has 33,001 tokens, and links can number 32,767" in errors
    assert not (folder / "out").exists()


@pytest.mark.parametrize("side", ["source", "target"])
def test_links_count_the_words_of_the_languages_given(folder, side):
    french, english = "l'arbre <b>vert</b>\n", "tree <b>green</b>\n"
    if side == "source":
        texts, links, made = (french, "tree green\n"), "1-0 2-1\n", english
    else:
        texts, links, made = (english, "l'arbre vert\n"), "0-1 1-2\n", french
    for name, text in zip(("s", "t", "l"), (*texts, links), strict=True):
        (folder / name).write_text(text)
    given = ("--links", folder / "l", "--syntax", "html")
    run_well_here(*command(folder, *given, f"--{side}_lang", "fr"))
    assert (folder / "out").read_text() == made
    status, _, errors = run_here(*command(folder, *given, f"--{side}_lang", "en"))
    assert (status, "is out of range for" in errors) == (2, True)


def test_attention_of_a_file_places_the_tags(folder):
    one = np.eye(4)[[0, 2, 1, 3]]
    two = np.eye(3)[[1, 0, 2]]
    np.savez(folder / "a.npz", one, np.zeros((1, 1)), np.zeros((2, 2)), two)
    given = ("--attention", folder / "a.npz", "--attention_method", "naive")
    run_well_here(*command(folder, *given))
    lines = (folder / "out").read_bytes().decode().splitlines()
    assert lines[3] == '<g id="1">auto</g> alt'


@pytest.fixture
def pieced(folder):
    """Write a tagged line of which some pieces show nothing, and its target; return the pieces."""
    words = ["the", "old", "man", "will", "see", "a", "tree", "by", "the", "sea"]
    model = train_sentencepiece([" ".join(words[i:] + words[:i]) for i in range(10)] * 20, 40)
    (folder / "m.model").write_bytes(model)
    (folder / "s").write_text("the ok man will see <b>it</b>\n")
    (folder / "t").write_text("it the ok man will see\n")
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    sides = ["the ok man will see it", "it the ok man will see"]
    return [processor.encode(text, out_type=str) for text in sides]


def tokens(folder):
    return ("--syntax", "html", "--tokens", f"sentencepiece:{folder / 'm.model'}")


def owner(pieces, place):
    """Return the number of the word that a piece is part of."""
    return sum(piece.startswith("\u2581") for piece in pieces[: place + 1]) - 1


TRUE_LINKS = {(i, j) for i in range(6) for j in range(6) if (i + 1) % 6 == j}


def piece_links(pieces):
    """Return the links between all pieces of words that mean the same."""
    source, target = pieces
    return [
        (i, j)
        for i in range(len(source))
        for j in range(len(target))
        if (owner(source, i), owner(target, j)) in TRUE_LINKS
    ]


@pytest.mark.parametrize("rules", ["paper", "best"])
def test_links_count_the_model_s_pieces_those_that_show_nothing_too(folder, pieced, rules):
    assert "\u2581" in pieced[0]
    line = " ".join(f"{i}-{j}" for i, j in piece_links(pieced))
    (folder / "l").write_text(f"{line}\n")
    run_well_here(*command(folder, "--links", folder / "l", *tokens(folder), "--rules", rules))
    assert (folder / "out").read_text() == "<b>it</b> the ok man will see\n"


@pytest.mark.parametrize("rules", ["paper", "best"])
@pytest.mark.parametrize("method", ["naive", "shift"])
def test_attention_counts_the_model_s_pieces_those_that_show_nothing_too(
    folder, pieced, rules, method
):
    matrix = np.zeros((len(pieced[1]) + 1, len(pieced[0]) + 1))
    for i, j in piece_links(pieced):
        matrix[j + (method == "shift"), i] = 1
    np.savez(folder / "a.npz", matrix)
    given = ("--attention", folder / "a.npz", "--attention_method", method)
    run_well_here(*command(folder, *given, *tokens(folder), "--rules", rules))
    assert (folder / "out").read_text() == "<b>it</b> the ok man will see\n"


def test_a_link_outside_the_model_s_pieces_is_refused_with_their_number(folder, pieced):
    (folder / "l").write_text(f"0-0 {len(pieced[0])}-0\n")
    status, _, errors = run_here(*command(folder, "--links", folder / "l", *tokens(folder)))
    assert status == 2
    assert (
        f"is out of range for {len(pieced[0])} source and {len(pieced[1])} target tokens" in errors
    )


@pytest.fixture
def fit(folder):
    """Write pairs to fit an aligner on, and return the options that name them."""
    words = {"the": "das", "red": "rot", "house": "haus", "old": "alt", "car": "auto"}
    pairs = [(a, b) for a in words for b in words for _ in range(3)]
    (folder / "fs").write_text("".join(f"{a} {b}\n" for a, b in pairs))
    (folder / "ft").write_text("".join(f"{words[b]} {words[a]}\n" for a, b in pairs))
    return ("--fit_source_input", folder / "fs", "--fit_target_input", folder / "ft")


def test_an_aligner_is_fitted_on_the_files(folder, fit):
    run_well_here(*command(folder, *fit))
    assert (folder / "out").read_bytes().decode().splitlines()[3] == '<g id="1">auto</g> alt'


def test_an_aligner_is_fitted_on_as_many_pairs_as_asked_from_the_whole_input(
    folder, fit, monkeypatch
):
    whole, actual = tagged_blocks._fit_pairs, []

    def watched(options):
        actual.append(whole(options))
        return actual[-1]

    monkeypatch.setattr(tagged_blocks, "_fit_pairs", watched)
    for more in ((), ("--fit_pairs", 10)):
        run_well_here(*command(folder, *fit, *more))
    every, some = actual
    assert len(every) == 78
    assert len(some) == 10
    assert (some[0], some[-1]) == (every[0], every[-1])
    places = [every.index(pair) for pair in some]
    assert places == sorted(places)


@pytest.mark.parametrize("rules", ["best", "paper"])
def test_the_best_rules_weigh_links_and_those_of_the_paper_count_them(
    folder, fit, monkeypatch, rules
):
    aligned, actual = tagged_blocks._aligned, []

    def watched(*given):
        link = aligned(*given)
        return lambda block: actual.extend(link(block)) or actual[-len(block.table) :]

    monkeypatch.setattr(tagged_blocks, "_aligned", watched)
    run_well_here(*command(folder, *fit, "--rules", rules))
    masses = np.concatenate([[*links.forward, *links.reverse] for links in actual])
    assert len(masses) > 4
    assert ({*masses.tolist()} == {1.0}) is (rules == "paper")


def test_files_may_be_compressed(folder):
    (folder / "s.gz").write_bytes(gzip.compress(SOURCE.encode()))
    run_well_here(
        *("tags", "project", "--source_input", folder / "s.gz", "--target_input", folder / "t"),
        *("--output", folder / "out.gz", "--links", folder / "l"),
    )
    made = gzip.decompress((folder / "out.gz").read_bytes()).decode()
    assert made.splitlines()[3] == '<g id="1">auto</g> alt'


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("l", "0-0\n\n\n", "has links of 3 lines, but"),
        ("l", "0-0\n\n\n0-7\n", "l:4: 0-7 is out of range for 2 source and 2 target tokens"),
        ("t", "x\n", "ends after line 1"),
        ("t", 'das haus rot\n\n<g id="1">ohne\nauto alt\n', "t:3: contains a tag of xliff"),
    ],
)
def test_what_does_not_fit_is_named_and_nothing_is_written(folder, name, content, message):
    (folder / name).write_text(content)
    status, _, errors = run_here(*command(folder, "--links", folder / "l"))
    assert (status, message in errors) == (2, True), errors
    assert not (folder / "out").exists()


def test_text_without_words_has_nothing_to_fit_on(folder):
    (folder / "s").write_text('<x id="1"/>\nword\n')
    (folder / "t").write_text("\n\n")
    status, _, errors = run_here(*command(folder))
    assert status == 2
    assert f"{folder / 's'}: no line has text besides its tags" in errors
    assert "--fit_source_input" in errors


def test_a_second_aligner_that_is_not_there_is_named_by_its_option(folder):
    status, _, errors = run_here(*command(folder, "--second_aligner", "hmm:nothere"))
    assert status == 2
    assert "--second_aligner nothere: no fitted aligner there" in errors


@pytest.mark.parametrize("name", ["source_input", "target_input", "output"])
def test_an_empty_name_is_named_by_its_option(folder, name):
    words = [*command(folder)]
    words[words.index(f"--{name}") + 1] = ""
    status, _, errors = run_here(*words)
    assert (status, f"{name}: string should have at least 1 character" in errors) == (2, True)


@pytest.mark.parametrize("option", ["--model", "--second_aligner"])
def test_a_model_of_other_languages_is_told(folder, option):
    pairs = ("--source_input", folder / "t", "--target_input", folder / "t")
    run_well_here(
        *("fit", *pairs, "--source_lang", "en", "--target_lang", "de", "--output", folder / "m")
    )
    model = f"hmm:{folder / 'm'}" if option == "--second_aligner" else folder / "m"
    _, _, errors = run_here(*command(folder, option, model, "--target_lang", "de-AT"))
    assert "was fitted with" not in errors
    _, _, errors = run_here(*command(folder, option, model, "--target_lang", "fi"))
    assert f"{option} was fitted with target_lang de, but the pairs have fi" in errors


def test_links_are_not_written_over(folder):
    status, _, errors = run_here(
        *command(folder, "--links", folder / "l", "--confidence", folder / "l")
    )
    assert (status, "l: is named twice" in errors) == (2, True), errors
    assert (folder / "l").read_text() == LINKS


def test_links_come_from_one_place(folder):
    status, _, errors = run_here(*command(folder, "--links", "l", "--model", "m"))
    assert status == 2
    assert "--links and --model are both sources of links" in errors
    status, _, errors = run_here(*command(folder, "--fit_source_input", folder / "s"))
    assert status == 2
    assert "give the same number on each side" in errors


def test_an_encoder_places_tags_and_leaves_what_it_cannot_take_without_links(folder):
    pytest.importorskip("torch", reason="needs the extra `neural`")
    from tests.makers.encoders import write_bert

    words = [f"word{number}" for number in range(40)]
    write_bert(folder / "bert", words, layers=2, max_position_embeddings=30)
    lines = ["a <x/>b", f"<b>{' '.join(words)}</b>", "", "word1 <b>word2</b>"]
    (folder / "s").write_text("".join(f"{line}\n" for line in lines))
    (folder / "t").write_text(f"b a\n{' '.join(words)}\n\nword1 word2\n")
    given = ("--aligner", "encoder", "--model", folder / "bert", "--layer", "2")
    for rules in ("best", "paper"):
        more = ("--long_pairs", "reject", "--syntax", "xml", "--rules", rules)
        run_well_here(*command(folder, *given, *more))
        made = (folder / "out").read_text().split("\n")
        assert [line.count("<") for line in made] == [1, 2, 0, 2, 0]
        assert made[3] == "word1 <b>word2</b>"
    assert run_here(*command(folder, *given, "--head", "no"))[0] == 2


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--tokens", "pieces"), "--tokens pieces: tags are placed between words; give words"),
        (("--watch_model", "true"), "one process and one aligner; leave out --watch_model"),
        (("--model_copies", "2"), "one process and one aligner; leave out --model_copies"),
        (
            ("--second_aligner", "encoder:DIR:layer=2", "--combine", "union"),
            "leave out --combine",
        ),
    ],
)
def test_what_only_a_job_of_shards_knows_is_refused(folder, more, message):
    given = ("--aligner", "encoder", "--model", folder / "bert")
    status, _, errors = run_here(*command(folder, *given, *more))
    assert status == 2
    assert message in errors
    assert not (folder / "out").exists()


def test_a_line_on_which_the_encoder_fails_has_no_links_and_stops_nothing(folder, monkeypatch):
    pytest.importorskip("torch", reason="needs the extra `neural`")
    from pairweave.models.encoder.neural import EncoderAligner
    from tests.makers.encoders import write_bert

    write_bert(folder / "bert", ["word1 word2 bad"], layers=2)
    (folder / "s").write_text("word1 <b>word2</b>\n<b>bad</b> word1\nword2 <b>word1</b>\n")
    (folder / "t").write_text("word1 word2\nbad word1\nword2 word1\n")
    whole = EncoderAligner.align_or_reject

    def spoiled(self, table):
        if "bad word1" in table["source"].to_pylist():
            raise IndexError("index out of range in self")
        return whole(self, table)

    monkeypatch.setattr(EncoderAligner, "align_or_reject", spoiled)
    given = ("--aligner", "encoder", "--model", folder / "bert", "--layer", "2")
    run_well_here(*command(folder, *given, "--syntax", "xml"))
    made = (folder / "out").read_text().splitlines()
    assert made[0] == "word1 <b>word2</b>"
    assert made[1].count("<") == 2
    assert made[2] == "word2 <b>word1</b>"


@pytest.mark.parametrize("links", [("--links", "l"), ()])
def test_a_source_in_another_syntax_is_refused_before_anything_is_fitted_or_written(folder, links):
    (folder / "s").write_text("<b>the red</b> house\n\nno tags\nold car\n")
    links = [folder / value if value == "l" else value for value in links]
    status, _, errors = run_here(*command(folder, *links))
    assert status == 2
    assert f"{folder / 's'}:1: expected tags of xliff, but 1 tag in 1 of 4 lines is xml" in errors
    assert not (folder / "out").exists()


def test_some_tags_in_another_syntax_are_warned_of(folder):
    (folder / "s").write_text(SOURCE.replace("no tags", "no <b>tags</b>"), newline="")
    status, _, errors = run_here(*command(folder, "--links", folder / "l", "--rules", "paper"))
    assert status == 0
    assert f"{folder / 's'}:3: 1 tag in 1 of 4 lines is xml, not xliff" in errors
    assert (folder / "out").read_bytes().decode() == MADE


def test_tags_stand_between_the_words_that_augment_has(folder):
    if installed_name() is None:
        pytest.skip("no segmenter is installed")
    sides = (
        "Choose <gui>Select</gui> in the <app>File</app> menu\n",
        "ファイルメニューで選択を選びます\n",
    )
    # The links of one character of each word alone.
    for path, text in zip(("s", "t", "l"), (*sides, "0-12 1-9 4-0\n"), strict=True):
        (folder / path).write_text(text, encoding="utf-8")
    made = {}
    for language, way in (("ja", "auto"), ("und", "auto"), ("ja", "none")):
        given = ("--links", folder / "l", "--syntax", "xml", "--segmenter", way)
        run_well_here(*command(folder, *given, "--target_lang", language))
        made[language, way] = (folder / "out").read_text(encoding="utf-8")
    assert made["ja", "auto"] == "<app>ファイルメニュー</app>で<gui>選択</gui>を選びます\n"
    assert made["und", "auto"] == made["ja", "auto"]
    assert made["ja", "none"] != made["ja", "auto"]


def test_a_translation_without_spaces_needs_the_segmenter_of_augment(folder, monkeypatch):
    monkeypatch.setattr(segmenter, "installed_name", lambda: None)
    status, _, errors = run_here(*command(folder, "--links", folder / "l", "--target_lang", "ja"))
    assert status == 2
    assert "the target language is ja" in errors
    assert "pip install 'pairweave[segment]'" in errors
    run_well_here(
        *command(folder, "--links", folder / "l", "--target_lang", "ja", "--segmenter", "none")
    )


def test_pieces_of_a_model_split_no_word(folder, pieced):
    source, target = pieced
    word = [j for j in range(len(target)) if owner(target, j) == 2]
    assert len(word) > 1, "the word ok is cut into pieces"
    last = [i for i in range(len(source)) if owner(source, i) == 5]
    (folder / "l").write_text(" ".join(f"{i}-{word[-1]}" for i in last) + "\n")
    run_well_here(*command(folder, "--links", folder / "l", *tokens(folder), "--rules", "paper"))
    assert (folder / "out").read_text() == "it the <b>ok</b> man will see\n"
