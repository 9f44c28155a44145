"""The options of the commands that read files or finished runs: one frozen model per command."""

from typing import Annotated, Literal

import pydantic
from pydantic import Field

from pairweave.models.similarity.similarity_options import (
    Pairing,
    ProjectionKind,
    SimilarityEncoderOptions,
)
from pairweave.pipelines.aligners.aligner_registry import COMPARED_ALIGNERS, NAMED
from pairweave.pipelines.options.base import Language, Options, Patterns
from pairweave.pipelines.options.format_names import ExportFormatName
from pairweave.transforms.config import pick
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.formats import registry
from pairweave.transforms.links.link_options import Heuristic, PhraseOptions, SymmetrizeConfig
from pairweave.transforms.metrics.significance_options import Significance
from pairweave.transforms.option_marks import listed_before
from pairweave.transforms.option_places import (
    CORPUS_FILES,
    DIRECTORY,
    FILE,
    FILES,
    FILES_BY_PREFIX,
    FINISHED_RUNS,
    OUTPUT,
    OUTPUT_DIRECTORY,
    OUTPUT_FILE,
    RUN_OR_PREFIX,
    STORE,
)
from pairweave.transforms.suggestions.suggestion_options import Methods, split_words

_Kinds = Annotated[
    tuple[Literal["plain", "tagged", "replace", "insert", "delete"], ...],
    pydantic.BeforeValidator(split_words),
]

Sizes = Annotated[tuple[Annotated[int, Field(ge=1)], ...], pydantic.BeforeValidator(split_words)]
"""Numbers of rows, separated by commas."""


class SymmetrizeFilesOptions(SymmetrizeConfig, Options):
    """Options of ``symmetrize``."""

    forward: Annotated[str, FILE] = Field(
        description="Pharaoh links, one direction", json_schema_extra={"at": 0}
    )
    reverse: Annotated[str, FILE] = Field(
        description="Pharaoh links, the other direction, also as source-target",
        json_schema_extra={"at": 1},
    )


class PhrasesOptions(PhraseOptions, Options):
    """Options of ``phrases``."""

    links: Annotated[str, FILE] = Field(description="Pharaoh links", json_schema_extra={"at": 0})
    source_text: Annotated[str | None, FILE] = Field(
        None,
        description="the source sentences, words separated by spaces: with --unaligned_words allow "
        "they are needed for words after the last linked one",
    )
    target_text: Annotated[str | None, FILE] = Field(
        None,
        description="the target sentences, likewise",
    )


class StatusOptions(Options):
    """Options of ``status``."""

    places: Annotated[tuple[str, ...], DIRECTORY] = Field(
        min_length=1,
        description="directory or URI of a run, or the id of a job on Dataflow, which also needs "
        "--project and --region",
        json_schema_extra={"at": 0},
    )


class GcOptions(Options):
    """Options of ``gc``."""

    places: Annotated[tuple[str, ...], DIRECTORY] = Field(
        min_length=1, description="directory or URI of a run", json_schema_extra={"at": 0}
    )
    dry_run: bool = Field(default=False, description="list the files, remove nothing")
    grace_hours: float = Field(
        24.0, ge=0, description="leave files alone that were written in so many hours before"
    )
    unfinished: bool = Field(
        default=False,
        description="also remove a run without a manifest if all files below its directory are "
        "older than that; it cannot be continued then",
    )


class FilterFitOptions(Options):
    """Options of ``filter_fit``."""

    directory: Annotated[str, FINISHED_RUNS] = Field(
        description="a run of filter --annotate_only on the labelled pairs",
        json_schema_extra={"at": 0},
    )
    labels: Annotated[str, FILE] = Field(
        description="a label for each line of the run's input: 1, a translation; 0, not",
        json_schema_extra={"at": 1},
    )
    output: Annotated[str, OUTPUT_FILE] = Field(
        min_length=1,
        description="file for the weights, for filter --score_weights",
    )


