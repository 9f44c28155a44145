"""The options of every job: one frozen model a job.

From a model come the flags, the YAML keys, the checks, the help text and the defaults. A job builds
its steps' configurations from it; no step reads flags or the environment.
"""

import math
import os
from typing import Annotated, Literal

import pydantic
from pydantic import Field, JsonValue

from models.encoder_config import HeadName, LongPairs, Precision
from models.external_config import ProgramName

_LANGUAGE = r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$"
_TOKENS = r"^(words|whitespace|pieces|sentencepiece(:.+)?)$"
_TOKEN_BUDGET = r"^(auto|[1-9][0-9]{0,7})$"
PATTERN_TEXTS = {
    _LANGUAGE: "must be a language tag such as en or pt-BR",
    _TOKENS: "must be words, whitespace, pieces, sentencepiece or sentencepiece:MODEL",
    _TOKEN_BUDGET: "must be auto or a whole number from 1 to 99,999,999",
}
"""What a person is told who breaks a pattern."""

Language = Annotated[str, Field(pattern=_LANGUAGE)]
Heuristic = Literal[
    "intersection", "union", "grow", "grow-diag", "grow-diag-final", "grow-diag-final-and"
]


def _listed(value: object) -> object:
    """Let YAML name one file without a list."""
    return (value,) if isinstance(value, str) else value


def _as_text(value: object) -> object:
    """Let YAML hold a number where a word is another choice."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Patterns = Annotated[tuple[str, ...], pydantic.BeforeValidator(_listed)]

UNSAID: dict[str, JsonValue] = {"unsaid": True}
"""Marks an option that a plan leaves out while it has its default."""


class Options(pydantic.BaseModel):
    """What all models share: frozen, complete, no unknown key."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", allow_inf_nan=True)


def unsaid_options(options: Options) -> set[str]:
    """Return the options that a plan leaves out, so that runs without them keep their bytes."""
    return {
        name
        for name, field in type(options).model_fields.items()
        if isinstance(field.json_schema_extra, dict)
        and "unsaid" in field.json_schema_extra
        and getattr(options, name) == field.get_default()
    }


class CorpusOptions(Options):
    """Where one corpus lies: ``input``, or ``source_input`` with ``target_input``."""

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
    source_lang: Language | None = Field(
        None, description="BCP 47 tag of the source language (default und; en for PO)"
    )
    target_lang: Language | None = Field(
        None, description="BCP 47 tag of the target language (default und)"
    )
    format: Literal["tsv", "jsonl", "parquet", "po", "tmx", "xliff", "lxm"] | None = Field(
        None,
        description="format of --input where the file's name does not tell; lxm: of --source_input "
        "and --target_input",
    )
    source_field: str | None = Field(
        None, description="source field of JSONL and Parquet, or column number (from 1) of TSV"
    )
    target_field: str | None = Field(None, description="target field or column, likewise")
    translation_field: str | None = Field(
        None, description="field or column of a machine translation, likewise"
    )
    field_count: int | None = Field(
        None, ge=2, description="fields in each line of TSV (default: as the first line has)"
    )
    po_take: tuple[Literal["fuzzy", "obsolete"], ...] = Field(
        (), description="PO entries to read instead of rejecting them: fuzzy, obsolete"
    )
    xliff_take: tuple[Literal["untranslated", "doubtful"], ...] = Field(
        (), description="XLIFF segments to read instead of rejecting them for their state"
    )
    inline_tags: Literal["raw", "strip", "index", "reject"] | None = Field(
        None,
        description="tags inside texts: raw leaves them, strip takes them out, index makes them "
        "the pair's tags, reject turns the pair away (default strip for TMX, XLIFF and LXM, else "
        "raw)",
    )
    inline_syntax: Literal["xml", "html", "xliff", "indexed"] | None = Field(
        None,
        description="what is a tag inside texts that are not XML's own (default html for PO, else "
        "xml)",
    )
    tags_differ: Literal["reject", "keep"] = Field(
        "reject",
        description="pairs whose sides have unlike tags, with --inline_tags index; keep makes tags "
        "of what both have",
    )
    licence: str | None = Field(None, description="licence of the corpus, for the dataset card")


