"""Tags of a source put onto its human translation, beside the tags that translators put there.

``tagged/`` dev sets; every aligner is fitted on their plain text and ``parallel/``, and no other. A
tag is exactly placed if it stands at the very character where the translation has it: by its
identity, and apart from it (the glossary numbers its tags in the order of each side). F1 is that of
Ryu et al. (2022) over the words in pairs.
"""

import gzip
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.transforms.links.soft_links import SoftLinks, harden, soften
from pairweave.transforms.markup.markup import XLIFF, find_elements, parse_markup
from pairweave.transforms.metrics.tags.tag_spans import score_spans
from pairweave.transforms.projection.project import cut_tokens, project_tags
from pairweave.transforms.text.tokens import TokenConfig, tokenize
from tests.makers.hmm_corpora import SHUFFLED, tokens_table
from tests.makers.links import symmetrize_slowly
from tests.oracles.slow_projection import place_proportionally

ROOT = Path(__file__).resolve().parents[2]
SETS = ("eurlex", "glossary")
NEAR = 0.1
"""Points by which `hmm` may be behind another aligner: about three tags, as many as two runs of
eflomal differ by."""

SOFT = 0.05

pytestmark = pytest.mark.bench


def lines_of(path):
    """Return the lines of a text, gzipped or not."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="\n") as file:
        return file.read().removesuffix("\n").split("\n")


def tagged_pairs(folder, source, target):
    """Return the (source, reference) pairs of each set."""
    return {
        name: [
            tuple(parse_markup(line, XLIFF) for line in pair)
            for pair in zip(
                *(lines_of(folder / "tagged" / f"{name}-dev.{side}") for side in (source, target)),
                strict=True,
            )
        ]
        for name in SETS
    }


def parallel_pairs(folder, source, target):
    """Return pairs of the parallel corpora that include English, in the direction asked for."""
    other = source if target == "en" else target
    pairs = []
    for stem in (f"newstest.en-{other}", "multi30k"):
        paths = [folder / "parallel" / f"{stem}.{side}.gz" for side in (source, target)]
        if all(path.exists() for path in paths):
            lines = list(zip(*map(lines_of, paths), strict=True))
            if stem == "newstest.en-fr":
                del lines[SHUFFLED.start : SHUFFLED.stop]
            pairs += lines
    return [pair for pair in pairs if pair[0].strip() and pair[1].strip()]


def words_of(texts, language):
    """Return the (start, end) of each word of each text, in code points."""
    column = tokenize(pa.array(texts), TokenConfig(), language).to_pylist()
    return [[(span["start"], span["end"]) for span in spans] for spans in column]


def eflomal_links(directory, pairs, wanted):
    """Return eflomal's links of the first pairs, grow-diag, or None where it is not."""
    python = Path(os.environ.get("PAIRWEAVE_PEERS", ROOT / ".peers")) / "bin" / "python"
    if not python.exists():
        return None
    script = (
        "import sys; from eflomal import Aligner; a = Aligner(); d = sys.argv[1]; "
        "a.align(open(d + '/s'), open(d + '/t'), d + '/f', d + '/r')"
    )
    full = [row for row, pair in enumerate(pairs) if all(pair)]  # it drops the others
    for name, side in (("s", 0), ("t", 1)):
        text = "".join(" ".join(pairs[row][side]) + "\n" for row in full)
        (directory / name).write_text(text, encoding="utf-8")
    subprocess.run(
        [python, "-c", script, directory],
        env={"OMP_NUM_THREADS": "1", "PATH": os.environ["PATH"]},
        capture_output=True,
        check=True,
    )
    directions = [
        [
            [tuple(map(int, link.split("-"))) for link in line.split()]
            for line in lines_of(directory / name)
        ]
        for name in ("f", "r")
    ]
    linked = dict(zip(full, zip(*directions, strict=True), strict=True))
    return [
        SoftLinks.certain(symmetrize_slowly(*linked.get(row, ([], [])), "grow-diag"))
        for row in range(wanted)
    ]


def identities(tags):
    """Return each tag's offset by what it is: name, key, form, which of several, which end."""
    seen, result = Counter(), {}
    for element in find_elements(tags):
        first = tags[element.first]
        base = first.name, first.key, element.form
        for end, number in (("opening", element.opening), ("closing", element.closing)):
            if number is not None:
                result[(*base, seen[base], end)] = tags[number].offset
        seen[base] += 1
    return result


