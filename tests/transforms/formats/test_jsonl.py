import gzip
import json
import tempfile
from pathlib import Path

import orjson
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pairweave.transforms.errors import InputError
from pairweave.transforms.formats.jsonl import _KeySearch, parse_object
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.reading.known_content import known_content
from pairweave.transforms.reading.rows import Problem
from pairweave.transforms.units import ReadLimits
from tests.makers.reading import normal, pairs, read_all, reasons, single


def write(directory: Path, *lines: bytes, name: str = "a.jsonl") -> Path:
    path = directory / name
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def line(**fields) -> bytes:
    return json.dumps(fields).encode()


GOOD = line(source="One.", target="Eins.")


def test_fields_are_taken_by_name_and_others_ignored(tmp_path):
    path = write(tmp_path, GOOD, b' {"x": [1, {"y": null}], "target": "\\u00fc", "source": "b"} \r')
    assert pairs(read_all(single(path))) == [("One.", "Eins."), ("b", "ü")]
    path = write(tmp_path, line(src="a", tgt="b", mt="c"))
    fields = {"source_field": "src", "target_field": "tgt", "translation_field": "mt"}
    [row] = read_all(single(path, **fields))
    assert (row["source"], row["target"], row["translation"]) == ("a", "b", "c")


def test_links_that_are_null_or_missing_are_told_apart(tmp_path):
    path = write(
        tmp_path,
        line(source="a b", target="c", links=[[0, 0]]),
        line(source="a", target="b", links=None),
        GOOD,
    )
    rows = read_all(single(path, links_field="links"))
    assert [(row["reason"], row["detail"]) for row in rows] == [
        (None, None),
        ("missing_field", "links: field 'links' is null"),
        ("missing_field", "links: field 'links' is missing"),
    ]


def test_a_translation_is_read_where_there_is_one_and_required_when_asked_for(tmp_path):
    path = write(tmp_path, line(source="a", target="b", translation="c"), GOOD)
    rows = read_all(single(path))
    assert [row["translation"] for row in rows] == ["c", None]
    assert reasons(rows) == [None, None]
    rows = read_all(single(path, translation_field="translation"))
    assert reasons(rows) == [None, "missing_field"]


def test_texts_by_language_are_read_where_there_is_no_source_and_target(tmp_path):
    path = write(
        tmp_path,
        line(id=1, translation={"en": "a", "de": "b"}),
        line(translation={"en": "a", "fr": "b"}),
        GOOD,
    )
    rows = read_all(single(path))
    assert pairs(rows) == [("a", "b"), ("One.", "Eins.")]
    assert rows[0]["translation"] is None
    assert (rows[1]["reason"], rows[1]["source"]) == ("missing_field", "a")
    assert rows[1]["detail"] == "target: field 'de' is missing"


def test_texts_by_language_beside_a_source_are_no_translation(tmp_path):
    path = write(
        tmp_path,
        line(source="a", target="b", translation={"en": "c", "de": "d"}),
        line(translation="c"),
    )
    rows = read_all(single(path))
    assert [(row["source"], row["reason"]) for row in rows] == [
        ("a", "wrong_type"),
        (None, "missing_field"),
    ]