class InputOptions(CorpusOptions):
    """What is read."""

    corpora: tuple[CorpusOptions, ...] = Field(
        (), description="several corpora (YAML only): a list of maps with the input options"
    )
    max_line_bytes: int = Field(1 << 20, ge=1, description="longest line, in bytes")
    max_expansion: int = Field(
        200, ge=1, description="largest ratio of decompressed to compressed bytes"
    )
    max_file_bytes: int = Field(
        1 << 40, ge=1, description="largest decompressed size of one file, in bytes"
    )
    max_json_depth: int = Field(64, ge=1, le=512, description="deepest nesting of a JSON line")
    unit_rows: int = Field(65_536, ge=1, description="lines of plain text read as one unit of work")


class ScreenOptions(Options):
    """Which pairs are turned away before anything costly is done."""

    max_tokens: int = Field(250, ge=1, le=32_000, description="longest side, in tokens")
    max_ratio: float = Field(
        1.5, ge=1, description="largest ratio of the sides' token counts; inf for none"
    )
    max_token_chars: int = Field(100, ge=1, description="longest token, in characters")
    drop_identical: bool = Field(default=False, description="reject pairs whose sides are equal")
    exclude: Patterns = Field(
        (), description="dev and test files, one sentence a line, whose sentences are rejected"
    )


class FitSettings(Options):
    """How a word aligner is fitted."""

    tokens: str | None = Field(
        None,
        pattern=_TOKENS,
        description="what is aligned: words, whitespace, sentencepiece:MODEL, sentencepiece to "
        "train a model on a sample, or the encoder's pieces (default words, or those of the given "
        "model)",
    )
    vocabulary: int = Field(
        16_000, ge=256, description="pieces of a SentencePiece model trained on a sample"
    )
    fit_pairs: int = Field(200_000, ge=1, description="about how many pairs the model is fitted on")
    decode: Literal["posterior", "viterbi"] = Field(
        "posterior",
        description="how a fitted model's links are read off in each direction (a given model has "
        "its own)",
    )


class AlignerSettings(FitSettings):
    """How words are aligned, by any aligner."""

    aligner: Literal["ter", "hmm", "encoder", "external"] = Field(
        "hmm",
        description="the word aligner: edits (within one language, no model), statistical, or a "
        "multilingual Transformer",
    )
    model: str | None = Field(
        None,
        min_length=1,
        description="hmm: directory of a fitted model (default: fit on the input first); "
        "encoder: directory or hub name; external: directory of its encoder, or what it learned in "
        "an earlier run",
        json_schema_extra={"metavar": "DIR"},
    )
    revision: str | None = Field(
        None, description="encoder: branch, tag or commit of a hub model (default: its newest)"
    )
    layer: int = Field(
        8, ge=-200, le=200, description="encoder: layer whose output is compared; -1 the last"
    )
    head: HeadName = Field("softmax", description="encoder: how links are read off")
    precision: Precision = Field(
        "fp32", description="encoder: arithmetic; fp16 on a GPU alone, int8 on a CPU alone"
    )
    long_pairs: LongPairs = Field(
        "windows",
        description="encoder: a side over its limit is encoded in overlapping windows, or the "
        "pair rejected",
    )
    token_budget: Annotated[str, pydantic.BeforeValidator(_as_text)] = Field(
        "auto",
        pattern=_TOKEN_BUDGET,
        description="encoder: pieces in a batch, padding included; auto measures the device",
    )
    large_model: bool = Field(
        default=False,
        description="encoder: a machine's worker processes share one copy, held by one of them",
    )
    model_copies: int | None = Field(
        None, ge=1, description="encoder: they share so many copies (default: one each)"
    )
    accelerator: str | None = Field(
        None,
        pattern=r"^type:[\w.-]+;count:[1-9]\d*(;[\w.:-]+)*$",
        description="encoder: what the runner is asked for where pairs are aligned and nowhere "
        "else, such as 'type:nvidia-l4;count:1;install-nvidia-driver'",
    )
    watch_model: bool = Field(
        default=False,
        description="encoder: each shard takes the model that --model, a directory or a link to "
        "one, holds when the shard begins; its receipt names it",
    )


