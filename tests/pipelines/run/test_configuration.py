"""What a plan says of its options: files count by their content, corpora by their own keys."""

import json

import pyarrow as pa
import pytest

from pairweave.transforms.known_pairs import IdSet, Tombstones
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
