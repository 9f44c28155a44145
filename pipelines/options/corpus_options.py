"""The corpora of jobs as options: a class for each kind of corpus.

A job's options inherit one of these corpora for a single corpus, and narrow ``corpora`` to the
same class for a list of them::

    class AlignOptions(..., JobOptions, LinkedCorpus):
        corpora: tuple[LinkedCorpus, ...] = several_corpora()
"""

from typing import Annotated, Literal

from pydantic import Field

from pairweave.pipelines.options.base import Corpus, Patterns
from pairweave.pipelines.options.format_names import InputFormatName
from pairweave.transforms.config import Config
from pairweave.transforms.formats.registry import FormatOptions
from pairweave.transforms.markup.markup import SyntaxName
from pairweave.transforms.option_marks import (
    NAMES_INPUT,
    NOT_OF_FUNCTIONS,
    SHAPES_TEXT,
    UNLISTED,
    UNSAID,
    gives_pairs,
    listed_after,
    listed_before,
    not_at_night,
)
from pairweave.transforms.option_places import CORPUS_FILES, FINISHED_RUNS

C1Controls = Annotated[
    Literal["mend", "reject", "keep"],
    Field(
        description="C1 control characters (U+0080 to U+009F), as in text of another encoding: "
        "mend reads them as windows-1252, reject rejects the pair, keep leaves and reports them",
        json_schema_extra={**UNSAID, **SHAPES_TEXT},
    ),
]

ScoreField = Annotated[
    str | None,
    Field(
        description="field of a pair's score in JSONL and Parquet, or column of TSV and CSV (a "
        "language model's, an aligner's); fills the column score",
        json_schema_extra={**UNSAID, **listed_before("links")},
    ),
]


class FieldOptions(Config):
    """The format of files with both sides, and the location of texts in them."""

    format: InputFormatName = Field(
        None,
        description="format of --input, if the file's name does not show it: one of these or of "
        "another installed package; or lxm for --source_input and --target_input",
        json_schema_extra=NOT_OF_FUNCTIONS,
    )
    source_field: str | None = Field(
        None,
        description="source field of JSONL and Parquet, or column (number from 1, or name) of TSV "
        "and CSV",
    )
    target_field: str | None = Field(
        None, description="target field of JSONL and Parquet, or column of TSV and CSV"
    )
    field_count: int | None = Field(
        None,
        ge=2,
        description="fields in each line of TSV (default: as in the first line)",
        json_schema_extra=UNLISTED,
    )


class DocumentCorpus(FieldOptions, Corpus):
    """Location of a corpus: document pairs in two files each, or in the rows of tables."""

    c1_controls: C1Controls = "keep"
    input: Annotated[Patterns, CORPUS_FILES] = Field(
        (),
        description="tables with one document pair per row: .tsv .csv .jsonl .parquet "
        "[.gz .zst .xz .bz2]",
        json_schema_extra={**gives_pairs("files"), **listed_after("licence")},
    )
    document_field: str | None = Field(
        None,
        min_length=1,
        description="field or column of a document's id or URL in --input",
        json_schema_extra=listed_after("input"),
    )
    pair_by: Literal["order", "name"] = Field(
        "order",
        description="how to pair files of --source_input and --target_input: order, the n-th ones; "
        "name, those with the same name, except for the language, below the patterns' fixed "
        "directories (a/b.en.txt, a/b.fr.txt)",
        json_schema_extra={**NAMES_INPUT, **NOT_OF_FUNCTIONS, **listed_after("document_field")},
    )


