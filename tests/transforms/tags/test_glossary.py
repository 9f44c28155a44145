import itertools
import json
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.tags.glossary import Glossary, TermConfig, find_terms, read_glossary
from pairweave.transforms.tags.tag_config import TagConfig
from pairweave.transforms.tags.tags import inject_tags
from tests import check_tagged
from tests.makers import runs
from tests.transforms.tags.test_tags import table_of

WITCH = ("Mary saw two green witches and a witch .", "Maria sah zwei grüne Hexen und eine Hexe .")
ONE_TO_ONE = [(word, word) for word in range(9)]


def terms_of(pair, links, entries, *, match="stem", languages=("en", "de"), **settings):
    """Return the terms that are tagged as pairs of texts, and the counts."""
    table = table_of([pair], [links], languages=languages).drop(["phrases"])
    result = find_terms(table, Glossary(tuple(entries), match), TermConfig(**settings))
    (row,) = result.table.to_pylist()
    texts = []
    for box in row["phrases"]:
        parts = []
        for side in ("source", "target"):
            tokens = row[f"{side}_tokens"][box[f"{side}_start"] : box[f"{side}_end"]]
            parts.append(row[side][tokens[0]["start"] : tokens[-1]["end"]])
        texts.append(tuple(parts))
    return texts, result.counts


def test_the_longest_term_is_taken_and_an_inflected_one_is_found():
    entries = [("witch", "Hexe"), ("green witch", "grüne Hexe"), ("Mary", "Josef")]
    texts, counts = terms_of(WITCH, ONE_TO_ONE, entries)
    assert texts == [("green witches", "grüne Hexen"), ("witch", "Hexe")]
    assert counts["tagged_terms"] == 2
    assert counts["pairs_with_tagged_terms"] == 1


def test_an_exact_match_takes_the_same_word_but_for_case():
    entries = [("Green Witch", "grüne Hexe"), ("WITCH", "hexe")]
    assert terms_of(WITCH, ONE_TO_ONE, entries, match="exact")[0] == [("witch", "Hexe")]


def test_a_related_word_of_the_same_stem_is_a_term_as_documented_and_not_with_exact():
    pair = ("the government of the bank", "la gouvernance de la banque")
    links = [(word, word) for word in range(5)]
    entries = [("government", "gouvernement")]
    tagged = [("government", "gouvernance")]
    french = {"languages": ("en", "fr")}
    assert terms_of(pair, links, entries, **french)[0] == tagged
    assert terms_of(pair, links, entries, match="exact", **french)[0] == []
    assert (
        terms_of(pair, links, [("government", "Gouvernance")], match="exact", **french)[0] == tagged
    )


def test_a_language_without_a_stemmer_is_matched_exactly():
    entries = [("witch", "Hexe")]
    for languages in (("und", "de"), ("en", "und")):
        texts, _ = terms_of(WITCH, ONE_TO_ONE, entries, languages=languages)
        assert texts == [("witch", "Hexe")]


def test_each_pair_is_searched_by_the_stemmers_of_its_own_languages():
    rows = [("the houses", "die Häuser"), ("the houses", "die Hause"), ("the house", "das Haus")]
    one_to_one = [(0, 0), (1, 1)]
    tables = [
        table_of([pair], [one_to_one], languages=languages).drop(["phrases"])
        for pair, languages in zip(rows, [("und", "und"), ("en", "de"), ("und", "de")], strict=True)
    ]
    for order in itertools.permutations(range(3)):
        table = pa.concat_tables([tables[row] for row in order])
        actual = find_terms(table, Glossary((("house", "Haus"),)), TermConfig()).table
        tagged = {
            row: bool(boxes)
            for row, boxes in zip(order, actual["phrases"].to_pylist(), strict=True)
        }
        assert tagged == {0: False, 1: True, 2: True}, order


