"""Tables of tokens, and links of tables as sets."""

import pyarrow as pa
import xxhash

from pairweave.transforms import schemas


def spans(text):
    """Return the offsets of what white space separates."""
    offsets, position = [], 0
    for word in text.split():
        start = text.index(word, position)
        position = start + len(word)
        offsets.append({"start": start, "end": position})
    return offsets


def token_table(pairs, tokenize=None):
    """Return a TOKENS table; by default a token is what white space separates."""
    rows = []
    for line, (source, target) in enumerate(pairs, 1):
        text = "\x1f".join(["en", "de", source, target, str(line)])
        rows.append(
            {
                "id": xxhash.xxh3_128_hexdigest(text.encode()),
                "corpus": "c",
                "source_lang": "en",
                "target_lang": "de",
                "file": "f",
                "line": line,
                "source": source,
                "target": target,
                "translation": None,
                "source_tokens": (tokenize or spans)(source),
                "target_tokens": (tokenize or spans)(target),
            }
        )
    return pa.Table.from_pylist(rows, schema=schemas.TOKENS)


def links_of(table, name="forward"):
    """Return the links of each pair, as sets."""
    return [
        {(link["source"], link["target"]) for link in links}
        for links in table.column(name).to_pylist()
    ]
