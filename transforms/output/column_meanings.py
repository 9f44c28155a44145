"""The meanings of the columns of output files, for their schema and for the dataset card."""

import pyarrow as pa

from pairweave.transforms.rejects import is_of_plugin

KEY = b"description"
"""The metadata of a field that holds its meaning."""

_TOKENS = "start and end of each token, in code points of the {side}; an empty span shows nothing"
_SHARE = "share from 0 to 1"

MEANINGS = {
    "id": "pair: 128 bits in hexadecimal, a hash of languages and texts",
    "variant": "number of the row among those of its pair; of augment, 0 is the row without tags",
    "kind": "plain: without tags; tagged: with tags",
    "source": "source text; of augment with its tags",
    "target": "target text; of augment with its tags",
    "translation": "machine translation of the source",
    "tags": "tags of the row: index (number in the text), form (pair, self_closing, open, close) "
    "and the range of each side, in code points of the texts without tags",
    "word_links": "linked words: ranges of source and target, in code points of the texts without "
    "tags",
    "markup": "tags that the input had, as JSON; null in rows without any",
    "source_lang": "language of the source, BCP 47; und if unknown",
    "target_lang": "language of the target, BCP 47; und if unknown",
    "corpus": "name of the corpus",
    "file": "file that the pair was read from",
    "line": "line or row in that file, from 1; of bitext, of the first sentence",
    "source_tokens": _TOKENS.format(side="source"),
    "target_tokens": _TOKENS.format(side="target"),
    "links": "word links: numbers of the source and the target token, from 0, and probability",
    "bead": "numbers of source and target sentences in the pair, such as 2-1",
    "document": "number of the document in the input, from 0",
    "document_id": "id or URL of the document in the input",
    "source_sentences": "numbers of the pair's sentences in the source document, from 0",
    "target_sentences": "numbers of the pair's sentences in the target document, from 0",
    "method": "what was masked: random spans, alignment (what differs), parallel (everything)",
    "operation": "what the suggestion does to the translation: replace, insert or delete",
    "masked": "translation with a mask in the place of the suggestion",
    "suggestion": "text for the place of the mask",
    "hint": "what is known of the suggestion; null without hints",
    "start": "start of what the mask replaced, in code points",
    "end": "end of what the mask replaced, in code points, exclusive",
    "confidence": "lowest probability of the links that the mask rests on; null if there are none",
    "score": "quality: of filter and bitext, higher is better; of suggest, by translation models, "
    "0 is best, or the input's own; null if there is none",
    "keep": "whether filter keeps the pair",
    "reason": "why the pair was rejected",
    "detail": "the value that decided",
    "stage": "step that rejected the pair",
    "raw": "start of input bytes that are no text",
    "target_words": "words of the target",
    "source_detected": "language that the detector found in the source",
    "target_detected": "language that the detector found in the target",
    "mojibake": "traces of text decoded in a wrong encoding, both sides",
    "entities": "HTML entities, both sides",
    "source_foreign": f"source not alphabetical or in a script of the target only, {_SHARE}",
    "target_foreign": f"target not alphabetical, {_SHARE}",
    "source_script": f"letters of the source in a script of its language, {_SHARE}",
    "target_script": f"letters of the target in a script of its language, {_SHARE}",
    "copied_words": f"words of the target that are in the source, {_SHARE}",
    "copied_characters": f"characters of the target that are in the source, {_SHARE}",
    "number_mismatch": f"numbers without a counterpart, both sides, {_SHARE}",
    "number_conflict": f"numbers that contradict each other, {_SHARE}",
    "repetition": f"words that repeat a block of words, {_SHARE}",
    "char_ratio": "characters of the longer side relative to the shorter",
    "word_chars": "mean characters of a word, of the side with longer words",
    "address_mismatch": f"web and e-mail addresses without a counterpart, {_SHARE}",
    "placeholder_mismatch": f"placeholders without a counterpart, {_SHARE}",
    "tag_mismatch": f"tags without a counterpart, {_SHARE}",
    "bracket_mismatch": f"brackets without a counterpart, {_SHARE}",
    "end_mismatch": f"difference of the final punctuation, {_SHARE}",
    "forward_likelihood": "log-likelihood of the target given the source, per word",
    "reverse_likelihood": "log-likelihood of the source given the target, per word",
    "target_coverage": f"words of the target that are aligned, rare ones count more, {_SHARE}",
    "source_coverage": f"words of the source that are aligned, rare ones count more, {_SHARE}",
    "gap": f"heaviest run of unaligned words, {_SHARE} of all words",
    "order": f"how much the word order differs, {_SHARE}",
    "roughness": "how unusual the order of the target's words is, mean in nats; "
    "0 is the most usual",
    "yisi2": "YiSi-2: similarity of the encoder's pieces, weighted mean of precision and recall",
    "yisi2_precision": "YiSi-2 over the pieces of the target",
    "yisi2_recall": "YiSi-2 over the pieces of the source",
    "yisi2_layer_": "YiSi-2 with the vectors of the layer of this number, from the front",
    "lm": "geometric mean of the probabilities of the target's pieces, by a language model",
    "margin": "cosine of the sentence vectors relative to that of their neighbours",
    "cosine": "cosine of the sentence vectors",
    "rule_": "value of the rule of another package that has this name, in that rule's unit",
}
"""The meaning of each column, with its unit. A column means the same in the rows of every job."""


def meaning_of(column: str) -> str | None:
    """Return the meaning of a column; None if it is unknown.

    Columns of one kind that end in a number, such as those of layers, share a meaning; so do those
    of rules of other packages.

    >>> meaning_of("yisi2_layer_17")
    'YiSi-2 with the vectors of the layer of this number, from the front'
    """
    meaning = MEANINGS.get(column) or MEANINGS.get(column.rstrip("0123456789"))
    if meaning is None and is_of_plugin(column):
        return MEANINGS["rule_"]
    return meaning


def described(schema: pa.Schema) -> pa.Schema:
    """Return a schema whose fields have their meanings as metadata, under the key `KEY`."""
    meanings = [(field, meaning_of(field.name)) for field in schema]
    fields = [
        field if meaning is None else field.with_metadata({KEY: meaning.encode()})
        for field, meaning in meanings
    ]
    return pa.schema(fields, metadata=schema.metadata)
