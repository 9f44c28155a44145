"""What the rules of ``filter`` measure, the score of a pair and the selection, in plain Python."""

import itertools
import math

import regex

from pairweave.transforms.filtering import scripts
from pairweave.transforms.kernels.filtering import marks
from pairweave.transforms.kernels.hmm.pair_scores import FARTHEST, UNCOVERED
from tests.oracles import slow_hmm

PARTS = r"[ .,'\u2019\u00a0\u202f\u2009\u066b\u066c]"
GROUP = r"\p{Nd}{3}(?!\p{Nd})"
DECIMAL = ".,\u066b"

PATTERNS = {
    marks.ADDRESS: r"(?<![\p{Alphabetic}\p{M}\p{Nd}])(?:https?://|ftp://|www\.)[^\p{White_Space}<>\"]+",
    marks.TAG: r"</?[A-Za-z][^<>]*>",
    marks.PLACEHOLDER: r"\{\{[A-Za-z0-9_.:-]{1,64}\}\}|\$?\{[A-Za-z0-9_.:-]{0,64}\}"
    r"|%(?:\([A-Za-z0-9_.:-]{1,64}\)|[0-9]{1,2}\$)?[sdifux@](?![A-Za-z])",
    marks.ENTITY: r"&(?:\#[0-9]{1,7}|\#[xX][0-9A-Fa-f]{1,7}|[A-Za-z][A-Za-z0-9]{0,31});",
    marks.EMAIL: r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+",
    marks.NUMBER: rf"\p{{Nd}}{{1,3}}({PARTS}){GROUP}(?:\1{GROUP})*|\p{{Nd}}+",
}
COMPILED = {
    kind: regex.compile(text, regex.IGNORECASE if kind == marks.ADDRESS else 0)
    for kind, text in PATTERNS.items()
}
FINAL = ".,;:!?)]}'"


def find_marks(text):
    """Return the marks of a text: kind, text; in order, and what is left of it between them."""
    found, rest = find_values(text)
    return [mark[:2] for mark in found], rest


def find_values(text):
    """Return the marks of a text: kind, text, what equal ones have in common; and what is left."""
    found, at, rest = [], 0, ""
    number, parted = "", ""  # the last number with what stands behind it, the mark in or before it
    while at < len(text):
        mark = mark_at(text, at)
        if mark is None:
            number = number and number + text[at]
            rest += text[at]
            at += 1
            continue
        kind, whole = mark
        value = same(kind, whole)
        at += len(whole)
        if kind == marks.NUMBER:
            before = number[-1] if regex.fullmatch(rf"\p{{Nd}}{PARTS}", number[-2:]) else ""
            inside = regex.findall(r"\P{Nd}", whole)
            goes_on = regex.match(r"\p{Nd}", text[at + 1 : at + 2]) and text[at] == before
            if before and not inside and before in DECIMAL and before != parted and not goes_on:
                value = value.rstrip("0")
            parted = inside[0] if inside else before
            rest = rest[:-1] if before else rest + chr(kind + 1)
            kind = kind if value else marks.ZEROS
            number = whole
        else:
            number, parted = "", ""
            rest += chr(kind + 1) if kind in (marks.ADDRESS, marks.EMAIL) else whole
        found.append((kind, whole, value))
    return found, rest


def mark_at(text, at):
    """Return the mark that begins at a place, or None."""
    for kind, pattern in COMPILED.items():
        match = pattern.match(text, at)
        if match is None:
            continue
        whole = match[0]
        if kind == marks.ADDRESS:
            scheme = regex.match(r"(?i:https?://|ftp://|www\.)", whole)[0]
            whole = scheme + whole[len(scheme) :].rstrip(FINAL)
            if whole == scheme:
                continue
        if kind == marks.TAG and len(whole) > marks.MOST_TAG:
            continue
        return kind, whole
    return None


def same(kind, whole):
    """Return what equal marks of a kind have in common."""
    if kind in (marks.ADDRESS, marks.EMAIL):
        return ""
    if kind == marks.NUMBER:
        return "".join(digit(mark) for mark in whole if regex.match(r"\p{Nd}", mark))
    if kind == marks.TAG:
        return regex.match(r"</?[A-Za-z0-9_.:-]+", whole)[0][1:].lower()
    return whole


def unmatched(source, target, kind):
    """Return unmatched marks of the source, of the target, and all of both."""
    ours, theirs = (
        [mark[2] for mark in find_values(text)[0] if mark[0] == kind] for text in (source, target)
    )
    if kind == marks.NUMBER and digits(source) == digits(target):
        return 0, 0, len(ours) + len(theirs)
    left = theirs[:]
    for mark in ours:
        if mark in left:
            left.remove(mark)
    common = len(theirs) - len(left)
    return len(ours) - common, len(theirs) - common, len(ours) + len(theirs)


def digit(mark):
    """Return a decimal digit as ASCII; Python may know an older Unicode than the rules."""
    begin = ord(mark)
    while regex.match(r"\p{Nd}", chr(begin - 1)):
        begin -= 1
    return str((ord(mark) - begin) % 10)


