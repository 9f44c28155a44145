"""The files of a corpus without options: which of them have both sides, and what others are."""

from collections.abc import Collection, Sequence
from pathlib import Path, PurePath

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.formats import registry
from pairweave.transforms.reading.json_documents import AS_JSON_LINES, IS_JSON, are_json_lines
from pairweave.transforms.reading.known_content import HEAD_BYTES, known_content
from pairweave.transforms.storage.byte_streams import compression_of, without_compression
from pairweave.transforms.storage.files import is_uri, open_read
from pairweave.transforms.storage.hub_places import is_data_set


def pair_files(paths: Sequence[str], form: str | None = None) -> tuple[tuple[str, ...], ...]:
    """Divide files into files with both sides, source files, and target files.

    Args:
        paths: The files; two files of text are the sides of a corpus.
        form: Their format, if it is given.

    Raises:
        ConfigError: The role of the files is unclear.
    """
    known = [path for path in paths if is_data_set(path) or ending(path) in registry.extensions()]
    sides = form is not None and registry.input_format(form).sides
    if paths and not sides and (len(known) == len(paths) or form is not None):
        return tuple(paths), (), ()
    if (known and not sides) or len(paths) != 2:
        raise _no_corpus(paths, known)
    return (), (paths[0],), (paths[1],)


def _no_corpus(paths: Sequence[str], known: Collection[str]) -> ConfigError:
    """Return the error about files that form no corpus; it names the first without a known format.

    Args:
        paths: The files as the user named them.
        known: The files in a format with both sides.
    """
    unknown = [path for path in paths if path not in known]
    unknown.sort(key=lambda path: _content(path) is None)  # a file that can be read is not named
    which = f"{unknown[0]}: {_what_it_is(unknown[0])}; " if unknown else ""
    return ConfigError(
        f"{which}give files with both sides of each pair ({' '.join(registry.extensions())}), or "
        "two files of text, the source and its translation line by line"
    )


def _what_it_is(path: str) -> str:
    if not is_uri(path) and Path(path).is_dir():
        return "is a directory"
    if not is_uri(path) and not Path(path).exists():
        return "no such file"
    content = _content(path)
    if content is not None:
        return f"is {content}"
    if ending(path) == ".json":
        return IS_JSON
    return "its name does not tell its format (--format does), and text needs its translation"


def _content(path: str) -> str | None:
    """Return the kind of a file on a disk, if its first bytes show that it is not text."""
    if is_uri(path) or not Path(path).is_file():
        return None
    try:
        with open_read(path) as file:
            head = file.read(HEAD_BYTES)
    except OSError:  # the reader of the file will report the error
        return None
    if compression_of(path) != "none":
        return None
    known = known_content(head)
    if known is None:
        return AS_JSON_LINES if are_json_lines(head) else None
    return known[1]


def ending(path: str) -> str:
    """Return the ending of a file's name that may name its format, in lower case.

    >>> [ending(name) for name in ("a.tsv", "a.CSV.GZ", "a.zip.en", "a")]
    ['.tsv', '.csv', '.en', '']
    """
    return PurePath(without_compression(path.lower())).suffix
