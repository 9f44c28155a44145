"""Names from input cannot control a terminal or a page."""

import io
import logging

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.pipelines import cli
from pairweave.pipelines.process import terminal
from pairweave.transforms.commit import dataset_card
from pairweave.transforms.text.control_characters import for_terminal
from tests.transforms.commit.test_dataset_card import manifest

TITLE = "\x1b]0;owned\x07"


@given(st.text(st.characters(), max_size=20))
def test_what_is_shown_holds_no_control_character_and_can_be_encoded(text):
    shown = for_terminal(text)
    shown.encode()
    assert not any(ord(mark) < 32 and mark not in "\t\n" for mark in shown)
    assert not any(0x7F <= ord(mark) < 0xA0 for mark in shown)
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def said(capsys, *words):
    """Run the command and return its status, and what it said without a raw control character."""
    status = cli.main([str(word) for word in words])
    out, errors = capsys.readouterr()
    assert "\x1b" not in out + errors
    assert "\x07" not in out + errors
    return status, out + errors


LANGUAGES = ("--source_lang", "en", "--target_lang", "de")


def test_a_file_s_name_is_escaped(capsys, tmp_path):
    status, text = said(
        *(capsys, "align", "--input", tmp_path / f"{TITLE}.tsv", *LANGUAGES),
        *("--output", tmp_path / "out"),
    )
    assert status == 2
    assert "␛]0;owned␇" in text


def test_a_column_s_name_is_escaped(capsys, tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({TITLE: ["a"]}), path)
    status, text = said(capsys, "align", "--input", path, *LANGUAGES, "--output", tmp_path / "out")
    assert status == 2
    assert "␛]0;owned␇" in text


def test_a_header_s_name_is_escaped(capsys, tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text(f"source\t{TITLE}\na\tb\n")
    status, text = said(
        *(capsys, "align", "--input", path, *LANGUAGES, "--output", tmp_path / "out"),
        *("--source_field", "source", "--target_field", "target"),
    )
    assert status == 2
    assert "␛" in text


def test_a_key_of_the_configuration_is_escaped(capsys, tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text('"\\e]0;owned\\a": 1\n')
    status, text = said(capsys, "align", "--config", path, "--output", tmp_path / "out")
    assert status == 2
    assert "␛]0;owned␇" in text


def test_a_plan_s_names_are_escaped(capsys, tmp_path):
    path = tmp_path / f"{TITLE}.tsv"
    path.write_text("a b\tx y\n")
    status, text = said(
        *(capsys, "align", "--input", path, *LANGUAGES, "--output", tmp_path / "out"),
        "--plan_only",
    )
    assert status == 0
    assert "␛]0;owned␇.tsv: 1 row" in text


def test_what_a_block_says_is_given_to_a_function_until_it_ends(capsys):
    said, warned = [], []
    with terminal.saying_to(said.append), terminal.warning_by(warned.append):
        terminal.say("a result")
        terminal.warn("a warning")
    terminal.say("another result")
    terminal.warn("another warning")
    assert (said, warned) == (["a result"], ["a warning"])
    assert capsys.readouterr() == ("another result\n", "another warning\n")


def test_a_log_record_is_escaped():
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(terminal.ShownFormatter("%(message)s"))
    handler.handle(logging.LogRecord("a", logging.INFO, "a", 1, "%s", (TITLE,), None))
    assert stream.getvalue() == "␛]0;owned␇\n"


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "![x](http://a)", "a`b", TITLE])
def test_a_corpus_name_is_text_in_the_card(name):
    text = dataset_card.render(manifest(name))
    body = text.split("---\n", 2)[2]
    assert "<script>" not in body
    assert "\x1b" not in body
    assert "![x](" not in body
