"""Suggestions alone: pairs/s on one core, CPU time, best of three, links given.

The triples are 2,999 news sentences with the output of one translation system, taken three times.
"""

import gzip
import time

import pyarrow as pa
import pytest

from pairweave.models.ter_aligner import TerAligner
from pairweave.transforms import schemas
from pairweave.transforms.links.link_options import SymmetrizeConfig
from pairweave.transforms.links.monolingual import add_comparison, as_monolingual
from pairweave.transforms.links.symmetrize import symmetrize
from pairweave.transforms.suggestions.suggestion_options import HintConfig, RandomConfig
from pairweave.transforms.suggestions.suggestions import SuggestionConfig, make_suggestions
from pairweave.transforms.text.tokens import TokenConfig, add_tokens
from tests.makers.rows import row

pytestmark = pytest.mark.bench

CONFIGS = {
    "all methods": SuggestionConfig(),
    "random": SuggestionConfig(("random",)),
    "random, 8 variants": SuggestionConfig(("random",), random=RandomConfig(variants=8)),
    "alignment": SuggestionConfig(("alignment",)),
    "alignment, hint letters": SuggestionConfig(("alignment",), hints=HintConfig("letters", 3)),
    "alignment, hint word": SuggestionConfig(("alignment",), hints=HintConfig("word")),
    "parallel": SuggestionConfig(("parallel",)),
}


def seconds(function, *arguments):
    """Return the least CPU seconds of three calls after one that compiles, and the result."""
    taken = []
    for _ in range(4):
        start = time.process_time()
        result = function(*arguments)
        taken.append(time.process_time() - start)
    return min(taken[1:]), result


@pytest.fixture(scope="module")
def pairs(shared_data):
    """Return PAIRS rows with translations."""
    sides = []
    for side in ("src", "ref", "mt.google"):
        data = gzip.decompress(
            (shared_data / "triples" / "en-de" / f"wmt16.{side}.gz").read_bytes()
        )
        sides.append(data.decode().split("\n")[:-1])
    rows = [
        row(f"{source} {turn}", target, line=line, translation=translation)
        for turn in range(3)
        for line, (source, target, translation) in enumerate(zip(*sides, strict=True))
    ]
    table = pa.Table.from_pylist(rows, schema=schemas.ROWS)
    return table.select(schemas.PAIRS.names).cast(schemas.PAIRS).combine_chunks()


def compare_by_edits(pairs):
    """Compare translations with references by the edits of TER instead of a model."""
    linked = TerAligner().align(add_tokens(as_monolingual(pairs), TokenConfig()))
    return add_comparison(pairs, symmetrize(linked, SymmetrizeConfig()))


def test_suggestions_links_given(pairs):
    taken, compared = seconds(compare_by_edits, pairs)
    print(f"\n{len(pairs)} triples")
    print(f"  {'tokens and links by edits':<30} {len(pairs) / taken:>10,.0f} pairs/s")
    for name, config in CONFIGS.items():
        taken, made = seconds(make_suggestions, compared, config)
        rows = made.rows.num_rows
        print(
            f"  {name:<30} {len(pairs) / taken:>10,.0f} pairs/s {rows / taken:>10,.0f} examples/s"
        )
        assert rows > 0
