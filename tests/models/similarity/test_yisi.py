"""YiSi-2 and the language model against a plain twin that reads one pair at a time."""

import itertools
import json

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

from pairweave.models.encoder.encoder import load_encoder  # noqa: E402
from pairweave.models.encoder.encoder_config import EncoderConfig  # noqa: E402
from pairweave.models.encoder.piece_encoder import PieceEncoder  # noqa: E402
from pairweave.models.encoder.pieces import Pieces, cut_pieces  # noqa: E402
from pairweave.models.similarity import idf, scorer_reference  # noqa: E402
from pairweave.models.similarity.left_to_right import check_language_model  # noqa: E402
from pairweave.models.similarity.similarity_options import (  # noqa: E402
    SimilarityConfig,
    SimilarityEncoderOptions,
)
from pairweave.models.similarity.vector_projection import Projection  # noqa: E402
from pairweave.models.similarity.yisi import f_score  # noqa: E402
from pairweave.models.similarity.yisi_scorer import YisiScorer  # noqa: E402
from pairweave.transforms import schemas  # noqa: E402
from pairweave.transforms.errors import ConfigError  # noqa: E402
from tests.makers.encoders import write_bert, write_xlmr  # noqa: E402
from tests.makers.token_tables import token_table  # noqa: E402
from tests.oracles.slow_yisi import SlowYisi  # noqa: E402

PAIRS = [
    ("The old house stands on a hill.", "Das alte Haus steht auf einem Hügel."),
    ("A cat.", "Eine Katze schläft auf dem alten Sofa im Haus und träumt von Mäusen."),
    ("Green ideas sleep furiously, they say, in the old house.", "Grüne Ideen."),
    ("one", "eins"),
    ("The cat sat on the mat", "Die Katze saß auf der Matte"),
]
TEXTS = [text for pair in PAIRS for text in pair]


@pytest.fixture(scope="module", params=[write_bert, write_xlmr])
def model(request, tmp_path_factory):
    """Return the directory of a small encoder with a language model head."""
    directory = tmp_path_factory.mktemp("encoder")
    return request.param(directory, TEXTS, masked=True)


def table_of(pairs):
    return token_table(pairs).select(schemas.PAIRS.names)


def load(model, layer=2, budget=64, limit=None, **more):
    pieces = PieceEncoder(
        EncoderConfig(str(model), layer=layer, token_budget=budget, device="cpu", **more),
        load_encoder(EncoderConfig(str(model), layer=layer, device="cpu")),
    )
    if limit is not None:
        object.__setattr__(pieces.encoder, "limit", limit)
    return pieces


def counts(pieces, pairs):
    tokenizer = pieces.encoder.tokenizer
    sides = (cut_pieces(tokenizer, texts) for texts in zip(*pairs, strict=True))
    return idf.count(*sides, tokenizer.get_vocab_size(), idf.digest_of(tokenizer))


def scores(pieces, pairs, config=None, projection=None):
    scorer = YisiScorer(config or SimilarityConfig(), pieces, counts(pieces, PAIRS), projection)
    result, rejected = scorer.score_or_reject(table_of(pairs))
    return {name: result[name].to_numpy() for name in result.column_names}, rejected


@pytest.mark.parametrize(("alpha", "layer"), [(0.5, 2), (0.8, 4), (0.0, 0), (1.0, 1)])
def test_scores_are_those_of_the_slow_twin(model, alpha, layer):
    slow = SlowYisi(model, layer)
    weights = [slow.idf(texts) for texts in zip(*PAIRS, strict=True)]
    result, rejected = scores(load(model, layer), PAIRS, SimilarityConfig(alpha=alpha))
    assert not rejected
    for row, pair in enumerate(PAIRS):
        expected = slow.score(*pair, *weights, alpha)
        actual = [result[name][row] for name in ("yisi2", "yisi2_precision", "yisi2_recall")]
        assert actual == pytest.approx(expected, abs=2e-5)


