"""The error of a small encoder that is trained here, beside that of the same encoder untrained.

    pytest -m bench -n 0 -s tests/benchmarks/bench_neural_aer.py

A BERT of 6 layers of 256 with 16,000 WordPieces learns from the statistical aligner, whose links of
the training text (the test text is no part of it) place the embeddings and are then what the
self-training objective strengthens in place of the encoder's own. One CPU thread; `BENCH_UPDATES`
sets the number of updates (150).
"""

import itertools
import os
import shutil
import time

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

import transformers  # noqa: E402
from scipy import sparse  # noqa: E402

from pairweave.models.encoder.encoder import load_encoder  # noqa: E402
from pairweave.models.encoder.encoder_config import EncoderConfig, HeadConfig  # noqa: E402
from pairweave.models.encoder.neural import load_aligner  # noqa: E402
from pairweave.models.finetune.finetune_config import FinetuneConfig  # noqa: E402
from pairweave.models.finetune.finetune_model import pad_rows  # noqa: E402
from pairweave.models.finetune.finetune_objectives import attention, self_training_loss  # noqa: E402
from pairweave.models.finetune.finetune_pairs import prepare_pairs  # noqa: E402
from pairweave.models.hmm.hmm import HmmConfig, fit  # noqa: E402
from pairweave.transforms import schemas  # noqa: E402
from tests.makers.encoders import both_directions, write_bert  # noqa: E402
from tests.makers.hmm_corpora import (  # noqa: E402
    english_french,
    error_rate,
    gold_pairs,
    plain_table,
    tokens_table,
)

pytestmark = pytest.mark.bench

UPDATES = int(os.environ.get("BENCH_UPDATES", "150"))
LAYERS, HIDDEN, VOCABULARY = 6, 256, 16_000
BATCH_PAIRS, MAX_PIECES, LEARNING_RATE, WARMUP = 32, 40, 5e-4, 10
HEADS = (
    *("softmax", "softmax above 0.2", "argmax", "entmax15", "itermax", "match"),
    "unbalanced_ot",
)
SHARPNESS = 0.4
"""Scale of the compared vectors: at 1, dot products up to 256 leave no gradient."""


class LinkedPieces:
    """Training pairs in pieces, with the links that the statistical aligner gives their words."""

    def __init__(self, linked, encoder):
        """Cut the pairs of a LINKED table."""
        table = linked.select(schemas.TOKENS.names)
        self.pairs, rejected = prepare_pairs(table, encoder, FinetuneConfig())
        self.words = [
            links for row, links in enumerate(both_directions(linked)) if row not in rejected
        ]

    def side(self, name, pair):
        """Return the pieces of one side of a pair, and the word of each."""
        texts = getattr(self.pairs, name)
        place = slice(texts.offsets[pair], texts.offsets[pair + 1])
        return texts.ids[place], texts.words[place]

    def links(self, pair):
        """Return which pieces of a pair are linked: all those of linked words."""
        (_, source), (_, target) = self.side("source", pair), self.side("target", pair)
        words = np.zeros((MAX_WORDS, MAX_WORDS), np.bool_)
        words[tuple(zip(*self.words[pair], strict=True))] = bool(self.words[pair])
        return words[source][:, target]  # a piece of no word, -1, reads a row without links


MAX_WORDS = 600
"""More than the length of any side of the training text."""


def place_embeddings(linked, vocabulary):
    """Return a vector for each piece, near those of its translations.

    Every piece has a random direction, and its vector is the sum of its own, at half weight, and
    of those of its translations, by how often they are linked.
    """
    rows, columns, weights = [], [], []
    for pair in range(len(linked.pairs)):
        (source, _), (target, _), links = (
            linked.side("source", pair),
            linked.side("target", pair),
            linked.links(pair),
        )
        i, j = links.nonzero()
        rows.append(source[i])
        columns.append(target[j])
        weights.append(1 / np.maximum(links.sum(1)[i], links.sum(0)[j]))
    entries = np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns))
    counts = sparse.coo_matrix(entries, shape=(vocabulary, vocabulary)).tocsr()
    counts = counts + counts.T
    shares = sparse.diags(1 / np.maximum(np.asarray(counts.sum(1)).ravel(), 1e-9)) @ counts
    own = np.random.default_rng(1).standard_normal((vocabulary, HIDDEN))
    vectors = 0.5 * own + shares @ own
    vectors *= HIDDEN**0.5 / np.linalg.norm(vectors, axis=1, keepdims=True)
    return torch.from_numpy(vectors).float()


