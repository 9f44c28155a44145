import bz2
import dataclasses
import gzip
import hashlib
import io
import json
import lzma
import pickle
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.units import CorpusInput, ReadLimits, Unit
from tests.makers.reading import LIMITS, corpus, moses, pairs, read_plan, single


def write(directory: Path, name: str, data: bytes = b"a\tb\n") -> Path:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def names(plan) -> list[str]:
    return [file.name for file in plan.files]


def refused(*corpora, **options) -> InputError:
    with pytest.raises(InputError) as caught:
        make_plan(corpora, **options)
    return caught.value


# Which files


def test_a_pattern_without_a_match_is_an_error_that_names_it(tmp_path):
    error = refused(corpus(input=(str(tmp_path / "*.tsv"),)))
    assert (error.code, error.path) == ("no_match", str(tmp_path / "*.tsv"))
    write(tmp_path, "a.en")
    error = refused(moses(tmp_path / "a.en", tmp_path / "missing.de"))
    assert (error.code, error.path) == ("no_match", str(tmp_path / "missing.de"))


def test_a_directory_is_no_match(tmp_path):
    assert refused(single(tmp_path)).code == "no_match"


def test_files_come_in_the_order_of_the_patterns_and_sorted_inside_each(tmp_path):
    for name in ("b.tsv", "a.tsv", "c/x.jsonl", "10.tsv", "9.tsv"):
        write(tmp_path, name, b'{"source": "a", "target": "b"}\n' if "x" in name else b"a\tb\n")
    patterns = (str(tmp_path / "c" / "*"), str(tmp_path / "*.tsv"))
    plan = make_plan([corpus(input=patterns)])
    assert names(plan) == ["x.jsonl", "10.tsv", "9.tsv", "a.tsv", "b.tsv"]
    assert [unit.file for unit in plan.units] == names(plan)
    assert [unit.index for unit in plan.units] == [0, 1, 2, 3, 4]
    assert [unit.format for unit in plan.units] == ["jsonl", "tsv", "tsv", "tsv", "tsv"]


def test_source_and_target_files_are_paired_in_sorted_order(tmp_path):
    for name in ("b.en", "a.en", "a.de", "b.de"):
        write(tmp_path, name, name.encode())
    plan = make_plan([moses(tmp_path / "*.en", tmp_path / "*.de")])
    assert pairs(read_plan(plan)) == [("a.en", "a.de"), ("b.en", "b.de")]
    assert [(file.name, file.role) for file in plan.files] == [
        ("a.en", "source"),
        ("a.de", "target"),
        ("b.en", "source"),
        ("b.de", "target"),
    ]


def test_unequal_numbers_of_files_are_an_error_with_both_numbers(tmp_path):
    for name in ("a.en", "b.en", "a.de"):
        write(tmp_path, name)
    error = refused(moses(tmp_path / "*.en", tmp_path / "*.de"))
    assert error.code == "file_count_mismatch"
    assert "matches 2" in error.message
    assert "matches 1" in error.message


@pytest.mark.parametrize("name", ["a.ods", "a", "a.gz", "a.bz2", "a.tsv.lz4", "a.parquet.xz"])
def test_other_extensions_are_refused_with_a_list_of_those_that_are_read(tmp_path, name):
    error = refused(single(write(tmp_path, name)))
    assert (error.code, error.path) == ("unsupported_format", name)
    for extension in (".tsv", ".jsonl", ".parquet", ".po", ".gz", ".zst", ".xz", ".bz2"):
        assert extension in error.message


def test_line_parallel_text_may_have_any_name_but_those_of_other_things(tmp_path):
    plan = make_plan([moses(write(tmp_path, "corpus.en-de.en"), write(tmp_path, "plain"))])
    assert plan.rows == 1
    error = refused(moses(write(tmp_path, "a.en.zip"), write(tmp_path, "a.de.zip")))
    assert error.code == "unsupported_format"


