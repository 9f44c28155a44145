"""The scan of a Parquet file: its schema, its digest, and the bytes of each row group."""

import hashlib
import io
import itertools

import pyarrow as pa
import pyarrow.parquet as pq
import xxhash

from pairweave.transforms.errors import InputError
from pairweave.transforms.reading.given_scores import SCORE
from pairweave.transforms.reading.links_of_rows import LINKS
from pairweave.transforms.reading.parquet.parquet_footer import encrypted_columns
from pairweave.transforms.reading.scan import Cut, Scan, ScanRequest, stored_file
from pairweave.transforms.storage import files
from pairweave.transforms.storage.byte_streams import PLAIN_CHUNK_BYTES, stored_chunks
from pairweave.transforms.units import Columns, CorpusInput, ReadLimits

ORIGIN = ("corpus", "file", "line")
"""The columns of a run's shards that say where a pair was first read."""

_MAGIC = b"PAR1"
_ENCRYPTED_MAGIC = b"PARE"
_TAIL_BYTES = 8  # the footer's length, little-endian, and the magic

Ranges = tuple[tuple[int, int], ...]


def scan_parquet(file: ScanRequest) -> Scan:
    """Scan a Parquet file; a unit is a row group.

    Raises:
        InputError: ``empty_file``, ``parquet_corrupt``, ``missing_column`` or ``expansion_limit``.
    """
    path, name, langs, limits = file.path, file.name, file.langs, file.limits
    metadata, footer, closed = _read_footer(path, name)
    schema = metadata.schema.to_arrow_schema()
    columns = _find_columns(schema, name, file.corpus, langs)
    paths = {".".join(path) for path in field_paths(columns, *langs).values()}
    wanted = [
        index
        for index in range(metadata.num_columns)
        if _is_wanted(metadata.schema.column(index).path, paths)
    ]
    _refuse_encrypted(metadata, closed, wanted, name)
    groups = [
        (group, _ranges(metadata.row_group(group), wanted, footer, name))
        for group in range(metadata.num_row_groups)
        if metadata.row_group(group).num_rows
    ]
    text_bytes = sum(_text_bytes(metadata, group, wanted, name, limits) for group, _ in groups)
    if text_bytes > limits.max_file_bytes:
        raise InputError(
            "expansion_limit",
            name,
            f"holds {text_bytes} bytes of text, more than max_file_bytes {limits.max_file_bytes}; "
            "split the file or raise the limit",
        )
    size, sha256, whole, digests = _digest(path, name, [ranges for _, ranges in groups])
    if size != footer[1]:
        raise InputError("unreadable", name, "has changed while it was read")
    cuts = tuple(
        Cut(ranges, digest, metadata.row_group(group).num_rows, group)
        for (group, ranges), digest in zip(groups, digests, strict=True)
    )
    rows = sum(cut.rows for cut in cuts)
    return Scan(size, sha256, rows, cuts, whole, text_bytes=text_bytes, columns=columns)


def _refuse_encrypted(
    metadata: pq.FileMetaData, closed: frozenset[int], wanted: list[int], name: str
) -> None:
    """Refuse a file if a wanted column is among those that need a key."""
    for index in wanted:
        if index in closed:
            raise InputError(
                "unsupported_format",
                name,
                f"the column {metadata.schema.column(index).path} is encrypted; "
                "write the file again without encryption",
            )


def _text_bytes(
    metadata: pq.FileMetaData, group: int, wanted: list[int], name: str, limits: ReadLimits
) -> int:
    """Return the decompressed size of the wanted columns of a row group.

    Raises:
        InputError: ``expansion_limit``.
    """
    chunks = [metadata.row_group(group).column(index) for index in wanted]
    stored = sum(chunk.total_compressed_size for chunk in chunks)
    text_bytes = sum(chunk.total_uncompressed_size for chunk in chunks)
    if text_bytes > max(limits.expansion_floor_bytes, limits.max_expansion * stored):
        where = f"row group {group}"
        raise expansion_limit(name, where, stored, text_bytes, limits.max_expansion)
    return int(text_bytes)


def expansion_limit(
    name: str, where: str, stored_bytes: int, text_bytes: int, max_expansion: int
) -> InputError:
    """Return the error for a part of a file that expands too much."""
    return InputError(
        "expansion_limit",
        name,
        f"the {stored_bytes} bytes read of {where} hold {text_bytes} bytes of text or more, over "
        f"max_expansion {max_expansion}; raise it if the file is not damaged",
    )


def _corrupt(name: str, message: str) -> InputError:
    return InputError("parquet_corrupt", name, f"{message}; fetch or write the file again")


