import numpy as np
import pyarrow as pa
import pytest

from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.hmm.hmm_reference import HmmReference
from pairweave.pipelines.steps import aligning
from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.links.confidence import (
    SOFT_LINK_THRESHOLD,
    keep_likely,
    score_phrases,
    weights_of,
)
from pairweave.transforms.links.link_options import ConfidenceConfig, SymmetrizeConfig
from pairweave.transforms.links.phrase_extraction import PhraseConfig, extract_phrases
from pairweave.transforms.links.symmetrize import symmetrize
from pairweave.transforms.text.tokens import TokenConfig, add_tokens
from tests.makers import corpora, rows
from tests.makers.linked_tables import linked
from tests.oracles.slow_confidence import mean_beliefs, score_slowly

FORWARD = [[(0, 0, 0.9), (0, 1, 0.1), (1, 1, 0.6)], [], [(0, 0, 0.5)]]
REVERSE = [[(0, 0, 0.8), (1, 0, 0.2), (1, 1, 0.7)], [], [(0, 0, 0.5)]]
BELIEVED = linked([(2, 2), (0, 0), (1, 1)], FORWARD, REVERSE)


def phrases_by(believed, threshold=0.3):
    likely = keep_likely(believed, threshold)
    return extract_phrases(symmetrize(likely, SymmetrizeConfig()), PhraseConfig())


def scores_of(table):
    return [[box["score"] for box in boxes] for boxes in table["phrases"].to_pylist()]


def test_likely_links_are_kept_and_all_else_stays():
    likely = keep_likely(BELIEVED, 0.3)
    assert likely.schema == schemas.LINKED
    likely.validate(full=True)
    pairs = [[(x["source"], x["target"]) for x in row] for row in likely["forward"].to_pylist()]
    assert pairs == [[(0, 0), (1, 1)], [], [(0, 0)]]
    assert likely.drop_columns(["forward", "reverse"]) == BELIEVED.drop_columns(
        ["forward", "reverse"]
    )
    for start in range(4):
        assert keep_likely(BELIEVED[start:], 0.3) == likely[start:]


def test_a_phrase_pair_has_the_score_of_its_links():
    scored = score_phrases(phrases_by(BELIEVED), BELIEVED, ConfidenceConfig())
    assert scored.schema == schemas.PHRASES
    scored.validate(full=True)
    beliefs = mean_beliefs(FORWARD[0], REVERSE[0])
    links = [(0, 0), (1, 1)]
    boxes = [(0, 1, 0, 1), (0, 2, 0, 2), (1, 2, 1, 2)]
    expected = [score_slowly(beliefs, links, box) for box in boxes]
    assert scores_of(scored) == [pytest.approx(expected), [], [0.5]]
    for start in range(4):
        part = score_phrases(phrases_by(BELIEVED)[start:], BELIEVED[start:], ConfidenceConfig())
        assert part == scored[start:]


def test_a_threshold_leaves_out_what_is_less_sure():
    scored = score_phrases(phrases_by(BELIEVED), BELIEVED, ConfidenceConfig(min_confidence=0.6))
    assert [len(scores) for scores in scores_of(scored)] == [2, 0, 0]


def test_a_phrase_pair_as_sure_as_the_threshold_stays():
    scores = scores_of(score_phrases(phrases_by(BELIEVED), BELIEVED, ConfidenceConfig()))
    least = max(score for row in scores for score in row)
    scored = score_phrases(phrases_by(BELIEVED), BELIEVED, ConfidenceConfig(min_confidence=least))
    assert scores_of(scored) == [[score for score in row if score == least] for row in scores]


def test_phrase_pairs_without_beliefs_are_certain():
    assert scores_of(phrases_by(BELIEVED)) == [[1.0, 1.0, 1.0], [], [1.0]]


def test_tables_of_other_pairs_are_refused():
    with pytest.raises(WorkerError, match="phrase pairs of 3 pairs and links of 2"):
        score_phrases(phrases_by(BELIEVED), BELIEVED[:2], ConfidenceConfig())


def test_weights_are_odds_with_limits():
    scores = np.array([0.0, 0.5, 0.75, 1.0], np.float32)
    weights = weights_of(scores)
    assert weights.dtype == np.float32
    assert weights.tolist() == pytest.approx([1e-9, 1.0, 3.0, 100.0], rel=1e-3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"min_confidence": 1.5}, r"min_confidence must be 0 to 1, got 1\.5"),
        ({"draw": "sure"}, "draw 'sure' is unknown"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(ConfigError, match=message):
        ConfidenceConfig(**settings)


@pytest.fixture(scope="module")
def tokens():
    pairs = [corpora.sentence(number) for number in range(200)]
    table = [rows.pair(number, source, target) for number, (source, target) in enumerate(pairs)]
    return add_tokens(pa.Table.from_pylist(table, schema=schemas.PAIRS), TokenConfig())


@pytest.mark.parametrize("decode", ["posterior", "viterbi"])
def test_scores_change_no_phrase_pair(tokens, decode, monkeypatch):
    model = fit(tokens, HmmConfig(decode=decode))
    fitted = type("Fitted", (), {"model": model})
    monkeypatch.setattr(aligning.hmm_reference, "load", lambda _reference: fitted)
    reference = HmmReference("a/model", "its digest")
    actual = aligning.aligned_phrases(
        tokens, reference, SymmetrizeConfig(), PhraseConfig(), ConfidenceConfig()
    )
    plain = extract_phrases(symmetrize(model.align(tokens), SymmetrizeConfig()), PhraseConfig())
    assert actual.drop_columns(["phrases"]) == plain.drop_columns(["phrases"])
    without = [[tuple(box.values())[:4] for box in row] for row in actual["phrases"].to_pylist()]
    assert without == [
        [tuple(box.values())[:4] for box in row] for row in plain["phrases"].to_pylist()
    ]
    scores = np.concatenate(scores_of(actual))
    assert 0 <= scores.min() < scores.max() <= 1


def test_a_lower_threshold_only_adds_links(tokens):
    model = fit(tokens, HmmConfig())
    believed = model.with_threshold(SOFT_LINK_THRESHOLD).align(tokens)
    assert keep_likely(believed, model.config.threshold) == model.align(tokens)
