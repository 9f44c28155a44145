"""The step that translates inside a job, with a translator that needs no model."""

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pytest
from apache_beam.options.pipeline_options import PipelineOptions

from pairweave.models.model_store import LoadedOnce
from pairweave.models.translators import translator_reference
from pairweave.models.translators.shard_translation import translate_or_reject
from pairweave.models.translators.translator import Rejection, TranslatorConfig, parse_translator
from pairweave.models.translators.translator_reference import TranslatorReference
from pairweave.pipelines.command_line import flags
from pairweave.pipelines.options.base import JobOptions
from pairweave.pipelines.options.corpus_options import PairCorpus
from pairweave.pipelines.options.text_options import TranslatorOptions
from pairweave.pipelines.parts.part import Planning
from pairweave.pipelines.parts.translator_part import TRANSLATOR
from pairweave.pipelines.steps.steps import MapWholeShards
from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.rejects import Reject, Stage
from pairweave.transforms.screen import ScreenConfig
from pairweave.transforms.shards.shard import Shard
from pairweave.transforms.shards.shuffle import make_shard
from pairweave.transforms.suggestions.pair_filters import filter_pairs
from pairweave.transforms.suggestions.suggestion_options import FilterConfig
from pairweave.transforms.symbols.mask import MASK
from pairweave.transforms.units import Plan
from tests.makers.rows import batch, row

REFERENCE = TranslatorReference(TranslatorConfig("ctranslate2", "nowhere"), "0" * 64)
SCREEN = ScreenConfig(translations=True, reserved=MASK, max_ratio=9)


class Options(TranslatorOptions, JobOptions, PairCorpus):
    """The options of a job that can translate."""


class Capitals:
    """Translates to capitals; gives up on a text with a digit."""

    digest = REFERENCE.digest

    def __init__(self):
        self.calls = []

    def translate(self, texts, source_lang, target_lang):
        self.calls.append((list(texts), source_lang, target_lang))
        return [
            Rejection(Reject.UNFINISHED_TRANSLATION, "not finished after 2 pieces, the limit")
            if any(map(str.isdigit, text))
            else f"{text.upper()} {target_lang}"
            for text in texts
        ]


@pytest.fixture
def capitals(monkeypatch):
    result = Capitals()
    monkeypatch.setattr(translator_reference.STORE, "held", LoadedOnce({REFERENCE.digest: result}))
    return result


def shard_of(*rows):
    return make_shard((3, [pa.Table.from_batches([batch(*rows)])]))


def translated(shard, config=SCREEN):
    return translate_or_reject(shard, REFERENCE, config)


def test_only_what_has_no_translation_is_translated(capitals):
    shard = shard_of(
        row("one house", "ein Haus"),
        row("two trees", "zwei Bäume", translation="zwei Baum"),
        row("a river", "une rivière", target_lang="fr"),
    )
    made = translated(shard)
    kept, rejected, table = made.kept, made.rejected, made.table
    assert made.number == 3
    assert rejected.equals(shard.rejected)
    actual = {text["source"]: text["translation"] for text in table.to_pylist()}
    assert actual == {
        "one house": "ONE HOUSE de",
        "two trees": "zwei Baum",
        "a river": "A RIVER fr",
    }
    assert kept.column("translation").to_pylist() == table.column("translation").to_pylist()
    assert sorted(capitals.calls) == [(["a river"], "en", "fr"), (["one house"], "en", "de")]
    schemas.require(table, schemas.PAIRS)
    assert kept.column("id").equals(shard.kept.column("id"))


