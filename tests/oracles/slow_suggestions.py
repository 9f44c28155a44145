"""The slow twins of the masks' kernels: the definitions, with sets."""

import math

from pairweave.transforms.kernels import sampling
from tests.oracles.slow_tags import draw

MASK = "<MASK_REP>"


def boundaries(links, cuts, target_cuts):
    """Return every place that no link crosses and where a mask may begin, as (token, token)."""
    return {
        (a, b)
        for a in range(len(cuts))
        for b in range(len(target_cuts))
        if cuts[a] and target_cuts[b] and all((i < a) == (j < b) for i, j, _ in links)
    }


def kept_boxes(source, target, links, cuts, target_cuts):
    """Return the smallest boxes between boundaries that hold the same tokens on both sides."""
    places = boundaries(links, cuts, target_cuts)
    boxes = []
    for a, b in places:
        for c, d in places:
            if not (a < c and b < d) or source[a:c] != target[b:d]:
                continue
            inside = {(e, f) for e, f in places if a <= e <= c and b <= f <= d}
            if inside == {(a, b), (c, d)}:
                boxes.append((a, c, b, d))
    return sorted(boxes)


def gaps_between(boxes, sources, targets):
    """Return what lies between kept boxes, before the first and behind the last."""
    gaps, at, there = [], 0, 0
    for a, c, b, d in [*boxes, (sources, sources, targets, targets)]:
        if at < a or there < b:
            gaps.append((at, a, there, b))
        at, there = c, d
    return gaps


def insertions(links, cuts, target_cuts):
    """Return where reference tokens lie between two units, as (token, first, behind)."""
    places = boundaries(links, cuts, target_cuts)
    inserted, seen = [], 0
    for a in range(len(cuts)):
        here = [b for x, b in places if x == a and b >= seen]
        if here and max(here) > max(min(here), seen):
            inserted.append((a, min(here), max(here)))
        if here:
            seen = max(here)
    return inserted


def judge(source, target, links, cuts, target_cuts, most, share, *, deletions):
    """Return the verdict on a pair and its placeholders before concatenation."""
    boxes = kept_boxes(source, target, links, cuts, target_cuts)
    regions = [
        region
        for region in gaps_between(boxes, len(source), len(target))
        if deletions or region[2] < region[3]
    ]
    places = insertions(links, cuts, target_cuts)
    masked = sum(c - a for a, c, _, _ in regions)
    count = masked + sum(
        any(b <= low and high <= d for _, _, b, d in regions) for _, low, high in places
    )
    if not count:
        return 1, 0
    bad = count > most or count > share * (count + len(source) - masked) + 1e-9
    return (2 if bad else 0), count


def partners(tags):
    """Return {token: token of the other half or None} of [(token, number)], opening first."""
    opened, halves = {}, []
    for token, number in tags:
        if number > 0:
            opened.setdefault(number, len(halves))
            halves.append([token, None])
        else:
            halves.append([token, None])
            if -number in opened:
                other = halves[opened.pop(-number)]
                other[1], halves[-1][1] = token, other[0]
    return halves


def closed(tags, start, end):
    """Widen a range until it holds both halves of its tags; None if it cannot."""
    while True:
        inside = [pair for pair in tags if start <= pair[0] < end]
        if any(other is None for _, other in inside):
            return None
        low = min([start, *(other for _, other in inside)])
        high = max([end, *(other + 1 for _, other in inside)])
        if (low, high) == (start, end):
            return start, end
        start, end = low, high


def regions_of(source, target, links, cuts, target_cuts, tags, target_tags, *, deletions):
    """Return the regions, their confidence and whether they part a tag."""
    boxes = kept_boxes(source, target, links, cuts, target_cuts)
    while True:
        regions = gaps_between(boxes, len(source), len(target))
        parted, lost = {}, set()
        for region in regions:
            a, c, b, d = region
            if not deletions and b == d:
                continue
            wide, target_wide = closed(tags, a, c), closed(target_tags, b, d)
            parted[region] = wide is None or target_wide is None
            if not parted[region]:
                hit = [
                    place
                    for place, (e, g, f, h) in enumerate(boxes)
                    if (e < wide[1] and wide[0] < g) or (f < target_wide[1] and target_wide[0] < h)
                ]
                here = sum(box[1] <= a and box[3] <= b for box in boxes)
                for place in hit:
                    lost |= set(range(min(place, here), max(place + 1, here)))
        if not lost:
            break
        boxes = [box for place, box in enumerate(boxes) if place not in lost]
    made = []
    for region in regions:
        a, c, b, d = region
        if not deletions and b == d:
            continue
        beside = [box for box in boxes if box[1] == a and box[3] == b]
        behind = [box for box in boxes if box[0] == c and box[2] == d]
        low = beside[0][0] if beside else a
        high = behind[0][1] if behind else c
        sure = min([p for i, _, p in links if low <= i < high], default=math.inf)
        made.append((region, sure, parted[region]))
    return made


def unit(*parts):
    """Draw a number in [0, 1)."""
    return (draw(*parts) >> 11) / 2**53


def number_from(cumulative, limit, share):
    """Draw 1 to ``limit`` from cumulative weights."""
    usable = cumulative[: max(0, limit)]
    if not len(usable) or usable[-1] <= 0:
        return 0
    return next(n for n, weight in enumerate(usable, 1) if weight > share * usable[-1])


def widened(cuts, tags, start, end):
    """Widen a range until it ends at cuts and holds both halves of its tags; None if it cannot."""
    while True:
        wide = start, end
        while not cuts[start]:
            start -= 1
        while not cuts[end]:
            end += 1
        wider = closed(tags, start, end)
        if wider is None or wider == wide:
            return wider
        start, end = wider


def drawn(seed, key, cuts, tags, config):
    """Return the masks of one text as (variant, (first, behind) or None)."""
    tokens = len(cuts) - 1
    limit = max(1, math.floor(config["max_share"] * tokens + 1e-9))
    spans = []
    if len(config["positions"]):
        share = unit(seed, key, sampling.STEP_MASK_COUNT, 0)
        for number in range(number_from(config["numbers"], len(config["numbers"]), share)):
            for attempt in range(8):
                counter = attempt << 16 | number
                share = unit(seed, key, sampling.STEP_MASK_LENGTH, counter)
                length = number_from(config["lengths"], limit, share)
                share = unit(seed, key, sampling.STEP_MASK_START, counter)
                position = number_from(config["positions"], 20, share) - 1
                share = unit(seed, key, sampling.STEP_MASK_PLACE, counter)
                start = math.floor((position + share) / 20 * (tokens - length + 1))
                if length and (start, start + length) not in spans:
                    spans.append((start, start + length))
                    break
    else:
        ranks = [unit(seed, key, sampling.STEP_MASK_START, token) for token in range(tokens)]
        starts = [
            token
            for token in sorted(range(tokens), key=lambda token: ranks[token])
            if ranks[token] < config["start_probability"] and cuts[token]
        ]
        for start in starts[: config["variants"]]:
            share = unit(seed, key, sampling.STEP_MASK_LENGTH, start)
            length = number_from(config["lengths"], min(limit, tokens - start), share)
            spans.append((start, start + length))
    made = []
    for variant, (start, end) in enumerate(spans):
        candidate = widened(cuts, tags, start, end) if end > start else (0, 0)
        if candidate == (0, 0) or (
            candidate is not None and candidate in [span for _, span in made]
        ):
            continue
        made.append((variant, candidate))
    return made