class AlignerOptions(AlignerSettings):
    """How the words of two languages are aligned."""

    aligner: Literal["hmm", "encoder", "external"] = Field(
        "hmm",
        description="the word aligner: statistical, a multilingual Transformer, or a program",
    )
    program: ProgramName | None = Field(
        None, description="external: which program; eflomal and giza only to be evaluated"
    )
    program_path: str | None = Field(
        None,
        description="external: its executable, or the Python that has its package (default: as "
        "on the search path)",
    )
    program_timeout: int = Field(
        3600, ge=1, description="external: seconds that one call of the program may take"
    )
    second_aligner: str | None = Field(
        None,
        description="another aligner, whose links are joined with the first one's: "
        "hmm:DIRECTORY, encoder:MODEL:layer=8:head=softmax, or a program likewise",
    )
    combine: Literal["intersection", "union"] = Field(
        "intersection", description="how the links of two aligners are joined"
    )


class TranslatorOptions(Options):
    """How sources are translated where the input has no translation."""

    translator: str | None = Field(
        None,
        pattern=r"^(ctranslate2|transformers):.+$",
        description="translates sources without a translation: ctranslate2:DIR, "
        "transformers:DIR or transformers:OWNER/NAME (MarianMT, M2M-100, NLLB)",
    )
    translator_revision: str | None = Field(
        None, description="translator: branch, tag or commit of a hub model (default: its newest)"
    )
    beam_size: int = Field(4, ge=1, le=100, description="translator: width of the beam")
    max_translation_tokens: int = Field(
        256,
        ge=1,
        le=4096,
        description="translator: longest translation, in its pieces; a longer one is rejected",
    )
    translator_source_tokens: int = Field(
        512,
        ge=2,
        le=4096,
        description="translator: longest source, in its pieces; a longer one is rejected",
    )
    translator_batch_tokens: int = Field(
        4096, ge=1, le=1 << 24, description="translator: source pieces in a batch, with padding"
    )
    translator_precision: Precision = Field(
        "fp32",
        description="translator: arithmetic; fp16 on a GPU alone, int8 with CTranslate2 alone",
    )


class RunOptions(Options):
    """Where and how the job runs."""

    output: str = Field(
        min_length=1,
        description="directory or URI of the run's files",
        json_schema_extra={"metavar": "DIR"},
    )
    seed: int = Field(1, ge=0, lt=1 << 63, description="seed of all random draws")
    shard_pairs: int = Field(65_536, ge=1, description="pairs in a shard, about")
    allow_empty: bool = Field(default=False, description="let a run end with no pair kept")
    engine: Literal["local", "prism", "flink"] = Field("local", description="what runs the graph")
    workers: int = Field(
        default_factory=lambda: os.cpu_count() or 1,
        ge=1,
        description="processes (local) or parallel slots (flink); changes no byte",
    )
    attempts: int = Field(2, ge=1, description="how often a run that fails is resumed")
    plan_only: bool = Field(default=False, description="print the plan, run nothing, write nothing")


class JobOptions(RunOptions, FitSettings, ScreenOptions, InputOptions):
    """What the options of every job on a corpus hold."""


class FitOptions(JobOptions):
    """Options of ``fit``."""


