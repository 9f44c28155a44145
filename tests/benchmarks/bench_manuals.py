"""Tags of translated manuals and messages put back, beside the translators' own places.

The weights were tuned on some of these manuals and not on the others (`tune_projection.HELD_OUT`),
and on no messages. ``tests/benchmarks/README.md`` says how to fetch and prepare them;
``PAIRWEAVE_MANUALS`` is their folder. As in `bench_help`, the aligner is fitted on the plain text
of the manual, or of the messages, alone.
"""

import dataclasses
import hashlib
import os
import sys
from collections import Counter
from pathlib import Path

import pytest

from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.transforms.links.soft_links import soften
from pairweave.transforms.markup.markup import Kind, Marked, find_syntax, parse_markup
from pairweave.transforms.projection.cut_tables import cut_table
from pairweave.transforms.projection.joined_words import placings
from pairweave.transforms.projection.project import project_tags
from pairweave.transforms.text.segmenter import NONE, choose_segmenter, is_unspaced
from pairweave.transforms.text.text_tables import token_table
from pairweave.transforms.text.tokens import TokenConfig
from tests.benchmarks.bench_help import is_test_page, same_tags, segments_of, whole_segments
from tests.benchmarks.bench_project import SOFT, exactly_placed

MOST = 3_000
"""Segments of a manual that are measured at most, chosen by a hash of their text."""

LEAST = 90.0
"""The least per cent of tags that are exact, in any manual and language."""

MIN_MESSAGES = 70.0
"""The same in messages of programs, where many translations are free or not finished."""

FEW = 2_000
"""Segments of a manual as XLIFF, all that the aligner learns from."""

MIN_XLIFF = 92.0
"""The least per cent of their places that have tags as the translator's have."""

pytestmark = pytest.mark.bench


def manuals():
    """Return the files of all manuals that are there."""
    folder = os.environ.get("PAIRWEAVE_MANUALS")
    return sorted(Path(folder).glob("*.jsonl.gz")) if folder else []


def linked_tags(segments, languages):
    """Return the segments with the same tags on both sides, with their tokens and links.

    The aligner is fitted on the plain text of all segments.
    """
    tokens = TokenConfig()
    plain = [pair for pair in ((one.text, other.text) for _, one, other in segments) if all(pair)]
    model = fit(
        token_table(tuple(map(list, zip(*plain, strict=True))), tokens, languages),
        HmmConfig(),
        os.cpu_count() or 1,
    )
    chosen = [each for each in segments if each[1].tags and same_tags(*each[1:])]
    chosen.sort(key=lambda each: hashlib.sha256(each[1].text.encode()).digest())
    chosen = chosen[:MOST]
    sources, targets = [each[1] for each in chosen], [each[2].text for each in chosen]
    table = token_table(([source.text for source in sources], targets), tokens, languages)
    table = cut_table(table, sources, targets)
    links = soften(model.with_threshold(SOFT).align(table))
    segmenter = choose_segmenter("auto", languages[1]) if is_unspaced(languages[1]) else NONE
    return chosen, placings(table, sources, links, tokens, segmenter)


def placed_tags(segments, languages):
    """Return the segments with the same tags on both sides, and their translations with tags."""
    chosen, given = linked_tags(segments, languages)
    made = [
        project_tags(source, target.text, *links)
        for (_, source, target), links in zip(chosen, given, strict=True)
    ]
    return chosen, made


def most_tagged(segments):
    """Return as many segments as a small translation memory has, those with tags first."""
    segments = sorted(
        segments,
        key=lambda each: (
            not (each[1].tags and same_tags(*each[1:])),
            hashlib.sha256(each[1].text.encode()).digest(),
        ),
    )
    return segments[:FEW]


def as_xliff(texts):
    """Write the tags of texts as XLIFF's; the k-th element of a name has the same id in each.

    Which of several elements of one name is which, the manuals do not say.
    """
    ids = {}
    for text in texts:
        seen, tags = Counter(), []
        for tag in text.tags:
            raw = "</g>"
            if tag.kind is not Kind.CLOSE:
                number = ids.setdefault((tag.name, seen[tag.name]), len(ids) + 1)
                seen[tag.name] += 1
                raw = f'<g id="{number}">' if tag.kind is Kind.OPEN else f'<x id="{number}"/>'
            tags.append(dataclasses.replace(tag, raw=raw))
        yield parse_markup(str(Marked(text.text, tuple(tags))), find_syntax("xliff"))


def every_manual(test):
    """Run a test with each manual."""
    return pytest.mark.parametrize(
        "path",
        manuals() or [pytest.param(None, marks=pytest.mark.skip("set PAIRWEAVE_MANUALS"))],
        ids=lambda path: path.name.removesuffix(".jsonl.gz") if path else "none",
    )(test)


@every_manual
def test_tags_of_manuals_as_xliff_with_few_segments_to_learn_from(path):
    languages = tuple(path.name.split(".")[1].split("-"))
    segments = [(page, *as_xliff(texts)) for page, *texts in segments_of(path)]
    chosen, made = placed_tags(most_tagged(segments), languages)
    references = [each[2] for each in chosen]
    _, places = exactly_placed(made, references)
    whole = whole_segments(made, references)
    name = path.name.removesuffix(".jsonl.gz")
    sys.stdout.write(
        f"\n{name:<18} {len(chosen):6,} segments  XLIFF: by place {places:5.1f} %, "
        f"whole {whole:4.0f} %\n"
    )
    assert places >= (MIN_MESSAGES if path.name.startswith("messages.") else MIN_XLIFF)


@every_manual
def test_tags_of_manuals_are_put_where_translators_have_them(path):
    languages = tuple(path.name.split(".")[1].split("-"))
    chosen, made = placed_tags(segments_of(path), languages)
    sys.stdout.write(f"\n{path.name.removesuffix('.jsonl.gz'):<18} {len(chosen):6,} segments")
    for pages in ("all", "test"):
        rows = [n for n, each in enumerate(chosen) if pages == "all" or is_test_page(each[0])]
        part = [made[n] for n in rows], [chosen[n][2] for n in rows]
        exact, _ = exactly_placed(*part)
        whole = whole_segments(*part)
        sys.stdout.write(f"  {pages}: exact {exact:5.1f} %, whole {whole:4.0f} %")
        assert exact >= (MIN_MESSAGES if path.name.startswith("messages.") else LEAST)
    sys.stdout.write("\n")
