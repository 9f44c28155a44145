"""Data sets of the hub: which files a split has, and what is refused with what there is instead.

The hub is imitated (`tests.makers.hub`); `datasets` and `huggingface_hub` are the real ones, in a
process of their own, since they read the hub's address when they are imported.
"""

import gzip
import io
import json
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairweave.pipelines.command_line import outputs
from pairweave.transforms.errors import InputError
from pairweave.transforms.planning.hub_data_sets import DataSetFile, check_first_row
from pairweave.transforms.storage.hub_places import is_data_set, parse_place
from tests.makers import hub, reading
from tests.makers.runs import ROOT

CARD = """---
configs:
- config_name: de-en
  data_files:
  - {split: train, path: "de-en/train-*"}
  - {split: test, path: de-en/test-0.parquet}
- config_name: fr-en
  data_files: fr-en/*.parquet
---
"""
CSV_CARD = """---
configs:
- {config_name: default, data_files: "*.csv", sep: "SEPARATOR"}
---
"""


def parquet(*rows):
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), buffer)
    return buffer.getvalue()


ROW = {"translation": {"en": "a", "de": "b"}}
DATA_SETS = {
    "org/several": {
        "README.md": CARD.encode(),
        **{f"de-en/train-{n}.parquet": parquet(*[ROW] * (n + 1)) for n in range(2)},
        "de-en/test-0.parquet": parquet(ROW),
        "fr-en/a.parquet": parquet(ROW),
    },
    "org/lines": {"train.jsonl.gz": gzip.compress(b'{"source": "a", "target": "b"}\n')},
    "org/semicolon": {
        "README.md": CSV_CARD.replace("SEPARATOR", ";").encode(),
        "a.csv": b"source;target\na;b\n",
    },
    "org/bar": {
        "README.md": CSV_CARD.replace("SEPARATOR", "|").encode(),
        "a.csv": b"source|target\na|b\n",
    },
    "org/text": {"train.txt": b"a\n"},
    "org/elsewhere": {
        "README.md": b"---\nconfigs:\n- {config_name: default, data_files: "
        b'"hf://datasets/org/lines@main/train.jsonl.gz"}\n---\n',
    },
}
_NAMES = {
    "several": "hf://org/several/de-en?split=train",
    "one": "hf://org/several/fr-en",
    "at_commit": f"hf://org/several/de-en?split=test&revision={hub.COMMIT}",
    "lines": "hf://org/lines",
    "semicolon": "hf://org/semicolon?split=train",
    "no_config": "hf://org/several",
    "other_config": "hf://org/several/de-fr?split=train",
    "no_split": "hf://org/several/de-en",
    "other_split": "hf://org/several/de-en?split=dev",
    "no_repository": "hf://org/none?split=train",
    "no_revision": "hf://org/lines?revision=v2",
    "bar": "hf://org/bar",
    "text": "hf://org/text",
    "elsewhere": "hf://org/elsewhere",
}
_SCRIPT = """
import dataclasses, json, sys
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.planning.hub_data_sets import data_set_files
from pairweave.transforms.storage.hub_places import parse_place

found = {}
for name, place in json.load(sys.stdin).items():
    try:
        found[name] = [dataclasses.asdict(file) for file in data_set_files(parse_place(place))]
    except ConfigError as error:
        found[name] = str(error)
print(json.dumps(found))
"""


