"""The slow twin of `transforms.kernels.text.word_breaks`: rules and expressions, a step at a time.

Shares nothing with the kernel but what both are meant to do. Boundaries are asked of Unicode's
rules one by one, grapheme clusters of the `regex` module, and unbreakable spans of patterns.
"""

import functools

import regex

from pairweave.transforms.text.korean_endings import endings
from tests.oracles import slow_korean

CLUSTER = regex.compile(r"\X")
NO_BREAK_SPACES = "\u00a0\u202f\u2009\u2007"
DIGIT = r"[\p{WB=Numeric}&&\p{N}]"
IN_NUMBER = regex.compile(rf"(?V1){DIGIT}/{DIGIT}")
GROUPS = regex.compile(rf"(?V1){DIGIT}{{1,3}}(?:[{NO_BREAK_SPACES}]{DIGIT}{{3}})*")
NEXT_GROUP = regex.compile(
    rf"(?V1)[{NO_BREAK_SPACES}]{DIGIT}{{3}}(?![\p{{WB=Numeric}}\p{{WB=ALetter}}"
    r"\p{WB=Hebrew_Letter}[\p{WB=ExtendNumLet}--[\u202f]]"
    r"\p{WB=Extend}\p{WB=Format}\p{WB=ZWJ}\p{GCB=SpacingMark}])"
)
HYPHENS = ("-", "\u2010", "\u2011", "\u058a", "\u05be")
JOINABLE = regex.compile(r"[\p{L}\p{N}\p{WB=Extend}\p{WB=Format}\p{WB=ZWJ}\p{GCB=SpacingMark}]")
LAST_PART = regex.compile(rf"(?:{JOINABLE.pattern})*$")
FIRST_PART = regex.compile(rf"(?:{JOINABLE.pattern})*")
LETTERS_OF_PART = regex.compile(r"(?V1)[[\p{L}\p{N}]--\p{WB=Numeric}]")
RAISED = regex.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻₀₁₂₃₄₅₆₇₈₉₊₋]")
# Circled, parenthesized and full-stop numbers are marks of list items.
NUMERAL = regex.compile(
    r"(?V1)[[\p{No}\p{Nl}\u2044]--[\p{WB=ALetter}\u2460-\u24ff\u2700-\u27bf\u3200-\u32ff\U0001f100-\U0001f1ff]]"
)
MARK = regex.compile(r"[\p{WB=Extend}\p{WB=Format}\p{WB=ZWJ}\p{GCB=SpacingMark}]")
INKLESS = regex.compile(r"[\p{White_Space}\p{Cc}\p{DI}\uFFF9-\uFFFB]*")
RUN = regex.compile(
    r"(?V1)[[\p{P}\p{S}]--[\p{Extended_Pictographic}\p{WB=RI}\p{WB=Extend}"
    r"\p{WB=ALetter}\p{WB=Numeric}\p{WB=ExtendNumLet}]]"
)
WB_CLASSES = (
    *("Extend", "Format", "ZWJ", "RI", "Hebrew_Letter", "ALetter", "Numeric", "ExtendNumLet"),
    *("Single_Quote", "Double_Quote", "MidNumLet", "MidLetter", "MidNum", "Katakana"),
)
LETTERS = ("ALetter", "Hebrew_Letter")
IGNORED = ("Extend", "Format", "ZWJ")
CONVERSION = rb"[diouxXeEfFgGcCrsSaAp@]"
IN_BRACES = rb"\{[^\x00-\x20{}]{1,99}\}"
PRINTF = regex.compile(
    rb"%(?:(%)|(" + IN_BRACES + rb")|(\([^\x00-\x20()]{1,99}\)|[0-9]+\$)?"
    rb"[-+#0]*(?:\*|[0-9]+)?(?:\.(?:\*|[0-9]+)?)?(?:hh|ll|[hlLqjzt](?="
    + CONVERSION
    + rb"))?"
    + CONVERSION
    + rb")"
)
PATTERNS = {
    ord("<"): rb"</?[A-Za-z][A-Za-z0-9_:.-]*(?:[ \t-\r]+[A-Za-z_][A-Za-z0-9_:.-]*="
    rb"(?:\"[^\"<]*\"|'[^'<]*'|(?:[^\x00-\x20\"'<>=`/]|/(?!>))+))*[ \t-\r]*/?>",
    ord("&"): rb"&(?:[A-Za-z][A-Za-z0-9]{1,31}|#[xX][0-9A-Fa-f]{1,7}|#[0-9]{1,7});",
    ord("$"): rb"\$" + IN_BRACES + rb"|\$[A-Za-z_][A-Za-z0-9_]*",
    ord("#"): rb"#" + IN_BRACES,
}
FENCED = regex.compile(
    r"(?<![A-Za-z0-9_])(?:#[A-Za-z_][A-Za-z0-9_]+#(?!#)|%[A-Z_][A-Z0-9_]+%(?!%)"
    r"|@[A-Z_][A-Z0-9_]+@(?!@)|\$[A-Z_][A-Z0-9_]+\$(?!\$))(?![A-Za-z0-9_])"
)
ONE_BRACE = rb"\{[A-Za-z0-9_.\-\[\]!:$@,<>=^+#/|*%]{0,100}\}"
URL_CHARACTER = regex.compile(
    r"(?V1)[A-Za-z0-9\-._~:/?#\[\]{}@!$&()*+,;=%|]|[[^\x00-\x7f]&&[\p{WB=ALetter}"
    r"\p{WB=Hebrew_Letter}\p{WB=Numeric}\p{WB=Extend}\p{WB=Format}\p{WB=ZWJ}\p{GCB=SpacingMark}]]"
)
ADDRESS_CHARACTER = regex.compile(
    r"(?V1)[[\p{WB=ALetter}\p{WB=Hebrew_Letter}\p{WB=Numeric}\p{WB=ExtendNumLet}\p{WB=Extend}"
    r"\p{WB=Format}\p{WB=ZWJ}\p{GCB=SpacingMark}\-]--[\u202f]]"
)
ENGLISH = regex.compile(
    r"(?i:(?<=.)(?=['\u2019](?:s|m|d|re|ve|ll)(?:['\u2019]|$))|(?<=.)(?=n['\u2019]t(?:['\u2019]|$)))",
    regex.S,
)


