"""Jobs are planned from their options."""

import dataclasses

import pytest

from pairweave.pipelines.jobs import align, augment
from pairweave.pipelines.options.base import GraphOptions
from pairweave.pipelines.options.corpus_options import PairCorpus
from pairweave.pipelines.parts.aligner_parts import ALIGNER
from pairweave.pipelines.parts.text_parts import SCREEN
from pairweave.transforms.errors import ConfigError


class CountOptions(GraphOptions, PairCorpus):
    """Options of a job that aligns nothing."""

    corpora: tuple[PairCorpus, ...] = ()


COUNT = dataclasses.replace(align.JOB, name="count", options=CountOptions, parts=(ALIGNER, SCREEN))


@pytest.fixture
def planned(tmp_path):
    (tmp_path / "a.tsv").write_text("a b\tc d\n")

    def plan(job, **options):
        given = {"input": (str(tmp_path / "a.tsv"),), "source_lang": "en", "target_lang": "de"}
        given |= {"output": str(tmp_path / "out"), "workers": 1}
        return job.prepare(job.options(**given | options))

    return plan


def test_a_job_that_aligns_nothing_has_no_options_of_a_fit_and_fits_nothing(planned):
    run = planned(COUNT)
    assert not run.fits
    assert run.document["models"] == []
    assert not {"decode", "fit_pairs", "vocabulary"} & run.document["configuration"].keys()


def test_a_job_that_aligns_nothing_trains_no_tokens(planned):
    assert planned(COUNT, tokens="whitespace").tokens.kind == "whitespace"
    with pytest.raises(ConfigError, match="tokens"):
        planned(COUNT, tokens="sentencepiece")


@pytest.mark.parametrize(
    ("job", "options", "models"),
    [
        (align.JOB, {}, ["models/hmm"]),
        (align.JOB, {"aligner": "given", "links_field": "3"}, []),
        (augment.JOB, {}, ["models/hmm"]),
        (augment.JOB, {"mix": 0.0}, []),
    ],
)
def test_a_plan_names_the_model_that_its_run_fits(planned, tmp_path, job, options, models):
    if "links_field" in options:
        (tmp_path / "a.tsv").write_text("a b\tc d\t0-0 1-1\n")
    run = planned(job, **options)
    assert run.document["models"] == models
    assert run.fits == bool(models)


@pytest.mark.parametrize(
    ("unknown", "told"),
    [
        ((), None),
        (("source",), "the source language of some input is not known; give --source_lang,"),
        (("target",), "the target language of some input is not known; give --target_lang,"),
        (
            ("source", "target"),
            "the source and the target language of some input is not known; give --source_lang "
            "and --target_lang,",
        ),
    ],
)
def test_input_of_an_unknown_language_is_a_warning(planned, capsys, unknown, told):
    planned(align.JOB, **{f"{side}_lang": "und" for side in unknown})
    errors = capsys.readouterr().err
    assert errors.count("warning: ") == bool(unknown)
    assert told is None or f"warning: {told} such as en." in errors
