"""The job `align`: its Pharaoh file in input order, and refusals before it starts."""

import json
import re

import pyarrow.parquet as pq
import pytest
import sentencepiece

from pairweave.transforms.text.tokens import train_sentencepiece
from tests.makers import corpora, runs

LANGS = ("--source_lang", "en", "--target_lang", "de", "--workers", "1")
SMALL = ("--shard_pairs", "30", "--unit_rows", "25")
PAIRS = 60


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with a corpus and what was fitted on it."""
    directory = tmp_path_factory.mktemp("align")
    corpora.write_corpus(directory, PAIRS)
    pairs = [corpora.sentence(number) for number in range(1_000, 1_020)]
    (directory / "more.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in pairs))
    sides = ("--source_input", "corpus.en", "--target_input", "corpus.de")
    runs.run_well_here("fit", *sides, *LANGS, "--output", "model", cwd=directory)
    return directory


def links(directory, name, *inputs):
    """Align some inputs; return the lines of the Pharaoh file."""
    arguments = ("align", *inputs, *LANGS, *SMALL, "--model", "model", "--output", name)
    runs.run_well_here(*arguments, "--pharaoh", f"{name}.txt", cwd=directory)
    lines = (directory / f"{name}.txt").read_text().split("\n")
    assert lines.pop() == ""
    return lines


def sides(*names):
    return (
        *("--source_input", *(f"{name}.en" for name in names)),
        *("--target_input", *(f"{name}.de" for name in names)),
    )


def test_a_file_given_twice_has_its_lines_twice_each_copy_in_order(directory):
    once = links(directory, "once", *sides("corpus"))
    assert sum(map(bool, once)) > PAIRS
    assert "" in once  # a rejected pair
    assert links(directory, "twice", *sides("corpus", "corpus")) == once * 2


@pytest.mark.slow
def test_another_file_between_the_copies_stays_between_them(directory):
    for side in ("en", "de"):
        lines = (directory / f"corpus.{side}").read_bytes().split(b"\n")[20:31]
        (directory / f"part.{side}").write_bytes(b"\n".join(lines) + b"\n")
    once, part = (links(directory, f"{name}1", *sides(name)) for name in ("corpus", "part"))
    assert once[20:31] == part
    actual = links(directory, "between", *sides("corpus", "part", "corpus"))
    assert actual == [*once, *part, *once]


def test_a_file_of_one_corpus_given_under_two_names_of_corpora(directory):
    (directory / "two.yaml").write_text(
        "corpora:\n- {corpus: z, input: more.tsv}\n- {corpus: a, input: more.tsv}\n"
    )
    once = links(directory, "more", "--input", "more.tsv")
    assert links(directory, "named", "--config", "two.yaml") == once * 2


def without_warnings(errors):
    """Return the lines of messages that are no warnings about the input."""
    return [line for line in errors.splitlines() if not line.startswith("warning: ")]


def test_copies_beside_different_texts_are_refused_before_the_run(directory):
    lines = (directory / "corpus.de").read_bytes().split(b"\n")
    lines[3] = b"ein anderer Satz"
    (directory / "other.de").write_bytes(b"\n".join(lines))
    inputs = ("--source_input", "corpus.en", "corpus.en", "--target_input", "corpus.de", "other.de")
    arguments = ("align", *inputs, *LANGS, *SMALL, "--model", "model", "--output", "differ")
    status, _, errors = runs.run_here(*arguments, "--pharaoh", "differ.txt", cwd=directory)
    assert status == 2
    assert "corpus.en: was given 2 times with different pairs" in errors
    assert len(without_warnings(errors)) == 1
    assert not (directory / "differ").exists()
    # Without a Pharaoh file nothing has to be told apart.
    runs.run_well_here(*arguments, cwd=directory)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere/links.txt", "no file can be written in .*nowhere: No such file"),
        ("more.tsv/links.txt", "no file can be written in .*more.tsv: Not a directory"),
        ("/proc/links.txt", "no file can be written in /proc"),
        ("model", "is a directory"),
        ("corpus.de", "is an input and would be overwritten"),
        ("held_out", "is an input and would be overwritten"),
        ("model/about.json", "is an input and would be overwritten"),
        ("refused/report.html", "the run writes report.html itself"),
        ("refused/rejects/x", "the run writes rejects/x itself"),
        ("refused/symbols.txt", "the run writes symbols.txt itself"),
    ],
)
def test_a_path_that_cannot_be_written_is_found_before_the_run(directory, path, message):
    (directory / "held_out").write_text("no such line\n")
    arguments = ("align", *sides("corpus"), *LANGS, "--model", "model", "--output", "refused")
    words = ("--exclude", "held_out", "--pharaoh", path)
    status, _, errors = runs.run_here(*arguments, *words, cwd=directory)
    assert status == 2
    assert re.search(f"--pharaoh {path}: {message}", errors), errors
    assert len(without_warnings(errors)) == 1
    assert not (directory / "refused").exists()


def test_links_may_lie_in_the_directory_of_the_run(directory):
    arguments = (
        "align",
        *sides("corpus"),
        *LANGS,
        *SMALL,
        "--model",
        "model",
        "--output",
        "within",
    )
    runs.run_well_here(*arguments, "--pharaoh", "within/links.txt", cwd=directory)
    lines = (directory / "within" / "links.txt").read_text().splitlines()
    assert lines == links(directory, "without", *sides("corpus"))
    listed = json.loads((directory / "within" / "_manifest.json").read_text())["files"]
    assert "links.txt" not in {entry["name"] for entry in listed}


@pytest.mark.parametrize("kind", ["given", "trained"])
def test_links_of_pieces_are_counted_as_the_model_counts_them(tmp_path, kind):
    texts = list(zip(*(corpora.sentence(number) for number in range(60)), strict=True))
    for side, lines in zip(("en", "de"), texts, strict=True):
        (tmp_path / f"corpus.{side}").write_text("".join(f"{line}\n" for line in lines))
    path = tmp_path / ("model" if kind == "given" else "out/models/hmm/sentencepiece.model")
    tokens = ("--tokens", "sentencepiece", "--vocabulary", "256")
    if kind == "given":
        path.write_bytes(train_sentencepiece(texts[0], 60))
        tokens = ("--tokens", f"sentencepiece:{path}")
    more = (*tokens, "--output", "out", "--pharaoh", "links")
    runs.run_well_here("align", *sides("corpus"), *LANGS, *more, cwd=tmp_path)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    lines = (tmp_path / "links").read_text().splitlines()
    hidden = 0
    for row in pq.read_table(next((tmp_path / "out").glob("data/part-*"))).to_pylist():
        pieces = [processor.encode(row[side], out_type=str) for side in ("source", "target")]
        links = [(link["source"], link["target"]) for link in row["links"]]
        assert lines[row["line"] - 1] == " ".join(f"{i}-{j}" for i, j in links)
        for side, cut in zip(("source", "target"), pieces, strict=True):
            spans = row[f"{side}_tokens"]
            shown = [row[side][span["start"] : span["end"]] for span in spans]
            assert shown == [piece.removeprefix("\u2581") for piece in cut]
            hidden += shown.count("")
        assert not any("\u2581" in (pieces[0][i], pieces[1][j]) for i, j in links)
    assert hidden > 0
