"""The slow twin of shaped injection: forms, parts, profiles, weights and the text's own markup."""

import math

import pyarrow as pa

from pairweave.transforms.kernels import sampling
from pairweave.transforms.links.confidence import weights_of
from pairweave.transforms.markup.markup import HTML, Form, find_elements, parse_markup
from pairweave.transforms.text.tokens import TokenConfig, tokenize
from tests.oracles import slow_sound_phrases, slow_tag_numbers, slow_tags
from tests.oracles.slow_tags import below, draw, nested

# What stands at the two borders of a phrase.
BORDERS = {
    "pair": ("<a_{}>", "</a_{}>"),
    "self at start": ("<a_{}/>", ""),
    "self at end": ("", "<a_{}/>"),
    "open": ("<a_{}>", ""),
    "close": ("", "</a_{}>"),
    "empty at start": ("<a_{}></a_{}>", ""),
    "empty at end": ("", "<a_{}></a_{}>"),
}
CODES = {
    "pair": ["pair"],
    "empty": ["empty at start", "empty at end"],
    "self_closing": ["self at start", "self at end"],
    "open": ["open"],
    "close": ["close"],
}
FORMS = list(CODES)
BINS = [(1, "1"), (2, "2"), (3, "3"), (4, "4"), (5, "5-6"), (7, "7-9"), (10, "10-14"), (15, "15+")]


def unit(*parts):
    """Draw a number in [0, 1)."""
    return (draw(*parts) >> 11) / 2**53


def own_elements(text):
    """Return the characters of the two tags of each element, or of its one tag twice."""
    marked = parse_markup(text, HTML)
    places, before = [], 0
    for tag in marked.tags:
        start = tag.offset + before
        places.append(set(range(start, start + len(tag.raw))))
        before += len(tag.raw)
    for element in find_elements(marked.tags):
        last = element.closing if element.form is Form.PAIR else element.first
        yield places[element.first], places[last]


def keeps_own_markup(pair, phrase):
    """Tell whether a phrase has each element of the text wholly inside or outside, tag by tag."""
    for side, first, behind in (("source", *phrase[:2]), ("target", *phrase[2:])):
        tokens = pair[f"{side}_tokens"]
        inside = set(range(tokens[first]["start"], tokens[behind - 1]["end"]))
        for opening, closing in own_elements(pair[side]):
            whole = [tag <= inside for tag in (opening, closing)]
            apart = [not tag & inside for tag in (opening, closing)]
            if not (all(whole) or all(apart)):
                return False
    return True


def forms_of(seed, key, variant, count, config):
    """Draw the forms of the tags of a variant."""
    forms = []
    for tag in range(count):
        units = [
            unit(seed, key, sampling.STEP_TAG_FORMS, variant << 48 | 4 * tag + part)
            for part in range(4)
        ]
        at_end = units[3] >= 0.5
        if units[0] < config.self_closing_share:
            forms.append("self at end" if at_end else "self at start")
        elif units[1] < config.damage_share:
            forms.append("close" if at_end else "open")
        elif units[2] < config.empty_share:
            forms.append("empty at end" if at_end else "empty at start")
        else:
            forms.append("pair")
    return forms


def ordered(box):
    """Return the key by which boxes are sorted: outer before inner."""
    return (box[0], -box[1], box[2], -box[3])


def categorical(shares, value):
    """Return the name whose cumulative share first exceeds a value in [0, 1)."""
    left, chosen = value * sum(shares.values()), None
    for name, share in shares.items():
        if share > 0:
            chosen = name
            left -= share
            if left < 0:
                break
    return chosen


def words_of(pair, kind):
    """Return the tokens of a pair's source."""
    text = pa.array([pair["source"]])
    return tokenize(text, TokenConfig(kind), pair["source_lang"])[0].as_py()


