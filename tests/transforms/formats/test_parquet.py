import base64
import contextlib
import io
import types

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.errors import InputError, WorkerError
from pairweave.transforms.formats import parquet
from pairweave.transforms.formats.registry import read_unit
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.reading.parquet.parquet_cells import byte_lengths
from pairweave.transforms.reading.parquet.parquet_footer import encrypted_columns
from pairweave.transforms.units import EarlierRun, ReadLimits
from tests.makers.reading import LIMITS, pairs, read_all, read_plan, reasons, single

TABLE = pa.table(
    {
        "n": pa.array(range(10)),
        "source": [f"source {number}" for number in range(10)],
        "target": [f"target {number}\nline" for number in range(10)],
    }
)
EXPECTED = list(zip(TABLE["source"].to_pylist(), TABLE["target"].to_pylist(), strict=True))


def write(tmp_path, table, name="a.parquet", **options):
    path = tmp_path / name
    pq.write_table(table, path, **options)
    return path


def text_table(source, target, kind=None, **others):
    return pa.table({"source": pa.array(source, kind), "target": pa.array(target, kind), **others})


def unchecked(values: list[bytes]) -> pa.Array:
    """Return strings that are not checked to be UTF-8."""
    raw = pa.array(values, pa.binary())
    return pa.StringArray.from_buffers(len(raw), raw.buffers()[1], raw.buffers()[2])


@pytest.mark.parametrize(("expansion", "floor", "most"), [(2, 0, 20), (2, 1000, 100)])
def test_a_row_group_holds_its_share_of_text_and_no_byte_more(expansion, floor, most):
    part = types.SimpleNamespace(ranges=[(0, 4), (90, 100)])
    unit = types.SimpleNamespace(parts=[part], stored_bytes=10, row_group=0, file="a.parquet")
    limits = ReadLimits(max_expansion=expansion, expansion_floor_bytes=floor)
    budget = parquet._TextBudget(unit, limits)
    budget.spend(most)
    with pytest.raises(InputError, match=f"the 10 bytes read of row group 0 hold {most + 1} bytes"):
        budget.spend(1)


def test_a_row_group_is_a_unit_and_lines_count_on(tmp_path):
    path = write(tmp_path, TABLE, row_group_size=4)
    plan = make_plan([single(path)])
    assert [(unit.rows, unit.first_line, unit.row_group) for unit in plan.units] == [
        (4, 1, 0),
        (4, 5, 1),
        (2, 9, 2),
    ]
    rows = read_plan(plan, batch_rows=3)
    assert pairs(rows) == EXPECTED
    assert [row["line"] for row in rows] == list(range(1, 11))


@pytest.mark.parametrize(
    "options",
    [
        {"compression": "none"},
        {"compression": "zstd", "use_dictionary": False},
        {"compression": "gzip", "data_page_version": "2.0"},
        {"write_page_index": True, "write_page_checksum": True},
    ],
)
def test_every_way_of_writing_gives_the_same_rows(tmp_path, options):
    path = write(tmp_path, TABLE, row_group_size=3, **options)
    assert pairs(read_all(single(path))) == EXPECTED


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())],
)
def test_every_type_of_text_is_read(tmp_path, kind):
    path = write(tmp_path, text_table(["a", "b", "a"], ["x", "y", "x"], kind))
    assert pairs(read_all(single(path))) == [("a", "x"), ("b", "y"), ("a", "x")]


def test_only_the_wanted_columns_are_fetched(tmp_path):
    noise = np.random.default_rng(1).bytes(1_000_000)
    path = write(tmp_path, text_table(["a"], ["b"], other=pa.array([noise], pa.binary())))
    plan = make_plan([single(path)])
    assert plan.units[0].stored_bytes < 5_000
    assert plan.files[0].bytes > 1_000_000
    assert pairs(read_plan(plan)) == [("a", "b")]


def test_texts_by_language_are_read_where_there_is_no_source_and_target(tmp_path):
    values = [{"en": "a", "de": "b"}, {"en": "c", "de": None}, None]
    kind = pa.struct([("de", pa.string()), ("en", pa.string()), ("fr", pa.string())])
    path = write(tmp_path, pa.table({"translation": pa.array(values, kind)}))
    rows = read_all(single(path))
    assert pairs(rows) == [("a", "b")]
    assert reasons(rows) == [None, "missing_field", "missing_field"]
    assert [row["source"] for row in rows] == ["a", "c", None]


