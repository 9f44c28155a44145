"""What the rules of ``filter`` measure, the score of a pair and the selection, in plain Python."""

import functools
import html.entities
import itertools
import math

import regex

from pairweave.transforms.kernels.filtering import marks
from pairweave.transforms.kernels.hmm.pair_scores import FARTHEST, UNCOVERED
from pairweave.transforms.text import codepoints
from tests.oracles import slow_hmm, slow_tokens

PARTS = r"[ .,'\u2019\u00a0\u202f\u2009\u066b\u066c]"
GROUP = r"\p{Nd}{3}(?!\p{Nd})"
DECIMAL = ".,\u066b"

NUMBER = regex.compile(rf"\p{{Nd}}{{1,3}}({PARTS}){GROUP}(?:\1{GROUP})*|\p{{Nd}}+")
BLANKS = r"[ \t-\r]*"
WORD = regex.compile(
    r"[\p{WB=ALetter}\p{WB=Hebrew_Letter}\p{WB=Numeric}\p{WB=ExtendNumLet}\p{WB=Extend}"
    r"\p{WB=Format}\p{WB=ZWJ}\p{GCB=SpacingMark}]"
)
PRINTF = regex.compile(
    r"%(?P<name>\([^()]+\)|[0-9]+\$)?(?P<flags>[-+#0]*)(?P<width>[0-9*]*(?:\.[0-9*]*)?)"
    r"(?P<length>hh|ll|[hlLqjzt](?=.))?(?P<type>.)",
    regex.S,
)
C_TYPES = ("di", "ouxX", "eEfFgGaA", "cC", "sS")
SELECTOR = rf"{BLANKS}(?:=[0-9]+|[A-Za-z0-9_]{{1,100}}){BLANKS}\{{"
FORMS = regex.compile(
    rf"\{{{BLANKS}(?P<name>[A-Za-z0-9_]{{1,100}}){BLANKS},{BLANKS}(?:plural|selectordinal|select)"
    rf"{BLANKS},{BLANKS}(?:offset:{BLANKS}[0-9]*)?{SELECTOR}"
)
NEXT_FORM = regex.compile(rf"\}}{BLANKS}(?:(?P<last>\}})|{SELECTOR})")
TYPED = regex.compile(
    rf"\{{{BLANKS}(?P<name>[A-Za-z0-9_]{{1,100}}){BLANKS},{BLANKS}"
    rf"(?:number|date|time|spellout|ordinal|duration){BLANKS}(?:,[^{{}}\n]*)?\}}"
)
TAG = regex.compile(r"<(?P<name>/?[A-Za-z0-9_:.-]+)(?P<attributes>[^>]*(?:>(?!$)[^>]*)*)>", regex.S)
ATTRIBUTE = regex.compile(
    r"(?P<name>[A-Za-z0-9_:.-]+)=(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<bare>(?:[^\s/>]|/(?!$))+))"
)


def find_marks(text):
    """Return the marks of a text: kind, text; in order, and what is left of it between them."""
    valued, rest = find_values(text)
    return [mark[:2] for mark in valued], rest


def find_values(text):
    """Return the marks of a text: kind, text, what equal ones have in common; and what is left."""
    marks_of_text, at, rest = [], 0, ""
    for start, end, kind, value, counted in [
        *matches(text),
        (len(text), len(text), None, None, True),
    ]:
        values, left = numbers(text[at:start]) if counted else ([], text[at:start])
        marks_of_text += values
        rest += left
        if kind is not None:
            marks_of_text.append((kind, text[start:end], value))
        masked = kind in (marks.ADDRESS, marks.EMAIL)
        rest += chr(kind + 1) if masked else text[start:end]
        at = end
    return marks_of_text, rest


def numbers(text):
    """Return the numbers of a text without other marks, and what is left of it."""
    numbers_of_text, at, rest = [], 0, ""
    number, parted = "", ""  # the last number with what stands behind it, the mark in or before it
    while at < len(text):
        match = NUMBER.match(text, at)
        if match is None:
            number = number and number + text[at]
            rest += text[at]
            at += 1
            continue
        whole = match[0]
        first = regex.match(r"\p{Nd}+", whole)[0]
        if whole[len(first) : len(first) + 1] in tuple(DECIMAL) and not any(map(int, first)):
            whole = first
        value = "".join(digit(mark) for mark in whole if regex.match(r"\p{Nd}", mark))
        at += len(whole)
        before = number[-1] if regex.fullmatch(rf"\p{{Nd}}{PARTS}", number[-2:]) else ""
        inside = regex.findall(r"\P{Nd}", whole)
        goes_on = regex.match(r"\p{Nd}", text[at + 1 : at + 2]) and text[at] == before
        if before and not inside and before in DECIMAL and before != parted and not goes_on:
            value = value.rstrip("0")
        parted = inside[0] if inside else before
        rest = rest[:-1] if before else rest + chr(marks.NUMBER + 1)
        numbers_of_text.append((marks.NUMBER if value else marks.ZEROS, whole, value))
        number = whole
    return numbers_of_text, rest


