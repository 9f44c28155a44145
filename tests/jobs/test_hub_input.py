"""Jobs on data sets of the hub, which is imitated (`tests.makers.hub`), from the command line."""

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.makers import corpora, hub, runs

PAIRS = [corpora.sentence(number) for number in range(40)]
ROOT = f"hf://datasets/org/pairs@{hub.COMMIT}"
LANGS = ("--source_lang", "en", "--target_lang", "de", "--workers", "1")
CARD = b"---\nconfigs:\n- {config_name: a-b, data_files: '*.parquet'}\n---\n"


def _parquet(pairs):
    rows = [{"id": "x", "translation": {"de": target, "en": source}} for source, target in pairs]
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), buffer, row_group_size=8)
    return buffer.getvalue()


@pytest.fixture
def served(monkeypatch, tmp_path):
    """Serve two data sets; return the server. The cache is in the test's directory."""
    lines = [{"english": source, "german": target} for source, target in PAIRS]
    data_sets = {
        "org/pairs": {
            "README.md": CARD,
            "1.parquet": _parquet(PAIRS[:20]),
            "2.parquet": _parquet(PAIRS[20:]),
        },
        "org/lines": {"train.jsonl": "".join(f"{json.dumps(row)}\n" for row in lines).encode()},
    }
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
    with hub.running(data_sets) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


def align(tmp_path, place):
    words = ("align", "--input", place, *LANGS, "--output", "out")
    return runs.run(*words, cwd=tmp_path)


@pytest.mark.slow
def test_a_split_is_read_as_files_are_and_named_by_its_commit(served, tmp_path):
    status, _, errors = align(tmp_path, "hf://org/pairs/a-b?split=train")
    assert status == 0, errors
    rows = runs.rows_of(tmp_path / "out")
    assert sorted((row["source"], row["target"]) for row in rows) == sorted(PAIRS)
    assert {row["corpus"] for row in rows} == {"org/pairs/a-b"}
    places = {(row["file"], row["line"]) for row in rows}
    assert places == {(f"{ROOT}/{file}.parquet", n) for file in (1, 2) for n in range(1, 21)}
    plan = json.loads((tmp_path / "out" / "_plan.json").read_text())
    assert [file["name"] for file in plan["inputs"]] == [f"{ROOT}/{n}.parquet" for n in (1, 2)]
    assert len(plan["units"]) == 6  # row groups of 8
    # What is there is not fetched again, and what is finished stays.
    fetched = [path for kind, path in served.asked if kind == "GET" and path.endswith("parquet")]
    assert len(fetched) == 2
    status, _, errors = align(tmp_path, "hf://org/pairs/a-b?split=train")
    assert status == 0, errors
    again = [path for kind, path in served.asked if kind == "GET" and path.endswith("parquet")]
    assert again == fetched


@pytest.mark.slow
@pytest.mark.usefixtures("served")
def test_columns_are_named_and_a_missing_language_is_refused_with_those_there(tmp_path):
    fields = ("--source_field", "english", "--target_field", "german")
    words = ("check", "hf://org/lines", "--source_lang", "en", "--target_lang", "de", *fields)
    status, out, errors = runs.run(*words, cwd=tmp_path)
    assert status == 0, errors
    assert out == "40 pairs read: nothing found\n"
    words = ("check", "hf://org/pairs", "--source_lang", "fr", "--target_lang", "de")
    status, _, errors = runs.run(*words, cwd=tmp_path)
    assert status == 2
    last = errors.splitlines()[-1]
    assert f"{ROOT}/1.parquet: " in last
    assert "translation.fr: string" in last
    assert "en" in last.partition("translation.de: string")[2]
    assert "[missing_column]" in last


@pytest.mark.slow
@pytest.mark.usefixtures("served")
def test_without_the_extra_it_is_named(tmp_path):
    package = tmp_path / "packages" / "datasets"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('not here')\n")
    words = ("align", "--input", "hf://org/pairs", *LANGS, "--output", "out")
    status, _, errors = runs.run(*words, cwd=tmp_path, packages=[package.parent])
    assert status == 2
    assert errors.splitlines()[-1] == (
        "pairweave: hf://org/pairs: data sets of the hub need the package datasets; run: pip "
        "install 'pairweave[hub]'"
    )


def test_a_side_alone_cannot_be_a_data_set(tmp_path):
    (tmp_path / "a.de").write_text("a\n")
    words = ("--source_input", "hf://org/a", "--target_input", "a.de", *LANGS, "--output", "out")
    status, _, errors = runs.run_here("align", *words, cwd=tmp_path)
    assert status == 2
    assert errors.splitlines()[-1] == (
        "pairweave: hf://org/a: source_input: a data set has both sides; give it with --input "
        "[no_match]"
    )