@pytest.mark.usefixtures("capitals")
def test_a_pair_that_cannot_be_translated_is_rejected_alone():
    shard = shard_of(
        *(row(f"word {number}", "Wort") for number in range(3)),
        row("a word", "ein Wort"),
        row("bad", "schlecht", reason="invalid_utf8"),
    )
    made = translated(shard)
    kept, rejected, table = made.kept, made.rejected, made.table
    assert kept.num_rows == table.num_rows == 1
    assert table.column("id").equals(kept.column("id"))
    assert rejected.num_rows == 4
    moved = [one for one in rejected.to_pylist() if one["stage"] == Stage.TRANSLATE]
    assert len(moved) == 3
    assert {one["reason"] for one in moved} == {"unfinished_translation"}
    assert {one["detail"] for one in moved} == {"not finished after 2 pieces, the limit"}
    assert [one["translation"] for one in moved] == [None] * 3
    keys = [one["id"] for one in rejected.to_pylist() if one["id"]]
    assert keys == sorted(keys)


@pytest.mark.usefixtures("capitals")
def test_a_translation_that_is_made_is_screened_as_one_that_is_read():
    shard = shard_of(
        row("a <MASK_REP> b", "ein", translation="schon da"),
        row("a short text", "ein kurzer Text"),
        row("a text of quite a few words too many", "ein Text mit zu vielen Wörtern"),
    )
    config = SCREEN.changed(max_tokens=9)
    made = translated(shard, config)
    kept, rejected, table = made.kept, made.rejected, made.table
    # The first has its own translation, which the screen saw when it was read.
    assert sorted(table.column("source").to_pylist()) == ["a <MASK_REP> b", "a short text"]
    (moved,) = rejected.to_pylist()
    assert (moved["stage"], moved["reason"]) == ("screen", "too_long")
    assert moved["translation"].endswith(" de")
    assert kept.num_rows == 2


def test_an_empty_shard_stays_empty(capitals):
    shard = shard_of()
    made = translated(shard)
    assert [each.num_rows for each in (made.kept, made.rejected, made.table)] == [0, 0, 0]
    assert capitals.calls == []


@pytest.mark.usefixtures("capitals")
def test_a_shard_of_failures_is_all_rejected():
    made = translated(shard_of(row("1", "eins"), row("2", "zwei")))
    kept, rejected, table = made.kept, made.rejected, made.table
    assert (kept.num_rows, rejected.num_rows, table.num_rows) == (0, 2, 0)
    schemas.require(table, schemas.PAIRS)


@pytest.mark.usefixtures("capitals")
def test_the_step_runs_in_a_pipeline(tmp_path):
    shard = shard_of(row("one house", "ein Haus"), row("2", "zwei"))

    def note(made):
        texts = made.table.column("translation").to_pylist()
        (tmp_path / "found").write_text(" ".join(texts) + f" {made.rejected.num_rows}")

    options = PipelineOptions(
        ["--runner=pairweave.pipelines.engines.local.local_runner.LocalRunner"]
    )
    with beam.Pipeline(options=options) as pipeline:
        shards = pipeline | beam.Create([0]) | beam.Map(lambda _: shard).with_output_types(Shard)
        settings = {"reference": REFERENCE, "config": SCREEN}
        _ = shards | MapWholeShards(translate_or_reject, **settings) | beam.Map(note)
    assert (tmp_path / "found").read_text() == "ONE HOUSE de 1"


def options(*arguments):
    base = ("--source_input", "a", "--target_input", "b", "--output", "c")
    return flags.parse(Options, "prog", "about", [*base, *arguments], beam=False)[0]


def settled(*arguments):
    """Return what is settled on the translator that options name, for no input."""
    made = options(*arguments)
    return TRANSLATOR.plan(made, Planning(Plan((), ()), None))


def test_without_a_translator_its_options_are_refused():
    nothing = settled()
    assert nothing.result is None
    assert "beam_size" in nothing.left_out
    with pytest.raises(ConfigError, match="--beam_size: applies to --translator, which is"):
        settled("--beam_size", "2")


def test_a_translator_is_named_with_its_backend():
    assert parse_translator("transformers:owner/name") == ("transformers", "owner/name")
    for text in ("opus", "ctranslate2:", "marian:x"):
        with pytest.raises(ConfigError, match="expected ctranslate2:DIR, transformers:DIR"):
            parse_translator(text)
    with pytest.raises(ConfigError, match="translator"):
        options("--translator", "opus")