class PairCorpus(FormatOptions, FieldOptions, Corpus):
    """Location of a corpus: sentence pairs, in files and finished runs or a file for each side.

    Its rows have no place for the tags of their texts.
    """

    input: Annotated[Patterns, CORPUS_FILES] = Field(
        (),
        description="files or globs with both sides: .tsv .csv .jsonl .parquet .po .tmx .xlf "
        "[.gz .zst .xz .bz2] or .zip of OPUS; or a data set, hf://OWNER/NAME/CONFIG?split=SPLIT",
        json_schema_extra={**gives_pairs("files"), **listed_after("licence")},
    )
    from_run: Annotated[Patterns, FINISHED_RUNS] = Field(
        (),
        description="finished runs of bitext, filter or align whose rows to read: pairs keep their "
        "id, corpus, file, line and languages",
        json_schema_extra={
            **gives_pairs("runs"),
            **listed_after("input"),
            **not_at_night(
                "the pairs of a run keep the corpora of that run; give the files themselves"
            ),
        },
    )
    inline_syntax: SyntaxName | None = Field(
        None,
        description="syntax of tags in texts (default html for PO, else xml)",
        json_schema_extra=SHAPES_TEXT,
    )
    inline_tags: Literal["raw", "strip", "reject"] | None = Field(
        None,
        description="tags inside texts: raw leaves them, strip removes them, reject rejects the "
        "pair (default strip for TMX, XLIFF and LXM, else raw)",
        json_schema_extra=SHAPES_TEXT,
    )
    html_entities: Literal["decode", "reject", "keep"] = Field(
        "keep",
        description="HTML entities in texts (&#39; &quot; &amp;), as in machine translations: "
        "decode turns them into characters once, but never into a tag; reject rejects the pair; "
        "keep leaves them, and reports columns with many",
        json_schema_extra={**UNSAID, **SHAPES_TEXT},
    )
    c1_controls: C1Controls = "keep"


class ScoredCorpus(PairCorpus):
    """Location of a corpus: sentence pairs, perhaps with scores."""

    score_field: ScoreField = None
    score_input: Annotated[Patterns, CORPUS_FILES] = Field(
        (),
        description="or line-parallel scores: a number in each line, for the pair in that line of "
        "--source_input",
        json_schema_extra={**UNSAID, **NOT_OF_FUNCTIONS},
    )


class LinkedCorpus(PairCorpus):
    """Location of a corpus: sentence pairs, perhaps with links."""

    links: Annotated[Patterns, CORPUS_FILES] = Field(
        (),
        description="aligner given: Pharaoh links (i-j) between the tokens set by --tokens of the "
        "two texts that are aligned, one line per line of --source_input [.gz .zst .xz .bz2]",
        json_schema_extra=UNLISTED,
    )
    forward_links: Annotated[Patterns, CORPUS_FILES] = Field(
        (),
        description="or the links of one direction, also as source-target, with --reverse_links",
        json_schema_extra=UNLISTED,
    )
    reverse_links: Annotated[Patterns, CORPUS_FILES] = Field(
        (),
        description="and the links of the other direction; --heuristic combines them",
        json_schema_extra=UNLISTED,
    )
    attention: Annotated[Patterns, CORPUS_FILES] = Field(
        (),
        description="or the attention of a translation model for each line: .npz with arrays "
        "arr_0, arr_1 and so on, [target, source], [head, target, source] or [layer, head, target, "
        "source], or one padded .npy array",
        json_schema_extra=UNLISTED,
    )
    links_field: str | None = Field(
        None,
        description="or field of a pair's links in JSONL and Parquet, or column of TSV and CSV: "
        "Pharaoh text; in JSONL also [[0, 0], [1, 2]], in Parquet also the links of align",
    )


class TranslatedCorpus(LinkedCorpus):
    """Location of a corpus: sentence pairs, perhaps with translations, scores and links."""

    translation_input: Annotated[Patterns, CORPUS_FILES] = Field(
        (),
        description="line-parallel machine translation of the source",
        json_schema_extra={
            **gives_pairs("translations"),
            **NOT_OF_FUNCTIONS,
            **listed_before("score_field"),
        },
    )
    translation_field: str | None = Field(
        None,
        description="field of a machine translation in JSONL and Parquet, or column of TSV and CSV",
        json_schema_extra=listed_before("score_field"),
    )
    score_field: ScoreField = None


class TaggedCorpus(LinkedCorpus):
    """Location of a corpus: sentence pairs, perhaps with links, whose tags may be kept."""

    inline_tags: Literal["raw", "strip", "index", "reject"] | None = Field(  # type: ignore[assignment]
        None,
        description="tags inside texts: raw leaves them, strip removes them, index turns them into "
        "the pair's tags, reject rejects the pair (default strip for TMX, XLIFF and LXM, else raw)",
        json_schema_extra=SHAPES_TEXT,
    )
    tags_differ: Literal["reject", "keep"] = Field(
        "reject",
        description="pairs whose sides have different tags, with --inline_tags index; keep keeps "
        "the tags that both have",
        json_schema_extra=listed_after("inline_tags"),
    )
