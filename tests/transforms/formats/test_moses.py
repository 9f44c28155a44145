import dataclasses
import gzip
import json
import os
import tempfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from pairweave.transforms.errors import InputError, WorkerError
from pairweave.transforms.formats.registry import read_unit
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.reading import json_documents
from pairweave.transforms.reading.scan_lines import LineCounter
from pairweave.transforms.units import ReadLimits
from tests.makers.reading import (
    LIMITS,
    moses,
    normal,
    pairs,
    read_all,
    read_plan,
    reasons,
    slow_pairs,
)

LINES = ["plain", "", "tab\there", "ü€😀", "x" * 40, "a\rb", "nul\0", "\ufeffmark", "\u2028"]
RAW_LINES = [line.encode() for line in LINES] + [b"\xff", b"a\xed\xa0\x80", b"\xc3"]
line = st.sampled_from(RAW_LINES)


def write(directory: Path, name: str, data: bytes) -> Path:
    path = directory / name
    path.write_bytes(data)
    return path


@st.composite
def line_parallel(draw):
    """Draw two texts with as many lines as each other."""
    rows = draw(st.lists(st.tuples(line, line), max_size=30))
    sides = []
    for side in range(2):
        end = draw(st.sampled_from([b"\n", b"\r\n"]))
        data = end.join(row[side] for row in rows)
        if rows and (draw(st.booleans()) or not rows[-1][side]):
            data += end
        sides.append(draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + data)
    return tuple(sides)


@settings(max_examples=60)
@given(
    texts=line_parallel(),
    limit=st.sampled_from([20, 1 << 20]),
    unit_rows=st.integers(1, 12),
    batch_rows=st.integers(1, 10),
)
def test_rows_are_what_the_slow_reader_says_however_they_are_cut(
    texts, limit, unit_rows, batch_rows
):
    limits = ReadLimits(max_line_bytes=limit)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        plain = [
            write(directory, f"{side}.txt", text) for side, text in zip("st", texts, strict=True)
        ]
        gz = [
            write(directory, f"{side}.gz", gzip.compress(text))
            for side, text in zip("st", texts, strict=True)
        ]
        zst = [
            write(directory, f"{side}.zst", zstandard.compress(text))
            for side, text in zip("st", texts, strict=True)
        ]
        rows = read_all(moses(*plain), limits=limits, unit_rows=unit_rows, batch_rows=batch_rows)
        assert [(row["line"], row["source"], row["target"], row["reason"]) for row in rows] == list(
            slow_pairs(*texts, limit)
        )
        for other in (gz, zst, (plain[0], zst[1]), (gz[0], plain[1])):
            again = read_all(moses(*other), limits=limits, unit_rows=unit_rows)
            assert normal(again) == normal(rows)
        whole = read_all(moses(*plain), limits=limits)
        assert normal(whole) == normal(rows)


def test_a_side_that_can_be_read_is_kept_beside_one_that_cannot(tmp_path):
    source = write(tmp_path, "a.en", b"One.\nTw\xffo.\nThree.\nFour.\n")
    target = write(tmp_path, "a.de", b"Eins.\nZwei.\nDr\0ei.\n" + b"V" * 50 + b"\n")
    rows = read_all(moses(source, target), limits=ReadLimits(max_line_bytes=20))
    assert reasons(rows) == [None, "invalid_utf8", "control_char", "line_too_long"]
    assert [row["source"] for row in rows] == ["One.", None, "Three.", "Four."]
    assert [row["target"] for row in rows] == ["Eins.", "Zwei.", None, None]
    assert [row["raw"] for row in rows] == [None, b"Tw\xffo.", b"Dr\0ei.", b"V" * 50]
    assert [row["detail"] for row in rows] == [
        None,
        "source: 0xFF at byte 2 of the line, byte 7 of the file",
        "target: U+0000 at byte 2 of the line",
        "target: 50 bytes, max_line_bytes is 20",
    ]


def test_the_first_side_with_a_problem_gives_the_reason(tmp_path):
    source = write(tmp_path, "a.en", b"\0\n")
    target = write(tmp_path, "a.de", b"\xff\n")
    [row] = read_all(moses(source, target))
    assert (row["reason"], row["source"], row["target"]) == ("control_char", None, None)


def test_blank_sides_are_rows_with_an_id(tmp_path):
    rows = read_all(moses(write(tmp_path, "a", b"\n \n"), write(tmp_path, "b", b"x\n\n")))
    assert pairs(rows) == [("", "x"), (" ", "")]
    assert all(len(row["id"]) == 32 for row in rows)


