"""Formats of other packages: their pairs become rows, and their files are read to the end."""

import gzip
import json

import pytest

from pairweave.transforms.errors import ConfigError, InputError, WorkerError
from pairweave.transforms.formats import registry
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.plugins.corpus_format import FORMAT
from pairweave.transforms.units import ReadLimits, Unit
from tests.makers import plugins, reading
from tests.makers.plugins import write_package

CODE = """
class Format:
    about = "a pair in each line, with a bar between its sides"

    def read(self, file, source_lang, target_lang):
        Format.seen = source_lang, target_lang
        for line in file:
            source, _, target = line.decode().rstrip("\\n").partition("|")
            yield source or None, target or None

FORMAT = Format()
"""


@pytest.fixture(autouse=True)
def forgotten():
    yield
    plugins.forget()


def planned(given):
    return make_plan([given])


def install(tmp_path, monkeypatch, code=CODE):
    points = {"pairweave.formats": {"bars": "a_module:FORMAT"}}
    plugins.use(monkeypatch, write_package(tmp_path / "site", code=code, points=points))


@pytest.fixture
def bars(tmp_path, monkeypatch):
    """Return a function that reads bytes in the format; the format's code may be given."""

    def read(content, code=CODE, name="a.bars", **more):
        install(tmp_path, monkeypatch, code)
        (tmp_path / name).write_bytes(content)
        monkeypatch.chdir(tmp_path)
        return reading.read_all(reading.corpus(input=(name,), format="bars", **more))

    return read


def test_no_format_of_pairweave_can_be_taken_by_a_plugin():
    names = {entry.name for entry in registry.ENTRIES}
    assert names | {"pharaoh", "attention"} == FORMAT.built_in


def test_pairs_are_rows_numbered_from_1(bars):
    rows = bars(b"ein Hund|a dog\neine Katze|a cat")
    assert reading.pairs(rows) == [("ein Hund", "a dog"), ("eine Katze", "a cat")]
    assert [row["line"] for row in rows] == [1, 2]


def test_a_compressed_file_is_decompressed_first(bars):
    rows = bars(gzip.compress(b"a|b\n"), name="a.bars.gz")
    assert reading.pairs(rows) == [("a", "b")]


def test_a_file_without_pairs_is_no_error(bars):
    assert bars(b"") == []


def test_tags_in_texts_are_treated_as_asked(bars):
    rows = bars(b"a <b>c</b>|d <b>e</b>\n", inline_tags="strip")
    assert reading.pairs(rows) == [("a c", "d e")]


def test_a_side_that_cannot_be_kept_rejects_its_pair(bars):
    code = CODE.replace("line.decode()", "line.decode(errors='surrogateescape')")
    rows = bars(b"a|\n\x07|b\nc\xff|d\n" + b"e" * 300 + b"|f\ng|h\n", code=code)
    reasons = [row["reason"] for row in rows]
    assert reasons == ["missing_field", "control_char", "invalid_utf8", None, None]
    assert rows[2]["detail"] == "source: lone surrogate U+DCFF at character 1"
    assert rows[2]["target"] == "d"


def test_a_long_text_rejects_its_pair(tmp_path, monkeypatch):
    install(tmp_path, monkeypatch)
    (tmp_path / "a.bars").write_bytes(b"e" * 300 + b"|f\n")
    limits = ReadLimits(max_line_bytes=200)
    given = reading.corpus(input=(str(tmp_path / "a.bars"),), format="bars")
    (row,) = reading.read_all(given, limits=limits)
    assert row["reason"] == "line_too_long"


def test_the_bytes_behind_the_last_pair_belong_to_the_file(tmp_path, monkeypatch):
    """A reader may stop early; the digest is that of the whole file all the same."""
    code = CODE.replace("for line in file:", "for line in [file.readline()]:")
    install(tmp_path, monkeypatch, code)
    path = tmp_path / "a.bars"
    path.write_bytes(b"a|b\n" + b"more" * 4_000_000)
    plan = planned(reading.corpus(input=(str(path),), format="bars"))
    assert plan.files[0].bytes == path.stat().st_size
    assert reading.pairs(reading.read_plan(plan)) == [("a", "b")]
    path.write_bytes(b"a|b\n" + b"MORE" * 4_000_000)
    with pytest.raises(WorkerError):
        reading.read_plan(plan)


