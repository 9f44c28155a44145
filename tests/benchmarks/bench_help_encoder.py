"""Tags of help pages put back by the links of a trained encoder, alone and with a fitted hmm.

    BENCH_ENCODER=DIR pytest -n 0 -s -m bench tests/benchmarks/bench_help_encoder.py

Pages for tests as in ``bench_help``, where the hmm alone is measured. `BENCH_LAYER` is the layer of
the encoder (7). The weights of the evidence are those that ship, learnt with links of the hmm; a
second test learns weights with links of the encoder, from up to 1,000 segments of each set's other
pages.
"""

import os
import sys

import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

from pairweave.models.encoder.encoder_config import EncoderConfig, HeadConfig  # noqa: E402
from pairweave.models.encoder.neural import load_aligner  # noqa: E402
from pairweave.models.product_aligner import ProductAligner  # noqa: E402
from pairweave.transforms.links.product import MIN_POSTERIOR  # noqa: E402
from pairweave.transforms.links.soft_links import confirm, soften  # noqa: E402
from pairweave.transforms.projection.known_places import (  # noqa: E402
    known_places,
    learn_weights,
)
from tests.benchmarks.bench_help import read_pages, whole_segments  # noqa: E402
from tests.benchmarks.bench_project import SOFT, exactly_placed  # noqa: E402

pytestmark = pytest.mark.bench

ENCODER = os.environ.get("BENCH_ENCODER")
LAYER = int(os.environ.get("BENCH_LAYER", "7"))

NAMES = ("gnome.en-ko", "gnome.en-fi", "office.en-de", "office.en-fr")

LEARNT_FROM = 1_000
"""The most segments of each set that weights are learnt from."""

HEADS = {
    "softmax": HeadConfig("softmax"),
    "softmax above 0.05": HeadConfig("softmax", head_threshold=0.05),
    "argmax": HeadConfig("argmax"),
}


@pytest.mark.skipif(ENCODER is None, reason="BENCH_ENCODER names no encoder")
@pytest.mark.parametrize("unit", ["words", "pieces"])
@pytest.mark.parametrize("name", NAMES)
def test_tags_put_back_by_an_encoder(shared_data, name, unit):
    torch.set_num_threads(1)
    pages = read_pages(shared_data, name)
    chosen = pages.rows("test")
    table = pages.table.take(chosen).combine_chunks()
    references = [pages.references[row] for row in chosen]
    whole = {}

    def report(label, links):
        made = pages.project(links, chosen)
        exact, _ = exactly_placed(made, references)
        whole[label] = whole_segments(made, references)
        sys.stdout.write(f"  {label:<34} exact {exact:6.2f} %  whole {whole[label]:6.2f} %\n")
        sys.stdout.flush()

    sys.stdout.write(f"\n{name}, layer {LAYER}, {unit}: {len(chosen):,} segments\n")
    report("hmm", soften(pages.model.with_threshold(SOFT).align(table)))
    hmm = soften(pages.model.with_threshold(MIN_POSTERIOR).align(table))
    config = EncoderConfig(ENCODER, layer=LAYER, unit=unit, device="cpu")
    for label, head in HEADS.items():
        encoder = load_aligner(config.changed(head=head))
        links = soften(encoder.align(table))
        report(label, links)
        confirmed = [confirm(*both, SOFT) for both in zip(hmm, links, strict=True)]
        report(f"hmm, confirmed by {label}", confirmed)
        if label == "softmax":
            product = ProductAligner(pages.model, encoder, "").with_soft_links(SOFT)
            report("product", soften(product.align(table)))
    assert whole["hmm, confirmed by softmax"] >= whole["hmm"] - 0.2
    assert whole["hmm, confirmed by softmax"] > whole["softmax"]


@pytest.mark.skipif(ENCODER is None, reason="BENCH_ENCODER names no encoder")
def test_weights_learnt_with_links_of_the_encoder(shared_data):
    torch.set_num_threads(1)
    config = EncoderConfig(ENCODER, layer=LAYER, unit="pieces", device="cpu")
    encoder = load_aligner(config.changed(head=HEADS["softmax"]))
    examples, tests = [], []
    for name in NAMES:
        pages = read_pages(shared_data, name)
        others = sorted(set(pages.rows("all")) - set(pages.rows("test")))
        others = others[:: max(1, len(others) // LEARNT_FROM)][:LEARNT_FROM]
        for chosen in (others, pages.rows("test")):
            links = soften(encoder.align(pages.table.take(chosen).combine_chunks()))
            if chosen is others:
                examples += [
                    known_places(pages.sources[row], pages.references[row], *pages.tokens[row], one)
                    for row, one in zip(others, links, strict=True)
                ]
            else:
                tests.append((name, pages, chosen, links))
    weights = learn_weights(examples)
    for name, pages, chosen, links in tests:
        references = [pages.references[row] for row in chosen]
        sys.stdout.write(f"\n{name}, layer {LAYER}, softmax, pieces\n")
        exact = []
        for label, used in (("weights that ship", None), ("learnt here", weights)):
            made = pages.project(links, chosen, used)
            exact.append(exactly_placed(made, references)[0])
            whole = whole_segments(made, references)
            sys.stdout.write(f"  {label:<34} exact {exact[-1]:6.2f} %  whole {whole:6.2f} %\n")
        assert exact[1] > exact[0]
