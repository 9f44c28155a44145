"""The product of a fitted hmm and a trained encoder beside both, on six gold sets.

    BENCH_ENCODER=DIR pytest -n 0 -s -m bench tests/benchmarks/bench_product.py

`BENCH_LAYER` is the encoder's layer (7). Words are compared.
"""

import os

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

from pairweave.models.encoder.encoder_config import EncoderConfig, HeadConfig  # noqa: E402
from pairweave.models.encoder.neural import load_aligner  # noqa: E402
from pairweave.models.hmm.hmm import HmmConfig, fit  # noqa: E402
from pairweave.models.product_aligner import ProductAligner  # noqa: E402
from pairweave.transforms.links.link_options import SymmetrizeConfig  # noqa: E402
from pairweave.transforms.links.symmetrize import symmetrize  # noqa: E402
from tests.makers.hmm_corpora import (  # noqa: E402
    english_french,
    error_rate,
    gold_pairs,
    link_rows,
    plain_table,
    tokens_table,
)

pytestmark = pytest.mark.bench

SETS = ("enfr", "roen", "xlwa-es", "xlwa-it", "xlwa-nl", "sv")
ENCODER = os.environ.get("BENCH_ENCODER")
LAYER = int(os.environ.get("BENCH_LAYER", "7"))


def error(aligner, table, gold, heuristic="grow-diag"):
    """Return the error rate in percent of an aligner's links."""
    links = symmetrize(aligner.align(table).combine_chunks(), SymmetrizeConfig(heuristic))
    return error_rate([set(row) for row in link_rows(links, "links")], gold)


@pytest.mark.skipif(ENCODER is None, reason="BENCH_ENCODER names no encoder")
def test_error_of_the_product(shared_data):
    torch.set_num_threads(1)
    rates = []
    for unit in ("words", "pieces"):
        head = HeadConfig("softmax")
        config = EncoderConfig(ENCODER, layer=LAYER, unit=unit, head=head, device="cpu")
        alone = HeadConfig("softmax", head_threshold=0.2)
        encoder, by_itself = load_aligner(config), load_aligner(config.changed(head=alone))
        for name in SETS:
            sentences, gold = gold_pairs(shared_data, name)
            table = plain_table(sentences)
            training = tokens_table(english_french(shared_data)) if name == "enfr" else table
            table = table.slice(0, len(gold)).combine_chunks()
            hmm = fit(training, HmmConfig())
            product = ProductAligner(hmm, encoder, "")
            rates.append(
                (
                    error(hmm, table, gold),
                    error(by_itself, table, gold, "intersection"),
                    error(product, table, gold),
                )
            )
            print(f"{name}, layer {LAYER}, {unit}: hmm, encoder, product", end="")
            print("".join(f" {rate:6.2f} %" for rate in rates[-1]), flush=True)
    hmm, encoder, product = np.array(rates).T
    assert (product < hmm).all()
    assert (product < encoder).all()
    assert product[0] < 4.5