def test_a_missing_model_is_refused_before_the_run(tmp_path):
    pytest.importorskip("ctranslate2", reason="needs the extra `translate`")
    with pytest.raises(ConfigError, match="no such directory"):
        settled("--translator", f"ctranslate2:{tmp_path}/none")
    with pytest.raises(ConfigError, match=r"not a CTranslate2 model .*ct2-transformers-converter"):
        settled("--translator", f"ctranslate2:{tmp_path}")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"backend": "opus"}, "translator must be one of ctranslate2, transformers"),
        ({"model": ""}, "needs a directory"),
        ({"beam_size": 0}, "beam_size must be 1 to 100, got 0"),
        ({"max_translation_tokens": True}, "max_translation_tokens must be a whole number"),
        ({"translator_precision": "fp8"}, "translator_precision 'fp8' is unknown"),
        (
            {"backend": "transformers", "translator_precision": "int8"},
            "precision int8 is for ctranslate2",
        ),
        ({"translator_revision": "main"}, "a directory has no revision"),
        ({"device": "tpu"}, "device must be auto, cpu, cuda or cuda:N"),
    ],
)
def test_settings_are_checked_when_they_are_made(settings, message):
    with pytest.raises(ConfigError, match=message):
        TranslatorConfig(**{"backend": "ctranslate2", "model": "m", **settings})


def test_pairs_of_which_no_translation_is_used_are_not_translated(capitals):
    shard = shard_of(*(row(f"word w{'x' * number}", "Wort") for number in range(9)))
    wanted = np.arange(9) % 3 == 0
    made = translate_or_reject(shard, REFERENCE, SCREEN, lambda _: wanted)
    kept, rejected, table = made.kept, made.rejected, made.table
    assert (kept.num_rows, rejected.num_rows) == (9, 0)
    assert table.column("translation").is_valid().to_pylist() == wanted.tolist()
    assert [len(texts) for texts, *_ in capitals.calls] == [3]


def test_sources_that_every_example_would_be_filtered_for_are_not_translated(capitals):
    shard = shard_of(
        row("one two", "eins zwei"),
        row("one two three", "eins zwei drei"),
        row("one two three four five", "eins zwei drei vier fünf"),
        row("a bad row", "schlecht", reason="invalid_utf8"),
    )
    limits = FilterConfig(min_source_words=3, max_source_words=4)
    shard = filter_pairs(shard, limits, "words", scored=False)
    made = translated(shard)
    kept, rejected, table = made.kept, made.rejected, made.table
    assert capitals.calls == [(["one two three"], "en", "de")]
    assert table.column("source").to_pylist() == ["one two three"]
    assert kept.num_rows + rejected.num_rows == 4
    moved = {one["source"]: one["detail"] for one in rejected.to_pylist() if one["stage"] != "read"}
    assert moved == {
        "one two": "source length: 2 words, expected 3 to 4",
        "one two three four five": "source length: 5 words, expected 3 to 4",
    }
    assert set(rejected.column("reason").to_pylist()) == {"filtered", "invalid_utf8"}


def test_pairs_whose_score_is_outside_the_limits_are_turned_away_if_the_input_brings_it():
    rows = (row(f"w{'x' * n}", "W", score=score) for n, score in enumerate((0.5, 0.9, None)))
    shard = shard_of(*rows)
    limits = FilterConfig(min_score=0.6)
    assert filter_pairs(shard, limits, "words", scored=False).kept.num_rows == 3
    made = filter_pairs(shard, limits, "words", scored=True)
    kept, rejected, table = made.kept, made.rejected, made.table
    assert kept.column("source").to_pylist() == table.column("source").to_pylist() == ["wx"]
    details = {one["source"]: one["detail"] for one in rejected.to_pylist()}
    assert details == {"w": "score: 0.5 is outside the limits", "wxx": "score: missing"}
