"""What `vacuum` never deletes, and where no command writes: outside a table, and inside one."""

import dataclasses
import os
import re
import shutil

import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from deltalake import DeltaTable

from pairweave.pipelines.command_line import outputs
from pairweave.pipelines.refresh.upkeep import vacuum
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import disk_files
from tests.makers import corpora, nightly, runs

OF_HELP = 'corpora:\n- {corpus: help, input: "help/*.tsv"}\n'


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a directory with the table of one night."""
    directory = tmp_path_factory.mktemp("vacuum")
    nightly.write_help(directory, "one", range(20))
    nightly.write_config(directory, of=OF_HELP)
    nightly.good_night(directory)
    return directory


@pytest.fixture
def directory(made, tmp_path):
    """Return a copy of it, whose files have their times."""
    copied = tmp_path / "copy"
    shutil.copytree(made, copied)
    return copied


@pytest.mark.parametrize("dry", [False, True])
@pytest.mark.parametrize(
    "place",
    [
        "_runs",
        "_runs/0123",
        "_models",
        "_models/en-de/hmm-0123",
        "_refresh/nights",
        "_refresh",
        "tagged",
        "tagged/_delta_log",
        "tagged/source_lang=en",
        "tagged/part-0.parquet",
    ],
)
def test_vacuum_follows_no_link_and_deletes_nothing_if_there_is_one(directory, place, dry):
    link, victim = directory / "table" / place, directory / "victim"
    if link.exists():
        link.rename(victim)
    else:
        (victim / "0123").mkdir(parents=True)
        (victim / "0123/part-1.parquet").write_bytes(b"1")
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(victim)
    before = runs.tree_digests(directory)
    words = ("refresh", "vacuum", "table", "--retention", "0", *(["--dry"] if dry else []))
    status, _, errors = runs.run_here(*words, cwd=directory)
    assert status == 2
    assert f"table/{place}: is a symbolic link" in errors
    assert runs.tree_digests(directory) == before


def test_vacuum_deletes_no_checkpoint_of_a_log_and_nothing_but_parquet(directory):
    rows = directory / "table/tagged"
    DeltaTable(str(rows)).create_checkpoint()
    (rows / "notes.txt").write_text("whose are these?")
    (rows / "part-left.parquet").write_bytes(b"")
    before = runs.tree_digests(rows)
    runs.run_well_here("refresh", "vacuum", "table", "--retention", "0", cwd=directory)
    left = runs.tree_digests(rows)
    assert before.keys() - left.keys() == {"part-left.parquet"}
    assert any(name.endswith(".checkpoint.parquet") for name in left)


def test_vacuum_keeps_the_whole_run_that_has_a_file_younger_than_the_retention(directory):
    names = ["_runs/old/_plan.json", "_runs/young/_plan.json", "_runs/young/data/part-0.parquet"]
    for name in names:
        path = directory / "table" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
        if name != names[-1]:
            os.utime(path, (0, 0))
    table = str(directory / "table")
    assert vacuum.vacuum(table, 1, dry=True) == names[:1]
    assert sorted(vacuum.vacuum(table, 0, dry=True)) == names


def test_a_table_that_is_a_link_itself_is_vacuumed(directory):
    (directory / "table").rename(directory / "elsewhere")
    (directory / "table").symlink_to(directory / "elsewhere")
    (directory / "elsewhere/_runs/old").mkdir(parents=True)
    (directory / "elsewhere/_runs/old/known.ids").write_bytes(b"")
    words = ("refresh", "vacuum", "table", "--retention", "0")
    assert "1 file deleted" in runs.run_well_here(*words, cwd=directory)


def test_vacuum_keeps_the_model_of_the_current_rows_and_deletes_others(directory, monkeypatch):
    table = str(directory / "table")
    for name in ("hmm-01", "hmm-23"):
        (directory / "table/_models/en-de" / name).mkdir(parents=True)
        (directory / "table/_models/en-de" / name / "lexicon").write_bytes(b"1")
    night = dataclasses.replace(
        vacuum.records.existing(table), models={"en-de": "_models/en-de/hmm-01"}
    )
    monkeypatch.setattr(vacuum.log_seals, "last_night", lambda _: night)
    assert vacuum.vacuum(table, 0, dry=True) == ["_models/en-de/hmm-23/lexicon"]


def test_vacuum_deletes_no_file_that_a_record_has_whatever_the_log_says(directory, monkeypatch):
    table = directory / "table"
    log = table / "tagged/_delta_log/00000000000000000000.json"
    (path,) = DeltaTable(str(table / "tagged")).file_uris()
    name = path.rpartition("/")[2]
    log.write_text(log.read_text().replace(name, "part-0.parquet"))
    status, _, errors = runs.run_here("refresh", "vacuum", "table", "--retention", 0, cwd=directory)
    assert (status, str(log.name) in errors) == (2, True)
    monkeypatch.setattr(vacuum.log_seals, "last_night", vacuum.records.existing)
    monkeypatch.setattr(vacuum.tables, "current", lambda *_: [])
    assert vacuum.vacuum(str(table), 0, dry=False) == []
    assert list(table.glob(f"tagged/**/{name}"))


@pytest.mark.parametrize("place", ["table", "table/tagged", "table/_runs", "table/a/b", "link/x"])
@pytest.mark.parametrize(
    "words",
    [
        ("refresh", "export", "table"),
        ("export", "run", "--format", "moses"),
        ("compare", "run", "run"),
        ("augment", "--input", "help/*.tsv", "--source_lang", "en", "--target_lang", "de"),
        ("fit", "--input", "help/*.tsv", "--source_lang", "en", "--target_lang", "de"),
        ("tags", "decode", "--input", "help/one.tsv"),
        ("demo",),
    ],
)
def test_no_command_writes_into_a_table(directory, place, words):
    (directory / "link").symlink_to("table")
    before = runs.tree_digests(directory / "table")
    status, _, errors = runs.run_here(*words, "--output", place, cwd=directory)
    assert status == 2
    assert f"--output {place}: is " in errors, errors
    assert "the table of refresh" in errors
    assert runs.tree_digests(directory / "table") == before


def test_a_night_makes_no_table_inside_another_one(directory):
    for place in ("table/tagged", "table/_runs"):
        status, _, errors = nightly.night(directory, table=place)
        assert (status, "is inside the table of refresh" in errors) == (2, True)
    assert "nothing has changed" in nightly.good_night(directory, table="./table/../table")
    status, _, errors = nightly.night(directory, "--launches", "table/jobs.json")
    assert (status, "--launches table/jobs.json: is inside the table" in errors) == (2, True)


@pytest.mark.parametrize(
    ("path", "table"),
    [
        ("s3://bucket/tables/tagged", "s3://bucket/tables"),
        ("gs://bucket/a/tables/", "gs://bucket/a/tables"),
        ("s3://bucket/tables/_runs", "s3://bucket/tables"),
        ("s3://bucket/tables/_runs/0123/run", None),
        ("s3://bucket/other", None),
        ("s3://bucket", None),
    ],
)
def test_an_output_in_a_store_is_compared_with_the_tables_there(monkeypatch, path, table):
    tables = ("s3://bucket/tables", "gs://bucket/a/tables")
    records = {f"{place}/_refresh/nights/00000001.json" for place in tables}
    monkeypatch.setattr(outputs.files, "exists", lambda asked: asked in records)
    if table is None:
        outputs.require_outside_tables("output", path)
        return
    with pytest.raises(ConfigError, match=f"the table of refresh {table}, where"):
        outputs.require_outside_tables("output", path)
    outputs.require_outside_tables("output", table, is_table=True)


@pytest.mark.parametrize("output", ["table/x", "."])
def test_a_recipe_writes_into_no_table(directory, output):
    step = "{name: table, job: fit, input: 'help/*.tsv', source_lang: en, target_lang: de}"
    (directory / "recipe.yaml").write_text(f"steps:\n- {step}\n")
    words = ("run", "--config", "recipe.yaml", "--output", output, "--plan_only")
    status, _, errors = runs.run_here(*words, cwd=directory)
    assert (status, "the table of refresh" in errors) == (2, True), errors


def test_an_export_of_a_table_is_not_among_its_input_files(directory):
    (directory / "out/data").mkdir(parents=True)
    shutil.move(directory / "help/one.tsv", directory / "out/data/one.tsv")
    nightly.write_config(directory, of='corpora:\n- {corpus: help, input: "out/data/*"}\n')
    nightly.good_night(directory)
    (directory / "out/data/one.tsv").rename(directory / "one.tsv")
    words = ("refresh", "export", "table", "--output", "out")
    status, _, errors = runs.run_here(*words, cwd=directory)
    assert status == 2
    assert "--output out: out/data/one.tsv is an input and in a directory that" in errors


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("tags", "encode", "--input", "a", "--output", "b", "--table"), "table"),
        (("tags", "encode", "--input", "a", "--output", "b", "--table", "c"), "target_table"),
        (("tags", "vocabulary", "--tokenizer", "a"), "output_tokenizer"),
        (("evaluate", "tags", "a", "b"), "lines"),
    ],
)
def test_an_output_with_a_name_of_its_own_is_not_written_into_a_table(directory, words, option):
    words = words if words[-1] == f"--{option}" else (*words, f"--{option}")
    status, _, errors = runs.run_here(*words, "table/x", cwd=directory)
    assert (status, f"--{option} table/x: is inside the table" in errors) == (2, True), errors


@pytest.mark.parametrize("name", ["data", "rejects", "models"])
def test_no_run_or_export_writes_into_a_table_that_has_the_name_of_its_folder(directory, name):
    (directory / "table").rename(directory / name)
    before = runs.tree_digests(directory / name)
    run = ("augment", "--input", "help/*.tsv", "--source_lang", "en", "--target_lang", "de")
    for words in (("refresh", "export", name), run):
        status, _, errors = runs.run_here(*words, "--output", ".", cwd=directory)
        assert status == 2
        assert (
            f"--output .: its files would be written into the table of refresh ./{name}" in errors
        )
    assert runs.tree_digests(directory / name) == before
    assert "nothing has changed" in nightly.good_night(directory, table=name)


@pytest.mark.parametrize("pattern", ["table/**/*.parquet", "link/**/*.parquet"])
def test_a_night_reads_no_file_of_its_own_table(directory, pattern):
    (directory / "link").symlink_to("table")
    both = f'corpora:\n- {{corpus: help, input: ["help/*.tsv", "{pattern}"]}}\n'
    nightly.write_config(directory, of=both)
    before = runs.tree_digests(directory / "table")
    status, _, errors = nightly.night(directory)
    assert (status, "is an input and in the table that the night writes" in errors) == (2, True)
    assert runs.tree_digests(directory / "table") == before


def test_input_files_of_the_user_may_lie_beside_the_tables(directory):
    outputs.require_no_input_inside(str(directory), [str(directory / "help/one.tsv")])
    with pytest.raises(ConfigError, match="in the table that the night writes"):
        outputs.require_no_input_inside(str(directory), [str(directory / "_runs/x/a.tsv")])


def test_an_input_that_is_reached_by_a_link_is_no_output_either(tmp_path):
    (tmp_path / "out/data").mkdir(parents=True)
    (tmp_path / "link").symlink_to("out")
    for output, place in (("out", "link"), ("link", "out")):
        path = str(tmp_path / place / "data/a.tsv")
        with pytest.raises(ConfigError, match="is an input and in a directory that the command"):
            outputs.require_apart("output", str(tmp_path / output), [path])


@pytest.mark.parametrize("folder", ["data", "rejects", "models/hmm", "_receipts"])
def test_no_run_writes_to_a_directory_of_its_input(tmp_path, folder):
    path = str(tmp_path / "out" / folder / "a.tsv")
    with pytest.raises(ConfigError, match="is an input and in a directory that the command writes"):
        outputs.require_apart("output", str(tmp_path / "out"), [path])
    outputs.require_apart("output", str(tmp_path / "out"), [str(tmp_path / "out/a.tsv"), "b.tsv"])
    outputs.require_apart("output", str(tmp_path / "other"), [path])


def test_a_run_beside_its_input_is_refused_before_it_writes(tmp_path):
    (tmp_path / "out/data").mkdir(parents=True)
    text = "\t".join(corpora.sentence(1))
    (tmp_path / "out/data/a.tsv").write_text(f"{text}\n")
    words = ("--input", "out/data/*.tsv", "--source_lang", "en", "--target_lang", "de")
    status, _, errors = runs.run_here("augment", *words, "--output", "out", cwd=tmp_path)
    assert (status, "is an input and in a directory" in errors) == (2, True), errors
    assert [path.name for path in (tmp_path / "out").rglob("*.*")] == ["a.tsv"]


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("out/*", "_plan.json"),
        ("out/*.md", "README.md"),
        ("./out/../out/*.html", "report.html"),
        ("link/*.txt", "symbols.txt"),
        ("**/*.parquet", "data/part-00000-of-00001.parquet"),
        ("out/r*/*", "rejects/part-00000-of-00001.parquet"),
        ("*/models/**", "models/hmm/about.json"),
        ("out/_receipts/unit-*", "_receipts/unit-00000.json"),
    ],
)
def test_no_pattern_of_input_files_matches_what_a_run_writes(tmp_path, monkeypatch, pattern, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to("out")
    with pytest.raises(ConfigError, match=f"matches files that .* such as {re.escape(name)};"):
        outputs.require_unmatched("output", "out", ["a.tsv", pattern])


def test_patterns_that_match_nothing_of_a_run_may_lie_beside_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    patterns = ["out/*.tsv", "*", "*.parquet", "out/*/*.tsv", "out/README.md", "gs://b/out/*"]
    outputs.require_unmatched("output", "out", patterns)
    with pytest.raises(ConfigError, match=r"such as _plan\.json;"):
        outputs.require_unmatched("output", "gs://b/out", patterns)


def test_a_run_among_its_inputs_is_refused_before_it_writes(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.tsv").write_text("\t".join(corpora.sentence(1)) + "\n")
    words = ("--input", "in/*", "--source_lang", "en", "--target_lang", "de")
    status, _, errors = runs.run_here("augment", *words, "--output", "in", cwd=tmp_path)
    assert (status, "such as _plan.json; give another directory" in errors) == (2, True), errors
    assert [path.name for path in tmp_path.rglob("*.*")] == ["a.tsv"]


def test_temporary_files_of_killed_processes_go_and_those_of_living_ones_stay(directory):
    table = directory / "table"
    living = disk_files.name_for("part-1.parquet")
    machine, _, rest = living.removeprefix(disk_files.PREFIX).partition(".")
    pid, _, _ = rest.partition(".")
    dead = living.replace(f"{machine}.{pid}.", f"{machine}.{pid}.1")
    places = ("_refresh/nights", "_refresh/tombstones", "_refresh/seals", "_models/en-de/hmm-0")
    places += ("provenance/source_lang=en/target_lang=de", "files", "files/_delta_log", "_runs/0")

    def put():
        for place in places:
            (table / place).mkdir(parents=True, exist_ok=True)
            (table / place / dead).write_bytes(b"1")
            (table / place / living).write_bytes(b"1")

    def left(name):
        return sorted(str(path.parent.relative_to(table)) for path in table.rglob(name))

    (directory / "list.txt").write_text(f"{corpora.sentence(3)[0]}\n")
    for words in (
        ("--config", "nightly.yaml", "--output", "table"),
        ("takedown", "table", "list.txt"),
        ("compact", "table"),
        ("vacuum", "table", "--retention", "1000"),
    ):
        put()
        assert left(dead) == sorted(places)
        runs.run_well_here("refresh", *words, cwd=directory)
        assert left(dead) == [], words
        assert left(living) == sorted(places), words


def test_a_plan_leaves_everything_as_it_is(directory):
    dead = directory / "table/files" / f"{disk_files.PREFIX}x.1.1-0-part-1.parquet"
    dead.write_bytes(b"1")
    nightly.good_night(directory, "--plan_only")
    assert dead.exists()