class FinetuneOptions(JobOptions):
    """Options of ``finetune``. It runs in one process: what is about others is left out."""

    model: str = Field(min_length=1, description="encoder to start from: directory or hub name")
    revision: str | None = Field(None, description="branch, tag or commit of a hub model")
    objectives: str = Field(
        "mlm,tlm,so,psi",
        pattern=r"^(mlm|tlm|so|psi|co)(,(mlm|tlm|so|psi|co))*$",
        description="what is learnt: mlm and tlm (guessing masked pieces of a sentence, of a "
        "pair), so (strengthening its own links), psi (telling translations from others), co "
        "(agreement of both directions)",
    )
    layer: int = Field(
        8, ge=-200, le=200, description="layer that is to be aligned with; -1 the last"
    )
    tokens: str = Field(
        "words",
        pattern=r"^(words|whitespace|sentencepiece:.+)$",
        description="what so links as wholes: words, whitespace, sentencepiece:MODEL",
    )
    fit_pairs: int = Field(200_000, ge=1, description="about how many pairs are trained on")
    steps: int | None = Field(None, ge=1, description="updates in all (default: see epochs)")
    epochs: int = Field(1, ge=1, description="how often each pair is seen")
    batch_pairs: int = Field(8, ge=1, description="pairs of one update")
    learning_rate: float = Field(2e-5, gt=0, le=1, description="greatest step size of AdamW")
    warmup_steps: int = Field(0, ge=0, description="updates over which the step size grows")
    weight_decay: float = Field(0.0, ge=0, le=1, description="decay of weights")
    max_gradient: float = Field(1.0, gt=0, description="longest gradient")
    threshold: float = Field(
        0.001, ge=0, le=1, description="so: probability that a link is above in both directions"
    )
    mask_share: float = Field(0.15, ge=0.001, le=0.9, description="mlm, tlm: share of masked")
    max_pieces: int = Field(256, ge=1, le=32_768, description="longest side, in encoder's pieces")
    token_budget: int = Field(
        4096, ge=1, le=1 << 24, description="pieces worked on at once, padding included"
    )
    checkpoint_steps: int = Field(
        1000, ge=1, description="updates between two savings of the state, to go on from"
    )
    precision: Literal["fp32", "bf16"] = Field("fp32", description="arithmetic of the encoder")
    device: str = Field(
        "auto", pattern=r"^(auto|cpu|cuda(:\d+)?)$", description="auto, cpu, cuda or cuda:N"
    )
    threads: int = Field(
        default_factory=lambda: os.cpu_count() or 1,
        ge=1,
        description="threads of a CPU; with another number, results are rounded otherwise",
    )
    vocabulary: int = Field(16_000, exclude=True)
    decode: Literal["posterior", "viterbi"] = Field("posterior", exclude=True)
    engine: Literal["local", "prism", "flink"] = Field("local", exclude=True)
    workers: int = Field(1, exclude=True)
    attempts: int = Field(1, exclude=True)
    shard_pairs: int = Field(1 << 62, exclude=True)
    allow_empty: bool = Field(default=False, exclude=True)


class AlignOptions(AlignerOptions, JobOptions):
    """Options of ``align``."""

    max_tokens: int = Field(1_000, ge=1, le=32_000, description="longest side, in tokens")
    max_ratio: float = Field(
        math.inf, ge=1, description="largest ratio of the sides' token counts; inf for none"
    )
    max_token_chars: int = Field(1_000, ge=1, description="longest token, in characters")
    heuristic: Heuristic = Field("grow-diag", description="how the two directions are combined")
    pharaoh: str | None = Field(
        None,
        min_length=1,
        description="file for the links of each input line, in input order",
        json_schema_extra={"metavar": "FILE"},
    )


FRAGMENT_DEFAULTS = {
    "max_words": 6,
    "max_tags": 2,
    "self_closing_share": 0.27,
    "damage_share": 0.10,
}
"""What ``--method fragment`` does if nothing else is said (Hanneman and Dinu 2020, section 5.1)."""


