"""Segments of two small pages in the HTML of DocBook."""

import gzip
import json

from tests.benchmarks import manuals

ENGLISH = """<html><head><meta charset="utf-8"></head><body><h1>Files</h1>
<p>Press <span class="keycap"><strong>Enter</strong></span> in
<code class="filename">/boot</code>.</p>
<ul><li>See <a href="x.html">Section 2</a>.<p>Then <em>stop</em>.</p></li></ul>
<pre>make <b>all</b></pre><p>See <a href="y.html">the end</a>.</p><p>Debian</p></body></html>"""
GERMAN = """<html><head><meta charset="utf-8"></head><body><h1>Dateien</h1>
<p>In <code class="filename">/boot</code> <span class="keycap"><strong>Enter</strong></span>
drücken.</p>
<ul><li>Siehe <a href="x.html">Abschnitt 2</a>.<p>Dann <em>anhalten</em>.</p></li></ul>
<pre>make <b>all</b></pre><p>Siehe das Ende.</p><p>Debian</p></body></html>"""


def rows(tmp_path, translation, language):
    paths = tmp_path / "en.html", tmp_path / "other.html"
    for path, text in zip(paths, (ENGLISH, translation), strict=True):
        path.write_text(text, encoding="utf-8")
    output = tmp_path / "rows.jsonl.gz"
    count = manuals.write_segments([("page", *paths)], language, output)
    with gzip.open(output, "rt", encoding="utf-8") as file:
        made = [json.loads(line) for line in file]
    assert len(made) == count
    return {row["source"]: row["target"] for row in made}


def test_blocks_correspond_and_where_tags_differ_both_sides_are_without(tmp_path):
    assert rows(tmp_path, GERMAN, "de") == {
        "Files": "Dateien",
        "Press <keycap><strong>Enter</strong></keycap> in <filename>/boot</filename>.": (
            "In <filename>/boot</filename> <keycap><strong>Enter</strong></keycap> drücken."
        ),
        "See <link>Section 2</link>.": "Siehe <link>Abschnitt 2</link>.",
        "Then <em>stop</em>.": "Dann <em>anhalten</em>.",
        "See the end.": "Siehe das Ende.",
    }


def test_blocks_of_pages_that_differ_correspond_by_their_tags(tmp_path):
    shorter = GERMAN.replace("<h1>Dateien</h1>", "")
    made = rows(tmp_path, shorter, "de")
    assert made["Then <em>stop</em>."] == "Dann <em>anhalten</em>."
    assert "Files" not in made


def test_a_text_without_a_letter_of_its_script_is_not_translated(tmp_path):
    japanese = GERMAN.replace("Dann <em>anhalten</em>", "<em>停止</em>します")
    assert rows(tmp_path, japanese, "ja") == {"Then <em>stop</em>.": "<em>停止</em>します."}
