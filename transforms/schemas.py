"""The Arrow schema at every step of a job.

Text is exactly as read. Offsets are zero-based, half-open and count Unicode code points of the
untagged text; links are (source token, target token), zero-based.
"""

import pyarrow as pa

from pairweave.transforms.errors import WorkerError

VERSION = 1
"""Increased when a column of an output file changes its name, type or meaning."""

_NAME = pa.dictionary(pa.int32(), pa.string())

SPAN = pa.struct(
    [pa.field("start", pa.int32(), nullable=False), pa.field("end", pa.int32(), nullable=False)]
)
LINK = pa.struct(
    [
        pa.field("source", pa.int16(), nullable=False),
        pa.field("target", pa.int16(), nullable=False),
        pa.field("probability", pa.float32(), nullable=False),
    ]
)
BEAD = pa.struct(
    [
        pa.field("source_start", pa.int32(), nullable=False),
        pa.field("source_end", pa.int32(), nullable=False),
        pa.field("target_start", pa.int32(), nullable=False),
        pa.field("target_end", pa.int32(), nullable=False),
        pa.field("document", pa.int32(), nullable=False),
        pa.field("document_id", pa.string()),
    ]
)
GIVEN_LINK = pa.struct(
    [
        pa.field("source", pa.int16(), nullable=False),
        pa.field("target", pa.int16(), nullable=False),
    ]
)
PHRASE = pa.struct(
    [
        pa.field("source_start", pa.int16(), nullable=False),
        pa.field("source_end", pa.int16(), nullable=False),
        pa.field("target_start", pa.int16(), nullable=False),
        pa.field("target_end", pa.int16(), nullable=False),
        pa.field("score", pa.float32(), nullable=False),
    ]
)
TAG = pa.struct(
    [
        pa.field("index", pa.int16(), nullable=False),
        pa.field("form", pa.string(), nullable=False),
        pa.field("source_start", pa.int32(), nullable=False),
        pa.field("source_end", pa.int32(), nullable=False),
        pa.field("target_start", pa.int32(), nullable=False),
        pa.field("target_end", pa.int32(), nullable=False),
    ]
)
WORD_LINK = pa.struct(
    [
        pa.field("source_start", pa.int32(), nullable=False),
        pa.field("source_end", pa.int32(), nullable=False),
        pa.field("target_start", pa.int32(), nullable=False),
        pa.field("target_end", pa.int32(), nullable=False),
    ]
)


def list_of(item: pa.DataType) -> pa.DataType:
    """Return the list type whose item field Parquet calls ``element``."""
    return pa.list_(pa.field("element", item, nullable=False))


SPAN_LIST = list_of(SPAN)
LINK_LIST = list_of(LINK)
PHRASE_LIST = list_of(PHRASE)
TAG_LIST = list_of(TAG)
BOOL_LIST = list_of(pa.bool_())

# One input row, as a reader returns it and the screen passes it on. A row with a reason is
# rejected; only such a row may lack an id or a side. `raw` holds the start of bytes that are not
# text.
ROWS = pa.schema(
    [
        pa.field("unit", pa.int32(), nullable=False),
        pa.field("id", pa.string()),
        pa.field("corpus", _NAME, nullable=False),
        pa.field("source_lang", _NAME, nullable=False),
        pa.field("target_lang", _NAME, nullable=False),
        pa.field("file", _NAME, nullable=False),
        pa.field("line", pa.int64(), nullable=False),
        pa.field("source", pa.string()),
        pa.field("target", pa.string()),
        pa.field("translation", pa.string()),
        pa.field("stage", _NAME),
        pa.field("reason", _NAME),
        pa.field("detail", pa.string()),
        pa.field("raw", pa.binary()),
        # The inline tags taken out of source and target (`transforms.markup.pair_markup`).
        pa.field("markup", pa.string()),
        # The pair's quality according to the input (`transforms.reading.given_scores`).
        pa.field("score", pa.float32()),
        # The links that came with the pair (`transforms.reading.links_of_rows`), of tokens that
        # have not been cut yet: in any order, perhaps repeated. One set of links has no reverse.
        pa.field("forward_links", list_of(GIVEN_LINK)),
        pa.field("reverse_links", list_of(GIVEN_LINK)),
        # For a pair from a document: the document, and the sentences, from 0 within it.
        pa.field("bead", BEAD),
    ]
)

# The kept rows of one shard: sorted by id, every id once.
PAIRS = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("corpus", pa.string(), nullable=False),
        pa.field("source_lang", pa.string(), nullable=False),
        pa.field("target_lang", pa.string(), nullable=False),
        pa.field("file", pa.string(), nullable=False),
        pa.field("line", pa.int64(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("target", pa.string(), nullable=False),
        pa.field("translation", pa.string()),
    ]
)

TOKENS = pa.schema(
    [
        *PAIRS,
        pa.field("source_tokens", SPAN_LIST, nullable=False),
        pa.field("target_tokens", SPAN_LIST, nullable=False),
    ]
)

# Directed links, both in (source, target) order, sorted.
LINKED = pa.schema(
    [
        *TOKENS,
        pa.field("forward", LINK_LIST, nullable=False),
        pa.field("reverse", LINK_LIST, nullable=False),
    ]
)

# One set of links instead of two.
SYMMETRIZED = pa.schema([*TOKENS, pa.field("links", LINK_LIST, nullable=False)])