def _read(path: str, start: int, stop: int) -> bytes:
    return b"".join(stored_chunks(path, start, stop, PLAIN_CHUNK_BYTES))


def _read_footer(path: str, name: str) -> tuple[pq.FileMetaData, tuple[int, int], frozenset[int]]:
    """Return the metadata, the range from footer to end of file, and the encrypted columns."""
    try:
        size = files.size(path)
        if not size:
            raise InputError("empty_file", name, "has zero bytes, which no Parquet file has")
        tail = _read(path, max(0, size - _TAIL_BYTES), size)
        if tail[4:] == _ENCRYPTED_MAGIC:
            message = "is encrypted; write the file again without encryption"
            raise InputError("unsupported_format", name, message)
        if tail[4:] != _MAGIC or size < 2 * len(_MAGIC) + 4:
            raise _corrupt(name, "does not end as a Parquet file does: it is truncated")
        start = size - _TAIL_BYTES - int.from_bytes(tail[:4], "little")
        if start < len(_MAGIC):
            raise _corrupt(name, f"{size} bytes are fewer than its footer says")
        footer = _read(path, start, size)
    except OSError as error:
        reason = error.strerror or error
        raise InputError("unreadable", name, f"cannot be read: {reason}") from error
    try:
        metadata = footer_metadata(footer)
        return metadata, (start, size), encrypted_columns(footer[:-_TAIL_BYTES])
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _corrupt(name, f"the footer is damaged ({error})") from error


def field_paths(columns: Columns, source_lang: str, target_lang: str) -> dict[str, tuple[str, ...]]:
    """Return the locations of each side's text and the score: columns, or fields of columns."""
    others = {} if columns.score is None else {SCORE: (columns.score,)}
    if columns.links is not None:
        others[LINKS] = (columns.links,)
    if columns.origin:
        others |= {name: (name,) for name in ORIGIN}
    if columns.languages_in is not None:
        return {
            "source": (columns.languages_in, source_lang),
            "target": (columns.languages_in, target_lang),
            **others,
        }
    paths: dict[str, tuple[str, ...]] = {
        "source": (columns.source,),
        "target": (columns.target,),
        **others,
    }
    if columns.translation is not None:
        paths["translation"] = (columns.translation,)
    return paths


