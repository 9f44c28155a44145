"""A job reads on from a finished run: pairs keep their id, corpus, file, line and languages."""

import json
import shutil

import pyarrow.parquet as pq
import pytest

from pairweave.transforms.formats import registry
from pairweave.transforms.planning.earlier_run import input_of_run
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.units import ReadLimits, Unit
from tests.makers import corpora, runs

LANGS = ("--source_lang", "en", "--target_lang", "de")
SMALL = ("--workers", "1", "--shard_pairs", "40")
KEYS = ("id", "source", "target", "corpus", "file", "line")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with a run of align on two corpora, and one of augment on its rows."""
    directory = tmp_path_factory.mktemp("from_run")
    corpora.write_corpus(directory, 60)
    (directory / "more.tsv").write_text(
        "".join("\t".join(corpora.sentence(number)) + "\n" for number in range(900, 930))
    )
    (directory / "two.yaml").write_text(
        "corpora:\n"
        "- {corpus: toy, source_input: corpus.en, target_input: corpus.de, licence: mit}\n"
        "- {input: more.tsv}\n"
    )
    runs.run_well_here(
        "align", "--config", "two.yaml", *LANGS, *SMALL, "--output", "aligned", cwd=directory
    )
    words = ("augment", "--from_run", "aligned", *SMALL, "--model", "aligned/models/hmm")
    runs.run_well_here(*words, "--keep_origin", "--output", "tagged", cwd=directory)
    return directory


def places(rows):
    return {row["id"]: tuple(row[name] for name in KEYS) for row in rows}


def test_pairs_keep_what_says_where_they_come_from(directory):
    words = ("align", "--from_run", "aligned", *SMALL, "--model", "aligned/models/hmm")
    runs.run_well_here(*words, "--output", "again", cwd=directory)
    first, again = (runs.rows_of(directory / name) for name in ("aligned", "again"))
    assert len(first) > 80
    assert places(again) == places(first)
    assert {row["corpus"] for row in again} == {"toy", "more.tsv"}
    actual = [
        json.loads((directory / n / "_manifest.json").read_text()) for n in ("aligned", "again")
    ]
    for name, corpus in actual[0]["corpora"].items():
        rest = actual[1]["corpora"][name]
        assert [rest[key] for key in ("source_lang", "target_lang", "licence", "kept")] == [
            corpus[key] for key in ("source_lang", "target_lang", "licence", "kept")
        ]


def test_tagged_rows_say_where_their_pair_was_first_read(directory):
    by_id = places(runs.rows_of(directory / "aligned"))
    rows = runs.rows_of(directory / "tagged")
    assert rows
    for row in rows:
        assert (row["corpus"], row["file"], row["line"]) == by_id[row["id"]][3:]
    lines = (directory / "corpus.en").read_bytes().splitlines()
    plain = [row for row in rows if row["kind"] == "plain" and row["corpus"] == "toy"]
    assert plain
    for row in plain:
        assert lines[row["line"] - 1].decode() == row["source"]


def test_a_unit_of_an_earlier_run_survives_json(directory):
    given = input_of_run(str(directory / "aligned"), None, None, {})
    unit = make_plan([given]).units[0]
    assert Unit.from_json(json.loads(json.dumps(unit.to_json()))) == unit
    assert unit.earlier == (("more.tsv", None), ("toy", "mit"))
    batch = next(registry.read_unit(unit, ReadLimits()))
    assert set(batch.column("corpus").to_pylist()) <= {"toy", "more.tsv"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--from_run", "nowhere"), "nowhere: no _manifest.json, so there is no finished run"),
        (("--from_run", "tagged"), "tagged: a run of augment has no pairs for another job to read"),
        (
            ("--from_run", "aligned", "--target_lang", "fr"),
            "aligned: its pairs have target_lang de, not fr",
        ),
        (("--from_run", "aligned", "--corpus", "x"), "corpus: the pairs of a run"),
        (
            ("--from_run", "aligned", "--source_field", "target"),
            "source_field: the pairs of a run (from_run) are read from its own columns",
        ),
        (("--from_run", "aligned", "--format", "tsv"), "format: the pairs of a run (from_run) are"),
        (
            ("--from_run", "aligned", "--pharaoh", "links"),
            "--pharaoh links: has a line for each line of the input, but",
        ),
    ],
)
def test_what_cannot_be_read_on_is_refused_by_name(directory, words, message):
    status, _, errors = runs.run_here("align", *words, *SMALL, "--output", "no", cwd=directory)
    assert status == 2
    assert message in errors
    assert not (directory / "no").exists()


def test_a_damaged_shard_is_refused(directory, tmp_path):
    copy = tmp_path / "copy"
    (copy / "data").mkdir(parents=True)
    for name in [
        "_manifest.json",
        *(f"data/{p.name}" for p in (directory / "aligned/data").iterdir()),
    ]:
        (copy / name).write_bytes((directory / "aligned" / name).read_bytes())
    shard = sorted((copy / "data").iterdir())[0]
    table = pq.read_table(shard)
    pq.write_table(table.slice(1), shard)
    status, _, errors = runs.run_here(
        "align", "--from_run", copy, *SMALL, "--output", tmp_path / "no"
    )
    assert status == 2
    assert f"{shard.name}: is not the shard that _manifest.json of its run describes" in errors


def copied_manifest(directory, copy, change):
    """Copy a run, and change its manifest by a function."""
    shutil.copytree(directory / "aligned", copy)
    path = copy / "_manifest.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))


def test_half_a_manifest_is_refused_in_a_line(directory, tmp_path):
    copied_manifest(directory, tmp_path / "half", lambda found: {"job": found["job"]})
    words = ("align", "--from_run", tmp_path / "half", *SMALL, "--output", tmp_path / "no")
    status, _, errors = runs.run_here(*words)
    assert status == 2
    assert "_manifest.json: version: is missing; was it edited? Repeat the command" in errors


def test_one_corpus_with_two_licences_is_refused(directory, tmp_path):
    def without(found):
        found["corpora"]["toy"]["licence"] = None
        return found

    copied_manifest(directory, tmp_path / "other", without)
    words = ("align", "--from_run", "aligned", tmp_path / "other", *SMALL, "--output", "no")
    status, _, errors = runs.run_here(*words, cwd=directory)
    assert status == 2
    assert "the corpus toy has the licence mit in one input and unknown in another" in errors


def test_columns_of_files_do_not_apply_to_the_run_beside_them(directory, tmp_path):
    (tmp_path / "more.tsv").write_text("das Haus\tthe house\n")
    words = ("--input", tmp_path / "more.tsv", "--source_field", "2", "--target_field", "1")
    inputs = (*words, "--from_run", "aligned", *LANGS)
    out = runs.run_well_here(
        "align", *inputs, *SMALL, "--plan_only", "--output", "no", cwd=directory
    )
    assert "more.tsv" in out