@pytest.mark.parametrize(("ending", "pack"), [("xz", lzma.compress), ("bz2", bz2.compress)])
def test_text_in_xz_and_bzip2_is_read(tmp_path, ending, pack):
    paths = [write(tmp_path, f"a.{side}.{ending}", pack(side.encode() + b"\n")) for side in "en"]
    assert pairs(read_plan(make_plan([moses(*paths)]))) == [("e", "n")]
    table = write(tmp_path, f"a.tsv.{ending}", pack(b"a\tb\n"))
    assert pairs(read_plan(make_plan([single(table)]))) == [("a", "b")]


def test_a_given_format_beats_the_extension(tmp_path):
    plan = make_plan([single(write(tmp_path, "a.txt"), format="tsv")])
    assert pairs(read_plan(plan)) == [("a", "b")]
    plan = make_plan([single(write(tmp_path, "b.txt.gz", gzip.compress(b"a\tb\n")), format="tsv")])
    assert pairs(read_plan(plan)) == [("a", "b")]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ("a\tb\n".encode("utf-16"), "unsupported_charset"),
        (b"\xfe\xff\0a", "unsupported_charset"),
        (gzip.compress(b"a\tb\n", mtime=0), "unsupported_format"),
        (zstandard.compress(b"a\tb\n"), "unsupported_format"),
        (b"PAR1....PAR1", "unsupported_format"),
        (b"PK\x03\x04zip", "unsupported_format"),
        (b"\xfd7zXZ\0xz", "unsupported_format"),
        (bz2.compress(b"a\tb\n"), "unsupported_format"),
        (b"<!DOCTYPE html>\n<html>", "unsupported_format"),
        (b"%PDF-1.7\n", "unsupported_format"),
    ],
)
@pytest.mark.parametrize("name", ["a.tsv", "a.jsonl", "a.po", "a.tsv.gz"])
def test_what_only_pretends_to_be_utf8_text_is_refused(tmp_path, name, data, code):
    packed = gzip.compress(data) if name.endswith(".gz") else data
    assert refused(single(write(tmp_path, name, packed))).code == code


# What they are called


def test_relative_names_stay_as_given(tmp_path, monkeypatch):
    write(tmp_path, "data/x/a.tsv")
    (tmp_path / "run").mkdir()
    monkeypatch.chdir(tmp_path)
    for pattern in ("data/x/a.tsv", "./data/x/a.tsv", "data/*/a.tsv", "data/**/*.tsv"):
        assert names(make_plan([corpus(input=(pattern,))])) == ["data/x/a.tsv"]
    monkeypatch.chdir(tmp_path / "run")
    plan = make_plan([corpus(input=("../data/x/a.tsv",))])
    assert names(plan) == ["../data/x/a.tsv"]
    assert plan.files[0].path == str(tmp_path / "data/x/a.tsv")


def test_absolute_names_lose_the_machine_s_directories(tmp_path):
    write(tmp_path, "data/x/a.tsv")
    for pattern, name in {
        "data/x/a.tsv": "a.tsv",
        "data/x/*.tsv": "a.tsv",
        "data/*/a.tsv": "x/a.tsv",
        "d*/x/a.tsv": "data/x/a.tsv",
        "data/**/*.tsv": "x/a.tsv",
    }.items():
        assert names(make_plan([single(tmp_path / pattern)])) == [name]


def test_files_of_one_corpus_never_share_a_name(tmp_path):
    paths = [write(tmp_path, f"{name}/c/a.tsv", name.encode() + b"\tb\n") for name in "xyz"]
    paths.append(write(tmp_path, "a.tsv", b"top\tb\n"))
    one = corpus(name="one", input=tuple(map(str, paths)))
    plan = make_plan([one, dataclasses.replace(one, name="two", input=(str(paths[0]),))])
    assert names(plan) == [
        "x/c/a.tsv",
        "y/c/a.tsv",
        "z/c/a.tsv",
        f"{tmp_path.name}/a.tsv",
        "a.tsv",
    ]


