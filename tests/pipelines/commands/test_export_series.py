"""Series of growing sizes for both stages of training, and golden sets in the form of a run's."""

import gzip

import pyarrow as pa
import pytest

from pairweave.transforms import schemas
from tests.makers import finished_runs, runs

GOLDEN = [("quelle", "ein <MASK_REP> da", "Haus"), ("s\u00e4tze", "<MASK_REP>", "viele Worte")]


def example(number):
    return {
        "id": f"{number * 2654435761 % 2**64:032x}",
        "variant": 0,
        "method": ("random", "alignment", "parallel")[number % 3],
        "operation": "replace",
        "source": f"source {number}",
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
    """Return the directory of a run of 60 suggestions."""
    directory = tmp_path_factory.mktemp("series") / "run"
    halves = [
        sorted(map(example, part), key=lambda row: row["id"]) for part in (range(30), range(30, 60))
    ]

    def data(_kept):
        return pa.Table.from_pylist(halves.pop(0), schema=schemas.SUGGESTIONS)

    finished_runs.write_run(str(directory), data, {}, job="suggest")
    return directory


def write_golden(directory, rows):
    paths = []
    for place, ending in enumerate(("src", "mask", "tgt")):
        path = directory / f"gold.{ending}.gz"
        path.write_bytes(gzip.compress("".join(f"{row[place]}\n" for row in rows).encode()))
        paths.append(path)
    return paths


def export(run, output, *more, form="mt5"):
    return runs.run_here("export", run, "--format", form, "--output", output, *more)


def lines(path):
    return path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("shuffle", [(), ("--shuffle",)])
def test_each_size_of_a_series_contains_the_smaller_ones(run, tmp_path, shuffle):
    status, out, errors = export(run, tmp_path / "s", "--sizes", "40,10,20", *shuffle)
    assert status == 0, errors
    actual = {size: lines(tmp_path / "s" / f"suggestions-{size}.mt5.tsv") for size in (10, 20, 40)}
    assert [len(set(rows)) for rows in actual.values()] == [10, 20, 40]
    assert set(actual[10]) < set(actual[20]) < set(actual[40])
    if shuffle:
        assert actual[40][:10] == actual[10]
    assert "70 rows" in out
    assert sorted(path.name for path in (tmp_path / "s").iterdir()) == [
        f"suggestions-{size}.mt5.tsv" for size in (10, 20, 40)
    ]
    # A single sample of the same size has the same rows.
    export(run, tmp_path / "one", "--sample", "20", *shuffle)
    assert lines(tmp_path / "one" / "suggestions.mt5.tsv") == actual[20]


def test_one_command_makes_the_data_of_both_stages(run, tmp_path):
    rows = [(f"s{n}", f"m{n} <MASK_REP>", f"t{n}") for n in range(30)]
    golden = write_golden(tmp_path, rows)
    more = ("--sizes", "20,40", "--golden", *golden, "--golden_sizes", "5,10,30")
    status, _, errors = export(run, tmp_path / "s", *more)
    assert status == 0, errors
    made = [lines(tmp_path / "s" / f"golden-{size}.mt5.tsv") for size in (5, 10, 30)]
    assert [len(part) for part in made] == [5, 10, 30]
    assert set(made[0]) < set(made[1]) < set(made[2])
    assert made[2] == [f"{s} <sep> {m}\t{t}" for s, m, t in rows], "the golden set's order"
    assert len(lines(tmp_path / "s" / "suggestions-40.mt5.tsv")) == 40


def test_a_golden_set_has_the_form_of_the_run_s_rows(run, tmp_path):
    golden = write_golden(tmp_path, [*GOLDEN, GOLDEN[0], ("x", "y <MASK_REP>", "<NULL_REP>")])
    assert export(run, tmp_path / "m", "--golden", *golden)[0] == 0
    assert lines(tmp_path / "m" / "golden.mt5.tsv") == [
        "quelle <sep> ein <MASK_REP> da\tHaus",
        "s\u00e4tze <sep> <MASK_REP>\tviele Worte",
        "quelle <sep> ein <MASK_REP> da\tHaus",
        "x <sep> y <MASK_REP>\t<NULL_REP>",
    ]
    assert export(run, tmp_path / "w", "--golden", *golden, form="wets")[0] == 0
    for path in golden:
        written = tmp_path / "w" / path.name.removesuffix(".gz").replace("gold.", "golden.")
        assert written.read_bytes() == gzip.decompress(path.read_bytes())


def test_equal_examples_are_drawn_apart(run, tmp_path):
    golden = write_golden(tmp_path, GOLDEN[:1] * 40)
    more = ("--golden", *golden, "--golden_sizes", "7,20")
    assert export(run, tmp_path / "s", *more)[0] == 0
    assert len(lines(tmp_path / "s" / "golden-7.mt5.tsv")) == 7
    assert len(lines(tmp_path / "s" / "golden-20.mt5.tsv")) == 20


def test_the_golden_wets_corpus_is_written_line_for_line(run, tmp_path, shared_data):
    golden = [shared_data / "wets" / f"en2de.dev.{ending}" for ending in ("src", "mask", "tgt")]
    status, _, errors = export(run, tmp_path / "m", "--golden", *golden, "--unfit", "leave_out")
    assert status == 0, errors
    sides = [path.read_text(encoding="utf-8").split("\n")[:-1] for path in golden]
    expected = [
        f"{source} <sep> {masked}\t{suggestion}"
        for source, masked, suggestion in zip(*sides, strict=True)
        if not any("\t" in text or "\r" in text for text in (source, masked, suggestion))
    ]
    written = (tmp_path / "m" / "golden.mt5.tsv").read_text(encoding="utf-8").split("\n")[:-1]
    assert written == expected
    assert len(expected) > 900


@pytest.mark.parametrize(
    ("rows", "more", "message"),
    [
        (GOLDEN, ("--golden_sizes", "3"), "--sizes: expected at least 3 rows"),
        ([("a", "no mask", "c")], (), "gold.mask.gz:1: expected one <MASK_REP>, found 0"),
        (
            [*GOLDEN[:1], ("a b", "<MASK_REP> and <MASK_REP>", "c")],
            (),
            "gold.mask.gz:2: expected one <MASK_REP>, found 2",
        ),
        ([("a <sep>", "<MASK_REP>", "c")], (), "gold.mask.gz: pair "),
    ],
)
def test_a_golden_set_that_cannot_be_written_is_refused(run, tmp_path, rows, more, message):
    golden = write_golden(tmp_path, rows)
    status, _, errors = export(run, tmp_path / "s", "--golden", *golden, *more)
    assert status == 2
    assert message in errors
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--sizes", "10,61"), "expected at least 61 rows for the largest size, found 60"),
        (("--sizes", "10,10"), "--sizes: a size is given twice"),
        (("--sizes", "0"), "sizes"),
        (("--sizes", "ten"), "sizes"),
        (("--sizes", "10", "--sample", "5"), "--sample and --sizes exclude each other"),
        (("--golden_sizes", "1"), "--golden_sizes: there is no golden set"),
        (("--golden", "a.src", "a.mask"), "golden: the .tgt file of the golden set is missing"),
        (("--golden", "a.txt"), "golden a.txt: expected one .mask"),
    ],
)
def test_series_that_contradict_themselves_are_refused(run, tmp_path, more, message):
    status, _, errors = export(run, tmp_path / "s", *more)
    assert status == 2
    assert message in errors
    assert not list((tmp_path / "s").glob("suggestions-*"))


def test_a_series_writes_no_file_if_one_exists(run, tmp_path):
    (tmp_path / "suggestions-20.mt5.tsv").write_text("mine")
    status, _, errors = export(run, tmp_path, "--sizes", "10,20")
    assert status == 2
    assert "suggestions-20.mt5.tsv: already exists" in errors
    assert [path.name for path in tmp_path.iterdir()] == ["suggestions-20.mt5.tsv"]


def test_formats_without_golden_sets_are_refused(run, tmp_path):
    status, _, errors = export(run, tmp_path / "s", "--golden", "a.src", form="jsonl")
    assert status == 2
    assert "--golden: jsonl is not a format of golden sets; give wets or mt5" in errors
