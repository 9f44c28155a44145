"""The command ``export``: converts a finished run's rows to files for trainers."""

import dataclasses
from typing import Annotated, Literal

import pydantic
from pydantic import Field

from pairweave.pipelines.command_line.command_function import command
from pairweave.pipelines.options.base import Options, Patterns
from pairweave.pipelines.options.format_names import ExportFormatName
from pairweave.pipelines.process import terminal
from pairweave.transforms.config import Seed
from pairweave.transforms.counted import counted
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.export.export import Exported, export
from pairweave.transforms.export.export_formats import RowExport, Templates
from pairweave.transforms.export.export_markup import export_markup
from pairweave.transforms.export.export_rows import Selection
from pairweave.transforms.formats import registry
from pairweave.transforms.markup.markup import SyntaxName
from pairweave.transforms.option_places import FILES, FINISHED_RUNS, OUTPUT_DIRECTORY
from pairweave.transforms.output.finished_run import FinishedRun, run_of
from pairweave.transforms.suggestions.golden_export import GoldenSet
from pairweave.transforms.suggestions.suggestion_options import Methods, split_words

_GOLDEN_FORMATS = ("wets", "mt5")


_Kinds = Annotated[
    tuple[Literal["plain", "tagged", "replace", "insert", "delete"], ...],
    pydantic.BeforeValidator(split_words),
]

Sizes = Annotated[tuple[Annotated[int, Field(ge=1)], ...], pydantic.BeforeValidator(split_words)]
"""Numbers of rows, separated by commas."""


