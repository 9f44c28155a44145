"""Fits of few pairs with and without an earlier fit of another domain, or of a related pair.

    pytest -n 0 -s -m bench tests/benchmarks/bench_prior.py

The earlier fits are on help pages (`help/office.en-fr`, tags left out) and on captions
(`multi30k`). The new ones are on the first pairs of `newstest.en-fr`, tested on `align/enfr`; and
on the 248 pairs of `align/roen` alone, Romanian and English, with the sides of the earlier fit
exchanged: English is the same, French is related. `fit` refuses such a fit of other languages. The
message catalogues of installed packages are tried on all gold sets.
"""

import gzip
import json
import re
import sysconfig

import pytest

from pairweave.models.hmm import hmm_reference
from pairweave.models.hmm.hmm import HmmConfig, HmmModel, fit
from pairweave.models.hmm.prior import Earlier
from pairweave.models.hmm.training import train
from pairweave.pipelines import cli
from pairweave.transforms.links.link_options import SymmetrizeConfig
from pairweave.transforms.links.symmetrize import symmetrize
from tests.makers.hmm_corpora import (
    NEWS,
    english_french,
    english_french_table,
    error_rate,
    gold_pairs,
    link_rows,
    plain_table,
    tokens_table,
)

pytestmark = pytest.mark.bench

SIZES = (200, 500, 1_000, 2_000, 3_000, 5_000, 7_000, 10_000, 13_000, 16_000, 19_000)

_TAG = re.compile(r"<[^>]*>")


def help_pages(shared_data):
    """Return a TOKENS table of help pages in English and French, without their tags."""
    pairs = []
    with gzip.open(shared_data / "help" / "office.en-fr.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            pair = [" ".join(_TAG.sub("", row[side]).split()) for side in ("source", "target")]
            if all(pair):
                pairs.append(pair)
    return english_french_table(pairs)


def error(model, table, gold):
    """Return the error rate in percent of a model's links, by grow-diag."""
    links = symmetrize(model.align(table).combine_chunks(), SymmetrizeConfig("grow-diag"))
    return error_rate([set(row) for row in link_rows(links, "links")], gold)


def earlier_fit(shared_data, name):
    """Return an earlier fit."""
    if name == "help":
        return fit(help_pages(shared_data), HmmConfig(), 2)
    return fit(tokens_table(english_french(shared_data)[NEWS:]), HmmConfig(), 2)


def compare(what, table, before, test, gold):
    """Print the errors alone, with an earlier fit, and by the rule that chooses; return them."""
    alone, chosen = (fit(table, HmmConfig(), 2, each) for each in (None, before))
    with_it = HmmModel(train(table, HmmConfig(), 2, before))
    errors = [error(model, test, gold) for model in (alone, with_it, chosen)]
    report = chosen.report["prior"]
    gain = report["agreement"] - report["agreement_without"]
    print(
        f"{what}: {table.num_rows:,} pairs, alone {errors[0]:.2f} %, with it {errors[1]:.2f} %, "
        f"{'used' if report['used'] else 'left out'}, "
        f"disagreement {gain / (1 - report['agreement_without']):.3f} less",
        flush=True,
    )
    assert errors[2] <= errors[0]
    return errors


@pytest.mark.parametrize("name", ["help", "captions"])
def test_error_by_size(shared_data, name):
    sentences, gold = gold_pairs(shared_data, "enfr")
    test = plain_table(sentences)
    text = english_french(shared_data)
    earlier = earlier_fit(shared_data, name)
    print(f"\n{name} alone: {error(earlier, test, gold):.2f} %")
    for size in SIZES:
        before = Earlier(earlier.parts, earlier.digest)
        errors = compare(name, tokens_table(text[:size]), before, test, gold)
        assert errors[2] < errors[0] or size > 3_000


@pytest.mark.parametrize("name", ["xlwa-es", "xlwa-it", "xlwa-nl", "sv", "roen"])
def test_error_with_message_catalogues(shared_data, tmp_path, name):
    language = name.removeprefix("xlwa-").removesuffix("en")
    pattern = f"{sysconfig.get_path('purelib')}/**/locale/{language}/LC_MESSAGES/*.po"
    words = ["--source_lang", "en", "--target_lang", language, "--output", str(tmp_path / "fit")]
    assert cli.main(["fit", "--input", pattern, *words]) == 0
    earlier = hmm_reference.load(hmm_reference.find(str(tmp_path / "fit"))).model
    sentences, gold = gold_pairs(shared_data, name)
    table = plain_table(sentences)
    before = Earlier(earlier.parts, earlier.digest, exchanged=name == "roen")
    compare(f"\n{name}, catalogues", table, before, table.slice(0, len(gold)), gold)


@pytest.mark.parametrize("name", ["help", "captions"])
def test_error_of_a_related_pair(shared_data, name):
    sentences, gold = gold_pairs(shared_data, "roen")
    test = plain_table(sentences)
    earlier = earlier_fit(shared_data, name)
    before = Earlier(earlier.parts, earlier.digest, exchanged=True)
    errors = compare(f"\nroen, {name} exchanged", test, before, test, gold)
    assert errors[1] > errors[0]  # which is why `fit` refuses it
