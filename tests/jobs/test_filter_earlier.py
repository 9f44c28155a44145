"""`filter --earlier` and `--exclude`: pairs of earlier corpora and test sets do not come again."""

import json
import re

import pyarrow.parquet as pq
import pytest

from tests.makers import corpora, runs

LANGS = ("--source_lang", "en", "--target_lang", "de", "--workers", "1")
SMALL = ("--shard_pairs", "40", "--unit_rows", "50")


def write(directory, name, numbers):
    for side, lang in enumerate(("en", "de")):
        lines = "".join(f"{corpora.sentence(number)[side]}\n" for number in numbers)
        (directory / f"{name}.{lang}").write_text(lines)
    return "--source_input", f"{name}.en", "--target_input", f"{name}.de"


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with a corpus of 100 pairs, and an earlier run of 60, 30 of them new."""
    directory = tmp_path_factory.mktemp("earlier")
    write(directory, "new", range(100))
    sides = write(directory, "old", range(70, 130))
    runs.run_well_here("fit", *sides, *LANGS, "--output", "model", cwd=directory)
    run(directory, "earlier_run", sides=sides)
    lines = ["\t".join(corpora.sentence(number)) for number in range(5)]
    (directory / "list.tsv").write_text("".join(f"{line}\n" for line in lines))
    return directory


def run(directory, name, *options, sides=("--source_input", "new.en", "--target_input", "new.de")):
    command = ("filter", *sides, *LANGS, *SMALL, "--model", "model", "--output", name)
    runs.run_well_here(*command, *options, cwd=directory)
    return json.loads((directory / name / "_manifest.json").read_text())


def texts(directory, name, part="data", reason=None):
    result = pq.read_table(directory / name / part).to_pylist()
    return {(r["source"], r["target"]) for r in result if reason in (None, r.get("reason"))}


@pytest.fixture(scope="module")
def plain(directory):
    """Return what is kept without an earlier corpus."""
    run(directory, "plain", "--duplicates", "exact")
    return texts(directory, "plain")


@pytest.mark.slow
@pytest.mark.parametrize("selection", [(), ("--select_share", "1")])
def test_pairs_of_a_run_and_of_files_are_rejected(directory, plain, selection):
    known = texts(directory, "earlier_run") | {corpora.sentence(number) for number in range(5)}
    name = f"found{len(selection)}"
    manifest = run(
        directory,
        name,
        *("--earlier", "earlier_run", "list.tsv", "--duplicates", "exact", *selection),
    )
    actual = texts(directory, name, "rejects", "in_earlier_corpus")
    assert len(actual) > 20
    assert actual == plain & known
    assert texts(directory, name) == plain - known
    assert [each["name"] for each in manifest["configuration"]["earlier"]][-1] == "list.tsv"
    assert not (directory / name / "_scored").exists()


def test_numbers_make_no_difference_unless_equal_pairs_alone_are_duplicates(directory):
    changed = "\t".join(re.sub(r"\d+", "5", side) for side in corpora.sentence(8))
    (directory / "changed.tsv").write_text(f"{changed}\n")
    run(directory, "masked", "--earlier", "changed.tsv")
    assert corpora.sentence(8) in texts(directory, "masked", "rejects", "in_earlier_corpus")
    run(directory, "exact", "--earlier", "changed.tsv", "--duplicates", "exact")
    assert not texts(directory, "exact", "rejects", "in_earlier_corpus")


@pytest.mark.slow
def test_the_plan_of_another_earlier_corpus_is_another(directory):
    run(directory, "first", "--earlier", "list.tsv")
    plan = (directory / "first" / "_plan.json").read_bytes()
    (directory / "other.tsv").write_text("a\tb\n")
    run(directory, "second", "--earlier", "other.tsv")
    assert (directory / "second" / "_plan.json").read_bytes() != plan


def test_sentences_of_a_test_set_are_rejected_whatever_their_case_and_spaces(directory):
    chosen = [corpora.sentence(3)[0].upper(), "  ".join(corpora.sentence(4)[1].split(" "))]
    (directory / "test.txt").write_text("".join(f"{line}\n" for line in chosen))
    run(directory, "excluded", "--exclude", "test.txt", "--duplicates", "exact")
    actual = texts(directory, "excluded", "rejects", "excluded")
    assert {corpora.sentence(3), corpora.sentence(4)} <= actual
    sources, targets = (corpora.sentence(3)[0], corpora.sentence(4)[1])
    assert all(source == sources or target == targets for source, target in actual)


def write_entities(directory, *ways):
    """Write a configuration of corpora with entities, each read in one way; return the file."""
    texts = [corpora.sentence(1)[side].replace(" ", " &amp; ", 1) for side in (0, 1)]
    (directory / "entities.tsv").write_text("\t".join(texts) + "\n")
    corpus = "  - {{input: entities.tsv, corpus: c{}, html_entities: {}}}\n"
    listed = "".join(corpus.format(number, way) for number, way in enumerate(ways))
    name = f"{''.join(ways)}.yaml"
    (directory / name).write_text(f"corpora:\n{listed}earlier: [entities.tsv]\nmodel: model\n")
    return "--config", name


def test_an_earlier_corpus_is_read_as_the_corpus_is(directory):
    config = write_entities(directory, "decode")
    command = ("filter", *config, *LANGS, "--allow_empty", "--output", "decoded")
    runs.run_well_here(*command, cwd=directory)
    assert len(texts(directory, "decoded", "rejects", "in_earlier_corpus")) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("decode", "keep"), "the corpora have html_entities decode and keep"),
        (("decode",), "earlier_run: its pairs are en-de, those of the corpus en-und; give"),
    ],
)
def test_an_earlier_corpus_that_could_not_match_is_refused(directory, options, message):
    config = write_entities(directory, *options)
    languages = LANGS if len(options) > 1 else LANGS[:2]
    earlier = () if len(options) > 1 else ("--earlier", "earlier_run")
    status, _, errors = runs.run_here(
        *("filter", *config, *languages, *earlier, "--output", "refused"), cwd=directory
    )
    assert (status, len(errors.splitlines())) == (2, 1)
    assert message in errors


def test_an_earlier_corpus_is_refused_for_corpora_in_several_languages(directory):
    corpus = "- {{input: list.tsv, corpus: {0}, target_lang: {0}}}\n"
    listed = "".join(map(corpus.format, ("de", "nl")))
    text = f"source_lang: en\nearlier: [list.tsv]\ncorpora:\n{listed}"
    (directory / "languages.yaml").write_text(text)
    words = ("filter", "--config", "languages.yaml", "--output", "refused")
    status, _, errors = runs.run_here(*words, cwd=directory)
    assert (status, len(errors.splitlines())) == (2, 1)
    assert "--earlier: the corpora are in several languages, but files do not give" in errors


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("nowhere.tsv",), "nowhere.tsv"),
        (("model",), "a run of fit has no pairs for another job to read"),
    ],
)
def test_what_cannot_be_read_is_refused_before_the_run(directory, given, message):
    command = ("filter", "--source_input", "new.en", "--target_input", "new.de", *LANGS)
    status, _, errors = runs.run_here(
        *command, "--output", "refused", "--earlier", *given, cwd=directory
    )
    assert (status, len(errors.splitlines())) == (2, 1)
    assert message in errors
    assert not (directory / "refused").exists()
