"""Phrase pairs that tags are drawn from, beside the places where translators put tags.

``help/``: the tags of each segment are taken out of both sides. The aligner is fitted on the plain
text of the same pages, and on nothing else. For each element of a translator that encloses text,
and occurs once on either side, the phrase pairs are looked up that have exactly its source span or
exactly its target span:

- *drawable*: elements with a phrase pair at exactly the translator's place on both sides;
- *exact*: of the phrase pairs at either span, those at the translator's place on both. Each counts
  by its weight in draws, so that this is the share of tags at such places that are right.

Apart from the translators' places, the tags that `augment` draws are counted that open, and that
close, inside a run of letters on the target side, as particles make them do, beside those of
translators.

Misses are counted by their most likely cause. Figures are those of the pages that constants were
tuned on and, apart, of those for tests (`bench_help.is_test_page`).
"""

import os
import sys
from collections import Counter

import pyarrow as pa
import pytest

from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.transforms import schemas
from pairweave.transforms.links.link_options import SymmetrizeConfig
from pairweave.transforms.links.phrase_extraction import PhraseConfig, extract_phrases
from pairweave.transforms.links.symmetrize import symmetrize
from pairweave.transforms.markup.markup import Form, find_elements
from pairweave.transforms.tags.tag_config import TagConfig
from pairweave.transforms.tags.tags import find_taggable, inject_tags
from pairweave.transforms.text.tokens import TokenConfig, add_tokens
from tests.benchmarks.bench_help import is_test_page, segments_of
from tests.makers.rows import row

pytestmark = pytest.mark.bench

SETS = ("office.en-de", "office.en-fr", "gnome.en-ko", "gnome.en-fi")
CHOICES = ("all", "sound")

LEAST = {"office.en-de": 97, "office.en-fr": 97, "gnome.en-ko": 92, "gnome.en-fi": 96}
"""The least per cent that is exact with sound phrase pairs, on pages for tuning."""

ENOUGH = 200
"""The least elements of which a share means something."""


def phrases_of(segments, languages):
    """Return PHRASES rows of the segments, by an aligner that is fitted on all of them."""
    rows = [row(one.text, other.text, line=n) for n, (_, one, other) in enumerate(segments, 1)]
    rows = [{**each, "source_lang": languages[0], "target_lang": languages[1]} for each in rows]
    pairs = pa.Table.from_pylist(rows, schema=schemas.ROWS).select(schemas.PAIRS.names)
    table = add_tokens(pairs.cast(schemas.PAIRS), TokenConfig())
    model = fit(table, HmmConfig(), os.cpu_count() or 1)
    tagged = [n for n, (_, one, _) in enumerate(segments) if one.tags]
    linked = symmetrize(model.align(table.take(pa.array(tagged))), SymmetrizeConfig())
    return [segments[n] for n in tagged], extract_phrases(linked, PhraseConfig())


def translated_elements(source, target):
    """Return the source and target spans of elements with text that occur once on either side."""
    sides = []
    for text in (source, target):
        elements = [
            element
            for element in find_elements(text.tags)
            if element.form is Form.PAIR and element.start < element.end
        ]
        names = [text.tags[element.first].raw for element in elements]
        sides.append(
            {
                name: (element.start, element.end)
                for name, element in zip(names, elements, strict=True)
                if names.count(name) == 1
            }
        )
    return [(sides[0][name], sides[1][name]) for name in sides[0] if name in sides[1]]


def cause_of(place, found, texts, linked):
    """Return why a phrase pair at one span of a place is not at the other.

    Args:
        place: The translator's (source span, target span).
        found: The phrase pair's.
        texts: The texts of both sides.
        linked: The spans of linked tokens of each side.
    """
    side = 0 if place[1] == found[1] else 1
    wanted, got = place[side], found[side]
    (a, b), (c, d) = wanted, got
    if b <= c or d <= a:
        return "elsewhere"
    pieces = [
        texts[side][min(a, c) : max(a, c)].strip(),
        texts[side][min(b, d) : max(b, d)].strip(),
    ]
    letters = [piece for piece in pieces if any(map(str.isalnum, piece))]
    if not letters:
        return "punctuation at an edge"
    if any(
        edge not in (0, len(texts[side]))
        and texts[side][edge - 1].isalnum()
        and texts[side][edge].isalnum()
        for edge in wanted
    ):
        return "part of a word (particle, compound)"
    more, fewer = c <= a and b <= d, a <= c and d <= b
    between = [
        span
        for span in linked[side]
        if min(a, c) <= span[0] < max(a, c) or min(b, d) < span[1] <= max(b, d)
    ]
    if fewer:
        return "linked word left out" if between else "unlinked word at an edge left out"
    return "stretched by a link" if more else "shifted"


