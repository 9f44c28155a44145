"""Whole text files as lines, plain or compressed."""

from collections.abc import Iterator

from pairweave.transforms import files
from pairweave.transforms.errors import InputError
from pairweave.transforms.read.streams import decompress, stored_chunks
from pairweave.transforms.units import ReadLimits

_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
_CHUNK_BYTES = 1 << 20


def read_text_lines(path: str) -> Iterator[str]:
    """Yield a file's lines without their line feeds; a last line may lack its own.

    Raises:
        InputError: The file is not there (``no_match``), is no UTF-8 (``invalid_utf8``), or is
            damaged (see `transforms.read.streams.decompress`).
    """
    if not files.exists(path):
        raise InputError("no_match", path, "no such file")
    compression = _COMPRESSIONS.get(path[path.rfind(".") :], "none")
    stored = stored_chunks(path, 0, None, _CHUNK_BYTES)
    number = 1
    rest = b""
    for chunk in decompress(stored, compression, path, ReadLimits()):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield decode_line(line, path, number)
            number += 1
    if rest:
        yield decode_line(rest, path, number)


def decode_line(line: bytes, path: str, number: int) -> str:
    """Decode one line of a file.

    Raises:
        InputError: It is no UTF-8 (``invalid_utf8``); names the line.
    """
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise InputError(
            "invalid_utf8",
            path,
            f"line {number}: byte {error.start} is not UTF-8; give the file as UTF-8 text",
        ) from error
