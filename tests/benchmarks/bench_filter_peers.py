"""The rules of ``filter`` beside those of OpusFilter and of bicleaner-hardrules, on the same pairs.

    PAIRWEAVE_PEERS=DIR pytest -m bench -n 0 -s tests/benchmarks/bench_filter_peers.py

Each runs on one core, with what it needs loaded already, and scores or judges every pair by every
rule. Of bicleaner-hardrules the rules for language, for obscene words and by a language model are
off, since they need models to be downloaded; empty modules stand in for the two libraries of the
first and the last (fastspell needs hunspell, which has no wheel for Python 3.11 and builds only
beside the headers of libhunspell). Install it with ``pip install --no-deps bicleaner-hardrules``
and sacremoses, toolwrapper, regex, PyYAML. Near-duplicates stand beside `datasketch`.
"""

import functools
import gzip
import time

import pyarrow as pa
import pytest

from pairweave.transforms import schemas
from pairweave.transforms.filtering import detectors, rules
from pairweave.transforms.filtering.deduplication import near_duplicates
from pairweave.transforms.filtering.rules import RuleConfig
from tests.benchmarks.peers import run_peer
from tests.makers.rows import pair

pytestmark = pytest.mark.bench

PAIRS = 10_000

READ = """
import sys, time
pairs = [tuple(line.rstrip("\\n").split("\\t")) for line in open(sys.argv[1], encoding="utf-8")]
"""

OPUSFILTER = """
from opusfilter.pipeline import FilterPipeline
pipeline = FilterPipeline.from_config([
    {"AlphabetRatioFilter": {"threshold": 0.5, "exclude_whitespace": True}},
    {"CharacterScoreFilter": {"scripts": ["Latin", "Latin"], "thresholds": [0.5, 0.5]}},
    {"SimilarityFilter": {"threshold": 0.5, "unit": "word"}},
    {"NonZeroNumeralsFilter": {"threshold": 0.5}},
    {"RepetitionFilter": {}},
    {"LengthRatioFilter": {"threshold": 6, "unit": "char"}},
    {"AverageWordLengthFilter": {"min_length": 1, "max_length": 20}},
    {"HtmlTagFilter": {}},
    {"TerminalPunctuationFilter": {}},
])
began = time.process_time()
scores = [list(each.score(iter(pairs))) for each in pipeline.filters]
print(len(scores[0]) / (time.process_time() - began))
"""

HARDRULES = """
import argparse, types
for name in ("fastspell", "kenlm"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["fastspell"].FastSpell = None
from hardrules.hardrules import Hardrules
rules = Hardrules(argparse.Namespace(
    source_lang="en", target_lang="de", disable_lm_filter=True, lm_threshold=0.5,
    disable_porn_removal=True, disable_lang_ident=True, run_all_rules=True,
    disable_minimal_length=False, rules_config={"no_wrong_language": False, "lm_filter": False,
    "no_porn": False, "no_number_inconsistencies": True, "no_urls": True}, metadata_yaml=None,
))
began = time.process_time()
found = [rules.wrong_tu(*pair) for pair in pairs]
print(len(found) / (time.process_time() - began))
"""


@pytest.fixture(scope="module")
def texts(shared_data):
    """Return English-German pairs of texts without tabs and carriage returns."""
    sides = [
        gzip.decompress((shared_data / "parallel" / f"newstest.en-de.{lang}.gz").read_bytes())
        .decode()
        .split("\n")
        for lang in ("en", "de")
    ]
    pairs = zip(*(side[:PAIRS] for side in sides), strict=True)
    return [tuple(text.replace("\t", " ").replace("\r", " ") for text in each) for each in pairs]


@pytest.fixture(scope="module")
def table(texts):
    """Return the texts as a PAIRS table."""
    rows = [pair(number, *each) for number, each in enumerate(texts)]
    return pa.Table.from_pylist(rows, schema=schemas.PAIRS)


def speed(work, pairs, times=3):
    """Return pairs per second of CPU time, after one run to warm up."""
    work()
    began = time.process_time()
    for _ in range(times):
        work()
    return times * pairs / (time.process_time() - began)


def test_rules_beside_those_of_peers(texts, table, tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("".join("\t".join(each) + "\n" for each in texts), encoding="utf-8")
    ours = speed(lambda: rules.judge(table, RuleConfig()), len(table))
    print(f"\nthe 15 rules of filter: {ours:,.0f} pairs/s of a core")
    for name, script in (("OpusFilter, 9 filters", OPUSFILTER), ("hardrules, 17 rules", HARDRULES)):
        done = run_peer(name, READ + script, path)
        if done is not None:
            theirs = float(done[0].split()[-1])
            print(
                f"{name}: {theirs:,.0f} pairs/s of a core, filter {ours / theirs:.1f} times as fast"
            )
            assert ours > 5 * theirs


def test_detectors(texts, table):
    for name in ("cld2", "langid"):
        sides = [text for each in texts for text in each]
        alone = speed(functools.partial(detectors.detect, sides, name), len(table), 1)
        config = RuleConfig(detector=name)
        actual = speed(functools.partial(rules.judge, table, config), len(table), 1)
        print(f"{name} alone: {alone:,.0f} pairs/s of a core, with the rules {actual:,.0f}")


def test_near_duplicates_beside_datasketch(texts, table):
    datasketch = pytest.importorskip("datasketch")
    ours = speed(lambda: near_duplicates.signatures(table, 0.8), len(table))
    some = texts[:1_000]
    shingles = [
        {
            f"{side}{text[at : at + 5]}".encode()
            for side, text in enumerate(each)
            for at in range(len(text) - 4)
        }
        for each in some
    ]
    began = time.process_time()
    for each in shingles:
        datasketch.MinHash(num_perm=128).update_batch(each)
    theirs = len(some) / (time.process_time() - began)
    print(f"\nsignatures of filter: {ours:,.0f} pairs/s of a core, of datasketch {theirs:,.0f}")