def test_the_corpus_is_named_by_the_configuration_else_by_the_file(tmp_path):
    write(tmp_path, "data/x/a.tsv")
    plan = make_plan([single(tmp_path / "data/*/a.tsv"), single(tmp_path / "data/*/*", name="own")])
    assert [file.corpus for file in plan.files] == ["a.tsv", "own"]
    rows = read_plan(plan)
    assert [(row["corpus"], row["file"], row["unit"]) for row in rows] == [
        ("a.tsv", "x/a.tsv", 0),
        ("own", "x/a.tsv", 1),
    ]


def test_the_same_content_twice_is_read_twice_and_noticed(tmp_path):
    path, copy = write(tmp_path, "a.tsv"), write(tmp_path, "b.tsv")
    plan = make_plan([corpus(input=(str(path), str(path), str(copy)))])
    assert names(plan) == ["a.tsv", "a.tsv", "b.tsv"]
    assert plan.rows == 3
    assert [(notice.code, notice.file) for notice in plan.notices] == [
        ("duplicate_file", "a.tsv"),
        ("duplicate_file", "b.tsv"),
    ]
    assert "the same content as a.tsv" in str(plan.notices[1])


def test_sides_with_the_same_content_are_noticed_as_copied(tmp_path):
    path, copy = write(tmp_path, "a.txt"), write(tmp_path, "b.txt")
    for target, what in ((path, "is the same file"), (copy, "has the same content")):
        assert list(map(str, make_plan([moses(path, target)]).notices)) == [
            f"a.txt: the target {what}; give the translation as target_input [copied]"
        ]


def test_one_source_with_two_targets_is_no_duplicate(tmp_path):
    source = write(tmp_path, "a.en", b"a\n")
    corpora = [
        moses(source, write(tmp_path, "a.de", b"b\n"), name="x"),
        moses(source, write(tmp_path, "a.fr", b"c\n"), name="y", target_lang="fr"),
    ]
    assert make_plan(corpora).notices == ()


# How they are cut


@pytest.mark.parametrize("last", [b"", b"\n"])
@pytest.mark.parametrize("unit_rows", [1, 2, 3, 4, 100])
def test_units_cover_each_file_once_and_in_order(tmp_path, unit_rows, last):
    source = write(tmp_path, "a.en", b"\xef\xbb\xbfone\ntwo\n\nfour" + last)
    target = write(tmp_path, "a.de", b"e\nz\nd\nv" + last)
    plan = make_plan([moses(source, target)], unit_rows=unit_rows)
    assert [unit.rows for unit in plan.units] == [
        min(unit_rows, 4 - start) for start in range(0, 4, unit_rows)
    ]
    assert [unit.first_line for unit in plan.units] == list(range(1, 5, unit_rows))
    for side, path in enumerate((source, target)):
        parts = [unit.parts[side] for unit in plan.units]
        data = b"".join(path.read_bytes()[slice(*part.ranges[0])] for part in parts)
        assert data == path.read_bytes()
        assert all(path.read_bytes()[: part.ranges[0][1]][-1:] == b"\n" for part in parts[:-1])


