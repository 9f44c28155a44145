"""Pairs of HTML fragments, one JSON object per line."""

from collections.abc import Iterable, Iterator

import orjson

from pairweave.transforms.export.export_formats import MarkupExport, alone
from pairweave.transforms.export.markup_rows import MarkupRow
from pairweave.transforms.export.markup_texts import tagged_texts


def write_html(rows: Iterable[MarkupRow]) -> Iterator[bytes]:
    """Yield lines with the fields ``id``, ``source``, ``target``, languages and corpus.

    Texts are fragments, with their tags as characters.
    """
    for row in rows:
        source, target = tagged_texts(row)
        value = {
            "id": row.name,
            "source": source,
            "target": target,
            "source_lang": row.langs[0],
            "target_lang": row.langs[1],
            "corpus": row.corpus,
        }
        yield orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)


EXPORT = MarkupExport("html", (".jsonl",), lambda rows, _: alone(write_html(rows)), "html")