@pytest.mark.parametrize(
    ("links", "tagged"),
    [
        ([(3, 3), (4, 4)], True),
        ([(4, 4)], True),
        ([(3, 4), (4, 3)], True),
        ([], False),
        ([(3, 3), (4, 5)], False),
        ([(4, 4), (5, 3)], False),
        ([(0, 0), (8, 8)], False),
    ],
)
def test_links_must_agree(links, tagged):
    texts, counts = terms_of(WITCH, links, [("green witch", "grüne Hexe")])
    assert bool(texts) is tagged
    assert counts["terms_on_both_sides"] == 1
    assert counts["terms_without_links"] == (not tagged)


def test_links_say_which_of_two_occurrences_is_meant():
    pair = ("the cat and a cat", "eine Katze und die Katze")
    links = [(0, 3), (1, 4), (2, 2), (3, 0), (4, 1)]
    table = table_of([pair], [links], languages=("en", "de")).drop(["phrases"])
    actual = find_terms(table, Glossary((("cat", "Katze"),)), TermConfig())
    boxes = [tuple(box.values())[:4] for box in actual.table["phrases"][0].as_py()]
    assert boxes == [(1, 2, 4, 5), (4, 5, 1, 2)]


def test_terms_do_not_overlap_and_are_no_more_than_wanted():
    entries = [("green witches", "grüne Hexen"), ("two green", "zwei grüne"), ("Mary", "Maria")]
    texts, _ = terms_of(WITCH, ONE_TO_ONE, entries)
    assert texts == [("two green", "zwei grüne"), ("Mary", "Maria")]
    assert len(terms_of(WITCH, ONE_TO_ONE, entries, max_tags=1)[0]) == 1


@pytest.mark.parametrize(
    ("source", "links", "entries"),
    [
        ("a b c d", [(0, 0), (1, 0), (3, 1)], [("a b c", "x"), ("c d", "y")]),
        ("a b c d", [(0, 0), (2, 1), (3, 1)], [("b c d", "y"), ("a b", "x")]),
    ],
)
def test_terms_overlap_on_neither_side(source, links, entries):
    texts, counts = terms_of((source, "x y"), links, entries, match="exact")
    assert texts == entries[:1]
    assert counts["terms_on_both_sides"] == 2
    links, entries = ([pair[::-1] for pair in pairs] for pairs in (links, entries))
    assert terms_of(("x y", source), links, entries, match="exact")[0] == entries[:1]


def test_a_term_is_found_only_with_all_of_its_words():
    pair, links = ("the green dog", "die grüne Hexe"), [(0, 0), (1, 1), (2, 2)]
    assert terms_of(pair, links, [("green witch", "grüne Hexe")])[0] == []
    assert terms_of(pair[::-1], links, [("grüne Hexe", "green witch")])[0] == []


def test_a_term_is_no_part_of_a_word_with_hyphens_or_of_an_element():
    pair = ("a witch-hunt <b>and a</b> witch", "eine Hexen-Jagd <b>und eine</b> Hexe")
    links = [(word, word) for word in range(9)]
    texts, _ = terms_of(pair, links, [("witch", "Hexe"), ("and", "und"), ("a witch", "eine Hexe")])
    assert texts == [("and", "und"), ("witch", "Hexe")]


def test_a_pair_without_terms_keeps_its_plain_row_alone():
    table = table_of(
        [WITCH, ("No term .", "Kein Wort .")], [ONE_TO_ONE, []], languages=("en", "de")
    )
    actual = find_terms(table.drop(["phrases"]), Glossary((("witch", "Hexe"),)), TermConfig())
    rows, without = inject_tags(actual.table, TagConfig(take_all=True))
    assert rows["kind"].to_pylist() == ["plain", "tagged", "plain"]
    assert not without.any()
    rows, without = inject_tags(actual.table, TagConfig(take_all=True, mix=float("inf")))
    assert rows["kind"].to_pylist() == ["tagged"]
    assert without.tolist() == [False, True]


