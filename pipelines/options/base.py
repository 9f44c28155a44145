"""The options of every job: one frozen model per job.

A model defines the flags, YAML keys, checks, help texts and defaults. A job builds the
configurations of its steps from it; no step reads flags or the environment.
"""

import os
from typing import Annotated, ClassVar, Literal

import pydantic
from pydantic import Field

from pairweave.models.translators.translation_options import TranslationOptions
from pairweave.pipelines.options.format_names import FormatOptions, InputFormatName
from pairweave.transforms.config import UNSAID, SeedOptions, StepOptions
from pairweave.transforms.screen_options import ScreenLimits
from pairweave.transforms.units import ReadLimitOptions

_LANGUAGE = r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$"
_TOKENS = r"^(words|whitespace|pieces|sentencepiece(:.+)?)$"
TOKEN_BUDGET = r"^(auto|[1-9][0-9]{0,7})$"
PATTERN_TEXTS = {
    _LANGUAGE: "must be a language tag such as en or pt-BR",
    _TOKENS: "must be words, whitespace, pieces, sentencepiece or sentencepiece:MODEL",
    TOKEN_BUDGET: "must be auto or a whole number from 1 to 99,999,999",
}
"""Messages for values that do not match a pattern."""

Language = Annotated[str, Field(pattern=_LANGUAGE)]


def _listed(value: object) -> object:
    """Accept one file without a list in YAML."""
    return (value,) if isinstance(value, str) else value


