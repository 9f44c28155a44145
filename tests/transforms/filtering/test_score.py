import json

import numpy as np
import pytest

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.filtering import score
from pairweave.transforms.filtering.evidence import COLUMNS, EVIDENCE, evidence_of


def values(pairs, seed=1):
    draw = np.random.default_rng(seed)
    return {name: draw.random(pairs).astype(np.float32) for name in COLUMNS}


def test_the_worse_direction_counts_and_shares_of_faults_are_squared():
    one = {name: np.array([0.5], np.float32) for name in COLUMNS}
    one["reverse_likelihood"] = np.array([-3], np.float32)
    one["source_coverage"] = np.array([0.25], np.float32)
    assert dict(zip(EVIDENCE, evidence_of(one)[:, 0].tolist(), strict=True)) == {
        "likelihood": -3,
        "uncovered": 0.5625,
        "gap": 0.25,
        "order": 0.5,
        "roughness": 0.25,
        "number_conflict": 0.25,
        "copied": 0.25,
        "end_mismatch": 0.25,
    }


def test_scores_are_logistic():
    actual = values(50)
    weights = score.read_weights()
    logits = np.array(weights.weights) @ evidence_of(actual).astype(np.float64) + weights.bias
    np.testing.assert_allclose(score.score(actual, weights), 1 / (1 + np.exp(-logits)), rtol=1e-6)


def test_no_evidence_makes_a_score_that_is_no_number():
    actual = {name: np.array([1e15, -1e15], np.float32) for name in COLUMNS}
    scores = score.score(actual, score.read_weights())
    assert ((scores >= 0) & (scores <= 1)).all()


def test_fitted_weights_have_no_slope_left():
    actual = values(400)
    true = score.Weights((2.0, -3.0, -4.0, -1.0, -0.5, -2.0, -3.0, 0.5), 0.25)
    good = np.random.default_rng(2).random(400) < score.score(actual, true)
    fitted = score.fit_weights(actual, good)
    evidence = evidence_of(actual).astype(np.float64)
    deviation = evidence.std(axis=1)

    def loss(shift):
        weights = np.array(fitted.weights) + shift / deviation
        logits = weights @ evidence + fitted.bias
        fit = np.logaddexp(0, np.where(good, -logits, logits)).sum()
        return fit + 0.5 * score._PRIOR * ((weights * deviation) ** 2).sum()

    least = loss(np.zeros(len(EVIDENCE)))
    for column in range(len(EVIDENCE)):
        for step in (-0.05, 0.05):
            assert loss(np.eye(len(EVIDENCE))[column] * step) > least - 1e-6


def test_labels_of_one_kind_are_refused():
    with pytest.raises(ConfigError, match="all 3 pairs have the same label"):
        score.fit_weights(values(3), np.ones(3, np.bool_))


def test_a_file_of_weights_reads_as_it_was_written(tmp_path):
    weights = score.Weights(tuple(map(float, range(len(EVIDENCE)))), -1.5)
    path = tmp_path / "weights.json"
    path.write_bytes(weights.to_json())
    assert score.read_weights(str(path)) == weights
    assert score.read_weights(str(path)).digest == weights.digest


def test_weights_that_are_written_again_are_read_again(tmp_path):
    path = tmp_path / "weights.json"
    for bias in (-1.5, 2.5):
        path.write_bytes(score.Weights((0.0,) * len(EVIDENCE), bias).to_json())
        assert score.read_weights(str(path)).bias == bias


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda found: found | {"format": 9}, "format 9, expected 1"),
        (lambda found: found | {"weights": {"gap": 1}}, "weights of gap, expected likelihood"),
        (lambda found: found | {"bias": "x"}, "bias: expected a number, found"),
        (lambda found: [found], "is not a file of weights"),
    ],
)
def test_another_file_is_refused(change, message, tmp_path):
    path = tmp_path / "weights.json"
    path.write_text(json.dumps(change(json.loads(score.read_weights().to_json()))))
    with pytest.raises(ConfigError, match=message):
        score.read_weights(str(path))


def test_a_file_that_is_not_there_is_refused():
    with pytest.raises(ConfigError, match=r"nowhere\.json: no such file"):
        score.read_weights("nowhere.json")
