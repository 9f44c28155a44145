"""Handmade rows, as from the readers."""

import pyarrow as pa
import xxhash

from pairweave.transforms import schemas


def row(source, target, *, corpus="c", file="f", line=1, unit=0, reason=None, **others):
    """Return one row; a row without a reason has the id of its text."""
    text = "\x1f".join(["en", "de", source or "", target or ""])
    return {
        "unit": unit,
        "id": xxhash.xxh3_128_hexdigest(text.encode()) if source is not None else None,
        "corpus": corpus,
        "source_lang": "en",
        "target_lang": "de",
        "file": file,
        "line": line,
        "source": source,
        "target": target,
        "translation": None,
        "stage": "read" if reason else None,
        "reason": reason,
        "detail": None,
        "raw": None,
        **others,
    }


def pair(number, source, target, **others):
    """Return one row of PAIRS, or with ``others`` of what is made of them; its id is its number."""
    return {
        "id": f"{number:032x}",
        "corpus": "c",
        "source_lang": "en",
        "target_lang": "de",
        "file": "f",
        "line": number + 1,
        "source": source,
        "target": target,
        "translation": None,
        **others,
    }


def batch(*rows):
    """Return rows as a batch."""
    return pa.RecordBatch.from_pylist(list(rows), schema=schemas.ROWS)