def digits(text):
    """Return the sorted digits of a text's numbers."""
    numbers = [whole for kind, whole, _ in find_values(text)[0] if kind >= marks.NUMBER]
    return sorted("".join(same(marks.NUMBER, whole) for whole in numbers))


def is_letter(mark):
    return bool(regex.match(r"[\p{Alphabetic}\p{M}]", mark))


def is_mark(mark):
    return bool(regex.match(r"\p{M}", mark))


def is_unspaced(mark):
    return is_letter(mark) and not is_mark(mark) and _script(mark) in scripts._UNSPACED


def _script(mark):
    return next((s for s in scripts.SCRIPTS if regex.match(rf"\p{{Script={s}}}", mark)), None)


def words(text):
    """Return the words of a text: runs of letters, marks and digits, or single unspaced letters."""
    found, word = [], ""
    for mark in text:
        if is_letter(mark) or regex.match(r"\p{Nd}", mark):
            if word and is_unspaced(mark):
                found.append(word)
                word = ""
            word += mark
        else:
            found += [word] if word else []
            word = ""
    return [*found, word] if word else found


def written_words(text):
    """Count what white space parts, and each unspaced letter."""
    count = 0
    for part in regex.split(r"\p{White_Space}+", text):
        letters = [is_unspaced(mark) for mark in part]
        count += sum(letters) + (bool(part) and not letters[0])
    return count


def characters(text, expected, other):
    """Return visible characters, letters, base letters of expected and other scripts, bases."""
    visible = [mark for mark in text if not regex.match(r"\p{White_Space}", mark)]
    letters = [mark for mark in visible if is_letter(mark)]
    bases = [mark for mark in letters if not is_mark(mark)]
    found = [_script(mark) for mark in bases]
    right = sum(script is None or script in expected for script in found)
    return len(visible), len(letters), right, sum(s in other for s in found), len(bases)


def copied(source, target, *, names):
    """Return the shares of target words, and of their characters, that stand in the source."""
    left = words(source)
    counted = [
        word
        for word in words(target)
        if not (names and regex.match(r"[\p{Lu}\p{Lt}\p{Nd}]", word[0]))
    ]
    found = []
    for word in counted:
        if word in left:
            left.remove(word)
            found.append(word)
    if not counted:
        return 0.0, 0.0
    return len(found) / len(counted), sum(map(len, found)) / sum(map(len, counted))


def repetition(text):
    """Return the largest share of words in blocks that stand three times or more in a row."""
    found, most = words(text), 0
    for period in range(1, 9):
        for start in range(len(found)):
            end = start + period
            while end < len(found) and found[end] == found[end - period]:
                end += 1
            if end - start >= 3 * period:
                most = max(most, end - start)
    return most / len(found) if found else 0.0


def pair_scores(forward, reverse, nulls, jumps, p_null, unigrams):
    """Return likelihood, coverage, gap and order of both directions, from the emissions of a pair.

    Args:
        forward: ``[target word][source word]``.
        reverse: ``[source word][target word]``.
        nulls: Of target words, and of source words.
        jumps: Of both directions.
        p_null: Probability of no partner.
        unigrams: Of target words, and of source words.
    """
    both = []
    for emission, null, weights in zip((forward, reverse), nulls, jumps, strict=True):
        low = [0] * len(emission)
        both.append(slow_hmm.windowed(emission, low, null, weights, p_null))
    (ahead, p_forward), (back, p_reverse) = both
    agreed = [
        [min(p, p_reverse[s][t]) for s, p in enumerate(row)] for t, row in enumerate(p_forward)
    ]
    turned = [list(column) for column in zip(*agreed, strict=True)]
    return [
        _judge(likelihood, links, unigram)
        for likelihood, links, unigram in zip(
            (ahead, back), (agreed, turned), unigrams, strict=True
        )
    ]


def _judge(likelihood, links, unigram):
    weights = [-math.log(share) for share in unigram]
    covers = [sum(row) for row in links]
    coverage = sum(w * min(c, 1) for w, c in zip(weights, covers, strict=True)) / sum(weights)
    gap = 0.0
    for start in range(len(covers)):
        for end in range(start, len(covers)):
            if all(cover < UNCOVERED for cover in covers[start : end + 1]):
                gap = max(gap, sum(weights[start : end + 1]))
    partners = [row.index(max(row)) for row, c in zip(links, covers, strict=True) if c >= UNCOVERED]
    ways = [
        0 if one == other else min(abs(other - one - 1), FARTHEST)
        for one, other in itertools.pairwise(partners)
    ]
    order = sum(ways) / (FARTHEST * len(ways)) if ways else 0.0
    return likelihood / len(covers), coverage, gap / sum(weights), order


def select(rows, words=None, share=None):
    """Return the ids of the best of ``(score, id, words)``, up to so many words, or a share."""
    ranked = sorted(rows, key=lambda row: (-row[0], row[1]))
    if words is None:
        return {row[1] for row in ranked[: int(share * len(rows))]}
    chosen, used = set(), 0
    for _, name, count in ranked:
        used += count
        if used > words:
            break
        chosen.add(name)
    return chosen
