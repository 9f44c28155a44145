"""A list of pairs to take down: ids and texts."""

import contextlib
import dataclasses
import re
from collections.abc import Mapping

import orjson

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.storage.text_lines import read_text_lines

_JSON_LINES = re.compile(r"\.jsonl(\.gz|\.zst)?$", re.IGNORECASE)
_ID = re.compile(r"[0-9a-f]{32}", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class TakedownList:
    """The pairs that a file names to be taken down.

    Attributes:
        ids: Ids in lower case, each with the first line (from 1) that contains it.
        texts: Texts, each with the first line (from 1) that contains it.
    """

    ids: Mapping[str, int]
    texts: Mapping[str, int]


def read_list(path: str) -> TakedownList:
    """Read a list with an id or a text on each line; empty lines are ignored.

    In a list whose name ends in ``.jsonl`` (``.gz`` or ``.zst`` may follow), a line is a JSON
    object with ``id`` or ``text``, so that a text may contain line ends or look like an id.

    Raises:
        ConfigError: The list is empty.
        InputError: The file cannot be read, or a line is invalid.
    """
    ids: dict[str, int] = {}
    texts: dict[str, int] = {}
    is_json = _JSON_LINES.search(path) is not None
    for number, line in enumerate(read_text_lines(path), 1):
        if not line.strip():
            continue
        text, is_id = _from_json(path, number, line) if is_json else _from_line(line)
        if is_id:
            ids.setdefault(text.lower(), number)
        else:
            texts.setdefault(text, number)
    if not ids and not texts:
        raise ConfigError(f"{path}: is empty; give one id or text per line")
    return TakedownList(ids, texts)


def _from_line(line: str) -> tuple[str, bool]:
    """Return the id or text on a line, and whether it is an id."""
    text = line.strip()
    return text, _ID.fullmatch(text) is not None


def _from_json(path: str, number: int, line: str) -> tuple[str, bool]:
    """Return the id or text on a line of JSON, and whether it is an id."""
    with contextlib.suppress(orjson.JSONDecodeError):
        match orjson.loads(line):
            case {"id": str(text), **rest} if not rest and _ID.fullmatch(text):
                return text, True
            case {"text": str(text), **rest} if not rest and text.strip():
                return text.strip(), False
    raise InputError(
        "bad_takedown",
        path,
        'expected a JSON object with an id or a text, such as {"text": "One line\\nanother"} or '
        '{"id": "<32 hexadecimal digits>"}',
        number,
    )