def ask(places, home, **environment):
    variables = {"HF_HOME": str(home), "HF_HUB_DISABLE_TELEMETRY": "1", **environment}
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT],
        input=json.dumps(places),
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Return what each place of `_NAMES` is, and the address of the imitation."""
    with hub.running(DATA_SETS) as server:
        result = ask(_NAMES, tmp_path_factory.mktemp("home"), HF_ENDPOINT=server.url)
    return {**result, "url": server.url}


def test_the_files_of_a_split_are_named_by_its_commit_and_fetched(answers):
    root = f"hf://datasets/org/several@{hub.COMMIT}"
    actual = answers["several"]
    assert [file["name"] for file in actual] == [f"{root}/de-en/train-{n}.parquet" for n in (0, 1)]
    assert [file["format"] for file in actual] == ["parquet", "parquet"]
    assert [pq.read_metadata(file["path"]).num_rows for file in actual] == [1, 2]


@pytest.mark.parametrize(
    ("name", "file"), [("one", "fr-en/a.parquet"), ("at_commit", "de-en/test-0.parquet")]
)
def test_the_only_split_needs_no_name_and_a_commit_is_a_revision(answers, name, file):
    assert [each["name"].partition("@")[2] for each in answers[name]] == [f"{hub.COMMIT}/{file}"]


def test_compressed_lines_and_csv_of_other_delimiters_are_known(answers):
    (lines,) = answers["lines"]
    assert (lines["format"], lines["compression"], lines["format_options"]) == ("jsonl", "gzip", {})
    (semicolon,) = answers["semicolon"]
    assert semicolon["format"] == "csv"
    assert semicolon["format_options"] == {"csv_delimiter": "semicolon"}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "no_config",
            "has several configurations: de-en, fr-en; name one, as in hf://org/several/de-en "
            "[no_match]",
        ),
        ("other_config", "has no configuration de-fr; it has de-en, fr-en [no_match]"),
        (
            "no_split",
            "has several splits: train, test; name one, as in hf://org/several/de-en?split=train "
            "[no_match]",
        ),
        ("other_split", "has no split dev; it has train, test [no_match]"),
        (
            "no_repository",
            "URL has no data set org/none, or it is private; check the name, or log in (hf auth "
            "login) [no_match]",
        ),
        ("no_revision", "the data set org/lines has no revision v2 [no_match]"),
        (
            "bar",
            "its CSV has the delimiter '|'; expected a comma, a semicolon or a tab "
            "[unsupported_format]",
        ),
        (
            "text",
            f"its file hf://datasets/org/text@{hub.COMMIT}/train.txt is in a format that is not "
            "read; expected .parquet, .jsonl, .ndjson, .json, .csv, .tsv. Load it with datasets, "
            "write it with to_parquet, and give that file with --input [unsupported_format]",
        ),
    ],
)
def test_what_a_data_set_lacks_is_refused_with_what_it_has(answers, name, said):
    assert answers[name] == f"{_NAMES[name]}: {said.replace('URL', answers['url'])}"


def test_a_file_of_another_data_set_is_refused(answers):
    start = "hf://org/elsewhere: the library datasets cannot read it: Data files don't belong to"
    assert answers["elsewhere"].startswith(start)


@pytest.mark.slow
@pytest.mark.parametrize(
    "environment", [{"HF_ENDPOINT": "http://127.0.0.1:9"}, {"HF_HUB_OFFLINE": "1"}]
)
def test_without_a_network_the_hub_is_named_and_what_to_do(tmp_path, environment):
    said = ask({"a": "hf://org/lines"}, tmp_path, **environment)["a"]
    assert said.startswith("hf://org/lines: cannot be looked up at http")
    assert "Without a network, fetch them elsewhere and give them with --input [no_match]" in said


@pytest.mark.parametrize(
    "text",
    [
        *("hf://", "hf://org", "hf://org/", "hf:///name", "hf://org/name/a/b", "hf://o g/name"),
        *("hf://org/name?train", "hf://org/name?split=", "hf://org/name//"),
        *("hf://org/name?split=a&split=b", "hf://org/name?part=a", "hf://datasets/org/name"),
    ],
)
def test_what_is_no_place_of_a_data_set_is_refused(text):
    with pytest.raises(InputError) as error:
        parse_place(text)
    assert "expected hf://OWNER/NAME, or hf://OWNER/NAME/CONFIG?split=SPLIT" in str(error.value)


def test_a_place_has_the_name_of_a_corpus():
    assert parse_place("hf://org/name?split=train").corpus == "org/name"
    assert parse_place("hf://org/name/de-en/").corpus == "org/name/de-en"
    assert is_data_set("hf://org/name")
    assert not is_data_set("data/hf")


def test_the_question_mark_of_a_place_is_no_pattern():
    outputs.require_unmatched("output", "hf:/org/name", ["hf://org/name?split=train"])


@pytest.mark.parametrize(
    ("row", "fields", "said"),
    [
        ('{"source": "a", "target": "b"}', {}, None),
        ('{"translation": {"en": "a", "de": "b"}}', {}, None),
        ('{"x": "a", "y": "b"}', {"source_field": "x", "target_field": "y"}, None),
        ("\n  \n" + '{"source": "a", "target": "b"}', {}, None),
        ("no JSON", {}, None),
        ("1", {}, None),
        ("", {}, None),
        (
            '{"x": "a", "y": "b"}',
            {},
            "its first row has no source, target; it has x, y. Name two of these with "
            "--source_field and --target_field [missing_column]",
        ),
        (
            '{"x": "a", "y": "b"}',
            {"source_field": "x"},
            "its first row has no target; it has x, y. Name two of these with --source_field and "
            "--target_field [missing_column]",
        ),
        (
            '{"translation": {"en": "a", "fr": "b"}}',
            {},
            "its first row has no translation.de; it has translation.en, translation.fr. Name two "
            "of these with --source_lang and --target_lang [missing_column]",
        ),
        (
            '[{"source": "a"}]',
            {},
            "is one array of JSON, not a row in each line; load it with datasets, write it with "
            "to_parquet, and give that file with --input [unsupported_format]",
        ),
    ],
)
def test_the_first_row_of_lines_of_json_has_what_is_read(tmp_path, row, fields, said):
    (tmp_path / "a.gz").write_bytes(gzip.compress(row.encode()))
    file = DataSetFile(str(tmp_path / "a.gz"), "a", "jsonl", "gzip", {})
    corpus = reading.corpus(input=("hf://org/name",), **fields)
    if said is None:
        check_first_row(file, corpus)
        return
    with pytest.raises(InputError) as error:
        check_first_row(file, corpus)
    assert str(error.value) == f"a: {said}"
