"""The slow twin of `transforms.kernels.links.projection`, in plain Python: it tries all places.

Evidence is a dictionary from the names in `projection_evidence` to values; a score is its sum
weighted by name.
"""

import dataclasses
import functools
import itertools
import unicodedata
from collections import Counter

import regex

from pairweave.transforms.markup.markup import Marked
from tests.oracles.slow_sound_phrases import is_word

STOPS = ".!?:;。！？：；．｡।۔։။።។៕؟፧؛፤፥"  # noqa: RUF001 - all are meant
COMMAS = ",、，،､၊፣"  # noqa: RUF001 - likewise
FADING = (100, 61, 37, 22, 14, 8, 5, 3, 2)
APOSTROPHES = "'`\u2018\u2019\u2032\u2033"
JAPANESE = "はがにのへとでも"
PARTICLES = ["를", "을", "는", "은", "에", "의", "와", "과", "로", "으로", "에는", "에서", "에서는"]
QUOTES = "\"'`„‚‘’‛“”‟‹›«»「」『』《》〈〉″′＂"  # noqa: RUF001 - all are meant


@functools.cache
def shape(char):
    """Return what class of character one is; an edge is no character."""
    if char == "":
        return "edge"
    if char.isspace():
        return "space"
    return "word" if is_word(char) or is_written_on_letters(char) else "mark"


def is_written_on_letters(char):
    """Tell whether a character is a vowel, tone or joiner inside words."""
    if 0xFE00 <= ord(char) <= 0xFE0F or 0xE0100 <= ord(char) <= 0xE01EF or char in "᠋᠌᠍᠏":
        return False
    return unicodedata.category(char) in ("Mn", "Mc") or char == "\u200c"


def is_invisible(char):
    """Tell whether a character is a mark that nobody sees."""
    pattern = r"[\p{Cc}\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB]"
    return shape(char) == "mark" and regex.match(pattern, char) is not None


@functools.cache
def is_spaced(char):
    """Tell whether a letter is of a script with spaces between words, among those of the tests."""
    return not any(
        name in unicodedata.name(char, "")
        for name in ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "TIBETAN", "MYANMAR", "KHMER")
    )


@functools.cache
def kind(char, *, near=True):
    """Return what kind of mark a character is, or None."""
    if shape(char) != "mark":
        return None
    category = unicodedata.category(char)
    for name, chars in (("ellipsis", "…⋯"), ("stop", STOPS), ("comma", COMMAS)):
        if char in chars:
            return name
    if char in QUOTES or category in ("Pi", "Pf"):
        return "quote"
    if category in ("Ps", "Pe"):
        return "opener" if category == "Ps" else "closer"
    if char in "–—>/→▸":  # noqa: RUF001 - a dash is meant
        return "dash"
    if category == "Pd":
        return "hyphen" if near else "dash"
    return "sign" if category[0] in "PS" else None


@functools.cache
def fold(char):
    """Return a character without its case, width and script of digits."""
    if unicodedata.category(char)[0] not in "LMNPS":
        return char
    if char == "’":  # noqa: RUF001 - it is meant
        return "'"
    if char == "İ":
        return "i"
    if unicodedata.decimal(char, None) is not None:
        return str(unicodedata.decimal(char))
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", char).casefold())
    return folded if len(folded) == 1 else char


def look(text, at, step):
    """Return the class of the next character, and what the next but white space is.

    That is its kind, its class, and the number of white-space characters before it.
    """
    order = range(at, len(text)) if step > 0 else range(at - 1, -1, -1)
    seen = [place for place in order if not is_invisible(text[place])]
    side = "".join(text[place] for place in seen)
    near = side[:1]
    solid = side.lstrip()[:1]
    mark = kind(solid, near=near == solid)
    if mark == "stop":
        where = seen[len(side) - len(side.lstrip())]
        if solid in (text[where - 1 : where], text[where + 1 : where + 2]):
            mark = "ellipsis"
    return shape(near), mark, shape(solid), len(side) - len(side.lstrip())