def test_characters_are_kept_as_they_are_written(tmp_path):
    text = "e\u0301 \u00e9 \u202e\u200f\u05d0 \u200d\u200c \ufb01 \u00a0x\u00ad "
    text += "\U0001f468\u200d\U0001f469 \u0085\x7f "
    [row] = read_all(
        moses(write(tmp_path, "a", text.encode()), write(tmp_path, "b", text.encode()))
    )
    assert (row["source"], row["target"]) == (text, text)


def test_a_line_parallel_translation_goes_into_column_and_id(tmp_path):
    source = write(tmp_path, "a.en", b"One.\nTwo.\nThree.\n")
    target = write(tmp_path, "a.de", b"Eins.\nZwei.\nDrei.\n")
    other = write(tmp_path, "a.mt", b"Ein.\nZw\xff\n\n")
    rows = read_all(moses(source, target, other), unit_rows=2)
    assert [row["translation"] for row in rows] == ["Ein.", None, ""]
    assert reasons(rows) == [None, "invalid_utf8", None]
    assert rows[1]["detail"].startswith("translation: 0xFF at byte 2")
    without = read_all(moses(source, target))
    assert [row["id"] == old["id"] for row, old in zip(rows, without, strict=True)] == [
        False,
        True,
        False,
    ]


@pytest.mark.parametrize("tail", ["", "\n"])
def test_unequal_line_counts_refuse_the_pair_of_files_with_both_counts(tmp_path, tail):
    source = write(tmp_path, "a.en", b"1\n2\n3" + tail.encode())
    target = write(tmp_path, "a.de", b"1\n2" + tail.encode())
    with pytest.raises(InputError) as caught:
        make_plan([moses(source, target)])
    assert caught.value.code == "line_count_mismatch"
    assert "a.en has 3 lines, a.de has 2 lines" in str(caught.value)
    assert caught.value.path == "a.de"


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("limit", [1 << 20, 120])
def test_a_lost_line_is_named_with_its_place(tmp_path, shared_data, pack, limit):
    names = [shared_data / "parallel" / f"newstest.en-de.{side}.gz" for side in ("en", "de")]
    sides = [gzip.decompress(name.read_bytes()).split(b"\n")[:1_000] for name in names]
    sides[0][100:103] = [b"\xff", b"a\0", b""]  # a line that cannot be read keeps its place
    del sides[1][600]
    ending = "gz" if pack is gzip.compress else "txt"
    files = [
        write(tmp_path, f"{name}.{ending}", pack(b"\n".join(lines)))
        for name, lines in zip(("en", "de"), sides, strict=True)
    ]
    links = write(tmp_path, "a.links", b"0-0\n" * 1_000)
    for more in ({}, {"links": (str(links),)}):
        with pytest.raises(InputError) as caught:
            make_plan([moses(*files, **more)], ReadLimits(max_line_bytes=limit))
        assert (caught.value.code, caught.value.path) == ("line_count_mismatch", f"de.{ending}")
        assert abs(caught.value.line - 601) <= 5
        said = f"lines, and from line {caught.value.line} on the target is 1 line ahead"
        assert said in str(caught.value)


def test_nothing_is_said_of_texts_with_as_many_lines_as_each_other(tmp_path, shared_data):
    names = [shared_data / "parallel" / f"newstest.en-de.{side}.gz" for side in ("en", "de")]
    sides = [gzip.decompress(name.read_bytes()).split(b"\n")[:400] for name in names]
    texts = [b"\n".join(sides[0][1:]), b"\n".join(sides[1][:-1])]
    source, target, links = (
        write(tmp_path, name, data)
        for name, data in zip(("en", "de", "links"), [*texts, b"0-0\n" * 9], strict=True)
    )
    with pytest.raises(InputError) as caught:
        make_plan([moses(source, target, links=(str(links),))])
    assert (caught.value.path, caught.value.line) == ("links", None)
    assert "the target is" not in str(caught.value)


@pytest.mark.parametrize("odd", ["a.en", "a.de", "a.links"])
def test_the_file_that_has_other_lines_than_most_is_the_one_named(tmp_path, odd):
    lines = dict.fromkeys(("a.en", "a.de", "a.links"), b"0-0\n0-0\n")
    lines[odd] += b"0-0\n"
    source, target, links = (write(tmp_path, name, data) for name, data in lines.items())
    with pytest.raises(
        InputError, match=f"^{odd}: a.en has .*, a.de has .*, a.links has"
    ) as raised:
        make_plan([moses(source, target, links=(str(links),))])
    assert (raised.value.code, raised.value.path) == ("line_count_mismatch", odd)


