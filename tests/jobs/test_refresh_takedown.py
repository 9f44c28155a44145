"""The command ``refresh``: taking pairs down, whatever row they are in and whenever they come."""

import json
import shutil

import pyarrow.parquet as pq
import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from tests.makers import corpora, nightly, runs

SECRET = "Nobody may read this sentence"
OF_HELP = 'corpora:\n- {corpus: help, input: "help/*.tsv"}\n'


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """Return a directory with a corpus of which a reader cannot read some lines, and its table."""
    directory = tmp_path_factory.mktemp("taken")
    bad = [f"{SECRET} one", f"{SECRET} two\x01\tZwei Felder", f"{SECRET} three\t\t\t"]
    nightly.write_help(directory, "one", range(20), bad)
    nightly.write_config(directory, of=OF_HELP)
    nightly.good_night(directory)
    return directory


@pytest.fixture
def directory(first, tmp_path):
    """Return a copy of the first night."""
    copied = tmp_path / "copy"
    shutil.copytree(first, copied)
    return copied


def all_values(table):
    """Return everything that the Parquet files of a table hold, as text."""
    paths = [path for path in table.rglob("*.parquet") if "_delta_log" not in path.parts]
    return "".join(repr(pq.read_table(path, partitioning=None).to_pylist()) for path in paths)


def id_of(directory, number):
    """Return the id of the pair with a number."""
    result = [json.loads(row) for row in nightly.rows(directory / "table")]
    return next(row["id"] for row in result if row["source"] == corpora.sentence(number)[0])


def test_rows_that_could_not_be_read_keep_place_and_reason_but_no_text(first):
    rejects = [json.loads(row) for row in nightly.rows(first / "table", "rejects")]
    assert len(rejects) == 3
    assert {row["stage"] for row in rejects} == {"read"}
    assert {row["line"] for row in rejects} == {21, 22, 23}
    assert SECRET not in all_values(first / "table")
    assert corpora.sentence(3)[0] in all_values(first / "table")


def test_temporary_files_are_in_the_table_where_vacuum_finds_them(directory, monkeypatch):
    from pairweave.pipelines.refresh import night

    def stop(_source, _target, scratch):
        assert scratch.is_relative_to("table/_runs")
        raise KeyboardInterrupt

    monkeypatch.setattr(night, "assemble", stop)
    nightly.write_help(directory, "two", range(30, 33))
    with pytest.raises(KeyboardInterrupt):
        nightly.night(directory)


def test_a_repeated_list_keeps_its_scope_and_makes_no_night(directory):
    taken = id_of(directory, 3)
    (directory / "list.txt").write_text(f"{taken.upper()}\n\n{'0' * 32}\nno such text\n")
    status, out, errors = nightly.night(directory, "--takedown", "list.txt")
    assert status == 0, errors
    assert "removed 1 pair" in out
    assert (
        "list.txt: 2 ids or texts are in no pair of the table or its files (lines 3, 4)" in errors
    )
    before = stones(directory)
    assert before.ids == {taken: ("help",), "0" * 32: None}
    status, out, errors = nightly.night(directory, "--takedown", "list.txt")
    assert status == 0, errors
    assert "nothing has changed since night 2" in out
    assert "in no pair" not in errors
    assert stones(directory) == before


def stones(directory, name="table"):
    """Return the tombstones of the last night."""
    from pairweave.pipelines.refresh.chain import records
    from pairweave.pipelines.refresh.forgetting import tombstone_files

    table = str(directory / name)
    return tombstone_files.read(table, records.latest(table))


def test_a_corpus_that_comes_in_the_night_of_a_takedown_is_in_its_scope(directory):
    taken = id_of(directory, 3)
    (directory / "list.txt").write_text(f"{taken}\n")
    (directory / "more").mkdir()
    (directory / "more/a.tsv").write_text("\t".join(corpora.sentence(3)) + "\n")
    nightly.write_config(directory, of=f'{OF_HELP}- {{corpus: more, input: "more/*.tsv"}}\n')
    nightly.good_night(directory, "--takedown", "list.txt")
    assert stones(directory).ids == {taken: ("help", "more")}
    nightly.good_night(directory, "--migrate")
    assert corpora.sentence(3)[0] not in all_sources(directory)