def same_run(source, target):
    """Tell whether two places, each seen in both directions, are at one point of runs of spaces."""
    runs = [[view[3] for view in views] for views in (source, target)]
    return runs[0] == runs[1] and sum(runs[0]) > 1


def compare(prefix, source, target):
    """Return how one side of a place compares with that of the tag."""
    evidence = Counter()
    if source[0] == target[0]:
        evidence[f"{prefix}_same_class"] = 50
    if source[1] == target[1]:
        evidence[f"{prefix}_same_kind"] = 50 if source[1] else 0
    elif target[1]:
        evidence[f"{prefix}_added_{target[1]}"] = 50
    return evidence


def edges(prefix, source, target):
    """Return whether a place is at the edge of the text, like the tag or unlike it."""
    if target[2] != "edge":
        return Counter()
    return Counter({f"{prefix}edge_{'both' if source[2] == 'edge' else 'added'}": 50})


def places_of(tokens, length):
    """Return (offset, tokens before it) of all places for a tag."""
    ends = [0, *(end for _, end in tokens)]
    starts = [*(start for start, _ in tokens), length]
    counts = {}
    for number, (left, right) in enumerate(zip(ends, starts, strict=True)):
        for at in (*range(left, min(left + 8, right) + 1), right):
            counts.setdefault(at, number)
    return sorted(counts.items())


class Pair:
    """A pair with its links: {(source, target): (forward, reverse)} in thousandths."""

    def __init__(self, source, target, source_tokens, target_tokens, links):
        self.source, self.target = source, target
        self.source_tokens, self.target_tokens = source_tokens, target_tokens
        self.links = links
        self.places = places_of(target_tokens, len(target))

    def mass(self, one, other):
        """Return the probability of both directions of a link."""
        return sum(self.links.get((one, other), (0, 0)))

    def best(self, other):
        """Return the source token most linked to a target token, or None."""
        likeliest = max(
            range(len(self.source_tokens)), key=lambda one: (self.mass(one, other), -one), default=0
        )
        return likeliest if self.source_tokens and self.mass(likeliest, other) else None

    def partner(self, one):
        """Return the target token most linked to a source token, or None."""
        likeliest = max(
            range(len(self.target_tokens)), key=lambda other: (self.mass(one, other), -other)
        )
        return likeliest if self.mass(one, likeliest) else None

    def equal(self, one, other):
        """Tell whether two tokens are the same word."""
        words = (
            self.source[slice(*self.source_tokens[one])],
            self.target[slice(*self.target_tokens[other])],
        )
        return shape(words[0][0]) == "word" and [*map(fold, words[0])] == [*map(fold, words[1])]

    def inside(self, start, end):
        """Return the first token of an element, and the end of its tokens."""
        first = sum(1 for begin, _ in self.source_tokens if begin < start)
        return first, max(first, sum(1 for _, stop in self.source_tokens if stop <= end))


@functools.lru_cache(maxsize=128)
def token_evidence(pair, other, first, last):
    """Return the evidence of a target token for the source tokens from ``first`` to ``last``.

    All places are tried with the same; it must not be changed.
    """
    evidence = Counter(tokens=10)
    sums = Counter()
    for one in range(len(pair.source_tokens)):
        where = "inside" if first <= one < last else "outside"
        forward, reverse = pair.links.get((one, other), (0, 0))
        sums[f"links_{where}"] += forward + reverse
        sums[f"agreed_{where}"] += forward * reverse // 1_000
        if pair.partner(one) == other:
            evidence[f"partner_{where}"] += 50
    for name, value in sums.items():
        evidence[name] = value // 10
    equals = [one for one in range(len(pair.source_tokens)) if pair.equal(one, other)]
    if equals:
        evidence[
            f"equal_{'inside' if any(first <= one < last for one in equals) else 'outside'}"
        ] = 50
    best = pair.best(other)
    evidence[
        "unlinked" if best is None else "best_inside" if first <= best < last else "best_outside"
    ] = 50
    if last - first == 1:
        partner = pair.partner(first)
        forward, reverse = pair.links.get((first, other), (0, 0))
        if partner not in (None, other):
            lead = max(0, forward - reverse)
            evidence["claimed"] = lead * pair.mass(first, partner) // 20_000
    return evidence


