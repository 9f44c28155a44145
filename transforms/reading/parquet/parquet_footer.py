"""Find encryption in a Parquet footer without decoding column metadata.

Arrow's C++ code aborts the process when the metadata of an encrypted column is requested. The
footer is a ``FileMetaData`` of the Parquet format in Thrift's compact protocol, which this module
walks; both are specified by their projects (parquet-format, ``parquet.thrift``; Thrift,
``thrift-compact-protocol.md``).
"""

from collections.abc import Callable, Iterator

_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_ROW_GROUPS = 4  # of FileMetaData
_COLUMNS = 1  # of RowGroup
_META_DATA, _CRYPTO_METADATA, _ENCRYPTED_METADATA = 3, 8, 9  # of ColumnChunk


def encrypted_columns(footer: bytes) -> frozenset[int]:
    """Return the columns of a file, from 0, that cannot be read without a key.

    Args:
        footer: The footer, without its length and the magic.

    Raises:
        ValueError: The footer is damaged.
    """
    try:
        return frozenset(_File(footer).encrypted())
    except (IndexError, RecursionError) as error:
        raise ValueError("the footer is not in Thrift's compact protocol") from error


class _File:
    """Walks the structs of a footer."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def encrypted(self) -> Iterator[int]:
        for field, kind in self._fields():
            if field == _ROW_GROUPS and kind == _LIST:
                for _ in range(self._list(_STRUCT)):
                    yield from self._row_group()
            else:
                self._skip(kind)

    def _row_group(self) -> Iterator[int]:
        for field, kind in self._fields():
            if field == _COLUMNS and kind == _LIST:
                for column in range(self._list(_STRUCT)):
                    if self._is_closed():
                        yield column
            else:
                self._skip(kind)

    def _is_closed(self) -> bool:
        """Walk a ColumnChunk and tell whether its metadata is missing or needs a key."""
        fields = set()
        for field, kind in self._fields():
            fields.add(field)
            self._skip(kind)
        return _META_DATA not in fields or bool(fields & {_CRYPTO_METADATA, _ENCRYPTED_METADATA})

    def _fields(self) -> Iterator[tuple[int, int]]:
        """Yield number and type of each field of a struct; the caller walks its value."""
        field = 0
        while header := self._byte():
            if step := header >> 4:
                field += step
            else:
                zigzag = self._varint()
                field = (zigzag >> 1) ^ -(zigzag & 1)
            yield field, header & 0x0F

    def _skip(self, kind: int) -> None:
        if kind in (_TRUE, _FALSE):
            return
        if kind not in _SKIPS:
            raise ValueError(f"the footer holds a value of the unknown type {kind}")
        _SKIPS[kind](self)

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 63:
                raise ValueError("the footer holds a number of more than 64 bits")

    def _list(self, wanted: int) -> int:
        """Read the head of a list of items of one type; return their number."""
        size, kind = self._list_head()
        if kind != wanted:
            raise ValueError(f"the footer holds a list of type {kind}, expected {wanted}")
        return size

    def _list_head(self) -> tuple[int, int]:
        head = self._byte()
        size = head >> 4
        return (self._varint() if size == 15 else size), head & 0x0F

    def _skip_list(self) -> None:
        size, kind = self._list_head()
        for _ in range(size):
            self._skip_item(kind)

    def _skip_map(self) -> None:
        size = self._varint()
        kinds = self._byte() if size else 0
        for _ in range(size):
            self._skip_item(kinds >> 4)
            self._skip_item(kinds & 0x0F)

    def _skip_item(self, kind: int) -> None:
        """Skip an item of a list or map, where a truth value takes a byte."""
        self._skip(_BYTE if kind in (_TRUE, _FALSE) else kind)

    def _skip_binary(self) -> None:
        size = self._varint()
        self._at += size

    def _skip_struct(self) -> None:
        for _, kind in self._fields():
            self._skip(kind)

    def _skip_double(self) -> None:
        self._at += 8


_SKIPS: dict[int, Callable[[_File], object]] = {
    _BYTE: _File._byte,
    _I16: _File._varint,
    _I32: _File._varint,
    _I64: _File._varint,
    _DOUBLE: _File._skip_double,
    _BINARY: _File._skip_binary,
    _LIST: _File._skip_list,
    _SET: _File._skip_list,
    _MAP: _File._skip_map,
    _STRUCT: _File._skip_struct,
}