def matches(text):
    """Return the marks that are no numbers: start, end, kind, value, whether numbers before count.

    A kind of None is for text that is no mark, but in which there is no other, either.
    """
    spans, floor, at = [], 0, 0
    counts = {"conversions": 0, "fields": 0}
    forms = 0
    while at < len(text):
        match, opened = match_at(text, floor, at, forms, counts)
        if match is None:
            at += 1
            continue
        spans.append((*match, forms == 0))
        forms += opened
        at = floor = match[1]
    if forms:
        spans.append((len(text), len(text), None, None, False))
    return spans


def match_at(text, floor, at, forms, counts):
    """Return the mark at a place, or None, and how many sub-messages it opens."""
    mark = text[at]
    if text.startswith("://", at) and len(text) > at + 3:
        scheme = regex.search(r"[A-Za-z][A-Za-z0-9.+\-]*$", text[floor:at])
        end = slow_tokens.url_end(text, at + 3)
        if scheme and end > at + 3:
            return (floor + scheme.start(), end, marks.ADDRESS, ""), 0
        return None, 0
    if mark in "wW":
        if at > floor and WORD.match(text, at - 1):
            return None, 0
        word = slow_tokens.segment_end(text, at)
        if regex.match(r"(?i)www\.(?s:.)", text[at:word].encode("ascii", "replace").decode()):
            url = slow_tokens.find_url(text, at, word)
            return (at, url[1] if url else word, marks.ADDRESS, ""), 0
        return None, 0
    if mark == "}" and forms:
        match = NEXT_FORM.match(text, at)
        if match:
            return (at, match.end(), None, None), -1 if match["last"] else 0
    if mark not in "#$%&<@{":
        return None, 0
    end = slow_tokens.placeholder_end(text, at)
    if end is not None:
        return same(text[floor:], at - floor, end - floor, counts, floor), 0
    if mark == "@":
        address = slow_tokens.find_address(text, floor, at)
        return (address and (*address, marks.EMAIL, "")), 0
    if mark == "{":
        match = FORMS.match(text, at)
        if match:
            return (at, match.end(), marks.PLACEHOLDER, ("{", match["name"])), 1
        match = TYPED.match(text, at)
        if match and len(match[0]) <= 100:
            return (at, match.end(), marks.PLACEHOLDER, ("{", match["name"])), 0
    return None, 0


def same(text, at, end, counts, floor):
    """Return a mark with what equal ones have in common; None if it only looks like one.

    The text begins at the floor, the end of the last mark.
    """
    whole = text[at:end]
    kind, value = marks.PLACEHOLDER, whole
    if whole == "%%":
        kind = None
    elif whole[0] == "<":
        kind, value = marks.TAG, tag_value(whole)
    elif whole[0] == "&":
        name = whole[1:].lower()
        if whole[1] == "#" or name in {known.lower() for known in html.entities.html5}:
            kind, value = marks.ENTITY, ""
    elif whole.startswith("{%"):
        value = ("{%", one_spaced(regex.sub(r"^[-+]|[-+]$", "", whole[2:-2])))
    elif whole.startswith("{{"):
        braces = len(whole) - len(whole.lstrip("{"))
        content = whole[braces:-braces].partition("|")[0]
        value = ("{" * min(braces, 3), one_spaced(content))
    elif whole[0] == "{":
        name = regex.split("[!:,]", whole[1:-1])[0]
        if not name:
            name = str(counts["fields"])
            counts["fields"] += 1
        value = ("{", name)
    elif whole[0] == "$" and whole[-1] != "$":
        name = whole[1:].strip("{}") if whole[1] != "{" else whole[2:-1]
        if whole[1] != "{" and (
            regex.match("[A-Za-z0-9_]", text[at - 1 : at])
            or regex.fullmatch("[A-Z]{1,3}[0-9]*", name)
        ):
            return None
        value = ("$", name)
    elif whole[0] == "%" and whole[1] != "{" and whole[-1] != "%":
        value = printf_value(text, at, end, counts)
        if value is None:
            return None
    return floor + at, floor + end, kind, value


def one_spaced(content):
    """Return the text with each run of ASCII white space as one space, and none at its ends."""
    return regex.sub(r"[ \t-\r]+", " ", content).strip(" ")


