"""What is refused before a job is sent to Dataflow, each by name and in one line."""

import pytest

from pairweave.pipelines.cli import main
from pairweave.pipelines.engines import engine_report, engines
from pairweave.pipelines.engines.dataflow import checks, places
from pairweave.pipelines.job_options.filter_options import FilterJobOptions
from pairweave.pipelines.job_options.pair_options import AlignOptions, AugmentOptions
from pairweave.pipelines.job_options.suggest_options import SuggestOptions
from pairweave.pipelines.options.corpus_options import LinkedCorpus
from pairweave.transforms.errors import ConfigError
from tests.makers import dataflow, stores

WELL = {
    "project": "a-project",
    "region": "europe-west4",
    "temp_location": "gs://bucket/temp",
    "sdk_container_image": dataflow.IMAGE,
}
IN = {"source_lang": "en", "target_lang": "de", "input": ("gs://bucket/in/*.tsv",)}
OUT = "gs://bucket/out"


def changed(**values):
    """Return good flags with some changed; None leaves one out."""
    return {name: value for name, value in {**WELL, **values}.items() if value is not None}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("project", None, "--project is missing: give the id"),
        ("region", None, "--region is missing: give the region of the job"),
        ("temp_location", None, "--temp_location is missing: give a place"),
        ("sdk_container_image", None, "--sdk_container_image is missing: Dataflow's workers get"),
        ("template_location", "gs://bucket/t", "--template_location: writes a classic template"),
        ("setup_file", "setup.py", "--setup_file: the workers' packages are in their image"),
    ],
)
def test_a_flag_that_is_missing_or_has_no_use_is_named(name, value, message):
    checks.check_flags(WELL)
    with pytest.raises(ConfigError) as refused:
        checks.check_flags(changed(**{name: value}))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_without_the_client_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(checks, "PACKAGE", "google.no_such_client")
    with pytest.raises(ConfigError, match=r"pip install 'pairweave\[gcp\]'"):
        checks.check_flags(WELL)
    (state,) = [state for state in engine_report.states() if state.engine == "dataflow"]
    assert not state.ready


def test_the_flags_of_the_engine_complete_the_users():
    given = [f"--{name}={value}" for name, value in WELL.items()]
    with engines.beam_options("dataflow", 4, "a-job", given) as flags:
        assert set(given) < set(flags)
        assert "--runner=DataflowRunner" in flags
        assert "--staging_location=gs://bucket/temp/staging" in flags
        assert "--sdk_location=container" in flags
        assert "--number_of_worker_harness_threads=1" in flags
    with engines.beam_options(
        "dataflow", 4, "a-job", [*given, "--number_of_worker_harness_threads", "4"]
    ) as flags:
        assert "--number_of_worker_harness_threads=1" not in flags


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (AlignOptions(**IN, output="out"), "--output out: Dataflow's workers cannot write there"),
        (AlignOptions(**(IN | {"input": ("/d/a.tsv",)}), output=OUT), "--input /d/a.tsv: "),
        (AlignOptions(**IN, output=OUT, model="m"), "--model m: "),
        (AlignOptions(**IN, output=OUT, exclude=("gs://b/x", "dev.en")), "--exclude dev.en: "),
        (
            AlignOptions(**IN, output=OUT, model="s3://b/m"),
            "--model s3://b/m: Dataflow's workers cannot open it; copy it to a bucket and give "
            "its URI, such as gs://BUCKET/m",
        ),
        (
            AlignOptions(**(IN | {"input": ("hf://org/name?split=a",)}), output=OUT),
            "--input hf://org/name?split=a: is fetched to the disk of this machine, where "
            "Dataflow's workers cannot open it; copy the data set's files to a bucket and give "
            "these, such as gs://BUCKET/*.parquet",
        ),
        (
            AugmentOptions(corpora=({**IN, "input": "a.tsv"},), output=OUT),
            "--input a.tsv: ",
        ),
        (AlignOptions(**IN, output=OUT, tokens="sentencepiece:sp.model"), "--tokens sp.model: "),
        (
            AlignOptions(**IN, output=OUT, filter={"detector": "fasttext:lid.bin"}),
            "--detector lid.bin: ",
        ),
        (
            AlignOptions(
                **IN, output=OUT, filter={"score_model": "/somewhere/model", "min_score": 0.5}
            ),
            "--score_model /somewhere/model: ",
        ),
        (
            AlignOptions(**IN, output=OUT, second_aligner="encoder:bert:layer=8"),
            "--second_aligner bert: ",
        ),
        (
            SuggestOptions(**IN, output=OUT, translator="transformers:Helsinki-NLP/opus-mt-en-de"),
            "--translator Helsinki-NLP/opus-mt-en-de: ",
        ),
    ],
)
def test_files_that_workers_cannot_open_are_refused(options, message):
    with pytest.raises(ConfigError) as refused:
        places.check_reachable(options)
    assert str(refused.value).startswith(message)


