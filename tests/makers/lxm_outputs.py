"""Outputs of a poor system: references of the online-help corpus, spoilt by rule and id."""

import hashlib
import json
import re

TAG = re.compile(r"</?[a-z]+>")
NAMES = ("ph", "xref", "uicontrol", "b", "i", "codeph")
WHOLE_LINES = 60


def spoilt_corpus(path, count=200):
    """Return the ids, references and outputs of some lines, most of them with tags."""
    document = json.loads(path.read_text(encoding="utf-8"))
    texts = document["text"]
    tagged = [key for key in texts if TAG.search(texts[key])]
    plain = [key for key in texts if not TAG.search(texts[key])]
    keys = tagged[: count - WHOLE_LINES] + plain[:WHOLE_LINES]
    return {key: texts[key] for key in keys}, {key: spoil(key, texts[key]) for key in keys}


def spoil(key, text):
    """Spoil a text; what is done depends on its id alone."""
    digits = iter(hashlib.sha256(key.encode()).digest())
    for _ in range(next(digits) % 3):
        text = RULES[next(digits) % len(RULES)](text, next(digits))
    return text


def _tags(text):
    return list(TAG.finditer(text))


def _keep(text, _number):
    return text


def _drop_word(text, number):
    words = text.split(" ")
    del words[number % len(words)]
    return " ".join(words)


def _swap_words(text, number):
    words = text.split(" ")
    place = number % len(words)
    words[place], words[place - 1] = words[place - 1], words[place]
    return " ".join(words)


def _drop_tag(text, number):
    tags = _tags(text)
    if not tags:
        return text
    tag = tags[number % len(tags)]
    return text[: tag.start()] + text[tag.end() :]


def _drop_pair(text, number):
    names = sorted({tag[0].strip("</>") for tag in _tags(text)})
    if not names:
        return text
    return re.sub(f"</?{names[number % len(names)]}>", "", text)


def _rename(text, number):
    tags = _tags(text)
    if not tags:
        return text
    old = tags[number % len(tags)][0].strip("</>")
    return re.sub(f"(</?){old}>", rf"\g<1>{NAMES[number % len(NAMES)]}>", text, count=2)


def _add_pair(text, number):
    words = text.split(" ")
    place = number % len(words)
    name = NAMES[number % len(NAMES)]
    words[place] = f"<{name}>{words[place]}</{name}>"
    return " ".join(words)


def _move_tag(text, number):
    tags = _tags(text)
    if not tags:
        return text
    tag = tags[number % len(tags)]
    rest = text[: tag.start()] + text[tag.end() :]
    place = number % (len(rest) + 1)
    return rest[:place] + tag[0] + rest[place:]


def _mutilate(text, number):
    tags = _tags(text)
    if not tags:
        return text
    tag = tags[number % len(tags)]
    piece = (tag[0][1:], tag[0][:-1], tag[0].replace("<", "< "), f"&lt;{tag[0][1:]}")[number % 4]
    return text[: tag.start()] + piece + text[tag.end() :]


def _odd_tag(text, number):
    odd = ("<br/>", "<!-- x -->", "<phh>a</phh>", "<?pi?>", "<a:b/>", "<ph />", '<ph id="1">a</ph>')
    place = number % (len(text) + 1)
    return text[:place] + odd[number % len(odd)] + text[place:]


def _odd_text(text, number):
    odd = (
        " & ",
        " &amp; ",
        " &amp;lt; ",
        " < ",
        "&nbsp;",
        "\u00a0",
        " 5,3 kg... ",
        " ]]> ",
        "\x0b",
    )
    place = number % (len(text) + 1)
    return text[:place] + odd[number % len(odd)] + text[place:]


def _blank_stretch(text, number):
    name = NAMES[number % len(NAMES)]
    return f"{text}<{name}>\u00a0</{name}>"


def _surround(text, _number):
    return f"  {text}\t"


RULES = (
    *(_keep, _drop_word, _swap_words, _drop_word, _swap_words, _drop_tag, _drop_pair, _rename),
    *(_add_pair, _move_tag, _mutilate, _odd_tag, _odd_text, _blank_stretch, _surround),
)
