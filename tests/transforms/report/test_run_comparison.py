"""``compare`` shows two runs side by side."""

import collections
import xml.etree.ElementTree as ET

import pyarrow.dataset
import pytest

from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.report import run_comparison, run_differences
from pairweave.transforms.report.templating import number
from tests.makers import corpora, finished_runs, runs


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Return two runs of one corpus, of which one rejects and tags otherwise."""
    directory = tmp_path_factory.mktemp("compare")
    corpora.write_corpus(directory, 200)
    words = (
        *("augment", "--source_input", directory / "corpus.en", "--source_lang", "en"),
        *("--target_input", directory / "corpus.de", "--target_lang", "de", "--workers", "1"),
    )
    runs.run_well_here(*words, "--output", directory / "one")
    more = ("--model", directory / "one" / "models" / "hmm", "--max_tags", "2", "--shard_pairs")
    runs.run_well_here(*words, *more, "50", "--max_token_chars", "6", "--output", directory / "two")
    return directory / "one", directory / "two"


def rows_of(output):
    """Return the rows of a run by id, in order."""
    result = collections.defaultdict(list)
    for row in pyarrow.dataset.dataset(output / "data").to_table().to_pylist():
        result[row["id"]].append(row)
    return result


def compared(outputs):
    both = [FinishedRun.open(str(output)) for output in outputs]
    return [run.manifest for run in both], run_comparison.compare_pairs(both)


@pytest.mark.parametrize("most", [2_000, 25, 1])
def test_pairs_are_those_that_plain_python_finds(outputs, monkeypatch, most):
    monkeypatch.setattr(run_comparison, "PAIRS", most)
    first, second = map(rows_of, outputs)
    cut = [sorted(actual)[:most] for actual in (first, second)]
    last = min([ids[-1] for ids in cut if len(ids) == most], default="g")
    first, second = ({n: r for n, r in actual.items() if n <= last} for actual in (first, second))
    both = first.keys() & second.keys()
    _, actual = compared(outputs)
    assert actual.same == sum(first[name] == second[name] for name in both)
    assert most == 1 or actual.only[0] > 0
    assert actual.only == (len(first.keys() - both), len(second.keys() - both))
    assert [rows[0][0]["id"] for rows in actual.changed] == sorted(
        name for name in both if first[name] != second[name]
    )
    assert all(
        rows == (first[rows[0][0]["id"]], second[rows[0][0]["id"]]) for rows in actual.changed
    )


def test_the_page_says_what_differs(outputs, tmp_path):
    page = tmp_path / "page.html"
    out = runs.run_well_here("compare", *outputs, "--output", page)
    manifests, pairs = compared(outputs)
    root = ET.fromstring(page.read_text(encoding="utf-8"))
    cells = [tuple(cell.itertext() for cell in row) for row in root.iter("tr")]
    cells = [tuple("".join(cell) for cell in row) for row in cells]
    for name in ("read", "kept", "rejected"):
        counts = tuple(number(manifest["rows"][name]) for manifest in manifests)
        assert (f"pairs {name}", *counts) in cells
        assert [f"pairs {name}", *counts] in [
            " ".join(line.split()).rsplit(" ", 2) for line in out.splitlines()
        ]
    options = {cell[0]: cell[1:] for cell in cells}
    assert options["max_tags"] == ("9", "2")
    assert options["max_token_chars"] == ("100", "6")
    assert "heuristic" not in options
    reasons = [manifest["rejected"].get("long_token", 0) for manifest in manifests]
    assert reasons[1] > reasons[0]
    assert ("long_token", *map(str, reasons), f"+{reasons[1] - reasons[0]}") in cells
    text = " ".join(root.find("body").itertext())
    assert "Both runs read the same files." in text
    assert f"{len(pairs.changed)} with other rows" in " ".join(text.split())
    for name in ("Characters of the source", "Tags in a tagged row"):
        assert name in text
    assert [head.text for head in root.iter("h3")].count("Tags in a tagged row") == 1
    assert text.count("Pair ") == min(len(pairs.changed), run_comparison.SHOWN)


def test_a_run_is_the_same_as_itself(outputs, tmp_path):
    out = runs.run_well_here("compare", outputs[0], outputs[0], "--output", tmp_path / "page.html")
    kept = number(len(rows_of(outputs[0])))
    assert f"of {kept} pairs, the first by id: {kept} with the same rows, 0 with other rows" in out
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "All options are the same." in text


def test_runs_of_other_languages_and_files_are_told_first(outputs, tmp_path):
    corpus = outputs[0].parent
    words = (
        *("augment", "--source_input", corpus / "corpus.de", "--source_lang", "de"),
        *("--target_input", corpus / "corpus.en", "--target_lang", "en", "--workers", "1"),
    )
    runs.run_well_here(*words, "--output", tmp_path / "other")
    page = tmp_path / "page.html"
    out = runs.run_well_here("compare", outputs[0], tmp_path / "other", "--output", page)
    assert out.splitlines()[:2] == [
        f"the languages differ: en to de in {outputs[0]}; de to en in {tmp_path / 'other'}",
        "none of the pairs compared is in both runs: the figures describe different texts",
    ]
    root = ET.fromstring(page.read_text(encoding="utf-8"))
    text = " ".join(" ".join(root.find("body").itertext()).split())
    assert "The languages differ: en to de in " in text
    assert "All options are the same, but not the languages." in text
    notices = [each for each in root.iter("p") if each.get("class") == "notice"]
    assert len(notices) == 2


def test_other_files_are_counted_by_their_contents():
    corpora = {"a": {"source_lang": "en", "target_lang": "de"}}
    manifests = [
        {"corpora": corpora, "inputs": [{"sha256": each} for each in hashes]}
        for hashes in (("1", "2"), ("2", "3", "4"))
    ]
    assert run_differences.differences(("a", "b"), manifests) == [
        "the runs read different files: 1 of 2 and 3 are the same"
    ]
    assert run_differences.differences(("a", "b"), manifests[:1] * 2) == []


def test_bars_that_differ_are_marked_and_named(outputs):
    manifests, pairs = compared(outputs)
    histograms = [
        {("tags", "a", 1): 500, ("tags", "a", 2): 500, ("source_length", "a", 3): 900},
        {("tags", "b", 1): 700, ("tags", "b", 2): 300, ("source_length", "b", 3): 800},
    ]
    page = run_comparison.render(("one", "two"), manifests, pairs, histograms)
    root = ET.fromstring(page)
    text = " ".join(" ".join(root.find("body").itertext()).split())
    assert "Clearly different, with the bars marked: Tags in a tagged row." in text
    assert "differs most at 1: 50 % in the first, 70 % in the second; 2 bars are marked" in text
    drawn = [each.get("class") for each in root.iter("rect")]
    assert drawn.count("fill differs") == 4
    page = run_comparison.render(("one", "two"), manifests, pairs, histograms[:1] * 2)
    assert "No bar differs clearly between the runs." in page
    assert 'class="fill differs"' not in page


def test_few_values_and_small_differences_mark_no_bar():
    assert run_differences.differing_bars([1_000, 1_000], [1_030, 970]) == [False, False]
    assert run_differences.differing_bars([3, 1], [1, 3]) == [False, False]
    assert run_differences.differing_bars([300, 100], [100, 300]) == [True, True]
    assert run_differences.differing_bars([0, 0], [100, 300]) == [False, False]


def test_texts_of_both_runs_are_escaped(tmp_path):
    for name in ("one", "two"):
        finished_runs.write_run(str(tmp_path / name))
    runs.run_well_here("compare", tmp_path / "one", tmp_path / "two", "--output", tmp_path / "page")
    page = (tmp_path / "page").read_text(encoding="utf-8")
    assert "<script>" not in page
    ET.fromstring(page)


def test_what_cannot_be_compared_is_refused(outputs, tmp_path):
    other = str(tmp_path / "aligned")
    finished_runs.write_run(other, finished_runs.aligned_data, job="align")
    status, _, errors = runs.run_here("compare", outputs[0], other)
    assert status == 2
    assert "is a run of augment" in errors
    assert "give two runs of one job" in errors
    inside = outputs[0] / "data" / "page.html"
    status, _, errors = runs.run_here("compare", *outputs, "--output", inside)
    assert (status, inside.exists()) == (2, False)
    assert "is inside the run" in errors


def test_the_place_of_a_pair_and_columns_of_one_run_alone_are_no_difference(tmp_path):
    corpora.write_corpus(tmp_path, 40)
    for side in ("en", "de"):
        (tmp_path / f"other.{side}").write_bytes((tmp_path / f"corpus.{side}").read_bytes())
    for name, more in (("corpus", ()), ("other", ("--keep_links", "true"))):
        runs.run_well_here(
            *("augment", "--source_input", tmp_path / f"{name}.en", "--source_lang", "en"),
            *("--target_input", tmp_path / f"{name}.de", "--target_lang", "de", "--workers", "1"),
            *("--output", tmp_path / name, *more),
        )
    page = tmp_path / "page.html"
    out = runs.run_well_here("compare", tmp_path / "corpus", tmp_path / "other", "--output", page)
    assert " 0 with other rows, 0 and 0 in one run alone" in out
    assert "not compared, since one run has no such column: word_links" in out
    assert "no such column: word_links." in page.read_text(encoding="utf-8")


def test_no_file_but_a_page_is_replaced(outputs, tmp_path):
    other = tmp_path / "corpus.txt"
    other.write_text("a text\n")
    status, _, errors = runs.run_here("compare", *outputs, "--output", other)
    assert status == 2
    assert "exists and is not a page of pairweave" in errors
    assert other.read_text() == "a text\n"
    status, _, errors = runs.run_here("compare", *outputs, "--output", tmp_path / "page.html.gz")
    assert status == 2
    assert "a page is not compressed; give a name such as" in errors
    for _ in range(2):
        runs.run_well_here("compare", *outputs, "--output", tmp_path / "page.html")