def test_a_translation_is_read_where_there_is_one_and_required_when_asked_for(tmp_path):
    path = write(tmp_path, text_table(["a", "b"], ["c", "d"], translation=["e", None]))
    rows = read_all(single(path))
    assert [(row["translation"], row["reason"]) for row in rows] == [("e", None), (None, None)]
    rows = read_all(single(path, translation_field="translation"))
    assert reasons(rows) == [None, "missing_field"]
    path = write(tmp_path, text_table(["a"], ["c"], translation=[1]), "b.parquet")
    assert read_all(single(path))[0]["translation"] is None


@pytest.mark.parametrize(
    ("table", "fields", "wanted"),
    [
        (
            pa.table({"source": ["a"]}),
            {},
            "wanted source: string, target: string; found source: string",
        ),
        (text_table([1], [2], pa.int64()), {}, "found source: int64, target: int64"),
        (text_table([b"a"], [b"b"], pa.binary()), {}, "found source: binary"),
        (TABLE, {"source_field": "src"}, "wanted src: string, target: string; found n: int64"),
        (
            TABLE,
            {"run": EarlierRun((), {})},
            "wanted corpus: string, file: string, line: int64; found n: int64",
        ),
        (TABLE, {"translation_field": "mt"}, "wanted source: string, target: string, mt: string"),
        (pa.table({"translation": [{"en": "a", "fr": "b"}]}), {}, "translation.de: string"),
        (
            pa.table([["a"], ["b"], ["c"]], ["source", "target", "source"]),
            {},
            "a.parquet: has 2 columns named source; rename all but one, or give another column: ",
        ),
        (pa.table({}), {}, "found no columns"),
    ],
)
def test_a_missing_or_mistyped_column_lists_wanted_and_found(tmp_path, table, fields, wanted):
    with pytest.raises(InputError) as caught:
        make_plan([single(write(tmp_path, table), **fields)])
    assert caught.value.code == "missing_column"
    assert wanted in str(caught.value)
    assert caught.value.path == "a.parquet"


def test_nulls_bad_utf8_controls_and_long_cells_are_rows_with_reasons(tmp_path):
    source = unchecked([b"ok", b"a\xff", b"x" * 200, b"a\0", b"tab\tcr\r", b"g"])
    target = pa.array(["ok", "b", "c", "d", "e", None])
    path = write(tmp_path, pa.table({"source": source, "target": target}))
    rows = read_all(single(path), limits=ReadLimits(max_line_bytes=100))
    assert [(row["reason"], row["detail"]) for row in rows] == [
        (None, None),
        ("invalid_utf8", "source: 0xFF at byte 1"),
        ("line_too_long", "source: 200 bytes, max_line_bytes is 100"),
        ("control_char", "source: U+0000 at byte 1 of the text"),
        (None, None),
        ("missing_field", "target: null"),
    ]
    assert [row["target"] for row in rows] == ["ok", "b", "c", "d", "e", None]
    assert [row["raw"] for row in rows][1:4] == [b"a\xff", b"x" * 200, b"a\0"]


def test_zero_bytes_are_an_error_and_zero_rows_a_notice(tmp_path):
    empty = tmp_path / "empty.parquet"
    empty.write_bytes(b"")
    with pytest.raises(InputError) as caught:
        make_plan([single(empty)])
    assert caught.value.code == "empty_file"
    plan = make_plan([single(write(tmp_path, TABLE.slice(0, 0)))])
    assert (plan.rows, plan.units) == (0, ())
    assert [notice.code for notice in plan.notices] == ["empty_file"]