@functools.cache
def word_class(character):
    """Return the word-break class of a character (UAX 29), with classes of our own for spaces."""
    if character in "\r\n" or regex.match(r"\p{WB=Newline}", character):
        return "Newline"
    if regex.match(r"\p{White_Space}", character):
        return "Space"
    if character == ":":
        return "Colon"
    for name in WB_CLASSES:
        if regex.match(rf"\p{{WB={name}}}", character):
            return name
    return "Other"


def breaks(text, begin, at, *, katakana=False):
    """Tell whether UAX #29 has a word boundary before ``at``, reading from ``begin``."""
    left, right = word_class(text[at - 1]), word_class(text[at])
    if left == "Newline" or right == "Newline":
        return True
    if left == "ZWJ" and regex.match(r"\p{Extended_Pictographic}", text[at]):
        return word_class(text[begin]) == "Space"
    if right in IGNORED:
        return False
    before = [i for i in range(begin, at) if word_class(text[i]) not in IGNORED or i == begin]
    after = [i for i in range(at + 1, len(text)) if word_class(text[i]) not in IGNORED]
    left = word_class(text[before[-1]])
    earlier = word_class(text[before[-2]]) if len(before) > 1 else None
    later = word_class(text[after[0]]) if after else None
    mid_letter = ("MidLetter", "MidNumLet", "Single_Quote", "Colon")
    mid_number = ("MidNum", "MidNumLet", "Single_Quote", "Colon")
    joined = (
        (left in LETTERS and right in LETTERS)
        or (left in LETTERS and right in mid_letter and later in LETTERS)
        or (earlier in LETTERS and left in mid_letter and right in LETTERS)
        or (left == "Hebrew_Letter" and right == "Single_Quote")
        or (left == "Hebrew_Letter" and right == "Double_Quote" and later == "Hebrew_Letter")
        or (earlier == "Hebrew_Letter" and left == "Double_Quote" and right == "Hebrew_Letter")
        or (left == "Numeric" and right in ("Numeric", *LETTERS))
        or (left in LETTERS and right == "Numeric")
        or (earlier == "Numeric" and left in mid_number and right == "Numeric")
        or (left == "Numeric" and right in mid_number and later == "Numeric")
        or (left in (*LETTERS, "Numeric", "ExtendNumLet") and right == "ExtendNumLet")
        or (left == "ExtendNumLet" and right in (*LETTERS, "Numeric"))
        or (katakana and {left, right} <= {"Katakana", "ExtendNumLet"})
    )
    if left == right == "RI":
        run = 0
        while run < len(before) and word_class(text[before[-1 - run]]) == "RI":
            run += 1
        joined = run % 2 == 1
    if text[at] in NO_BREAK_SPACES and GROUPS.fullmatch(text, begin, at):
        joined = joined or NEXT_GROUP.match(text, at) is not None
    if text[at - 1] in NO_BREAK_SPACES and at - 1 > begin:
        joined = joined or bool(
            GROUPS.fullmatch(text, begin, at - 1) and NEXT_GROUP.match(text, at - 1)
        )
    return not joined


