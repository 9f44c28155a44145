"""Handmade COMPARED rows, and a corpus of triples with every kind of bad row."""

import pyarrow as pa
import xxhash

from pairweave.transforms import schemas
from pairweave.transforms.suggestions.suggestion_options import AlignedConfig, FilterConfig
from pairweave.transforms.suggestions.suggestions import SuggestionConfig, make_suggestions
from pairweave.transforms.text.tokens import TokenConfig, tokenize
from tests.makers import corpora

MASK = "<MASK_REP>"


def compared(*rows, lang="de", tokens="words"):
    """Return rows of (source, reference, translation, links) with links (i, j[, probability])."""
    made = []
    for line, (source, reference, translation, links) in enumerate(rows):
        text = "\x1f".join(["en", lang, source, reference, translation or ""])
        cut = [
            tokenize(pa.array([side or ""]), TokenConfig(tokens), lang)[0].as_py()
            for side in (translation, reference)
        ]
        if links == "diagonal":
            links = [(i, i) for i in range(min(map(len, cut)))]
        made.append(
            {
                "id": xxhash.xxh3_128_hexdigest(text.encode()),
                "corpus": "c",
                "source_lang": "en",
                "target_lang": lang,
                "file": "f",
                "line": line + 1,
                "source": source,
                "target": reference,
                "translation": translation,
                "translation_tokens": cut[0],
                "reference_tokens": cut[1],
                "links": [
                    {"source": i, "target": j, "probability": p[0] if p else 1.0}
                    for i, j, *p in sorted(links)
                ],
            }
        )
    return pa.Table.from_pylist(made, schema=schemas.COMPARED)


LOOSE = FilterConfig(max_masked_share=1.0, keep_punctuation=True, max_suggestion_words=999)
WIDE = AlignedConfig(max_placeholders=999, max_placeholder_share=1.0)


def aligned(row, *, lang="de", deletions=False, filters=LOOSE, tokens="words"):
    """Return (operation, masked, suggestion) of the examples that the alignment gives."""
    config = SuggestionConfig(
        ("alignment",),
        aligned=AlignedConfig(999, 1.0, deletions),
        filters=filters,
    )
    made = make_suggestions(compared(row, lang=lang, tokens=tokens), config)
    return [
        (example["operation"], example["masked"], example["suggestion"])
        for example in made.rows.to_pylist()
    ]


CHANGES = {"rote": "röte", "Haus": "Gebäude", "heute": "jetzt", "mag": "liebt", "das": "ein"}


def translate(number, reference):
    """Return what a poor machine translator would make of a reference."""
    words = reference.split(" ")
    changed = [
        CHANGES.get(word, word) if (number + i) % 2 else word for i, word in enumerate(words)
    ]
    if number % 5 == 0:
        changed.pop(number % len(changed))
    if number % 7 == 0:
        changed.insert(number % len(changed), "sehr")
    return " ".join(changed)


def troubles():
    """Return triples that must be rejected, one of each kind a translation can show."""
    return [
        ("an empty one", "eine leere", " "),
        ("a mask in it", "eine Maske darin", "eine <MASK_REP> darin"),
        ("one that is too long", "eine zu lange dabei", "lang " * 40),
        ("a long token", "ein langes Wort", "x" * 101),
    ]


def write_triples(directory, pairs):
    """Write ``corpus.en``, ``corpus.de`` and ``corpus.mt`` with troubles and a duplicate."""
    lines = []
    for number in range(pairs):
        source, reference = corpora.sentence(number)
        lines.append((source, reference, translate(number, reference)))
    for position, trouble in enumerate(troubles()):
        lines.insert(position * pairs // 5, trouble)
    lines.append(lines[5])
    for side, name in enumerate(("corpus.en", "corpus.de", "corpus.mt")):
        text = "".join(line[side] + "\n" for line in lines)
        (directory / name).write_text(text, encoding="utf-8", newline="\n")
    return len(lines)
