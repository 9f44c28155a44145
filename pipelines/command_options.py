"""The options of the commands that read files or finished runs: one frozen model a command."""

from typing import Literal

from pydantic import Field

from pipelines.options import AlignerOptions, Heuristic, Language, Options, Patterns


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
    format: Literal[
        "wets", "mt5", "moses", "tsv", "jsonl", "tmx", "xliff", "xliff2", "po", "lxm", "html"
    ] = Field(
        description="suggestions: wets (.src, .mask, .tgt), mt5 (source <sep> masked, tab, "
        "suggestion); tagged pairs: moses (.src, .tgt), tmx (1.4b), xliff (1.2), xliff2 (2.1), po, "
        "lxm (JSON, a file a side), html (JSON lines of HTML fragments); both: tsv, jsonl"
    )
    output: str = Field(min_length=1, description="directory of the files, outside any run")
    rows: Literal["tagged", "plain", "all"] | None = Field(
        None,
        description="tmx, xliff, xliff2, po, lxm, html: which rows (default those with tags; of "
        "align all)",
    )
    inline_syntax: Literal["xml", "html", "xliff", "indexed"] | None = Field(
        None,
        description="po, lxm, html: what will be read as a tag (default xml for lxm, else html)",
    )
    unfit: Literal["refuse", "leave_out", "escape"] = Field(
        "refuse",
        description="rows that the format cannot carry, for a line break, a sign of its own or "
        "what would be read as a tag in a text: refuse to export, leave_out these rows, or escape "
        "every backslash, tab and line break",
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