def test_precision_is_over_the_target_and_recall_over_the_source(model):
    one = ("house", "house")
    longer = ("house", "house and something else that is no translation")
    actual, _ = scores(load(model), [one, longer])
    assert actual["yisi2"][0] == pytest.approx(1, abs=1e-5)
    swapped, _ = scores(load(model), [longer[::-1]])
    # The vectors are the same, and so is what is compared; only the weights are the other side's.
    assert actual["yisi2_precision"][1] < 0.999
    assert swapped["yisi2_recall"][0] < 0.999


def test_a_source_is_projected_before_it_is_compared(model):
    pieces, slow = load(model), SlowYisi(model, 2)
    matrix = np.random.default_rng(1).standard_normal((32, 32)).astype(np.float32)
    projection = Projection(matrix, "least_squares", pieces.encoder.digest, 2)
    actual, _ = scores(pieces, PAIRS, projection=projection)
    weights = [slow.idf(texts) for texts in zip(*PAIRS, strict=True)]
    for row, pair in enumerate(PAIRS):
        expected = slow.score(*pair, *weights, matrix=matrix.astype(np.float64))
        assert actual["yisi2"][row] == pytest.approx(expected[0], abs=2e-5)


def test_the_language_model_reads_from_left_to_right(model):
    slow = SlowYisi(model, 2, masked=True)
    actual, _ = scores(load(model), PAIRS, SimilarityConfig(lm_weight=0.1))
    expected = [np.exp(slow.mean_log_probability(target)) for _, target in PAIRS]
    assert actual["lm"] == pytest.approx(expected, rel=1e-3)
    without, _ = scores(load(model), PAIRS)
    # The whole depth of the language model changes nothing about the compared layer.
    assert without["yisi2"].tolist() == actual["yisi2"].tolist()
    assert "lm" not in without


def test_what_follows_a_piece_does_not_change_its_probability(model):
    words = "Das alte Haus"
    longer = words + " steht auf dem Hügel"
    pieces = load(model)
    lm = YisiScorer(SimilarityConfig(lm_weight=1), pieces, counts(pieces, PAIRS))._language_model
    cut = cut_pieces(pieces.encoder.tokenizer, [words, longer])
    short, long = cut.lengths
    assert cut.ids[:short].tolist() == cut.ids[short : 2 * short].tolist()
    means = lm.mean_log_probabilities(cut)
    slow = SlowYisi(model, 2, masked=True)
    assert means == pytest.approx(
        [slow.mean_log_probability(words), slow.mean_log_probability(longer)], rel=1e-4
    )
    assert long > short


@pytest.mark.parametrize("budget", [16, 10_000])
def test_scores_do_not_depend_on_the_batch(model, budget):
    config = SimilarityConfig(lm_weight=0.1)
    together, _ = scores(load(model, budget=budget), PAIRS, config)
    for row, pair in enumerate(PAIRS):
        alone, _ = scores(load(model), [pair], config)
        for name, values in together.items():
            assert values[row] == pytest.approx(alone[name][0], abs=2e-6)


def test_a_text_over_the_limit_is_scored_in_windows_or_rejected(model):
    long = " ".join(target for _, target in PAIRS)
    windows, rejected = scores(
        load(model, limit=20, window_overlap=8), [(long, long)], SimilarityConfig(lm_weight=0.1)
    )
    assert not rejected
    assert windows["yisi2"][0] == pytest.approx(1, abs=1e-4)
    assert 0 < windows["lm"][0] < 1
    actual, rejected = scores(load(model, limit=20, long_pairs="reject"), [PAIRS[3], (long, long)])
    assert rejected[1][0] == "too_long_for_encoder"
    assert len(actual["yisi2"]) == 1


def test_a_piece_of_two_windows_is_scored_in_the_first(model):
    pieces = load(model, limit=20, window_overlap=8)
    lm = YisiScorer(SimilarityConfig(lm_weight=1), pieces, counts(pieces, PAIRS))._language_model
    text = " ".join(TEXTS)
    whole = cut_pieces(pieces.encoder.tokenizer, [text])
    size = len(whole.ids)
    starts = [*range(0, size - 20, 12), size - 20]
    assert len(starts) > 2

    def total(first, end):
        """Return the sum over a stretch that is a text of its own."""
        alone = Pieces(
            np.array([0, end - first]), *(each[first:end] for each in (whole.ids, whole.starts)),
            whole.ends[first:end],
        )  # fmt: skip
        return lm.mean_log_probabilities(alone)[0] * (end - first)

    expected = total(0, 20)
    for before, start in itertools.pairwise(starts):
        # Of later windows, those pieces count that the one before does not have.
        expected += total(start, start + 20) - total(start, before + 20)
    assert lm.mean_log_probabilities(whole)[0] * size == pytest.approx(expected, rel=1e-4)