def test_a_smaller_share_tags_pairs_of_a_larger_one():
    table = table_of([WITCH] * 300, [ONE_TO_ONE] * 300, languages=("en", "de")).drop(["phrases"])
    last = set()
    for share in (0.1, 0.5, 1.0):
        config = TermConfig(share=share)
        actual = find_terms(table, Glossary((("witch", "Hexe"),)), config).table
        tagged = {row["id"] for row in actual.to_pylist() if row["phrases"]}
        assert last <= tagged
        assert abs(len(tagged) - 300 * share) < 45
        last = tagged


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("witch\tHexe\ncat\n", r"g\.tsv:2: expected a source term, a tab and .*, found 1 field;"),
        ("a\tb\tc\n", r"g\.tsv:1: .* found 3 fields"),
        ("witch\t \n", r"g\.tsv:1: the target term is empty"),
        ("\n%\t%\n", r"g\.tsv:2: the source term '%' has no letter or digit"),
        ("\n \n", r"g\.tsv: expected lines of a source term, .* found none"),
    ],
)
def test_a_bad_line_of_a_glossary_is_named(tmp_path, text, message):
    (tmp_path / "g.tsv").write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_glossary(str(tmp_path / "g.tsv"))


def test_a_glossary_that_is_not_there_or_no_text_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match="no such file"):
        read_glossary(str(tmp_path / "none.tsv"))
    (tmp_path / "g.tsv").write_bytes(b"a\tb\n\xff\tc\n")
    with pytest.raises(ConfigError, match=r"tsv:2: expected UTF-8, found 0xFF as byte 1 "):
        read_glossary(str(tmp_path / "g.tsv"))


def test_what_a_spreadsheet_writes_is_read(tmp_path):
    (tmp_path / "g.tsv").write_bytes("\ufeffwitch\tHexe\r\n\r\ncat\t Katze \r\n%\t€".encode())
    actual = read_glossary(str(tmp_path / "g.tsv"), punctuation=True)
    assert actual.entries == (("witch", "Hexe"), ("cat", "Katze"), ("%", "€"))


FILES = ("--source_input", "s.en", "--target_input", "t.de")
LANGS = ("--source_lang", "en", "--target_lang", "de")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    directory = tmp_path_factory.mktemp("terms")
    nouns = {"witch": "Hexe", "cat": "Katze", "lamp": "Lampe", "lake": "See", "tree": "Baum"}
    verbs = {"sees": "sieht", "loves": "liebt", "finds": "findet"}
    lines = [
        (f"the {a} {v} one {b} number .", f"die {nouns[a]} {verbs[v]} eine {nouns[b]} Nummer .")
        for a in nouns
        for v in verbs
        for b in nouns
        if a != b
    ]
    for place, name in enumerate(("s.en", "t.de")):
        (directory / name).write_text("".join(f"{line[place]}\n" for line in lines))
    (directory / "terms.tsv").write_text("witches\tHexen\nlamp\tLampe\nlamp\tLeuchte\ndog\tHund\n")
    return directory


def augment(corpus, output, *arguments):
    return runs.run_here(
        *("augment", *FILES, *LANGS, "--workers", "1", "--output", output, *arguments), cwd=corpus
    )


def test_a_run_tags_terms_alone_and_counts_them(corpus):
    arguments = ("--method", "glossary", "--glossary", "terms.tsv")
    status, _, errors = augment(corpus, "out", *arguments)
    assert status == 0, errors
    counts = check_tagged.check(corpus / "out", [str(corpus / "s.en"), str(corpus / "t.de")])
    rows = pq.read_table(corpus / "out" / "data").to_pylist()
    tagged = Counter()
    plain = {row["id"]: row for row in rows if row["kind"] == "plain"}
    for row in rows:
        for tag in row["tags"]:
            texts = plain[row["id"]]
            tagged[
                texts["source"][tag["source_start"] : tag["source_end"]],
                texts["target"][tag["target_start"] : tag["target_end"]],
            ] += 1
    assert set(tagged) == {("witch", "Hexe"), ("lamp", "Lampe")}
    assert counts["kept"] == len(plain) == 60
    manifest = json.loads((corpus / "out" / "_manifest.json").read_text())
    assert manifest["counts"]["tagged_terms"] == tagged.total() > 36
    assert manifest["counts"]["terms_on_both_sides"] == 48
    settings = manifest["configuration"]
    assert len(settings["glossary"]) == 64
    assert settings["stemmer"].startswith("snowballstemmer-")
    assert f"glossary:{settings['glossary'][:12]}|" in manifest["signature"]


