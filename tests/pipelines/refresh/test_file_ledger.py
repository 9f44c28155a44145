"""Which input files are read again: by content, time and licence."""

import json
import os

import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from pairweave.pipelines.refresh import file_ledger
from pairweave.transforms.units import CorpusInput
from tests.makers import corpora, nightly

HELP = 'corpora:\n- {corpus: help, input: "help/*.tsv"}\n'


@pytest.fixture
def directory(tmp_path):
    """Return a directory with a table of one file of two pairs, of the time 1,000 s."""
    write(tmp_path, 0, 1)
    nightly.write_config(tmp_path, of=HELP)
    nightly.good_night(tmp_path)
    return tmp_path


def write(directory, *numbers, nanoseconds=0):
    """Write a file of sentences, whose size depends on the numbers alone, not on their order."""
    nightly.write_help(directory, "one", numbers)
    stamp = 1_000_000_000_000 + nanoseconds
    os.utime(directory / "help/one.tsv", ns=(stamp, stamp))


def lines_of(directory):
    """Return the line on which provenance has each source text."""
    table = directory / "table"
    texts = {row["id"]: row["source"] for row in map(json.loads, nightly.rows(table))}
    places = map(json.loads, nightly.rows(table, "provenance"))
    return {texts[place["id"]]: place["line"] for place in places}


def test_a_file_of_equal_size_and_time_is_read_by_a_full_check_alone(directory):
    write(directory, 1, 0)
    first, second = (corpora.sentence(number)[0] for number in (0, 1))
    assert "nothing has changed" in nightly.good_night(directory)
    assert lines_of(directory) == {first: 1, second: 2}
    assert "1 new or changed file," in nightly.good_night(directory, "--full_check")
    assert lines_of(directory) == {first: 2, second: 1}


def test_a_migration_reads_every_file_as_it_is(directory):
    write(directory, 1, 0)
    assert "read 2 pairs: 2 new" in nightly.good_night(directory, "--migrate")
    assert "nothing has changed" in nightly.good_night(directory, "--full_check")


@pytest.mark.parametrize("names", [("input",), ("source_input", "target_input", "links")])
def test_a_corpus_whose_files_move_is_read_as_before(names):
    def reading(**given):
        values = {name: (f"here/{name}",) for name in names}
        return file_ledger.reading_of(CorpusInput("en", "de", **{**values, **given}))

    for name in names:
        assert reading(**{name: ("there/x",)}) == reading()
    assert reading(tags_differ="keep") != reading()


def licences(directory):
    """Return the licence of each corpus in the table of files."""
    rows = map(json.loads, nightly.rows(directory / "table", "files", left_out=()))
    return {row["corpus"]: row["licence"] for row in rows}


@pytest.mark.slow
def test_a_changed_licence_is_in_the_table_and_changes_no_row(tmp_path):
    def config(outer, own):
        more = f"licence: {outer}\n"
        licence = f", licence: {own}" if own else ""
        of = f'{HELP}- {{corpus: more, input: "more.tsv"{licence}}}\n'
        nightly.write_config(tmp_path, more=more, of=of)

    nightly.write_help(tmp_path, "one", range(3))
    (tmp_path / "more.tsv").write_text("\t".join(corpora.sentence(5)) + "\n")
    config("mit", "cc-by-4.0")
    nightly.good_night(tmp_path)
    rows = nightly.rows(tmp_path / "table", left_out=())
    assert licences(tmp_path) == {"help": "mit", "more": "cc-by-4.0"}
    config("mit", "cc0-1.0")
    nightly.good_night(tmp_path)
    assert licences(tmp_path) == {"help": "mit", "more": "cc0-1.0"}
    config("gpl", None)
    nightly.good_night(tmp_path)
    assert licences(tmp_path) == {"help": "gpl", "more": "gpl"}
    assert nightly.rows(tmp_path / "table", left_out=()) == rows