def test_a_side_without_pieces_scores_0(model):
    actual, _ = scores(load(model), [PAIRS[0], ("", "Haus"), ("house", "")])
    assert actual["yisi2"][0] > 0
    assert actual["yisi2"][1:].tolist() == [0, 0]


def test_f_is_between_precision_and_recall():
    precision, recall = np.array([0.5, 0.5, -0.1, 0.3]), np.array([0.8, 0.8, 0.9, 0.0])
    assert f_score(precision, recall, 0).tolist() == [0.5, 0.5, 0, 0]
    assert f_score(precision, recall, 1)[:2] == pytest.approx([0.8, 0.8])
    assert f_score(precision, recall, 0.5)[0] == pytest.approx(2 * 0.5 * 0.8 / 1.3)


@pytest.mark.parametrize(
    ("layers", "layer", "state"),
    [(24, -8, 17), (12, -3, 10), (12, -4, 9), (24, None, 17), (12, None, 9)],
)
def test_negative_layers_count_from_the_end(tmp_path, layers, layer, state):
    directory = write_bert(tmp_path, TEXTS, layers=layers, hidden=8, heads=1)
    options = SimilarityEncoderOptions(encoder=str(directory), layer=layer)
    reference = scorer_reference.find(options, SimilarityConfig())
    assert reference.encoder.layer == state
    result = load(directory, layer=reference.encoder.layer)
    table = table_of(PAIRS[:1])
    from pairweave.models.similarity.yisi_scorer import encoded_blocks

    ((block, hidden),) = encoded_blocks(table, result)
    expected = SlowYisi(directory, state).vectors(PAIRS[0][0])
    actual = hidden[: len(block.source.ids)].numpy()
    assert np.abs(actual - expected).max() < 1e-3


def sweep(directory, layer, layers, **more):
    options = SimilarityEncoderOptions(encoder=str(directory), layer=layer)
    return scorer_reference.find(options, SimilarityConfig(**more), sweep=layers)


@pytest.mark.parametrize("layer", [1, 4])
def test_each_layer_of_a_sweep_is_scored_as_alone(model, tmp_path, layer):
    counted = idf.save(str(tmp_path), idf.pack(counts(load(model), PAIRS), {}))
    scored, rejected = sweep(model, layer, 5).load(counted).score_or_reject(table_of(PAIRS))
    assert not rejected
    assert scored.column_names[3:] == [f"yisi2_layer_{number}" for number in range(5)]
    slow = SlowYisi(model, layer)
    weights = [slow.idf(texts) for texts in zip(*PAIRS, strict=True)]
    for number in range(5):
        slow.layer = number
        expected = [slow.score(*pair, *weights)[0] for pair in PAIRS]
        assert scored[f"yisi2_layer_{number}"].to_numpy() == pytest.approx(expected, abs=2e-5)
        alone, _ = sweep(model, number, None).load(counted).score_or_reject(table_of(PAIRS))
        column = f"yisi2_layer_{number}"
        assert scored[column].to_numpy() == pytest.approx(alone["yisi2"].to_numpy(), abs=1e-6)
    assert scored["yisi2"].to_pylist() == scored[f"yisi2_layer_{layer}"].to_pylist()
    assert len({tuple(scored[name].to_pylist()) for name in scored.column_names[3:]}) == 5