def test_files_carry_size_digest_and_rows(tmp_path):
    data = gzip.compress(b"a\tb\nc\td\n")
    plan = make_plan([single(write(tmp_path, "a.tsv.gz", data), name="c")])
    [file] = plan.files
    assert (file.bytes, file.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    assert (file.rows, file.role, file.format, file.corpus) == (2, "pairs", "tsv", "c")
    assert plan.units[0].stored_bytes == len(data)


def all_formats(tmp_path) -> list[CorpusInput]:
    pq.write_table(
        pa.table({"source": ["a", "b", "c"], "target": ["d", "e", "f"]}),
        tmp_path / "a.parquet",
        row_group_size=2,
    )
    tsv = b"id\ten\tde\n1\ta\tb\n2\tc\td\n"
    return [
        single(write(tmp_path, "a.tsv", tsv), source_field="en", target_field="de"),
        single(write(tmp_path, "b.tsv.zst", zstandard.compress(tsv)), source_field="1"),
        single(write(tmp_path, "a.jsonl", b'{"source": "a", "target": "b"}\n' * 3)),
        single(tmp_path / "a.parquet"),
        single(write(tmp_path, "a.po", b'msgid "a"\nmsgstr "b"\n'), po_take=("fuzzy",)),
        moses(
            write(tmp_path, "a.en.gz", gzip.compress(b"1\n2\n")), write(tmp_path, "a", b"3\n4\n")
        ),
    ]


def test_units_survive_pickle_and_json_and_the_plan_is_the_same_each_time(tmp_path):
    corpora = all_formats(tmp_path)
    plan = make_plan(corpora, unit_rows=2)
    assert [unit.format for unit in plan.units] == [
        *["tsv"] * 2,
        *["jsonl"] * 2,
        *["parquet"] * 2,
        "po",
        "moses",
    ]
    for unit in plan.units:
        assert pickle.loads(pickle.dumps(unit)) == unit
        assert Unit.from_json(json.loads(json.dumps(unit.to_json()))) == unit
    for threads in (1, 5):
        assert make_plan(corpora, LIMITS, unit_rows=2, threads=threads) == plan


def test_of_several_bad_files_the_first_is_reported(tmp_path):
    good = b"a\tb\n" * 200_000
    for name in "abc":
        write(tmp_path, f"{name}.tsv.gz", gzip.compress(good * (3 if name == "a" else 1))[:-9])
    for threads in (1, 3):
        error = refused(single(tmp_path / "*.gz"), threads=threads)
        assert (error.code, error.path) == ("gzip_truncated", "a.tsv.gz")


def test_a_damaged_file_is_refused_before_any_unit_is_made(tmp_path):
    packed = gzip.compress(b"a\tb\n" * 1000)
    bad = packed[:-8] + b"\0\0\0\0" + packed[-4:]
    assert refused(single(write(tmp_path, "a.tsv.gz", bad))).code == "gzip_corrupt"
    assert refused(single(write(tmp_path, "b.po.gz", packed[:-1]))).code == "gzip_truncated"
    frame = zstandard.compress(b"a\tb\n" * 1000)
    assert refused(single(write(tmp_path, "c.jsonl.zst", frame[:-1]))).code == "zstd_truncated"


def test_a_file_that_expands_too_far_is_refused(tmp_path):
    path = write(tmp_path, "a.jsonl.gz", gzip.compress(b"{}" * (10 << 20)))
    assert refused(single(path)).code == "expansion_limit"


def test_an_unreadable_file_is_an_error_that_names_it(tmp_path, monkeypatch):
    path = write(tmp_path, "a.tsv")

    def fail(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pairweave.transforms.storage.files.open_read", fail)
    error = refused(single(path))
    assert (error.code, error.path) == ("unreadable", "a.tsv")


class Store:
    """An object store that hands out bytes a few at a time."""

    def __init__(self, objects: dict[str, bytes]) -> None:
        self.objects = objects

    def match(self, pattern: str) -> list[str]:
        return sorted(path for path in self.objects if path.startswith(pattern.removesuffix("*")))

    def size(self, path: str) -> int:
        return len(self.objects[path])

    def open_read(self, path: str) -> io.BytesIO:
        class Trickle(io.BytesIO):
            def read(self, size=-1):
                return super().read(min(size, 7) if size > 0 else size)

        return Trickle(self.objects[path])


def test_objects_in_a_store_are_named_by_their_uri_and_read_from_there(monkeypatch):
    sink = io.BytesIO()
    pq.write_table(pa.table({"source": ["e"], "target": ["f"]}), sink)
    store = Store(
        {
            "gs://bucket/in/a.tsv": b"a\tb\nc\td\n",
            "gs://bucket/in/b.tsv.gz": gzip.compress(b"g\th\n"),
            "gs://bucket/in/c.parquet": sink.getvalue(),
        }
    )
    for name in ("match", "size", "open_read"):
        monkeypatch.setattr(f"pairweave.transforms.storage.files.{name}", getattr(store, name))
    plan = make_plan([corpus(input=("gs://bucket/in/*",))], unit_rows=1)
    assert names(plan) == list(store.objects)
    assert [file.path for file in plan.files] == names(plan)
    rows = read_plan(plan)
    assert pairs(rows) == [("a", "b"), ("c", "d"), ("g", "h"), ("e", "f")]
    assert {row["file"] for row in rows} == set(store.objects)


# What configurations are refused


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "give either input or source_input"),
        ({"input": ("a",), "source_input": ("b",)}, "give either input or source_input"),
        ({"source_input": ("a",)}, "belong together; target_input is missing for a"),
        ({"translation_input": ("a",)}, "belong together"),
        ({"input": ("a",), "forward_links": ("b",)}, "forward_links and reverse_links belong"),
        ({"input": ("a",), "reverse_links": ("b",)}, "forward_links and reverse_links belong"),
        ({"input": ("a",), "name": ""}, "must not be empty"),
        ({"input": ("a",), "target_lang": None}, "target_lang is missing"),
        ({"input": ("a",), "target_lang": "de_DE"}, "not a language tag"),
        ({"input": ("a",), "field_count": 1}, "field_count must be 2"),
    ],
)
def test_corpora_that_contradict_themselves_are_refused(fields, message):
    with pytest.raises(ConfigError, match=message):
        corpus(**fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"input": ("a",), "format": "odt"}, "odt: no such format; expected one of moses, tsv"),
        (
            {"input": ("a",), "po_take": ("untranslated",)},
            "input: po_take: input should be 'fuzzy' or 'obsolete', got 'untranslated'",
        ),
        (
            {"input": ("a",), "format": "moses"},
            "format moses or lxm goes with source_input and target_input, every other with input",
        ),
        (
            {"source_input": ("a",), "target_input": ("b",), "format": "po"},
            "every other with input",
        ),
    ],
)
def test_corpora_whose_options_do_not_go_with_their_format_are_refused(fields, message):
    with pytest.raises(ConfigError, match=message):
        make_plan([corpus(**fields)])