def test_a_run_of_a_glossary_keeps_the_links_that_its_terms_rest_on(corpus):
    arguments = ("--method", "glossary", "--glossary", "terms.tsv")
    for output, more in (("bare", ()), ("linked", ("--keep_links", "true"))):
        status, _, errors = augment(corpus, output, *arguments, *more)
        assert status == 0, errors
    rows = pq.read_table(corpus / "linked" / "data").to_pylist()
    links = {row["id"]: row["word_links"] for row in rows}
    tagged = 0
    for row in rows:
        kept = links[row["id"]]
        assert row["word_links"] == kept
        for tag in row["tags"]:
            tagged += 1
            inside = [
                [
                    tag[f"{side}_start"] <= link[f"{side}_start"] < tag[f"{side}_end"]
                    for link in kept
                ]
                for side in ("source", "target")
            ]
            assert inside[0] == inside[1]  # none leads from either to elsewhere
            assert any(inside[0])
    assert tagged > 36
    for row in rows:
        del row["word_links"]
    assert rows == pq.read_table(corpus / "bare" / "data").to_pylist()


def test_exact_terms_are_not_inflected_in_a_run(corpus):
    arguments = ("--method", "glossary", "--glossary", "terms.tsv", "--glossary_match", "exact")
    assert augment(corpus, "exact", *arguments)[0] == 0
    manifest = json.loads((corpus / "exact" / "_manifest.json").read_text())
    assert manifest["counts"]["terms_on_both_sides"] == 24
    assert "stemmer" not in manifest["configuration"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--method", "glossary"), "--method glossary needs --glossary FILE"),
        (
            ("--glossary", "terms.tsv"),
            "--glossary: applies only to tags around terms; give --method glossary",
        ),
        (("--glossary_match", "stem"), "--glossary_match: applies only to tags around terms"),
        (
            ("--glossary", "terms.tsv", "--glossary_match", "stem"),
            "--glossary, --glossary_match: apply only to tags around terms",
        ),
        *(
            (
                ("--method", "glossary", "--glossary", "terms.tsv", *option),
                f"does not take {option[0]}:",
            )
            for option in (
                *(("--variants", "2"), ("--draw", "confident"), ("--min_confidence", "0.5")),
                *(("--tag_share", "0.3"), ("--split_share", "0.1"), ("--nesting", "free")),
                *(("--max_words", "3"), ("--unaligned_words", "allow")),
            )
        ),
        (
            ("--method", "glossary", "--glossary", "terms.tsv", "--inline_tags", "index"),
            "give --inline_tags strip",
        ),
        (
            ("--method", "glossary", "--glossary", "terms.tsv", "--translator", "ctranslate2:x"),
            "",
        ),
        (("--method", "glossary", "--glossary", "terms.tsv", "--mix", "0"), "--mix 0 tags no pair"),
    ],
)
def test_what_says_nothing_of_terms_is_refused(corpus, arguments, message):
    status, _, errors = augment(corpus, "bad", *arguments)
    assert status == 2
    assert message in errors
    assert not (corpus / "bad").exists()


def test_terms_are_found_in_pieces(corpus):
    arguments = ("--method", "glossary", "--glossary", "terms.tsv", "--tokens", "sentencepiece")
    assert augment(corpus, "pieces", *arguments, "--vocabulary", "300")[0] == 0
    manifest = json.loads((corpus / "pieces" / "_manifest.json").read_text())
    assert manifest["counts"]["tagged_terms"] > 16


def test_an_empty_table_has_no_terms():
    table = table_of([WITCH], [[]])[:0].drop(["phrases"])
    actual = find_terms(table, Glossary((("a", "b"),)), TermConfig())
    assert actual.table.num_rows == 0
    assert isinstance(actual.table, pa.Table)
