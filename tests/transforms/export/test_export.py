import dataclasses
import json
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairweave.pipelines.commands.finished import export_command as command
from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.export.export import escape, export, fitting
from pairweave.transforms.formats.registry import row_export, row_export_of
from pairweave.transforms.output import run_files, write
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.storage import files
from tests.makers import finished_runs, runs
from tests.oracles import slow_export

FORMS = ("wets", "mt5", "tsv", "csv", "jsonl")


def example(number, **changes):
    """Return one row of SUGGESTIONS."""
    return {
        "id": f"{number:032x}",
        "variant": 0,
        "method": "alignment",
        "operation": "replace",
        "source": f"source {number}",
        "masked": "a <MASK_REP> c",
        "suggestion": "b",
        "hint": None,
        "start": 2,
        "end": 3,
        "confidence": 0.5,
        "score": None,
        "source_lang": "en",
        "target_lang": "de",
        "corpus": "news",
        **changes,
    }


PLAIN = [
    example(1),
    example(2, suggestion="", operation="delete", confidence=None),
    example(3, source='said "x" \\ y', masked="<MASK_REP>", suggestion="Übung 猫", hint="Ü"),
]


def write_run(output, *rows):
    """Write a run of `suggest` in two shards; return it."""
    halves = [rows[: len(rows) // 2], rows[len(rows) // 2 :]]

    def data(_kept):
        return pa.Table.from_pylist(list(halves.pop(0)), schema=schemas.SUGGESTIONS)

    return FinishedRun(str(output), finished_runs.write_run(str(output), data, {}, job="suggest"))


def write_shard(output, rows):
    """Write rows as the only shard of a run; return it."""
    data = write.encode_parquet(pa.Table.from_pylist(rows, schema=schemas.SUGGESTIONS), "signature")
    name = run_files.data_name(0, 1)
    files.write_bytes(files.join(str(output), name), data)
    manifest = {"job": "suggest", "shards": 1, "files": [run_files.file_entry(name, data)]}
    return FinishedRun(str(output), manifest)


def read(directory, stem="suggestions"):
    return {
        path.name.removeprefix(stem): path.read_bytes().decode()
        for path in Path(directory).iterdir()
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return the directory of a run whose rows every format can carry."""
    path = tmp_path_factory.mktemp("export") / "run"
    write_run(path, *PLAIN)
    return path


@pytest.mark.parametrize("form", FORMS)
def test_every_format_of_suggestions_is_that_of_plain_python(run, tmp_path, form):
    done = export(FinishedRun.open(str(run)), row_export(form), str(tmp_path))
    assert (done.rows, done.left_out) == (3, 0)
    assert sorted(Path(path).name for path in done.paths) == sorted(
        path.name for path in tmp_path.iterdir()
    )
    assert read(tmp_path) == slow_export.files_of(PLAIN, form)


def test_the_three_files_of_wets_are_as_published(run, tmp_path):
    out = runs.run_well_here("export", run, "--format", "wets", "--output", tmp_path / "w")
    assert out.splitlines()[-1] == "3 rows"
    assert (tmp_path / "w" / "suggestions.mask").read_text() == (
        "a <MASK_REP> c\na <MASK_REP> c\n<MASK_REP>\n"
    )
    assert (tmp_path / "w" / "suggestions.tgt").read_text() == "b\n<NULL_REP>\nÜbung 猫\n"


def test_a_line_of_mt5_is_source_and_masked_and_suggestion(run, tmp_path):
    runs.run_well_here("export", run, "--format", "mt5", "--output", tmp_path / "m")
    lines = (tmp_path / "m" / "suggestions.mt5.tsv").read_text().splitlines()
    assert lines[0] == "source 1 <sep> a <MASK_REP> c\tb"


@pytest.mark.parametrize("form", ["moses", "tsv", "jsonl"])
def test_tagged_pairs_are_exported_too(tmp_path, form):
    finished_runs.write_run(str(tmp_path / "run"))
    arguments = ("export", tmp_path / "run", "--format", form, "--output", tmp_path / "out")
    status, _, errors = runs.run_here(*arguments)
    rows = [
        row
        for path in sorted((tmp_path / "run").glob("data/part-*.parquet"))
        for row in pq.read_table(path).to_pylist()
    ]
    if form == "jsonl":
        assert status == 0
        lines = (tmp_path / "out" / "tagged.jsonl").read_text().split("\n")
        assert [json.loads(line) for line in lines[:-1]] == rows
        return
    # One of the pairs has a line break.
    assert status == 2
    breaks = "a line break" if form == "moses" else "a tab or a line break"
    assert f"its target contains text reserved in {form} ({breaks}): '" in errors
    assert "--unfit leave_out, --unfit escape" in errors
    assert not (tmp_path / "out").exists()
    out = runs.run_well_here(*arguments, "--unfit", "leave_out")
    kept = [row for row in rows if slow_export.fits(row, form)]
    assert out.splitlines()[-1] == f"{len(kept)} rows, {len(rows) - len(kept)} left out"
    assert len(kept) < len(rows)
    assert read(tmp_path / "out", "tagged") == slow_export.files_of(kept, form)


def test_escapes_are_no_advice_where_links_are_written():
    rows = pa.table({"id": ["1"], "source": ["a\tb"], "target": ["c"]})
    how = row_export("opustrainer")
    with pytest.raises(ConfigError, match=r"--unfit leave_out, --unfit escape$"):
        fitting(rows, how, "refuse")
    how = dataclasses.replace(how, write=how.linked.write)
    with pytest.raises(ConfigError, match=r"--unfit leave_out$"):
        fitting(rows, how, "refuse")


texts = st.text(st.sampled_from("ab \\\t\n\r<>é猫"), max_size=8)


@given(texts)
def test_what_is_escaped_can_be_read_back(text):
    (written,) = escape(pa.array([text])).to_pylist()
    assert written == slow_export.escaped(text)
    assert slow_export.unescaped(written) == text
    assert not set(written) & set("\t\n\r")


strange = st.one_of(texts, st.sampled_from(["<NULL_REP>", "a <sep> b", "<sep>", "x<NULL_REP>"]))


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=30)
@given(rows=st.lists(st.tuples(strange, strange), min_size=1, max_size=5))
def test_nothing_is_changed_in_silence(form, rows):
    made = [
        example(number, source=source, suggestion=suggestion)
        for number, (source, suggestion) in enumerate(rows)
    ]
    good = [slow_export.fits(row, form) for row in made]
    with tempfile.TemporaryDirectory() as directory:
        actual = write_shard(f"{directory}/run", made)
        arguments = (actual, row_export(form))
        if all(good):
            export(*arguments, f"{directory}/out")
            assert read(f"{directory}/out") == slow_export.files_of(made, form)
        else:
            with pytest.raises(ConfigError, match=f"reserved in {form}"):
                export(*arguments, f"{directory}/out")
            assert not Path(f"{directory}/out").exists()
        done = export(*arguments, f"{directory}/less", "leave_out")
        kept = [row for row, fits in zip(made, good, strict=True) if fits]
        assert (done.rows, done.left_out) == (len(kept), len(made) - len(kept))
        if kept:
            assert read(f"{directory}/less") == slow_export.files_of(kept, form)
        if form not in ("csv", "jsonl") and not any(
            slow_export.collides(row, form) for row in made
        ):
            export(*arguments, f"{directory}/escaped", "escape")
            written = [
                {name: slow_export.escaped(v) if isinstance(v, str) else v for name, v in r.items()}
                for r in made
            ]
            assert read(f"{directory}/escaped") == slow_export.files_of(written, form)


def test_what_no_escape_helps_is_refused_with_what_does(tmp_path):
    actual = write_run(tmp_path / "run", example(1), example(2, suggestion="<NULL_REP>"))
    with pytest.raises(ConfigError, match=r"suggestion contains .* --unfit leave_out$"):
        export(actual, row_export("wets"), str(tmp_path / "out"), "escape")


def test_a_run_is_exported_in_the_forms_of_its_rows(run, tmp_path):
    for form in ("moses", "tmx"):
        status, _, errors = runs.run_here("export", run, "--format", form, "--output", tmp_path)
        assert status == 2
        said = (
            f"a run of suggest cannot be exported as {form}; it can as wets, mt5, tsv, csv, jsonl"
        )
        assert said in errors
    with pytest.raises(
        ConfigError, match="of bitext cannot be exported as tsv; it can as tmx, xli"
    ):
        row_export_of("tsv", "sentences", "bitext")


def test_the_kinds_that_are_named_are_exported_with_their_markup_too(tmp_path):
    finished_runs.write_run(str(tmp_path / "run"))
    words = ("export", tmp_path / "run", "--format", "xliff", "--unfit", "leave_out")
    for kind in ("plain", "tagged"):
        out = tmp_path / kind
        by_kind = runs.run_well_here(*words, "--kinds", kind, "--output", out)
        by_rows = runs.run_well_here(*words, "--rows", kind, "--output", tmp_path / f"{kind}-rows")
        assert (out / "pairs.xlf").read_bytes() == (
            tmp_path / f"{kind}-rows" / "pairs.xlf"
        ).read_bytes()
        assert by_kind.splitlines()[-1] == by_rows.splitlines()[-1]
        assert not by_kind.splitlines()[-1].startswith("0 rows")


def test_files_in_the_way_are_not_overwritten(run, tmp_path):
    (tmp_path / "suggestions.tgt").write_text("mine")
    status, _, errors = runs.run_here("export", run, "--format", "wets", "--output", tmp_path)
    assert status == 2
    assert "already exists" in errors
    assert [path.name for path in tmp_path.iterdir()] == ["suggestions.tgt"]


def test_an_unfinished_run_is_refused(tmp_path):
    (tmp_path / run_files.PLAN).write_text("{}")
    with pytest.raises(ConfigError, match="this run is not finished"):
        command.main("export", [str(tmp_path), "--format", "wets", "--output", "x"])


def test_nothing_is_written_into_a_run(run):
    for output in (run, run / "below"):
        with pytest.raises(ConfigError, match="which must stay as its manifest"):
            command.main("export", [str(run), "--format", "wets", "--output", str(output)])


def test_a_changed_shard_is_refused_and_leaves_no_file(tmp_path):
    actual = write_run(tmp_path / "run", *PLAIN)
    path = tmp_path / "run" / "data" / "part-00001-of-00002.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(WorkerError, match=r"part-00001-of-00002\.parquet: expected sha256"):
        export(actual, row_export("wets"), str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()
    path.unlink()
    with pytest.raises(WorkerError, match=r"part-00001-of-00002\.parquet: cannot be read"):
        export(actual, row_export("wets"), str(tmp_path / "out"))


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    with files.open_write(str(tmp_path / "a" / "b")) as file:
        file.write(b"whole")
        assert not (tmp_path / "a" / "b").exists()
    assert (tmp_path / "a" / "b").read_bytes() == b"whole"
    opened = files.open_write(str(tmp_path / "a" / "c"))
    opened.__enter__().write(b"half")
    assert not opened.__exit__(KeyError, KeyError(), None)  # the error goes on
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]


@pytest.mark.parametrize("form", ["jsonl", "tsv", "moses"])
def test_a_run_without_wanted_rows_gives_an_empty_file(tmp_path, form):
    def plain(kept):
        rows = finished_runs.tagged_data(kept)
        return rows.filter(pc.equal(rows["kind"], "plain"))

    finished_runs.write_run(str(tmp_path / "run"), plain)
    words = ("--format", form, "--output", tmp_path / "out", "--kinds", "tagged")
    out = runs.run_well_here("export", tmp_path / "run", *words)
    assert out.splitlines()[-1] == "0 rows"