def waves(positions):
    """Return vectors of positions that are the more alike, the nearer (long sine waves)."""
    lengths = 10 * 50 ** (torch.arange(HIDDEN // 2) / (HIDDEN // 2))
    angles = torch.arange(positions)[:, None] / lengths
    return 2**0.5 * torch.cat([angles.sin(), angles.cos()], 1)


def train(model, linked, encoder, layer):
    """Strengthen the links of the statistical aligner; return the mean losses, ten updates each."""
    lengths = np.maximum(linked.pairs.source.lengths, linked.pairs.target.lengths)
    short = np.flatnonzero(lengths <= MAX_PIECES)
    order = np.random.default_rng(2).permutation(short)[: UPDATES * BATCH_PAIRS]
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda done: min((done + 1) / WARMUP, (UPDATES - done) / UPDATES)
    )
    losses = []
    model.train()
    for update in range(UPDATES):
        chosen = order[update * BATCH_PAIRS :][:BATCH_PAIRS]
        sides = []
        for texts in (linked.pairs.source, linked.pairs.target):
            ids, mask, places = pad_rows(texts.ids, texts.offsets, chosen, encoder)
            hidden = model(torch.from_numpy(ids), torch.from_numpy(mask), output_hidden_states=True)
            sides.append((hidden.hidden_states[layer], torch.from_numpy(places >= 0)))
        (source, rows), (target, columns) = sides
        wanted = torch.zeros(len(chosen), rows.shape[1], columns.shape[1])
        for place, pair in enumerate(chosen):
            links = torch.from_numpy(linked.links(pair))
            # Behind the special piece that begins a sequence.
            wanted[place, 1 : 1 + links.shape[0], 1 : 1 + links.shape[1]] = links.float()
        ahead, back = attention(source, target, rows[:, :, None] & columns[:, None, :])
        loss = self_training_loss(ahead, back, wanted, rows.sum(1), columns.sum(1)).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return [sum(losses[start : start + 10]) / 10 for start in range(0, UPDATES, 10)]


def error(directory, layer, head, test, gold):
    """Return the error rate in percent of the links that both directions have."""
    name, _, threshold = head.partition(" above ")
    settings = HeadConfig(name, head_threshold=float(threshold) if threshold else None)
    config = EncoderConfig(str(directory), layer=layer, head=settings, device="cpu")
    return error_rate(both_directions(load_aligner(config).align(test)), gold)


def show(name, rates):
    """Print one line of error rates in percent, one for each head."""
    print(f"{name:28}", *(f"{head} {rate:6.2f} %" for head, rate in rates.items()), flush=True)


def test_error_of_a_trained_encoder(shared_data, tmp_path):
    torch.set_num_threads(1)
    sentences, gold = gold_pairs(shared_data, "enfr")
    test, training = plain_table(sentences), tokens_table(english_french(shared_data))
    start = time.process_time()

    def spent():
        return f"{time.process_time() - start:.0f} s cpu"

    teacher = fit(training, HmmConfig())
    actual = both_directions(teacher.align(test))
    print(f"\nhmm: {error_rate(actual, gold):.2f} %; {training.num_rows:,} pairs, {spent()}")
    texts = itertools.chain(*(training[side].to_pylist() for side in ("source", "target")))
    untrained = write_bert(
        tmp_path / "untrained",
        texts,
        layers=LAYERS,
        hidden=HIDDEN,
        heads=4,
        vocabulary=VOCABULARY,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    torch.manual_seed(1)
    model = transformers.BertModel(transformers.BertConfig.from_pretrained(untrained))
    model.save_pretrained(untrained)

    encoder = load_encoder(EncoderConfig(str(untrained), layer=LAYERS, device="cpu"))
    linked = LinkedPieces(teacher.align(training), encoder)
    tables = model.embeddings
    with torch.no_grad():
        size = tables.word_embeddings.num_embeddings
        tables.word_embeddings.weight.copy_(0.05 * place_embeddings(linked, size))
        tables.position_embeddings.weight.copy_(0.05 * waves(encoder.limit + 2))
        model.encoder.layer[-1].output.LayerNorm.weight.fill_(SHARPNESS)
    directories = {"untrained": untrained}
    for name in ("embeddings placed", "trained"):
        if name == "trained":
            losses = train(model, linked, encoder, LAYERS)
            print("loss", *(f"{loss:.3f}" for loss in losses), f"({spent()})")
        directories[name] = shutil.copytree(untrained, tmp_path / name)
        model.save_pretrained(directories[name])

    rates = {}
    for name, directory in directories.items():
        some = HEADS if name == "trained" else HEADS[:3]
        rates[name] = {head: error(directory, LAYERS, head, test, gold) for head in some}
        show(f"{name}, layer {LAYERS}", rates[name])
    by_layer = {
        f"layer {layer}": error(directories["trained"], layer, "argmax", test, gold)
        for layer in range(LAYERS + 1)
    }
    show("trained, argmax", by_layer)
    print(f"{spent()} in all")
    best = min(*rates["trained"].values(), *by_layer.values())
    assert best < 30
    assert best < 0.5 * min(rates["untrained"].values())