# A translation with its reference, both in the target language: links are (translation token,
# reference token).
COMPARED = pa.schema(
    [
        *PAIRS,
        pa.field("translation_tokens", SPAN_LIST, nullable=False),
        pa.field("reference_tokens", SPAN_LIST, nullable=False),
        pa.field("links", LINK_LIST, nullable=False),
    ]
)

# Phrase pairs, half-open in token indices, sorted. The score is the aligner's confidence in a pair,
# in [0, 1]; 1 if not computed.
PHRASES = pa.schema([*SYMMETRIZED, pa.field("phrases", PHRASE_LIST, nullable=False)])

# The output of the job `bitext`. A document is numbered from 0 in the order of the input, and a
# sentence within its side of the document; `bead` is the number of sentences on each side, as in
# 2-1.
SENTENCES = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("target", pa.string(), nullable=False),
        pa.field("bead", pa.string(), nullable=False),
        pa.field("score", pa.float32(), nullable=False),
        pa.field("document", pa.int32(), nullable=False),
        pa.field("source_sentences", list_of(pa.int32()), nullable=False),
        pa.field("target_sentences", list_of(pa.int32()), nullable=False),
        pa.field("source_lang", pa.string(), nullable=False),
        pa.field("target_lang", pa.string(), nullable=False),
        pa.field("corpus", pa.string(), nullable=False),
        pa.field("file", pa.string(), nullable=False),
        pa.field("line", pa.int64(), nullable=False),
    ]
)

# The same for documents that are rows of a table, with the document's own id or URL.
NAMED_SENTENCES = SENTENCES.append(pa.field("document_id", pa.string()))

# The output of the job `align`. Tokens are those that their tokenizer counts, and links use its
# numbers: a piece that shows nothing of the text has an empty span
# (`transforms.text.piece_numbers`).
ALIGNED = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("target", pa.string(), nullable=False),
        pa.field("source_tokens", SPAN_LIST, nullable=False),
        pa.field("target_tokens", SPAN_LIST, nullable=False),
        pa.field("links", LINK_LIST, nullable=False),
        pa.field("source_lang", pa.string(), nullable=False),
        pa.field("target_lang", pa.string(), nullable=False),
        pa.field("corpus", pa.string(), nullable=False),
        pa.field("file", pa.string(), nullable=False),
        pa.field("line", pa.int64(), nullable=False),
    ]
)

TAGGED = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("variant", pa.int16(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("target", pa.string(), nullable=False),
        pa.field("tags", TAG_LIST, nullable=False),
        pa.field("source_lang", pa.string(), nullable=False),
        pa.field("target_lang", pa.string(), nullable=False),
        pa.field("corpus", pa.string(), nullable=False),
    ]
)

# The last column of a run that keeps links: linked words, in code points of the untagged texts.
WORD_LINKS = pa.field("word_links", list_of(WORD_LINK), nullable=False)

# The column of a run that keeps the inline tags of its input: null in rows without such tags.
TAGGED_MARKUP = pa.schema([*TAGGED, pa.field("markup", pa.string())])

# `start` and `end` are the range that the mask replaced: in the machine translation for the method
# `alignment`, in the reference for the others. `confidence` is the lowest probability of the links
# that a mask of the method `alignment` is based on; `score` is that of
# `transforms.suggestions.suggestion_scores`, or the pair's own from the input.
SUGGESTIONS = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("variant", pa.int16(), nullable=False),
        pa.field("method", pa.string(), nullable=False),
        pa.field("operation", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("masked", pa.string(), nullable=False),
        pa.field("suggestion", pa.string(), nullable=False),
        pa.field("hint", pa.string()),
        pa.field("start", pa.int32(), nullable=False),
        pa.field("end", pa.int32(), nullable=False),
        pa.field("confidence", pa.float32()),
        pa.field("score", pa.float32()),
        pa.field("source_lang", pa.string(), nullable=False),
        pa.field("target_lang", pa.string(), nullable=False),
        pa.field("corpus", pa.string(), nullable=False),
    ]
)

REJECTS = pa.schema(
    [
        pa.field("stage", pa.string(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
        pa.field("detail", pa.string()),
        pa.field("id", pa.string()),
        pa.field("corpus", pa.string(), nullable=False),
        pa.field("source_lang", pa.string(), nullable=False),
        pa.field("target_lang", pa.string(), nullable=False),
        pa.field("file", pa.string(), nullable=False),
        pa.field("line", pa.int64(), nullable=False),
        pa.field("source", pa.string()),
        pa.field("target", pa.string()),
        pa.field("translation", pa.string()),
        pa.field("raw", pa.binary()),
    ]
)


def require(table: pa.Table | pa.RecordBatch, schema: pa.Schema) -> None:
    """Check that a table has exactly a step's columns.

    Raises:
        WorkerError: Names the first column that is missing, extra or of another type.
    """
    columns = table.schema
    if columns.equals(schema):
        return
    for wanted in schema:
        if wanted.name not in columns.names:
            raise WorkerError(f"column {wanted.name} is missing; found {', '.join(columns.names)}")
        kind = columns.field(wanted.name).type
        if kind != wanted.type:
            raise WorkerError(f"column {wanted.name} should be {wanted.type}, is {kind}")
    extra = [name for name in columns.names if name not in schema.names]
    if extra:
        raise WorkerError(f"column {extra[0]} is not expected here")