class ExportOptions(Options):
    """Options of ``export``."""

    directory: Annotated[str, FINISHED_RUNS] = Field(
        description="directory of a finished run of augment, suggest, filter, bitext or align",
        json_schema_extra={"at": 0},
    )
    format: ExportFormatName = Field(
        description="suggest: wets (.src, .mask, .tgt), mt5 (source <sep> masked, tab, "
        "suggestion); augment: opustrainer (source, tab, target, tab, links; no header); augment "
        "and filter: moses (.src, .tgt); augment, suggest and filter: tsv, csv, jsonl, "
        "chat (JSON lines of messages, to fine-tune a language model), "
        "hf (Parquet and a card, for Hugging Face datasets); augment, filter, bitext and align: "
        "tmx (1.4b), xliff (1.2), xliff2 (2.1), po, lxm (JSON, one file per side), "
        "html (JSON lines of HTML fragments)"
    )
    output: Annotated[str, OUTPUT_DIRECTORY] = Field(
        min_length=1, description="directory of the files, outside any run"
    )
    rows: Literal["tagged", "plain", "all"] | None = Field(
        None,
        description="rows of augment to export (default all; for "
        f"{', '.join(registry.markup_export_names())} tagged, unless kinds are given)",
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
    seed: Seed = Field(1, description="another seed draws other rows")
    alignment: Literal["whitespace", "moses", "none"] | None = Field(
        None,
        description="moses, opustrainer: links between exported words, from a run with "
        "--keep_links. whitespace: text unchanged, words that touch a tag have no links; "
        "moses: text as Moses words, each tag a word of its own (needs pairweave[evaluate]); "
        "default whitespace for opustrainer, none for moses",
    )
    header: bool = Field(default=True, description="tsv, csv: begin with the names of the columns")
    instruction: str | None = Field(
        None,
        min_length=1,
        description="chat: the user's message; {source} and, for suggest, {masked} stand for these "
        "texts, and so do {source_lang}, {target_lang}, {corpus} and, for suggest, {hint}",
    )
    system: str | None = Field(
        None,
        min_length=1,
        description="chat: the system's message, which may contain the same names",
    )
    inline_syntax: SyntaxName | None = Field(
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


@command()
def main(*, options: ExportOptions) -> int:
    """Export a run from the command line."""
    run = FinishedRun.open(options.directory)
    outer = run_of(f"{options.output.rstrip('/')}/file")
    if outer is not None:
        raise ConfigError(
            f"{options.output} is inside the run {outer}, which must stay as its manifest "
            "describes it; give another directory: --output DIR"
        )
    selection = selection_of(options, run.job)
    _check_series(options)
    if options.format in registry.markup_export_names():
        done = export_markup(
            run,
            registry.markup_export_of(options.format, options.directory, run.job),
            options.output,
            options.rows,
            options.unfit,
            options.inline_syntax,
            selection,
        )
        return _say(done, options.sample)
    if options.inline_syntax is not None:
        raise ConfigError(
            f"--inline_syntax: {options.format} has the tags of the run; leave it out"
        )
    golden = None
    if options.golden:  # read it now, to report its errors before anything is written
        how = registry.row_export(options.format)
        golden = GoldenSet.read(options.golden, how, options.unfit, options.golden_sizes)
    done = export(
        run,
        _with_templates(
            registry.row_export_of(options.format, options.directory, run.job), options, run.job
        ),
        options.output,
        options.unfit,
        selection,
        alignment=options.alignment,
        header=options.header,
        sizes=options.sizes,
    )
    _say(done, options.sample)
    if golden is not None:
        wanted = Selection(shuffle=options.shuffle, seed=options.seed)
        _say(golden.export(options.output, wanted, options.golden_sizes), None)
    return 0


def selection_of(options: ExportOptions, job: str) -> Selection:
    """Return the selection of rows from the options.

    Raises:
        ConfigError: Options contradict each other, or do not apply to the format.
    """
    set_options = options.model_fields_set
    in_markup = options.format in registry.markup_export_names()
    of_rows = None if in_markup else registry.row_export(options.format)
    if "header" in set_options and (of_rows is None or of_rows.header is None):
        raise ConfigError(f"--header: {options.format} has none; leave it out")
    for name in ("instruction", "system"):
        if name in set_options and (of_rows is None or of_rows.templated is None):
            raise ConfigError(f"--{name}: {options.format} has no messages; leave it out")
    if "alignment" in set_options and in_markup:
        raise ConfigError(f"--alignment: {options.format} has no links; leave it out")
    drawn = options.sample is not None or options.sizes or options.golden_sizes
    if "seed" in set_options and not drawn and not options.shuffle:
        raise ConfigError(
            "--seed: nothing is drawn; give --sample, --sizes or --shuffle, or leave it out"
        )
    kinds = options.kinds
    if options.rows is not None:
        if kinds:
            raise ConfigError("--rows and --kinds mean the same; give only one of them")
        if job != "augment" and not in_markup:
            raise ConfigError(f"--rows: rows of {job} have no tags; leave it out")
        if options.rows != "all" and job == "augment":
            kinds = (options.rows,)
    return Selection(options.methods, kinds, options.sample, options.shuffle, options.seed)


def _with_templates(how: RowExport, options: ExportOptions, job: str) -> RowExport:
    """Return a format that writes the texts of the options around each row."""
    if how.templated is None:
        return how
    templates = Templates(options.instruction, options.system)
    return dataclasses.replace(how, write=how.templated(job, templates))


def _check_series(options: ExportOptions) -> None:
    """Refuse options of series and golden sets that do not go together."""
    if options.sizes and options.sample is not None:
        raise ConfigError("--sample and --sizes exclude each other; leave one out")
    for name in ("sizes", "golden_sizes"):
        sizes = getattr(options, name)
        if len(set(sizes)) < len(sizes):
            raise ConfigError(f"--{name}: a size is given twice; leave one out")
    if options.sizes and options.format in registry.markup_export_names():
        raise ConfigError(f"--sizes: {options.format} has one file for all pairs; give --sample")
    if options.golden and options.format not in _GOLDEN_FORMATS:
        raise ConfigError(
            f"--golden: {options.format} is not a format of golden sets; give "
            f"{' or '.join(_GOLDEN_FORMATS)}, or leave it out"
        )
    if options.golden_sizes and not options.golden:
        raise ConfigError("--golden_sizes: there is no golden set; give --golden, or leave it out")


def _say(done: Exported, wanted: int | None) -> int:
    for path in done.paths:
        terminal.say(path)
    out = f", {done.left_out} left out" if done.left_out else ""
    few = f", fewer than the {wanted:,} asked for" if done.rows < (wanted or 0) else ""
    terminal.say(f"{counted(done.rows, 'row')}{out}{few}")
    return 0
