"""The options of every job: one frozen model a job.

From a model come the flags, the YAML keys, the checks, the help text and the defaults. A job builds
its steps' configurations from it; no step reads flags or the environment.
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
"""What a person is told who breaks a pattern."""

Language = Annotated[str, Field(pattern=_LANGUAGE)]


def _listed(value: object) -> object:
    """Let YAML name one file without a list."""
    return (value,) if isinstance(value, str) else value


def as_text(value: object) -> object:
    """Let YAML hold a number where a word is another choice."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Patterns = Annotated[tuple[str, ...], pydantic.BeforeValidator(_listed)]


class Options(StepOptions):
    """What all models of jobs and commands share; one that a help text names is a group of it."""


def unsaid_options(options: Options) -> set[str]:
    """Return the options that a plan leaves out, so that runs without them keep their bytes."""
    return {
        name
        for name, field in type(options).model_fields.items()
        if isinstance(field.json_schema_extra, dict)
        and "unsaid" in field.json_schema_extra
        and getattr(options, name) == field.get_default()
    }


class CorpusFileOptions(StepOptions):
    """Which files a corpus is, and where in them its texts are."""

    corpus: str | None = Field(None, description="name of the corpus (default: the file's name)")
    input: Patterns = Field(
        (),
        description="files or globs holding both sides: .tsv .jsonl .parquet .po .tmx .xlf "
        "[.gz .zst]",
    )
    source_input: Patterns = Field((), description="line-parallel text, the source side")
    target_input: Patterns = Field((), description="line-parallel text, the target side")
    translation_input: Patterns = Field(
        (), description="line-parallel machine translation of the source"
    )
    links: Patterns = Field(
        (),
        description="aligner given: Pharaoh links (i-j), one line for each line of source_input, "
        "of the tokens that tokens says; of suggest from translation to target [.gz .zst]",
    )
    forward_links: Patterns = Field(
        (), description="or the links of one direction, also as source-target, with reverse_links"
    )
    reverse_links: Patterns = Field(
        (), description="and those of the other; heuristic says how they are combined"
    )
    attention: Patterns = Field(
        (),
        description="or attention of a translation model for each line: .npz with arrays arr_0, "
        "arr_1 and so on, [target, source], [head, target, source] or [layer, head, target, "
        "source], or a padded .npy of them",
    )
    source_lang: Language | None = Field(
        None, description="BCP 47 tag of the source language (default und; en for PO)"
    )
    target_lang: Language | None = Field(
        None, description="BCP 47 tag of the target language (default und)"
    )
    format: InputFormatName | None = Field(
        None,
        description="format of --input, if the file's name does not show it; lxm: of "
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
        description="aligner given: field or column of a pair's links, likewise: Pharaoh text; of "
        "JSONL also [[0, 0], [1, 2]], of Parquet also what align writes",
    )
    field_count: int | None = Field(
        None, ge=2, description="fields in each line of TSV (default: as in the first line)"
    )


