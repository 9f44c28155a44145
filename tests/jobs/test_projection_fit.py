"""The command `projection_fit`, and `filter` with the map that it makes."""

import json

import pyarrow.parquet as pq
import pytest

pytest.importorskip("torch", reason="needs the extra `neural`")

from pairweave.models.similarity import vector_projection
from pairweave.models.similarity.clean_pairs import sample_pairs
from pairweave.pipelines import cli
from tests.makers import corpora, runs
from tests.makers.encoders import write_bert

FILES = ("--source_input", "corpus.en", "--target_input", "corpus.de")
ENCODER = ("--encoder", "encoder", "--layer", "-2")
FILTER = (*FILES, "--source_lang", "en", "--target_lang", "de", "--workers", "1", *ENCODER)


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with a corpus, an encoder, and both maps."""
    directory = tmp_path_factory.mktemp("projection")
    for side, name in enumerate(("corpus.en", "corpus.de")):
        lines = (corpora.sentence(number)[side] for number in range(40))
        (directory / name).write_text("".join(f"{line}\n" for line in lines))
    texts = [text for number in range(40) for text in corpora.sentence(number)]
    write_bert(directory / "encoder", texts, masked=True, vocabulary=300)
    for method in vector_projection.KINDS:
        out = runs.run_well_here(
            *("projection_fit", *FILES, *ENCODER, "--pairs", "30", "--method", method),
            *("--output", method),
            cwd=directory,
        )
        assert "30 pairs" in out
    return directory


@pytest.mark.parametrize("method", vector_projection.KINDS)
def test_a_map_brings_its_pairs_nearer_and_says_what_it_belongs_to(directory, method):
    about = json.loads((directory / method / "about.json").read_text())
    assert (about["kind"], about["method"], about["layer"]) == ("projection", method, 3)
    assert about["pairs"] == 30
    assert about["pieces"] > 100


def test_the_pieces_of_a_map_are_paired_as_asked(directory):
    runs.run_well_here(
        *("projection_fit", *FILES, *ENCODER, "--pairs", "30", "--pairing", "argmax"),
        *("--output", "by_argmax"),
        cwd=directory,
    )
    about, usual = (
        json.loads((directory / name / "about.json").read_text())
        for name in ("by_argmax", "orthogonal")
    )
    assert (about["pairing"], usual["pairing"]) == ("argmax", "mutual")
    assert about["pieces"] > usual["pieces"]


def test_filter_projects_and_names_the_map(directory):
    scores = {}
    for name, options in (("plain", ()), ("mapped", ("--projection", "orthogonal"))):
        runs.run_well_here(
            *("filter", *FILTER, "--scorer", "yisi2", *options, "--annotate_only"),
            *("--output", name),
            cwd=directory,
        )
        rows = pq.read_table(directory / name / "data")
        scores[name] = dict(zip(rows["id"].to_pylist(), rows["yisi2"].to_pylist(), strict=True))
        manifest = json.loads((directory / name / "_manifest.json").read_text())
        digest = vector_projection.find(str(directory / "orthogonal")).digest
        assert manifest["configuration"]["projection"] == (digest if options else None)
    # The map was fitted on most of these pairs.
    assert sum(scores["mapped"].values()) > sum(scores["plain"].values())


def test_a_map_of_too_few_pairs_says_so(directory, monkeypatch, capsys):
    monkeypatch.chdir(directory)
    (directory / "one").write_text("ein\n")
    one = ("--source_input", "one", "--target_input", "one", *ENCODER)
    assert cli.main(["projection_fit", *one, "--output", "of_one"]) == 0
    assert "pairs of pieces do not determine a map of vectors of 32 num" in capsys.readouterr().out
    assert cli.main(["projection_fit", *FILES, *ENCODER, "--output", "of_all"]) == 0
    assert "notice" not in capsys.readouterr().out


def test_a_map_of_other_languages_is_refused(directory, monkeypatch, capsys):
    monkeypatch.chdir(directory)
    languages = ("--source_lang", "en-GB", "--target_lang", "de")
    assert cli.main(["projection_fit", *FILES, *ENCODER, *languages, "--output", "of_en"]) == 0
    about = json.loads((directory / "of_en" / "about.json").read_text())
    assert (about["source_lang"], about["target_lang"]) == (["en-GB"], ["de"])
    yisi = ("--scorer", "yisi2", "--projection", "of_en", "--plan_only", "--output", "refused")
    assert cli.main(["filter", *FILTER, *yisi]) == 0
    capsys.readouterr()
    exchanged = ("--source_lang", "de", "--target_lang", "en")
    assert cli.main(["filter", *FILES, *ENCODER, *exchanged, *yisi]) == 2
    message = capsys.readouterr().err
    assert "of_en: was fitted with source_lang en, but the pairs have de" in message
    assert "give a map of the pairs' languages" in message
    with pytest.raises(SystemExit):
        cli.main(["projection_fit", "--help"])
    assert "--source_lang" in capsys.readouterr().out


def test_a_map_of_another_layer_is_refused(directory, monkeypatch, capsys):
    monkeypatch.chdir(directory)
    options = ("--scorer", "yisi2", "--layer", "1", "--projection", "orthogonal")
    assert cli.main(["filter", *FILTER, *options, "--output", "refused"]) == 2
    assert "was fitted on layer 3" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((*FILES, "--output", "new"), "give the encoder"),
        ((*FILES, *ENCODER, "--output", "orthogonal"), "is not empty"),
        (
            (*FILES[:3], "short", *ENCODER, "--output", "new"),
            "short: ends after line 1, but corpus.en continues",
        ),
        (
            ("--source_input", "blank", "--target_input", "blank", *ENCODER, "--output", "new"),
            "no pair",
        ),
    ],
)
def test_what_cannot_be_fitted_is_refused(directory, options, message, monkeypatch, capsys):
    monkeypatch.chdir(directory)
    (directory / "short").write_text("ein Satz\n")
    (directory / "blank").write_text("\n \n")
    assert cli.main(["projection_fit", *options]) == 2
    assert message in capsys.readouterr().err
    assert not (directory / "new").exists()


def test_pairs_are_drawn_wherever_they_stand():
    pairs = [(f"source {number}", f"target {number}") for number in range(50)]
    drawn = sample_pairs(pairs, 10, 1)
    assert drawn.equals(sample_pairs(pairs[::-1] * 2, 10, 1))
    assert sample_pairs(pairs, 20, 1).slice(0, 10).equals(drawn)
    assert not drawn.equals(sample_pairs(pairs, 10, 2))
    assert sample_pairs(pairs[:3], 10, 1).num_rows == 3
