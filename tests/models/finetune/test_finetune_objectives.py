"""Losses and draws of fine-tuning beside their slow twins."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.kernels.training_draws import draw_each, mask_pieces
from tests.oracles import slow_finetune as slow

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

from pairweave.models.finetune.finetune_objectives import (  # noqa: E402
    ParallelHead,
    attention,
    consistency_loss,
    masked_piece_loss,
    parallel_loss,
    self_training_loss,
    self_training_target,
)

lengths = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=1, max_size=4)
words = st.integers(0, (1 << 64) - 1)


def padded_pairs(sizes, seed):
    """Return padded random vectors, the cells that are real, and the vectors of each pair."""
    made = torch.Generator().manual_seed(seed)
    rows, columns = (max(side) for side in zip(*sizes, strict=True))
    source = torch.randn(len(sizes), rows, 5, generator=made)
    target = torch.randn(len(sizes), columns, 5, generator=made)
    cells = torch.zeros(len(sizes), rows, columns, dtype=torch.bool)
    for pair, (m, n) in enumerate(sizes):
        cells[pair, :m, :n] = True
    plain = [
        (source[pair, :m].double().tolist(), target[pair, :n].double().tolist())
        for pair, (m, n) in enumerate(sizes)
    ]
    return source, target, cells, plain


@given(sizes=lengths, seed=st.integers(0, 1000), threshold=st.sampled_from([0.0, 0.001, 0.1, 0.4]))
def test_alignment_losses_equal_their_twins(sizes, seed, threshold):
    source, target, cells, plain = padded_pairs(sizes, seed)
    forward, reverse = attention(source, target, cells)
    draws = np.random.default_rng(seed)
    ids = [np.sort(draws.integers(-1, 3, side.shape[1])) for side in (source, target)]
    source_words, target_words = (
        torch.from_numpy(np.tile(side, (len(sizes), 1))).masked_fill(~real, -1)
        for side, real in zip(ids, (cells.any(2), cells.any(1)), strict=True)
    )
    links = self_training_target(forward, reverse, threshold, source_words, target_words)
    counts = [torch.tensor(side) for side in zip(*sizes, strict=True)]
    strengthened = self_training_loss(forward, reverse, links, *counts)
    consistent = consistency_loss(forward, reverse, *counts)
    for pair, sides in enumerate(plain):
        expected = slow.attention(*sides)
        m, n = sizes[pair]
        np.testing.assert_allclose(forward[pair, :m, :n], expected[0], atol=1e-5)
        np.testing.assert_allclose(reverse[pair, :m, :n], expected[1], atol=1e-5)
        own = [side[pair].tolist() for side in (source_words, target_words)]
        actual = slow.word_links(
            forward[pair, :m, :n].tolist(), reverse[pair, :m, :n].tolist(), threshold, *own
        )
        assert set(map(tuple, links[pair].nonzero().tolist())) == actual
        loss = slow.self_training_loss(*expected, actual)
        assert strengthened[pair].item() == pytest.approx(loss, abs=1e-5)
        assert consistent[pair].item() == pytest.approx(slow.consistency_loss(*expected), abs=1e-5)


def test_padding_has_no_gradient():
    source, target, cells, _ = padded_pairs([(2, 5), (4, 1)], 3)
    for side in (source, target):
        side.requires_grad_(True)
    forward, reverse = attention(source, target, cells)
    lengths = torch.tensor([2, 4]), torch.tensor([5, 1])
    (self_training_loss(forward, reverse, cells, *lengths).sum()).backward()
    consistency_loss(*attention(source, target, cells), *lengths).sum().backward()
    assert source.grad.isfinite().all()
    assert target.grad.isfinite().all()
    assert not source.grad[0, 2:].any()
    assert not target.grad[1, 1:].any()
    assert source.grad[0, :2].any()


def test_a_single_linked_piece_links_its_whole_word():
    forward = torch.tensor([[[0.9, 0.05, 0.05], [0.05, 0.05, 0.9]]])
    words = torch.tensor([[0, 0]]), torch.tensor([[0, 1, 2]])
    links = self_training_target(forward, forward, 0.5, *words)
    assert links.tolist() == [[[True, False, True], [True, False, True]]]


@given(
    rows=st.lists(st.integers(0, 3), min_size=1, max_size=8),
    seed=st.integers(0, 1000),
)
def test_the_language_models_loss_equals_its_twin(rows, seed):
    scores = torch.randn(len(rows), 7, generator=torch.Generator().manual_seed(seed))
    labels = torch.arange(len(rows)) % 7
    made = masked_piece_loss(scores, labels, torch.tensor(rows), 5)
    expected = slow.masked_piece_loss(scores.tolist(), labels.tolist(), rows, 5)
    np.testing.assert_allclose(made, expected, rtol=1e-5)


def test_the_parallel_loss_equals_its_twin():
    torch.manual_seed(1)
    head, hidden = ParallelHead(4, 0.5), torch.randn(3, 2, 4)
    scores = head(hidden)
    labels = torch.tensor([1, 0, 1])
    expected = []
    for vector, label in zip(hidden[:, 0], labels, strict=True):
        inner = torch.tanh(head.transform.weight @ vector + head.transform.bias)
        plain = (head.decoder.weight @ inner + head.decoder.bias).tolist()
        expected.append(slow.cross_entropy(plain, int(label)))
    np.testing.assert_allclose(parallel_loss(scores, labels).detach(), expected, rtol=1e-5)


@given(
    texts=st.lists(st.lists(st.integers(0, 50), max_size=30), min_size=1, max_size=4),
    keys=st.lists(words, min_size=4, max_size=4),
    seed=words,
    counter=st.integers(0, 1 << 40),
    share=st.sampled_from([0.0, 0.15, 0.5, 1.0]),
)
def test_masks_equal_their_twin(texts, keys, seed, counter, share):
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)
    ids = np.array(list(itertools.chain(*texts)), dtype=np.int64)
    made = mask_pieces(
        ids,
        offsets,
        np.array(keys[: len(texts)], dtype=np.uint64),
        np.uint64(seed),
        np.uint64(counter),
        share,
        99,
        np.arange(60, 70),
    )
    expected = slow.mask_pieces(
        texts, keys[: len(texts)], seed, counter, share, 99, list(range(60, 70))
    )
    assert [side.tolist() for side in made] == list(map(list, expected))


def test_masks_have_the_papers_shares():
    ids = np.zeros(200_000, dtype=np.int64)
    offsets = np.array([0, 100_000, 200_000])
    keys = np.array([1, 2], dtype=np.uint64)
    hidden, chosen = mask_pieces(
        ids, offsets, keys, np.uint64(1), np.uint64(0), 0.15, 9, np.arange(1, 9)
    )
    assert chosen.mean() == pytest.approx(0.15, abs=0.003)
    assert (hidden[chosen] == 9).mean() == pytest.approx(0.8, abs=0.01)
    assert (hidden[chosen] == 0).mean() == pytest.approx(0.1, abs=0.01)
    assert not hidden[~chosen].any()
    assert (chosen[:100_000] != chosen[100_000:]).any()


def test_draws_of_pairs_hang_on_pair_and_counter():
    keys = np.array([5, 6, 5], dtype=np.uint64)
    first = draw_each(np.uint64(1), keys, np.uint64(7), np.uint64(0))
    assert first[0] == first[2] != first[1]
    assert first[0] != draw_each(np.uint64(1), keys, np.uint64(7), np.uint64(1))[0]
    assert first[0] == slow.draw(1, 5, 7, 0)
