"""The registry of formats: each line agrees with its module, and one line is enough."""

import ast
import dataclasses
import gzip
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from pairweave.pipelines.job_options.pair_options import AlignOptions
from pairweave.pipelines.options.corpus_options import PairCorpus
from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.export.export_formats import MarkupExport, RowExport
from pairweave.transforms.formats import registry
from pairweave.transforms.formats.registry import FormatOptions
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.planning.reading_facts import reading_facts
from pairweave.transforms.reading.input_format import InputFormat
from pairweave.transforms.units import CorpusInput
from tests.makers import csvpair, finished_runs
from tests.makers.reading import corpus, pairs, read_all, reasons, single

ROOM = Path(registry.__file__).parent


@pytest.mark.parametrize("entry", registry.ENTRIES, ids=lambda entry: entry.name)
def test_a_line_says_what_its_module_has(entry):
    module = registry._module(entry.name)
    assert hasattr(module, "INPUT") == entry.reads
    assert hasattr(module, "EXPORT") == (entry.writes is not None)
    if entry.reads:
        assert isinstance(module.INPUT, InputFormat)
        assert module.INPUT.name == entry.name
    if entry.writes is not None:
        kind = RowExport if entry.writes == "rows" else MarkupExport
        assert isinstance(module.EXPORT, kind)
        assert module.EXPORT.name == entry.name
    if entry.writes in ("elements", "characters"):
        assert (module.EXPORT.syntax is None) == (entry.writes == "elements")


def test_every_module_with_a_format_has_a_line():
    names = {entry.name for entry in registry.ENTRIES}
    for path in ROOM.glob("*.py"):
        assigned = {
            target.id
            for node in ast.parse(path.read_text(encoding="utf-8")).body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        assert bool(assigned & {"INPUT", "EXPORT"}) == (path.stem in names), path


def test_an_extension_tells_one_format():
    endings = [ending for actual in registry.input_formats() for ending in actual.extensions]
    assert len(set(endings)) == len(endings)
    assert all(ending == ending.lower() for ending in endings)


def test_names_are_known_without_any_reader():
    code = (
        "import sys; from pairweave.transforms.formats import registry; "
        "registry.input_names(), registry.export_names(); "
        "sys.exit(any(name.partition('.')[0] in ('pyarrow', 'numpy') for name in sys.modules))"
    )
    root = Path(__file__).parents[3]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


@pytest.fixture
def registered(monkeypatch):
    """Register a format as its file in the room and its line would."""
    monkeypatch.setitem(sys.modules, f"{registry.__package__}.csvpair", csvpair)
    entry = registry.Entry("csvpair", True, "characters", frozenset({"csvpair_between"}))
    monkeypatch.setattr(registry, "ENTRIES", (*registry.ENTRIES, entry))
    monkeypatch.setattr(registry, "FormatOptions", csvpair.CsvpairOptions)


@pytest.mark.usefixtures("registered")
def test_a_format_with_a_file_and_a_line_is_planned_and_read(tmp_path):
    text = "a|||b\nno pair\nüber|||c\n".encode()
    (tmp_path / "a.csvpair").write_bytes(text)
    (tmp_path / "b.csvpair.gz").write_bytes(gzip.compress(text))
    actual = read_all(corpus(input=(str(tmp_path / "*"),)), unit_rows=2)
    assert pairs(actual) == [("a", "b"), ("über", "c")] * 2
    assert reasons(actual) == [None, "field_count", None] * 2
    (tmp_path / "a.txt").write_bytes(text)
    assert pairs(read_all(single(tmp_path / "a.txt", format="csvpair"))) == pairs(actual)[:2]
    with pytest.raises(InputError, match=r"supported: \.tsv, .*, \.csvpair, each also as \.gz"):
        make_plan([single(tmp_path / "a.txt")])


@pytest.mark.usefixtures("registered")
def test_the_option_of_a_format_reaches_its_reader_and_the_plan(tmp_path):
    (tmp_path / "a.csvpair").write_bytes(b"a==b\n")
    (tmp_path / "a.tsv").write_bytes(b"c\td\n")
    made = CorpusInput("en", "de", input=(str(tmp_path / "*"),))
    own = dataclasses.replace(made, format_options={"csvpair_between": "=="})
    assert pairs(read_all(own)) == [("a", "b"), ("c", "d")]
    assert reasons(read_all(made)) == ["field_count", None]
    facts = reading_facts(make_plan([own]))
    assert [way.get("csvpair_between") for way in facts] == ["==", None]
    with pytest.raises(ConfigError, match="csvpair_between: string should have at least 1 char"):
        make_plan([dataclasses.replace(made, format_options={"csvpair_between": ""})])


def test_the_option_of_a_format_is_no_hindrance_to_files_of_others(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n")
    made = CorpusInput("en", "de", input=(str(tmp_path / "*"),))
    rows = read_all(dataclasses.replace(made, format_options={"po_take": ("fuzzy",)}))
    assert pairs(rows) == [("a", "b")]


def test_the_options_of_formats_are_flags_of_jobs_on_pairs():
    own = {name for entry in registry.ENTRIES for name in registry.options_of(entry.name)}
    assert own == {"csv_delimiter", "po_take", "xliff_take"}
    assert own == FormatOptions.model_fields.keys()
    assert own < PairCorpus.model_fields.keys()
    assert own < AlignOptions.model_fields.keys()


@pytest.mark.usefixtures("registered")
def test_a_format_with_a_file_and_a_line_is_exported(tmp_path):
    finished_runs.write_run(str(tmp_path / "run"))
    assert registry.export_names()[-1] == "csvpair"
    written = {}
    for form in ("csvpair", "html"):
        done = finished_runs.export_pairs(
            str(tmp_path / "run"), form, str(tmp_path / form), rows="all", unfit="leave_out"
        )
        (path,) = done.paths
        written[form] = Path(path).read_bytes()
    rows = [orjson.loads(line) for line in written["html"].splitlines()]
    lines = [f"{row['source']}|||{row['target']}\n" for row in rows]
    assert written["csvpair"].decode() == "".join(lines) != ""
    assert Path(done.paths[0]).name == "pairs.jsonl"
    assert (tmp_path / "csvpair" / "pairs.csvpair").exists()