def segment_end(text, begin, *, runs=True, katakana=False):
    """Return where the segment ends that begins at a place."""
    end = CLUSTER.match(text, begin).end()
    while end < len(text) and not breaks(text, begin, end, katakana=katakana):
        end = CLUSTER.match(text, end).end()
    if end == begin + 1 and RUN.match(text, begin) and runs:
        while end < len(text) and text[end] == text[begin] and not placeholder_end(text, end):
            end += 1
        if end > begin + 1:
            end = segment_end(text, end - 1, runs=False, katakana=katakana)
    return end


def placeholder_end(text, at):
    """Return where a placeholder, tag or character reference ends, or None."""
    data = text[at:].encode()
    length = None
    fenced = FENCED.match(text, at)
    if fenced and len(fenced[0]) <= 101:
        return fenced.end()
    if data[0] == ord("%"):
        match = PRINTF.match(data)
        guarded = match and not (match[1] or match[2] or match[3])
        if match and guarded and text[:at][-1:] in tuple("0123456789"):
            following = data[match.end() :][:1]
            if following >= b"\x80" or regex.match(rb"[A-Za-z_]", following):
                match = None
        length = match and match.end()
    elif data[:2] == b"{%":
        match = regex.match(rb"\{%[^\n{]*?%\}", data)
        length = match.end() if match and match.end() <= 101 else None
    elif data[:1] == b"{":
        opened = min(3, len(data) - len(data.lstrip(b"{")))
        inner = rb"[^{}\n]{1,%d}" % (101 - opened)
        pattern = ONE_BRACE if opened == 1 else rb"\{" * opened + inner + rb"\}" * opened
        match = regex.match(pattern, data)
        length = match and match.end()
    elif data[0] in PATTERNS:
        match = regex.match(PATTERNS[data[0]], data)
        length = match and match.end()
        if match and data[0] == ord("$") and not match[0].endswith(b"}"):
            following = data[length:].decode()[:1]
            if following > "\x7f" and (
                regex.match(r"[\p{L}\p{N}]", following) or MARK.match(following)
            ):
                length = None
        if match and data[0] == ord("<") and length > 2000:
            length = None
    return at + len(data[:length].decode()) if length else None


def url_end(text, at):
    """Return where a URL ends of which everything before ``at`` is known."""
    end = at
    while end < len(text) and URL_CHARACTER.match(text, end):
        end += 1
    pairs = {")": "(", "]": "[", "}": "{"}
    while end > at:
        tail, last = text[at:end], text[end - 1]
        if last in pairs and tail.count(pairs[last]) >= tail.count(last):
            break
        if last not in pairs and last not in ".,;:!?*":
            break
        end -= 1
    return end


