"""Strict reading of YAML configurations."""

import itertools
from collections.abc import Iterator
from typing import Any

import yaml

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import files

_MERGE = "tag:yaml.org,2002:merge"

MOST_TEXTS = 100_000
"""Texts of a file at most: a few lines of aliases of aliases stand for billions."""


class _Loader(yaml.SafeLoader):
    """A safe loader that refuses a key given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - the library's signature
        """Return a map, after checking that its keys are distinct."""
        lines: dict[object, int] = {}
        for key_node, _ in node.value:
            if key_node.tag == _MERGE or not isinstance(key_node, yaml.ScalarNode):
                continue
            key, line = self.construct_object(key_node), key_node.start_mark.line + 1
            if key in lines:
                raise ConfigError(
                    f"line {line}: the key {key} is given twice, first in line {lines[key]}; "
                    "remove one of them"
                )
            lines[key] = line
        return super().construct_mapping(node, deep)


def read_yaml(path: str) -> object:
    """Read a YAML file.

    Raises:
        ConfigError: It cannot be read, is not valid YAML, repeats a key, contains text that is not
            Unicode, nests maps and lists too deeply, or multiplies them by aliases.
    """
    try:
        data = files.read_bytes(path)
        value = yaml.load(data, _Loader)
        texts = list(itertools.islice(_texts(value), MOST_TEXTS + 1))
        bad = next((text for text in texts if not _is_unicode(text)), None)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from error
    except RecursionError as error:
        raise ConfigError(
            f"{path}: its lists and maps are nested too deeply; options need two levels"
        ) from error
    if len(texts) > MOST_TEXTS:
        raise ConfigError(
            f"{path}: has more than {MOST_TEXTS:,} keys and values once its aliases are filled in"
        )
    if bad is not None:
        shown = ascii(bad)
        raise ConfigError(
            f"{path}: {shown} is not valid Unicode, it contains half of a surrogate pair; write "
            "the character itself"
        )
    return value


def _texts(value: object) -> Iterator[str]:
    """Yield all texts of a value, including keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(key)
            yield from _texts(item)
    elif isinstance(value, list | tuple | set):
        for item in value:
            yield from _texts(item)


def _is_unicode(text: str) -> bool:
    return not any(0xD800 <= ord(mark) < 0xE000 for mark in text)