class AugmentOptions(TranslatorOptions, AlignerOptions, JobOptions):
    """Options of ``augment``."""

    method: Literal["alignment", "fragment"] = Field(
        "alignment",
        description="what tags are put round: alignment, phrase pairs of word links; fragment, "
        "pieces of the source whose translation, by the model's lexicon or --translator, stands in "
        "the target "
        "(then max_words 6, max_tags 2, self_closing_share 0.27, damage_share 0.1 by default)",
        json_schema_extra=UNSAID,
    )
    heuristic: Heuristic = Field("grow-diag", description="how the two directions are combined")
    max_words: int = Field(64, ge=1, le=512, description="longest phrase, in tokens")
    unaligned_words: Literal["forbid", "allow"] = Field(
        "forbid", description="whether a phrase may hold unaligned words"
    )
    representation: Literal["indexed", "xliff", "masked", "html", "template"] = Field(
        "indexed",
        description="what tags look like: indexed <a_0> ... </a_0>, xliff <g id=...>, masked "
        "XLF_OPENG,1, html <b>, or a --template",
    )
    template: Patterns = Field(
        (),
        max_length=3,
        description="with --representation template: what opening, closing and self-closing tags "
        "look like, such as '⟦{index}⟧' '⟦/{index}⟧' '⟦{index}/⟧'",
        json_schema_extra=UNSAID,
    )
    max_tags: int = Field(9, ge=1, le=9, description="most tags in a pair")
    tag_share: float = Field(0.3, gt=0, le=1, description="tags stay under this share of the words")
    nesting: Literal["proper", "free"] = Field(
        "proper", description="proper: tags nest as markup must; free: they may cross"
    )
    mix: float = Field(
        1.0, ge=0, description="tagged rows to one plain row; 0 plain only, inf tagged only"
    )
    variants: int = Field(1, ge=1, le=100, description="tagged rows made of a picked pair")
    whitespace_shift: bool = Field(
        default=False, description="move the space before an opening tag behind it"
    )
    min_confidence: float = Field(
        0.0,
        ge=0,
        le=1,
        description="least score of a phrase pair, by what the aligner believes of its links; 0 "
        "takes all",
        json_schema_extra=UNSAID,
    )
    draw: Literal["uniform", "confident"] = Field(
        "uniform",
        description="how phrase pairs are drawn: alike, or by the odds of their scores",
        json_schema_extra=UNSAID,
    )
    self_closing_share: float = Field(
        0.0,
        ge=0,
        le=1,
        description="share of tags that are self-closing instead of a pair",
        json_schema_extra=UNSAID,
    )
    damage_share: float = Field(
        0.0,
        ge=0,
        le=1,
        description="share of pairs of tags of which one half is skipped",
        json_schema_extra=UNSAID,
    )
    empty_share: float = Field(
        0.0,
        ge=0,
        le=1,
        description="share of whole pairs of tags with nothing inside",
        json_schema_extra=UNSAID,
    )
    split_share: float = Field(
        0.0,
        ge=0,
        le=1,
        description="share of whole pairs of tags in two parts on one side, where phrases allow it",
        json_schema_extra=UNSAID,
    )
    tag_profile: str | None = Field(
        None,
        description="file of tags profile: draw numbers, forms, lengths, places and nesting of "
        "tags as it says",
        json_schema_extra=UNSAID,
    )

    @pydantic.model_validator(mode="before")
    @classmethod
    def _fragment_defaults(cls, values: object) -> object:
        """Let fragments have defaults of their own."""
        if isinstance(values, dict) and values.get("method") == "fragment":
            return {**FRAGMENT_DEFAULTS, **values}
        return values


class SymmetrizeOptions(Options):
    """Options of ``symmetrize``."""

    forward: str = Field(description="Pharaoh links, one direction", json_schema_extra={"at": 0})
    reverse: str = Field(
        description="Pharaoh links, the other direction, also as source-target",
        json_schema_extra={"at": 1},
    )
    heuristic: Heuristic = Field("grow-diag", description="how the two directions are combined")


class PhrasesOptions(Options):
    """Options of ``phrases``."""

    links: str = Field(description="Pharaoh links", json_schema_extra={"at": 0})
    max_words: int = Field(64, ge=1, le=512, description="longest phrase, in words")
    unaligned_words: Literal["forbid", "allow"] = Field(
        "forbid", description="whether a phrase may hold unaligned words"
    )
    source_text: str | None = Field(
        None,
        description="the source sentences, words parted by blanks: with --unaligned_words allow "
        "they tell what lies behind the last linked word",
        json_schema_extra={"metavar": "FILE"},
    )
    target_text: str | None = Field(
        None,
        description="the target sentences, likewise",
        json_schema_extra={"metavar": "FILE"},
    )