@pytest.mark.slow
def test_tombstones_go_to_a_new_table_and_stay_in_a_migrated_one(directory):
    taken, source = id_of(directory, 3), corpora.sentence(4)[0]
    (directory / "list.txt").write_text(f"{taken}\n{source}\n")
    runs.run_well_here("refresh", "takedown", "table", "list.txt", "--everywhere", cwd=directory)
    before = stones(directory)
    assert set(before.ids) == {taken}
    assert len(before.texts) == 1
    words = ("--tombstones_of", "table")
    nightly.good_night(directory, *words, table="new")
    assert stones(directory, "new") == before
    assert nightly.rows(directory / "new") == nightly.rows(directory / "table")
    nightly.write_config(directory, of=OF_HELP, more="max_tokens: 30\n")
    nightly.good_night(directory, "--migrate", table="new")
    assert stones(directory, "new") == before
    assert not {corpora.sentence(3)[0], source} & nightly.sources(directory / "new")
    nightly.write_help(directory, "two", range(3, 5))
    nightly.good_night(directory, table="new")
    assert not {corpora.sentence(3)[0], source} & nightly.sources(directory / "new")
    status, _, errors = nightly.night(directory, *words, table="new")
    assert status == 2
    assert "--tombstones_of table: new is there already and has takedowns of its own" in errors


def test_a_text_is_looked_up_as_the_old_rows_show_it(directory, monkeypatch):
    from pairweave.pipelines.refresh import night

    seen = []
    whole = night.take_down

    def noted(given, held, *, everywhere):
        seen.append(held.settings["options"].get("representation"))
        return whole(given, held, everywhere=everywhere)

    monkeypatch.setattr(night, "take_down", noted)
    (directory / "list.txt").write_text(f"{corpora.sentence(3)[0]}\n")
    nightly.write_config(directory, of=OF_HELP, more="representation: html\n")
    nightly.good_night(directory, "--takedown", "list.txt", "--migrate")
    assert seen == [None]
    assert corpora.sentence(3)[0] not in all_sources(directory)


def all_sources(directory):
    return nightly.sources(directory / "table")


def test_a_migration_that_loses_pairs_is_stopped_by_its_gate(directory):
    nightly.write_help(directory, "one", range(100, 120))
    status, _, errors = nightly.night(directory, "--migrate")
    assert status == 4
    assert "max_removed: 1, limit 0.5" in errors


def test_a_table_takes_texts_down_without_its_input_and_after_a_change_of_options(directory):
    table = directory / "table"
    source, target = corpora.sentence(3)[0], corpora.sentence(4)[1]
    (directory / "list.txt").write_text(f"  {source.upper()} \n{target}\nno such text\n")
    (directory / "help/one.tsv").rename(directory / "elsewhere.tsv")
    nightly.write_config(directory, of=OF_HELP, more="max_tokens: 11\n")
    (directory / "help/new.tsv").write_text("\t".join(corpora.sentence(50)) + "\n")
    status, _, errors = nightly.night(directory, "--takedown", "list.txt")
    assert status == 2
    assert "refresh takedown table list.txt takes the list down without a night" in errors
    words = ("refresh", "takedown", "table", "list.txt")
    status, out, errors = runs.run_here(*words, cwd=directory)
    assert (status, out.strip()) == (0, "removed 2 pairs; committed night 2")
    assert "list.txt: 1 ids or texts are in no pair of the table or its files (lines 3)" in errors
    assert len(nightly.ids(table)) == len(nightly.ids(table, "provenance")) == 18
    assert not {source, corpora.sentence(4)[0]} & all_sources(directory)
    assert set(stones(directory).texts.values()) == {("help",), None}
    runs.run_well_here("refresh", "verify", "table", cwd=directory)
    assert "was taken down before" in runs.run_well_here(*words, cwd=directory)
    assert nightly.versions(table) == {"tagged": 1, "provenance": 1, "rejects": 0, "files": 0}
    nightly.write_config(directory, of=OF_HELP)
    (directory / "help/new.tsv").unlink()
    (directory / "elsewhere.tsv").rename(directory / "help/one.tsv")
    nightly.good_night(directory, "--full_check")
    assert not {source, corpora.sentence(4)[0]} & all_sources(directory)


