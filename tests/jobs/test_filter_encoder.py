"""The job `filter` with an encoder that scores pairs, from the command line."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

pytest.importorskip("torch", reason="needs the extra `neural`")

from pairweave.models.encoder.pieces import cut_pieces
from pairweave.models.similarity import compared_pairs, idf, scorer_reference
from pairweave.models.similarity.similarity_options import (
    SimilarityConfig,
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
    write_xlmr(directory / "no_head", texts, vocabulary=300)
    return directory


def run(directory, name, *options):
    command = ("filter", *SIDES, *LANGS, *SMALL, *options, "--output", name)
    runs.run_well_here(*command, cwd=directory)
    return json.loads((directory / name / "_manifest.json").read_text())


def rows(directory, name, part="data"):
    return pq.read_table(directory / name / part).to_pylist()


@pytest.fixture(scope="module")
def annotated(directory):
    """Return the manifest and the scored rows of a run that keeps all."""
    options = (*YISI, "--layer", "-2", "--lm_weight", "0.1", "--annotate_only")
    manifest = run(directory, "annotated", *options, "--scores", "annotated.txt")
    return manifest, [r for r in rows(directory, "annotated") if r["score"] is not None]


def test_every_pair_has_the_columns_of_the_encoder_and_none_of_the_aligner(annotated):
    _, actual = annotated
    assert len(actual) > PAIRS / 2
    for row in actual:
        expected = np.clip(0.9 * np.float64(row["yisi2"]) + 0.1 * row["lm"], 0, 1)
        assert row["score"] == pytest.approx(expected, abs=1e-6)
        low, high = sorted((row["yisi2_precision"], row["yisi2_recall"]))
        assert low - 1e-6 <= row["yisi2"] <= high + 1e-6
        assert "forward_likelihood" not in row
    assert {row["reason"] for row in actual if not row["keep"]} >= {"copied"}


def test_the_plan_says_what_determines_the_scores(annotated):
    settings = annotated[0]["configuration"]
    assert settings["scorer"] == "yisi2"
    assert (settings["layer"], settings["alpha"], settings["lm_weight"]) == (3, 0.5, 0.1)
    assert settings["idf"] == "corpus"
    assert "score_weights" not in settings
    assert "fit_pairs" not in settings
    assert "lm_weight:0.1" in annotated[0]["signature"]
    assert {"yisi2", "lm"} <= annotated[0]["histograms"].keys()


def test_scores_are_those_of_the_scorer_with_the_counts_of_the_run(directory, annotated):
    counted = idf.find(str(directory / "annotated" / "models" / "idf"))
    assert counted.load().pairs == sum(row["keep"] for row in annotated[1]) + sum(
        row["reason"] == "masked_duplicate" for row in annotated[1]
    )
    options = SimilarityEncoderOptions(encoder=str(directory / "encoder"), layer=-2)
    config = SimilarityConfig(lm_weight=0.1)
    table = pq.read_table(directory / "annotated" / "data")
    table = table.filter(table["score"].is_valid())
    scored, _ = scorer_reference.find(options, config).load(counted).score_or_reject(table)
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
    again = {row["id"]: row["yisi2"] for row in rows(directory, "given") if row["id"] in one}
    assert again == pytest.approx(one, abs=1e-6)


def test_a_sweep_writes_a_column_for_each_layer(directory, annotated):
    options = (*YISI, "--layer", "-2", "--sweep_layers", "3", "--annotate_only")
    manifest = run(directory, "swept", *options, "--idf", "annotated/models/idf")
    assert manifest["configuration"]["sweep_layers"] == [2, 3, 4]
    swept = {row["id"]: row for row in rows(directory, "swept")}
    for row in annotated[1]:
        actual = swept[row["id"]]
        assert actual["yisi2_layer_3"] == actual["yisi2"] == pytest.approx(row["yisi2"], abs=1e-6)
        if row["source"] != row["target"]:  # copies are alike in every layer
            assert len({actual[f"yisi2_layer_{layer}"] for layer in (2, 3, 4)}) == 3
    schema = pq.read_schema(next((directory / "swept" / "data").glob("*.parquet")))
    meaning = schema.field("yisi2_layer_2").metadata[b"description"]
    assert b"layer of this number" in meaning
    assert meaning.decode() in (directory / "swept" / "README.md").read_text()


def test_a_later_run_selects_by_a_layer_of_a_sweep(directory):
    run(directory, "swept_and_kept", *YISI, "--layer", "-2", "--sweep_layers", "2")
    options = ("--score_field", "yisi2_layer_4", "--select_share", "0.5")
    command = ("filter", "--from_run", "swept_and_kept", *options, "--workers", "1")
    runs.run_well_here(*command, "--output", "by_layer", cwd=directory)
    ranked = sorted(
        rows(directory, "swept_and_kept"), key=lambda row: (-row["yisi2_layer_4"], row["id"])
    )
    best = {row["id"]: row["yisi2_layer_4"] for row in ranked[: len(ranked) // 2]}
    assert {row["id"]: row["score"] for row in rows(directory, "by_layer")} == best


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--sweep_layers", "2"), "--sweep_layers: applies to an encoder"),
        ((*YISI, "--sweep_layers", "9"), "has 4 layers and its embeddings; give at most 5"),
        ((*YISI, "--sweep_layers", "2", "--projection", "map"), "leave --projection out"),
        (
            ("--scorer", "margin", "--encoder", "encoder", "--sweep_layers", "2"),
            "--sweep_layers: applies to --scorer yisi2",
        ),
    ],
)
def test_a_sweep_that_cannot_be_made_is_refused(directory, monkeypatch, capsys, options, message):
    monkeypatch.chdir(directory)
    (directory / "map").mkdir(exist_ok=True)
    monkeypatch.setattr("pairweave.models.similarity.vector_projection.find", lambda _: None)
    assert cli.main(["filter", *SIDES, *LANGS, *options, "--output", "refused"]) == 2
    assert message in capsys.readouterr().err


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
        ((*YISI, "--idf", "counts", "--idf_pairs", "5"), "--idf_pairs: pieces are not counted if"),
        (("--layer", "3"), "--layer: applies to an encoder; give --scorer yisi2 or margin"),
        (
            (*YISI, "--score_weights", "w.json"),
            "--score_weights: applies to the statistical aligner",
        ),
        (
            (*YISI, "--model", "m", "--fit_pairs", "5"),
            "--fit_pairs, --model: apply to the statistical",
        ),
        ((*YISI, "--neighbours", "3"), "--neighbours: applies to --scorer margin, not to yisi2"),
        (("--scorer", "margin", "--lm_weight", "1", "--encoder", "encoder"), "not to margin"),
        ((*YISI, "--layer", "9"), "has 4 layers"),
        ((*YISI, "--encoder", "no_head", "--lm_weight", "0.1"), "has no language model head"),
        ((*YISI, "--precision", "int8", "--lm_weight", "0.1"), "precision int8: a language model"),
        ((*YISI, "--idf", "nowhere"), "no complete counts of pieces"),
        ((*YISI, "--projection", "nowhere"), "no complete projection"),
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


@pytest.mark.usefixtures("annotated")
def test_counts_of_exchanged_languages_are_refused(directory, monkeypatch, capsys):
    monkeypatch.chdir(directory)
    exchanged = ("--source_input", "corpus.de", "--target_input", "corpus.en")
    languages = ("--source_lang", "de", "--target_lang", "en", "--workers", "1")
    idf_of_run = ("--idf", "annotated/models/idf")
    options = (*exchanged, *languages, *YISI, *idf_of_run, "--output", "refused")
    assert cli.main(["filter", *options]) == 2
    message = capsys.readouterr().err
    assert "annotated/models/idf: was fitted with source_lang en, but the pairs" in message
    assert "give counts of the pairs' languages" in message
    assert not (directory / "refused").exists()


@pytest.mark.usefixtures("annotated")
def test_pieces_are_counted_in_blocks_of_any_size(directory, monkeypatch):
    sizes = []

    def cut(tokenizer, texts):
        sizes.append(len(texts))
        return cut_pieces(tokenizer, texts)

    monkeypatch.setattr(compared_pairs, "BLOCK_PAIRS", 7)
    monkeypatch.setattr(compared_pairs, "cut_pieces", cut)
    run(directory, "blocks", *YISI, "--layer", "-2", "--annotate_only")
    assert max(sizes) == 7
    assert sum(sizes) == 2 * idf.find(str(directory / "annotated/models/idf")).load().pairs
    for name in ("source.npy", "target.npy"):
        parts, whole = (directory / each / "models/idf" / name for each in ("blocks", "annotated"))
        assert parts.read_bytes() == whole.read_bytes()


NO_RULES = (
    *("--max_number_mismatch", "1", "--max_source_foreign", "1", "--max_target_foreign", "1"),
    *("--max_copied", "1", "--min_script", "0", "--max_repetition", "1"),
    *("--max_address_mismatch", "1", "--max_placeholder_mismatch", "1", "--max_tag_mismatch", "1"),
    *("--max_mojibake", "inf", "--max_entities", "inf", "--max_char_ratio", "inf"),
    *("--max_word_chars", "inf", "--max_ratio", "inf", "--duplicates", "exact"),
)
MARGIN = ("--scorer", "margin", "--encoder", "encoder")
LAYER = ("--layer", "-2")
ROWS = {
    "LASER baseline": (*MARGIN, *NO_RULES),
    "+ filter rules": MARGIN,
    "YiSi-2 + filter rules": (*YISI, *LAYER),
    "+ LM score": (*YISI, *LAYER, "--lm_weight", "0.1"),
    "+ LM score + CLP5k": (*YISI, *LAYER, "--lm_weight", "0.1", "--projection", "map"),
}
"""Rows of Table 2 (NRC at WMT20) and their options; `bitext` makes the pairs of the last row."""


@pytest.fixture(scope="module")
def projected(directory):
    """Make a map of the compared layer, once."""
    for side, name in enumerate(("clean.en", "clean.de")):
        lines = (corpora.sentence(number)[side] for number in range(20))
        (directory / name).write_text("".join(f"{line}\n" for line in lines))
    clean = ("--source_input", "clean.en", "--target_input", "clean.de", "--encoder", "encoder")
    command = ("projection_fit", *clean, *LAYER, "--output", "map")
    runs.run_well_here(*command, cwd=directory)


@pytest.mark.usefixtures("projected")
@pytest.mark.parametrize("row", ROWS)
def test_every_row_of_the_paper_s_table_can_be_run(directory, row):
    name = f"row{list(ROWS).index(row)}"
    manifest = run(directory, name, *ROWS[row], "--select_words", "200")
    actual = rows(directory, name)
    assert 0 < sum(each["target_words"] for each in actual) <= 200
    scores = [each["score"] for each in actual]
    assert len(set(scores)) > 1
    assert all(0 <= score <= 1 for score in scores)
    assert ("copied" in manifest["rejected"]) == (row != "LASER baseline")
    if row in ("LASER baseline", "+ filter rules"):
        for each in actual:
            expected = each["margin"] / (1 + each["margin"])
            assert each["score"] == pytest.approx(expected, abs=1e-6)
    assert not (directory / name / "_scored").exists()


def test_margins_do_not_depend_on_the_shards_or_on_what_is_annotated(directory):
    actual = []
    for name, options in (("small", ("--annotate_only",)), ("large", ("--shard_pairs", "1000"))):
        run(directory, name, *MARGIN, *options)
        actual.append({row["id"]: row["margin"] for row in rows(directory, name)})
    annotated, kept = actual
    assert 20 < len(kept) < len(annotated)
    for name, value in kept.items():
        assert annotated[name] == pytest.approx(value, abs=1e-5)


def test_a_damaged_shard_of_margins_is_made_again(directory):
    run(directory, "whole", *MARGIN)
    before = runs.tree_digest(directory / "whole")
    part = sorted((directory / "whole" / "data").iterdir())[0]
    part.write_bytes(b"")
    run(directory, "whole", *MARGIN)
    assert runs.tree_digest(directory / "whole") == before