class EvaluateLinksOptions(Options):
    """Options of ``evaluate links``."""

    hypothesis: str = Field(description="Pharaoh links to judge", json_schema_extra={"at": 0})
    gold: str = Field(description="gold links: i-j sure, ipj possible", json_schema_extra={"at": 1})
    one_based: bool = Field(default=False, description="the gold counts words from 1")


class EvaluateAlignersOptions(Options):
    """Options of ``evaluate aligners``."""

    aligners: Patterns = Field(
        (),
        description="what is compared (default hmm), as NAME[:MODEL][:SETTING=VALUE ...]: hmm, "
        "encoder, fast_align, systran-align, eflomal, awesome-align, simalign, giza; such as "
        "encoder:DIRECTORY:layer=8:head=softmax or eflomal:path=/opt/eflomal/bin/eflomal-align",
    )
    gold: str = Field(min_length=1, description="gold links: i-j sure, ipj possible")
    one_based: bool = Field(default=False, description="the gold counts words from 1")
    pairs: str | None = Field(
        None, description="the gold set, 'source ||| target' a line, words parted by blanks"
    )
    source_input: str | None = Field(None, description="or its source side, words likewise")
    target_input: str | None = Field(None, description="and its target side")
    train_source_input: Patterns = Field(
        (), description="more text to learn from, the source side, for aligners that learn"
    )
    train_target_input: Patterns = Field((), description="and the target side")
    train_tokens: Literal["words", "whitespace"] = Field(
        "words", description="how that text is cut"
    )
    source_lang: Language = Field("und", description="BCP 47 tag of the source language")
    target_lang: Language = Field("und", description="BCP 47 tag of the target language")
    heuristic: Heuristic = Field("grow-diag", description="how the two directions are combined")
    program_timeout: int = Field(
        3600, ge=1, description="seconds that one call of a program may take"
    )


class EvaluateSuggestionsOptions(Options):
    """Options of ``evaluate suggestions``."""

    hypothesis: str = Field(
        description="suggestions to judge, one a line", json_schema_extra={"at": 0}
    )
    gold: str = Field(description="gold suggestions, line by line", json_schema_extra={"at": 1})
    target_lang: Language = Field(
        description="language of the suggestions; sacreBLEU cuts Chinese into characters"
    )


class CompareExamplesOptions(Options):
    """Options of ``evaluate suggestions --data``."""

    data: str = Field(
        min_length=1,
        description="directory of a finished run of suggest, or what PREFIX.src, PREFIX.mask and "
        "PREFIX.tgt begin with",
    )
    golden: str = Field(
        min_length=1,
        description="what the golden PREFIX.src, PREFIX.mask and PREFIX.tgt begin with",
    )
    target_lang: Language | None = Field(
        None, description="BCP 47 tag of the translations (default: the run's, if it has one)"
    )


class ExportOptions(Options):
    """Options of ``export``."""

    directory: str = Field(
        description="directory of a finished run of suggest or augment", json_schema_extra={"at": 0}
    )
    format: Literal["wets", "mt5", "moses", "tsv", "jsonl"] = Field(
        description="suggestions: wets (.src, .mask, .tgt), mt5 (source <sep> masked, tab, "
        "suggestion); tagged pairs: moses (.src, .tgt); both: tsv, jsonl"
    )
    output: str = Field(min_length=1, description="directory of the files, outside any run")
    unfit: Literal["refuse", "leave_out", "escape"] = Field(
        "refuse",
        description="rows with a line break or another sign of the format in a text: refuse to "
        "export, leave_out these rows, or escape every backslash, tab and line break",
    )


class EvaluateTagsOptions(Options):
    """Options of ``evaluate tags``."""

    hypothesis: str = Field(
        description="outputs with tags: text, line by line, or LXM .json",
        json_schema_extra={"at": 0},
    )
    reference: str = Field(description="references with tags, as many", json_schema_extra={"at": 1})
    source: str | None = Field(
        None, description="what was translated, with its tags: counts flagrant failures"
    )
    syntax: Literal["lxm", "xml", "xliff", "html", "indexed"] | None = Field(
        None,
        description="what is a tag; lxm: as the LXM corpus's own script (default lxm for .json, "
        "else xml)",
    )
    bleu_words: Literal["moses", "13a", "intl", "char", "zh", "whitespace", "off"] | None = Field(
        None, description="words of BLEU (default moses for .json, else 13a); off for no BLEU"
    )
    target_lang: Language | None = Field(
        None, description="BCP 47 tag of the outputs (default: what .json says)"
    )
    tag_shift: bool = Field(
        default=False, description="measure again with all tags moved one word to the left"
    )
    lines: str | None = Field(None, description="file for what is said of each line, as JSONL")


