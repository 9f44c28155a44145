"""The slow twin of `transforms.tags.tags`: one pair at a time, by the same draws.

Every phrase pair is drawn alike; `slow_tag_shapes` has weights, too.
"""

import math

from pairweave.transforms.kernels import sampling
from tests.oracles import slow_tag_numbers
from tests.oracles.slow_sound_phrases import is_word

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def scramble(value):
    """Return the bits of a 64-bit number, mixed (SplitMix64's finalizer)."""
    value = ((value ^ value >> 30) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ value >> 27) * 0x94D049BB133111EB) & MASK
    return value ^ value >> 31


def draw(*parts):
    """Draw 64 bits; the same parts always give the same bits."""
    state = 0
    for part in parts:
        state = scramble(((state ^ int(part)) + GOLDEN) & MASK)
    return state


def below(bits, limit):
    """Return the draw as a number from 0 to `limit` - 1."""
    return (bits >> 32) * limit >> 32


def share_of(seed, key):
    """Return the number in [0, 1) that decides whether a pair gets tags."""
    return (draw(seed, key, sampling.STEP_MIX, 0) >> 11) / 2**53


def nested(one, other):
    """Tell whether two boxes are apart, or one lies in the other on both sides."""
    (a, b, c, d), (e, f, g, h) = one, other
    source, target = set(range(a, b)), set(range(c, d))
    source_two, target_two = set(range(e, f)), set(range(g, h))
    return (
        (not source & source_two and not target & target_two)
        or (source <= source_two and target <= target_two)
        or (source >= source_two and target >= target_two)
    )


def holds_words(pair, phrase):
    """Tell whether a phrase pair holds a letter or a digit on both sides."""
    for side, first, behind in (("source", *phrase[:2]), ("target", *phrase[2:])):
        tokens = pair[f"{side}_tokens"][first:behind]
        text = "".join(pair[side][token["start"] : token["end"]] for token in tokens)
        if not any(map(is_word, text)):
            return False
    return True


def choose(seed, key, variant, attempt, most, phrases, *, free):
    """Return the phrase pairs of one variant, in the order of their tags."""
    counter = variant << 48 | attempt << 40
    wanted = 1 + below(draw(seed, key, sampling.STEP_TAG_COUNT, counter), most)
    left, chosen = list(phrases), []
    for step in range(len(phrases)):
        place = below(draw(seed, key, sampling.STEP_TAG_PHRASES, counter | step), len(left))
        phrase = left[place]
        left[place] = left[0]
        left.pop(0)
        if len(chosen) < wanted and (free or all(nested(phrase, other) for other in chosen)):
            chosen.append(phrase)
    return sorted(chosen, key=lambda box: (box[0], -box[1], box[2], -box[3]))


def numbers(seed, key, variant, count):
    """Draw ``count`` different tag numbers from 0 to 9."""
    left, drawn = list(range(10)), []
    for step in range(count):
        place = below(draw(seed, key, sampling.STEP_TAG_INDICES, variant << 48 | step), len(left))
        drawn.append(left[place])
        left[place] = left[0]
        left.pop(0)
    return drawn


def insert(text, tags):
    """Put tags of (number, start, end) into a text, character by character."""
    parts = []
    for place in range(len(text) + 1):
        closing = [(-start, -rank, n) for rank, (n, start, end) in enumerate(tags) if end == place]
        opening = [(-end, rank, n) for rank, (n, start, end) in enumerate(tags) if start == place]
        parts += [f"</a_{n}>" for *_, n in sorted(closing)]
        parts += [f"<a_{n}>" for *_, n in sorted(opening)]
        parts.append(text[place : place + 1])
    return "".join(parts)


def rows_of(pair, config, words):
    """Return the TAGGED rows of a PHRASES row with so many words on its shorter side."""
    return slow_tag_numbers.numbered(shuffled_rows_of(pair, config, words), config.tag_numbers)


def shuffled_rows_of(pair, config, words):
    """Return the rows with drawn numbers."""
    key, seed, free = int(pair["id"][16:], 16), config.seed, config.nesting == "free"
    phrases = [tuple(phrase.values())[:4] for phrase in pair["phrases"]]
    if not config.punctuation_tags:
        phrases = [phrase for phrase in phrases if holds_words(pair, phrase)]
    most = min(config.max_tags, math.ceil(round(words * config.tag_share, 6)) - 1)
    rows = []
    if share_of(seed, key) < config.plain_share:
        rows.append(row_of(pair, 0, [], []))
    if share_of(seed, key) >= config.tagged_share or most < 1 or not phrases:
        return rows
    sets, seen = [], []
    for variant in range(1, config.variants + 1):
        for attempt in range(8):
            chosen = choose(seed, key, variant, attempt, most, phrases, free=free)
            if chosen not in sets:
                break
        drawn = numbers(seed, key, variant, len(chosen))
        if (chosen, drawn) not in seen:
            sets.append(chosen)
            seen.append((chosen, drawn))
            rows.append(row_of(pair, variant, chosen, drawn))
    return rows


def row_of(pair, variant, chosen, drawn):
    """Return the row of a pair, tagged unless it is variant 0."""
    tags = []
    for number, (a, b, c, d) in zip(drawn, chosen, strict=True):
        source, target = pair["source_tokens"], pair["target_tokens"]
        tags.append(
            {
                "index": number,
                "form": "pair",
                "source_start": source[a]["start"],
                "source_end": source[b - 1]["end"],
                "target_start": target[c]["start"],
                "target_end": target[d - 1]["end"],
            }
        )
    sides = {
        side: insert(pair[side], [(t["index"], t[f"{side}_start"], t[f"{side}_end"]) for t in tags])
        for side in ("source", "target")
    }
    return {
        "id": pair["id"],
        "variant": variant,
        "kind": "tagged" if variant else "plain",
        **sides,
        "tags": tags,
        **{name: pair[name] for name in ("source_lang", "target_lang", "corpus")},
    }
