"""The statistical aligner: error, fit and alignment speed, beside eflomal and fast_align.

CPU seconds, one core each. Both peers are in `tests.benchmarks.aligner_peers`.
"""

import time

import pyarrow as pa
import pytest

from pairweave.models.hmm.hmm import HmmConfig, fit
from tests.benchmarks.aligner_peers import eflomal, fast_align, words, write_sides
from tests.makers.hmm_corpora import (
    NEWS,
    english_french,
    error_rate,
    gold_pairs,
    in_cyrillic_letters,
    in_georgian_letters,
    in_hangul,
    in_katakana,
    link_rows,
    plain_table,
    tokens_table,
)
from tests.makers.links import symmetrize_slowly

HEURISTICS = ("intersection", "grow-diag", "grow-diag-final-and", "union")

pytestmark = pytest.mark.bench


def errors(forward, reverse, gold):
    """Return the error rate in percent by heuristic."""
    return {
        heuristic: error_rate(
            [
                set(symmetrize_slowly(one, other, heuristic))
                for one, other in zip(forward, reverse, strict=True)
            ],
            gold,
        )
        for heuristic in HEURISTICS
    }


def show(name, rates):
    """Print one line of error rates in percent, one for each heuristic."""
    print(f"{name:34}", *(f"{heuristic} {rate:6.2f} %" for heuristic, rate in rates.items()))


def ours(table):
    """Return links of our own, and CPU seconds of the fit."""
    start = time.process_time()
    model = fit(table, HmmConfig())
    return model, time.process_time() - start


LIMITS = {
    "enfr": 6.3,
    "roen": 30.0,
    "xlwa-es": 16.5,
    "xlwa-it": 21.0,
    "xlwa-nl": 10.5,
    "sv": 23.0,
    "xlwa-es in Georgian": 16.5,
    "sv in Georgian": 23.0,
    "xlwa-es in Cyrillic": 16.5,
    "xlwa-it in Cyrillic": 21.2,
    "roen in Cyrillic": 30.5,
    "xlwa-es in Hangul": 18.5,
    "xlwa-it in Hangul": 22.7,
    "roen in Hangul": 31.5,
    "xlwa-es in Katakana": 18.5,
    "roen in Katakana": 32.0,
}
"""Highest error rate of each gold set, in percent, by the best symmetrization.

Targets in another script have each letter exchanged (Georgian), or their sounds written as in
Russian, Korean or Japanese.
"""

SCRIPTS = {
    "Georgian": in_georgian_letters,
    "Cyrillic": in_cyrillic_letters,
    "Hangul": in_hangul,
    "Katakana": in_katakana,
}


@pytest.mark.parametrize("name", LIMITS)
def test_error_and_speed(shared_data, tmp_path, name):
    stem, _, script = name.partition(" in ")
    pairs, gold = gold_pairs(shared_data, stem)
    if script:
        pairs = [(source, SCRIPTS[script](target)) for source, target in pairs]
    test = plain_table(pairs)
    train = tokens_table(english_french(shared_data)) if name == "enfr" else None
    table = pa.concat_tables([test, train]) if train is not None else test
    fit(test.slice(0, 9), HmmConfig()).align(test.slice(0, 9))  # compile
    size = table.num_rows
    print(f"\n{name}: {size:,} pairs, {len(gold)} with gold links")
    model, seconds = ours(table)
    made = model.align(test.slice(0, len(gold)))
    show(
        "hmm, test text in the fit",
        errors(*(link_rows(made, c) for c in ("forward", "reverse")), gold),
    )
    print(f"hmm fit: {seconds:.1f} s cpu, {size / seconds:,.0f} pairs/s")
    if train is not None:
        after = ours(train)[0].align(test.slice(0, len(gold)))
        show(
            "hmm, test text aligned afterwards",
            errors(*(link_rows(after, c) for c in ("forward", "reverse")), gold),
        )
        new = train.slice(0, 20_000)
        start = time.process_time()
        model.align(new)
        seconds = time.process_time() - start
        count = sum(map(len, words(new, "source"))) / new.num_rows
        print(f"hmm align: {new.num_rows / seconds:,.0f} pairs/s of {count:.1f} source words")
    source, target = words(table, "source"), words(table, "target")
    write_sides(tmp_path, source, target)
    actual = eflomal(tmp_path)
    if actual is not None:
        show("eflomal", errors(actual[0][: len(gold)], actual[1][: len(gold)], gold))
        print(f"eflomal: {actual[2]:.1f} s cpu, {size / actual[2]:,.0f} pairs/s")
    some = range(len(gold), min(size, len(gold) + 20_000)) if train is not None else range(size)
    peer = fast_align(tmp_path, len(gold), some)
    if peer is not None:
        links = [set(map(tuple, pair)) for pair in peer["links"]]
        print(f"fast_align: {error_rate(links, gold):.2f} %, own joint links")
        seconds = peer["training"]
        print(f"fast_align training: {seconds:.1f} s cpu, {size / seconds:,.0f} pairs/s")
        print(f"fast_align align: {len(some) / peer['aligning']:,.0f} pairs/s")
    best = min(errors(*(link_rows(made, c) for c in ("forward", "reverse")), gold).values())
    assert best < LIMITS[name]


def test_error_from_news_alone(shared_data, tmp_path):
    pairs, gold = gold_pairs(shared_data, "enfr")
    test = plain_table(pairs)
    news = tokens_table(english_french(shared_data)[:NEWS])
    made = ours(news)[0].align(test)
    rates = errors(*(link_rows(made, column) for column in ("forward", "reverse")), gold)
    print(f"\nenfr from news: {news.num_rows:,} pairs, {len(gold)} with gold links")
    show("hmm, test text aligned afterwards", rates)
    table = pa.concat_tables([test, news])
    made = ours(table)[0].align(test)
    show(
        "hmm, test text in the fit",
        errors(*(link_rows(made, column) for column in ("forward", "reverse")), gold),
    )
    write_sides(tmp_path, words(table, "source"), words(table, "target"))
    actual = eflomal(tmp_path)
    if actual is not None:
        show("eflomal", errors(actual[0][: len(gold)], actual[1][: len(gold)], gold))
    assert rates["grow-diag"] < 5.5
