"""Scores of other packages are finite numbers, one for each pair."""

import numpy as np
import pyarrow as pa
import pytest

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.filtering.plugin_scorer import score
from pairweave.transforms.plugins.entry_points import plan_plugin
from pairweave.transforms.plugins.pair_scorer import SCORER
from tests.makers import plugins
from tests.makers.plugins import write_package

CODE = """
import numpy as np

class Scorer:
    about = "characters of the source"

    def score(self, pairs):
        Scorer.seen = pairs
        return np.array([len(text) for text in pairs["source"].to_pylist()])

SCORER = Scorer()
"""

PAIRS = pa.table(
    {
        "id": ["1", "2"],
        "source": ["a", "Bäume"],
        "target": ["b", "c"],
        "source_lang": pa.array(["en", "de"]).dictionary_encode(),
        "target_lang": ["und", "und"],
    }
)


@pytest.fixture(autouse=True)
def forgotten():
    yield
    plugins.forget()


def planned(tmp_path, monkeypatch, code=CODE):
    points = {"pairweave.scorers": {"sizes": "a_module:SCORER"}}
    plugins.use(monkeypatch, write_package(tmp_path / "site", code=code, points=points))
    return plan_plugin(SCORER, "sizes", "--scorer")


def test_a_scorer_gets_texts_and_languages_and_perhaps_no_pair(tmp_path, monkeypatch):
    plugin, scorer = planned(tmp_path, monkeypatch)
    scores = score(plugin, PAIRS)
    assert (scores.dtype, scores.tolist()) == (np.float32, [1.0, 5.0])
    names = ["source", "target", "source_lang", "target_lang"]
    assert scorer.seen.schema == pa.schema([(name, pa.string()) for name in names])
    assert scorer.seen["source_lang"].to_pylist() == ["en", "de"]
    assert score(plugin, PAIRS.slice(0, 0)).tolist() == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise KeyError('two\\nlines')", "raised KeyError: 'two\\nlines'; expected"),
        ("return [1.0]", "returned 1 scores for 2 pairs; expected"),
        ("return 0", "returned one number for 2 pairs; expected"),
        ("return None", "returned NoneType for 2 pairs; expected"),
        ("return [0, float('nan')]", "returned nan for a pair, whose source is 'Bäume'; expected"),
        ("return [1e99, 0]", "returned 1e+99 for a pair, whose source is 'a'; expected"),
        ("raise SystemExit(0)", "raised SystemExit: 0; expected"),
        ("raise BaseException('panic')", "raised BaseException: panic; expected"),
        ("return ['0.5', '0.6']", "returned scores of the type <U3; expected"),
        ("return [1 + 2j, 0]", "returned scores of the type complex128; expected"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_what_is_no_score_is_refused(tmp_path, monkeypatch, body, said):
    code = CODE.replace("return np.array(", f"{body}\n        return np.array(")
    plugin, _ = planned(tmp_path, monkeypatch, code)
    with pytest.raises(ConfigError) as error:
        score(plugin, PAIRS)
    message = str(error.value)
    assert message.startswith(f"--scorer sizes: score of a-package 1 (a_module:SCORER) {said}")
    assert message.endswith("fix that package, or give another scorer")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("SCORER = Scorer", "Scorer is a class"),
        ("Scorer.about = ''", "about is '', not a line of text"),
        ("Scorer.score = None", "it has no method score"),
    ],
)
def test_another_interface_is_refused(tmp_path, monkeypatch, more, said):
    with pytest.raises(ConfigError, match="sizes = a_module:SCORER") as error:
        planned(tmp_path, monkeypatch, CODE + more)
    assert f"{said}; expected an instance with about" in str(error.value)