def is_text(kind: pa.DataType) -> bool:
    """Tell whether a column of this type contains text, plain or dictionary-encoded."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return (
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def is_list_of_links(kind: pa.DataType) -> bool:
    """Tell whether a column of this type contains links in the form of the job ``align``."""
    if not pa.types.is_list(kind) and not pa.types.is_large_list(kind):
        return False
    item = kind.value_type
    if not pa.types.is_struct(item):
        return False
    numbers = {field.name for field in item if pa.types.is_integer(field.type)}
    return {"source", "target"} <= numbers


def footer_metadata(footer: bytes) -> pq.FileMetaData:
    """Parse a file's last bytes: the footer, its length and the closing magic.

    Raises:
        pyarrow.ArrowException: The footer is damaged.
    """
    return pq.read_metadata(io.BytesIO(_MAGIC + footer))


def _find_columns(
    schema: pa.Schema, name: str, corpus: CorpusInput, langs: tuple[str, str]
) -> Columns:
    """Find the wanted columns, or a struct with a text for each language.

    Raises:
        InputError: ``missing_column``, with the wanted and the existing columns.
    """
    source, target = corpus.source_field or "source", corpus.target_field or "target"
    score = corpus.score_field
    if score is not None and (schema.names.count(score) != 1 or not _is_number(schema, score)):
        raise _missing(name, [f"{score}: a number"], schema)
    links = corpus.links_field
    if links is not None and (schema.names.count(links) != 1 or not _has_links(schema, links)):
        raise _missing(name, [f"{links}: string, or list<struct<source, target>>"], schema)
    default = corpus.source_field is None and corpus.target_field is None
    if default and not {source, target} & set(schema.names) and "translation" in schema.names:
        kind = schema.field("translation").type
        if pa.types.is_struct(kind):
            columns = Columns(
                "source", "target", score=score, links=links, languages_in="translation"
            )
            fields = {field.name: field.type for field in kind}
            if all(lang in fields and is_text(fields[lang]) for lang in langs):
                return columns
            raise _missing(name, [f"translation.{lang}: string" for lang in langs], schema)
    origin = corpus.run is not None
    if origin and not _has_origin(schema):
        kinds = ("string", "string", "int64")
        wanted = [f"{name}: {kind}" for name, kind in zip(ORIGIN, kinds, strict=True)]
        raise _missing(name, wanted, schema)
    translation = corpus.third_field
    if translation is None and not corpus.documents and "translation" in schema.names:
        translation = "translation" if is_text(schema.field("translation").type) else None
    wanted = [source, target, *([translation] if translation else [])]
    for field in wanted:
        number = corpus.documents and field == translation and _is_whole(schema, field)
        if schema.names.count(field) != 1 or not (number or is_text(schema.field(field).type)):
            raise _missing(name, [f"{field}: string" for field in wanted], schema)
    return Columns(
        source,
        target,
        translation,
        translation_required=corpus.third_required,
        score=score,
        links=links,
        origin=origin,
    )


def _has_origin(schema: pa.Schema) -> bool:
    """Tell whether rows say where they were first read."""
    if any(schema.names.count(name) != 1 for name in ORIGIN):
        return False
    *names, line = (schema.field(name).type for name in ORIGIN)
    return all(map(is_text, names)) and pa.types.is_integer(line)


def _is_whole(schema: pa.Schema, name: str) -> bool:
    """Tell whether a column contains whole numbers, which can identify documents like text."""
    return schema.names.count(name) == 1 and pa.types.is_integer(schema.field(name).type)


def _is_number(schema: pa.Schema, name: str) -> bool:
    """Tell whether a column can contain scores: numbers, or text that is parsed as numbers."""
    kind = schema.field(name).type
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or is_text(kind)


def _is_wanted(stored: str, paths: set[str]) -> bool:
    """Tell whether a stored column is needed, or is part of a needed list column."""
    return stored in paths or stored.partition(".")[0] in paths


def _has_links(schema: pa.Schema, name: str) -> bool:
    """Tell whether a column can contain links: lists of links, or Pharaoh text."""
    kind = schema.field(name).type
    return is_list_of_links(kind) or is_text(kind)


_OPTIONS = (
    "--source_field and --target_field name the columns with the texts, and --source_lang and "
    "--target_lang the languages of a column translation"
)


def _missing(name: str, wanted: list[str], schema: pa.Schema) -> InputError:
    for field in (text.partition(":")[0] for text in wanted):
        count = schema.names.count(field)
        if count > 1:
            return InputError(
                "missing_column",
                name,
                f"has {count} columns named {field}; rename all but one, or give another column: "
                f"{_OPTIONS}",
            )
    columns = ", ".join(f"{field.name}: {field.type}" for field in schema) or "no columns"
    return InputError(
        "missing_column",
        name,
        f"wanted {', '.join(wanted)}; found {columns}; {_OPTIONS}",
    )


def _ranges(
    group: pq.RowGroupMetaData, wanted: list[int], footer: tuple[int, int], name: str
) -> Ranges:
    """Return the byte ranges of the wanted columns of a row group, and of the footer."""
    ranges = [footer]
    for index in wanted:
        chunk = group.column(index)
        start = chunk.data_page_offset
        # Some writers say 0 where there is no dictionary.
        if chunk.dictionary_page_offset:
            start = min(start, chunk.dictionary_page_offset)
        stop = start + chunk.total_compressed_size
        if not len(_MAGIC) <= start <= stop <= footer[0]:
            raise _corrupt(name, f"column {chunk.path_in_schema} lies outside the file")
        ranges.append((start, stop))
    ranges.sort()
    if any(stop > start for (_, stop), (start, _) in itertools.pairwise(ranges)):
        raise _corrupt(name, "two columns overlap")
    return tuple(ranges)


def _digest(path: str, name: str, wanted: list[Ranges]) -> tuple[int, str, str, list[str]]:
    """Return size, SHA-256 and xxh3-128 of a file, and the xxh3-128 of each list of ranges."""
    digests = [xxhash.xxh3_128() for _ in wanted]
    pieces = sorted(
        (start, stop, unit) for unit, ranges in enumerate(wanted) for start, stop in ranges
    )
    sha256, whole = hashlib.sha256(), xxhash.xxh3_128()
    position = 0
    for chunk in stored_file(path, name):
        sha256.update(chunk)
        whole.update(chunk)
        view = memoryview(chunk)
        end = position + len(chunk)
        unfinished = []
        for index, (start, stop, unit) in enumerate(pieces):
            if start >= end:
                unfinished.extend(pieces[index:])
                break
            digests[unit].update(view[max(0, start - position) : stop - position])
            if stop > end:
                unfinished.append((start, stop, unit))
        pieces = unfinished
        position = end
    of_ranges = [digest.hexdigest() for digest in digests]
    return position, sha256.hexdigest(), whole.hexdigest(), of_ranges
