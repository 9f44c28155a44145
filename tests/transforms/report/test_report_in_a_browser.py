"""The report in headless Chromium: its script, its console, its widths, its contrast.

Skipped without Chromium.
"""

import base64
import hashlib
import html
import json
import re
import shutil
import subprocess

import pytest

from pairweave.transforms.commit.checking import read_sums
from pairweave.transforms.finding_notices import finding_notices
from pairweave.transforms.findings import Finding
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.report import page as report_page
from pairweave.transforms.report.run_samples import Samples, gather
from pairweave.transforms.report.sample_groups import Group
from tests.makers import finished_runs

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium"),
]

# Plays a person: each step changes a control and notes what is then to be seen.
PLAY = """
(function () {
  var notes = [];
  var list = document.querySelector(".samples");
  function note() {
    var seen = Array.from(list.querySelectorAll("article")).filter(function (pair) {
      return pair.offsetParent !== null;
    });
    notes.push([list.querySelector(".status").textContent,
                seen.map(function (pair) {
                  return pair.dataset.place + " " + pair.dataset.corpus;
                })]);
  }
  function change(name, value) {
    var field = list.querySelector("." + name);
    field.value = value;
    field.dispatchEvent(new Event("input", {bubbles: true}));
    note();
  }
  note();
  list.querySelector(".on").click(); note();
  list.querySelector(".on").click(); note();
  change("order", "length");
  change("corpus", "b");
  change("corpus", "");
  change("tags", "3");
  change("tags", "0");
  change("wanted", "WORD17 ");
  parent.postMessage(JSON.stringify(notes), "*");
}());
"""

# Measures the page, and the least contrast of a text with what is behind it (WCAG 2.2).
MEASURE = """
(function () {
  function channels(colour) {
    var found = colour.match(/[0-9.]+/g).map(Number);
    return found.length === 3 ? found.concat(1) : found;
  }
  function behind(element) {
    var layers = [];
    for (; element; element = element.parentElement) {
      layers.unshift(channels(getComputedStyle(element).backgroundColor));
    }
    return layers.reduce(function (under, layer) {
      return under.map(function (value, place) {
        return layer[place] * layer[3] + value * (1 - layer[3]);
      });
    }, [255, 255, 255]);
  }
  function luminance(colour) {
    var parts = colour.slice(0, 3).map(function (value) {
      return value > 10 ? Math.pow((value / 255 + 0.055) / 1.055, 2.4) : value / 255 / 12.92;
    });
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  }
  var least = [99, ""];
  document.querySelectorAll("body *:not(svg *)").forEach(function (element) {
    var says = Array.from(element.childNodes).some(function (node) {
      return node.nodeType === 3 && node.textContent.trim();
    });
    if (!says || element.offsetParent === null) { return; }
    var both = [channels(getComputedStyle(element).color), behind(element)].map(luminance);
    var contrast = (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
    if (contrast < least[0]) { least = [contrast, element.outerHTML.slice(0, 90)]; }
  });
  parent.postMessage(JSON.stringify({
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    inner: window.innerWidth, scroll: document.documentElement.scrollWidth, least: least
  }), "*");
}());
"""

# A window has at least 500 pixels; a frame has any width, and its page reports to this one.
FRAME = """
<iframe src="page.html" width="%d" height="%d" style="border: 0"></iframe>
<script>
addEventListener("message", function (event) { document.body.replaceChildren(event.data); });
</script>
"""


def row(number):
    """Return a tagged row of which length, tags and corpus follow from its number."""
    tag = dict.fromkeys(["source_start", "source_end", "target_start", "target_end"], 0)
    return {
        "id": f"{number:032x}",
        "variant": 0,
        "kind": "tagged",
        "source": f"word{number} " + "x" * (number * 7 % 25),
        "target": "y",
        "tags": [{"index": index, "form": "pair", **tag} for index in range(number % 4)],
        "source_lang": "en",
        "target_lang": "de",
        "corpus": "ab"[number % 2],
    }