def judge(segments, table, chosen, phrase_pairs):
    """Return counts of elements, drawable ones, weights at spans, exact ones, and causes."""
    offsets, boxes, weights = find_taggable(table, TagConfig(phrase_pairs=phrase_pairs)).phrases
    counts, causes = Counter(), Counter()
    sides = [table[f"{side}_tokens"] for side in ("source", "target")]
    for number, (_, source, target) in enumerate(segments):
        places = translated_elements(source, target) if chosen(segments[number]) else []
        if not places:
            continue
        spans = [
            [(token["start"], token["end"]) for token in tokens[number].as_py()] for tokens in sides
        ]
        links = table["links"][number].as_py()
        linked = [
            [spans[side][word] for word in {link[name] for link in links}]
            for side, name in enumerate(("source", "target"))
        ]
        held = {}
        for phrase in range(offsets[number], offsets[number + 1]):
            begin, end, other_begin, other_end = boxes[:, phrase].tolist()
            ends = (
                (spans[0][begin][0], spans[0][end - 1][1]),
                (spans[1][other_begin][0], spans[1][other_end - 1][1]),
            )
            held[ends] = float(weights[phrase]) if len(weights) else 1.0
        for place in places:
            counts["elements"] += 1
            counts["drawable"] += held.get(place, 0.0) > 0
            for ends, weight in held.items():
                if weight and (ends[0] == place[0] or ends[1] == place[1]):
                    counts["at spans"] += weight
                    counts["exact"] += weight * (ends == place)
                    if ends != place:
                        causes[cause_of(place, ends, (source.text, target.text), linked)] += weight
    return counts, causes


def inside_words(texts, spans):
    """Return the per cent of spans that begin, and that end, inside a run of letters and digits."""
    inner = [
        [
            0 < edge < len(text) and text[edge - 1].isalnum() and text[edge].isalnum()
            for edge in span
        ]
        for text, span in zip(texts, spans, strict=True)
    ]
    return [100 * sum(one[end] for one in inner) / len(inner) for end in (0, 1)]


@pytest.mark.parametrize("name", SETS)
def test_sound_phrase_pairs_are_where_translators_put_tags(shared_data, name):
    segments = [
        segment
        for segment in segments_of(shared_data / "help" / f"{name}.jsonl.gz")
        if segment[1].text.strip() and segment[2].text.strip()
    ]
    segments, table = phrases_of(segments, name.partition(".")[2].split("-"))
    exact, elements = {}, {}
    for pages in ("tuning", "test"):
        sys.stdout.write(f"\n{name}, pages for {pages}\n")
        for what in CHOICES:
            counts, causes = judge(
                segments,
                table,
                lambda segment, test=pages == "test": is_test_page(segment[0]) == test,
                phrase_pairs=what,
            )
            exact[pages, what] = 100 * counts["exact"] / counts["at spans"]
            elements[pages] = counts["elements"]
            drawable = 100 * counts["drawable"] / counts["elements"]
            shares = ", ".join(
                f"{cause} {100 * weight / counts['at spans']:.1f}"
                for cause, weight in causes.most_common()
            )
            sys.stdout.write(
                f"  {what:<5} elements {counts['elements']:6,}  drawable {drawable:5.1f} %  "
                f"exact {exact[pages, what]:5.1f} %  misses: {shares}\n"
            )
    spans = [
        (target.text, place[1])
        for _, source, target in segments
        for place in translated_elements(source, target)
    ]
    opening, closing = inside_words(*zip(*spans, strict=True))
    sys.stdout.write(f"  inside a word: translators open {opening:.1f} %, close {closing:.1f} %\n")
    for what in CHOICES:
        rows, without = inject_tags(table, TagConfig(mix=float("inf"), phrase_pairs=what))
        texts = dict(zip(table["id"].to_pylist(), table["target"].to_pylist(), strict=True))
        spans = [
            (texts[row["id"]], (tag["target_start"], tag["target_end"]))
            for row in rows.select(["id", "tags"]).to_pylist()
            for tag in row["tags"]
        ]
        drawn = inside_words(*zip(*spans, strict=True))
        sys.stdout.write(f"  {what:<5} open {drawn[0]:.1f} %, close {drawn[1]:.1f} %\n")
        if what == "sound":
            assert drawn[0] <= opening
        tags = [tag for row in rows["tags"].to_pylist() for tag in row]
        sys.stdout.write(
            f"  {what:<5} tags a pair {len(tags) / len(segments):.3f}, "
            f"pairs without a tag {100 * without.mean():.1f} %\n"
        )
    assert exact["tuning", "sound"] >= max(LEAST[name], exact["tuning", "all"])
    if elements["test"] >= ENOUGH:
        assert exact["test", "sound"] >= exact["test", "all"]