def tag_value(whole):
    """Return the name of a tag in lower case, and the values of its `id` attributes."""
    match = TAG.fullmatch(whole)
    ids = [
        each["double"] or each["single"] or each["bare"] or ""
        for each in ATTRIBUTE.finditer(match["attributes"])
        if each["name"].lower() == "id"
    ]
    return match["name"].lower(), ids


def printf_value(text, at, end, counts):
    """Return what a printf conversion must share with its counterpart; None if it is text."""
    match = PRINTF.fullmatch(text, at, end)
    name = match["name"]
    if name is None:
        before = regex.search(r"([0-9])([ \u00a0\u202f\u2009]?)$", text[:at])
        hyphen = match["flags"].endswith("-") and not regex.match("[0-9]", match["width"])
        letter = regex.match(r"[A-Za-z_]|[^\x00-\x7f]", text[end : end + 1])
        if (before and (not before[2] or hyphen or letter)) or (hyphen and letter):
            return None
        counts["conversions"] += 1 + match["width"].count("*")
        name = str(counts["conversions"])
    elif name[0] != "(":
        name = str(int(name[:-1]))
    kind = next((types for types in C_TYPES if match["type"] in types), match["type"])
    return name, match["length"] or "", kind


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


@functools.cache
def digit(mark):
    """Return a decimal digit as ASCII; Python may know an older Unicode than the rules."""
    begin = ord(mark)
    while regex.match(r"\p{Nd}", chr(begin - 1)):
        begin -= 1
    return str((ord(mark) - begin) % 10)


def digits(text):
    """Return the sorted digits of a text's numbers."""
    every = [whole for kind, whole, _ in find_values(text)[0] if kind >= marks.NUMBER]
    return sorted(digit(mark) for mark in "".join(every) if regex.match(r"\p{Nd}", mark))


@functools.cache
def is_letter(mark):
    """Tell whether a character is alphabetic or a combining mark."""
    return bool(regex.match(r"[\p{Alphabetic}\p{M}]", mark))


@functools.cache
def is_mark(mark):
    """Tell whether a character is a combining mark."""
    return bool(regex.match(r"\p{M}", mark))


def is_unspaced(mark):
    """Tell whether a character is a letter of a script that puts no spaces between words."""
    return is_letter(mark) and not is_mark(mark) and _script(mark) in codepoints._UNSPACED


@functools.cache
def _script(mark):
    return next((s for s in codepoints.SCRIPTS if regex.match(rf"\p{{Script={s}}}", mark)), None)


def words(text):
    """Return the words of a text: runs of letters, marks and digits, or single unspaced letters."""
    runs, word = [], ""
    for mark in text:
        if is_letter(mark) or regex.match(r"\p{Nd}", mark):
            if word and is_unspaced(mark):
                runs.append(word)
                word = ""
            word += mark
        else:
            runs += [word] if word else []
            word = ""
    return [*runs, word] if word else runs


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
    scripts = [_script(mark) for mark in bases]
    right = sum(script is None or script in expected for script in scripts)
    return len(visible), len(letters), right, sum(s in other for s in scripts), len(bases)


def copied(source, target, *, names):
    """Return the shares of target words, and of their characters, that stand in the source."""
    left = words(source)
    counted = [
        word
        for word in words(target)
        if not (names and regex.match(r"[\p{Lu}\p{Lt}\p{Nd}]", word[0]))
    ]
    shared = []
    for word in counted:
        if word in left:
            left.remove(word)
            shared.append(word)
    if not counted:
        return 0.0, 0.0
    return len(shared) / len(counted), sum(map(len, shared)) / sum(map(len, counted))


def repetition(text):
    """Return the largest share of words in blocks that stand three times or more in a row."""
    tokens, most = words(text), 0
    for period in range(1, 9):
        for start in range(len(tokens)):
            end = start + period
            while end < len(tokens) and tokens[end] == tokens[end - period]:
                end += 1
            if end - start >= 3 * period:
                most = max(most, end - start)
    return most / len(tokens) if tokens else 0.0


def pair_scores(forward, reverse, nulls, jumps, factors, p_null, p_last, unigrams):
    """Return likelihood, coverage, gap and order of both directions, from the emissions of a pair.

    Args:
        forward: ``[target word][source word]``.
        reverse: ``[source word][target word]``.
        nulls: Of target words, and of source words.
        jumps: Of both directions.
        factors: Of the jumps after each position, of both directions.
        p_null: Probability of no partner.
        p_last: Probability that the last word has the last state, whatever the jump.
        unigrams: Of target words, and of source words.
    """
    both = []
    for emission, null, weights, after in zip(
        (forward, reverse), nulls, jumps, factors, strict=True
    ):
        low = [0] * len(emission)
        both.append(slow_hmm.windowed(emission, low, null, weights, p_null, after, p_last))
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
