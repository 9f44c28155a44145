"""The machine's network is left only where an engine has servers and nothing is remote."""

import pytest

from pairweave.pipelines.engines import private_network
from pairweave.transforms.storage import yaml_files

FILES = {
    "prism.yaml": "source_lang: en\nengine: prism # in Go\n",
    "flow.yaml": "{engine: prism, input: [a.tsv]}\n",
    "quoted.yaml": '"engine": "prism"\nlicence: https://example.org/licence\n',
    "remote.yaml": "engine: prism\ncorpora:\n  - input: [s3://a/b.tsv]\n",
    "commented.yaml": "# See https://example.org/corpus\nengine: prism\n",
    "spread.yaml": "engine: prism\nencoder:\n  owner/name\nscorer: yisi2\n",
    "broken.yaml": "engine: prism\n  input: [",
    "list.yaml": "- engine: prism\n",
    "recipe.yaml": (
        "engine: prism\nsteps:\n- job: fit\n- {job: bitext}\n- job: align\n  model: {from: fit}\n"
    ),
    "hub.yaml": "engine: prism\nsteps:\n- job: fit\n- job: augment\n  model: owner/name\n",
    "shared_hub.yaml": "engine: prism\nmodel: owner/name\nsteps: [{job: fit}, {job: align}]\n",
    "by_step.yaml": "steps:\n- {job: fit}\n- {job: align, engine: prism, model: {from: fit}}\n",
    "scorers.yaml": "engine: prism\nsteps:\n- {job: filter, scorer: hmm}\n",
    "rounds.yaml": (
        "engine: prism\nsteps:\n- iterations: 2\n  steps:\n"
        "  - {job: suggest, scorer: 'transformers:owner/name'}\n"
    ),
    "odd_recipe.yaml": "engine: prism\nsteps: {job: fit}\n",
    "night.yaml": "job: filter\nengine: prism\nscorer: hmm\n",
    "hub_night.yaml": "job: filter\nengine: prism\nscorer: yisi2\nencoder: owner/name\n",
    "odd_night.yaml": "job: [a]\nengine: prism\n",
}


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    for name in ("model", "transformers", "encoder"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("augment --engine local", False),
        ("augment --engine=flink --input a.tsv", True),
        ("augment --engine flink --input gs://bucket/a.tsv", False),
        ("augment --engine flink --flink_master localhost:8081", False),
        ("augment --engine flink --flink-master=localhost:8081", False),
        ("augment --engine flink --flink_submit_uber_jar", False),
        ("augment --engine flink --flink_submit_uber_jar --parallelism 2", False),
        ("augment --engine flink --parallelism 2", True),
        ("augment --engine prism --aligner encoder --model owner/name", False),
        ("augment --engine prism --model model", True),
        ("augment --engine prism --translator ctranslate2:model", True),
        ("augment --config prism.yaml", True),
        ("augment --config prism.yaml --engine local", False),
        ("augment --config remote.yaml", False),
        ("augment --config none.yaml --engine prism", False),
        ("run --config recipe.yaml", True),
        ("run --config hub.yaml", False),
        # A word for one job is a model for another.
        ("filter --engine prism --scorer hmm", True),
        ("filter --engine prism --scorer yisi2 --encoder model", True),
        ("filter --engine prism --scorer yisi2 --encoder owner/name", False),
        ("suggest --engine prism --scorer transformers:owner/name", False),
        ("bitext --engine prism --scorer both --encoder owner/name", False),
        ("bitext --engine prism --scorer words --model model", True),
        # A name of a model on a hub is none where it is the value of another option.
        ("filter --engine prism --scorer hmm --corpus owner/name", True),
        # A block is read as it is on the command line, too.
        ('align --engine prism --filter={"score_model":"s3://a/m","min_score":0.5}', False),
        ('align --engine prism --filter={"score_model":"model","min_score":0.5}', True),
        # The kind before a model is no model, even where a directory has its name.
        ("augment --engine prism --translator transformers:owner/name", False),
        ("align --engine prism --second_aligner encoder:owner/name:layer=8", False),
        ("align --engine prism --second_aligner encoder:model:layer=8", True),
        ("align --engine prism --second_aligner fast_align", True),
        ("align --engine prism --second_aligner nothing_such", False),
        # A licence may be an address, and so may a comment; neither is opened.
        ("align --engine prism --licence https://example.org/licence", True),
        ("augment --config quoted.yaml", True),
        ("augment --config commented.yaml", True),
        # YAML has several ways to write the same options.
        ("augment --config flow.yaml", True),
        ("filter --config spread.yaml", False),
        ("augment --config broken.yaml", False),
        ("augment --config list.yaml", False),
        ("run --config shared_hub.yaml", False),
        ("run --config by_step.yaml", True),
        ("run --config by_step.yaml --engine local", False),
        ("run --config scorers.yaml", True),
        ("run --config rounds.yaml", False),
        ("run --config odd_recipe.yaml", False),
        ("run --config recipe.yaml --output s3://bucket/x", False),
        ("refresh --config night.yaml --output table", True),
        # A reason may have an address, too; what names no place is not looked at.
        ("refresh --config night.yaml --accept https://example.org/ticket", True),
        ("refresh --config hub_night.yaml --output table", False),
        ("refresh --config night.yaml --lineage http://host/events", False),
        ("refresh --config odd_night.yaml --output table", False),
        ("refresh status table", False),
        ("stream --engine prism", False),
        ("nothing_such --engine prism", False),
    ],
)
def test_the_machines_network_is_left_where_nothing_remote_is_named(words, wanted):
    assert private_network.is_wanted(words.split()) == wanted


def test_a_file_of_options_in_a_store_is_read_again_by_the_job(monkeypatch):
    monkeypatch.setattr(yaml_files, "read_yaml", lambda _: {"engine": "prism", "input": "a.tsv"})
    assert private_network.is_wanted(["augment", "--config", "there.yaml"])
    assert not private_network.is_wanted(["augment", "--config", "s3://bucket/there.yaml"])