def nearest_word(text, tokens, number, step):
    """Return the first token from one on, in a direction, that begins with a letter or digit."""
    while number is not None and 0 <= number < len(tokens):
        if shape(text[tokens[number][0]]) == "word":
            return number
        number += step
    return None


def place_evidence(pair, place, at, tokens, beyond, step, held, *, touching, keyed):
    """Return the evidence of a place for one end of an element.

    Args:
        pair: The pair.
        place: (offset, tokens before it).
        at: Offset of the tag in the source.
        tokens: Source tokens inside and outside of the tag, or None.
        beyond: Source token outside at the element's other end, or None.
        step: 1 for an opening tag, -1 for a closing one.
        held: Links of each target token to the element.
        touching: Whether another tag stands at ``at``.
        keyed: Whether the tag has an id.
    """
    offset, before = place
    source = [look(pair.source, at, step), look(pair.source, at, -step)]
    target = [look(pair.target, offset, step), look(pair.target, offset, -step)]
    evidence = compare("inner", source[0], target[0]) + compare("outer", source[1], target[1])
    evidence += edges("", source[1], target[1])
    if evidence["edge_both"] and target[0][1] == "stop" != source[0][1]:
        evidence["edge_stop"] = 50
    if same_run(source, target):
        evidence["space_run_kept"] = 50
    if target[0][0] == "space":
        kept = "edge_space_kept" if evidence["edge_both"] else "space_kept"
        evidence[kept if source[0][0] == "space" else "space_added"] = 50
        if source[0][0] == "space" and touching:
            evidence["touching_space_kept"] = 50
        if source[0][0] == "space" and keyed:
            evidence["keyed_space_kept"] = 50
        near = pair.target[offset:][:1] if step < 0 else pair.target[:offset][-1:]
        tight = ("opener",) if step > 0 else ("comma", "closer")
        if target[1][0] == "space":
            evidence["space_doubled"] = 50
        elif (near == "." and step < 0) or kind(near) in tight:
            evidence["space_before_mark"] = 50
    left, right = pair.target[:offset][-1:], pair.target[offset:][:1]
    if step < 0 and left == "を":
        evidence["space_added"] = 50
    if target[0][0] == target[1][0] == "word" and is_spaced(left) and is_spaced(right):
        evidence["inside_word"] = 50
    beside = (before, before - 1) if step > 0 else (before - 1, before)
    for side, one, other in zip(("inner", "outer"), tokens, beside, strict=True):
        if not 0 <= other < len(pair.target_tokens):
            continue
        prefix = "outer_" if side == "outer" else ""
        words = one, other
        if side == "inner":
            words = (
                nearest_word(pair.source, pair.source_tokens, one, step),
                nearest_word(pair.target, pair.target_tokens, other, step),
            )
        if words[1] is not None and pair.target[pair.target_tokens[words[1]][0]].isupper():
            both = words[0] is not None and pair.source[pair.source_tokens[words[0]][0]].isupper()
            evidence[f"{prefix}capital_{'both' if both else 'added'}"] = 50
        evidence["solid" if side == "inner" else "leak"] = held[other]
        if one is not None:
            evidence[f"{side}_links"] = pair.mass(one, other) // 10
        if side == "outer":
            every = sum(pair.mass(each, other) for each in range(len(pair.source_tokens)))
            evidence["outer_held"] = every // 10 - held[other]
            if beyond is not None:
                evidence["outer_exchanged"] = pair.mass(beyond, other) // 10
    return evidence


def marks(text, start, end):
    """Return quotation marks, stops and other marks in a part of a text."""
    counts = [0, 0, 0]
    for at in range(start, end):
        name = kind(text[at])
        within = 0 < at < len(text) - 1 and shape(text[at - 1]) == shape(text[at + 1]) == "word"
        counts[0] += name == "quote" and not (within and text[at] in APOSTROPHES)
        counts[1] += name == "stop" and not within
        counts[2] += name in ("comma", "dash", "hyphen", "sign") and not within
    return counts


