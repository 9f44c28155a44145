"""Tags of real help pages put back onto their translations, beside the translators' own places.

``help/``: the tags of each segment are taken out of its translation, projected from the source, and
compared with where the translator put them. The aligner is fitted on the plain text of the same
pages, and on nothing else. A page is one for tests by a hash of its name, a quarter of all, so that
constants can be tuned on the others. A segment is whole if all of its tags are where the translator
has them; tags with the same name may be exchanged there.
"""

import gzip
import hashlib
import os
import sys
import time
from collections import Counter
from typing import NamedTuple

import numpy as np
import orjson
import pyarrow as pa
import pytest

from pairweave.models.hmm.hmm import HmmConfig, HmmModel, fit
from pairweave.transforms.links.soft_links import soften
from pairweave.transforms.markup.markup import Marked, find_syntax, parse_markup
from pairweave.transforms.projection.project import project_tags
from tests.benchmarks.bench_project import SOFT, cut_pairs, exactly_placed, words_of
from tests.makers.hmm_corpora import tokens_table
from tests.oracles.slow_projection import place_proportionally

SIDES = ("source", "target")

TEST_PAGES = 64
"""Of the 256 values of the hash's first byte, those of pages for tests."""

LEAST = {
    "office.en-de": (97.4, 94.0),
    "office.en-fr": (97.2, 93.8),
    "gnome.en-ko": (93.0, 84.5),
    "gnome.en-fi": (95.0, 89.0),
}
"""The least per cent of tags that are exact on pages for tests, and of whole segments."""

pytestmark = pytest.mark.bench


def segments_of(path):
    """Return the page, the source and the translation of each segment."""
    syntax = find_syntax("xml")
    with gzip.open(path, "rb") as file:
        rows = [orjson.loads(line) for line in file]
    return [
        (row["id"].partition("#")[0], *(parse_markup(row[side], syntax) for side in SIDES))
        for row in rows
    ]


def is_test_page(page):
    """Tell whether a page is one that no constant was tuned on."""
    return hashlib.sha256(page.encode()).digest()[0] < TEST_PAGES


def same_tags(one, other):
    """Tell whether two texts have the same tags, wherever they stand."""
    return Counter((tag.name, tag.kind) for tag in one.tags) == Counter(
        (tag.name, tag.kind) for tag in other.tags
    )


def whole_segments(made, references):
    """Return the share of texts with a tag of each name at each of the reference's places."""
    places = [
        [Counter((tag.name, tag.kind, tag.offset) for tag in text.tags) for text in texts]
        for texts in (made, references)
    ]
    same = sum(one == other for one, other in zip(*places, strict=True))
    return 100 * same / len(references)


class TaggedPages(NamedTuple):
    """Segments with the same tags on both sides, and an aligner fitted on all text of the pages."""

    model: HmmModel
    segments: int
    pages: list[str]
    sources: list[Marked]
    references: list[Marked]
    tokens: list[tuple[np.ndarray, np.ndarray]]
    table: pa.Table

    def project(self, soft_links, chosen, weights=None):
        """Put the tags of the chosen segments onto their translations by these links."""
        return [
            project_tags(
                self.sources[row],
                self.references[row].text,
                *self.tokens[row],
                soft,
                weights=weights,
            )
            for row, soft in zip(chosen, soft_links, strict=True)
        ]

    def rows(self, pages):
        """Return the numbers of the segments on all pages, or on those for tests."""
        return [n for n, page in enumerate(self.pages) if pages == "all" or is_test_page(page)]


def read_pages(data, name):
    """Read a set of help pages and fit an aligner on their plain text."""
    segments = segments_of(data / "help" / f"{name}.jsonl.gz")
    sides = [
        words_of([segment[1 + side].text for segment in segments], language)
        for side, language in enumerate(name.partition(".")[2].split("-"))
    ]
    texts = [
        (one.text, s, other.text, t) for (_, one, other), s, t in zip(segments, *sides, strict=True)
    ]
    model = fit(tokens_table(texts), HmmConfig(), os.cpu_count() or 1)
    rows = [row for row, (_, *both) in enumerate(segments) if both[0].tags and same_tags(*both)]
    pages, sources, references = map(list, zip(*(segments[row] for row in rows), strict=True))
    words = [(texts[row][1], texts[row][3]) for row in rows]
    tokens, table = cut_pairs([*zip(sources, references, strict=True)], words)
    return TaggedPages(model, len(texts), pages, sources, references, tokens, table)


@pytest.mark.parametrize("name", ["gnome.en-ko", "gnome.en-fi", "office.en-de", "office.en-fr"])
def test_tags_of_help_pages_are_put_where_translators_have_them(shared_data, name):
    pages = read_pages(shared_data, name)
    count = len(pages.sources)
    start = time.process_time()
    links = soften(pages.model.with_threshold(SOFT).align(pages.table))
    made = pages.project(links, range(count))
    seconds = time.process_time() - start
    sys.stdout.write(f"\n{name}: {pages.segments} segments, {count} with tags\n")
    for which in ("all", "test"):
        chosen = pages.rows(which)
        part = [made[row] for row in chosen], [pages.references[row] for row in chosen]
        by_name, by_place = exactly_placed(*part)
        whole = whole_segments(*part)
        sys.stdout.write(
            f"  {which:<5} pages: {len(chosen):6,} segments  exact {by_name:6.2f} %  "
            f"by place {by_place:6.2f} %  whole {whole:6.2f} %\n"
        )
        proportional = [
            place_proportionally(pages.sources[row], pages.references[row].text) for row in chosen
        ]
        assert whole > whole_segments(proportional, part[1])
        if which == "test":
            least = LEAST[name]
            assert by_name >= least[0]
            assert whole >= least[1]
    sys.stdout.write(f"  {count / seconds:,.0f} segments/s, aligned and projected\n")