def damaged(data: bytes):
    yield data[:-1]
    yield data[: len(data) // 2]
    yield data[:4]
    yield data[1:]
    yield b"plain text, no Parquet"
    yield data[:-12] + b"\xff\xff\xff\x7f" + data[-8:]
    yield data[:-8] + b"\xff\xff\xff\x7fPAR1"
    yield data[:-8] + b"\x02\0\0\0PAR1"


def test_truncated_or_damaged_files_are_errors_with_the_name(tmp_path):
    path = write(tmp_path, TABLE)
    for data in damaged(path.read_bytes()):
        path.write_bytes(data)
        with pytest.raises(InputError) as caught:
            make_plan([single(path)])
        assert caught.value.code == "parquet_corrupt"
        assert str(caught.value).startswith("a.parquet: ")


def test_the_length_of_a_footer_has_four_bytes(tmp_path):
    path = write(tmp_path, TABLE)
    path.write_bytes(path.read_bytes()[:-8] + (1 << 24).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(InputError, match="bytes are fewer than its footer says"):
        make_plan([single(path)])


def test_parquet_is_not_compressed_again(tmp_path):
    path = write(tmp_path, TABLE, "a.parquet.gz")
    with pytest.raises(InputError, match="unsupported_format"):
        make_plan([single(path)])


def flip(path, position):
    data = bytearray(path.read_bytes())
    data[position] ^= 0xFF
    path.write_bytes(bytes(data))


def test_pages_damaged_before_the_plan_are_the_input_s_fault(tmp_path):
    path = write(tmp_path, TABLE, compression="zstd", use_dictionary=False)
    start = pq.read_metadata(path).row_group(0).column(1).data_page_offset
    for position in range(start, start + 40):
        flip(path, position)
    plan = make_plan([single(path)])
    with pytest.raises(InputError) as caught:
        list(read_unit(plan.units[0], LIMITS))
    assert caught.value.code == "parquet_corrupt"
    assert "row group 0 is damaged" in str(caught.value)


def test_bytes_changed_after_the_plan_are_a_worker_error(tmp_path):
    path = write(tmp_path, TABLE, row_group_size=5)
    plan = make_plan([single(path)])
    flip(path, plan.units[0].parts[0].ranges[0][0] + 3)
    with pytest.raises(WorkerError, match=r"a\.parquet: .* have digest"):
        list(read_unit(plan.units[0], LIMITS))
    assert pairs([row for b in read_unit(plan.units[1], LIMITS) for row in b.to_pylist()])
    path.unlink()
    with pytest.raises(WorkerError, match="cannot read"):
        list(read_unit(plan.units[1], LIMITS))


def test_long_rows_come_in_smaller_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "BATCH_BYTES", 100_000)
    path = write(
        tmp_path, text_table([f"{number:05d}" * 200 for number in range(400)], ["b"] * 400)
    )
    plan = make_plan([single(path)])
    sizes = [batch.num_rows for batch in read_unit(plan.units[0], LIMITS)]
    assert sum(sizes) == 400
    assert 10 < max(sizes) < 200


def test_a_file_written_in_one_go_or_streamed_has_the_same_rows(tmp_path):
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, TABLE.schema) as writer:
        for batch in TABLE.to_batches(max_chunksize=3):
            writer.write_batch(batch)
    path = tmp_path / "b.parquet"
    path.write_bytes(sink.getvalue())
    assert pairs(read_all(single(path))) == EXPECTED


def shared(text: str, rows: int) -> pa.DictionaryArray:
    """Return a column whose rows all have one text, held once."""
    return pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([text]))


UNBOUNDED = ReadLimits(max_expansion=1 << 20, expansion_floor_bytes=1 << 40)


def test_texts_that_rows_share_are_refused_where_they_expand_too_much(tmp_path):
    column = shared("x y " * 225_000, 3_000)
    path = write(tmp_path, pa.table({"source": column, "target": column}), compression="zstd")
    assert path.stat().st_size < 2_000
    with pytest.raises(InputError, match=r"max_expansion 200.*\[expansion_limit\]"):
        list(read_unit(make_plan([single(path)]).units[0], LIMITS))


def test_texts_that_rows_share_pass_where_the_limit_allows_it_in_bounded_batches(tmp_path):
    column = shared("x y " * 225_000, 3_000)
    path = write(tmp_path, pa.table({"source": column, "target": shared("a b", 3_000)}))
    unit = make_plan([single(path)], UNBOUNDED).units[0]
    rows = 0
    for batch in read_unit(unit, UNBOUNDED):
        assert batch.nbytes < parquet.BATCH_BYTES + (1 << 20)
        assert batch.column("line")[0].as_py() == rows + 1
        rows += batch.num_rows
        if rows > 300:
            break
    else:
        pytest.fail("the batches are too large")


@pytest.mark.parametrize("plain", [True, False])
def test_long_texts_that_rows_share_are_not_copied_into_a_whole_batch(tmp_path, monkeypatch, plain):
    monkeypatch.setattr(parquet, "_EXPANDED_BYTES", 10_000)
    texts = ["long " * 100, "short", None] * 40
    column = pa.array(texts) if plain else pa.array(texts).dictionary_encode()
    table = pa.table({"source": column, "target": ["t"] * 120})
    seen = []
    monkeypatch.setattr(
        parquet, "byte_lengths", lambda found: seen.append(found.type) or byte_lengths(found)
    )
    rows = read_all(single(write(tmp_path, table)))
    assert [row["source"] for row in rows] == texts
    assert sum(map(pa.types.is_dictionary, seen)) >= 1


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), "shared"])
def test_cells_over_the_limit_are_rejected_with_their_start_whatever_their_type(tmp_path, kind):
    texts = ["\u00e9" * 60, "short", None, "\u00e9" * 60]
    column = pa.array(texts).dictionary_encode() if kind == "shared" else pa.array(texts, kind)
    path = write(tmp_path, pa.table({"source": column, "target": ["t"] * 4}))
    rows = read_all(single(path), limits=ReadLimits(max_line_bytes=100))
    assert [row["reason"] for row in rows] == [
        *("line_too_long", None, "missing_field", "line_too_long")
    ]
    assert rows[0]["detail"] == "source: 120 bytes, max_line_bytes is 100"
    assert rows[0]["raw"] == texts[0].encode()
    assert rows[0]["source"] is None