def test_a_takedown_of_a_pair_that_may_come_later_is_committed(directory):
    (directory / "list.txt").write_text(f"{'0' * 32}\n")
    words = ("refresh", "takedown", "table", "list.txt")
    out = runs.run_well_here(*words, cwd=directory)
    assert out == "removed 0 pairs; committed night 2\n"
    assert stones(directory).ids == {"0" * 32: None}
    assert "was taken down before" in runs.run_well_here(*words, cwd=directory)


@pytest.mark.parametrize("by", ["id", "text"])
@pytest.mark.parametrize("way", ["night", "command"])
def test_a_rejected_pair_that_is_taken_down_is_in_no_file(directory, by, way):
    table, rejected = directory / "table", ("three words here", "ein viel zu langer Satz dazu " * 9)
    nightly.write_help(directory, "two", range(30, 33), ["\t".join(rejected).strip()])
    nightly.good_night(directory)
    (row,) = [
        row
        for row in map(json.loads, nightly.rows(table, "rejects"))
        if row["source"] == rejected[0]
    ]
    (directory / "list.txt").write_text(f"{row['id'] if by == 'id' else rejected[0]}\n")
    if way == "night":
        nightly.good_night(directory, "--takedown", "list.txt")
    else:
        runs.run_well_here("refresh", "takedown", "table", "list.txt", cwd=directory)
    assert rejected[0] not in "".join(nightly.rows(table, "rejects"))
    assert rejected[0] in all_values(table)
    runs.run_well_here("refresh", "vacuum", "table", "--retention", 0, cwd=directory)
    assert rejected[0] not in all_values(table)
    runs.run_well_here("refresh", "verify", "table", cwd=directory)


def test_a_takedown_reads_new_files_alone(directory, monkeypatch):
    from pairweave.pipelines.refresh.forgetting import takedown

    source = corpora.sentence(3)[0]
    (directory / "list.txt").write_text(f"{source}\n")
    read = []
    whole = takedown.read_unit
    monkeypatch.setattr(
        takedown, "read_unit", lambda unit, limits: read.append(unit) or whole(unit, limits)
    )
    nightly.write_help(directory, "two", range(30, 33))
    nightly.write_help(directory, "three", range(33, 36))
    nightly.good_night(directory, "--takedown", "list.txt")
    names = sorted(file.name for unit in read for file in unit.parts)
    assert names == ["help/three.tsv", "help/two.tsv"]
    assert source not in all_sources(directory)


SETTINGS = {"options": {}}


@pytest.mark.parametrize(
    ("settings", "name", "kind", "shown", "is_found"),
    [
        (SETTINGS, "tagged", "plain", "a  Red house", True),
        (SETTINGS, "tagged", "plain", "a <a_1>red</a_1> house", False),
        (SETTINGS, "tagged", "tagged", "a <a_1>red</a_1> house", True),
        (SETTINGS, "tagged", "tagged", "a<a_1> red </a_1>house", True),
        (SETTINGS, "tagged", "tagged", "a <a_1>green</a_1> house", False),
        ({"options": {"representation": "html"}}, "tagged", "tagged", "a <b>red</b> house", True),
        ({"options": {"representation": "raw"}}, "tagged", "tagged", "a <x y='1'>red house", True),
        (SETTINGS, "links", None, "A red house", True),
        (SETTINGS, "links", None, "a <i>red</i> house", False),
        (SETTINGS, "rejects", None, "a <i>red</i> house", True),
    ],
)
def test_a_text_is_found_in_rows_whatever_tags_they_show(
    tmp_path, settings, name, kind, shown, is_found
):
    import pyarrow as pa

    from pairweave.pipelines.refresh.chain import table_names, tables
    from pairweave.pipelines.refresh.forgetting.table_texts import WantedTexts

    partition = dict.fromkeys(table_names.PARTITIONS[name], "x") | ({"kind": kind} if kind else {})
    for side in ("source", "target"):
        rows = pa.table({"id": ["0" * 32, "1" * 32], "source": ["other", ""], "target": ["", ""]})
        rows = rows.set_column(1 + (side == "target"), side, pa.array([None, shown], pa.string()))
        entry = tables.write_file(str(tmp_path), name, rows, partition)
        main = "tagged" if name == "rejects" else name
        wanted = WantedTexts(["something", "a red house"], main, settings)
        actual = list(wanted.in_rows(str(tmp_path), name, entry))
        assert actual == ([(wanted.keys[1], "1" * 32)] if is_found else [])