class ProjectionFitOptions(SimilarityEncoderOptions, Options):
    """Options of ``projection_fit``."""

    source_input: Annotated[str, CORPUS_FILES] = Field(
        description="clean text, one sentence per line [.gz .zst .xz .bz2]"
    )
    target_input: Annotated[str, CORPUS_FILES] = Field(description="its translation, line by line")
    source_lang: Language | None = Field(
        None,
        description="BCP 47 tag of the source language; with it, filter refuses the map for pairs "
        "in others",
    )
    target_lang: Language | None = Field(
        None, description="BCP 47 tag of the target language, likewise"
    )
    pairs: int = Field(
        5_000, ge=1, description="pairs to fit on, drawn by a hash of their texts and the seed"
    )
    method: ProjectionKind = Field(
        "orthogonal",
        description="orthogonal: the best rotation (and reflection), which leaves similarities "
        "within the source as they are; least_squares: the best linear map",
    )
    pairing: Pairing = Field(
        "mutual",
        description="pieces to fit on: mutual, those that are each other's most similar; argmax, "
        "each source piece and the target piece most similar to it (NRC at WMT20)",
    )
    seed: int = Field(1, ge=0, lt=1 << 63, description="another seed draws other pairs")
    output: Annotated[str, OUTPUT_DIRECTORY] = Field(
        min_length=1,
        description="directory of the map, for filter --projection",
    )


class EvaluateLinksOptions(Options):
    """Options of ``evaluate links``."""

    hypothesis: Annotated[str, FILE] = Field(
        description="Pharaoh links to judge", json_schema_extra={"at": 0}
    )
    gold: Annotated[str, FILE] = Field(
        description="gold links: i-j sure, ipj possible", json_schema_extra={"at": 1}
    )
    one_based: bool = Field(
        default=False,
        description="the gold counts words from 1; without it, a gold in which no "
        "link has a word 0 gets a warning",
    )


class EvaluateSentencesOptions(Options):
    """Options of ``evaluate sentences``."""

    hypothesis: Annotated[str, FILE] = Field(
        description="beads to judge, such as [0, 1]:[2] or [0, 1]:[2]:0.53; blank lines part "
        "documents",
        json_schema_extra={"at": 0},
    )
    gold: Annotated[str, FILE] = Field(
        description="gold beads of as many documents, likewise", json_schema_extra={"at": 1}
    )


class EvaluateAlignersOptions(Options):
    """Options of ``evaluate aligners``."""

    aligners: Annotated[Patterns, COMPARED_ALIGNERS] = Field(
        (),
        description="aligners to compare (default hmm), as NAME[:MODEL][:SETTING=VALUE ...]: "
        f"{', '.join(NAMED)}; such as encoder:DIRECTORY:layer=8:head=softmax, "
        "eflomal:path=/opt/eflomal/bin/eflomal-align or "
        "attention:FILE.npz:layer=all:head=all:method=shift:pieces=SPM",
    )
    gold: Annotated[str, FILE] = Field(
        min_length=1, description="gold links: i-j sure, ipj possible"
    )
    one_based: bool = Field(
        default=False,
        description="the gold counts words from 1; without it, a gold in which no "
        "link has a word 0 gets a warning",
    )
    pairs: Annotated[str | None, FILE] = Field(
        None,
        description="the gold set, 'source ||| target' on each line, words separated by spaces",
    )
    source_input: Annotated[str | None, CORPUS_FILES] = Field(
        None, description="or its source side, words likewise"
    )
    target_input: Annotated[str | None, CORPUS_FILES] = Field(
        None, description="and its target side"
    )
    train_source_input: Annotated[Patterns, FILES] = Field(
        (), description="more text to learn from, the source side, for aligners that learn"
    )
    train_target_input: Annotated[Patterns, FILES] = Field((), description="and the target side")
    train_tokens: Literal["words", "whitespace"] = Field("words", description="tokens of that text")
    source_lang: Language = Field("und", description="BCP 47 tag of the source language")
    target_lang: Language = Field("und", description="BCP 47 tag of the target language")
    heuristic: Heuristic = Field("grow-diag", description="how the two directions are combined")
    program_timeout: int = Field(
        3600, ge=1, description="seconds that one call of a program may take"
    )


