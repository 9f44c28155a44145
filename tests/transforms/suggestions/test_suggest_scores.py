"""The job `suggest` with two models that score its examples."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

pytest.importorskip("torch", reason="needs the extra `neural`")
pytest.importorskip("ctranslate2", reason="needs the extra `translate`")

from pairweave.models.translators import translator_reference
from pairweave.models.translators.translator import TranslatorConfig
from pairweave.transforms.suggestions.suggestion_scores import dual_cross_entropy
from tests.makers import corpora, runs, suggesting, translators

MASK = "<MASK_REP>"


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    directory = tmp_path_factory.mktemp("scores")
    pairs = [corpora.sentence(number) for number in range(300)]
    sides = {"forward": ("en", "de"), "reverse": ("de", "en")}
    pieces = ["source.spm", "target.spm", "tokenizer_config.json"]
    for name, languages in sides.items():
        data = pairs if name == "forward" else [pair[::-1] for pair in pairs]
        translators.write_marian(directory / f"{name}.hf", data, steps=30, sides=languages)
        translators.convert(directory / f"{name}.hf", directory / name, pieces)
    suggesting.write_triples(directory, 60)
    return directory


def command(output, *more):
    return (
        *("suggest", "--source_lang", "en", "--target_lang", "de", "--workers", "1"),
        *("--source_input", "corpus.en", "--target_input", "corpus.de"),
        *("--translation_input", "corpus.mt", "--methods", "alignment,random"),
        *("--scorer", "ctranslate2:forward", "--reverse_scorer", "ctranslate2:reverse"),
        *("--output", output, *more),
    )


def test_scores_are_those_of_both_models_and_a_limit_drops_the_worst(directory):
    runs.run_well_here(*command("out"), cwd=directory)
    rows = pq.read_table(directory / "out" / "data" / "part-00000-of-00001.parquet").to_pylist()
    filled = [row["masked"].replace(MASK, row["suggestion"]) for row in rows]
    sources = [row["source"] for row in rows]
    actual = []
    for name, sides, languages in (
        ("forward", (sources, filled), ("en", "de")),
        ("reverse", (filled, sources), ("de", "en")),
    ):
        config = TranslatorConfig("ctranslate2", str(directory / name))
        reference = translator_reference.find(config, [languages])
        actual.append(translator_reference.score(reference, *sides, *languages))
    wanted = dual_cross_entropy(*actual)
    scores = [row["score"] for row in rows]
    assert scores == pytest.approx(wanted.tolist(), abs=1e-4)
    limit = float(np.median(scores))
    runs.run_well_here(*command("best", "--max_score", limit), cwd=directory)
    best = pq.read_table(directory / "best" / "data" / "part-00000-of-00001.parquet").to_pylist()
    assert [row["masked"] for row in best] == [
        row["masked"] for row in rows if row["score"] <= limit
    ]
    manifest = json.loads((directory / "best" / "_manifest.json").read_text())
    dropped = [n for name, n in manifest["counts"].items() if name.endswith("_dropped_score")]
    assert sum(dropped) == len(rows) - len(best) > 5