@pytest.mark.parametrize(("layer", "compared"), [(4, 2), (3, 2), (1, 3)])
def test_a_sweep_encodes_and_compares_the_layer_of_the_score_once(
    model, tmp_path, monkeypatch, layer, compared
):
    from pairweave.models.similarity.yisi_scorer import YisiScorer

    counted = idf.save(str(tmp_path), idf.pack(counts(load(model), PAIRS), {}))
    loaded = sweep(model, layer, 2).load(counted)
    calls, compare = [], YisiScorer._compare

    def counting(self, block, hidden):
        calls.append(self._states.layers)
        return compare(self, block, hidden)

    monkeypatch.setattr(YisiScorer, "_compare", counting)
    scored, _ = loaded.score_or_reject(table_of(PAIRS[:1]))
    assert scored.column_names[3:] == ["yisi2_layer_3", "yisi2_layer_4"]
    assert [len(layers) for layers in calls] == [compared] * compared


def test_a_sweep_leaves_the_language_model_as_it_is(model, tmp_path):
    counted = idf.save(str(tmp_path), idf.pack(counts(load(model), PAIRS), {}))
    actual = [
        sweep(model, 2, layers, lm_weight=0.1).load(counted).score_or_reject(table_of(PAIRS))[0]
        for layers in (None, 2)
    ]
    assert actual[1]["lm"].to_numpy() == pytest.approx(actual[0]["lm"].to_numpy(), rel=1e-5)
    assert actual[1].column_names[-3:] == ["lm", "yisi2_layer_3", "yisi2_layer_4"]


def test_a_sweep_states_its_layers_and_has_at_most_all(model):
    assert sweep(model, 2, 2).settings["sweep_layers"] == [3, 4]
    assert "sweep_layers" not in sweep(model, 2, None).settings
    with pytest.raises(ConfigError, match=r"--sweep_layers 6: .* has 4 layers.* at most 5"):
        sweep(model, 2, 6)


def test_pieces_are_paired_by_their_best_or_by_mutual_best(model):
    from pairweave.models.similarity.projection_fit import best_counterparts, fit_moments

    source = torch.tensor([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    target = torch.tensor([[1.0, 0.02], [-1.0, 0.0]])
    every, theirs = best_counterparts(source, target, "argmax")
    assert every.tolist() == source.tolist()
    assert theirs.tolist() == target[[0, 0, 0]].tolist()
    mutual, theirs = best_counterparts(source, target)
    assert mutual.tolist() == source[:1].tolist()
    assert theirs.tolist() == target[:1].tolist()
    pieces = load(model)
    actual = {
        kind: fit_moments(table_of(PAIRS), pieces, kind).pairs for kind in ("mutual", "argmax")
    }
    tokenizer = pieces.encoder.tokenizer
    assert actual["argmax"] == sum(cut_pieces(tokenizer, [source for source, _ in PAIRS]).lengths)
    assert 0 < actual["mutual"] < actual["argmax"]


def test_an_encoder_without_a_head_has_no_language_model(tmp_path):
    directory = write_bert(tmp_path, TEXTS)
    with pytest.raises(ConfigError, match="has no language model head"):
        scores(load(directory), PAIRS, SimilarityConfig(lm_weight=0.1))
    with pytest.raises(ConfigError, match="has no language model head"):
        check_language_model(EncoderConfig(str(directory)))


def test_a_family_whose_pieces_would_see_what_follows_has_no_language_model(tmp_path):
    directory = write_bert(tmp_path, TEXTS, masked=True)
    path = tmp_path / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(config | {"model_type": "megatron-bert"}))
    with pytest.raises(ConfigError, match="cannot be told which pieces each piece sees"):
        check_language_model(EncoderConfig(str(directory)))


@pytest.mark.parametrize("write", [write_bert, write_xlmr])
def test_an_encoder_with_a_head_has_a_language_model(tmp_path, write):
    check_language_model(EncoderConfig(str(write(tmp_path, TEXTS, masked=True))))


def test_counts_and_maps_of_another_encoder_are_refused(model, tmp_path):
    pieces = load(model)
    other = load(write_bert(tmp_path, [*TEXTS, "quite other words"], seed=2))
    with pytest.raises(ConfigError, match="are not those of"):
        YisiScorer(SimilarityConfig(), pieces, counts(other, PAIRS))
    projection = Projection(np.eye(32, dtype=np.float32), "orthogonal", pieces.encoder.digest, 3)
    with pytest.raises(ConfigError, match="fitted on layer 3"):
        YisiScorer(SimilarityConfig(), pieces, counts(pieces, PAIRS), projection)