def test_a_footer_that_says_how_far_a_file_expands_is_believed_before_anything_is_read(tmp_path):
    path = write(
        tmp_path,
        text_table(["a b " * 200_000] * 40, ["t"] * 40),
        compression="zstd",
        use_dictionary=False,
    )
    with pytest.raises(InputError, match=r"row group 0 hold .*\[expansion_limit\]"):
        make_plan([single(path)])
    with pytest.raises(InputError, match="max_file_bytes 1000"):
        make_plan([single(path)], ReadLimits(max_expansion=1 << 20, max_file_bytes=1000))


def encrypted(path, columns, *, plain_footer=True):
    """Write a file of which some columns need a key."""
    encryption = pytest.importorskip("pyarrow.parquet.encryption")

    class Keys(encryption.KmsClient):
        def __init__(self, _config):
            super().__init__()

        def wrap_key(self, key, _name):
            return base64.b64encode(key)

        def unwrap_key(self, key, _name):
            return base64.b64decode(key)

    factory = encryption.CryptoFactory(Keys)
    properties = factory.file_encryption_properties(
        encryption.KmsConnectionConfig(),
        encryption.EncryptionConfiguration(
            footer_key="footer", column_keys={"key": columns}, plaintext_footer=plain_footer
        ),
    )
    table = text_table(["a", "b"], ["x", "y"], other=["1", "2"])
    with pq.ParquetWriter(path, table.schema, encryption_properties=properties) as writer:
        writer.write_table(table)
    return path


def test_encrypted_columns_are_refused_by_name(tmp_path):
    path = encrypted(tmp_path / "a.parquet", ["target"])
    with pytest.raises(InputError, match=r"the column target is encrypted.*\[unsupported_format\]"):
        make_plan([single(path)])


def test_encrypted_columns_that_nobody_wants_do_not_matter(tmp_path):
    path = encrypted(tmp_path / "a.parquet", ["other"])
    assert pairs(read_all(single(path))) == [("a", "x"), ("b", "y")]


def test_an_encrypted_footer_is_refused(tmp_path):
    path = encrypted(tmp_path / "a.parquet", ["target"], plain_footer=False)
    with pytest.raises(InputError, match=r"is encrypted.*\[unsupported_format\]"):
        make_plan([single(path)])


def test_a_footer_holds_numbers_of_64_bits_and_none_longer():
    number = b"\x16" + b"\xff" * 9 + b"\x01\0"  # a field of 64 bits, of which each is set
    assert encrypted_columns(number) == frozenset()
    with pytest.raises(ValueError, match="more than 64 bits"):
        encrypted_columns(b"\x16" + b"\xff" * 10 + b"\x01\0")


@given(st.data())
def test_a_damaged_footer_is_walked_to_an_end(data):
    sink = io.BytesIO()
    pq.write_table(TABLE, sink, row_group_size=4)
    footer = bytearray(sink.getvalue()[-8 - int.from_bytes(sink.getvalue()[-8:-4], "little") : -8])
    assert encrypted_columns(bytes(footer)) == frozenset()
    for _ in range(data.draw(st.integers(1, 5))):
        place = data.draw(st.integers(0, len(footer) - 1))
        footer[place] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ValueError):
        encrypted_columns(bytes(footer))


@pytest.mark.parametrize("code", [*range(9), 0x0B, 0x0C, *range(0x0E, 0x20)])
def test_every_control_but_tab_and_line_ends_is_refused(tmp_path, code):
    path = write(tmp_path, text_table([f"a{chr(code)}", "b"], ["c", "d\t\r\n"]))
    rows = read_all(single(path))
    assert reasons(rows) == ["control_char", None]
    assert rows[0]["detail"] == f"source: U+{code:04X} at byte 1 of the text"