def find_url(text, begin, end):
    """Return the range of the URL that a word begins, or None."""
    if text.startswith("://", end) and len(text) > end + 3:
        scheme = regex.search(r"[A-Za-z][A-Za-z0-9.+\-]*$", text[begin:end])
        tail = url_end(text, end + 3)
        if scheme and tail > end + 3:
            start = begin + scheme.start()
            return (start if text[start - 1 : start] == ":" and start > begin else begin), tail
    elif regex.match(r"(?i)www\..", text[begin:end].encode("ascii", "replace").decode()):
        tail = url_end(text, end)
        if tail > end:
            return begin, tail
    return None


def find_address(text, floor, at):
    """Return the range of the e-mail address round an ``@``, or None."""
    start = at
    while start > floor and (ADDRESS_CHARACTER.match(text, start - 1) or text[start - 1] in "%+."):
        start -= 1
    while start < at and text[start] in "%+-.":
        start += 1
    if start == at or MARK.match(text, start):
        return None
    end = here = at + 1
    labels = 0
    while True:
        label = here
        while here < len(text) and ADDRESS_CHARACTER.match(text, here):
            here += 1
        if here == label:
            break
        labels += 1
        name = text[label:here].rstrip("-")
        if labels > 1 and len(name) > 1 and word_class(name[0]) in LETTERS:
            end = label + len(name)
        if not text.startswith(".", here):
            break
        here += 1
    return (start, end) if end > at + 1 else None


def glued_end(text, at, *, katakana=False):
    """Return where an unbreakable span ends with what belongs to its last character."""
    if CLUSTER.match(text, at - 1).end() > at and regex.match(r"\p{GCB=Prepend}", text[at - 1]):
        return segment_end(text, at, runs=False, katakana=katakana)
    if MARK.match(text, at - 1):
        return segment_end(text, at - 1, runs=False, katakana=katakana)
    # The last character itself counts as no letter; what it may be is a linker.
    if regex.match(r"\p{InCB=Linker}", text[at - 1]):
        return segment_end(text[: at - 1] + ".\u094d" + text[at:], at - 1, runs=False) - 1
    return segment_end(text[: at - 1] + "." + text[at:], at - 1, runs=False)


def split_word(word, language, *, words_only):
    """Return the places in a word at which it falls apart."""
    places, left = [], 0
    if language == "en":
        if words_only:
            return []
        cuts = [m.start() for m in ENGLISH.finditer(word)]
        for place in cuts:
            bare = not regex.match(r"\p{GCB=Prepend}", word[place - 1])
            if place > left and bare:
                places.append(place)
                left = place
        return places
    for match in regex.finditer("['\u2019:]", word):
        at, after = match.span()
        if at <= left or after == len(word):
            continue
        piece, bare = word[left:at], not MARK.match(word, after)
        place = None
        if (match[0] == ":") != (language == "fi"):
            continue
        if language == "ko":
            hangul = regex.match("[\uac00-\ud7a3]", word[after])
            if hangul and not regex.match(r"\p{GCB=Prepend}", word[at - 1]):
                places += [at, after]
                left = after
            continue
        if language in ("fi", "tr"):
            if (language == "fi" or len(piece) > 1) and not regex.match(
                r"\p{GCB=Prepend}", word[at - 1]
            ):
                places.append(at)
                left = at
            continue
        french = regex.fullmatch(r"[cdjlmnstCDJLMNSTçÇ]|(?s:.*[qQ][uU])", piece)
        if bare and (language == "it" or (language == "fr" and french)):
            place = after
        elif language == "ca":
            if bare and regex.fullmatch("[dlmnstDLMNST]", piece):
                place = after
            elif not words_only and regex.fullmatch(
                "(?:ls?|ns?|m|s|t|LS?|NS?|M|S|T|lS|nS|Ls|Ns)", word[after:]
            ):
                place = None if regex.match(r"\p{GCB=Prepend}", word[at - 1]) else at
        if place is not None:
            places.append(place)
            left = place
    return places