@pytest.mark.parametrize(
    ("raw", "reason", "detail"),
    [
        (b'{"source": "a", "target": NaN}', "invalid_json", "character 26"),
        (b'{"source": "a", "target": "b", "x": Infinity}', "invalid_json", ""),
        (b'{"source": "\\ud800", "target": "b"}', "invalid_json", "surrogate"),
        (b'{"source": "a", "target": "b"', "invalid_json", ""),
        (b'{"source": "a", "target": "b"} x', "invalid_json", ""),
        (b'{"source": "a\x01", "target": "b"}', "invalid_json", "control character"),
        (b"", "invalid_json", "empty"),
        (b'{"source": "a", "target": "b", "n": ' + b"1" * 5000 + b"}", "invalid_json", "infinity"),
        (b'{"source": "a\xff", "target": "b"}', "invalid_utf8", "0xFF at byte 13"),
        (b'{"source": "\xed\xa0\x80", "target": "b"}', "invalid_utf8", "0xED at byte 12"),
        (b'{"source": "a", "target": "b", "source": "c"}', "duplicate_key", "'source'"),
        (b'{"source": "a\\\\", "target": "b", "target": "b"}', "duplicate_key", "'target'"),
        (b'{"source": "a", "target": "b", "s\\u006furce": "c"}', "duplicate_key", "'source'"),
        (b'{"source": "a", "target": "b", "x": [{"y": 1, "y": 2}]}', "duplicate_key", "'y'"),
        (
            b'{"source": "a", "target": "b", "x": ' + b"[" * 64 + b"]" * 64 + b"}",
            "json_too_deep",
            "65",
        ),
        (b"[" * 100_000, "json_too_deep", "100000"),
        (b'{"target": "b"}', "missing_field", "source: field 'source' is missing"),
        (b'{"source": "a", "target": null}', "missing_field", "target: field 'target' is null"),
        (b'{"source": "a", "target": 1}', "wrong_type", "target: field 'target' should be a str"),
        (b'{"source": ["a"], "target": "b"}', "wrong_type", "is list"),
        (b'["a", "b"]', "wrong_type", "expected an object, found list"),
        (b'"a"', "wrong_type", "found str"),
        (b'{"source": "a\\u0000", "target": "b"}', "control_char", "source: U+0000 at byte 1"),
        (b'{"source": "a", "target": "\\b"}', "control_char", "target: U+0008 at byte 0"),
        (b'{"source": "' + b"a" * (1 << 20) + b'", "target": "b"}', "line_too_long", "1048605"),
    ],
)
def test_a_line_that_cannot_be_trusted_is_rejected_and_the_next_one_read(
    tmp_path, raw, reason, detail
):
    rows = read_all(single(write(tmp_path, raw, GOOD)))
    assert reasons(rows) == [reason, None]
    assert detail in rows[0]["detail"]
    assert rows[0]["raw"] == raw[:4096]
    assert rows[0]["line"] == 1


def test_a_side_that_can_be_read_is_kept(tmp_path):
    for target, reason in ((2, "wrong_type"), ("b\b", "control_char")):
        [row] = read_all(single(write(tmp_path, line(source="a", target=target))))
        assert (row["source"], row["target"], row["reason"]) == ("a", None, reason)


def test_line_feeds_inside_a_text_are_text(tmp_path):
    path = write(tmp_path, line(source="a\nb\tc\r", target="d\u2028e\u0085\u007f"))
    assert pairs(read_all(single(path))) == [("a\nb\tc\r", "d\u2028e\u0085\u007f")]


def test_nesting_up_to_the_limit_is_read(tmp_path):
    deep = b'{"source": "{{{{", "target": "b", "x": ' + b"[" * 63 + b"]" * 63 + b"}"
    assert pairs(read_all(single(write(tmp_path, deep)))) == [("{{{{", "b")]
    wide = b'{"source": "a", "target": "b", "x": [' + b"[{}], " * 100 + b"0]}"
    assert pairs(read_all(single(write(tmp_path, wide)))) == [("a", "b")]
    rows = read_all(single(write(tmp_path, GOOD, deep)), limits=ReadLimits(max_json_depth=63))
    assert reasons(rows) == [None, "json_too_deep"]


def test_offsets_in_the_file_do_not_depend_on_the_cut(tmp_path):
    path = write(tmp_path, GOOD, b'{"source": "\xff"}')
    for unit_rows in (1, 2):
        rows = read_all(single(path), unit_rows=unit_rows)
        assert rows[1]["detail"].endswith(f"byte {len(GOOD) + 1 + 12} of the file")


key = st.sampled_from(["a", "b", 'q"', "back\\", "\\\\", "ü"])
scalar = st.none() | st.booleans() | st.integers(-5, 5) | key
value = st.recursive(
    scalar,
    lambda inner: (
        st.lists(inner, max_size=3) | st.lists(st.tuples(key, inner), max_size=3).map(tuple)
    ),
    max_leaves=8,
)