def cell_of(words, form, start, end):
    """Return the class of a tag of a form that stands at a range of the source."""
    if form == "pair":
        inside = [word for word in words if word["start"] < end and word["end"] > start]
        at_start = not any(word["end"] <= start for word in words)
        at_end = not any(word["start"] >= end for word in words)
        places = {(1, 1): "whole", (1, 0): "start", (0, 1): "end", (0, 0): "middle"}
        length = [name for least, name in BINS if least <= max(1, len(inside))][-1]
        return f"span {length} {places[at_start, at_end]}"
    point = end if form in ("self at end", "empty at end", "close") else start
    name = next(name for name, codes in CODES.items() if form in codes)
    if not any(word["start"] < point for word in words):
        return f"point {name} start"
    return f"point {name} {'middle' if any(word['end'] > point for word in words) else 'end'}"


def choose_shaped(seed, key, variant, attempt, most, phrases, weights, config, pair):
    """Return (phrase, form) by the profile's shares."""
    profile = dict(config.profile.counts)
    counter = variant << 48 | attempt << 40
    counts = {number: profile.get(f"tags {number}", 0) for number in range(1, most + 1)}
    drawn = unit(seed, key, sampling.STEP_TAG_COUNT, counter)
    wanted = categorical(counts, drawn) or 1
    later = {name: profile.get(f"nested {name}", 0) for name in ("yes", "no")}
    nested_share = later["yes"] / sum(later.values()) if sum(later.values()) else 0
    words = words_of(pair, config.words)
    tokens = pair["source_tokens"]

    def cell(phrase, code):
        span = tokens[phrase[0]]["start"], tokens[phrase[1] - 1]["end"]
        return cell_of(words, code, *span)

    chosen = []
    for count in range(wanted):
        units = [
            unit(seed, key, sampling.STEP_TAG_SHAPES, counter | 4 * count + part)
            for part in range(4)
        ]
        form = categorical({name: profile.get(f"form {name}", 0) for name in FORMS}, units[0])
        fitting = []
        for place, phrase in enumerate(phrases):
            others = [other for other, _ in chosen]
            if phrase in others or not (
                config.nesting == "free" or all(nested(phrase, other) for other in others)
            ):
                continue
            related = any(overlap(phrase, other) for other in others)
            fitting.append((phrase, weights[place], related))
        wished = [item for item in fitting if item[2] == (units[1] < nested_share)]
        fitting = wished if chosen and wished else fitting
        if not fitting:
            break
        cells = {}
        for phrase, weight, _ in fitting:
            for code in CODES[form]:
                cells[cell(phrase, code)] = cells.get(cell(phrase, code), 0) + weight
        shares = {
            name: profile.get(name, 0) if name in cells else 0
            for name in all_cells()
            if name in cells
        }
        cells = {name: cells[name] for name in all_cells() if name in cells}
        taken = categorical(shares if sum(shares.values()) else cells, units[2])
        options = {}
        for phrase, weight, _ in fitting:
            for code in CODES[form]:
                if cell(phrase, code) == taken:
                    options[phrase, code] = weight
        value, left, pick = units[3] * cells[taken], None, None
        left = value
        for option, weight in options.items():
            pick = option
            left -= weight
            if left < 0:
                break
        chosen.append(pick)
    return sorted(chosen, key=lambda item: ordered(item[0]))


def all_cells():
    """Yield the names of all classes of tags, in the order of a profile."""
    for _, name in BINS:
        for place in ("whole", "start", "middle", "end"):
            yield f"span {name} {place}"
    for form in FORMS[1:]:
        for place in ("start", "middle", "end"):
            yield f"point {form} {place}"


def overlap(one, other):
    """Tell whether two boxes share a token on either side."""
    source = set(range(*one[:2])) & set(range(*other[:2]))
    return bool(source or set(range(*one[2:])) & set(range(*other[2:])))


