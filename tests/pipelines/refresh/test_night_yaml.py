"""The YAML file of a night: a value of a wrong type is one line with the file and the key."""

import json

import pytest

from pairweave.pipelines.refresh import night_config, refitting
from pairweave.pipelines.refresh.gates import Gates
from pairweave.transforms.errors import ConfigError

WRONG = [True, 1.5, "x", [None], {"a": 1}, [[]]]
"""Values of types that most keys do not have."""

CORPUS = {"corpus": "a", "input": "a.tsv"}
NIGHT = {"job": "augment", "source_lang": "en", "target_lang": "de", "corpora": [CORPUS]}


@pytest.fixture
def refusal(tmp_path, monkeypatch):
    """Return a function that reads a file and returns why it is refused, None if it is not."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.tsv").write_text("one\teins\n")

    def read(values):
        (tmp_path / "night.yaml").write_text(json.dumps(values))
        try:
            night_config.read_config("night.yaml", {})
        except ConfigError as error:
            return str(error)
        return None

    return read


def check(message, key):
    if message is not None:
        assert message.startswith("night.yaml: ")
        assert key in message
        assert "\n" not in message


@pytest.mark.parametrize("value", WRONG, ids=json.dumps)
def test_a_job_of_a_wrong_type_is_refused_with_all_jobs(refusal, value):
    message = refusal({**NIGHT, "job": value})
    assert message.startswith("night.yaml: job must be augment, suggest, align or filter, got ")


@pytest.mark.parametrize("key", ["gates", refitting.KEY, "filter", "model", "seed"])
def test_a_value_of_a_wrong_type_is_refused_with_its_key(refusal, key):
    for value in WRONG:
        check(refusal({**NIGHT, key: value}), key.partition("_input")[0])


@pytest.mark.parametrize("value", [True, 3, 1.5, "x", {"a": 1}, [[]], [None]], ids=json.dumps)
def test_corpora_of_a_wrong_type_are_refused(refusal, value):
    assert refusal({**NIGHT, "corpora": value}).startswith("night.yaml: corpora")


def test_a_data_set_of_the_hub_is_refused(refusal):
    said = refusal({**NIGHT, "corpora": [{"corpus": "a", "input": "hf://org/name"}]})
    assert "input: hf://org/name: a night finds new files by their names and sizes" in said
    assert said.endswith("fetch it (hf download) and give its files")


@pytest.mark.parametrize("key", ["corpus", "input", "source_lang"])
def test_a_value_of_a_corpus_of_a_wrong_type_is_refused_with_its_key(refusal, key):
    for value in WRONG:
        check(refusal({**NIGHT, "corpora": [{**CORPUS, key: value}]}), key.partition("_input")[0])


@pytest.mark.parametrize("key", sorted(Gates.model_fields)[:2])
def test_a_gate_of_a_wrong_type_is_refused_with_its_key(refusal, key):
    for value in WRONG:
        check(refusal({**NIGHT, "gates": {key: value}}), key)


@pytest.mark.parametrize("value", WRONG, ids=json.dumps)
def test_a_file_that_is_no_map_is_refused(refusal, value):
    assert refusal(value).startswith("night.yaml: expected the options of a job")


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("duplicates", "masked", "a pair would depend on pairs of other nights; give duplicates: "),
        ("duplicates", "near", "a pair would depend on pairs of other nights; give duplicates: "),
        ("scorer", "margin", "it compares a pair with all others; give another scorer"),
    ],
)
def test_a_value_that_compares_pairs_of_all_nights_is_refused(refusal, key, value, why):
    values = {"job": "filter", "duplicates": "exact", "encoder": ".", key: value}
    assert f"{key}: {value}: {why}" in refusal({**NIGHT, **values})