def as_text(value: object) -> object:
    """Accept a number in YAML for an option that also takes a word."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Patterns = Annotated[tuple[str, ...], pydantic.BeforeValidator(_listed)]


class Options(StepOptions):
    """Base of all option models; the first line of a model's docstring is a title in the help.

    Attributes:
        NO_USE: Inherited options that a command has no use for: its help leaves them out, and the
            command refuses them.
    """

    NO_USE: ClassVar[frozenset[str]] = frozenset()


def unsaid_options(options: Options) -> set[str]:
    """Return the options to leave out of a plan, so that runs without them keep their bytes."""
    return {
        name
        for name, field in type(options).model_fields.items()
        if isinstance(field.json_schema_extra, dict)
        and "unsaid" in field.json_schema_extra
        and getattr(options, name) == field.get_default()
    }


class CorpusFileOptions(StepOptions):
    """The files of a corpus, and the location of texts in them."""

    corpus: str | None = Field(None, description="name of the corpus (default: the file's name)")
    input: Patterns = Field(
        (),
        description="files or globs with both sides: .tsv .jsonl .parquet .po .tmx .xlf [.gz .zst]",
    )
    from_run: Patterns = Field(
        (),
        description="finished runs of bitext, filter or align whose rows to read: pairs keep their "
        "id, corpus, file, line and languages",
        json_schema_extra={"metavar": "DIR"},
    )
    source_input: Patterns = Field((), description="line-parallel text, the source side")
    target_input: Patterns = Field((), description="line-parallel text, the target side")
    translation_input: Patterns = Field(
        (), description="line-parallel machine translation of the source"
    )
    links: Patterns = Field(
        (),
        description="aligner given: Pharaoh links (i-j) between the tokens set by --tokens, one "
        "line per line of source_input; for suggest, from translation to target [.gz .zst]",
    )
    forward_links: Patterns = Field(
        (),
        description="or the links of one direction, also as source-target, with --reverse_links",
    )
    reverse_links: Patterns = Field(
        (), description="and the links of the other direction; --heuristic combines them"
    )
    attention: Patterns = Field(
        (),
        description="or the attention of a translation model for each line: .npz with arrays "
        "arr_0, arr_1 and so on, [target, source], [head, target, source] or [layer, head, target, "
        "source], or one padded .npy array",
    )
    source_lang: Language | None = Field(
        None, description="BCP 47 tag of the source language (default und; en for PO)"
    )
    target_lang: Language | None = Field(
        None, description="BCP 47 tag of the target language (default und)"
    )
    format: InputFormatName | None = Field(
        None,
        description="format of --input, if the file's name does not show it, or lxm for "
        "--source_input and --target_input",
    )
    source_field: str | None = Field(
        None, description="source field of JSONL and Parquet, or column number (from 1) of TSV"
    )
    target_field: str | None = Field(None, description="target field or column, likewise")
    translation_field: str | None = Field(
        None, description="field or column of a machine translation, likewise"
    )
    score_field: str | None = Field(
        None,
        description="suggest: field or column of a pair's score, likewise (a language model's, an "
        "aligner's); fills the column score",
        json_schema_extra=UNSAID,
    )
    links_field: str | None = Field(
        None,
        description="aligner given: field or column of a pair's links, likewise: Pharaoh text; in "
        "JSONL also [[0, 0], [1, 2]], in Parquet also the links of align",
    )
    field_count: int | None = Field(
        None, ge=2, description="fields in each line of TSV (default: as in the first line)"
    )


class CorpusTextOptions(StepOptions):
    """Tags and special characters in the texts of a corpus."""

    inline_tags: Literal["raw", "strip", "index", "reject"] | None = Field(
        None,
        description="tags inside texts: raw leaves them, strip removes them, index turns them into "
        "the pair's tags, reject rejects the pair (default strip for TMX, XLIFF and LXM, else raw)",
    )
    inline_syntax: Literal["xml", "html", "xliff", "indexed"] | None = Field(
        None,
        description="syntax of tags in texts (default html for PO, else xml)",
    )
    tags_differ: Literal["reject", "keep"] = Field(
        "reject",
        description="pairs whose sides have different tags, with --inline_tags index; keep keeps "
        "the tags that both have",
    )
    html_entities: Literal["decode", "reject", "keep"] = Field(
        "keep",
        description="HTML entities in texts (&#39; &quot; &amp;), as in machine translations: "
        "decode turns them into characters, once, and never into a tag; reject rejects the pair; "
        "keep leaves them, and reports a column with many",
        json_schema_extra=UNSAID,
    )
    c1_controls: Literal["mend", "reject", "keep"] = Field(
        "keep",
        description="C1 control characters (U+0080 to U+009F), as in text of another encoding: "
        "mend reads them as windows-1252, reject rejects the pair, keep leaves and reports them",
        json_schema_extra=UNSAID,
    )
    licence: str | None = Field(None, description="licence of the corpus, for the dataset card")


class CorpusOptions(CorpusTextOptions, FormatOptions, CorpusFileOptions, Options):
    """Location of a corpus: ``input``, or ``source_input`` with ``target_input``."""


class CorpusListOptions(CorpusOptions):
    """One corpus, or several."""

    corpora: tuple[CorpusOptions, ...] = Field(
        (), description="several corpora (YAML only): a list of maps with the input options"
    )


class InputOptions(ReadLimitOptions, CorpusListOptions):
    """Reading."""

    unit_rows: int = Field(65_536, ge=1, description="lines of plain text read as one unit of work")


class ScreenOptions(ScreenLimits, Options):
    """The screen, which rejects pairs before the costly steps."""

    exclude: Patterns = Field(
        (), description="dev and test files, one sentence per line, whose sentences are rejected"
    )


class WordAlignerOptions(StepOptions):
    """The tokens to align, and the aligner."""

    tokens: str | None = Field(
        None,
        pattern=_TOKENS,
        description="units to align: words, whitespace, sentencepiece:MODEL, sentencepiece to "
        "train a model on a sample, or the encoder's pieces (default words, or those of the given "
        "model)",
    )

    @property
    def aligner_name(self) -> str:
        """Return the name of the aligner."""
        return "hmm"

    @property
    def given_model(self) -> str | None:
        """Return the location of the aligner's model, if one is given."""
        return None

    @property
    def second_name(self) -> str | None:
        """Return the one-line name of the second aligner, if there is one."""
        return None

    @property
    def combined_by(self) -> str | None:
        """Return how the links of two aligners are combined, if the job can do that."""
        return None