class SignificanceOptions(Significance, Options):
    """Comparison of two systems."""

    baseline: Annotated[str | None, FILE] = Field(
        None,
        description="outputs of another system: every figure is tested against its own, by "
        "sacreBLEU's paired bootstrap and approximate randomization",
        json_schema_extra=listed_before("resamples"),
    )

    def config(self) -> Significance | None:
        """Return the settings of significance tests; None without a system to compare with.

        Raises:
            ConfigError: Options of the tests are given without a system to compare with.
        """
        if self.baseline is not None:
            return pick(Significance, self)
        unused = sorted(Significance.model_fields.keys() & self.model_fields_set)
        if unused:
            raise ConfigError(
                f"--{unused[0]} applies to significance tests; give --baseline FILE as well"
            )
        return None


class EvaluateSuggestionsOptions(SignificanceOptions):
    """Options of ``evaluate suggestions``."""

    hypothesis: Annotated[str, FILE] = Field(
        description="suggestions to judge, one per line", json_schema_extra={"at": 0}
    )
    gold: Annotated[Patterns, FILES] = Field(
        min_length=1,
        description="gold suggestions, line by line; several files are several references",
        json_schema_extra={"at": 1},
    )
    target_lang: Language = Field(
        description="language of the suggestions; sacreBLEU cuts Chinese into characters"
    )


class CompareExamplesOptions(Options):
    """Options of ``evaluate suggestions --data``."""

    data: Annotated[str, RUN_OR_PREFIX] = Field(
        min_length=1,
        description="directory of a finished run of suggest, or the PREFIX of PREFIX.src, "
        "PREFIX.mask and PREFIX.tgt",
    )
    golden: Annotated[str, FILES_BY_PREFIX] = Field(
        min_length=1,
        description="the PREFIX of the golden PREFIX.src, PREFIX.mask and PREFIX.tgt",
    )
    target_lang: Language | None = Field(
        None, description="BCP 47 tag of the translations (default: the run's, if it has one)"
    )


class ExportOptions(Options):
    """Options of ``export``."""

    directory: Annotated[str, FINISHED_RUNS] = Field(
        description="directory of a finished run of suggest or augment", json_schema_extra={"at": 0}
    )
    format: ExportFormatName = Field(
        description="suggestions: wets (.src, .mask, .tgt), mt5 (source <sep> masked, tab, "
        "suggestion); tagged pairs: moses (.src, .tgt), opustrainer (source, tab, target, tab, "
        "links; no header), tmx (1.4b), xliff (1.2), xliff2 (2.1), po, "
        "lxm (JSON, one file per side), html (JSON lines of HTML fragments); both: tsv, jsonl, "
        "chat (JSON lines of messages, to fine-tune a language model), "
        "hf (Parquet and a card, for Hugging Face datasets)"
    )
    output: Annotated[str, OUTPUT] = Field(
        min_length=1, description="directory of the files, outside any run"
    )
    rows: Literal["tagged", "plain", "all"] | None = Field(
        None,
        description="rows of augment to export (default all; for "
        f"{', '.join(registry.markup_export_names())} tagged)",
    )
    methods: Methods = Field(
        (), description="suggest: only rows of these methods, such as alignment,parallel"
    )
    kinds: _Kinds = Field(
        (),
        description="only rows of these kinds: plain,tagged for augment, replace,insert,delete for "
        "suggest",
    )
    sample: int | None = Field(
        None,
        ge=1,
        description="number of rows, drawn by a hash of pair and seed: a larger sample contains a "
        "smaller one",
    )
    sizes: Sizes = Field(
        (),
        description="instead: a series of such samples, such as 1000,2000,4000, each in files of "
        "its own (suggestions-1000.mt5.tsv)",
    )
    golden: Annotated[Patterns, FILES] = Field(
        (),
        description="wets, mt5: also a golden set for the second stage of training, as .src, .mask "
        "and .tgt in the format of WeTS [.gz .zst .xz .bz2], in the same format as the rows",
    )
    golden_sizes: Sizes = Field(
        (), description="a series of samples of the golden set instead of all of it"
    )
    shuffle: bool = Field(
        default=False,
        description="rows in random order instead of the run's; needs space for the uncompressed "
        "rows in the temporary directory",
    )
    seed: int = Field(1, ge=0, le=(1 << 63) - 1, description="another seed draws other rows")
    alignment: Literal["whitespace", "moses", "none"] | None = Field(
        None,
        description="moses, opustrainer: links between exported words, from a run with "
        "--keep_links. whitespace: text unchanged, words that touch a tag have no links; "
        "moses: text as Moses words, each tag a word of its own (needs pairweave[evaluate]); "
        "default whitespace for opustrainer, none for moses",
    )
    header: bool = Field(default=True, description="tsv: begin with the names of the columns")
    instruction: str | None = Field(
        None,
        min_length=1,
        description="chat: the user's message, with {source} and, of suggest, {masked} where these "
        "texts go; also {source_lang}, {target_lang}, {corpus}, and {hint} of suggest",
    )
    system: str | None = Field(
        None, min_length=1, description="chat: the system's message, which may have such names too"
    )
    inline_syntax: Literal["xml", "html", "xliff", "indexed"] | None = Field(
        None,
        description=f"{', '.join(registry.export_names('characters'))}: syntax of tags for readers "
        "of the files (default xml for lxm, else html)",
    )
    unfit: Literal["refuse", "leave_out", "escape"] = Field(
        "refuse",
        description="rows whose text contains a line break, a reserved string of the format or "
        "something that would be read as a tag: refuse to export, leave_out these rows, or escape "
        "every backslash, tab and line break",
    )


