"""From the run of a job to the files of a table: many rows, other nights, repeated pairs."""

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from deltalake import DeltaTable

from pairweave.pipelines.refresh import assembly, inner_runs
from tests.makers import corpora, nightly, runs

CORPORA = """corpora:
- {corpus: help, input: "help/*.tsv"}
- {corpus: news, source_input: "news/*.en", target_input: "news/*.de"}
- {corpus: web, input: "web/*.tsv"}
"""


def write_web(directory, numbers):
    """Write the file of the corpus web."""
    (directory / "web").mkdir(exist_ok=True)
    lines = ["\t".join(corpora.sentence(number)) + "\n" for number in numbers]
    (directory / "web/a.tsv").write_text("".join(lines))


def numbers_of(directory):
    """Return the numbers of the sentences in the table, with the corpus of each."""
    texts = {corpora.sentence(number)[0]: number for number in range(100)}
    rows = map(json.loads, nightly.rows(directory / "table", left_out=()))
    return {texts[row["source"]]: row["corpus"] for row in rows}


def verify(directory):
    runs.run_well_here("refresh", "verify", "table", cwd=directory)


def test_a_large_file_gives_each_pair_once_in_several_sorted_files(tmp_path, monkeypatch):
    monkeypatch.setattr(assembly, "FILE_ROWS", 25)
    nightly.write_help(tmp_path, "one", range(90))
    nightly.write_help(tmp_path, "two", range(80, 99))
    head = nightly.HEAD.replace("shard_pairs: 60", "shard_pairs: 10")
    nightly.write_config(
        tmp_path, head=head, of='corpora:\n- {corpus: help, input: "help/*.tsv"}\n'
    )
    nightly.good_night(tmp_path)
    assert sorted(numbers_of(tmp_path)) == list(range(99))
    for name, count in (("tagged", 99), ("provenance", 109)):
        paths = DeltaTable(str(tmp_path / "table" / name)).file_uris()
        parts = [pq.read_table(path, partitioning=None).to_pylist() for path in paths]
        assert len(parts) > 3
        assert sum(map(len, parts)) == count
        for rows in parts:
            order = [(row["id"], row.get("content"), row.get("line")) for row in rows]
            assert order == sorted(order)
    verify(tmp_path)


def refused(directory, *words):
    """Run a night that a gate refuses; what its job has made stays."""
    nightly.write_config(directory, of=CORPORA, more="gates: {min_pairs: 1000}\n")
    status, _, errors = nightly.night(directory, *words)
    assert status == 4, errors
    nightly.write_config(directory, of=CORPORA)


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """Return a directory with a table of three corpora."""
    directory = tmp_path_factory.mktemp("first")
    nightly.write_help(directory, "one", range(10))
    nightly.write_news(directory, "a", range(10, 20))
    write_web(directory, range(20, 30))
    nightly.write_config(directory, of=CORPORA)
    nightly.good_night(directory)
    return directory


@pytest.fixture
def directory(first, tmp_path):
    """Return a copy of the directory."""
    return Path(shutil.copytree(first, tmp_path / "copy"))


@pytest.mark.slow
def test_pairs_that_went_while_a_run_waited_come_back_with_its_files(directory):
    nightly.write_help(directory, "two", range(15, 19))
    refused(directory)
    (directory / "help/two.tsv").rename(directory / "two.tsv")
    nightly.write_news(directory, "a", range(10, 15))
    assert "removed 5 pairs; the table has 25" in nightly.good_night(directory)
    (directory / "two.tsv").rename(directory / "help/two.tsv")
    out = nightly.good_night(directory)
    assert "read 4 pairs: 4 new, 0 in the table or repeated, 0 rejected" in out
    expected = dict.fromkeys((*range(10), *range(15, 19)), "help")
    expected |= dict.fromkeys(range(10, 15), "news") | dict.fromkeys(range(20, 30), "web")
    assert numbers_of(directory) == expected
    verify(directory)


def test_pairs_that_went_after_a_run_was_prepared_are_not_known_to_the_next(directory):
    nightly.write_help(directory, "two", range(15, 19))
    nightly.good_night(directory, "--launches", "jobs.json")  # whose job never starts
    (directory / "help/two.tsv").rename(directory / "two.tsv")
    nightly.write_news(directory, "a", range(10, 15))
    nightly.good_night(directory)
    (directory / "two.tsv").rename(directory / "help/two.tsv")
    assert "read 4 pairs: 4 new" in nightly.good_night(directory)
    assert {number for number, corpus in numbers_of(directory).items() if corpus == "help"} == {
        *range(10),
        *range(15, 19),
    }


@pytest.mark.slow
def test_a_run_of_more_files_gives_its_pairs_the_corpus_that_still_has_them(directory, monkeypatch):
    nightly.write_help(directory, "two", range(40, 45))
    nightly.write_news(directory, "b", range(40, 50))
    write_web(directory, [*range(20, 30), *range(42, 60)])
    refused(directory)
    (directory / "help/two.tsv").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(inner_runs, "_start", lambda *_: pytest.fail("the job ran again"))
        nightly.good_night(directory)
    actual = numbers_of(directory)
    assert {number: actual[number] for number in range(40, 60)} == {
        **dict.fromkeys(range(40, 50), "news"),
        **dict.fromkeys(range(50, 60), "web"),
    }
    verify(directory)


@pytest.mark.slow
def test_a_pair_that_is_twice_in_a_new_file_is_at_both_places(directory):
    repeated = "\t".join(corpora.sentence(50))
    nightly.write_help(directory, "two", [50, 51], [repeated, repeated])
    refused(directory)
    (directory / "help/two.tsv").rename(directory / "two.tsv")
    write_web(directory, range(20, 31))
    (directory / "web/b.tsv").write_text(f"{repeated}\n")
    nightly.good_night(directory)  # in which another file brings the pair
    (directory / "two.tsv").rename(directory / "help/two.tsv")
    out = nightly.good_night(directory)
    assert "read 4 pairs: 1 new, 3 in the table or repeated, 0 rejected" in out
    places = [row["id"] for row in map(json.loads, nightly.rows(directory / "table", "provenance"))]
    assert sorted(places.count(key) for key in set(places))[-1] == 4
    assert numbers_of(directory)[50] == "web"
    shutil.rmtree(directory / "web")
    nightly.write_config(directory, of=CORPORA.replace("- {corpus: web", "# "))
    nightly.good_night(directory)
    assert numbers_of(directory)[50] == "help"
    verify(directory)


@pytest.mark.slow
def test_a_pair_that_the_job_rejects_has_its_reason_at_each_of_its_places(tmp_path):
    wrong = "In 1999 it was old\tEs war 1998 alt"
    nightly.write_help(tmp_path, "one", range(10), [wrong])
    nightly.write_help(tmp_path, "two", range(10, 12), [wrong])
    head = nightly.HEAD.replace("augment", "filter").replace("mix: 0", "duplicates: exact")
    nightly.write_config(
        tmp_path, head=head, of='corpora:\n- {corpus: help, input: "help/*.tsv"}\n'
    )
    nightly.good_night(tmp_path)
    rejects = map(json.loads, nightly.rows(tmp_path / "table", "rejects"))
    places = [row for row in rejects if row["source"] == "In 1999 it was old"]
    assert sorted(row["line"] for row in places) == [3, 11]
    assert {row["reason"] for row in places} == {"number_mismatch"}
    assert len({row["detail"] for row in places}) == 1