def cut_brackets(text, start, end):
    """Return the closing and the opening brackets of a part of a text without their partners."""
    opened, closed = 0, 0
    for char in text[start:end]:
        opened += kind(char) == "opener"
        if kind(char) == "closer":
            opened, closed = (opened - 1, closed) if opened else (0, closed + 1)
    return closed, opened


def bones(text):
    """Return a text without white space, quotation marks, casing and width."""
    return [fold(char) for char in text if not char.isspace() and kind(char) != "quote"]


def occurrences(wanted, text):
    """Return where one list is in another, without overlap."""
    places, at = [], 0
    while wanted and at + len(wanted) <= len(text):
        equal = text[at : at + len(wanted)] == wanted
        if equal:
            places.append(at)
        at += len(wanted) if equal else 1
    return places


def span_evidence(pair, start, end, opening, closing):
    """Return the evidence of a span of the target as a whole."""
    evidence = Counter()
    wanted, here = bones(pair.source[start:end]), bones(pair.target[opening:closing])
    quotes = marks(pair.source, start, end)[0], marks(pair.target, opening, closing)[0]
    before = len(here) - len(wanted) - 1
    in_brackets = (
        before > 1
        and here[before:-1] == wanted
        and (kind(here[before - 1]), kind(here[-1])) == ("opener", "closer")
        and kind(pair.source[:start][-1:]) != "opener"
        and not quotes[0]
    )
    if wanted and (wanted == here or in_brackets) and quotes[0] == quotes[1]:
        own = occurrences(wanted, bones(pair.source))
        there = occurrences(wanted, bones(pair.target))
        place, other = len(bones(pair.source[:start])), len(bones(pair.target[:opening]))
        other += before if in_brackets else 0
        once = len(there) == 1 or (
            len(own) == len(there) and (place, other) in zip(own, there, strict=True)
        )
        evidence["equal_once" if once else "equal_again"] = 50
        evidence["equal_length"] = 10 * min(10, len(wanted))
    sizes = len(pair.source), len(pair.target)
    one = max(1, end - start) * max(1, sizes[1])
    other = max(1, closing - opening) * max(1, sizes[0])
    evidence["length"] = min(400, 100 * max(one, other) // min(one, other) - 100)
    counts = marks(pair.source, start, end), marks(pair.target, opening, closing)
    brackets = cut_brackets(pair.source, start, end), cut_brackets(pair.target, opening, closing)
    evidence["brackets"] = 50 * min(4, sum(abs(a - b) for a, b in zip(*brackets, strict=True)))
    for name, one, other in zip(("quotes", "stops", "marks"), *counts, strict=True):
        evidence[name] = 50 * ((one - other) % 2 if name == "quotes" else min(4, abs(one - other)))
    off = abs((opening + closing) * sizes[0] - (start + end) * sizes[1])
    evidence["shift"] = 50 * off // max(1, sizes[0] * sizes[1])
    return evidence


def evidence_of_span(pair, start, end, setting, opening, closing):
    """Return all evidence of a span, by the names in `projection_weights.SPAN_NAMES`."""
    first, last = pair.inside(start, end)
    rows = [token_evidence(pair, other, first, last) for other in range(len(pair.target_tokens))]
    held = [row["links_inside"] for row in rows]
    total = sum(rows[opening[1] : closing[1]], Counter())
    outer = first - 1 if first else None, last if last < len(pair.source_tokens) else None
    ends = (
        ("opening", opening, start, (first, outer[0]), outer[1], 1, setting[0]),
        ("closing", closing, end, (last - 1, outer[1]), outer[0], -1, setting[1]),
    )
    for prefix, place, at, tokens, beyond, step, touched in ends:
        evidence = place_evidence(
            pair, place, at, tokens, beyond, step, held, touching=touched, keyed=setting[2]
        )
        total += Counter({f"{prefix}_{name}": value for name, value in evidence.items()})
    whole = span_evidence(pair, start, end, opening[0], closing[0])
    if total["opening_edge_both"] and total["closing_edge_both"]:
        whole["everything"] = 50
    return total + Counter({f"whole_{name}": value for name, value in whole.items()})


def crossing(pair, at, before):
    """Return how well the links round a tag agree with a place."""
    left, right = shape(pair.source[:at][-1:]), shape(pair.source[at:][:1])
    solid = ("word", "mark")
    weights = (100, 100)
    if left in solid and (right not in solid or (left == "word" and right == "mark")):
        weights = (100, 25)
    elif right in solid and (left not in solid or (right == "word" and left == "mark")):
        weights = (25, 100)
    token, _ = pair.inside(at, at)
    total = 0
    for other in range(before):
        gain = 0
        for one in range(len(pair.source_tokens)):
            distance = one - token if one >= token else token - 1 - one
            fading = FADING[distance] if distance < len(FADING) else 1
            weight = weights[0] if one < token else -weights[1]
            gain += pair.mass(one, other) * fading * weight // 100
        total += gain // 1_000
    return total


def stray_particle(text, at):
    """Tell whether a Korean particle stands at an offset as if it were a word."""
    before, behind = text[:at][-1:], text[at:]
    size = next((n for n, char in enumerate(behind) if shape(char) != "word"), len(behind))
    return shape(before) in ("edge", "space") and behind[:size] in PARTICLES


def stray_japanese(text, at):
    """Tell whether a Japanese particle stands at an offset as if it were a word."""
    before, particle, behind = text[:at][-1:], text[at : at + 1], text[at + 1 : at + 2]
    alone = shape(before) != "word"
    if particle == "を":
        return alone or before in JAPANESE
    hiragana = "\u3041" <= behind <= "\u309f"
    return alone and particle in JAPANESE and shape(behind) == "word" and not hiragana


def point_evidence(pair, at, place, *, keyed):
    """Return the evidence of a place for a tag without words."""
    offset, before = place
    source = [look(pair.source, at, step) for step in (-1, 1)]
    target = [look(pair.target, offset, step) for step in (-1, 1)]
    evidence = compare("left", source[0], target[0]) + compare("right", source[1], target[1])
    evidence += edges("left_", source[0], target[0]) + edges("right_", source[1], target[1])
    token, _ = pair.inside(at, at)
    letter = pair.target[offset:].lstrip()[:1]
    if pair.source[at:].lstrip()[:1].isupper() and letter.isupper():
        evidence["capital_both"] = 50
    if same_run(source, target):
        evidence["space_run_kept"] = 50
    if token > 0 and before > 0:
        evidence["left_links"] = pair.mass(token - 1, before - 1) // 10
    if token < len(pair.source_tokens) and before < len(pair.target_tokens):
        evidence["right_links"] = pair.mass(token, before) // 10
    left, right = target
    loose = ("edge", "space")
    if left[0] in loose and (right[0] in loose or right[1] in ("stop", "comma")):
        evidence["gap"] = 50 if left[0] == "space" or left[0] != right[0] else 0
        evidence["unkeyed_gap"] = 0 if keyed else evidence["gap"]
    if left[0] == right[0] == "word":
        evidence["inside_word"] = 50
    size, target_size = len(pair.source), len(pair.target)
    evidence["shift"] = 100 * abs(offset * size - at * target_size) // max(1, size * target_size)
    behind = offset
    while left[0] == "space" and shape(pair.target[behind:][:1]) == "space":
        behind += 1
    if stray_particle(pair.target, behind) or stray_japanese(pair.target, behind):
        evidence["stray_particle"] = 50
    evidence["crossing"] = crossing(pair, at, before)  # the only one that may be negative
    return evidence


def score(evidence, weights):
    """Return the sum of evidence, weighted by name."""
    return sum(weights[name] * value for name, value in evidence.items() if value)


def candidates(pair, start, end, setting, spans, points):
    """Return (score, offset of the first tag, of the last) of all candidates, best first.

    Args:
        pair: The pair.
        start: Offset of the element's first tag.
        end: Of its last.
        setting: Whether another tag stands at each, and whether they have an id.
        spans: Weights of the evidence of spans, by name.
        points: Weights of that of tags without words.
    """
    first, last = pair.inside(start, end)
    if start < end and first < last:
        scored = [
            (score(evidence_of_span(pair, start, end, setting, a, b), spans), -b[0], a[0])
            for a, b in itertools.combinations(pair.places, 2)
            if a[1] < b[1]
        ]
        ordered = sorted(scored, reverse=True)
        return [(worth, a, -b) for worth, b, a in ordered] or [(0, 0, len(pair.target))]
    scores = [
        sorted(
            (
                (score(point_evidence(pair, at, place, keyed=setting[2]), points), place[0])
                for place in pair.places
            ),
            reverse=True,
        )
        for at in (start, end)
    ]
    if start == end:
        return [(worth, at, at) for worth, at in scores[0]]
    scored = [
        (one + other, -b, a)
        for (one, a), (other, b) in itertools.product(scores[0][:4], scores[1][:4])
        if a <= b
    ]
    if not scored:
        worth, at = scores[0][0]
        return [(worth, at, at)]
    return [(worth, a, -b) for worth, b, a in sorted(scored, reverse=True)]


def fits(relation, one, other):
    """Tell whether two spans are to each other what the relation says."""
    return {
        0: True,
        1: one[0] <= other[0] and other[1] <= one[1],
        2: other[0] <= one[0] and one[1] <= other[1],
        3: one[1] <= other[0] or other[1] <= one[0],
    }[relation]


def parted(bounds, spans):
    """Count the tags of two elements that stand together in the source, but not in the target."""
    return sum(
        bounds[0][a] == bounds[1][b] and spans[0][a] != spans[1][b]
        for a, b in itertools.product((0, 1), repeat=2)
    )


def most_together(options, relations, bounds, cost):
    """Return the largest sum of scores of candidates that all fit together, or None.

    Args:
        options: Candidates of each element.
        relations: What each element is to each other.
        bounds: Offsets of each element's tags in the source.
        cost: Cost of two tags that stood together.
    """
    sums = [
        sum(worth for worth, *_ in choice)
        - cost
        * sum(
            parted((bounds[one], bounds[other]), (choice[one][1:], choice[other][1:]))
            for one, other in itertools.combinations(range(len(choice)), 2)
        )
        for choice in itertools.product(*options)
        if all(
            fits(relations[one][other], choice[one][1:], choice[other][1:])
            for one, other in itertools.combinations(range(len(choice)), 2)
        )
    ]
    return max(sums, default=None)


def span_gains(first, last, targets, links):
    """Return what each target token gains inside a span, where overlapping ones are parted."""
    gains = []
    for target in range(targets):
        gain = -7_000
        for (source, other), (forward, reverse) in links.items():
            if other == target:
                gain += (forward + reverse) * (100 if first <= source < last else -50)
        gains.append(gain)
    if last - first != 1 or not targets:
        return gains
    partner = gains.index(max(gains))
    belief = sum(links.get((first, partner), (0, 0)))
    for target in range(targets):
        forward, reverse = links.get((first, target), (0, 0))
        if target != partner and forward > reverse:
            gains[target] -= (forward - reverse) * belief * 110 // 2_000
    return gains


def place_proportionally(source, target_text):
    """Put each tag where it stood in proportion to the text's length: no rule, but a yardstick.

    >>> from pairweave.transforms.markup.markup import parse_markup
    >>> str(place_proportionally(parse_markup("ab<x/>cd"), "abcdef"))
    'abc<x/>def'
    """
    length, new = len(source.text), len(target_text)
    return Marked(
        target_text,
        tuple(
            dataclasses.replace(tag, offset=round(tag.offset * new / length) if length else 0)
            for tag in source.tags
        ),
    )
