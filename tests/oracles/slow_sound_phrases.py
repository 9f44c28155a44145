# ruff: noqa: RUF001 - marks that look alike are meant
"""The slow twin of `transforms.tags.sound_phrases`: one phrase pair at a time, on strings."""

import functools

import regex

QUOTES = "\"“”„‟«»‹›「」『』《》〈〉＂'‘’‚‛"
SINGLE = "'‘’‚‛"
KINDS = ["(（", ")）", "[［", "]］", "{｛", "}｝"]
OTHERS = [".．。｡।۔։။።។៕", "?？؟፧", "!！", "…⋯", ",，،、､၊፣", ";；؛፤", ":：፥"]
WORDS = "%‰‱٪％&＆@＠#＃§_"
FAMILIES = [
    *(("(（", ")）"), ("[［", "]］"), ("{｛", "}｝"), ("「", "」"), ("『", "』"), ("《", "》")),
    *(("〈", "〉"), ("【", "】")),
    *((marks, marks) for marks in ('"“”„‟＂', "«»", "‹›", SINGLE)),
]
INVISIBLE = r"\p{Default_Ignorable_Code_Point}"
WIDE = "。．｡।۔։။።។៕？！؟፧"
DEPTH = 32
PARTICLES = {*"がでとにのはへもを", "から", "まで", "より"}
UNSPACED = (
    r"[\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f\u3400-\u9fff\uf900-\ufaff"
    r"\U00020000-\U0003ffff\ua9e0-\ua9ff\uaa60-\uaa7f]"
)


@functools.cache
def is_word(letter):
    """Tell whether a character is a letter or a digit."""
    return regex.fullmatch(r"[\p{L}\p{N}]", letter) is not None


@functools.cache
def category_of(letter):
    """Return the general category of a character that is punctuation or cased, or None."""
    for category in ("Ps", "Pe", "Pd", "Ll", "Lu", "Lt", "Nd", "P"):
        if regex.fullmatch(rf"\p{{{category}}}", letter):
            return category
    return None


@functools.cache
def mark_of(letter):
    """Return what a mark is, in any language; None if it is none, or stands for a word."""
    category = category_of(letter)
    named = [marks for marks in (*KINDS, *OTHERS) if letter in marks]
    if named:  # one of them, the ellipsis between other signs, is a mathematical sign
        return named[0]
    if letter in WORDS or category not in ("Ps", "Pe", "Pd", "P"):
        return None
    if letter in QUOTES:
        return "quote"
    return category if category in ("Ps", "Pe", "Pd") else "other"


def shown(token):
    """Return a token without invisible characters at its edges, if any other is left."""
    return regex.sub(rf"^{INVISIBLE}+(?!{INVISIBLE}|$)|(?<!^|{INVISIBLE}){INVISIBLE}+$", "", token)


def edge_of(token, *, last):
    """Return the mark that a token begins or ends with; None for none."""
    token = shown(token)
    if not token:
        return None
    letter = token[-1 if last else 0]
    mark = mark_of(letter)
    if any(map(is_word, token)):
        inner = (OTHERS[0], OTHERS[3], "Pd", "other")
        return None if letter in SINGLE or mark in inner else mark
    return OTHERS[3] if len(token) > 1 and mark == OTHERS[0] else mark


def enclosures(text, tokens):
    """Return the (first, last) token of what marks of different tokens enclose."""
    opened, enclosed = [], []
    for place, letter in enumerate(text):
        inside = [number for number, (start, end) in enumerate(tokens) if start <= place < end]
        families = [
            (number, letter in opening, letter in closing)
            for number, (opening, closing) in enumerate(FAMILIES)
            if letter in opening + closing
        ]
        if not inside or not families:
            continue
        ((family, opens, closes),) = families
        if letter in SINGLE:
            opens = opens and not (place and is_word(text[place - 1]))
            closes = closes and not (place + 1 < len(text) and is_word(text[place + 1]))
        same = [level for level, (other, _) in enumerate(opened) if other == family]
        if closes and same:
            token = opened[same[-1]][1]
            del opened[same[-1] :]
            if token != inside[0]:
                enclosed.append((token, inside[0]))
        elif opens and len(opened) < DEPTH:
            opened.append((family, inside[0]))
    return enclosed