class EvaluateTagsOptions(SignificanceOptions):
    """Options of ``evaluate tags``."""

    hypothesis: Annotated[str, FILE] = Field(
        description="outputs with tags: text, line by line, or LXM .json",
        json_schema_extra={"at": 0},
    )
    reference: Annotated[str, FILE] = Field(
        description="references with tags, likewise", json_schema_extra={"at": 1}
    )
    source: Annotated[str | None, FILE] = Field(
        None, description="sources with tags, to count flagrant failures"
    )
    syntax: Literal["lxm", "xml", "xliff", "html", "indexed"] | None = Field(
        None,
        description="syntax of tags; lxm: as in the LXM corpus's own script (default lxm for "
        ".json, else xml)",
    )
    bleu_words: Literal["moses", "13a", "intl", "char", "zh", "whitespace", "off"] | None = Field(
        None, description="words of BLEU (default moses for .json, else 13a); off for no BLEU"
    )
    target_lang: Language | None = Field(
        None, description="BCP 47 tag of the outputs (default: from .json)"
    )
    f1_words: Literal["unicode", "squad"] = Field(
        "unicode",
        description="words of F1: unicode, with case and punctuation; squad, as in SQuAD's script: "
        "lower case, split at blanks, without punctuation and English articles",
    )
    f1_same_name: Literal["merged", "covering"] = Field(
        "merged",
        description="F1, pairs of tags with the same name in a line: merged, the words inside "
        "them; covering, those between them as well",
    )
    tag_shift: bool = Field(
        default=False, description="measure again with all tags moved one word to the left"
    )
    lines: Annotated[str | None, OUTPUT] = Field(
        None, description="file for the scores of each line, as JSONL"
    )


class JudgementOptions(Options):
    """Options of ``evaluate judgements``."""

    sample: Annotated[str | None, FINISHED_RUNS] = Field(
        None, description="directory of a finished run to draw tags from"
    )
    source: Annotated[str | None, FILE] = Field(
        None, description="instead: tagged sources, one per line, whose translations are judged"
    )
    translation: Annotated[str | None, FILE] = Field(
        None, description="their translations by a system, with tags, line by line"
    )
    syntax: Literal["xliff", "xml", "html", "indexed"] = Field(
        "xliff", description="syntax of tags in source and translation"
    )
    index_split: int = Field(
        2,
        ge=0,
        description="lines of translations with tag indexes beyond this (counted from 1) are drawn "
        "and summarized apart",
    )
    number: int = Field(
        200, ge=1, description="pairs to draw; of translations, lines on each side of the split"
    )
    seed: int = Field(1, ge=0, lt=1 << 63, description="another seed draws other pairs")
    output: Annotated[str | None, OUTPUT] = Field(
        None, description="file of the sheet, tab-separated"
    )
    sheets: Annotated[Patterns, FILES] = Field(
        (),
        description="judged sheets: of one sample of a run, one per person, or of translations of "
        "the same lines, one per system",
    )


