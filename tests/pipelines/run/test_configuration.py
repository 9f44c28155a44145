"""What a plan says of its options: files count by their content, corpora by their own keys."""

import json
from types import SimpleNamespace

import pyarrow as pa
import pytest

from pairweave.pipelines.run.prepare import corpora_facts
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.known_pairs import IdSet, Tombstones
from pairweave.transforms.output.signature_line import Counted, InFull, flat_configuration
from tests.makers import corpora, runs

FIRST, SECOND = "0" * 32, "f" * 32
LISTS = {
    "known_pairs": lambda key: IdSet.of(pa.array([key])).to_bytes(),
    "taken_down": lambda key: Tombstones({key: None}, {}).to_bytes(),
}


@pytest.mark.parametrize("option", LISTS)
def test_a_run_does_not_go_on_with_another_list_of_pairs(tmp_path, option):
    lines = ["\t".join(corpora.sentence(number)) + "\n" for number in range(3)]
    (tmp_path / "a.tsv").write_text("".join(lines))
    words = ["augment", "--input", "a.tsv", "--source_lang", "en", "--target_lang", "de"]
    words += ["--mix", 0, "--workers", 1, "--output", "run", f"--{option}", "list"]
    (tmp_path / "list").write_bytes(LISTS[option](FIRST))
    runs.run_well_here(*words, cwd=tmp_path)
    runs.run_well_here(*words, cwd=tmp_path)
    (tmp_path / "list").write_bytes(LISTS[option](SECOND))
    status, _, errors = runs.run_here(*words, cwd=tmp_path)
    assert status == 2
    assert option in errors


def test_the_licence_of_a_corpus_is_its_own_before_that_around_it(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.tsv").write_text("\t".join(corpora.sentence(ord(name))) + "\n")
    own = [{"corpus": "a", "input": "a.tsv", "licence": "mit"}, {"corpus": "b", "input": "b.tsv"}]
    facts = {"source_lang": "en", "target_lang": "de", "mix": 0, "workers": 1, "licence": "gpl"}
    (tmp_path / "job.yaml").write_text(json.dumps({**facts, "corpora": own}))
    runs.run_well_here("augment", "--config", "job.yaml", "--output", "run", cwd=tmp_path)
    plan = json.loads((tmp_path / "run/_plan.json").read_text())
    assert {one["name"]: one["licence"] for one in plan["corpora"]} == {"a": "mit", "b": "gpl"}
    card = (tmp_path / "run/README.md").read_text()
    assert "mit" in card
    assert "gpl" in card


def test_a_signature_has_digests_in_short_and_lists_of_pairs_by_their_number():
    digest = "0123456789ab" + "c" * 52
    settings = {
        "model": digest,
        "encoder": f"bert:{digest}",
        "name": InFull(digest),
        "files": [{"name": "a", "sha256": digest}],
        "layers": [1, 2],
        "pairs": Counted([1, 2, 3]),
        "filter": {"max_ratio": 3.0},
    }
    assert flat_configuration(settings) == {
        "model": "0123456789ab",
        "encoder": "bert-0123456789ab",
        "name": digest,
        "files": ["0123456789ab"],
        "layers": [1, 2],
        "pairs": 3,
        "filter.max_ratio": 3.0,
    }


def test_a_corpus_with_two_licences_is_refused():
    languages = {"source_lang": "en", "target_lang": "de"}
    units = [
        SimpleNamespace(corpus="", earlier=(("c", "mit"), ("d", None)), **languages),
        SimpleNamespace(corpus="c", earlier=(), **languages),
    ]
    options = SimpleNamespace(corpora=(), licence="mit")
    facts = corpora_facts(SimpleNamespace(units=units), options)
    assert [(each["name"], each["licence"]) for each in facts] == [("c", "mit"), ("d", None)]
    options.licence = None
    with pytest.raises(ConfigError, match="c has the licence mit in one input and unknown in ano"):
        corpora_facts(SimpleNamespace(units=units), options)
