"""The functions of `import pairweave`: the jobs on tables in memory."""

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import pairweave
from pairweave.pipelines import in_memory
from tests.makers import corpora, runs

LANGS = {"source_lang": "en", "target_lang": "de"}
PAIRS = [corpora.sentence(number) for number in range(120)]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Return a model in a directory of its own."""
    directory = tmp_path_factory.mktemp("model") / "hmm"
    return pairweave.fit(PAIRS, output=directory, **LANGS)


def table(pairs=PAIRS):
    source, target = zip(*pairs, strict=True)
    return pa.table({"source": source, "target": target})


def written(directory, job, *more):
    """Run a command on the same pairs and return its rows."""
    pq.write_table(table(), directory / "pairs.parquet")
    words = ("--input", "pairs.parquet", "--source_lang", "en", "--target_lang", "de")
    fields = ("--source_field", "source", "--target_field", "target")
    runs.run_well_here(job, *words, *fields, *more, "--output", job, cwd=directory)
    return pyarrow.dataset.dataset(directory / job / "data").to_table()


@pytest.mark.parametrize(
    ("job", "flags", "options"),
    [
        (
            "augment",
            ("--max_tags", 3, "--seed", 7, "--keep_links"),
            {"max_tags": 3, "seed": 7, "keep_links": True, "whitespace_shift": False},
        ),
        ("align", ("--heuristic", "intersection"), {"heuristic": "intersection"}),
    ],
)
def test_rows_are_those_of_the_command(model, tmp_path, job, flags, options):
    expected = written(tmp_path, job, *flags, "--model", model.directory, "--workers", 1)
    found = getattr(pairweave, job)(PAIRS, model, **LANGS, **options)
    assert found.schema == expected.schema
    assert found.equals(expected)
    assert found.num_rows > 50


def test_a_model_is_fitted_where_none_is_given():
    few = PAIRS[:60]
    fitted = pairweave.fit(few, **LANGS)
    assert pairweave.align(few, **LANGS).equals(pairweave.align(few, fitted, **LANGS))
    directory = fitted.directory
    assert (Path(directory) / "about.json").exists()
    del fitted
    assert not Path(directory).exists()


def test_every_kind_of_table_is_the_same_pairs():
    arrow = table()
    wide = pa.schema([("target", pa.large_string()), ("source", pa.large_string())])
    chunked = pa.concat_tables([arrow.slice(0, 7), arrow.slice(7)]).select(["target", "source"])
    frame = arrow.to_pandas().assign(other=1)
    frame.index = range(1000, 1000 + len(frame))
    kinds = [
        arrow,
        arrow.to_batches()[0],
        chunked.cast(wide),
        frame,
        frame.set_index(pd.Index([str(number) for number in frame.index], name="source_id")),
        pl.from_arrow(arrow),
        (pair for pair in PAIRS),
    ]
    for kind in kinds:
        found = in_memory.as_table(kind, ("source", "target"))
        assert found.equals(arrow), type(kind)


def test_a_run_that_is_kept_has_its_rejects(model, tmp_path):
    pairs = [*PAIRS, ("", "leer")]
    output = tmp_path / "run"
    rows = pairweave.augment(pairs, model, output=output, **LANGS)
    manifest = json.loads((output / "_manifest.json").read_text())
    assert manifest["rejected"]["empty_source"] == 1
    assert pyarrow.dataset.dataset(output / "data").to_table().equals(rows)


def test_suggestions_are_made_of_translations():
    triples = [(source, target, target.replace("ein", "kein")) for source, target in PAIRS]
    rows = pairweave.suggest(triples, methods="random", min_source_words=1, **LANGS)
    assert rows.num_rows > 50
    assert set(rows.column("method").to_pylist()) == {"random"}


def test_links_of_two_directions_are_combined():
    forward, reverse = ["0-0 1-1", "", "0-1"], [[(0, 0), (2, 1)], [], [(0, 1)]]
    found = pairweave.symmetrize(forward, reverse, heuristic="union")
    link = pa.struct([("source", pa.int32()), ("target", pa.int32())])
    assert found.schema == pa.schema([("links", pa.list_(link))])
    shown = [[(x["source"], x["target"]) for x in cell] for cell in found["links"].to_pylist()]
    assert shown == [[(0, 0), (1, 1), (2, 1)], [], [(0, 1)]]
    with pytest.raises(pairweave.PairweaveError, match="one line for each sentence pair"):
        pairweave.symmetrize(["0-0"], [])


def test_tags_are_projected():
    found = pairweave.project_tags(["a <b>house</b>"], ["ein Haus"], ["0-0 1-1"], syntax="html")
    assert found["text"].to_pylist() == ["ein <b>Haus</b>"]
    with pytest.raises(pairweave.PairweaveError, match=r"target_input: .* has a line break"):
        pairweave.project_tags(["a"], ["b\nc"], ["0-0"], syntax="html")


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ("a\tb", "got str; give an Arrow table"),
        (7, "got int"),
        ([("a", "b"), ("c",)], "tuple 1 has 1 items"),
        ([("a", 1)], "a text is none"),
        ({"x": ["a"]}, "tuple"),
        (
            pa.table({"source": ["a"], "ziel": ["b"]}),
            "no column target; their columns: source, ziel",
        ),
        (pa.table({"source": [[1]], "target": ["b"]}), "column source holds no text"),
    ],
)
def test_pairs_that_are_none_are_refused(pairs, said):
    with pytest.raises(pairweave.PairweaveError, match=said):
        pairweave.align(pairs)


def test_options_that_are_none_are_refused(model):
    with pytest.raises(pairweave.PairweaveError, match="max_tag"):
        pairweave.augment(PAIRS, model, max_tag=3)
    with pytest.raises(pairweave.PairweaveError, match="input: pairs in memory are the input"):
        pairweave.augment(PAIRS, model, input="x.tsv")


@pytest.mark.parametrize("name", ["source_field", "translation_field", "format", "corpus"])
def test_options_of_files_are_not_passed_over(name):
    with pytest.raises(pairweave.PairweaveError, match=f"{name}: pairs in memory"):
        pairweave.align(PAIRS, **{name: "tsv"})
    with pytest.raises(pairweave.PairweaveError, match="output: texts in memory"):
        pairweave.project_tags(["a"], ["b"], ["0-0"], output="x")


def test_links_of_a_table_are_read_by_the_aligner_given_alone():
    few = PAIRS[:60]
    lines = pa.array(["0-0"] * len(few))
    pairs = table(few).append_column("links", lines)
    rows = pairweave.align(pairs, aligner="given", tokens="whitespace", **LANGS)
    assert rows.num_rows == len(set(few))
    for cell in rows["links"].to_pylist():
        assert [(link["source"], link["target"]) for link in cell] == [(0, 0)]
    assert pairweave.align(pairs, **LANGS).equals(pairweave.align(few, **LANGS))


def test_links_with_a_line_break_are_refused():
    with pytest.raises(pairweave.PairweaveError, match=r"forward: .* has a line break"):
        pairweave.symmetrize(["0-0\n1-1"], ["0-0", "1-1"])


def test_only_public_names_are_there():
    assert dir(pairweave) == sorted(pairweave.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        pairweave.nothing  # noqa: B018


def test_the_import_loads_no_library():
    code = (
        "import sys, pairweave; "
        "print([name for name in ('apache_beam', 'pyarrow', 'numpy', 'torch', 'pydantic') "
        "if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=runs.ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
