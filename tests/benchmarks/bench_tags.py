"""Tokens, the screen and tag injection beside OpusTrainer, one core, CPU time, best of three.

The pairs are 10,000 news sentences in English and German. Each token is linked with the token that
it occurs with most (Dice) near the diagonal, in both directions. OpusTrainer marks single words
that have one link on both sides; its probability is set so that it tags as many places in a pair.
OpusTrainer runs in the peers' environment (``make bench`` installs it in ``.peers``).
"""

import gzip
import json
import math
import sys
import time
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from pairweave.transforms import schemas
from pairweave.transforms.indexed_tag import RESERVED_PATTERN
from pairweave.transforms.links.link_options import SymmetrizeConfig
from pairweave.transforms.links.phrase_extraction import PhraseConfig, extract_phrases
from pairweave.transforms.links.symmetrize import symmetrize
from pairweave.transforms.screen import ScreenConfig, screen
from pairweave.transforms.symbols.representations import find_representation
from pairweave.transforms.tags.tag_rendering import render_columns
from pairweave.transforms.tags.tags import TagConfig, inject_tags
from pairweave.transforms.text.tokens import TokenConfig, add_tokens, train_sentencepiece
from pairweave.transforms.text.whole_words import pair_cuts
from tests.benchmarks.peers import run_peer
from tests.makers.rows import batch, row
from tests.oracles.slow_rendering import render_pair

pytestmark = pytest.mark.bench

PAIRS = 10_000
PEER_PAIRS = 1_000

OPUSTRAINER = """
import json, random, sys, time
from opustrainer.modifiers.placeholders import PlaceholderTagModifier
lines = [line.rstrip("\\n") for line in open(sys.argv[1], encoding="utf-8", newline="\\n")]
random.seed(1)
modifier = PlaceholderTagModifier(probability=float(sys.argv[2]), template="<{src}|{trg}>")
best = 1e9
for _ in range(3):
    start = time.process_time()
    made = list(modifier(list(lines)))
    best = min(best, time.process_time() - start)
print(json.dumps({"seconds": best, "rows": len(made), "places": sum(m.count("|") for m in made)}))
"""


@pytest.fixture(scope="module")
def pairs(shared_data):
    """Return PAIRS rows."""
    sides = []
    for lang in ("en", "de"):
        data = gzip.decompress(
            (shared_data / "parallel" / f"newstest.en-de.{lang}.gz").read_bytes()
        )
        sides.append(data.decode().split("\n")[:-1])
    rows = [row(s, t, line=i) for i, (s, t) in enumerate(zip(*sides, strict=True))][:PAIRS]
    table = pa.Table.from_pylist(rows, schema=schemas.ROWS)
    return table.select(schemas.PAIRS.names).cast(schemas.PAIRS)


@pytest.fixture(scope="module")
def linked(pairs):
    """Return LINKED rows."""
    table = add_tokens(pairs, TokenConfig())
    words = [
        [
            [text[span["start"] : span["end"]].lower() for span in spans]
            for text, spans in zip(
                table[side].to_pylist(), table[f"{side}_tokens"].to_pylist(), strict=True
            )
        ]
        for side in ("source", "target")
    ]
    together = Counter()
    for source, target in zip(*words, strict=True):
        together.update((one, other) for one in set(source) for other in set(target))
    counts = [Counter(word for line in side for word in set(line)) for side in words]
    directions = {"forward": [], "reverse": []}
    for source, target in zip(*words, strict=True):
        scores = np.array(
            [
                [
                    together[one, other]
                    / (counts[0][one] + counts[1][other])
                    * math.exp(-4 * abs(i / len(source) - j / len(target)))
                    for j, other in enumerate(target)
                ]
                for i, one in enumerate(source)
            ]
        )
        forward = sorted((int(i), j) for j, i in enumerate(scores.argmax(axis=0)))
        reverse = [(i, int(j)) for i, j in enumerate(scores.argmax(axis=1))]
        for name, links in (("forward", forward), ("reverse", reverse)):
            directions[name].append(
                [{"source": i, "target": j, "probability": 1.0} for i, j in links]
            )
    for name, links in directions.items():
        column = pa.array(links, schemas.LINK_LIST)
        table = table.append_column(schemas.LINKED.field(name), column)
    return table


def seconds(function, *arguments):
    """Return the least CPU seconds of three calls after one that compiles, and the result."""
    taken = []
    for _ in range(4):
        start = time.process_time()
        result = function(*arguments)
        taken.append(time.process_time() - start)
    return min(taken[1:]), result


def show(title, rows):
    """Write rows of (what, pairs per second)."""
    lines = [f"  {what:<58} {speed:>11,.0f} pairs/s" for what, speed in rows]
    sys.stdout.write("\n".join(["", title, *lines, ""]))


def tokens_of(table):
    """Count the tokens of both sides."""
    return sum(
        len(table[f"{side}_tokens"].combine_chunks().values) for side in ("source", "target")
    )