class JudgementOptions(Options):
    """Options of ``evaluate judgements``."""

    sample: str | None = Field(None, description="directory of a finished run to draw tags from")
    number: int = Field(200, ge=1, description="pairs to draw")
    seed: int = Field(1, ge=0, lt=1 << 63, description="another seed draws other pairs")
    output: str | None = Field(None, description="file of the sheet, tab-separated")
    sheets: Patterns = Field((), description="judged sheets of one sample, one for each person")


class ReportOptions(Options):
    """Options of ``report``."""

    directory: str = Field(description="directory of a finished run", json_schema_extra={"at": 0})
    output: str = Field(
        "report.html",
        min_length=1,
        description="file of the report, outside any run",
        json_schema_extra={"metavar": "FILE"},
    )


class PreviewOptions(Options):
    """Options of ``preview``."""

    directory: str = Field(description="directory of a finished run", json_schema_extra={"at": 0})
    pairs: int = Field(6, ge=1, le=1_000, description="pairs to print")
    seed: int = Field(1, ge=0, lt=1 << 63, description="another seed draws other pairs")


class DoctorOptions(Options):
    """Options of ``doctor``."""


class DemoOptions(Options):
    """Options of ``demo``."""

    output: str = Field(
        "demo-output",
        min_length=1,
        description="directory of the demonstration's files",
        json_schema_extra={"metavar": "DIR"},
    )
    target_lang: Literal["de", "es", "fr"] = Field("de", description="German, Spanish or French")
    pairs: int = Field(6, ge=1, le=100, description="tagged pairs to print")


class TagsProfileOptions(Options):
    """Options of ``tags profile``."""

    input: str = Field(description="tagged text, one text a line [.gz .zst]")
    target_input: str | None = Field(
        None, description="its tagged translation: tells how many pairs are in two parts"
    )
    syntax: Literal["xml", "html", "xliff", "indexed"] = Field(
        "xliff", description="what is a tag in the text"
    )
    source_lang: Language | None = Field(None, description="BCP 47 tag of the input")
    output: str = Field(min_length=1, description="file of the profile, JSON")


class TagsProjectOptions(AlignerOptions):
    """Options of ``tags project``."""

    source_input: str = Field(description="text with tags, one sentence a line [.gz .zst]")
    target_input: str = Field(description="its translation without tags, line by line")
    output: str = Field(description="file for the translation with the tags [.gz .zst]")
    source_syntax: Literal["xliff", "xml", "html", "indexed"] = Field(
        "xliff", description="what is a tag"
    )
    rules: Literal["best", "paper"] = Field(
        "best", description="where tags go: by link mass, or as Hanneman and Dinu (2020)"
    )
    links: str | None = Field(
        None, description="Pharaoh links of the lines' tokens, instead of an aligner"
    )
    attention: str | None = Field(
        None,
        description="attention [target, source] of each line instead of an aligner: .npz with "
        "arr_0, arr_1 and so on, or a padded .npy",
    )
    attention_method: Literal["naive", "shift"] = Field(
        "shift",
        description="attention of the step that writes a token, or of the one that reads it",
    )
    heuristic: Heuristic = Field(
        "grow-diag", description="how the two directions are combined, for paper"
    )
    fit_source_input: Patterns = Field(
        (), description="more plain text to fit hmm on, line-parallel, the source side"
    )
    fit_target_input: Patterns = Field((), description="the target side")
    source_lang: Language = Field("und", description="BCP 47 tag of the source language")
    target_lang: Language = Field("und", description="BCP 47 tag of the target language")