class CorpusTextOptions(StepOptions):
    """What becomes of tags and of odd characters in the texts of a corpus."""

    inline_tags: Literal["raw", "strip", "index", "reject"] | None = Field(
        None,
        description="tags inside texts: raw leaves them, strip removes them, index makes them the "
        "pair's tags, reject rejects the pair (default strip for TMX, XLIFF and LXM, else "
        "raw)",
    )
    inline_syntax: Literal["xml", "html", "xliff", "indexed"] | None = Field(
        None,
        description="the tags of texts, other than XML's own (default html for PO, else xml)",
    )
    tags_differ: Literal["reject", "keep"] = Field(
        "reject",
        description="pairs whose sides have different tags, with --inline_tags index; keep keeps "
        "the tags that both have",
    )
    html_entities: Literal["decode", "reject", "keep"] = Field(
        "keep",
        description="HTML entities in texts (&#39; &quot; &amp;), as in machine translations: "
        "decode makes them characters, once, and never a tag; reject rejects the pair; keep "
        "leaves them, and reports a column with many",
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
    """Where one corpus lies: ``input``, or ``source_input`` with ``target_input``."""


class CorpusListOptions(CorpusOptions):
    """One corpus, or several."""

    corpora: tuple[CorpusOptions, ...] = Field(
        (), description="several corpora (YAML only): a list of maps with the input options"
    )


class InputOptions(ReadLimitOptions, CorpusListOptions):
    """What is read."""

    unit_rows: int = Field(65_536, ge=1, description="lines of plain text read as one unit of work")


class ScreenOptions(ScreenLimits, Options):
    """Which pairs are turned away before anything costly is done."""

    exclude: Patterns = Field(
        (), description="dev and test files, one sentence per line, whose sentences are rejected"
    )


class AlignedOptions(StepOptions):
    """Which tokens are aligned, and by which aligner."""

    tokens: str | None = Field(
        None,
        pattern=_TOKENS,
        description="what is aligned: words, whitespace, sentencepiece:MODEL, sentencepiece to "
        "train a model on a sample, or the encoder's pieces (default words, or those of the given "
        "model)",
    )

    @property
    def aligner_name(self) -> str:
        """Return which of the registered aligners is used."""
        return "hmm"

    @property
    def given_model(self) -> str | None:
        """Return where the aligner's model is, if one is given."""
        return None

    @property
    def second_name(self) -> str | None:
        """Return how the second aligner is named, if there is one."""
        return None

    @property
    def combined_by(self) -> str | None:
        """Return how the links of two aligners are joined, if the job can do that."""
        return None


class FitSettings(AlignedOptions, Options):
    """How a word aligner is fitted."""

    vocabulary: int = Field(
        16_000, ge=256, description="pieces of a SentencePiece model trained on a sample"
    )
    fit_pairs: int = Field(200_000, ge=1, description="about how many pairs the model is fitted on")
    decode: Literal["posterior", "viterbi"] = Field(
        "posterior",
        description="how a fitted model finds links in each direction (a given model has its own "
        "setting)",
    )


class SegmenterOptions(Options):
    """How words are found where no spaces stand between them."""

    SEGMENTED: ClassVar[tuple[str, ...]] = ("source", "target")
    """The sides of a pair whose words are looked for."""

    segmenter: Literal["auto", "dictionary", "none"] = Field(
        "auto",
        description="words of Chinese, Japanese, Thai, Lao, Khmer and Burmese: dictionary, by the "
        "dictionaries of ICU and jieba (pip install 'pairweave[segment]'); none, each character; "
        "auto, dictionary where the input is in such a language",
    )


class TranslatorNameOptions(StepOptions):
    """Which translator."""

    translator: str | None = Field(
        None,
        pattern=r"^(ctranslate2|transformers):.+$",
        description="translates sources without a translation: ctranslate2:DIR, "
        "transformers:DIR or transformers:OWNER/NAME (MarianMT, M2M-100, NLLB)",
    )


class TranslatorOptions(TranslationOptions, TranslatorNameOptions, Options):
    """How sources are translated where the input has no translation."""


class OutputOptions(StepOptions):
    """Where a run's files go."""

    output: str = Field(
        min_length=1,
        description="directory or URI of the run's files",
        json_schema_extra={"metavar": "DIR"},
    )


class PlaceOptions(SeedOptions, OutputOptions, Options):
    """Where and how the job runs: all that a job in one process needs."""

    plan_only: bool = Field(default=False, description="print the plan, run nothing, write nothing")


class RunOptions(PlaceOptions):
    """Where and how the job runs: as a graph that makes shards."""

    shard_pairs: int = Field(
        65_536, ge=1, description="pairs in a shard, about; fewer where pairs average over 8 KiB"
    )
    allow_empty: bool = Field(default=False, description="let a run succeed with no pair kept")
    engine: Literal["local", "prism", "flink"] = Field(
        "local", description="engine that runs the graph"
    )
    workers: int = Field(
        default_factory=lambda: os.cpu_count() or 1,
        ge=1,
        description="processes (local) or parallel slots (flink), and if there are fewer shards, "
        "threads of an encoder or a translator; changes no byte",
    )
    attempts: int = Field(2, ge=1, description="how often a run that fails is resumed")


class PlannedOptions(PlaceOptions, AlignedOptions, ScreenOptions, InputOptions):
    """What the options of every job on a corpus hold."""


class JobOptions(RunOptions, FitSettings, PlannedOptions):
    """What the options of every job on a corpus hold whose graph makes shards."""