def test_zero_byte_text_is_no_rows_and_a_notice(tmp_path):
    plan = make_plan([moses(write(tmp_path, "a", b""), write(tmp_path, "b", b"\xef\xbb\xbf"))])
    assert plan.rows == 0
    assert plan.units == ()
    assert [(notice.code, notice.file) for notice in plan.notices] == [
        ("empty_file", "a"),
        ("empty_file", "b"),
        ("byte_order_mark", "b"),
    ]


def test_dropped_carriage_returns_and_marks_are_counted(tmp_path):
    source = write(tmp_path, "a", b"\xef\xbb\xbfone\r\ntwo\nthree\r")
    target = write(tmp_path, "b.gz", gzip.compress(b"eins\r\nzwei\r\ndrei\r\n"))
    plan = make_plan([moses(source, target)])
    assert [(notice.code, notice.file, notice.count) for notice in plan.notices] == [
        ("byte_order_mark", "a", 1),
        ("carriage_returns", "a", 2),
        ("carriage_returns", "b.gz", 3),
    ]
    assert pairs(read_plan(plan)) == [("one", "eins"), ("two", "zwei"), ("three", "drei")]


def test_carriage_returns_are_counted_however_the_text_is_cut():
    text = b"a\r\n\r\nb\n\r\n"
    for cut in range(len(text) + 1):
        counter = LineCounter()
        for chunk in (text[:cut], b"", text[cut:]):
            counter.scan_chunk(chunk)
        counter.finish()
        assert (counter.lines, counter.carriage_returns) == (4, 3), cut


def planned(tmp_path, **options):
    source = write(tmp_path, "a.en", b"one\ntwo\nthree\n")
    target = write(tmp_path, "a.de", b"eins\nzwei\ndrei\n")
    return source, target, make_plan([moses(source, target)], **options)


def drain(unit):
    return list(read_unit(unit, LIMITS))


def test_a_file_that_is_gone_or_moved_is_a_worker_error_never_an_empty_result(tmp_path):
    source, _, plan = planned(tmp_path)
    source.unlink()
    with pytest.raises(WorkerError, match=r"a\.en: cannot read .* on this worker"):
        drain(plan.units[0])


def test_units_are_read_from_any_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    write(tmp_path, "a.en", b"one\n")
    write(tmp_path, "a.de", b"eins\n")
    plan = make_plan([moses("a.en", "a.de")])
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert pairs(read_plan(plan)) == [("one", "eins")]
    assert plan.units[0].file == "a.en"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"one\ntwo\nthrea\n", "have digest"),
        (b"one\ntwo\n", "14 bytes were planned, 8 are there"),
        (b"one\ntwo\nth\ree\n", "have digest"),
        (b"onetwothree\n\n\n", "have digest"),
        (b"onetwothreee\n", "bytes were planned"),
    ],
)
def test_a_file_that_changed_since_the_plan_is_a_worker_error(tmp_path, data, message):
    source, _, plan = planned(tmp_path)
    source.write_bytes(data)
    with pytest.raises(WorkerError, match=message) as caught:
        drain(plan.units[0])
    assert "a.en" in str(caught.value)


def test_a_side_that_goes_on_where_the_other_ends_is_named_with_the_last_common_line(tmp_path):
    _, _, plan = planned(tmp_path)
    (tmp_path / "shorter").mkdir()
    pair = write(tmp_path / "shorter", "a.en", b"1\n2\n"), write(tmp_path, "b.de", b"eins\nzwei\n")
    shorter = make_plan([moses(*pair)])
    parts = plan.units[0].parts[0], shorter.units[0].parts[1]
    unit = dataclasses.replace(plan.units[0], parts=parts)
    with pytest.raises(WorkerError, match=r"a\.en: continues after line 2, where .*b\.de ends"):
        drain(unit)


def test_only_the_units_whose_bytes_changed_fail(tmp_path):
    source, _, plan = planned(tmp_path, unit_rows=1)
    source.write_bytes(b"one\ntwo\nTHREE\n")
    assert pairs([row for unit in plan.units[:2] for row in rows_of(unit)]) == [
        ("one", "eins"),
        ("two", "zwei"),
    ]
    with pytest.raises(WorkerError, match="have digest"):
        drain(plan.units[2])


def test_a_unit_is_read_in_batches_of_at_most_8192_rows(tmp_path):
    sides = [write(tmp_path, name, b"a\n" * 8193) for name in ("a.en", "a.de")]
    (unit,) = make_plan([moses(*sides)]).units
    assert [len(batch) for batch in read_unit(unit, LIMITS)] == [8192, 1]