def tagged_row():
    span = {"source_start": 0, "source_end": 5, "target_start": 0, "target_end": 1}
    tags = [{"index": 0, "form": "pair", **span}]
    return {**row(1), "tags": tags, "source": "<a_0>word1</a_0>", "target": "<a_0>y</a_0>"}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page with 25 samples, and a function that opens it."""
    directory = tmp_path_factory.mktemp("browser")
    output = str(directory / "out")
    made = finished_runs.write_run(output)
    groups = [Group("At random", [row(number) for number in range(20)])]
    groups.append(Group("Longest", [row(number) for number in range(20, 25)]))
    return directory, report_page.render(made, read_sums(output, made), Samples(groups, {}))


@pytest.fixture(scope="module")
def rich_page(tmp_path_factory):
    """A page with tables of bars that are wider than a phone, a finding, tags and rejects."""
    directory = tmp_path_factory.mktemp("rich")
    output = str(directory / "out")
    counts = {f"would_reject{kind}_placeholder_mismatch": 5 for kind in ("", "_first", "_only")}
    made = finished_runs.write_run(output, counts={**finished_runs.COUNTS, **counts})
    finding = Finding("misaligned", "a.en", 201, 250, 50, "50 lines are none", "leave them out")
    said = [str(notice) for notice in finding_notices([finding])]
    made |= {"look": {"pairs": 400, "findings": [finding.as_json()]}, "notices": [*said, "w" * 99]}
    sums = read_sums(output, made)
    samples = gather(FinishedRun(output, made), sums)
    return directory, report_page.render(made, sums, samples, finished_runs.run_note())


def opened(directory, text, *options, play=None, size=None):
    """Open a page, in a frame if a size is given; return its document at the end and its console.

    If it is played in a frame, the document has what it reports.
    """
    if play is not None:
        digest = base64.b64encode(hashlib.sha256(play.encode()).digest()).decode()
        assert text.count("script-src &#x27;") + text.count("script-src '") == 1
        text = text.replace("script-src ", f"script-src 'sha256-{digest}' ")
        text = text.replace("</body>", f"<script>{play}</script></body>")
    path = directory / "page.html"
    path.write_text(text)
    if size is not None:
        path = directory / "frame.html"
        path.write_text(FRAME % size)
        options = (*options, "--window-size=1600,1200", "--virtual-time-budget=5000")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    command = [CHROMIUM, *flags, f"--user-data-dir={directory}/profile", *options, "--dump-dom"]
    done = subprocess.run(
        [*command, path.as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, console


def reported(document):
    return json.loads(html.unescape(re.search("<body>(.*)</body>", document, re.S)[1]))


def test_samples_are_paged_sorted_and_filtered_and_the_console_says_nothing(page):
    document, console = opened(*page, play=PLAY, size=(500, 900))
    assert console == []
    notes = [(status, [place.split() for place in seen]) for status, seen in reported(document)]
    first, second, third, longest, in_b, every, tagged, _, wanted = notes
    assert first == ("1 to 10 of 25", [[str(n), "ab"[n % 2]] for n in range(10)])
    assert [int(place) for place, _ in second[1]] == list(range(10, 20))
    assert third == ("21 to 25 of 25", [[str(n), "ab"[n % 2]] for n in range(20, 25)])
    rows = sorted(range(25), key=lambda n: (-len(row(n)["source"]), n))
    # A change of the order goes back to the first page.
    assert longest[0] == every[0] == "1 to 10 of 25"
    assert [int(place) for place, _ in longest[1]] == rows[:10]
    assert in_b[0] == "1 to 10 of 12"
    assert {corpus for _, corpus in in_b[1]} == {"b"}
    assert [int(place) for place, _ in tagged[1]] == [n for n in rows if n % 4 >= 3]
    assert wanted == ("1 to 1 of 1", [["17", "b"]])


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 820, 390])
def test_the_page_fits_its_window_and_texts_have_contrast(rich_page, width, theme):
    options = ["--force-dark-mode"] if theme == "dark" else []
    document, console = opened(*rich_page, *options, play=MEASURE, size=(width, 844))
    actual = reported(document)
    assert console == []
    assert actual["dark"] == (theme == "dark")
    assert actual["scroll"] <= actual["inner"] == width
    contrast, element = actual["least"]
    assert contrast >= 4.5, element


PLACES = """
var found = document.querySelector("article:has(.token)").getBoundingClientRect();
parent.postMessage(JSON.stringify({
  first: found.top, notices: document.querySelectorAll("header > .notice").length
}), "*");
"""


@pytest.mark.parametrize("notices", [5, 30])
@pytest.mark.parametrize(("width", "height"), [(1440, 900), (820, 900), (390, 844)])
def test_a_tagged_pair_is_on_the_first_screen(page, width, height, notices):
    directory, _ = page
    output = str(directory / "out")
    made = json.loads((directory / "out" / "_manifest.json").read_text())
    finding = Finding("misaligned", "a.en", 201, 250, 50, "50 lines are none", "leave them out")
    said = [str(notice) for notice in finding_notices([finding])]
    made |= {"look": {"pairs": 400, "findings": [finding.as_json()]}}
    made |= {"notices": [*said, *(f"file {n} has no line end" for n in range(notices - 1))]}
    samples = Samples([Group("At random", [tagged_row()])], {})
    text = report_page.render(made, read_sums(output, made), samples)
    assert text.count("50 lines are none") == 2  # and in the table by file and line
    document, _ = opened(directory, text, play=PLACES, size=(width, height))
    seen = reported(document)
    assert seen["first"] < height - 100
    assert seen["notices"] == 3


def test_without_script_all_samples_stand_and_no_control_is_seen(page):
    directory, text = page
    document, _ = opened(directory, text.replace("<script>", '<script type="text/none">'))
    assert document.count("<article") == 25
    assert 'hidden="hidden"' in document
    assert not re.search('<(article|div class="group")[^>]* hidden', document)


def test_another_script_does_not_run(page):
    directory, text = page
    bad = text.replace("</body>", "<script>document.title = 'bad'</script></body>")
    document, console = opened(directory, bad)
    assert "<title>bad" not in document
    assert console