def test_tokens_cuts_and_the_screen(pairs):
    texts = [text for side in ("source", "target") for text in pairs[side].to_pylist()[:3000]]
    pieces = TokenConfig("sentencepiece", train_sentencepiece(texts, 8000))
    rows = []
    for config in (TokenConfig(), TokenConfig("whitespace"), pieces):
        taken, table = seconds(add_tokens, pairs, config)
        rows.append(
            (f"tokens: {config.kind} ({tokens_of(table) / taken / 1e6:.1f}M/s)", PAIRS / taken)
        )
    table = add_tokens(pairs, TokenConfig())
    rows.append(("cuts", PAIRS / seconds(pair_cuts, table)[0]))
    sides = zip(pairs["source"].to_pylist(), pairs["target"].to_pylist(), strict=True)
    whole = batch(*(row(*side, line=i) for i, side in enumerate(sides)))
    config = ScreenConfig(reserved=RESERVED_PATTERN)
    rows.append(("screen", PAIRS / seconds(screen, whole, config)[0]))
    show(f"{PAIRS} pairs, {tokens_of(table) / PAIRS / 2:.1f} words a side", rows)


def test_injection_beside_opustrainer(linked, tmp_path):
    tags = TagConfig()

    def from_links(table):
        links = symmetrize(table, SymmetrizeConfig())
        return inject_tags(extract_phrases(links, PhraseConfig()), tags)

    links = symmetrize(linked, SymmetrizeConfig())
    phrases = extract_phrases(links, PhraseConfig())
    inject, (made, _) = seconds(inject_tags, phrases, tags)
    variants, _ = seconds(inject_tags, phrases, TagConfig(variants=8, mix=8))
    extract, _ = seconds(lambda: inject_tags(extract_phrases(links, PhraseConfig()), tags))
    both, _ = seconds(from_links, linked)
    places = len(made["tags"].combine_chunks().values) / PAIRS
    rows = [
        ("inject_tags, phrase pairs given", PAIRS / inject),
        ("the same, 8 variants a pair (tagged rows/s)", 8 * PAIRS / variants),
        ("extract_phrases and inject_tags, links given", PAIRS / extract),
        ("symmetrize, extract_phrases and inject_tags", PAIRS / both),
    ]
    actual = run_opustrainer(links, places, tmp_path)
    if actual is not None:
        peer, peer_places = actual
        rows.append((f"OpusTrainer, links given, {peer_places:.1f} places a pair", peer))
    show(f"{made.num_rows} rows of {PAIRS} pairs, {places:.1f} tags in a tagged row", rows)


def test_rendering_beside_its_slow_twin(linked):
    phrases = extract_phrases(symmetrize(linked, SymmetrizeConfig()), PhraseConfig())
    made, _ = inject_tags(phrases, TagConfig(mix=math.inf))
    sides = [made[side].combine_chunks() for side in ("source", "target")]
    rows = []
    for name in ("xliff", "masked", "html", ("⟦{index}⟧", "⟦/{index}⟧", "⟦{index}/⟧")):
        representation = find_representation(name)
        fast, actual = seconds(render_columns, *sides, name)
        texts = [side.to_pylist() for side in sides]

        def slowly(texts=texts, representation=representation):
            pairs = zip(*texts, strict=True)
            return [render_pair(*pair, representation) for pair in pairs]

        slow, expected = seconds(slowly)
        assert list(zip(*(side.to_pylist() for side in actual), strict=True)) == expected
        what = name if isinstance(name, str) else "template"
        rows.append((what, made.num_rows / fast))
        rows.append((f"  pair by pair ({slow / fast:.0f} times as long)", made.num_rows / slow))
        assert slow > 5 * fast
    show(f"{made.num_rows} tagged rows in another representation", rows)


def run_opustrainer(links, places, directory):
    """Return OpusTrainer's pairs per second and places in a pair, at about as many places.

    None where it is not installed.
    """
    lines = []
    for pair in links.slice(0, PEER_PAIRS).to_pylist():
        sides = [
            " ".join(pair[side][span["start"] : span["end"]] for span in pair[f"{side}_tokens"])
            for side in ("source", "target")
        ]
        pharaoh = " ".join(f"{link['source']}-{link['target']}" for link in pair["links"])
        lines.append("\t".join([*sides, pharaoh]) + "\n")
    path = directory / "pairs.tsv"
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
    every = opustrainer(path, 1.0)
    if every is None:
        return None
    result = opustrainer(path, min(1.0, places / (every["places"] / every["rows"])))
    if result is None:
        return None
    return PEER_PAIRS / result["seconds"], result["places"] / result["rows"]


def opustrainer(path, probability):
    """Time OpusTrainer on a file; return its figures, or None if it is not installed."""
    result = run_peer("OpusTrainer", OPUSTRAINER, path, probability)
    return None if result is None else json.loads(result[0])
