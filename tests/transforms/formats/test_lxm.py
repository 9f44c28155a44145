import json

import pytest

from pairweave.transforms.errors import ConfigError, InputError, WorkerError
from pairweave.transforms.formats.registry import read_unit
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.units import ReadLimits
from tests.makers.reading import corpus, pairs, read_all, reasons


def write(tmp_path, source, target, langs=("en", "de")):
    for side, lang, texts in zip(("source", "target"), langs, (source, target), strict=True):
        document = texts if isinstance(texts, str) else json.dumps({"lang": lang, "text": texts})
        (tmp_path / f"{side}.json").write_text(document)
    return corpus_of(tmp_path)


def corpus_of(tmp_path, **fields):
    sides = {f"{side}_input": (str(tmp_path / f"{side}.json"),) for side in ("source", "target")}
    return corpus(format="lxm", **sides, **fields)


def test_texts_are_paired_by_their_identifiers(tmp_path):
    actual = write(tmp_path, {"b": "two", "a": "one"}, {"a": "eins", "b": "zwei"})
    rows = read_all(actual)
    assert pairs(rows) == [("two", "zwei"), ("one", "eins")]
    assert [row["line"] for row in rows] == [1, 2]
    assert rows[0]["file"] == "source.json"


def test_identifiers_of_one_side_alone_are_rejected_rows(tmp_path):
    rows = read_all(write(tmp_path, {"a": "1", "b": "2"}, {"c": "3", "a": "4"}), batch_rows=2)
    assert reasons(rows) == [None, "untranslated", "missing_field"]
    assert rows[1]["detail"] == "target: there is no b"
    assert rows[2]["detail"] == "source: there is no c"


def test_texts_that_are_none_are_rejected_rows(tmp_path):
    texts = {"a": 1, "b": "x\0", "c": "y" * 50, "d": "fine"}
    rows = read_all(
        write(tmp_path, texts, dict.fromkeys(texts, "t")), limits=ReadLimits(max_line_bytes=49)
    )
    assert reasons(rows) == ["wrong_type", "control_char", "line_too_long", None]


def test_tags_are_taken_out_unless_asked_for_and_entities_stay(tmp_path):
    corpus_ = write(tmp_path, {"a": "<b>A &amp; B</b>"}, {"a": "<b>C</b>"})
    assert pairs(read_all(corpus_)) == [("A &amp; B", "C")]
    (row,) = read_all(corpus_of(tmp_path, inline_tags="index"))
    assert row["markup"] is not None
    assert pairs(read_all(corpus_of(tmp_path, inline_tags="raw"))) == [
        ("<b>A &amp; B</b>", "<b>C</b>")
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"lang": "en", "text": {"a": "x"', "invalid_json"),
        ('{"lang": "en", "text": {"a": "x", "a": "y"}}', "duplicate_key"),
        ('{"lang": "en", "text": {"a": NaN}}', "invalid_json"),
        ('{"text": ' + "[" * 100 + "]" * 100 + "}", "json_too_deep"),
        ('["a"]', "wrong_type"),
        ('{"lang": "en"}', "missing_field"),
        ('{"lang": "fr", "text": {"a": "x"}}', "language_not_found"),
    ],
)
def test_a_file_that_is_no_lxm_is_an_error(tmp_path, text, code):
    with pytest.raises(InputError) as caught:
        make_plan([write(tmp_path, text, {"a": "t"})])
    assert caught.value.code == code
    assert caught.value.path == "source.json"


@pytest.mark.parametrize(
    ("wanted", "lang", "is_taken"),
    [
        ("en", "en-GB", True),
        ("en-GB", "en", False),
        ("en", None, True),
        ("en", 7, True),
        ("und", "en", True),
    ],
)
def test_a_file_in_a_variety_of_the_language_or_in_none_is_taken(tmp_path, wanted, lang, is_taken):
    facts = {} if lang is None else {"lang": lang}
    write(tmp_path, json.dumps({**facts, "text": {"a": "x"}}), {"a": "t"})
    given = corpus_of(tmp_path, source_lang=wanted)
    if is_taken:
        assert pairs(read_all(given)) == [("x", "t")]
    else:
        with pytest.raises(InputError, match="the file is en, wanted en-GB"):
            make_plan([given])


def test_a_text_may_have_as_many_bytes_as_a_line_and_not_more(tmp_path):
    given = write(tmp_path, {"a": "ü" * 4, "b": "ü" * 4 + "x"}, {"a": "x", "b": "x"})
    rows = read_all(given, limits=ReadLimits(max_line_bytes=8))
    assert reasons(rows) == [None, "line_too_long"]
    assert rows[1]["detail"].startswith("source: 9 bytes")


def test_a_file_that_changed_since_the_plan_is_a_worker_error(tmp_path):
    (unit,) = make_plan([write(tmp_path, {"a": "x"}, {"a": "t"})]).units
    for text in ({"a": "y"}, '{"lang": "en", "text": {"a": }}'):
        write(tmp_path, text, {"a": "t"})
        with pytest.raises(WorkerError, match=r"source\.json"):
            list(read_unit(unit, ReadLimits()))


def test_lxm_is_a_format_of_two_files():
    sides = {"source_input": ("a",), "target_input": ("b",)}
    with pytest.raises(ConfigError, match="lxm goes with source_input and target_input"):
        make_plan([corpus(format="lxm", input=("a.json",))])
    with pytest.raises(ConfigError, match="lxm has no translation_input"):
        make_plan([corpus(format="lxm", **sides, translation_input=("c",))])
    with pytest.raises(ConfigError, match="links goes with source_input and target_input of line"):
        make_plan([corpus(format="lxm", **sides, links=("c",))])


def test_the_real_corpus_is_read_whole_and_its_sides_have_the_same_tags(shared_data):
    sides = {
        f"{side}_input": (str(shared_data / "xml" / f"enfr.{lang}.json"),)
        for side, lang in (("source", "en"), ("target", "fr"))
    }
    rows = read_all(corpus(format="lxm", **sides, target_lang="fr", inline_tags="index"))
    assert len(rows) == 2_000
    assert set(reasons(rows)) == {None}
    assert sum(row["markup"] is not None for row in rows) == 575