def may_end(text, start, end):
    """Tell whether a sentence may end with a token, by the text before its end."""
    token = shown(text[start:end])
    mark = mark_of(token[-1])
    if mark in OTHERS[1:3] or (mark == OTHERS[0] and token[-1] in WIDE):
        return True
    if mark != OTHERS[0]:
        return False
    if any(map(is_word, token)):
        return len(token) > 4
    if len(token) > 1:
        return False
    before = []
    while len(before) < start and is_word(text[start - 1 - len(before)]):
        before.append(text[start - 1 - len(before)])
    large = bool(before) and category_of(before[-1]) in ("Lu", "Lt", "Nd")
    return not (len(before) == 1 or (len(before) <= 3 and large))


def sentences(text, tokens):
    """Return how many sentences have begun with each token, not counting the first."""
    begun, count, stop, before_end = [], 0, None, None
    closing = "".join(marks for _, marks in FAMILIES)
    for start, end in tokens:
        token = shown(text[start:end])
        if not token:
            begun.append(count)
            continue
        closes = token[0] in closing and not any(map(is_word, token)) and start == before_end
        if stop is not None and not closes:
            small = category_of(token[0]) == "Ll"
            count += stop in WIDE or (start > before_end and not small)
            stop = None
        begun.append(count)
        if stop is None and may_end(text, start, end):
            stop = token[-1]
        before_end = end
    return begun


def is_attached(text, tokens, number):
    """Tell whether a token is attached to the one before it, and so begins no tag."""
    start, end = tokens[number]
    token = shown(text[start:end])
    earlier = [other for other in range(number) if tokens[other][0] < tokens[other][1]]
    if not token or not any(map(is_word, token)) or not earlier or tokens[earlier[-1]][1] != start:
        return False
    before = shown(text[slice(*tokens[earlier[-1]])])[-1]
    closes = earlier[-1] in {closing for _, closing in enclosures(text, tokens)}
    hiragana = r"[\u3041-\u309f]"
    if not is_word(token[0]):
        return is_word(before) and (token[0] in SINGLE or token[0] in OTHERS[6])
    if regex.match(hiragana, token):
        if regex.match(hiragana, before) and is_word(before):
            return token in PARTICLES
        return is_word(before) or closes
    if regex.match(UNSPACED, token):
        return False
    return (is_word(before) and not regex.match(UNSPACED, before)) or closes


def settled_borders(links, lengths, box):
    """Return how many borders of a phrase pair a link beside it settles."""
    above, below, left, right = box[0] - 1, box[1], box[2] - 1, box[3]
    links = {*links, (-1, -1), tuple(lengths)}
    return ({(above, left), (below, left)} & links != set()) + (
        {(above, right), (below, right)} & links != set()
    )


def weight_of(pair, box):
    """Return the weight of a phrase pair of a PHRASES row, 0 to 50; None if it is left out."""
    begin, end, other_begin, other_end = box
    edges = []
    for side, first, behind in (("source", begin, end), ("target", other_begin, other_end)):
        text = pair[side]
        tokens = [(token["start"], token["end"]) for token in pair[f"{side}_tokens"]]
        words = [text[start:stop] for start, stop in tokens]
        edges.append((edge_of(words[first], last=False), edge_of(words[behind - 1], last=True)))
        if is_attached(text, tokens, first):
            return None
        begun = sentences(text, tokens)
        if begun[first] != begun[behind - 1]:
            return None
        inside = range(first, behind)
        if any((one in inside) != (other in inside) for one, other in enclosures(text, tokens)):
            return None
    if edges[0] != edges[1]:
        return None
    links = [(link["source"], link["target"]) for link in pair["links"]]
    lengths = len(pair["source_tokens"]), len(pair["target_tokens"])
    return (0, 1, 50)[settled_borders(links, lengths, box)]
