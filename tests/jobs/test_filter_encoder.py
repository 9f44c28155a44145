"""The job `filter` with an encoder that scores pairs, from the command line."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

pytest.importorskip("torch", reason="needs the extra `neural`")

from pairweave.models.similarity import idf, scorer_store
from pairweave.models.similarity.similarity_config import SimilarityConfig
from pairweave.models.similarity.similarity_options import (
    SimilarityEncoderOptions,
)
from pairweave.pipelines import cli
from tests.makers import corpora, runs
from tests.makers.encoders import write_xlmr

PAIRS = 60
SIDES = ("--source_input", "corpus.en", "--target_input", "corpus.de")
LANGS = ("--source_lang", "en", "--target_lang", "de", "--workers", "1")
SMALL = ("--shard_pairs", "40", "--unit_rows", "50")
YISI = ("--scorer", "yisi2", "--encoder", "encoder")
BAD = ("the cat sat on the mat", "the cat sat on the mat")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with a corpus, a pair that a rule rejects, an encoder and a map."""
    directory = tmp_path_factory.mktemp("filter")
    corpora.write_corpus(directory, PAIRS)
    for side, name in enumerate(("corpus.en", "corpus.de")):
        with (directory / name).open("a") as file:
            file.write(BAD[side] + "\n")
    texts = [text for number in range(PAIRS) for text in corpora.sentence(number)]
    write_xlmr(directory / "encoder", texts, masked=True, vocabulary=300)
    return directory


def run(directory, name, *options):
    command = ("filter", *SIDES, *LANGS, *SMALL, *options, "--output", name)
    runs.run_well_here(*command, cwd=directory)
    return json.loads((directory / name / "_manifest.json").read_text())


def rows(directory, name, part="data"):
    return pq.read_table(directory / name / part).to_pylist()


@pytest.fixture(scope="module")
def annotated(directory):
    """Return the manifest and the rows of a run that keeps all."""
    options = (*YISI, "--layer", "-2", "--lm_weight", "0.1", "--annotate_only")
    manifest = run(directory, "annotated", *options, "--scores", "annotated.txt")
    return manifest, rows(directory, "annotated")


def test_every_pair_has_the_columns_of_the_encoder_and_none_of_the_aligner(annotated):
    _, found = annotated
    assert len(found) > PAIRS / 2
    for row in found:
        expected = np.clip(0.9 * np.float64(row["yisi2"]) + 0.1 * row["lm"], 0, 1)
        assert row["score"] == pytest.approx(expected, abs=1e-6)
        low, high = sorted((row["yisi2_precision"], row["yisi2_recall"]))
        assert low - 1e-6 <= row["yisi2"] <= high + 1e-6
        assert "forward_likelihood" not in row
    assert {row["reason"] for row in found if not row["keep"]} >= {"copied"}


def test_the_plan_says_what_determines_the_scores(annotated):
    settings = annotated[0]["configuration"]
    assert settings["scorer"] == "yisi2"
    assert (settings["layer"], settings["alpha"], settings["lm_weight"]) == (3, 0.5, 0.1)
    assert settings["idf"] == "corpus"
    assert "score_weights" not in settings
    assert "fit_pairs" not in settings
    assert "lm_weight:0.1" in annotated[0]["signature"]
    assert "% of yisi2" in " ".join(annotated[0]["counts"])
    assert "% of lm" in " ".join(annotated[0]["counts"])


def test_scores_are_those_of_the_scorer_with_the_counts_of_the_run(directory, annotated):
    counted = idf.find(str(directory / "annotated" / "models" / "idf"))
    assert counted.load().pairs == sum(row["keep"] for row in annotated[1]) + sum(
        row["reason"] == "masked_duplicate" for row in annotated[1]
    )
    options = SimilarityEncoderOptions(encoder=str(directory / "encoder"), layer=-2)
    config = SimilarityConfig(lm_weight=0.1)
    table = pq.read_table(directory / "annotated" / "data")
    scored, _ = scorer_store.find(options, config).load(counted).score_or_reject(table)
    for name in scored.column_names:
        assert scored[name].to_numpy() == pytest.approx(table[name].to_numpy(), abs=1e-5)


