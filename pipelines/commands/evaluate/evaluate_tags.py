"""The commands ``evaluate tags`` and ``evaluate judgements``."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from pairweave.pipelines.command_line.command_function import command
from pairweave.pipelines.commands.command_options import PairSeed
from pairweave.pipelines.commands.evaluate.compared_systems import Baseline, tests_against
from pairweave.pipelines.options.base import Language, Patterns
from pairweave.pipelines.process import terminal
from pairweave.transforms.counted import counted
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.markup.markup import find_syntax
from pairweave.transforms.markup.other_syntax import check_lines
from pairweave.transforms.metrics.significance_options import Significance
from pairweave.transforms.metrics.tags.judgement import agree, draw_sheet, read_sheets, write_sheet
from pairweave.transforms.metrics.tags.sheet_files import header_of
from pairweave.transforms.metrics.tags.tag_comparison import compare_tags
from pairweave.transforms.metrics.tags.tag_metrics import evaluate_tags
from pairweave.transforms.metrics.tags.tag_spans import SpanConfig
from pairweave.transforms.metrics.tags.tag_texts import is_json, read_texts
from pairweave.transforms.metrics.tags.translation_judgement import (
    draw_translations,
    summarize,
    write_translations,
)
from pairweave.transforms.metrics.tags.xml_metrics import XmlConfig
from pairweave.transforms.option_places import FILE, FILES, FINISHED_RUNS, OUTPUT_FILE
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.storage.whole_files import write_packed
from pairweave.transforms.text.iso_languages import primary_tag


@command()
def main(
    hypothesis: Annotated[str, FILE, "outputs with tags: text, line by line, or LXM .json"],
    reference: Annotated[str, FILE, "references with tags, in the same form"],
    *,
    baseline: Baseline = None,
    significance: Significance,
    source: Annotated[str | None, FILE, "sources with tags, to count flagrant failures"] = None,
    syntax: Annotated[
        Literal["lxm", "xml", "xliff", "html", "indexed"] | None,
        "syntax of tags; lxm: as in the LXM corpus's own script (default lxm for .json, else xml)",
    ] = None,
    bleu_words: Annotated[
        Literal["moses", "13a", "intl", "char", "zh", "whitespace", "off"] | None,
        "words of BLEU (default moses for .json, else 13a); off for no BLEU",
    ] = None,
    target_lang: Annotated[
        Language | None, "BCP 47 tag of the outputs (default: from .json)"
    ] = None,
    f1_words: Annotated[
        Literal["unicode", "squad"],
        "words of F1: unicode, with case and punctuation; squad, as in SQuAD's script: lower "
        "case, split at blanks, without punctuation and English articles",
    ] = "unicode",
    f1_same_name: Annotated[
        Literal["merged", "covering"],
        "F1, pairs of tags with the same name in a line: merged, the words inside them; covering, "
        "those between them as well",
    ] = "merged",
    tag_shift: Annotated[bool, "measure again with all tags moved one word to the left"] = False,
    lines: Annotated[str | None, OUTPUT_FILE, "file for the scores of each line, as JSONL"] = None,
) -> int:
    """Measure outputs with tags from the command line."""
    texts = read_texts(hypothesis, reference, source)
    json = is_json(reference)
    language = target_lang or texts.language
    words = bleu_words or ("moses" if json else "13a")
    config = XmlConfig(
        rule=syntax or ("lxm" if json else "xml"),
        words=None if words == "off" else words,
        language=None if language is None else primary_tag(language),
    )
    if config.rule != "lxm":
        warning = check_lines(reference, texts.references, find_syntax(config.rule))
        if warning is not None:
            terminal.warn(warning)
    spans = SpanConfig(f1_words, f1_same_name)
    if tests_against(baseline, significance):
        other = read_texts(baseline, reference, source)
        compared = compare_tags(
            *(texts, other, config, spans, significance), name=baseline, shift=tag_shift
        )
        scores, shown = compared.scores, compared.render()
    else:
        scores = evaluate_tags(texts, config, spans, shift=tag_shift)
        shown = scores.render()
    if lines is not None:
        write_packed(lines, scores.render_lines().encode())
    terminal.say(shown)
    return 0


@command()
def judgements(
    *,
    sample: Annotated[
        str | None, FINISHED_RUNS, "directory of a finished run to draw tags from"
    ] = None,
    source: Annotated[
        str | None, FILE, "instead: tagged sources, one per line, whose translations are judged"
    ] = None,
    translation: Annotated[
        str | None, FILE, "their translations by a system, with tags, line by line"
    ] = None,
    syntax: Annotated[
        Literal["xliff", "xml", "html", "indexed"], "syntax of tags in source and translation"
    ] = "xliff",
    index_split: Annotated[
        int,
        Field(ge=0),
        "lines of translations with tag indexes beyond this (counted from 1) are drawn and "
        "summarized apart",
    ] = 2,
    number: Annotated[
        int, Field(ge=1), "pairs to draw; of translations, lines on each side of the split"
    ] = 200,
    seed: PairSeed = 1,
    output: Annotated[str | None, OUTPUT_FILE, "file of the sheet, tab-separated"] = None,
    sheets: Annotated[
        Patterns,
        FILES,
        "judged sheets: of one sample of a run, one per person, or of translations of the same "
        "lines, one per system",
    ] = (),
) -> int:
    """Write a sheet of tags to be judged, or read judged sheets, from the command line."""
    if (source is None) != (translation is None):
        raise ConfigError("--source and --translation belong together: give both or neither")
    ways = (sample, source, sheets or None)
    if sum(way is not None for way in ways) != 1:
        raise ConfigError(
            "give either --sample RUN --output SHEET.tsv, or --source FILE --translation FILE "
            "--output SHEET.tsv, or --sheets A.tsv B.tsv"
        )
    if sheets:
        terminal.say(_summary(sheets, index_split))
        return 0
    if output is None:
        way = "--sample" if source is None else "--source"
        raise ConfigError(f"{way} needs --output SHEET.tsv to write to")
    if source is not None and translation is not None:
        tags = draw_translations(
            source, translation, find_syntax(syntax), number, seed, index_split
        )
        write_translations(output, tags)
        lines = len({tag.line for tag in tags})
        terminal.say(f"{output}: {counted(len(tags), 'tag')} of {counted(lines, 'line')} to judge")
        return 0
    assert sample is not None
    run = FinishedRun.open(sample, checked=False)
    rows = draw_sheet(run, number, seed)
    write_sheet(output, rows)
    pairs = len({(row.id, row.variant) for row in rows})
    terminal.say(f"{output}: {counted(len(rows), 'tag')} of {counted(pairs, 'pair')} to judge")
    return 0


def _summary(sheets: Sequence[str], index_split: int) -> str:
    """Return a summary of judged sheets, either of a run or of translations.

    Raises:
        ConfigError: There are sheets of both kinds.
    """
    of_translations = {path: "highest" in header_of(path) for path in sheets}
    if len(set(of_translations.values())) > 1:
        one, other = (
            next(path for path, is_one in of_translations.items() if is_one is kind)
            for kind in (True, False)
        )
        raise ConfigError(f"{one} has tags of translations, {other} tags of a run; give one kind")
    if all(of_translations.values()):
        return summarize(sheets, index_split).render()
    return agree(read_sheets(sheets)).render()
