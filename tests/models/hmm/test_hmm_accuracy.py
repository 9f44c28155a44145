import pyarrow as pa
import pytest

from pairweave.models.hmm.hmm import HmmConfig, fit
from tests.makers.hmm_corpora import (
    english_french,
    error_rate,
    gold_pairs,
    link_rows,
    plain_table,
    tokens_table,
)
from tests.makers.links import symmetrize_slowly


def error_of(made, gold, heuristic="grow-diag"):
    forward, reverse = (link_rows(made, column) for column in ("forward", "reverse"))
    return error_rate(
        [
            set(symmetrize_slowly(one, other, heuristic))
            for one, other in zip(forward, reverse, strict=True)
        ],
        gold,
    )


def test_248_romanian_pairs_are_enough_to_learn_from(shared_data):
    pairs, gold = gold_pairs(shared_data, "roen")
    table = plain_table(pairs)
    # fast_align reaches 46.3 % and eflomal 37.6 % on these pairs alone.
    assert error_of(fit(table, HmmConfig()).align(table), gold) < 30.0


@pytest.mark.slow
@pytest.mark.parametrize("seen", [True, False])
def test_hansards_are_aligned_from_news_and_captions(shared_data, seen):
    pairs, gold = gold_pairs(shared_data, "enfr")
    test = plain_table(pairs)
    train = tokens_table(english_french(shared_data))
    model = fit(pa.concat_tables([test, train]) if seen else train, HmmConfig(), threads=2)
    # eflomal reaches 7.5 % with the test text in the fit.
    assert error_of(model.align(test), gold) < 6.3