class FitSettings(WordAlignerOptions, Options):
    """Fitting a word aligner."""

    PASSED: ClassVar[str] = "the screen"
    """What the pairs that the aligner is fitted on have passed, for messages."""

    vocabulary: int = Field(
        16_000, ge=256, description="pieces of a SentencePiece model trained on a sample"
    )
    fit_pairs: int = Field(
        200_000, ge=1, description="approximate number of pairs that the model is fitted on"
    )
    decode: Literal["posterior", "viterbi"] = Field(
        "posterior",
        description="how a fitted model finds links in each direction (a given model keeps its own "
        "setting)",
    )

    @property
    def may_fit_nothing(self) -> bool:
        """Return True if a run goes on without an aligner where no pair is there to fit one on."""
        return False


class SegmenterOptions(Options):
    """Words in scripts without spaces."""

    SEGMENTED: ClassVar[tuple[str, ...]] = ("source", "target")
    """The sides of a pair that are segmented."""

    segmenter: Literal["auto", "dictionary", "none"] = Field(
        "auto",
        description="words of Chinese, Japanese, Thai, Lao, Khmer and Burmese: dictionary, from "
        "the dictionaries of ICU and jieba (pip install 'pairweave[segment]'); none, each "
        "character is a word; auto, dictionary if the input is in such a language",
    )


class TranslatorNameOptions(StepOptions):
    """The translator."""

    translator: str | None = Field(
        None,
        pattern=r"^(ctranslate2|transformers):.+$",
        description="translates sources without a translation: ctranslate2:DIR, "
        "transformers:DIR or transformers:OWNER/NAME (MarianMT, M2M-100, NLLB)",
    )


class TranslatorOptions(TranslationOptions, TranslatorNameOptions, Options):
    """Translation of sources without a translation in the input."""


class OutputOptions(StepOptions):
    """Output."""

    output: str = Field(
        min_length=1,
        description="directory or URI of the run's files",
        json_schema_extra={"metavar": "DIR"},
    )


class PlaceOptions(SeedOptions, OutputOptions, Options):
    """Running: options of a job in one process."""

    plan_only: bool = Field(default=False, description="print the plan, run nothing, write nothing")


class RunOptions(PlaceOptions):
    """Running: options of a job with a graph that makes shards."""

    shard_pairs: int = Field(
        65_536,
        ge=1,
        description="approximate number of pairs in a shard; fewer if pairs average over 8 KiB",
    )
    allow_empty: bool = Field(default=False, description="let a run succeed that keeps no pairs")
    engine: Literal["local", "prism", "flink"] = Field(
        "local", description="engine that runs the graph"
    )
    workers: int = Field(
        default_factory=lambda: os.cpu_count() or 1,
        ge=1,
        description="processes (local) or parallel slots (flink); with fewer shards, also threads "
        "of an encoder or a translator; does not change the output",
    )
    attempts: int = Field(
        2, ge=1, description="number of attempts; a failed attempt is resumed by the next"
    )


class PlannedOptions(PlaceOptions, WordAlignerOptions, ScreenOptions, InputOptions):
    """Tokens: with input, screen and output, the options of every job on a corpus."""


class GraphOptions(RunOptions, PlannedOptions):
    """Options of every job with a graph that makes shards."""

    @property
    def aligns(self) -> bool:
        """Return True if the job needs an aligner, and fits one if none is given."""
        return False


class JobOptions(FitSettings, GraphOptions):
    """Options of every job with a graph that aligns words or fits an aligner."""

    @property
    def may_fit_nothing(self) -> bool:
        """Return True if a run goes on without an aligner where no pair is there to fit one on."""
        return self.allow_empty

    @property
    def aligns(self) -> bool:
        """Return True if the job needs an aligner, and fits one if none is given."""
        return True