def tokens(text, language=None, *, words_only=False):
    """Return the tokens of a text as (start, end), as `find_tokens` should."""
    spans, at, floor, number_end = [], 0, 0, None
    while at < len(text):
        start, kind = at, word_class(text[at])
        if words_only and at == number_end and IN_NUMBER.match(text, at - 1):
            at = number_end = segment_end(text, at + 1, katakana=words_only)
            spans[-1] = (spans[-1][0], at)
            continue
        segment = start
        whole = placeholder_end(text, at)
        if text[at] == "@":
            address = find_address(text, floor, at)
            if address:
                start, whole = address
                spans = [(a, min(b, start)) for a, b in spans if a < start]
        at = segment_end(text, at, katakana=words_only) if whole is None else whole
        if whole is None and kind == "ALetter":
            url = find_url(text, start, at)
            if url:
                if url[0] > start:
                    spans.append((start, url[0]))
                start, at = whole, _ = url
        if whole is not None:
            at = floor = glued_end(text, at, katakana=words_only)
        elif kind == "Numeric":
            number_end = at
        elif kind == "ALetter" and language:
            word = start
            for place in split_word(text[start:at], language, words_only=words_only):
                spans.append((start, word + place))
                start = word + place
        inkless = INKLESS.fullmatch(text, segment, at)
        token = whole is not None or not (inkless or kind in ("Space", "Newline"))
        if token or (words_only and at - start > 1 and kind != "Newline"):
            spans.append((start, at))
    return spans


def joins_number(left, right):
    """Tell whether two adjacent characters are parts of one number, unit or formula."""
    raised, digit = RAISED.match, regex.compile(r"\p{WB=Numeric}").match
    if raised(right) and (raised(left) or JOINABLE.match(left)):
        return True
    if raised(left) and word_class(right) in (*LETTERS, "Numeric"):
        return True
    return all(raised(one) or digit(one) or NUMERAL.match(one) for one in (left, right))


def join_numbers(text, spans):
    """Join touching spans whose characters at the border are parts of one number."""
    joined = []
    for start, end in spans:
        if joined and joined[-1][1] == start and joins_number(text[start - 1], text[start]):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def parts_are_words(text, start, end, language):
    """Tell whether a hyphen is between the parts of a compound that are words of their own."""
    if language not in ("de", "fi", "hu"):
        return False
    left = LAST_PART.search(text[:start])[0]
    right = FIRST_PART.match(text[end:])[0]
    letters = [len(LETTERS_OF_PART.findall(part)) for part in (left, right)]
    return letters[0] >= 3 and letters[1] >= (1 if language == "hu" else 3)


def join_hyphens(text, spans, language=None):
    """Join spans with the hyphens at them, where a letter or a digit adjoins."""
    joined = []
    before = False  # the span before is a hyphen that the next one belongs to
    for start, end in spans:
        hyphen = text[start:end] in HYPHENS and not parts_are_words(text, start, end, language)
        left = hyphen and bool(JOINABLE.match(text[start - 1 : start]))
        touches = bool(joined) and joined[-1][1] == start
        if touches and (left or before):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
        before = hyphen and bool(JOINABLE.match(text[end : end + 1]))
    return joined


def unbroken(text, language=None):
    """Return the spans that no tag may split."""
    spans = tokens(text, language, words_only=True)
    if language in (None, "ko"):
        spans = slow_korean.split(text, spans, endings())
    return join_hyphens(text, join_numbers(text, spans), language)


_LETTER = r"[[\p{L}\p{N}]--[\p{WB=Extend}\p{WB=Format}\p{WB=ZWJ}\p{GCB=SpacingMark}\p{WB=Numeric}]]"
_UNSPACED = {
    3.5: "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\ua9e0-\ua9ff\uaa60-\uaa7f",
    1.5: "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
    3.0: "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f",
}


def words(text, tokens):
    """Return the words of a text with so many tokens, as far as a ratio of lengths counts them."""
    letters = regex.findall(_LETTER, text, regex.V1)
    count = float(tokens)
    for size, blocks in sorted(_UNSPACED.items(), key=lambda each: [3.5, 1.5, 3.0].index(each[0])):
        count -= sum(bool(regex.match(f"[{blocks}]", each)) for each in letters) * (size - 1) / size
    return max(1.0, count) if tokens else 0.0