def test_a_format_that_yields_other_pairs_at_each_reading_is_named(bars):
    code = CODE.replace("for line in file:", "for line in self.some(file):") + (
        "Format.calls = 0\n"
        "def some(self, file):\n"
        "    Format.calls += 1\n"
        "    yield from list(file)[: Format.calls]\n"
        "Format.some = some\n"
    )
    with pytest.raises(ConfigError) as error:
        bars(b"a|b\nc|d\ne|f\n", code=code)
    start = "--format bars: read of a-package 1 (a_module:FORMAT) yielded 2 pairs of a.bars, and 1 "
    assert str(error.value).startswith(start + "when the run was planned; expected tuples")
    assert "the same at each reading" in str(error.value)


def test_a_unit_has_the_plugin_also_as_json(tmp_path, monkeypatch):
    install(tmp_path, monkeypatch)
    (tmp_path / "a.bars").write_bytes(b"a|b\n")
    (unit,) = planned(reading.corpus(input=(str(tmp_path / "a.bars"),), format="bars")).units
    assert unit.plugin is not None
    assert (unit.format, unit.plugin.distribution) == ("bars", "a-package")
    assert Unit.from_json(json.loads(json.dumps(unit.to_json()))) == unit


def test_a_worker_with_other_code_refuses_the_unit(tmp_path, monkeypatch):
    install(tmp_path, monkeypatch)
    (tmp_path / "a.bars").write_bytes(b"a|b\n")
    plan = planned(reading.corpus(input=(str(tmp_path / "a.bars"),), format="bars"))
    install(tmp_path, monkeypatch, CODE + "# another\n")
    with pytest.raises(ConfigError, match="its code changed after this process loaded it"):
        reading.read_plan(plan)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("yield 'a', 'b', 'c'", "yielded \"('a', 'b', 'c')\" as pair 1 of a.bars; expected tuples"),
        ("yield 'ab'", "yielded 'ab' as pair 1 of a.bars; expected tuples"),
        ("yield None", "yielded 'None' as pair 1 of a.bars; expected tuples"),
        ("raise SystemExit(0)", "raised SystemExit: 0 after pair 0 of a.bars"),
        ("raise BaseException('panic')", "raised BaseException: panic after pair 0 of a.bars"),
        ("yield 1, 'b'", "yielded \"(1, 'b')\" as pair 1 of a.bars; expected tuples"),
        ("raise KeyError('two\\nlines')", "raised KeyError: 'two\\nlines' after pair 0 of a.bars"),
        (
            "file.seek(0)",
            "raised UnsupportedOperation: File or stream is not seekable. after pair 0",
        ),
    ],
)
def test_what_is_no_pair_is_refused(bars, body, said):
    code = CODE.replace("for line in file:", f"{body}\n        for line in file:")
    with pytest.raises(ConfigError) as error:
        bars(b"a|b\n", code=code)
    message = str(error.value)
    assert message.startswith(f"--format bars: read of a-package 1 (a_module:FORMAT) {said}")
    assert message.endswith("fix that package, or give another format")


def test_a_method_that_returns_nothing_is_refused(bars):
    code = CODE.replace("yield source or None, target or None", "pass")
    with pytest.raises(ConfigError, match=r"a_module:FORMAT. raised TypeError: "):
        bars(b"a|b\n", code=code)


def test_a_file_that_the_format_refuses_is_named(bars):
    code = CODE.replace("Format.seen =", "raise ValueError('line 1: no\\nbar'); Format.seen =")
    with pytest.raises(InputError) as error:
        bars(b"a\n", code=code)
    assert str(error.value) == (
        "a.bars: bars of a-package 1 cannot read it after pair 0: line 1: no bar; mend the file, "
        "or give another --format [unreadable]"
    )


def test_damaged_compression_is_an_error_of_the_file_and_not_of_the_plugin(bars):
    with pytest.raises(InputError, match="gzip_truncated"):
        bars(gzip.compress(b"a|b\n" * 99)[:-9], name="a.bars.gz")