def choose_weighted(seed, key, variant, attempt, most, phrases, weights, *, free):
    """Draw phrases for tags without replacement, in proportion to their weights."""
    counter = variant << 48 | attempt << 40
    wanted = 1 + below(draw(seed, key, sampling.STEP_TAG_COUNT, counter), most)
    chosen = []
    for count in range(wanted):
        left = {
            phrase: weight
            for phrase, weight in zip(phrases, weights, strict=True)
            if phrase not in chosen and (free or all(nested(phrase, other) for other in chosen))
        }
        total = 0.0
        for weight in left.values():
            total += weight
        if not left:
            break
        value = unit(seed, key, sampling.STEP_TAG_PHRASES, counter | count) * total
        pick = None
        for phrase, weight in left.items():
            pick = phrase
            value -= weight
            if value < 0:
                break
        chosen.append(pick)
    return sorted(chosen, key=ordered)


def partner_of(seed, key, variant, chosen, forms, phrases, share, *, free):
    """Return the number of the tag in two parts, its second phrase; None if there is none."""
    for tag, (one, form) in enumerate(zip(chosen, forms, strict=True)):
        picked = unit(seed, key, sampling.STEP_TAG_SPLITS, variant << 48 | 2 * tag) < share
        if form != "pair" or not picked:
            continue
        bits = draw(seed, key, sampling.STEP_TAG_SPLITS, variant << 48 | 2 * tag + 1)
        begin = below(bits, len(phrases))
        others = [other for other in chosen if other != one]
        for other in [*phrases[begin:], *phrases[:begin]]:
            if splits(one, other) and (free or all(fits(one, other, tag) for tag in others)):
                return tag, other
    return None


def splits(one, other):
    """Tell whether two boxes touch on one side and have a gap on the other."""
    (a, b, c, d), (e, f, g, h) = one, other
    touch = (b == e or f == a, d == g or h == c)
    gap = (b < e or f < a, d < g or h < c)
    return (touch[0] and gap[1]) or (touch[1] and gap[0])


def within(one, other):
    """Tell whether one box lies in another on both sides."""
    return other[0] <= one[0] and one[1] <= other[1] and other[2] <= one[2] and one[3] <= other[3]


def fits(one, other, tag):
    """Tell whether a tag holds both parts of a split tag, neither, or lies inside one of them."""
    if not (nested(one, tag) and nested(other, tag)):
        return False
    return within(one, tag) == within(other, tag) or within(tag, one) or within(tag, other)


def insert(text, tags):
    """Put tags of (number, form, start, end) into a text, character by character."""
    parts = []
    for place in range(len(text) + 1):
        closing = [(-s, -rank, n, f) for rank, (n, f, s, e) in enumerate(tags) if e == place]
        opening = [(-e, rank, n, f) for rank, (n, f, s, e) in enumerate(tags) if s == place]
        parts += [BORDERS[form][1].format(n, n) for *_, n, form in sorted(closing)]
        parts += [BORDERS[form][0].format(n, n) for *_, n, form in sorted(opening)]
        parts.append(text[place : place + 1])
    return "".join(parts)


def rows_of(pair, config, words):
    """Return the TAGGED rows of a PHRASES row with so many words on its shorter side."""
    return slow_tag_numbers.numbered(shuffled_rows_of(pair, config, words), config.tag_numbers)


