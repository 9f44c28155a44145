"""The number of workers that fit into the memory of a run; nothing else depends on it."""

import dataclasses

import pytest

from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.encoder.hosting.encoder_reference import EncoderReference
from pairweave.models.external.external_programs import ExternalConfig
from pairweave.models.external.external_reference import ExternalReference
from pairweave.models.sentences.sentence_encoder_reference import SentenceEncoderReference
from pairweave.models.translators.translator import TranslatorConfig
from pairweave.models.translators.translator_reference import TranslatorReference
from pairweave.pipelines import cli
from pairweave.pipelines.job_options.pair_options import AugmentOptions
from pairweave.pipelines.jobs import augment
from pairweave.pipelines.parts.part import Settled
from pairweave.pipelines.process import memory
from pairweave.pipelines.run import memory_plan
from pairweave.pipelines.run.memory_plan import Need, fit_bytes, need_of, within_memory
from pairweave.transforms.errors import ConfigError

LANGS = {"source_lang": "en", "target_lang": "de"}


@pytest.fixture
def planned(tmp_path):
    (tmp_path / "a.tsv").write_text("a b\tc d\n" * 100)

    def plan(**options):
        given = {"input": (str(tmp_path / "a.tsv"),), "workers": 4, **LANGS, **options}
        return augment.JOB.prepare(AugmentOptions(output=str(tmp_path / "out"), **given))

    return plan


def test_fewer_workers_run_with_less_memory_and_the_plan_is_the_same(planned, monkeypatch):
    monkeypatch.setattr(memory, "container_bytes", lambda: None)
    monkeypatch.setattr(memory, "machine_bytes", lambda: 64 << 30)
    runs = {size: planned(memory=size) for size in (None, "8GiB", "1.5GiB", "1.2GiB", "700MiB")}
    assert [run.options.workers for run in runs.values()] == [4, 4, 3, 2, 1]
    assert len({run.digest for run in runs.values()}) == 1


def test_the_memory_of_another_engine_is_its_own(planned, monkeypatch):
    monkeypatch.setattr(memory, "container_bytes", lambda: 400 << 20)
    assert planned(engine="prism").options.workers == 4


def test_too_little_for_one_worker_is_refused_with_what_is_enough(planned):
    with pytest.raises(ConfigError, match="--memory 400MiB: too little memory") as refused:
        planned(memory="400MiB")
    least = str(refused.value).rpartition("about ")[2].partition(";")[0]
    assert planned(memory=least).options.workers == 1


@pytest.mark.parametrize(
    ("need", "advice"),
    [
        (Need(3 << 30, 0, 0), "fewer --shard_pairs (a shard has 100 pairs)"),
        (
            Need(1 << 20, 3 << 30, 0),
            "a fitted --model or, with another --output, fewer --fit_pairs",
        ),
    ],
)
def test_a_refusal_names_what_needs_less(planned, monkeypatch, need, advice):
    monkeypatch.setattr(memory_plan, "need_of", lambda _: need)
    with pytest.raises(ConfigError) as refused:
        planned(memory="2GiB")
    assert advice in str(refused.value)
    assert "about 3.6GiB" in str(refused.value)


def test_where_libraries_need_nearly_all_of_it_no_smaller_shard_is_advised(planned):
    with pytest.raises(ConfigError) as refused:
        planned(memory="400MiB")
    assert str(refused.value).endswith("; give it that")


def test_the_container_limits_a_run_and_the_machine_only_its_workers(planned, monkeypatch):
    monkeypatch.setattr(memory, "container_bytes", lambda: 400 << 20)
    with pytest.raises(ConfigError, match="this container's limit of 400MiB"):
        planned()
    monkeypatch.setattr(memory, "container_bytes", lambda: None)
    monkeypatch.setattr(memory, "machine_bytes", lambda: 400 << 20)
    assert planned().options.workers == 1


def test_a_fit_needs_memory_for_its_sample_and_a_larger_shard_for_its_rows(planned):
    small, large = planned(shard_pairs=10), planned(shard_pairs=100)
    assert need_of(large).shard == pytest.approx(10 * need_of(small).shard, rel=0.5)
    assert need_of(planned(fit_pairs=50)).fit == pytest.approx(need_of(small).fit / 2, rel=0.1)
    assert need_of(planned(mix=0.0)).fit == 0


@pytest.mark.parametrize(("text", "needed"), [(1.33, 124), (3.17, 267), (6.87, 450), (16.85, 635)])
def test_the_estimate_of_a_fit_is_what_fits_of_real_text_have_taken(text, needed):
    estimate = fit_bytes(text * (1 << 20)) / (1 << 20)
    assert needed <= estimate < 1.15 * needed


@pytest.fixture
def weights(tmp_path):
    """Return a directory whose weights have 3 GiB and take no space on the disk."""
    directory = tmp_path / "encoder"
    directory.mkdir()
    with (directory / "model.safetensors").open("wb") as file:
        file.truncate(3 << 30)
    return str(directory)


MODELS = (
    "encoder reference",
    "translator",
    "two models in one directory",
    "settings of an encoder",
    "encoder of sentences",
    "program with an encoder",
)


@pytest.mark.parametrize("model", MODELS)
def test_the_files_of_a_neural_model_count_for_every_worker(planned, weights, model):
    run = planned(memory="16GiB")
    before = need_of(run).models
    config = EncoderConfig(weights)
    translator = TranslatorReference(TranslatorConfig(model=weights, backend="ctranslate2"), "0")
    program = ExternalReference(ExternalConfig("awesome-align", model=weights), "0")
    models = {
        "encoder reference": (EncoderReference(config, "0"),),
        "translator": (translator,),
        "two models in one directory": (translator, translator),
        "settings of an encoder": (config,),
        "encoder of sentences": (SentenceEncoderReference(config, "0"),),
        "program with an encoder": (program,),
    }[model]
    run = dataclasses.replace(run, settled={**run.settled, "more": Settled(None, models=models)})
    assert need_of(run).models == before + 2 * (3 << 30)
    assert within_memory(run).options.workers == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--memory", "2"), "memory: must be a size with its unit, such as 2GiB"),
        (("--memory", "two"), "memory: must be a size with its unit, such as 2GiB"),
        (("--memory", "2GiB", "--engine", "prism"), "--memory 2GiB: is for --engine local"),
        (("--memory", "2GiB", "--direct_num_workers", "4"), "leave out --direct_num_workers"),
    ],
)
def test_other_uses_are_refused(tmp_path, capsys, words, message):
    (tmp_path / "a.tsv").write_text("a b\tc d\n")
    langs = ("--source_lang", "en", "--target_lang", "de")
    job = ("align", "--input", str(tmp_path / "a.tsv"), *langs, "--output", str(tmp_path / "out"))
    assert cli.main([*job, *words]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
