"""The tagged texts that a profile of tags is learned from: lines, or LXM JSON."""

from collections.abc import Mapping

import orjson

from pairweave.transforms.errors import InputError
from pairweave.transforms.storage import text_lines
from pairweave.transforms.storage.byte_streams import BYTE_ORDER_MARK


def read_texts(path: str) -> Mapping[str, str]:
    """Return the lines of a text file by number, or the texts of an LXM JSON file by id.

    Raises:
        InputError: The file is not UTF-8, or not LXM JSON.
    """
    if path.endswith(".json"):
        data = b"".join(text_lines.read_blocks(path)).removeprefix(BYTE_ORDER_MARK)
        return _read_json(data, path)
    return {str(number): text for number, text in enumerate(text_lines.read_text_lines(path), 1)}


def _read_json(data: bytes, path: str) -> Mapping[str, str]:
    try:
        texts = orjson.loads(data)["text"]
        if not all(isinstance(text, str) for text in texts.values()):
            raise TypeError("a text is not a string")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            "bad_json", path, f"expected LXM JSON with texts by id under 'text': {error}"
        ) from error
    return texts


def translations_of(sources: Mapping[str, str], source: str, target: str) -> list[str]:
    """Return the texts of a file in the order of the texts of its source.

    Args:
        sources: The texts of the source (`read_texts`).
        source: Its file, for messages.
        target: The file of the translations.

    Raises:
        InputError: A text is in only one of the files (``line_count_mismatch``), or the file cannot
            be read.
    """
    targets = read_texts(target)
    if targets.keys() != sources.keys():
        odd = min(targets.keys() ^ sources.keys(), key=lambda key: (len(key), key))
        raise InputError(
            "line_count_mismatch",
            target,
            f"has {len(targets)} texts, {source} has {len(sources)}; {odd} is in only one of them",
        )
    return [targets[key] for key in sources]
