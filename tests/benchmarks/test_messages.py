"""Segments of a small catalogue of messages."""

import polib
import pytest

from tests.benchmarks import messages


@pytest.fixture
def share(tmp_path):
    catalogue = polib.POFile()
    catalogue.metadata = {"Content-Type": "text/plain; charset=utf-8"}
    for message, translation in (
        ("_Open", "_खोलें"),
        ("<b>Drag</b> & drop", "<b>खींचें </b>और छोड़ें"),
        ("OK", "OK"),
    ):
        catalogue.append(polib.POEntry(msgid=message, msgstr=translation))
    catalogue.append(polib.POEntry(msgid="Save", msgstr="सहेजें", msgctxt="menu"))
    plural = {0: "%d फ़ाइल", 1: "%d फ़ाइलें"}
    catalogue.append(polib.POEntry(msgid="%d file", msgid_plural="%d files", msgstr_plural=plural))
    folder = tmp_path / "locale" / "hi" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    catalogue.save_as_mofile(str(folder / "program.mo"))
    return tmp_path


def test_each_translated_message_is_a_segment(share):
    assert {row["source"]: row["target"] for row in messages.rows(share, "hi")} == {
        "<b>Drag</b> &amp; drop": "<b>खींचें</b> और छोड़ें",
        "Open": "खोलें",
        "Save": "सहेजें",
    }


@pytest.mark.parametrize(
    ("message", "segment"),
    [
        ('<span size="large"><b> a </b></span>.', "<span><b>a</b></span>."),
        ("a &lt; <i>b</i>", "a &lt; <i>b</i>"),
        ("<file> <b>x\n y</b> !", "&lt;file&gt; <b>x y</b>!"),
    ],
)
def test_tags_have_names_alone_and_white_space_outside(message, segment):
    assert messages.as_segment(message) == segment
