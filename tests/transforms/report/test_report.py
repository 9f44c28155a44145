import base64
import colorsys
import dataclasses
import hashlib
import html.parser
import re
import xml.etree.ElementTree as ET
from collections import Counter

import jinja2
import pytest

from pairweave.pipelines.commands.finished import report_command as command
from pairweave.transforms.commit.checking import read_sums
from pairweave.transforms.commit.claim import claim
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.output import run_files
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.output.receipt_sums import ShardFacts, no_sums
from pairweave.transforms.report import (
    normal_figures,
    run_samples,
    shown_counts,
    shown_settings,
    templating,
)
from pairweave.transforms.report import page as report_page
from pairweave.transforms.report.report_samples import TAG_COLOURS
from pairweave.transforms.report.shown_text import linked_words, pieces
from pairweave.transforms.report.templating import percent
from pairweave.transforms.storage import files
from pairweave.transforms.tags.tags import TagConfig, symbols
from pairweave.transforms.text.control_characters import visible_block
from tests.makers import finished_runs


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A committed run, its manifest and its page."""
    output = str(tmp_path_factory.mktemp("run") / "out")
    made = finished_runs.write_run(output)
    return output, made, files.read_bytes(files.join(output, "report.html")).decode()


def page_of(output, document):
    """Return a report made again from the files of a run."""
    sums = read_sums(output, document)
    return report_page.render(
        document, sums, run_samples.gather(FinishedRun(output, document), sums)
    )


def texts(page):
    """Return the text of a page, one string; fails if the page is not well formed."""
    root = ET.fromstring(page)
    return " ".join(" ".join(root.find("body").itertext()).split())


def test_the_manifest_names_the_report_with_its_hash(run):
    output, made, page = run
    entry = next(entry for entry in made["files"] if entry["name"] == "report.html")
    assert entry["sha256"] == hashlib.sha256(page.encode()).hexdigest()
    assert entry["bytes"] == len(page.encode())
    run_files.check_file(output, entry)


def test_two_runs_of_the_same_input_have_the_same_report(run, tmp_path):
    other = str(tmp_path / "elsewhere")
    finished_runs.write_run(other)
    assert files.read_bytes(files.join(other, "report.html")).decode() == run[2]


def test_what_differs_between_runs_does_not_reach_the_committed_report(run):
    output, made, page = run
    note = finished_runs.run_note(engine="flink", seconds=3.25)
    files.write_bytes(files.join(output, "_run.json"), run_files.to_json(note))
    assert page_of(output, made) == page
    read_again = run_files.read_json(files.join(output, "_manifest.json"))
    assert page_of(output, read_again) == page
    assert "3.25" not in page
    assert output not in page
    shown = command.render(output)
    assert "3.25" in shown
    assert len(shown) > len(page)


def test_the_page_asks_for_nothing_from_elsewhere(run):
    actual = []

    class Parser(html.parser.HTMLParser):
        def handle_starttag(self, tag, attrs):
            actual.append((tag, dict(attrs)))

    Parser().feed(run[2])
    names = {name for name, _ in actual}
    assert not names & {"link", "img", "iframe", "object", "base", "form", "use"}
    attributes = {name for _, attrs in actual for name in attrs}
    assert not attributes & {"src", "style", "xlink:href"}
    assert [name for name, _ in actual].count("script") == 1
    # Links are of the table of contents, and lead to the sections of the page.
    places = {attrs["id"] for _, attrs in actual if "id" in attrs}
    links = [attrs["href"] for name, attrs in actual if name == "a"]
    assert len(links) > 5
    assert {f"#{place}" for place in places} == set(links)
    assert [name for name, attrs in actual if "href" in attrs] == ["a"] * len(links)
    assert not [name for name in attributes if name.startswith("on")]
    assert "url(" not in run[2]
    assert "@import" not in run[2]
    assert "://" not in run[2]


def test_text_is_escaped_and_control_characters_are_pictures(run):
    page = run[2]
    assert page.count("<script") == 1
    assert "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#x27;more&#x27;" in page
    assert finished_runs.SCRIPT in texts(page)
    assert "\x1b" not in page
    assert "\u241b[31m" in page
    assert r"bad \xff &lt;byte&gt;" in page
    assert "news &lt;1&gt;.tsv" in page


def test_what_is_normal_is_beside_the_figures(run, monkeypatch):
    bars = [0] * 12 + [5, 1]
    counts = {"tags": 30, "tagged_rows": 10}
    news = {"rows": {"read": 200, "kept": 199}, "rejected": {"length_ratio": 1}}
    news |= {"counts": counts, "histograms": {"tags": bars}}
    figures = {"texts": {"news": "a newspaper"}, "jobs": {"augment": {"news": news}}}
    monkeypatch.setattr(normal_figures, "_figures", lambda: figures)
    shown = texts(page_of(run[0], run[1]))
    assert "kept normal: news 99.5 %" in shown
    assert "news , a newspaper." in shown
    assert "tags in a tagged row 1.75 news 3.00" in shown
    assert "normal medians: news 12" in shown
    rows = ET.fromstring(page_of(run[0], run[1])).iter("tr")
    cells = {row[0].findtext("code"): [cell.findtext("span") for cell in row] for row in rows}
    assert "news\u00a00.5\u00a0%" in cells["length_ratio"]
    assert "news\u00a00\u00a0%" in cells["identical"]


def test_a_job_that_was_not_measured_has_no_normal_figures(run):
    shown = texts(page_of(run[0], {**run[1], "job": "bitext"}))
    assert "normal" not in shown


def test_a_histogram_by_method_has_the_normal_median_of_its_method(monkeypatch):
    bars = {"alignment": [0, 5, 1, 1], "random": [0, 1, 1, 5]}
    run_of_text = {"histograms": {"suggestion_words": bars}}
    figures = {"texts": {"news": "a newspaper"}, "jobs": {"suggest": {"news": run_of_text}}}
    monkeypatch.setattr(normal_figures, "_figures", lambda: figures)
    normal = normal_figures.NormalFigures("suggest")
    assert normal.median("suggestion_words", "alignment") == "news\u00a01"
    assert normal.median("suggestion_words", "random") == "news\u00a03"
    assert normal.median("suggestion_words", "diff") == normal.median("mask") == ""


def test_the_measured_figures_of_suggest_are_of_translated_news():
    normal = normal_figures.NormalFigures("suggest")
    assert list(normal.texts) == ["translations"]
    for method in ("alignment", "random"):
        assert normal.median("suggestion_words", method).startswith("translations")


def test_the_measured_figures_are_of_both_texts():
    for job in ("augment", "align", "filter"):
        normal = normal_figures.NormalFigures(job)
        assert list(normal.texts) == ["news", "web"]
        assert re.fullmatch(
            r"news 9\d(\.\d+)? %, web \d+(\.\d+)? %", normal.kept().replace("\u00a0", " ")
        )
    assert normal_figures.NormalFigures("augment").median("ratio") != ""


def test_every_reason_corpus_file_input_and_setting_appears(run):
    _, made, page = run
    shown = texts(page)
    assert set(made["rejected"]) == {"length_ratio", "identical", "invalid_utf8", "empty_source"}
    for reason, number in made["rejected"].items():
        assert f"{reason} ({number} of {number})" in shown, reason
    for entry in made["files"]:
        if entry["name"] != "report.html":
            assert f"{entry['name']} " in shown, entry["name"]
            assert entry["sha256"] in shown
    for text in ("web", "cc-by-4.0", "not stated", "0123abcd", "12,345", "name: dev.en"):
        assert text in shown, text
    for text in (made["signature"], made["plan_sha256"], "one file has no line end", "1.2.3"):
        assert text in shown, text
    for text in ("10 pairs read", "4 pairs kept", "6 pairs rejected", "40 % kept"):
        assert text in shown, text
    assert "1 : 3 tokens" in shown
    assert "x" * 400 + "… (3,000 characters)" in shown
    assert "x" * 401 not in shown


def test_options_are_shown_once_and_a_0_is_one(run):
    made = {**run[1], "configuration": {"mix": 0, "min_script": 0.0, "model": None, "off": False}}
    page = report_page.render(made, no_sums(0), run_samples.Samples([], {}), {})
    assert '<pre tabindex="0"><code>min_script: 0.0\nmix: 0\n</code></pre>' in page
    assert page.count("min_script") == 1


def test_rejected_pairs_stand_by_corpus(run):
    heads, *rows = ET.fromstring(run[2]).find(".//details").iter("tr")
    assert ["".join(cell.itertext()) for cell in heads][:2] == ["corpus", "length_ratio"]
    assert [["".join(cell.itertext()) for cell in row] for row in rows] == [
        ["news", "1", "0", "1", "1"],
        ["web", "2", "1", "0", "0"],
    ]


def test_numbers_are_aligned_at_the_right(run):
    classes = {}
    for each in ET.fromstring(run[2]).iter("table"):
        heads, *rows = each.iter("tr")
        names = ["".join(cell.itertext()) for cell in heads]
        actual = {tuple(cell.get("class") for cell in line) for line in (heads, *rows)}
        assert len(actual) == 1, names
        classes.update(zip(names, *actual, strict=True))
    for name in ("read", "kept", "rejected", "pairs", "of all read"):
        assert classes[name] == "number", name
    for name in ("corpus", "licence", "reason", "step", "what"):
        assert classes[name] == "text", name


def test_rejected_pairs_of_one_corpus_are_not_listed_twice(run):
    _, made, page = run
    one = {**made, "corpora": {"news": made["corpora"]["news"]}}
    shown = texts(report_page.render(one, no_sums(0), run_samples.Samples([], {})))
    assert "identical" in shown
    assert "By corpus" not in shown
    assert "By corpus" in texts(page)


def test_settings_are_written_out_as_people_read_them():
    values = [True, False, None, [1, True], [], {"b": None, "a": False}, "text", 0]
    expected = ["yes", "no", "none", "1; yes", "none", "a no, b none", "text", "0"]
    assert [shown_settings._text(value) for value in values] == expected


def test_a_tag_has_one_colour_on_both_sides_and_sides_are_isolated(run):
    articles = [
        article
        for article in ET.fromstring(run[2]).iter("article")
        if "stands there" in "".join(article.itertext())
    ]
    assert len(articles) == 1
    source, target = articles[0].findall("div/p")
    assert (source.get("lang"), target.get("lang")) == ("en", "de")
    assert (source.get("dir"), target.get("dir")) == ("auto", "auto")
    coloured = [[(part.text, part.get("class")) for part in side] for side in (source, target)]
    assert coloured[0][1:4] == [
        ("<a_7>", "token t7"),
        ("<a_0>", "token t0"),
        ("red", "words t0"),
    ]
    assert coloured[1][3] == ("rote", "words t0")
    assert coloured[0][5] == (" house", "words t7")
    assert coloured[0][-1] == (" stands there.", "words")
    assert all(part.get("dir") == "ltr" for part in source.iter("bdi"))


def test_only_tagged_rows_are_shown_where_there_are_any(run):
    kept = run_samples.first_kept(FinishedRun(*run[:2]), 12)
    assert [row["kind"] for row in kept] == ["tagged"] * 4
    assert [row["id"] for row in kept] == sorted(row["id"] for row in kept)
    assert run_samples.first_kept(FinishedRun(*run[:2]), 3) == kept[:3]


def test_counters_are_shown_by_what_they_count(run):
    shown = texts(run[2])
    assert "rows without injected tags 4" in shown
    assert "tags in the tagged rows; a tag in two parts counts once 7" in shown
    assert "plain_rows" not in shown


def histogram_of(bars, name="forward_likelihood", group="all"):
    result = Counter({(name, group, bar): number for bar, number in bars.items()})
    return dataclasses.replace(no_sums(0), histograms=result)


def test_a_histogram_that_is_not_by_corpus_is_a_chart_and_a_table_of_its_bars(run):
    sums = histogram_of({60: 2, 61: 6}, "forward_likelihood")
    page = report_page.render(run[1], sums, run_samples.Samples([], {}))
    assert "Pairs by forward_likelihood" in page
    assert "log-likelihood of the target given the source, per word" in page
    rows = [
        [cell.text for cell in row]
        for row in ET.fromstring(page).iter("tr")
        if row[-1].text in ("25 %", "75 %")
    ]
    assert rows == [["-0.5 to 0", "2", "25 %"], ["0 and more", "6", "75 %"]]
    bars = [each.findtext("title") for each in ET.fromstring(page).iter("rect")]
    assert bars[-3:] == ["-0.5 to 0: 2 (25 %)", *["0 and more: 6 (75 %)"] * 2]


def test_a_histogram_of_one_bar_is_a_row_of_a_table(run):
    page = report_page.render(run[1], histogram_of({60: 8}), run_samples.Samples([], {}))
    assert "The same for all pairs" in page
    rows = [list(row.itertext()) for row in ET.fromstring(page).iter("tr")]
    assert ["Pairs by forward_likelihood", "-0.5 to 0 nats", "8"] in [row[:3] for row in rows]
    assert 'class="histogram"' not in page


def test_many_values_share_bars_and_none_is_lost():
    sums = histogram_of({3: 5, 30: 7, 59: 11})
    (actual,) = shown_counts.distributions(sums.histograms)
    assert len(actual.labels) == len(actual.bars[0]) <= shown_counts.MAX_BARS
    assert (actual.labels[0], actual.labels[-1]) == ("-29 to -27.5", "-2 to -0.5")
    assert (actual.bars[0][0], sum(actual.bars[0])) == (5, 23)


def test_a_histogram_of_two_runs_has_the_same_bars_in_both():
    both = [histogram_of(bars).histograms for bars in ({3: 5}, {4: 1, 5: 1})]
    (actual,) = shown_counts.distributions(*both)
    assert actual.labels == ["-29 to -28.5", "-28.5 to -28", "-28 to -27.5"]
    assert actual.bars == [[5, 0, 0], [0, 1, 1]]


def test_a_run_of_align_shows_its_linked_words(tmp_path):
    output = str(tmp_path / "out")
    finished_runs.write_run(output, finished_runs.aligned_data, {"links": 4}, job="align")
    shown = texts(files.read_bytes(files.join(output, "report.html")).decode())
    assert "The → Das" in shown


def test_a_run_without_rejects_or_kept_pairs_has_a_report(run):
    _, made, _ = run
    bare = {**made, "rejected": {}, "counts": {}, "inputs": [], "files": [], "notices": []}
    bare["rows"] = {"read": 0, "kept": 0, "rejected": 0}
    bare["corpora"] = {}
    shown = texts(report_page.render(bare, no_sums(0), run_samples.Samples([], {})))
    assert "No pairs were rejected." in shown
    assert "to look at" not in shown


def test_long_lists_of_files_are_cut_and_counted(run, monkeypatch):
    monkeypatch.setattr(report_page, "MAX_ROWS", 2)
    page = page_of(run[0], run[1])
    assert "and 4 more, all in _manifest.json" in page


def test_at_most_three_shards_of_rejects_are_read_and_rare_reasons_first():
    common = {"duplicate", "identical"}
    rare = {31: {"fuzzy"}, 40: set()}
    shards = [ShardFacts(n, 1, frozenset(rare.get(n, common)), None) for n in range(50)]
    sums = dataclasses.replace(no_sums(0), shards=shards)
    assert run_samples._covering_shards(sums) == [0, 31, 1]
    assert run_samples._covering_shards(dataclasses.replace(sums, shards=shards[40:41])) == []


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0 %"),
        (1, "100 %"),
        (1e-6, "under 0.01 %"),
        (1 - 1e-6, "over 99.99 %"),
        (0.125, "12.5 %"),
    ],
)
def test_a_percentage_is_0_or_100_only_if_it_is_exactly_that(share, text):
    assert percent(share) == text


def test_a_report_is_never_written_into_a_run(run, tmp_path):
    output, _, page = run
    for path, advice in (
        ("report.html", "give a place outside of it"),
        ("new.html", "give another file"),
        ("rejects/new.html", "give a place outside of it"),
    ):
        with pytest.raises(ConfigError, match=f"is inside the run .*; {advice}"):
            command.main("report", [output, "--output", files.join(output, path)])
    assert files.read_bytes(files.join(output, "report.html")).decode() == page
    target = str(tmp_path / "deep" / "page.html")
    assert command.main("report", [output, "--output", target]) == 0
    assert texts(files.read_bytes(target).decode())
    with pytest.raises(ConfigError, match="a directory is in the place of a file to be written"):
        command.main("report", [output, "--output", str(tmp_path)])


def test_a_directory_without_a_finished_run_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"no _manifest.json; give the --output"):
        command.main("report", [str(tmp_path), "--output", str(tmp_path / "x.html")])
    unfinished = str(tmp_path / "unfinished")
    claim(unfinished, finished_runs.plan())
    with pytest.raises(ConfigError, match="not finished"):
        command.main("report", [unfinished])
    fitted = run_files.to_json(finished_runs.manifest([], job="fit"))
    files.write_bytes(files.join(unfinished, "_manifest.json"), fitted)
    with pytest.raises(ConfigError, match="a run of fit contains no pairs to show"):
        command.main("report", [unfinished])


def test_a_broken_shard_is_named(tmp_path):
    output = str(tmp_path / "out")
    finished_runs.write_run(output)
    files.write_bytes(files.join(output, run_files.data_name(1, 2)), b"PAR1")
    with pytest.raises(WorkerError, match=r"part-00001-of-00002\.parquet: cannot be read"):
        command.render(output)
    files.delete(files.join(output, run_files.shard_receipt_name(0, 2)))
    with pytest.raises(WorkerError, match=f"^{output}/_receipts/.*json: no usable receipt: No s"):
        command.render(output)


def test_every_tag_token_is_recognised():
    for symbol in symbols(TagConfig()):
        assert [(piece.text, piece.is_token) for piece in pieces(symbol)] == [(symbol, True)]


def test_crossing_tags_colour_words_by_the_tag_opened_last():
    text = "a <a_1>b <a_2>c</a_1> d</a_2> e"
    assert "".join(piece.text for piece in pieces(text)) == text
    words = [(piece.text, piece.tag) for piece in pieces(text) if not piece.is_token]
    assert words == [("a ", None), ("b ", 1), ("c", 2), (" d", 2), (" e", None)]


def test_links_are_shown_as_words():
    row = {
        "source": "a bc",
        "target": "\U0001f600x",
        "source_tokens": [{"start": 0, "end": 1}, {"start": 2, "end": 4}],
        "target_tokens": [{"start": 0, "end": 1}, {"start": 1, "end": 2}],
        "links": [{"source": 1, "target": 0}, {"source": 0, "target": 1}],
    }
    assert linked_words(row) == [("bc", "\U0001f600"), ("a", "x")]


def test_control_characters_become_pictures():
    assert visible_block("a\r\n\t\x00\x85\x7f\uffff") == "a␍\n\t␀\\x85␡\\uffff"


def test_the_style_has_a_colour_for_each_tag(run):
    style = ET.fromstring(run[2]).find("head/style").text
    assert re.findall(r"^\.t([0-9]+) ", style, re.M) == [str(tag) for tag in range(TAG_COLOURS)]


def test_every_text_of_the_page_is_escaped(run):
    _, made, _ = run
    mark = "<b>\"'&\x07"
    texts_of = dict.fromkeys(("job", "version", "signature", "plan_sha256"), mark)
    entry = dict.fromkeys(("name", "corpus", "role", "format", "sha256"), mark)
    marked = {
        **made,
        **texts_of,
        "notices": [mark],
        "corpora": {mark: {**made["corpora"]["news"], "licence": mark, "source_lang": mark}},
        "rejected": {mark: 1},
        "counts": {mark: 1},
        "golden": {"distances": {mark: {mark: 0.5}}},
        "tag_profile": {
            "distance": {mark: 0.5},
            "counts": {f"{mark} {mark}": 1},
            "drawn": {f"{mark} {mark}": 1},
            "names": {},
        },
        "inputs": [{**entry, "rows": 1, "bytes": 1}],
        "configuration": {mark: mark},
        "files": [{"name": mark, "bytes": 1, "sha256": mark}],
    }
    page = report_page.render(marked, no_sums(0), run_samples.Samples([], {}), {mark: mark})
    # YAML writes the control character in its own way.
    page = page[: page.index("<pre")] + page[page.index("</pre>") :]
    assert "\x07" not in page
    shown = mark.replace("\x07", "\u2407")
    body = page[page.index("<body>") :]
    assert body.count("&lt;b&gt;") == body.count("&lt;b&gt;&quot;&#x27;&amp;\u2407") > 25
    page = page.replace("</pre>", "")
    body_texts = ET.fromstring(page).find("body").itertext()
    assert sum(text.count(shown) for text in body_texts) == body.count("&lt;b&gt;")


def test_the_policy_names_the_script_of_the_page_and_no_other(run):
    page = run[2]
    script = page.partition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = ET.fromstring(page).find(".//meta[@http-equiv]").get("content")
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy


def test_steps_stand_by_their_time_in_a_report_made_again(run):
    steps = {
        "Read/Read": {"seconds": 0.5, "rows": 10, "rows_per_second": 20.4},
        "Fit/Fit": {"seconds": 2.0},
    }
    note = {"engine": "local", "steps": steps}
    page = report_page.render(run[1], no_sums(0), run_samples.Samples([], {}), note)
    rows = [["".join(cell.itertext()) for cell in line] for line in ET.fromstring(page).iter("tr")]
    start = rows.index(["step", "seconds", "rows", "rows/s of a worker", "bar"])
    assert [row[:4] for row in rows[start + 1 : start + 3]] == [
        ["Fit", "2.00", "", ""],
        ["Read", "0.50", "10", "20"],
    ]
    assert "steps." not in page
    assert "Speed by step" not in run[2]


def test_steps_lead_from_read_to_kept(run):
    rows = [
        ["".join(cell.itertext()) for cell in line]
        for line in ET.fromstring(run[2]).iter("tr")
        if len(line) == 5
    ]
    start = [row[0] for row in rows].index("pairs read")
    assert [row[:3] for row in rows[start : start + 3]] == [
        ["pairs read", "", "10"],
        ["read", "6", "4"],
        ["pairs kept", "", "4"],
    ]
    assert rows[start + 1][4].startswith("length_ratio 3, empty_source 1")


def test_a_bar_is_seen_where_there_is_anything():
    source = '{% from "elements.html.j2" import bar %}{{ bar(share, "x") }}'
    template = templating._html().from_string(source)
    pages = [ET.fromstring(template.render(share=share)) for share in (0, 1e-9, 0.5, 1)]
    assert [page[2].get("width") for page in pages] == ["0.00", "0.50", "50.00", "100.00"]


def test_a_name_that_a_template_was_not_given_is_an_error():
    with pytest.raises(jinja2.UndefinedError, match="'job' is undefined"):
        templating.render_html("page.html.j2", corpora=[], script_hash="")


def test_the_report_goes_into_the_current_directory(run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert command.main("report", [run[0]]) == 0
    assert capsys.readouterr().out == "report: report.html\n"
    assert (tmp_path / "report.html").read_bytes().startswith(b"<!DOCTYPE html>")


def test_headers_of_tables_say_what_they_are_for_and_tables_scroll_by_keyboard(run):
    page = run[2]
    assert page.count("<th ") == page.count('<th scope="col" ') > 10
    assert page.count('<div class="scroll"') == page.count('<div class="scroll" tabindex="0"') > 3


def luminance(colour):
    """Return the relative luminance of a colour (WCAG 2.2)."""
    parts = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@pytest.mark.parametrize("scheme", [0, 1])
def test_texts_can_be_read_on_the_page_and_on_cards(run, scheme):
    style = run[2].partition("<style>")[2].partition("</style>")[0]

    def shade(name):
        actual = re.findall(f"--{name}: #([0-9a-f]{{6}})", style)[scheme]
        return luminance([int(actual[at : at + 2], 16) / 255 for at in (0, 2, 4)])

    for text in ("text", "soft", "plain-ink"):
        for ground in ("page", "card"):
            light, dark = sorted((shade(text), shade(ground)), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (text, ground)


@pytest.mark.parametrize("scheme", [0, 1])
def test_tags_can_be_read_on_their_colours(run, scheme):
    style = run[2].partition("<style>")[2].partition("</style>")[0]
    names = ("--card: #([0-9a-f]{6})", "--ink: ([0-9]+)%", "--wash: ([0-9.]+)")
    card, ink, wash = (re.findall(name, style)[scheme] for name in names)
    ground = [int(card[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    hues = [int(hue) for hue in re.findall(r"color: hsl\(([0-9]+) 75%", style)]
    assert len(hues) == 10
    for hue in hues:
        text = colorsys.hls_to_rgb(hue / 360, int(ink) / 100, 0.75)
        tint = colorsys.hls_to_rgb(hue / 360, 0.5, 0.75)
        behind = [
            float(wash) * t + (1 - float(wash)) * g for t, g in zip(tint, ground, strict=True)
        ]
        light, dark = sorted((luminance(text), luminance(behind)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, hue


def test_rules_are_in_one_table_and_not_among_the_counts(run):
    counts = {
        "kept_pairs": 9,
        "would_reject_script": 3,
        "would_reject_first_script": 2,
        "would_reject_only_script": 1,
        "would_reject_copied": 5,
        "would_reject_first_copied": 4,
        "would_reject_only_copied": 0,
    }
    page = report_page.render({**run[1], "counts": counts}, no_sums(0), run_samples.Samples([], {}))
    rows = [
        " ".join("".join(cell.itertext()) for cell in row[:4])
        for row in ET.fromstring(page).iter("tr")
    ]
    start = rows.index("rule pairs first rule only rule")
    assert rows[start + 1 : start + 3] == ["copied 5 4 0", "script 3 2 1"]
    shown = texts(page)
    assert "would reject first" not in shown
    assert "pairs that no rule rejects 9" in shown