def test_rejected_pairs_are_not_scored_and_the_others_as_before(directory, annotated):
    run(directory, "kept", *YISI, "--layer", "-2", "--lm_weight", "0.1", "--select_share", "0.5")
    kept = {row["id"]: row for row in rows(directory, "kept")}
    ranked = sorted(
        (row for row in annotated[1] if row["keep"]), key=lambda row: (-row["score"], row["id"])
    )
    assert len(kept) > 5
    assert set(kept) == {row["id"] for row in ranked[: len(ranked) // 2]}
    # Batches differ where rejected pairs are left out, and with them the last digits.
    for row in ranked[: len(ranked) // 2]:
        assert kept[row["id"]]["score"] == pytest.approx(row["score"], abs=1e-5)


def test_scores_are_written_in_input_order(directory, annotated):
    lines = (directory / "annotated.txt").read_text().splitlines()
    assert len(lines) == len((directory / "corpus.en").read_bytes().splitlines())
    by_line = {row["line"]: row for row in annotated[1]}
    for number, line in enumerate(lines, 1):
        row = by_line.get(number)
        expected = row["score"] if row is not None and row["keep"] else 0
        assert float(line) == pytest.approx(expected, rel=1e-6)


def test_given_counts_are_used_and_named_in_the_plan(directory, annotated):
    options = (*YISI, "--layer", "-2", "--idf", "annotated/models/idf", "--annotate_only")
    manifest = run(directory, "given", *options)
    assert (
        manifest["configuration"]["idf"]
        == idf.find(str(directory / "annotated" / "models" / "idf")).digest
    )
    assert not (directory / "given" / "models").exists()
    one = {row["id"]: row["yisi2"] for row in annotated[1]}
    for row in rows(directory, "given"):
        assert row["yisi2"] == pytest.approx(one[row["id"]], abs=1e-6)


def test_two_runs_write_the_same_bytes(directory):
    digests = set()
    for name, workers in (("one", "1"), ("two", "1")):
        run(directory, name, *YISI, "--workers", workers)
        digests.add(runs.tree_digest(directory / name))
    assert len(digests) == 1


def test_a_pair_over_the_encoder_s_limit_is_rejected_if_wanted(directory):
    long = " ".join(f"word {number}" for number in range(400))
    for side in ("en", "de"):
        (directory / f"long.{side}").write_text(f"{long}\n{corpora.sentence(1)[side == 'de']}\n")
    sides = ("--source_input", "long.en", "--target_input", "long.de", "--max_copied", "1")
    command = ("filter", *sides, *LANGS, *YISI, "--long_pairs", "reject", "--output", "long")
    runs.run_well_here(*command, "--max_repetition", "1", "--max_tokens", "2000", cwd=directory)
    manifest = json.loads((directory / "long" / "_manifest.json").read_text())
    assert manifest["rejected"] == {"too_long_for_encoder": 1}
    assert "limit is" in rows(directory, "long", "rejects")[0]["detail"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--scorer", "yisi2"), "needs --encoder"),
        (("--layer", "3"), "--layer: of an encoder; give --scorer yisi2"),
        ((*YISI, "--score_weights", "w.json"), "--score_weights: of the statistical aligner"),
        ((*YISI, "--model", "m", "--fit_pairs", "5"), "--fit_pairs, --model: of the statistical"),
        ((*YISI, "--layer", "9"), "has 4 layers"),
        ((*YISI, "--idf", "nowhere"), "no whole counts of pieces"),
        ((*YISI, "--projection", "nowhere"), "no whole projection"),
        (("--scorer", "yisi2", "--encoder", "absent/encoder/here"), "neither a directory nor"),
    ],
)
def test_what_cannot_be_used_is_refused_before_the_run(
    directory, options, message, monkeypatch, capsys
):
    monkeypatch.chdir(directory)
    assert cli.main(["filter", *SIDES, *LANGS, *options, "--output", "refused"]) == 2
    assert message in capsys.readouterr().err
    assert not (directory / "refused").exists()
