"""Beam options that no engine of a command reads are refused, not ignored."""

import pytest

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.engines import engine_flags
from pairweave.transforms.errors import ConfigError
from tests.makers import corpora, runs


@pytest.mark.parametrize(
    ("engines", "name", "message"),
    [
        ({"local"}, "flink_master", "with --engine local; give --engine flink, or leave it out"),
        ({"local"}, "environment_type", "with --engine local; give --engine flink or prism"),
        ({"local", "prism"}, "num_workers", "with --engine local or prism; give --engine dataflow"),
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
    assert names <= flags.beam_flags()


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