def shuffled_rows_of(pair, config, words):
    """Return the rows with drawn numbers."""
    key, seed, free = int(pair["id"][16:], 16), config.seed, config.nesting == "free"
    phrases = [tuple(phrase.values())[:4] for phrase in pair["phrases"]]
    scores = pa.array([phrase["score"] for phrase in pair["phrases"]], pa.float32()).to_numpy()
    weights = weights_of(scores).tolist() if config.draw == "confident" else [1.0] * len(phrases)
    sound = config.phrase_pairs == "sound"
    if sound:
        borders = [slow_sound_phrases.weight_of(pair, phrase) for phrase in phrases]
        weights = [
            None if border is None else border * weight
            for border, weight in zip(borders, weights, strict=True)
        ]
    whole = [
        place
        for place, phrase in enumerate(phrases)
        if weights[place] is not None
        and keeps_own_markup(pair, phrase)
        and (config.punctuation_tags or slow_tags.holds_words(pair, phrase))
    ]
    phrases = [phrases[place] for place in whole]
    drawn_from = [place for place in whole if weights[place]]
    drawable = [tuple(pair["phrases"][place].values())[:4] for place in drawn_from]
    weights = [weights[place] for place in drawn_from]
    most = min(config.max_tags, math.ceil(round(words * config.tag_share, 6)) - 1)
    rows = []
    if slow_tags.share_of(seed, key) < config.plain_share:
        rows.append(slow_tags.row_of(pair, 0, [], []))
    if slow_tags.share_of(seed, key) >= config.tagged_share or most < 1 or not drawable:
        return rows
    sets, seen = [], []
    for variant in range(1, config.variants + 1):
        for attempt in range(8):
            settings = (seed, key, variant, attempt, most, drawable)
            if config.profile is not None:
                chosen = choose_shaped(*settings, weights, config, pair)
            elif sound or config.draw == "confident":
                chosen = [
                    (phrase, None) for phrase in choose_weighted(*settings, weights, free=free)
                ]
            else:
                chosen = [(phrase, None) for phrase in slow_tags.choose(*settings, free=free)]
            if chosen not in sets:
                break
        drawn = slow_tags.numbers(seed, key, variant, len(chosen))
        if (chosen, drawn) in seen:
            continue
        sets.append(chosen)
        seen.append((chosen, drawn))
        boxes = [phrase for phrase, _ in chosen]
        forms = [form for _, form in chosen]
        split_share = config.split_share
        if config.profile is None:
            forms = forms_of(seed, key, variant, len(chosen), config)
        else:
            split_share = config.profile.split_share
        split = partner_of(seed, key, variant, boxes, forms, phrases, split_share, free=free)
        rows.append(row_of(pair, variant, boxes, drawn, forms, split))
    reduced = []
    for row in rows:
        if row["kind"] == "plain" or all(
            (row["source"], row["target"]) != (other["source"], other["target"])
            for other in reduced
        ):
            reduced.append(row)
    return reduced


def ranges_of(boxes, drawn, forms, split):
    """Return (number, form, boxes) in the order of tags; a tag in two parts has two boxes."""
    ranges = []
    for tag, (box, number, form) in enumerate(zip(boxes, drawn, forms, strict=True)):
        if split is None or tag != split[0]:
            ranges.append((ordered(box), 0, number, form, [box]))
            continue
        both = [box, split[1]]
        hull = (
            min(b[0] for b in both),
            max(b[1] for b in both),
            min(b[2] for b in both),
            max(b[3] for b in both),
        )
        touch = box[1] == split[1][0] or split[1][1] == box[0]
        source_whole = touch and (box[3] < split[1][2] or split[1][3] < box[2])
        if source_whole:
            parts = sorted((*hull[:2], *b[2:]) for b in both)
        else:
            parts = sorted((*b[:2], *hull[2:]) for b in both)
        ranges.append((ordered(hull), 1, number, form, parts))
    return [tuple(item[2:]) for item in sorted(ranges, key=lambda item: item[:2])]


def row_of(pair, variant, boxes, drawn, forms, split):
    """Return the tagged row of a pair."""
    tags, sides = [], {"source": [], "target": []}
    for number, form, parts in ranges_of(boxes, drawn, forms, split):
        for a, b, c, d in parts:
            entry = {
                "index": number,
                "form": {"self": "self_closing", "empty": "pair"}.get(form.split()[0], form),
            }
            for side, first, behind in (("source", a, b), ("target", c, d)):
                tokens = pair[f"{side}_tokens"]
                start, end = tokens[first]["start"], tokens[behind - 1]["end"]
                if (number, form, start, end) not in sides[side]:
                    sides[side].append((number, form, start, end))
                at_start = form in ("self at start", "empty at start", "open")
                at_end = form in ("self at end", "empty at end", "close")
                entry[f"{side}_start"] = end if at_end else start
                entry[f"{side}_end"] = start if at_start else end
            tags.append(entry)
    return {
        "id": pair["id"],
        "variant": variant,
        "kind": "tagged",
        **{side: insert(pair[side], sides[side]) for side in sides},
        "tags": tags,
        **{name: pair[name] for name in ("source_lang", "target_lang", "corpus")},
    }
