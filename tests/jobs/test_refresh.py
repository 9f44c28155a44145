"""The command ``refresh``: nights of a table whose files come, change, move and go."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from pairweave.pipelines.refresh.chain import records
from tests.makers import corpora, nightly, odd_servers, runs


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """Return a directory with two corpora that share 20 pairs, and their table."""
    directory = tmp_path_factory.mktemp("nights")
    nightly.write_news(directory, "a", range(100))
    bad = ["\tohne Quelle", "one word\tein sehr viel zu langer Satz auf der anderen Seite"]
    nightly.write_help(directory, "one", range(80, 140), [*bad, bad[1]])
    nightly.write_config(directory)
    nightly.good_night(directory)
    return directory


@pytest.fixture
def directory(first, tmp_path):
    """Return a copy of the first night, whose files have their times."""
    copied = tmp_path / "copy"
    shutil.copytree(first, copied)
    return copied


def anew(directory):
    """Return the rows that all files of tonight give at once."""
    nightly.good_night(directory, table="at_once")
    table = directory / "at_once"
    return {name: nightly.rows(table, name) for name in ("tagged", "rejects", "provenance")}


def check_as_anew(directory):
    """Check that a table has the rows that its files give at once, by another table of them."""
    expected = anew(directory)
    for name, rows in expected.items():
        assert nightly.rows(directory / "table", name) == rows, name
    files = [nightly.rows(directory / place, "files") for place in ("table", "at_once")]
    assert files[0] == files[1]


def test_the_first_night_makes_a_table_with_every_pair_once(first):
    table = first / "table"
    assert len(nightly.rows(table)) == 140
    assert len(nightly.rows(table, "provenance")) == 160
    assert nightly.versions(table) == dict.fromkeys(("tagged", "provenance", "rejects", "files"), 0)
    reasons = [json.loads(row)["reason"] for row in nightly.rows(table, "rejects")]
    assert sorted(reasons) == ["empty_source", "length_ratio", "length_ratio"]
    assert not list((table / "_runs").iterdir())


def test_a_night_without_a_change_writes_no_version(directory):
    before = runs.tree_digests(directory / "table")
    assert "nothing has changed since night 1" in nightly.good_night(directory)
    assert "nothing has changed since night 1" in nightly.good_night(directory, "--full_check")
    assert runs.tree_digests(directory / "table") == before


def test_a_night_without_a_change_loads_no_engine_and_no_aligner(directory):
    words = ["refresh", "--config", "nightly.yaml", "--output", "table"]
    code = (
        "import sys; from pairweave.pipelines.cli import main; "
        f"status = main({words}); "
        "loaded = {'apache_beam', 'torch', 'pairweave.models.hmm.hmm'} & sys.modules.keys(); "
        "print(status, loaded)"
    )
    environment = {**os.environ, "PYTHONPATH": str(runs.ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "0 set()"


def test_a_new_file_adds_its_new_pairs_alone_in_one_version(directory):
    table = directory / "table"
    before = set(nightly.rows(table, left_out=()))
    nightly.write_help(directory, "two", range(130, 170))
    out = nightly.good_night(directory)
    assert "read 40 pairs: 30 new, 10 in the table or repeated, 0 rejected" in out
    after = set(nightly.rows(table, left_out=()))
    assert before < after
    assert {json.loads(row)["night"] for row in after - before} == {2}
    assert nightly.versions(table) == {"tagged": 1, "provenance": 1, "rejects": 0, "files": 1}
    assert nightly.ids(table, version=0) < nightly.ids(table)
    check_as_anew(directory)


def test_a_changed_file_loses_and_gains_single_pairs(directory):
    table = directory / "table"
    nightly.write_news(directory, "a", [*range(5, 100), *range(200, 210)])
    assert "105 pairs: 10 new, 95 in the table" in nightly.good_night(directory)
    assert len(nightly.rows(table)) == 145
    assert corpora.sentence(2)[0] not in nightly.sources(table)
    assert corpora.sentence(2)[0] in nightly.sources(table, version=0)
    check_as_anew(directory)


def test_a_moved_file_changes_no_row(directory):
    before = nightly.versions(directory / "table")
    for side in ("en", "de"):
        (directory / f"news/a.{side}").rename(directory / f"news/z.{side}")
    assert "no row changes; noted 1 file" in nightly.good_night(directory)
    assert nightly.versions(directory / "table") == {**before, "files": 1}
    files = [json.loads(row) for row in nightly.rows(directory / "table", "files", left_out=())]
    assert ["news/z.en", "news/z.de"] in [row["names"] for row in files]
    check_as_anew(directory)


def test_a_file_written_again_with_the_same_text_is_read_once(directory):
    os.utime(directory / "help/one.tsv", (1, 1))
    assert "no row changes; noted 1 file" in nightly.good_night(directory)
    assert "nothing has changed since night 2" in nightly.good_night(directory)
    assert nightly.versions(directory / "table")["files"] == 0


def test_a_pair_in_two_corpora_survives_the_withdrawal_of_one(directory):
    table = directory / "table"
    nightly.write_config(directory, of=nightly.CORPORA.replace("- {corpus: news", "# "))
    assert "removed 80 pairs; the table has 60" in accepted(directory)
    rows = [json.loads(row) for row in nightly.rows(table, left_out=("night",))]
    assert {row["corpus"] for row in rows} == {"help"}
    assert corpora.sentence(90)[0] in {row["source"] for row in rows}
    check_as_anew(directory)


@pytest.mark.slow
def test_a_row_keeps_nothing_that_a_withdrawn_corpus_gave(tmp_path):
    def write(name, lines):
        (tmp_path / f"{name}.tsv").write_text("".join("\t".join(line) + "\n" for line in lines))

    def config(*names):
        lines = [
            f"- {{corpus: {name}, input: '{name}*.tsv', links_field: '3'}}\n" for name in names
        ]
        head = nightly.HEAD.replace("augment", "align").replace("mix: 0", "aligner: given")
        nightly.write_config(tmp_path, head=head, of="corpora:\n" + "".join(lines))

    def links():
        rows = [json.loads(row) for row in nightly.rows(tmp_path / "table", "links", left_out=())]
        return {
            row["source"]: (row["corpus"], row["night"], row["links"][0]["target"]) for row in rows
        }

    config("a", "b", "c")
    write("a", [["x y", "u v", "0-0"], ["only a", "nur a", "0-0"], ["p q", "r s", "0-0"]])
    write("b", [["x y", "u v", "0-1"], ["in b", "im b", "0-1"], ["p", "r", "0-0", "x"]])
    write("c", [["p q", "r s", "0-1"]])
    nightly.good_night(tmp_path)
    assert links()["x y"] == links()["p q"] == ("a", 1, 0)
    config("b", "c")
    assert "removed 3 pairs; the table has 3" in accepted(tmp_path)
    assert links() == {"x y": ("b", 2, 1), "p q": ("c", 2, 1), "in b": ("b", 1, 1)}
    runs.run_well_here("refresh", "verify", "table", cwd=tmp_path)
    nightly.good_night(tmp_path, table="at_once")
    for name in ("links", "rejects", "provenance"):
        assert nightly.rows(tmp_path / "table", name) == nightly.rows(tmp_path / "at_once", name)


def accepted(directory, *words):
    return nightly.good_night(directory, "--accept", "withdrawn by its owner", *words)


@pytest.mark.slow
def test_a_file_that_comes_back_gives_the_same_rows(directory):
    table = directory / "table"
    before = nightly.rows(table)
    kept = (directory / "help/one.tsv").read_bytes()
    nightly.write_help(directory, "one", range(139, 140))
    nightly.good_night(directory)
    assert len(nightly.rows(table)) == 101
    (directory / "help/one.tsv").write_bytes(kept)
    nightly.good_night(directory)
    assert nightly.rows(table) == before
    check_as_anew(directory)


def test_a_file_with_the_content_of_another_is_left_out_and_named(directory):
    shutil.copy(directory / "help/one.tsv", directory / "help/same.tsv")
    assert "left out, same content as another" in nightly.good_night(directory, "--plan_only")
    assert "nothing has changed" in nightly.good_night(directory)


def test_the_plan_says_what_is_new_and_writes_nothing(directory):
    before = runs.tree_digests(directory / "table")
    nightly.write_help(directory, "two", range(3))
    nightly.write_news(directory, "a", range(90))
    out = nightly.good_night(directory, "--plan_only")
    lines = out.splitlines()
    assert lines[0] == "input files: 1 unchanged, 1 new, 1 changed, 0 moved, 1 gone or changed"
    named = [line.split(": ") for line in lines[1:]]
    assert named == [
        ["  new", "news/a.en news/a.de"],
        ["  new", "help/two.tsv"],
        ["  gone", "news/a.en news/a.de"],
    ]
    assert not (directory / "table/_runs").exists() or not list(
        (directory / "table/_runs").iterdir()
    )
    assert runs.tree_digests(directory / "table") == before


def test_what_does_not_fit_a_table_is_refused_by_name(directory):
    cases = {
        "mix: 0.5\n": "mix was 0.0, is now 0.5",
        "max_tokens: 20\n": "max_tokens was the default, is now 20",
    }
    for line, message in cases.items():
        head = nightly.HEAD.replace("mix: 0\n", "") + ("" if "mix" in line else "mix: 0\n") + line
        nightly.write_config(directory, head=head)
        status, _, errors = nightly.night(directory)
        assert status == 2
        assert message in errors
        assert "--migrate" in errors
    assert nightly.versions(directory / "table")["tagged"] == 0


@pytest.mark.parametrize(
    ("head", "of", "message"),
    [
        ("source_lang: en\n", "", "nightly.yaml: expected the options of a job and the key job"),
        ("steps: []\n", "", "has steps, so it is a recipe; run it with: pairweave run --config"),
        (
            "job: fit\n",
            "",
            "nightly.yaml: job must be augment, suggest, align or filter, got 'fit'",
        ),
        ("job: augment\ninput: x.tsv\n", "", "every corpus needs a name"),
        ("job: augment\ncorpora: []\n", "", "corpora: expected at least one corpus, got none"),
        ("job: augment\nfrom_run: [x]\n", "", "from_run: the pairs of a run keep the corpora"),
        ("job: filter\nselect_share: 0.5\n", "", "select_share: it compares a pair with all"),
        ("job: filter\nduplicates: near\n", "", "duplicates: near: a pair would depend on"),
        (
            "job: augment\nkeep_orign: true\n",
            "",
            "unknown key keep_orign, did you mean keep_origin",
        ),
        (nightly.HEAD + "gates: {max_rejectd: 1}\n", nightly.CORPORA, "gates.max_rejectd: extra"),
        (nightly.HEAD + "gates: {max_removed: 2}\n", nightly.CORPORA, "gates.max_removed: input"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_by_name(tmp_path, head, of, message):
    (tmp_path / "nightly.yaml").write_text(head + of)
    status, _, errors = nightly.night(tmp_path)
    assert status == 2
    assert message in errors
    assert not (tmp_path / "table").exists()


def test_a_glob_that_matches_nothing_withdraws_nothing(directory):
    shutil.rmtree(directory / "help")
    status, _, errors = nightly.night(directory)
    assert status == 2
    assert "help/*.tsv: no file has this name or matches this pattern" in errors


def test_a_takedown_removes_a_pair_by_id_or_text_from_history_too(directory):
    table = directory / "table"
    gone = {number: corpora.sentence(number) for number in (3, 90, 120)}
    by_source = {json.loads(row)["source"]: json.loads(row)["id"] for row in nightly.rows(table)}
    lines = [by_source[gone[3][0]], gone[90][1].upper(), f"  {gone[120][0]} "]
    (directory / "list.txt").write_text("".join(f"{line}\n" for line in lines))
    out = nightly.good_night(directory, "--takedown", "list.txt")
    assert "removed 3 pairs; the table has 137" in out
    assert not {source for source, _ in gone.values()} & nightly.sources(table)
    assert found_in_files(table, gone) == {3, 90, 120}
    runs.run_well_here("refresh", "vacuum", "table", "--retention", 0, cwd=directory)
    assert found_in_files(table, gone) == set()
    runs.run_well_here("refresh", "verify", "table", cwd=directory)


def found_in_files(table, pairs):
    """Return the numbers of the pairs with a text in a file of the table, whatever its format."""
    import pyarrow.parquet as pq

    result = set()
    for path in table.rglob("*"):
        if not path.is_file():
            continue
        data = path.read_bytes()
        if path.suffix == ".parquet" and "_delta_log" not in path.parts:
            data = repr(pq.read_table(path, partitioning=None).to_pylist()).encode()
        result |= {
            number
            for number, sides in pairs.items()
            if any(side.encode() in data for side in sides)
        }
    return result


@pytest.mark.parametrize("everywhere", [False, True])
def test_a_tombstone_keeps_a_pair_out_of_its_corpora_or_of_all(directory, everywhere):
    table = directory / "table"
    source = corpora.sentence(3)[0]
    (directory / "list.txt").write_text(f"{source}\n")
    words = ("--everywhere",) if everywhere else ()
    nightly.good_night(directory, "--takedown", "list.txt", *words)
    nightly.write_news(directory, "a", [*range(100), 300])
    nightly.good_night(directory)
    assert source not in nightly.sources(table)
    assert corpora.sentence(300)[0] in nightly.sources(table)
    nightly.write_help(directory, "two", range(3, 5))
    nightly.good_night(directory)
    assert (source in nightly.sources(table)) is not everywhere


def test_a_failed_gate_commits_nothing_and_shows_samples(directory):
    table = directory / "table"
    bad = [f"one {n}\tein sehr viel zu langer Satz auf der anderen Seite {n}" for n in range(9)]
    nightly.write_help(directory, "two", range(300, 303), bad)
    nightly.write_config(directory, more="gates: {max_rejected: 0.5, max_reason: {too_long: 0}}\n")
    status, _, errors = nightly.night(directory, "--metrics", "m.prom")
    assert status == 4
    assert "max_rejected: 0.75, limit 0.5" in errors
    assert "rejected as length_ratio, for example:" in errors
    assert re.search(r"help line \d+: 'one \d' \| 'ein sehr viel zu langer Satz", errors)
    assert nightly.versions(table)["tagged"] == 0
    assert "pairweave_refresh_committed 0" in (directory / "m.prom").read_text()
    nightly.good_night(directory, "--accept", "a bad delivery that we want", "--metrics", "m.prom")
    assert "pairweave_refresh_committed 1" in (directory / "m.prom").read_text()
    assert (directory / "m.prom").read_text().endswith("# EOF\n")
    history = runs.run_well_here("refresh", "history", "table", cwd=directory)
    assert "accepted max_rejected: a bad delivery that we want" in history


def test_a_night_whose_new_files_have_findings_fails_their_gate(directory):
    tagged = [f"<b>Wort {n}</b> allein\t<b>word {n}</b> alone" for n in range(9)]
    nightly.write_help(directory, "two", range(300, 303), tagged)
    nightly.write_config(directory, more="gates: {max_findings: {inline_tags: 8}}\n")
    status, _, errors = nightly.night(directory)
    assert status == 4
    assert "max_findings.inline_tags: 9, limit 8" in errors
    said = nightly.good_night(directory, "--accept", "tags are text here")
    assert "lines with findings: inline_tags 9" in said


def test_files_that_are_taken_away_after_a_failed_gate_count_for_no_gate(directory):
    tagged = [f"<b>Wort {n}</b> allein\t<b>word {n}</b> alone" for n in range(9)]
    nightly.write_help(directory, "two", range(300, 310))
    nightly.write_help(directory, "three", range(0), tagged)
    limits = "gates: {max_findings: {inline_tags: 0}, min_likelihood: -1000}\n"
    nightly.write_config(directory, more=limits)
    assert nightly.night(directory)[0] == 4
    (directory / "help" / "three.tsv").unlink()
    assert "findings" not in nightly.good_night(directory)
    finished = records.latest(str(directory / "table")).metrics["new"]
    assert finished["pairs"] == 10
    shutil.rmtree(directory / "table")
    (directory / "help" / "two.tsv").rename(directory / "two.tsv")
    nightly.good_night(directory)
    (directory / "two.tsv").rename(directory / "help" / "two.tsv")
    nightly.good_night(directory)
    undisturbed = records.latest(str(directory / "table")).metrics["new"]
    assert finished == undisturbed


def test_a_gate_for_findings_is_not_judged_by_a_look_at_fewer_lines(directory):
    tagged = [f"<b>Wort {n}</b> allein\t<b>word {n}</b> alone" for n in range(9)]
    nightly.write_help(directory, "two", range(300, 303), tagged)
    nightly.write_config(directory, more="gates: {min_pairs: 5000}\ncheck: none\n")
    assert nightly.night(directory)[0] == 4
    nightly.write_config(directory, more="gates: {max_findings: {inline_tags: 0}}\ncheck: all\n")
    status, _, errors = nightly.night(directory)
    assert status == 4
    assert "max_findings.inline_tags: 9, limit 0" in errors
    nightly.write_config(directory, more="gates: {max_findings: {inline_tags: 0}}\ncheck: none\n")
    status, _, errors = nightly.night(directory)
    assert status == 2
    assert "nightly.yaml: gates.max_findings: limits what a look" in errors


def test_a_withdrawal_of_most_pairs_needs_a_reason(directory):
    nightly.write_news(directory, "a", range(5))
    nightly.write_help(directory, "one", range(5))
    status, _, errors = nightly.night(directory)
    assert status == 4
    assert "max_removed: 0.964286, limit 0.5" in errors


def test_a_night_that_was_stopped_after_its_decision_is_finished_by_the_next(
    directory, monkeypatch
):
    from pairweave.pipelines.refresh.chain import tables

    nightly.write_help(directory, "two", range(150, 160))
    whole = tables._commit

    def stop(table, name, record):
        if name != "files":
            raise KeyboardInterrupt
        whole(table, name, record)

    monkeypatch.setattr(tables, "_commit", stop)
    with pytest.raises(KeyboardInterrupt):
        nightly.night(directory)
    monkeypatch.undo()
    assert nightly.versions(directory / "table") == {
        **dict.fromkeys(("tagged", "provenance", "rejects"), 0),
        "files": 1,
    }
    assert "nothing has changed since night 2" in nightly.good_night(directory)
    assert nightly.versions(directory / "table")["tagged"] == 1
    check_as_anew(directory)


@pytest.mark.slow
def test_of_two_nights_at_once_one_wins_and_the_other_uses_its_run_again(directory, monkeypatch):
    from pairweave.pipelines.refresh import inner_runs

    nightly.write_help(directory, "two", range(150, 160))
    create = records.create
    calls = []

    def late(table, record):
        if not calls:
            calls.append(record.night)
            (directory / "help/two.tsv").rename(directory / "two.tsv")
            nightly.write_help(directory, "three", range(155, 190))
            nightly.good_night(directory)
            (directory / "two.tsv").rename(directory / "help/two.tsv")
        return create(table, record)

    monkeypatch.setattr(records, "create", late)
    status, _, errors = nightly.night(directory)
    assert status == 1
    assert "another night was committed by another refresh while this one ran" in errors
    monkeypatch.setattr(inner_runs, "_start", lambda *_: pytest.fail("the job ran again"))
    out = nightly.good_night(directory)
    assert "read 10 pairs: 5 new, 5 in the table or repeated" in out
    assert nightly.versions(directory / "table")["tagged"] == 2
    monkeypatch.undo()
    check_as_anew(directory)


def test_a_table_that_another_program_wrote_to_is_refused(directory):
    from deltalake import DeltaTable

    DeltaTable(str(directory / "table/tagged")).delete("id = 'none'")
    DeltaTable(str(directory / "table/tagged")).delete("kind = 'plain'")
    nightly.write_help(directory, "two", range(2))
    status, _, errors = nightly.night(directory)
    assert status == 2
    assert "another program has written to it" in errors


def test_a_migration_replaces_all_rows_in_one_version(directory):
    table = directory / "table"
    nightly.write_config(directory, more="max_tokens: 11\n")
    out = nightly.good_night(directory, "--plan_only")
    assert "--migrate would make all rows anew: 163 pairs to read" in out
    nightly.good_night(directory, "--migrate", "--accept", "fewer tokens")
    assert len(nightly.rows(table, version=0)) == 140
    versions = dict.fromkeys(("tagged", "provenance", "rejects"), 1)
    assert nightly.versions(table) == {**versions, "files": 0}
    assert len(nightly.rows(table, "files", left_out=())) == 2
    check_as_anew(directory)
    assert "nothing has changed since night 2" in nightly.good_night(directory)


@pytest.mark.slow
def test_compact_joins_files_and_changes_no_row(directory):
    table = directory / "table"
    for number in range(3):
        nightly.write_help(directory, f"n{number}", range(200 + number, 203 + number))
        nightly.good_night(directory)
    before = {name: nightly.rows(table, name, left_out=()) for name in ("tagged", "provenance")}
    out = runs.run_well_here("refresh", "compact", "table", cwd=directory)
    assert "8 files became 2" in out
    for name, rows in before.items():
        assert nightly.rows(table, name, left_out=()) == rows
    assert "nothing to join" in runs.run_well_here("refresh", "compact", "table", cwd=directory)
    runs.run_well_here("refresh", "verify", "table", cwd=directory)
    nightly.write_help(directory, "more", range(300, 310))
    nightly.good_night(directory)
    check_as_anew(directory)


def test_verify_names_what_is_missing_or_differs(directory):
    table = directory / "table"
    assert "4 files" in runs.run_well_here("refresh", "verify", "table", cwd=directory)
    tagged = next((table / "tagged").rglob("part-*.parquet"))
    tagged.write_bytes(tagged.read_bytes()[:-1] + b"x")
    next((table / "rejects").rglob("part-*.parquet")).unlink()
    status, _, errors = runs.run_here("refresh", "verify", "table", cwd=directory)
    assert status == 1
    assert "its content differs from what was written" in errors
    assert "cannot be read: No such file or directory" in errors


def test_verify_compares_rows_with_provenance(directory, monkeypatch):
    import pyarrow as pa
    import pyarrow.parquet as pq

    from pairweave.pipelines.refresh.chain import hashed_reads, tables
    from pairweave.pipelines.refresh.upkeep import verify

    table = str(directory / "table")
    last = records.latest(table)
    live = {name: tables.current(table, name, last) for name in ("tagged", "provenance")}
    assert verify._row_problems(table, last, live) == []

    monkeypatch.setattr(hashed_reads, "read", lambda path, _: Path(path).read_bytes())

    def damaged(name, change):
        """Return the problems of a table with other rows in its first file."""
        path = directory / "table" / name / live[name][0]["path"]
        whole = path.read_bytes()
        pq.write_table(change(pq.read_table(path, partitioning=None)), path)
        actual = verify._row_problems(table, last, live)
        path.write_bytes(whole)
        return actual

    def renamed(rows, column, value):
        place = rows.schema.get_field_index(column)
        return rows.set_column(place, column, pa.array([value] * rows.num_rows, pa.string()))

    (lost,) = damaged("provenance", lambda rows: rows.slice(1))
    assert re.fullmatch("1 pairs of tagged have no place in provenance: [0-9a-f]{32}", lost)
    (left,) = damaged("tagged", lambda rows: rows.slice(5))
    assert re.fullmatch(r"5 pairs of provenance have no row in tagged: (\w{32}, ){3}\.\.\.", left)
    (moved,) = damaged("tagged", lambda rows: renamed(rows, "corpus", "news"))
    assert moved.startswith("tagged: 40 pairs are under a corpus in which provenance does not")
    (unknown,) = damaged("provenance", lambda rows: renamed(rows, "content", "0" * 16))
    assert unknown == "provenance: content 0000000000000000 belongs to no input file"


def test_a_night_that_is_being_committed_is_not_verified_and_not_exported(directory, monkeypatch):
    from pairweave.pipelines.refresh.chain import tables

    before = nightly.ids(directory / "table")
    nightly.write_help(directory, "two", range(150, 160))

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(tables, "_commit", stop)
    with pytest.raises(KeyboardInterrupt):
        nightly.night(directory)
    monkeypatch.undo()
    status, out, errors = runs.run_here("refresh", "verify", "table", cwd=directory)
    assert (status, out.startswith("4 files")) == (1, True)
    assert "night 2 is not committed to all tables" in errors
    runs.run_well_here("refresh", "export", "table", "--output", "out", cwd=directory)
    assert {row["id"] for row in runs.rows_of(directory / "out")} == before


def test_an_export_keeps_a_vacuum_out_and_names_a_file_that_vanishes(directory, monkeypatch):
    from pairweave.pipelines.refresh.chain import tables

    whole = tables.read_rows
    refused = []

    def vacuumed(table, name, entry, columns=None):
        if columns is None:
            words = ("refresh", "vacuum", "table", "--retention", 0)
            refused.append(runs.run_here(*words, cwd=directory))
            (directory / "table" / name / entry["path"]).unlink(missing_ok=True)
        return whole(table, name, entry, columns)

    monkeypatch.setattr(tables, "read_rows", vacuumed)
    words = ("refresh", "export", "table", "--output", "out")
    status, _, errors = runs.run_here(*words, cwd=directory)
    assert status == 2
    assert "was deleted while the version of night 1 was exported" in errors
    assert refused[0][0] == 1
    assert "a refresh or its compact, verify or export uses files of it now" in refused[0][2]


def test_status_and_history_say_what_happened(directory):
    nightly.write_help(directory, "two", range(150, 160))
    nightly.good_night(directory)
    status = runs.run_well_here("refresh", "status", "table", cwd=directory)
    assert "augment, night 2" in status
    assert "150 pairs of 3 inputs" in status
    history = runs.run_well_here("refresh", "history", "table", cwd=directory)
    assert "+140 -0 = 140 pairs" in history
    assert "+10 -0 = 150 pairs; versions files 1, provenance 1, tagged 1" in history
    actual = json.loads(
        runs.run_well_here("refresh", "status", "table", "--format", "json", cwd=directory)
    )
    assert actual["metrics"]["table"] == {"before": 140, "pairs": 150}
    status, _, errors = runs.run_here("refresh", "status", "nowhere", cwd=directory)
    assert status == 2
    assert "there is no table here" in errors


def test_a_model_file_that_changes_changes_the_rows(tmp_path):
    (tmp_path / "dev.txt").write_text(corpora.sentence(500)[0] + "\n")
    nightly.write_help(tmp_path, "one", range(20))
    of = 'corpora:\n- {corpus: help, input: "help/*.tsv"}\n'
    nightly.write_config(tmp_path, more="exclude: dev.txt\n", of=of)
    nightly.good_night(tmp_path)
    (tmp_path / "dev.txt").rename(tmp_path / "moved.txt")
    nightly.write_config(tmp_path, more="exclude: moved.txt\n", of=of)
    assert "nothing has changed" in nightly.good_night(tmp_path)
    (tmp_path / "moved.txt").write_text(corpora.sentence(5)[0] + "\n")
    status, _, errors = nightly.night(tmp_path)
    assert status == 2
    assert "exclude was [" in errors
    nightly.good_night(tmp_path, "--migrate")
    assert corpora.sentence(5)[0] not in nightly.sources(tmp_path / "table")


def test_an_export_mixes_corpora_by_weight_and_temperature(directory):
    def exported(name, *words):
        runs.run_well_here("refresh", "export", "table", "--output", name, *words, cwd=directory)
        return [(row["corpus"], row["id"]) for row in runs.rows_of(directory / name)]

    whole = exported("whole", "--shard_rows", 50)
    assert len(list((directory / "whole/data").iterdir())) == 3
    assert {key for _, key in whole} == nightly.ids(directory / "table")
    half = exported("half", "--weights", "news=0.5")
    assert {key for corpus, key in half if corpus == "help"} == {
        key for corpus, key in whole if corpus == "help"
    }
    few = exported("few", "--weights", "news=0.25")
    assert set(few) < set(half) < set(whole)
    even = exported("even", "--temperature", 100)
    counts = [sum(corpus == name for corpus, _ in even) for name in ("help", "news")]
    assert abs(counts[0] - counts[1]) < 20
    assert {corpus for corpus, _ in exported("one", "--weights", "news=0")} == {"help"}
    for words, message in (
        (("--weights", "nws=1"), "--weights nws: the table has help, news"),
        (("--weights", "news"), "expected CORPUS=NUMBER, such as news=2"),
        (("--night", 7), "--night 7: table has no such night"),
        (("--weights", "news=0", "help=0"), "all are 0"),
    ):
        words = ("refresh", "export", "table", "--output", "bad", *words)
        status, _, errors = runs.run_here(*words, cwd=directory)
        assert status == 2
        assert message in errors


def test_an_export_of_an_earlier_night_has_its_rows(directory):
    before = nightly.ids(directory / "table")
    nightly.write_help(directory, "two", range(150, 160))
    nightly.good_night(directory)
    words = ("refresh", "export", "table", "--output", "old", "--night", 1)
    runs.run_well_here(*words, cwd=directory)
    assert {row["id"] for row in runs.rows_of(directory / "old")} == before


def test_a_trainer_that_goes_on_gets_what_came_and_what_went(directory):
    table = directory / "table"
    before = nightly.ids(table)
    nightly.write_help(directory, "two", range(150, 160))
    nightly.write_news(directory, "a", range(3, 100))
    nightly.good_night(directory)
    words = ("refresh", "export", "table", "--since")
    runs.run_well_here(*words, 1, "--output", "news-of-2", cwd=directory)
    now = nightly.ids(table)
    assert {row["id"] for row in runs.rows_of(directory / "news-of-2")} == now - before
    removed = (directory / "news-of-2/removed.txt").read_text().split()
    assert removed == sorted(before - now)
    assert (len(now - before), len(removed)) == (10, 3)
    for night in (2, 7):
        status, _, errors = runs.run_here(*words, night, "--output", "none", cwd=directory)
        assert status == 2
        assert f"night {night}" in errors or "has no such night" in errors


@pytest.mark.slow
def test_languages_have_their_own_partitions_and_a_gate_for_their_mix(tmp_path):
    def config(drift):
        gates = f"gates: {{min_compared: 5, max_language_drift: {drift}}}\n"
        of = "corpora:\n"
        for language in ("de", "nl"):
            of += f"- {{corpus: {language}, target_lang: {language}, input: '{language}*/*.tsv'}}\n"
        head = nightly.HEAD.replace("target_lang: de\n", "")
        nightly.write_config(tmp_path, head=head, more=gates, of=of)

    def drop(language, name, numbers):
        (tmp_path / language).mkdir(exist_ok=True)
        nightly.write_help(tmp_path, name, numbers)
        (tmp_path / f"help/{name}.tsv").rename(tmp_path / language / f"{name}.tsv")

    config(0.2)
    drop("de", "one", range(20))
    drop("nl", "one", range(20))
    nightly.good_night(tmp_path)
    table = tmp_path / "table"
    rows = [json.loads(row) for row in nightly.rows(table)]
    assert {row["target_lang"] for row in rows} == {"de", "nl"}
    assert len({row["id"] for row in rows}) == 40
    drop("de", "two", range(20, 60))
    status, _, errors = nightly.night(tmp_path)
    assert status == 4
    assert "drift.en-de: 0.5, limit 0.2" in errors
    assert "drift.en-nl: 0.5, limit 0.2" in errors
    config(1)
    nightly.good_night(tmp_path)
    drop("nl", "one", range(10, 20))
    nightly.good_night(tmp_path)
    assert len(nightly.ids(table)) == 70
    check_as_anew(tmp_path)


@pytest.mark.slow
def test_all_files_have_the_columns_of_all_languages_and_corpora(tmp_path):
    import pyarrow.parquet as pq
    from deltalake import DeltaTable

    of = "corpora:\n- {corpus: de, target_lang: de, input: 'help/de*.tsv'}\n"
    of += "- {corpus: nl, target_lang: nl, input: 'help/nl*.tsv', inline_tags: index}\n"
    head = nightly.HEAD.replace("target_lang: de\n", "")
    for corpora_of, table in (
        (of, "table"),
        ("corpora:\n" + "\n".join(of.split("\n")[:0:-1]), "back"),
    ):
        nightly.write_config(tmp_path, head=head, of=corpora_of)
        nightly.write_help(tmp_path, "de", range(20))
        nightly.write_help(tmp_path, "nl", range(20), ["a <b>red</b> house\tein <b>rotes</b> Haus"])
        nightly.good_night(tmp_path, table=table)
        if table == "table":
            nightly.write_help(tmp_path, "de2", range(20, 30))
            nightly.good_night(tmp_path, table=table)
            runs.run_well_here("refresh", "compact", table, cwd=tmp_path)
            runs.run_well_here("refresh", "verify", table, cwd=tmp_path)
        opened = DeltaTable(str(tmp_path / table / "tagged"))
        whole = opened.to_pyarrow_table().to_pylist()
        assert "markup" in whole[0]
        assert {row["target_lang"] for row in whole} == {"de", "nl"}
        columns = [field.name for field in opened.schema().fields]
        for path in (tmp_path / table / "tagged").rglob("part-*.parquet"):
            assert [*pq.read_schema(path).names, "source_lang", "target_lang", "kind"] == columns
        runs.run_well_here("refresh", "export", table, "--output", f"{table}-out", cwd=tmp_path)
        assert len(list(runs.rows_of(tmp_path / f"{table}-out"))) == len(whole)
        (tmp_path / "help/de2.tsv").unlink(missing_ok=True)


def test_events_of_openlineage_say_what_was_read_and_written(directory):
    words = ("--lineage", "events.jsonl")
    nightly.good_night(directory, *words)
    nightly.write_help(directory, "two", range(150, 160))
    nightly.good_night(directory, *words)
    nightly.write_help(directory, "two", range(3))
    nightly.write_news(directory, "a", range(3))
    assert nightly.night(directory, *words)[0] == 4
    events = [json.loads(line) for line in (directory / "events.jsonl").read_text().splitlines()]
    kinds = [event["eventType"] for event in events]
    assert kinds == ["START", "COMPLETE", "START", "COMPLETE", "START", "FAIL"]
    runs_of = [event["run"]["runId"] for event in events]
    assert runs_of[::2] == runs_of[1::2]
    assert len(set(runs_of)) == 3
    assert events[1]["outputs"] == []
    assert events[3]["inputs"] == [{"namespace": "file", "name": "help/two.tsv"}]
    written = {
        event["name"].rpartition("/")[2]: event["facets"]["version"]["datasetVersion"]
        for event in events[3]["outputs"]
    }
    assert written == {"tagged": "1", "provenance": "1", "files": "1"}
    assert events[5]["run"]["facets"]["errorMessage"]["message"] == "a quality gate failed"


def test_metrics_are_pushed_to_a_gateway_which_may_be_away(directory):
    import http.server
    import threading

    pushed = []

    class Gateway(http.server.BaseHTTPRequestHandler):
        def do_PUT(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            pushed.append((self.path, self.headers["Content-Type"], body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Gateway) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/metrics/job/refresh"
        nightly.good_night(directory, "--metrics", url)
        server.shutdown()
    ((path, kind, body),) = pushed
    assert path == "/metrics/job/refresh"
    assert kind.startswith("text/plain; version=0.0.4")
    assert "pairweave_refresh_pairs 140" in body
    status, _, errors = nightly.night(directory, "--metrics", "http://127.0.0.1:9/metrics/job/x")
    assert status == 0
    assert (
        "--metrics http://127.0.0.1:9/metrics/job/x: the server did not accept the message"
        in errors
    )


def test_messages_of_a_night_are_json_if_asked_for(directory):
    nightly.write_help(directory, "two", range(150, 152))
    words = ("--log_format", "json", "--lineage", "http://127.0.0.1:9/lineage")
    status, _, errors = nightly.night(directory, *words)
    assert status == 0
    actual = [json.loads(line) for line in errors.splitlines()]
    assert any("the server did not accept the message" in str(line) for line in actual)


def test_a_server_that_does_not_accept_messages_stops_no_night(directory):
    nightly.write_help(directory, "two", range(150, 152))
    with odd_servers.answering("another protocol") as (port, requests):
        address = f"http://me:PASSW0RD@127.0.0.1:{port}/x"
        status, out, errors = nightly.night(
            directory, "--lineage", address, "--metrics", f"{address}?token=PASSW0RD"
        )
    assert (status, len(requests)) == (0, 3)
    assert "committed night 2" in out
    assert "PASSW0RD" not in errors
    warnings = [line for line in errors.splitlines() if "did not accept the message" in line]
    assert len(warnings) == 3
    assert warnings[0].startswith(f"--lineage http://***@127.0.0.1:{port}/x: ")
    assert warnings[1].startswith(f"--metrics http://***@127.0.0.1:{port}/x?***: ")


def test_a_file_that_takes_no_messages_stops_no_night(directory):
    nightly.write_help(directory, "two", range(150, 152))
    words = ("--lineage", "no/such/events.jsonl", "--metrics", "news")
    status, out, errors = nightly.night(directory, *words)
    assert (status, "committed night 2" in out) == (0, True)
    assert "--lineage no/such/events.jsonl: the event was not written: No such file" in errors
    assert "--metrics news: the metrics were not written: " in errors


@pytest.mark.parametrize("option", ["--lineage", "--metrics"])
def test_an_address_of_no_server_is_refused_before_a_night(option, directory):
    before = runs.tree_digests(directory / "table")
    status, _, errors = nightly.night(directory, option, "http://h/a PASSW0RD")
    assert (status, errors.count("\n")) == (2, 1)
    assert errors.startswith(f"pairweave: {option}: ")
    assert "PASSW0RD" not in errors
    assert runs.tree_digests(directory / "table") == before


def test_scores_in_files_of_their_own_come_with_their_pairs(tmp_path):
    names = "source_input: news/*.en, target_input: news/*.de, score_input: news/*.scores"
    head = "job: filter\nsource_lang: en\ntarget_lang: de\nduplicates: exact\nworkers: 1\n"
    nightly.write_config(tmp_path, head=head, of=f"corpora:\n- {{corpus: news, {names}}}\n")
    gone = corpora.sentence(45)[0]
    (tmp_path / "down.txt").write_text(f"{gone}\n")
    for name, numbers, words in (
        ("a", range(40), ()),
        ("b", range(40, 60), ("--takedown", "down.txt")),
    ):
        nightly.write_news(tmp_path, name, numbers)
        scores = "".join(f"{number / 100}\n" for number in numbers)
        (tmp_path / "news" / f"{name}.scores").write_text(scores)
        nightly.good_night(tmp_path, *words)
    rows = map(json.loads, nightly.rows(tmp_path / "table", "pairs"))
    actual = {row["source"]: pytest.approx(row["score"], abs=1e-6) for row in rows}
    expected = {corpora.sentence(number)[0]: number / 100 for number in range(60)}
    del expected[gone]
    assert actual == expected
