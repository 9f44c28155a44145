"""JSON documents damaged field by field."""

import copy
import json
from collections.abc import Iterator

WRONG = {
    bool: ["yes", 7],
    int: ["7", -1, 1.5, None],
    float: ["7", [1.0]],
    str: [7, None, ["a"]],
    list: ["a", {"a": 1}, 7],
    dict: ["a", [1], 7],
    type(None): [["a"], {"a": 1}],
}
"""By the type of a value: values of other types, or outside its limits."""


def fields(value, deepest=4, place=()) -> Iterator[tuple]:
    """Yield the place of every field of a document, of lists only their first and last entries."""
    if len(place) == deepest:
        return
    if isinstance(value, dict):
        for name, field in value.items():
            yield (*place, name)
            yield from fields(field, deepest, (*place, name))
    elif isinstance(value, list):
        for number in sorted({0, len(value) - 1} if value else ()):
            yield (*place, number)
            yield from fields(value[number], deepest, (*place, number))


def damaged(document, deepest=4) -> Iterator[tuple[str, dict]]:
    """Yield the document with one field of a wrong type, or without it, and that field's name."""
    for place in fields(document, deepest):
        name = ".".join(map(str, place))
        for wrong in WRONG[type(_at(document, place))]:
            changed = copy.deepcopy(document)
            _at(changed, place[:-1])[place[-1]] = wrong
            yield f"{name} = {json.dumps(wrong)}", changed
        changed = copy.deepcopy(document)
        del _at(changed, place[:-1])[place[-1]]
        yield f"{name} left out", changed


def texts(document) -> Iterator[tuple[str, bytes]]:
    """Yield the bytes of files that are no whole JSON object, and what is wrong with them."""
    whole = json.dumps(document).encode()
    yield "empty", b""
    yield "cut", whole[: len(whole) // 2]
    yield "not UTF-8", b"\xff" + whole
    for other in (b"[]", b"null", b"7", b'"text"'):
        yield f"{other.decode()} alone", other


def _at(document, place):
    for name in place:
        document = document[name]
    return document
