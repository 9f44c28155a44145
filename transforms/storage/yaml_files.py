"""Strict reading of YAML: files of options, and options that are blocks."""

import re
from collections.abc import Hashable
from pathlib import Path
from typing import cast

import yaml

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import files
from pairweave.transforms.storage.disk_files import is_uri

_MERGE = "tag:yaml.org,2002:merge"

_NUMBERS = {"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"}

_OTHER_BASE = re.compile(r"[-+]?0[0-7_]*[1-7][0-7_]*|[-+]?[0-9_]+(:[0-9_.]+)+")

_LONGEST = 60

_pipes: dict[tuple[int, int], bytes] = {}
"""What was read from pipes, which give their content once, by their device and number."""

MAX_VALUES = 100_000
"""Maximum number of keys and values: a few lines of nested aliases can stand for billions."""


def read_yaml(path: str) -> object:
    """Read a YAML file, or a pipe, which can be read as often as a file.

    Raises:
        ConfigError: It cannot be read, or `parse_yaml` refuses its content; the message begins with
            the path.
    """
    try:
        return parse_yaml(_content(path))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def _content(path: str) -> bytes:
    """Return the content of a file or a pipe.

    Raises:
        OSError: It cannot be read.
    """
    if is_uri(path) or not Path(path).is_fifo():
        return files.read_bytes(path)
    status = Path(path).stat()
    pipe = status.st_dev, status.st_ino
    if pipe not in _pipes:
        _pipes[pipe] = files.read_bytes(path)
    return _pipes[pipe]


def parse_yaml(text: bytes | str) -> object:
    """Return the value of a YAML document; None if it is empty.

    Raises:
        ConfigError: It is not valid YAML, repeats a key, contains text that is not Unicode or has
            NUL, or numbers to base 8 or 60, nests maps and lists too deeply, or multiplies them by
            aliases.
    """
    try:
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            if node is None:
                return None
            loader.check(node, {})
            return cast("object", loader.construct_document(node))
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise ConfigError(f"not valid YAML: {_fault(error)}") from error
    except RecursionError as error:
        raise ConfigError(
            "its lists and maps are nested too deeply; options need two levels"
        ) from error


def _fault(error: yaml.YAMLError) -> str:
    """Return the fault of a document, with its line."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        fault = ": ".join(part for part in (error.context, error.problem) if part)
        return f"{fault}, in line {mark.line + 1}, column {mark.column + 1}"
    if isinstance(error, yaml.reader.ReaderError):
        return f"{str(error).splitlines()[0]}, at position {error.position}"
    return " ".join(str(error).split())


class _Loader(yaml.SafeLoader):
    """A safe loader that first checks a document, and names a value that it cannot read."""

    def check(self, node: yaml.Node, sizes: dict[yaml.Node, int]) -> int:
        """Refuse constructs that YAML permits and options do not.

        Args:
            node: The document, or a part of it.
            sizes: For each checked part, the number of keys and values that it stands for.

        Returns:
            The number for this part.

        Raises:
            ConfigError: See `parse_yaml`.
            RecursionError: A part contains itself, or parts are nested too deeply.
        """
        if node in sizes:
            return sizes[node]
        parts: list[yaml.Node] = []
        if isinstance(node, yaml.ScalarNode):
            _check_text(node)
            self._check_number(node)
        elif isinstance(node, yaml.MappingNode):
            self._check_distinct(node)
            parts = [part for pair in node.value for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            parts = node.value
        sizes[node] = size = 1 + sum(self.check(part, sizes) for part in parts)
        if size > MAX_VALUES:
            raise ConfigError(
                f"has more than {MAX_VALUES:,} keys and values once its aliases are filled in"
            )
        return size

    def _check_distinct(self, node: yaml.MappingNode) -> None:
        """Refuse a key that is given twice; YAML itself would take the last one."""
        first: dict[Hashable, yaml.ScalarNode] = {}
        for key_node, _ in node.value:
            if key_node.tag == _MERGE or not isinstance(key_node, yaml.ScalarNode):
                continue
            _check_text(key_node)
            before = first.setdefault(self.construct_object(key_node), key_node)
            if before is not key_node:
                same = "" if before.value == key_node.value else f" as {before.value}"
                raise ConfigError(
                    f"{_line(key_node)}: the key {key_node.value} is given twice, first{same} in "
                    f"{_line(before)}; remove one of them"
                )

    def _check_number(self, node: yaml.ScalarNode) -> None:
        """Refuse numbers to base 8 and 60, which look like other numbers: 010 and 1:30."""
        if node.tag in _NUMBERS and node.style is None and _OTHER_BASE.fullmatch(node.value):
            value = self.construct_object(node)
            raise ConfigError(
                f"{_line(node)}: YAML reads {_shown(node.value)} as {value}; write the number "
                "without leading zeros and colons, or put it in quotes if it is text"
            )

    def construct_object(self, node: yaml.Node, deep: bool = False) -> object:  # noqa: FBT001, FBT002 - the library's signature
        """Return the value of a part.

        Raises:
            ConfigError: It does not have the form of its type. Most constructors check nothing, so
                the error is the one that their code raises.
        """
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError, OverflowError) as error:
            kind = node.tag.rpartition(":")[2]
            raise ConfigError(
                f"{_line(node)}: {_shown(str(node.value))} is not a valid {kind}; put it in quotes "
                "if it is text"
            ) from error


def _check_text(node: yaml.ScalarNode) -> None:
    """Refuse text that no option may have."""
    text = node.value
    if "\0" in text:
        raise ConfigError(
            f"{_line(node)}: {_shown(text)} has the character NUL, which neither names nor texts "
            "may have; remove it"
        )
    if any(0xD800 <= ord(mark) < 0xE000 for mark in text):
        raise ConfigError(
            f"{_line(node)}: {_shown(text)} is not valid Unicode, it contains half of a surrogate "
            "pair; write the character itself"
        )


def _shown(text: str) -> str:
    return ascii(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}...")


def _line(node: yaml.Node) -> str:
    return f"line {node.start_mark.line + 1}"