def rows_of(unit):
    return [row for batch in read_unit(unit, LIMITS) for row in batch.to_pylist()]


def test_a_compressed_file_truncated_after_the_plan_is_a_worker_error(tmp_path):
    packed = gzip.compress(os.urandom(5000).hex().encode() + b"\n")
    source = write(tmp_path, "a.en.gz", packed)
    target = write(tmp_path, "a.de", b"eins\n")
    plan = make_plan([moses(source, target)])
    source.write_bytes(packed[:-6])
    with pytest.raises(WorkerError, match=r"a\.en\.gz"):
        drain(plan.units[0])


def test_real_text_is_read_as_the_slow_reader_reads_it(shared_data):
    source = shared_data / "parallel" / "newstest.en-de.en.gz"
    target = shared_data / "parallel" / "newstest.en-de.de.gz"
    rows = read_all(moses(source, target))
    texts = (gzip.decompress(path.read_bytes()) for path in (source, target))
    actual = [(row["line"], row["source"], row["target"], row["reason"]) for row in rows]
    assert actual == list(slow_pairs(*texts, 1 << 20))
    assert len(actual) == 27_743


@pytest.mark.parametrize(
    ("text", "is_lxm"),
    [
        ('{"lang": "en", "type": "source", "text": {"a": "x"}}\n', True),
        ('\ufeff{\n "text": {\n  "a": "x"}}\n', True),
        ('{"text": "x"}\n"text": {"y": "z"}}\n', False),
        ('{"lang": "en", "text": "x {y"\n' * 2, False),
        ('{ "type": press "text": {\n', False),
    ],
)
def test_json_with_names_of_texts_is_not_read_as_lines(tmp_path, text, is_lxm):
    sides = [write(tmp_path, f"x.{name}", text.encode()) for name in ("en", "de")]
    if is_lxm:
        with pytest.raises(InputError, match="this is LXM JSON; give --format lxm"):
            make_plan([moses(*sides)])
    else:
        assert make_plan([moses(*sides)]).rows == len(text.splitlines())


MESSAGES = {"hello": "Hello", "bye": "Bye \u00e9"}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (json.dumps(MESSAGES, indent=2), "object"),
        ("\ufeff\n" + json.dumps(MESSAGES), "object"),
        (json.dumps([MESSAGES], indent=2) + "\n\n", "array"),
        (json.dumps({"en": MESSAGES}) + "\n" + json.dumps(MESSAGES), None),
        ('{"hello": "Hello"\n"bye": "Bye"}\n', None),
        ("[Music]\n[Applause]\n", None),
        ('["Go home," he said. [1]\n', None),
        ("[1]\n", None),
        ("{}\n", None),
        ("", None),
    ],
)
@pytest.mark.parametrize("larger", [False, True], ids=["whole", "by its ends"])
def test_text_that_is_one_json_document_is_refused(tmp_path, monkeypatch, text, kind, larger):
    if larger:
        size = max(1, len(text.encode()) - 3)
        monkeypatch.setattr(json_documents, "PARSED_BYTES", size)
    sides = [write(tmp_path, f"i18n.{name}", text.encode()) for name in ("en", "de")]
    if kind is None:
        assert make_plan([moses(*sides)]).rows == len(text.splitlines())
        return
    with pytest.raises(InputError) as refused:
        make_plan([moses(*sides)])
    assert refused.value.code == "json_as_text"
    said = str(refused.value)
    assert said.startswith(f"i18n.en: this is one JSON {kind}, and text must have a sentence on")
    assert "JSON lines (.jsonl), each an object with source and target" in said


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
@pytest.mark.parametrize("indent", [None, 1])
def test_a_large_json_document_is_refused_by_its_ends(tmp_path, compress, indent):
    text = json.dumps({f"key{number}": "A sentence." for number in range(60_000)}, indent=indent)
    ending = "gz" if compress is gzip.compress else "txt"
    path = write(tmp_path, f"i18n.{ending}", compress(text.encode()))
    with pytest.raises(InputError, match="this is one JSON object"):
        make_plan([moses(path, path)])
    lines = "".join(f'{{"text": "Sentence {number}."}}\n' for number in range(60_000))
    path = write(tmp_path, f"lines.{ending}", compress(lines.encode()))
    with pytest.raises(InputError, match="this is JSON lines, each an object; give one file with"):
        make_plan([moses(path, path)])