class ReportOptions(Options):
    """Options of ``report``."""

    directory: Annotated[str, FINISHED_RUNS] = Field(
        description="directory of a finished run", json_schema_extra={"at": 0}
    )
    output: Annotated[str, OUTPUT_FILE] = Field(
        "report.html",
        min_length=1,
        description="file of the report, outside any run",
    )


class CompareOptions(Options):
    """Options of ``compare``."""

    first: Annotated[str, FINISHED_RUNS] = Field(
        description="directory of a finished run", json_schema_extra={"at": 0}
    )
    second: Annotated[str, FINISHED_RUNS] = Field(
        description="directory of another finished run of the same job", json_schema_extra={"at": 1}
    )
    output: Annotated[str, OUTPUT_FILE] = Field(
        "comparison.html",
        min_length=1,
        description="file of the page, outside any run",
    )


class PreviewOptions(Options):
    """Options of ``preview``."""

    directory: Annotated[str, FINISHED_RUNS] = Field(
        description="directory of a finished run", json_schema_extra={"at": 0}
    )
    pairs: int = Field(6, ge=1, le=1_000, description="pairs to print")
    seed: int = Field(1, ge=0, lt=1 << 63, description="another seed draws other pairs")


class InitOptions(Options):
    """Options of ``init``."""

    files: Annotated[tuple[str, ...], CORPUS_FILES] = Field(
        min_length=1,
        description="files with both sides of each pair, or two files of text, the source and its "
        "translation line by line",
        json_schema_extra={"at": 0},
    )
    output: Annotated[str, OUTPUT_FILE] = Field(
        "pairweave.yaml",
        min_length=1,
        description="file of options to write",
    )


class CompletionOptions(Options):
    """Options of ``completion``."""

    shell: Literal["bash", "zsh", "fish"] = Field(
        description="bash, zsh or fish; such as: pairweave completion bash > "
        "~/.local/share/bash-completion/completions/pairweave",
        json_schema_extra={"at": 0},
    )


class DoctorOptions(Options):
    """Options of ``doctor``."""

    stores: Annotated[tuple[str, ...], STORE] = Field(
        (),
        description="buckets to check, such as gs://bucket/corpora or s3://bucket, with the "
        "credentials that a run would use",
    )
    install: Literal["flink"] | None = Field(
        None,
        description="install what an engine lacks before the report: flink builds the job server "
        "with Maven, in your cache directory",
    )


class ClusterOptions(Options):
    """Options of ``cluster``."""

    action: Literal["up", "down", "status"] = Field(
        description="start a cluster, end it, or show its processes and free slots",
        json_schema_extra={"at": 0},
    )
    directory: Annotated[str | None, OUTPUT_DIRECTORY] = Field(
        None,
        min_length=1,
        description="the cluster's own directory, with its logs (default: in your cache directory)",
    )
    task_managers: int = Field(1, ge=1, le=64, description="with up: task managers to start")
    slots: int = Field(2, ge=1, le=256, description="with up: slots of each task manager")
    flink: Annotated[str | None, DIRECTORY] = Field(
        None,
        min_length=1,
        description="with up: a Flink 1.19 distribution (default: apache-flink-libraries)",
    )


class DemoOptions(Options):
    """Options of ``demo``."""

    output: Annotated[str, OUTPUT_DIRECTORY] = Field(
        "demo-output",
        min_length=1,
        description="directory of the demonstration's files",
    )
    target_lang: Literal["de", "es", "fr"] = Field("de", description="German, Spanish or French")
    pairs: int = Field(6, ge=1, le=100, description="tagged pairs to print")


class TagsProfileOptions(Options):
    """Options of ``tags profile``."""

    input: Annotated[str, CORPUS_FILES] = Field(
        description="tagged text, one text per line [.gz .zst .xz .bz2]"
    )
    target_input: Annotated[str | None, CORPUS_FILES] = Field(
        None, description="its tagged translation, to count pairs that are in two parts"
    )
    syntax: Literal["xml", "html", "xliff", "indexed"] = Field(
        "xliff", description="syntax of tags in the text"
    )
    source_lang: Language | None = Field(None, description="BCP 47 tag of the input")
    output: Annotated[str, OUTPUT] = Field(min_length=1, description="file of the profile, JSON")