def test_a_file_of_the_end_needs_a_command_that_waits():
    with pytest.raises(ConfigError, match="--pharaoh: is written after the end of the job"):
        places.check_reachable(AlignOptions(**IN, output=OUT, pharaoh="links.txt", wait=False))


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (FilterJobOptions, {"plugin_rules": {"shouting": 0.5}}),
        (AugmentOptions, {"filter": {"plugin_rules": {"shouting": None}}}),
    ],
)
def test_a_rule_that_the_image_may_lack_is_refused_until_the_user_says_that_it_has_it(
    kind, options
):
    with pytest.raises(ConfigError, match="--plugin_rules shouting: is a rule of another package"):
        places.check_reachable(kind(**IN, **options, output=OUT))
    places.check_reachable(kind(**IN, **options, output=OUT, plugins_in_image=True))


@pytest.mark.parametrize(
    ("kind", "option", "value", "noun"),
    [
        (AlignOptions, "aligner", "diagonal", "word aligner"),
        (AlignOptions, "tokens", "characters", "tokenizer"),
        (AlignOptions, "format", "blocks", "format"),
        (FilterJobOptions, "scorer", "lengths", "scorer"),
    ],
)
def test_other_kinds_that_the_image_may_lack_are_refused_likewise(kind, option, value, noun):
    known = kind(**IN, output=OUT)
    options = known.model_copy(update={option: value})
    with pytest.raises(ConfigError, match=f"--{option} {value}: is a {noun} of another pack"):
        places.check_reachable(options)
    places.check_reachable(options.model_copy(update={"plugins_in_image": True}))
    places.check_reachable(known)


def test_a_format_of_one_corpus_that_the_image_may_lack_is_refused_likewise():
    corpus = LinkedCorpus(input=("gs://b/a",)).model_copy(update={"format": "blocks"})
    options = AlignOptions(**IN, output=OUT).model_copy(update={"corpora": (corpus,)})
    with pytest.raises(ConfigError, match="--format blocks: is a format of another package"):
        places.check_reachable(options)


def test_files_in_buckets_and_those_of_the_launcher_pass():
    places.check_reachable(
        AlignOptions(
            **IN,
            output=OUT,
            model="gs://bucket/m",
            tokens="words",
            second_aligner="encoder:gs://bucket/bert:layer=8",
            pharaoh="links.txt",
        )
    )


@pytest.fixture(scope="module")
def service():
    with stores.running("gs") as store, dataflow.running() as service:
        store.put("in/a.tsv", "one\teins\n" * 20)
        yield service


def job(service, *more, **values):
    """Return the words of a command that Dataflow would accept, with some flags changed."""
    flags = {
        "source_lang": "en",
        "target_lang": "de",
        "input": "gs://bucket/in/a.tsv",
        "output": OUT,
        "engine": "dataflow",
        "dataflow_endpoint": service.address,
        **WELL,
        **values,
    }
    words = [f"--{name}={value}" for name, value in flags.items() if value is not None]
    return ["align", *words, "--no_auth", *more]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"project": None}, "--project is missing"),
        ({"project": "other-project"}, "Dataflow refuses: (3a): Could not find project other"),
        ({"region": "mars-north1"}, "--region mars-north1: Dataflow refuses: (7b): The region"),
        ({"output": "out"}, "--output out: Dataflow's workers cannot write there"),
        ({"output": "gs://no-bucket/out"}, "gs://no-bucket/out"),
        ({"temp_location": "gs://no-bucket/t"}, "gs://no-bucket/t"),
        ({"workers": "4"}, "--workers: Dataflow starts and stops machines by itself"),
        ({"num_workers": "9", "max_num_workers": "2"}, "num_workers (9) cannot exceed"),
        ({"max_num_worker": "2"}, "unknown option --max_num_worker, did you mean --max_num_work"),
        ({"max_num_workers": "many"}, "--max_num_workers: invalid int value: 'many'"),
        (
            {"engine": "local", "wait": "false"},
            "has no effect with --engine local; give --engine",
        ),
        ({"input": "gs://bucket/none.tsv"}, "gs://bucket/none.tsv"),
    ],
)
def test_a_wrong_command_is_one_line_and_nothing_is_sent(service, capsys, changes, message):
    assert main(job(service, **changes)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert not service.jobs
    assert not [path for method, path in service.requests if method == "POST"]


def test_a_service_that_is_away_is_one_line(service, capsys):
    assert main(job(service, dataflow_endpoint="http://localhost:9")) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("pairweave: Dataflow does not answer: ")


def test_a_recipe_waits_for_its_steps(tmp_path, capsys):
    recipe = tmp_path / "recipe.yaml"
    (tmp_path / "a.tsv").write_text("one\teins\n")
    recipe.write_text(
        f"source_lang: en\ntarget_lang: de\ninput: {tmp_path}/a.tsv\nengine: dataflow\n"
        "steps:\n  - job: align\n    wait: false\n"
    )
    assert main(["run", "--config", str(recipe), "--output", str(tmp_path / "out")]) == 2
    assert (
        "step align: wait: later steps need the finished output of this one"
        in capsys.readouterr().err
    )
