"""Beam options that no engine of a command reads are refused, not ignored."""

import pytest

from pairweave.pipelines.command_line import beam_flags
from pairweave.pipelines.engines import engine_flags
from pairweave.transforms.errors import ConfigError
from tests.makers import corpora, runs


@pytest.mark.parametrize(
    ("engines", "name", "message"),
    [
        ({"local"}, "flink_master", "with --engine local; give --engine flink, or leave it out"),
        ({"local"}, "environment_type", "with --engine local; give --engine flink or prism"),
        ({"local", "prism"}, "num_workers", "with --engine local or prism; give --engine dataflow"),
        ({"local"}, "labels", "with --engine local; give --engine dataflow, or leave it out"),
        ({"flink"}, "dataflow_kms_key", "with --engine flink; give --engine dataflow"),
        ({"prism"}, "staging_location", "with --engine prism; give --engine dataflow"),
        ({"flink"}, "direct_num_workers", "with --engine flink; give --engine local"),
    ],
)
def test_an_option_of_another_engine_is_refused(engines, name, message):
    with pytest.raises(ConfigError, match=f"--{name}: has no effect {message}"):
        engine_flags.check_used(engines, {name: "x"})


def test_an_option_that_an_engine_of_the_command_reads_is_taken():
    engine_flags.check_used({"local", "flink"}, {"flink_master": "cluster", "project": "p"})
    engine_flags.check_used({"local"}, {"runner": "FnApiRunner", "job_endpoint": "host:1"})


def test_every_such_option_is_one_of_beam():
    names = {f"--{name}" for name in engine_flags.ENGINES_OF}
    assert names <= beam_flags.actions().keys()


RECIPE = """
source_lang: en
target_lang: de
source_input: corpus.en
target_input: corpus.de
steps: [{job: align}]
"""
NIGHT = """
job: align
source_lang: en
target_lang: de
corpora: [{corpus: news, source_input: corpus.en, target_input: corpus.de}]
"""
JOB = "align --source_input corpus.en --target_input corpus.de --source_lang en --target_lang de"


@pytest.mark.parametrize(
    "command", [JOB, "demo", "run --config recipe.yaml", "refresh --config night.yaml"]
)
def test_each_command_refuses_it_before_anything_is_read(tmp_path, command):
    corpora.write_corpus(tmp_path, 3)
    (tmp_path / "recipe.yaml").write_text(RECIPE, encoding="utf-8")
    (tmp_path / "night.yaml").write_text(NIGHT, encoding="utf-8")
    words = [*command.split(), "--output", "out", "--flink_master", "host:8081"]
    status, _, errors = runs.run_here(*words, cwd=tmp_path)
    assert status == 2
    assert "--flink_master: has no effect with --engine local; give --engine flink" in errors
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "spelling", ["DirectRunner", "direct", "apache_beam.runners.direct.DirectRunner"]
)
def test_the_runner_that_is_a_switch_is_refused(spelling):
    with pytest.raises(ConfigError, match="any of three runners"):
        engine_flags.check_flags("local", {"runner": spelling})


@pytest.mark.parametrize("name", ["NoRunner", "no.such.Runner", "os.path", "pathlib.Missing"])
def test_a_runner_that_beam_does_not_know_is_refused(name):
    with pytest.raises(ConfigError, match=f"--runner={name}: this runner cannot be used"):
        engine_flags.check_flags("local", {"runner": name})


@pytest.mark.parametrize(
    ("engine", "name", "message"),
    [
        ("local", "PrismRunner", "give --engine prism"),
        ("local", "prism", "give --engine prism"),
        ("flink", "apache_beam.runners.portability.prism_runner.PrismRunner", "--engine prism"),
        ("dataflow", "FlinkRunner", "give --engine flink"),
        ("local", "DataflowRunner", "give --engine dataflow"),
        ("local", "SparkRunner", "Beam would download its job server"),
        ("local", "PortableRunner", "give Beam's job server with --job_endpoint=HOST:PORT"),
    ],
)
def test_a_runner_for_which_beam_would_download_a_program_is_refused(engine, name, message):
    with pytest.raises(ConfigError, match=f"--runner={name}: .*{message}"):
        engine_flags.check_flags(engine, {"runner": name})


@pytest.mark.parametrize(
    ("engine", "values", "message"),
    [
        ("local", {"direct_num_workers": "-3"}, "--direct_num_workers -3: expected a whole num"),
        ("flink", {"parallelism": "99999999"}, "--parallelism 99999999: .* from 1 to 32768"),
        ("flink", {"max_parallelism": "0"}, "--max_parallelism 0: expected .* from 1 to 32768"),
        ("flink", {"max_parallelism": "-7"}, "--max_parallelism -7: expected .* from 1 to 32768"),
        ("flink", {"sdk_worker_parallelism": "-1"}, "--sdk_worker_parallelism -1: .* from 0 to"),
        ("flink", {"job_port": "-1"}, "--job_port -1: expected a whole number from 0 to 65535"),
        ("flink", {"flink_conf_dir": "/no/such"}, "--flink_conf_dir /no/such: no such directory"),
        ("prism", {"environment_type": "FOO"}, "FOO: expected one of DOCKER, EXTERNAL, LOOPBACK"),
        ("flink", {"environment_config": "h:1"}, "--environment_config h:1: give --environment_t"),
        ("flink", {"environment_type": "PROCESS"}, "PROCESS: needs --environment_config='{\"com"),
        ("flink", {"environment_type": "external"}, "external: needs --environment_config=HOST:P"),
    ],
)
def test_a_value_that_an_engine_would_refuse_later_is_refused(engine, values, message):
    with pytest.raises(ConfigError, match=message):
        engine_flags.check_flags(engine, values)


@pytest.mark.parametrize(
    ("kind", "config", "is_valid"),
    [
        ("PROCESS", '{"command": "/opt/worker"}', True),
        ("PROCESS", "/opt/worker", False),
        ("PROCESS", '{"url": "host:1"}', False),
        ("PROCESS", "[1]", False),
        ("EXTERNAL", "localhost:50000", True),
        ("EXTERNAL", "http://host:50000", True),
        ("EXTERNAL", '{"url": "host:1"}', True),
        ("EXTERNAL", "localhost", False),
        ("LOOPBACK", None, True),
        ("DOCKER", "image:1", True),
        ("beam:env:process:v1", None, True),
    ],
)
def test_the_configuration_of_a_place_of_workers_is_checked(kind, config, is_valid):
    values = {"environment_type": kind}
    if config is not None:
        values["environment_config"] = config
    if is_valid:
        engine_flags.check_flags("flink", values)
    else:
        with pytest.raises(ConfigError, match=r"--environment_config .*: expected"):
            engine_flags.check_flags("flink", values)


def test_options_of_beam_may_replace_the_configuration():
    values = {"environment_type": "PROCESS", "environment_option": "process_command=worker"}
    engine_flags.check_flags("flink", values)
