"""The job `suggest` with a translator, from the command line."""

import json
import shutil

import pyarrow.parquet as pq
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")
pytest.importorskip("ctranslate2", reason="needs the extra `translate`")

from pairweave.models.translators import translator_reference  # noqa: E402
from pairweave.models.translators.translator import TranslatorConfig  # noqa: E402
from tests.makers import corpora, runs, suggesting, translators  # noqa: E402

PAIRS = 90
LONG = 6
"""Sentences in the pair that is too long."""

LANGUAGES = ("--source_lang", "en", "--target_lang", "de")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with a corpus, one pair of which is too long, and a model."""
    directory = tmp_path_factory.mktemp("jobs")
    pairs = [corpora.sentence(number) for number in range(600)]
    translators.write_marian(directory / "marian", pairs, steps=60, sides=("en", "de"))
    pieces = ["source.spm", "target.spm", "tokenizer_config.json"]
    translators.convert(directory / "marian", directory / "model", pieces)
    for side, name in enumerate(("corpus.en", "corpus.de")):
        lines = [pair[side] for pair in pairs[:PAIRS]]
        lines.append(" ".join(lines[:LONG]))
        (directory / name).write_text("".join(f"{line}\n" for line in lines))
    return directory


def command(output, *more, model="ctranslate2:model", workers=1):
    return (
        *("suggest", "--source_input", "corpus.en", "--target_input", "corpus.de", *LANGUAGES),
        *("--methods", "alignment,random", "--shard_pairs", "30", "--workers", workers),
        *("--translator", model, "--beam_size", "2", "--max_translation_tokens", "50"),
        *("--max_ratio", "inf", "--max_tokens", "250", "--output", output, *more),
    )


@pytest.fixture(scope="module")
def made(directory):
    """Return the output of a run on one worker."""
    runs.run_well_here(*command("made"), cwd=directory)
    return directory / "made"


def translated_by(directory, texts):
    """Return what the translator makes of some sources, called without a job."""
    config = TranslatorConfig(
        "ctranslate2", str(directory / "model"), beam_size=2, max_translation_tokens=50
    )
    reference = translator_reference.find(config, [("en", "de")])
    return dict(
        zip(texts, translator_reference.translate(reference, texts, "en", "de"), strict=True)
    )


def rows_of(output, pattern="data/part-*.parquet"):
    return [row for path in sorted(output.glob(pattern)) for row in pq.read_table(path).to_pylist()]


def test_masks_lie_in_the_translator_s_own_translations(directory, made):
    rows = [row for row in rows_of(made) if row["method"] == "alignment"]
    actual = translated_by(directory, [row["source"] for row in rows])
    assert len(rows) > 20
    for row in rows:
        text = actual[row["source"]]
        assert row["masked"] == f"{text[: row['start']]}<MASK_REP>{text[row['end'] :]}"


def test_pairs_that_cannot_be_translated_are_rejected_with_the_sizes(made):
    manifest = json.loads((made / "_manifest.json").read_text())
    assert manifest["rows"]["read"] == manifest["rows"]["kept"] + manifest["rows"]["rejected"]
    assert manifest["rejected"]["too_long_for_translator"] == 1
    (row,) = (
        row
        for row in rows_of(made, "rejects/*.parquet")
        if row["reason"] == "too_long_for_translator"
    )
    assert row["stage"] == "translate"
    assert row["source"] == " ".join(corpora.sentence(number)[0] for number in range(LONG))
    assert row["detail"].endswith("the translator's limit is 64")


def test_the_plan_names_what_translates_and_no_path(directory, made):
    text = (made / "_plan.json").read_text()
    assert str(directory) not in text
    plan = json.loads(text)
    config = TranslatorConfig(
        "ctranslate2", str(directory / "model"), beam_size=2, max_translation_tokens=50
    )
    digest = translator_reference.find(config, []).digest
    assert plan["configuration"]["translator"] == digest
    assert f"translator:{digest[:12]}|" in plan["signature"]
    assert plan["configuration"]["beam_size"] == 2
    assert "translator_revision" not in plan["configuration"]
    receipts = sorted((made / "_receipts").glob("shard-*.json"))
    assert len(receipts) == 4
    assert {json.loads(path.read_text())["translator"] for path in receipts} == {digest}
    assert "ctranslate2" in json.loads((made / "_run.json").read_text())["packages"]


def test_a_shard_that_is_lost_is_translated_again_to_the_same_bytes(directory, made, monkeypatch):
    before = runs.tree_digest(made)
    shutil.copytree(made, directory / "again")
    for name in ("_manifest.json", "data/part-00001-of-00004.parquet"):
        (directory / "again" / name).unlink()
    texts = []
    translate = translator_reference.translate

    def counted(reference, sources, *languages):
        texts.extend(sources)
        return translate(reference, sources, *languages)

    monkeypatch.setattr(translator_reference, "translate", counted)
    runs.run_well_here(*command("again"), cwd=directory)
    assert runs.tree_digest(directory / "again") == before
    assert 0 < len(texts) < PAIRS / 2


def test_another_place_of_the_model_and_other_batches_give_the_same_examples(directory, made):
    shutil.copytree(directory / "model", directory / "moved")
    more = ("--translator_batch_tokens", "100")
    runs.run_well_here(*command("other", *more, model="ctranslate2:moved"), cwd=directory)
    assert rows_of(directory / "other") == rows_of(made)


def test_both_backends_give_the_same_examples(directory, made):
    runs.run_well_here(*command("torch", model="transformers:marian"), cwd=directory)
    one, other = rows_of(directory / "torch"), rows_of(made)
    same = {row["id"] for row in one} & {row["id"] for row in other}
    assert len(same) > 0.8 * len({row["id"] for row in other})
    manifest = json.loads((directory / "torch" / "_manifest.json").read_text())
    assert manifest["rejected"]["too_long_for_translator"] == 1


def test_the_examples_can_be_exported_and_compared(directory, made):
    runs.run_well_here("export", made, "--format", "wets", "--output", directory / "wets")
    assert len((directory / "wets" / "suggestions.mask").read_text().split("\n")) == 1 + len(
        rows_of(made)
    )
    arguments = ("--data", made, "--golden", directory / "wets" / "suggestions")
    out = runs.run_well_here("evaluate", "suggestions", *arguments)
    figures = json.loads(out.splitlines()[-1])
    assert figures["distances"]["all"]["words"] == 0
    assert figures["distances"]["all"]["operation"] == 0


def hmm_command(corpus, output, *more):
    return (
        *("suggest", "--input", corpus, *LANGUAGES, "--methods", "alignment", "--aligner", "hmm"),
        *("--translator", "ctranslate2:model", "--beam_size", "2", "--max_translation_tokens"),
        *("50", "--max_ratio", "inf", "--max_placeholder_share", "0.9", "--max_masked_share", "1"),
        *("--workers", "1", "--output", output, *more),
    )


def write_half_translated(directory):
    """Write a corpus of which every other pair has a translation, and one without any."""
    triples = []
    for number in range(PAIRS):
        source, reference = corpora.sentence(number)
        triples.append((source, reference, suggesting.translate(number, reference)))
    for name, share in (("half.jsonl", 2), ("none.jsonl", PAIRS + 1)):
        lines = []
        for number, (source, target, translation) in enumerate(triples, 1):
            read = {"translation": translation} if number % share == 0 else {}
            lines.append(json.dumps({"source": source, "target": target, **read}))
        (directory / name).write_text("".join(f"{line}\n" for line in lines))
    return triples


def test_a_statistical_model_aligns_translations_that_were_made_and_read(directory):
    triples = write_half_translated(directory)
    made = translated_by(directory, [source for source, _, _ in triples])
    wanted = {
        source: translation if number % 2 == 0 else made[source]
        for number, (source, _, translation) in enumerate(triples, 1)
    }
    runs.run_well_here(*hmm_command("half.jsonl", "half"), cwd=directory)
    actual = {True: 0, False: 0}
    for row in rows_of(directory / "half"):
        text = wanted[row["source"]]
        assert row["masked"] == f"{text[: row['start']]}<MASK_REP>{text[row['end'] :]}"
        actual[text == made[row["source"]]] += 1
    assert min(actual.values()) > 10
    manifest = json.loads((directory / "half" / "_manifest.json").read_text())
    assert manifest["rows"]["read"] == manifest["rows"]["kept"] + manifest["rows"]["rejected"]
    # What is not translated yet cannot be fitted on, but a model that was fitted aligns it.
    status, _, errors = runs.run_here(*hmm_command("none.jsonl", "none"), cwd=directory)
    assert status == 2
    assert "has a translation in the input" in errors
    model = ("--model", "half/models/hmm")
    runs.run_well_here(*hmm_command("none.jsonl", "fitted", *model), cwd=directory)
    for row in rows_of(directory / "fitted"):
        text = made[row["source"]]
        assert row["masked"] == f"{text[: row['start']]}<MASK_REP>{text[row['end'] :]}"
    assert len({row["source"] for row in rows_of(directory / "fitted")}) > 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--translator", "ctranslate2:nowhere"), "no such directory"),
        (("--target_lang", "fr"), "--target_lang fr: the translator's is de"),
        (("--translator_revision", "main"), "a directory has no revision"),
        (("--translator_precision", "fp8"), "translator_precision"),
    ],
)
def test_a_translator_that_cannot_be_used_is_refused_before_the_run(directory, arguments, message):
    status, _, errors = runs.run_here(*command("bad", *arguments), cwd=directory)
    assert status == 2
    assert message in errors
    assert len(errors.strip().splitlines()) == 1
    assert not (directory / "bad").exists()


@pytest.mark.slow
def test_two_workers_write_the_same_bytes(directory, made):
    runs.run_well(*command("two", workers=2), cwd=directory)
    assert runs.tree_digest(directory / "two") == runs.tree_digest(made)
