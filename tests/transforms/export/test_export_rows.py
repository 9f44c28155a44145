"""The selection and order of exported rows."""

import json

import numpy as np
import pyarrow as pa
import pytest

from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.export import export_rows
from pairweave.transforms.export.export import export
from pairweave.transforms.export.export_rows import Selection, draws_of, select
from pairweave.transforms.formats.registry import row_export
from pairweave.transforms.output.finished_run import FinishedRun
from tests.makers import finished_runs, runs

METHODS = ("random", "alignment", "parallel")
OPERATIONS = ("replace", "insert", "delete")


def example(number):
    return {
        "id": f"{number * 2654435761 % 2**64:032x}",
        "variant": number % 3,
        "method": METHODS[number % 3],
        "operation": OPERATIONS[number % 2],
        "source": f"source {number}\t" if number % 10 == 9 else f"source {number}",
        "masked": "a <MASK_REP> c",
        "suggestion": str(number),
        "start": 2,
        "end": 3,
        "source_lang": "en",
        "target_lang": "de",
        "corpus": "c",
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return the directory of a run of 300 suggestions; the source of every tenth has a tab."""
    directory = tmp_path_factory.mktemp("rows") / "run"
    halves = [sorted(map(example, part), key=lambda row: row["id"]) for part in (range(150),) * 2]
    halves[1] = sorted(map(example, range(150, 300)), key=lambda row: row["id"])

    def data(_kept):
        return pa.Table.from_pylist(halves.pop(0), schema=schemas.SUGGESTIONS)

    finished_runs.write_run(str(directory), data, {}, job="suggest")
    return directory


@pytest.mark.parametrize("count", [1, 50, 2_000, 5_999, 6_000, 6_001])
def test_a_sample_has_the_rows_with_the_smallest_draws(count):
    draws = np.random.default_rng(1).permutation(np.arange(1, 6_001, dtype=np.uint64))
    last = export_rows._last_draw([draws[at : at + 70] for at in range(0, 6_000, 70)], count)
    assert last == (count if count < 6_000 else None)  # of all rows, there is no last


def test_each_row_of_a_pair_has_a_draw_of_its_own():
    rows = [{**example(1), "method": m, "variant": v} for m in METHODS for v in range(3)]
    draws = draws_of(pa.Table.from_pylist(rows, schema=schemas.SUGGESTIONS), 1)
    assert len(set(draws.tolist())) == len(rows)


def exported(run, output, form="jsonl", unfit="refuse", **selection):
    chosen = Selection(**selection)
    done = export(FinishedRun.open(str(run)), row_export(form), str(output), unfit, chosen)
    text = next(output.iterdir()).read_text()
    if form == "jsonl":
        assert done.rows == text.count("\n")
        return [json.loads(line)["suggestion"] for line in text.splitlines()]
    return done, text.splitlines()


def test_a_larger_sample_contains_a_smaller_one(run, tmp_path):
    everything = exported(run, tmp_path / "all")
    samples = [exported(run, tmp_path / str(n), sample=n) for n in (20, 40, 80)]
    assert [len(sample) for sample in samples] == [20, 40, 80]
    assert set(samples[0]) < set(samples[1]) < set(samples[2]) < set(everything)
    for sample in samples:
        assert sample == [name for name in everything if name in set(sample)], "the run's order"
    assert set(exported(run, tmp_path / "other", sample=20, seed=2)) != set(samples[0])
    assert exported(run, tmp_path / "more", sample=1_000) == everything
    assert exported(run, tmp_path / "same", sample=300) == everything


def test_a_sample_is_spread_over_rows_of_every_kind(run, tmp_path):
    drawn = [int(name) for name in exported(run, tmp_path / "x", sample=150)]
    for method in range(3):
        assert 35 <= sum(number % 3 == method for number in drawn) <= 65
    assert 50 <= sum(number < 150 for number in drawn) <= 100


def test_a_shuffled_export_has_the_same_rows_in_an_order_that_the_seed_decides(run, tmp_path):
    everything = exported(run, tmp_path / "all")
    shuffled = exported(run, tmp_path / "a", shuffle=True)
    assert sorted(shuffled) == sorted(everything)
    assert shuffled != everything
    assert exported(run, tmp_path / "b", shuffle=True) == shuffled
    assert exported(run, tmp_path / "c", shuffle=True, seed=2) != shuffled
    moved = [abs(shuffled.index(name) - place) for place, name in enumerate(everything)]
    assert sum(moved) / len(moved) == pytest.approx(100, abs=20), "a third of the rows, on average"


def test_a_shuffled_sample_is_the_beginning_of_a_larger_one(run, tmp_path):
    shuffled = exported(run, tmp_path / "all", shuffle=True)
    assert exported(run, tmp_path / "some", shuffle=True, sample=40) == shuffled[:40]


@pytest.mark.parametrize("pile_bytes", [1, 10_000, 1 << 30])
def test_the_number_of_piles_changes_no_byte(run, tmp_path, monkeypatch, pile_bytes):
    shuffled = exported(run, tmp_path / "all", shuffle=True)
    monkeypatch.setattr(export_rows, "PILE_BYTES", pile_bytes)
    monkeypatch.setattr(export_rows, "BATCH_ROWS", 7)
    assert exported(run, tmp_path / "piled", shuffle=True) == shuffled


def test_the_sample_of_a_stream_is_found_with_little_in_memory(monkeypatch):
    rows = pa.RecordBatch.from_pylist([{"id": f"{n:032x}", "variant": 0} for n in range(500)])
    held = []
    concatenate = export_rows.np.concatenate
    monkeypatch.setattr(
        export_rows.np, "concatenate", lambda a: held.append(sum(map(len, a))) or concatenate(a)
    )
    batches = [rows.slice(start, 10) for start in range(0, 500, 10)]
    drawn = list(select(lambda: iter(batches), Selection(sample=20), 0))
    assert sum(batch.num_rows for batch in drawn) == 20
    assert max(held) <= 50


def test_rows_of_methods_and_kinds_alone(run, tmp_path):
    rows = exported(run, tmp_path / "a", methods=("alignment", "parallel"), kinds=("insert",))
    assert sorted(map(int, rows)) == [n for n in range(300) if n % 3 and n % 2]
    drawn = exported(run, tmp_path / "b", methods=("random",), sample=30)
    assert len(drawn) == 30
    assert all(int(number) % 3 == 0 for number in drawn)


def test_a_sample_is_of_rows_that_the_format_can_carry(run, tmp_path):
    done, lines = exported(run, tmp_path / "x", "mt5", "leave_out", sample=50)
    assert (done.rows, len(lines), done.left_out) == (50, 50, 30)


def test_the_command_line_says_what_it_drew(run, tmp_path):
    arguments = ("export", run, "--format", "jsonl", "--output")
    out = runs.run_well_here(*arguments, tmp_path / "a", "--methods", "random", "--sample", 5)
    assert out.splitlines()[-1] == "5 rows"
    out = runs.run_well_here(*arguments, tmp_path / "b", "--sample", 999, "--shuffle", "true")
    assert out.splitlines()[-1] == "300 rows, fewer than the 999 asked for"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--kinds", "tagged"), "--kinds tagged: a run of suggest has replace, insert, delete"),
        (("--rows", "tagged"), "--rows: rows of suggest have no tags"),
        (("--seed", "3"), "--seed: nothing is drawn"),
        (("--header", "false"), "--header: jsonl has none"),
        (("--alignment", "moses"), "--alignment: jsonl has no links"),
        (("--sample", "0"), "sample: input should be greater than or equal to 1"),
    ],
)
def test_what_says_nothing_of_the_rows_is_refused(run, tmp_path, arguments, line):
    command = ("export", run, "--format", "jsonl", "--output", tmp_path / "x", *arguments)
    status, _, errors = runs.run_here(*command)
    assert (status, len(errors.splitlines())) == (2, 1)
    assert line in errors


def test_rows_of_augment_are_chosen_by_kind(tmp_path):
    finished_runs.write_run(str(tmp_path / "run"))
    arguments = ("export", tmp_path / "run", "--format", "jsonl", "--output")
    for option in (("--rows", "tagged"), ("--kinds", "tagged")):
        name = tmp_path / option[0]
        runs.run_well_here(*arguments, name, *option)
        rows = [json.loads(line) for line in (name / "tagged.jsonl").read_text().splitlines()]
        assert [row["kind"] for row in rows] == ["tagged"] * 4
    status, _, errors = runs.run_here(*arguments, tmp_path / "x", "--methods", "random")
    assert status == 2
    assert "--methods: rows of augment have no method" in errors
    with pytest.raises(ConfigError, match="a run of augment has plain, tagged"):
        export(
            FinishedRun.open(str(tmp_path / "run")),
            row_export("jsonl"),
            str(tmp_path / "y"),
            selection=Selection(kinds=("insert",)),
        )


def test_markup_is_drawn_and_shuffled_too(tmp_path):
    finished_runs.write_run(str(tmp_path / "run"))
    arguments = ("export", tmp_path / "run", "--format", "html", "--unfit", "leave_out", "--output")
    runs.run_well_here(*arguments, tmp_path / "all", "--shuffle", "true")
    runs.run_well_here(*arguments, tmp_path / "two", "--shuffle", "true", "--sample", 2)
    texts = [(tmp_path / name / "pairs.jsonl").read_text() for name in ("all", "two")]
    assert texts[0].startswith(texts[1])
    assert len(texts[0].splitlines()) > len(texts[1].splitlines()) > 0


def test_a_tsv_without_a_header_begins_with_a_row(run, tmp_path):
    arguments = ("export", run, "--format", "tsv", "--unfit", "leave_out", "--output")
    runs.run_well_here(*arguments, tmp_path / "with")
    runs.run_well_here(*arguments, tmp_path / "without", "--header", "false")
    lines = [
        (tmp_path / name / "suggestions.tsv").read_text().splitlines()
        for name in ("with", "without")
    ]
    assert lines[0][0].startswith("id\tvariant\t")
    assert lines[1] == lines[0][1:]