def spelled(found) -> str:
    """Write JSON in which an object is a tuple of (key, value), so that keys can repeat."""
    if isinstance(found, tuple):
        return "{" + ", ".join(f"{json.dumps(k)}: {spelled(v)}" for k, v in found) + "}"
    if isinstance(found, list):
        return "[" + ",".join(map(spelled, found)) + "]"
    return json.dumps(found, ensure_ascii=len(str(found)) % 2 == 0)


def repeats(found) -> bool:
    if isinstance(found, tuple):
        keys = [k for k, _ in found]
        return len(set(keys)) < len(keys) or any(repeats(v) for _, v in found)
    return isinstance(found, list) and any(map(repeats, found))


@given(st.lists(st.tuples(key, value), max_size=4).map(tuple))
def test_keys_given_twice_are_found_at_any_depth_and_only_they(found):
    raw = spelled(found).encode()
    parsed = parse_object(raw, 64)
    if repeats(found):
        assert isinstance(parsed, Problem)
        assert parsed.reason.value == "duplicate_key"
    else:
        assert parsed == orjson.loads(raw)


@settings(max_examples=40)
@given(
    lines=st.lists(st.binary(max_size=30).map(lambda raw: raw.replace(b"\n", b"")), max_size=15),
    good=st.integers(0, 5),
    unit_rows=st.integers(1, 6),
)
def test_any_lines_give_as_many_rows_however_they_are_cut(lines, good, unit_rows):
    lines = [*lines, *[GOOD] * good]
    # A file whose first bytes are another format's is refused as a whole.
    assume(known_content(b"".join(line + b"\n" for line in lines)) is None)
    with tempfile.TemporaryDirectory() as name:
        path = write(Path(name), *lines)
        rows = read_all(single(path), unit_rows=unit_rows, batch_rows=3)
        data = path.read_bytes()
        mark_only = data.startswith(b"\xef\xbb\xbf") and len(data) == 3
        assert len(rows) == (0 if mark_only else len(lines))
        if good:
            assert reasons(rows)[-good:] == [None] * good
            assert set(pairs(rows)[-good:]) == {("One.", "Eins.")}
        packed = Path(name) / "a.jsonl.gz"
        packed.write_bytes(gzip.compress(data))
        assert normal(read_all(single(packed))) == normal(rows)


def test_a_field_of_scores_that_no_line_has_is_refused_with_the_fields_there_are(tmp_path):
    rows = [line(source="a", target="b", laser=0.5), line(source="c", target="d")]
    with pytest.raises(InputError) as caught:
        make_plan([single(write(tmp_path, *rows), score_field="lazer")])
    assert (caught.value.code, caught.value.path) == ("missing_column", "a.jsonl")
    assert "score_field lazer: no line has this field; the first line has source, target, " in str(
        caught.value
    )
    assert "laser" in str(caught.value)


def test_a_field_of_scores_that_some_lines_have_is_read(tmp_path):
    rows = [GOOD, line(source="c", target="d", wert=0), line(source="e", target="f", wert=None)]
    path = write(tmp_path, *rows)
    assert [row["score"] for row in read_all(single(path, score_field="wert"))] == [None, 0, None]
    escaped = line(source="c", target="d", größe=2)
    assert b"\\u00f6" in escaped
    for actual in (escaped, escaped.decode("unicode_escape").encode()):
        path = write(tmp_path, GOOD, actual)
        assert [row["score"] for row in read_all(single(path, score_field="größe"))] == [None, 2]
    empty = make_plan([single(write(tmp_path), score_field="wert")])
    assert empty.rows == 0


@pytest.mark.parametrize("size", [1, 3, 8])
def test_a_key_is_found_wherever_the_text_is_cut(size):
    text = b'{"a": 1, "score": 2}'
    for name, actual in (("score", True), ("scores", False), ("core", False)):
        sought = _KeySearch(name)
        for start in range(0, len(text), size):
            sought.see(text[start : start + size])
        assert sought.seen is actual