def test_corpora_that_contradict_each_other_or_lack_a_language_are_refused(tmp_path):
    path = write(tmp_path, "a.tsv")
    with pytest.raises(ConfigError, match="two corpora are named x"):
        make_plan([single(path, name="x"), single(path, name="x")])
    with pytest.raises(ConfigError, match=r"a\.tsv: source_lang is missing"):
        make_plan([single(path, source_lang=None)])
    with pytest.raises(ConfigError, match="unit_rows must be 1"):
        make_plan([single(path)], unit_rows=0)


@pytest.mark.parametrize("field", list(ReadLimits.model_fields))
def test_limits_out_of_range_are_refused(field):
    with pytest.raises(ConfigError, match=f"{field} must be"):
        ReadLimits(**{field: -1})


def test_planning_and_reading_local_files_does_not_load_beam(tmp_path):
    write(tmp_path, "a.tsv", b"a\tb\nc\td\n")
    code = (
        "import sys; from pathlib import Path; from tests.makers import reading; "
        "from pairweave.transforms.planning.plan import make_plan; "
        "plan = make_plan([reading.single(Path(sys.argv[1]))]); "
        "read = reading.pairs(reading.read_plan(plan)); "
        "print(read, any(name.startswith('apache_beam') for name in sys.modules))"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "a.tsv")]
    root = Path(__file__).parents[3]
    done = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
    assert done.stdout == "[('a', 'b'), ('c', 'd')] False\n"
