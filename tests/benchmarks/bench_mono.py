"""Translations aligned with references: edits beside sacreBLEU, the fitted model, an encoder.

What becomes of the words says how many masks an aligner would make; the encoder's weights are
random, so its figures only say that it runs.
"""

import itertools
import time

import pytest

from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.ter_aligner import TerAligner
from pairweave.transforms.links.link_options import SymmetrizeConfig
from pairweave.transforms.links.monolingual import as_monolingual
from pairweave.transforms.links.symmetrize import symmetrize
from pairweave.transforms.text.tokens import TokenConfig, add_tokens
from tests.makers.translations import pairs_table, real_triples

pytestmark = pytest.mark.bench

SOME = 600


@pytest.fixture(scope="module")
def triples(shared_data):
    """Return real (source, target, translation) triples."""
    return real_triples(shared_data)


@pytest.fixture(scope="module")
def tokens(triples):
    """Return a TOKENS table whose sides are translation and target."""
    return add_tokens(as_monolingual(pairs_table(triples)), TokenConfig())


def words(row, side):
    """Return the words of one side of a row."""
    return [row[side][span["start"] : span["end"]] for span in row[f"{side}_tokens"]]


def fates(table):
    """Return what becomes of words: shares of the translations', and of the references'."""
    kept = replaced = lost = inserted = translated = wanted = 0
    for row in symmetrize(table, SymmetrizeConfig()).to_pylist():
        source, target = words(row, "source"), words(row, "target")
        links = [(link["source"], link["target"]) for link in row["links"]]
        same = {i for i, j in links if source[i] == target[j]}
        linked = {i for i, _ in links}
        kept += len(same)
        replaced += len(linked - same)
        lost += len(source) - len(linked)
        inserted += len(target) - len({j for _, j in links})
        translated += len(source)
        wanted += len(target)
    shares = {"kept": kept, "replaced": replaced, "without a counterpart": lost}
    return {
        **{name: 100 * count / translated for name, count in shares.items()},
        "inserted of the reference": 100 * inserted / wanted,
    }


def show(name, pairs, seconds, table):
    """Print the speed of one method and what became of its pairs."""
    shares = ", ".join(f"{kind} {share:.2f} %" for kind, share in fates(table).items())
    print(f"{name}: {pairs / seconds:,.0f} pairs/s of one core; {shares}")


def test_edits_are_faster_than_sacrebleus(triples, tokens):
    aligner = TerAligner()
    aligner.align(tokens.slice(0, 9))  # compile
    start = time.process_time()
    table = aligner.align(tokens)
    seconds = time.process_time() - start
    print(f"\n{len(triples):,} translations with their references")
    show("ter, tokens to links", len(triples), seconds, table)
    lib_ter = pytest.importorskip("sacrebleu.metrics.lib_ter", reason="needs sacrebleu")
    rows = tokens.take(list(range(0, len(triples), 9))).to_pylist()
    pairs = [
        [[w.lower() for w in words(row, side)] for side in ("source", "target")] for row in rows
    ]
    start = time.process_time()
    for pair in pairs:
        lib_ter.translation_edit_rate(*pair)
    theirs = (time.process_time() - start) / len(pairs)
    ours = seconds / len(triples)
    print(f"sacreBLEU, words to edits: {1 / theirs:,.0f} pairs/s; we are {theirs / ours:.0f} x")
    assert theirs > 10 * ours


def test_a_fitted_model(triples, tokens):
    fit(tokens.slice(0, 99), HmmConfig()).align(tokens.slice(0, 9))  # compile
    start = time.process_time()
    model = fit(tokens, HmmConfig())
    middle = time.process_time()
    table = model.align(tokens)
    seconds = time.process_time() - middle
    print(f"\nhmm fit: {len(triples) / (middle - start):,.0f} pairs/s of one core")
    show("hmm align", len(triples), seconds, table)


def test_an_encoder_of_random_weights(triples, tokens, tmp_path):
    pytest.importorskip("torch", reason="needs the extra `neural`")
    from pairweave.models.encoder.encoder_config import EncoderConfig, HeadConfig
    from pairweave.models.encoder.neural import load_aligner
    from tests.makers.encoders import write_bert

    texts = itertools.chain.from_iterable(triple[1:] for triple in triples[:SOME])
    write_bert(tmp_path / "bert", list(texts), layers=4, hidden=64)
    some = tokens.slice(0, SOME)
    print()
    for head in ("ot", "unbalanced_ot", "partial_ot", "itermax"):
        config = EncoderConfig(str(tmp_path / "bert"), layer=3, head=HeadConfig(head), device="cpu")
        aligner = load_aligner(config)
        aligner.align(some.slice(0, 9))
        start = time.process_time()
        table = aligner.align(some)
        show(f"random encoder, {head}", SOME, time.process_time() - start, table)
