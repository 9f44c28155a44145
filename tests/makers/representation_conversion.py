"""Texts turned from one representation into another, and back without loss."""

import dataclasses

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.markup.markup import Form, Kind, Marked, Tag
from pairweave.transforms.markup.tag_table import (
    LITERAL,
    Entry,
    Mark,
    TagTable,
    mark_of,
    numbered_tag,
)
from pairweave.transforms.symbols.representations import shield


def convert(string: str, table: TagTable, before, after) -> tuple[str, TagTable]:
    """Turn a text from one representation into another.

    Converting back gives the same text and the same table, if the text was encoded in the first
    representation. The table changes only where text looks like a symbol of one of them.

    Args:
        string: The text.
        table: Its table.
        before: How its tags are represented.
        after: How they are to be.

    Raises:
        ConfigError: The text has a tag that its table does not know.
    """
    numbered = before.read(string, table)
    for tag in numbered.tags:
        if not tag.key:
            raise ConfigError(f"the table does not know {tag.raw!r} in {string[:200]!r}")
    literals = any(entry.name == LITERAL for entry in table.entries.values())
    if literals or table.literals or after.pattern().search(numbered.text):
        numbered, table = _shield_anew(numbered, table, after)
    return str(after.write(numbered, table)), table


def _shield_anew(numbered: Marked, table: TagTable, after) -> tuple[Marked, TagTable]:
    """Turn literals into text and text into literals, as another representation needs it.

    The literals that a text was encoded with keep their numbers, for the way back. Those of any
    other representation get numbers behind all others.
    """
    pattern = after.pattern()
    plain = frozenset(
        number for number, raw in table.literals.items() if not pattern.fullmatch(raw)
    )
    added = {
        number
        for number, entry in table.entries.items()
        if entry.name == LITERAL and number not in table.literals
    }
    entries = {number: entry for number, entry in table.entries.items() if number not in added}
    order = [mark for mark in table.order if mark.number not in added]
    shielded = shield(_melt(numbered, table, added | plain), after)
    waiting = sorted((table.plain - plain) & entries.keys())
    first = following = max((mark.number for mark in order), default=-1) + 1
    tags = []
    for tag in shielded.tags:
        if tag.name != LITERAL:
            tags.append(tag)
            continue
        number = next((number for number in waiting if table.literals[number] == tag.raw), None)
        if number is None:
            number = following
            following += 1
            entries[number] = Entry(Form.SELF_CLOSING, LITERAL, tag.raw, None)
            order.append(Mark(Kind.EMPTY, number))
        else:
            waiting.remove(number)
        tags.append(numbered_tag(Kind.EMPTY, number, tag.offset))
    own = [mark for mark in table.own if mark.number not in added]
    if own:
        own += (mark_of(tag) for tag in tags if int(tag.key) >= first)
    made = TagTable(dict(sorted(entries.items())), tuple(order), table.literals, plain, tuple(own))
    return Marked(shielded.text, tuple(tags)), made


def _melt(numbered: Marked, table: TagTable, numbers) -> Marked:
    """Turn some empty tags into text."""
    texts: list[str] = []
    tags: list[Tag] = []
    length = done = 0
    for tag in numbered.tags:
        texts.append(numbered.text[done : tag.offset])
        length += tag.offset - done
        done = tag.offset
        literal = table.entries[int(tag.key)].opening if int(tag.key) in numbers else None
        if literal is None:
            tags.append(dataclasses.replace(tag, offset=length))
        else:
            texts.append(literal)
            length += len(literal)
    texts.append(numbered.text[done:])
    return Marked("".join(texts), tuple(tags))
