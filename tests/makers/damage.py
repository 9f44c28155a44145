"""Parallel text damaged in known ways: what the weights of the default score are fitted on.

A row is a source, its target, the target in a third language and a machine translation; the last
two are None where there is none.
"""

import re

import numpy as np

BOILERPLATE = (
    ("Posted on {} at {} in General", "Veröffentlicht am {} um {} in Allgemein"),
    ("Page {} of {}", "Seite {} von {}"),
    ("Copyright {} - all rights reserved, version {}", "Copyright {} - Version {}"),
    ("Showing {} results on {} pages", "{} Treffer werden auf {} Seiten angezeigt"),
)
"""Lines of web pages that are the same but for their numbers; the sides are rarely aligned."""


FAMILIAR = {
    "Sie": "du",
    "Ihnen": "dir",
    "Ihr": "dein",
    "Ihre": "deine",
    "Ihrem": "deinem",
    "Ihren": "deinen",
    "Ihrer": "deiner",
    "Ihres": "deines",
}
"""German forms of address; verbs stay as they are."""

_POLITE = re.compile(rf"\b({'|'.join(FAMILIAR)})\b")
_ADDRESS = re.compile(r"\b(you|yours?|yourself)\b", re.IGNORECASE)


def neighbour(rows, row, _draw):
    """The target of the next line."""
    return rows[row][0], rows[(row + 1) % len(rows)][1]


def shuffled(rows, row, draw):
    """The target of any line."""
    return rows[row][0], rows[draw.integers(len(rows))][1]


def wrong_language(rows, row, _draw):
    """The translation in a third language."""
    return rows[row][0], rows[row][2]


def machine(rows, row, _draw):
    """The output of a weak system, with the familiar form where it has the polite one."""
    return rows[row][0], _POLITE.sub(lambda form: FAMILIAR[form[1]], rows[row][3])


def addresses(row):
    """Tell whether a machine translation addresses the reader, in the polite form."""
    return row[3] is not None and bool(_POLITE.search(row[3]) and _ADDRESS.search(row[0]))


def as_it_is(rows, row, _draw):
    """The output of a weak system, unchanged."""
    return rows[row][0], rows[row][3]


def copy(rows, row, _draw):
    """The source as its own translation."""
    return rows[row][0], rows[row][0]


def truncated(rows, row, draw):
    """Half of one side is missing; sometimes the full stop has been put back."""
    sides = list(rows[row][:2])
    side = draw.integers(2)
    kept = sides[side].split()
    sides[side] = " ".join(kept[: max(1, len(kept) // 2)]) + ("." if draw.integers(2) else "")
    return tuple(sides)


def number(rows, row, draw):
    """One number of the target is another one; where there is none, both sides get one."""
    source, target = rows[row][:2]
    spans = [match.span() for match in re.finditer(r"\d+", target)]
    news, other = map(str, draw.integers(2, 5000, 2))
    if not spans:
        return f"{source} {other}", f"{target} {news}"
    start, end = spans[draw.integers(len(spans))]
    return source, target[:start] + news + target[end:]


def words(rows, row, draw):
    """The words of the target in another order."""
    shaken = rows[row][1].split()
    draw.shuffle(shaken)
    return rows[row][0], " ".join(shaken)


def boilerplate(_rows, _row, draw):
    """Lines of a web page with numbers of their own."""
    one, other = (BOILERPLATE[draw.integers(len(BOILERPLATE))] for _ in range(2))
    numbers = draw.integers(1, 3000, 4).tolist()
    return one[0].format(*numbers[:2]), other[1].format(*numbers[2:])


def dropped(rows, row, draw):
    """A run of words from inside one side is missing."""
    sides = [side.split() for side in rows[row][:2]]
    side = sides[draw.integers(2)]
    start, end = _run(side, draw)
    del side[start:end]
    return tuple(" ".join(side) for side in sides)


def grafted(rows, row, draw):
    """A run of words of the target is replaced by as many of another line."""
    source, target = rows[row][0], rows[row][1].split()
    start, end = _run(target, draw)
    other = rows[draw.integers(len(rows))][1].split()
    target[start:end] = other[: end - start]
    return source, " ".join(target)


def _run(side, draw):
    """Return a run of a quarter to half of a side's words."""
    size = max(1, int(len(side) * draw.uniform(0.25, 0.5)))
    start = draw.integers(max(1, len(side) - size))
    return start, start + size


KINDS = {
    "neighbour": neighbour,
    "shuffled": shuffled,
    "wrong_language": wrong_language,
    "machine": machine,
    "copy": copy,
    "truncated": truncated,
    "number": number,
    "words": words,
    "boilerplate": boilerplate,
    "dropped": dropped,
    "grafted": grafted,
}

ABLE = {"wrong_language": lambda row: row[2] is not None, "machine": addresses}
"""Whether a row can be damaged in a way that not all can."""

RARE = "machine"
"""A kind that so few rows can be that all of these are."""


def bare_end(sides, draw):
    """Remove the punctuation at one end of one pair in five, good or bad, as on web pages."""
    sides = list(sides)
    if draw.random() < 0.2:
        side = draw.integers(2)
        sides[side] = sides[side].rstrip(".!?") or sides[side]
    return tuple(sides)


def damage(rows, share=0.5, seed=1, kinds=tuple(KINDS)):
    """Damage a share of pairs, each in one way.

    All ways that a row allows are equally frequent, but a row that can be of the kind `RARE` always
    is, if that is among them.

    Args:
        rows: Source, target, target in a third language or None, machine translation or None.
        share: Share of the pairs that are damaged.
        seed: Another seed draws others.
        kinds: The ways.

    Returns:
        Rows of source, target and kind; ``good`` for a pair that is still a translation.
    """
    draw = np.random.default_rng(seed)
    made = []
    for row in range(len(rows)):
        rare = RARE in kinds and ABLE[RARE](rows[row])
        if draw.random() >= share and not rare:
            made.append((*bare_end(rows[row][:2], draw), "good"))
            continue
        able = [kind for kind in kinds if kind not in ABLE or ABLE[kind](rows[row])]
        kind = RARE if rare else able[draw.integers(len(able))]
        made.append((*bare_end(KINDS[kind](rows, row, draw), draw), kind))
    return made