def exactly_placed(made, references):
    """Return the share of tags at the reference's place, by identity and apart from it."""
    right = total = same = tags = 0
    for one, other in zip(made, references, strict=True):
        result, gold = identities(one.tags), identities(other.tags)
        common = result.keys() & gold.keys()
        total += len(common)
        right += sum(result[name] == gold[name] for name in common)
        places = [
            Counter((tag.name, tag.kind, tag.offset) for tag in text.tags) for text in (one, other)
        ]
        same += (places[0] & places[1]).total()
        tags += len(other.tags)
    return 100 * right / total, 100 * same / tags


def cut_pairs(marked, words):
    """Return the words of pairs, cut where tags may stand, and a TOKENS table of them.

    Args:
        marked: The source with its tags, and its translation with tags, of each pair.
        words: The words of both sides of each pair.
    """
    cut = [
        cut_tokens(one, other.text, *tokens)
        for (one, other), tokens in zip(marked, words, strict=True)
    ]
    rows = zip(marked, cut, strict=True)
    return cut, tokens_table([(one.text, s, other.text, t) for (one, other), (s, t) in rows])


@pytest.mark.parametrize(
    ("source", "target"), [("en", "de"), ("en", "fr"), ("en", "hu"), ("de", "en")]
)
def test_projection_beside_proportional_places_and_eflomal(shared_data, tmp_path, source, target):
    sets = tagged_pairs(shared_data, source, target)
    marked = [pair for pairs in sets.values() for pair in pairs]
    texts = [(one.text, other.text) for one, other in marked]
    texts += parallel_pairs(shared_data, source, target)
    sides = [
        words_of([pair[side] for pair in texts], language)
        for side, language in ((0, source), (1, target))
    ]
    rows = [(one, s, other, t) for (one, other), s, t in zip(texts, *sides, strict=True)]
    model = fit(tokens_table(rows), HmmConfig(), os.cpu_count() or 1)
    plain = [(s, t) for _, s, _, t in rows[: len(marked)]]
    cut, table = cut_pairs(marked, plain)
    soft = soften(model.with_threshold(SOFT).align(table))
    hard = harden(model.align(table), "grow-diag")
    peer = eflomal_links(
        tmp_path,
        [
            (
                ["_".join(one[a:b].lower().split()) for a, b in s],
                ["_".join(other[a:b].lower().split()) for a, b in t],
            )
            for one, s, other, t in rows
        ],
        len(marked),
    )
    methods = {
        "proportional": None,
        "eflomal, the paper's rules": (peer, plain, "paper"),
        "hmm, the paper's rules": (hard, cut, "paper"),
        "eflomal, best": (peer, plain, "best"),
        "hmm, best": (soft, cut, "best"),
    }
    sys.stdout.write(f"\n{source}-{target}, fitted on {len(rows)} pairs\n")
    shares = {}
    for name, given in methods.items():
        if given is not None and given[0] is None:
            continue
        for warm in (True, False):
            start = time.process_time()
            made = [
                place_proportionally(one, other.text)
                if given is None
                else project_tags(one, other.text, *given[1][row], given[0][row], given[2])
                for row, (one, other) in enumerate(marked[:20] if warm else marked)
            ]
            seconds = time.process_time() - start
        done = 0
        for set_name, pairs in sets.items():
            part = made[done : done + len(pairs)]
            references = [other for _, other in pairs]
            done += len(pairs)
            by_name, by_place = exactly_placed(part, references)
            f1 = score_spans(part, references, target).f1
            shares[name, set_name] = by_name, f1
            sys.stdout.write(
                f"  {name:<28} {set_name:<9} exact {by_name:6.2f} %  by place {by_place:6.2f} %  "
                f"F1 {100 * f1:6.2f}  {len(marked) / seconds:9,.0f} lines/s\n"
            )
    for (name, set_name), (by_name, f1) in shares.items():
        assert shares["hmm, best", set_name][0] >= by_name - NEAR, name
        assert shares["hmm, best", set_name][1] >= f1, name
