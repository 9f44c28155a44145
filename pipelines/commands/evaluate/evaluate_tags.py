"""The commands ``evaluate tags`` and ``evaluate judgements``."""

from collections.abc import Sequence

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.commands.command_options import EvaluateTagsOptions, JudgementOptions
from pairweave.pipelines.process import terminal
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.markup.markup import find_syntax
from pairweave.transforms.markup.other_syntax import check_lines
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
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.storage import files


def main(arguments: Sequence[str]) -> int:
    """Measure outputs with tags from the command line."""
    options = flags.read_command(
        EvaluateTagsOptions,
        "evaluate tags",
        arguments,
        "BLEU, XML BLEU, XML accuracy and match (Hashimoto et al. 2019), F1 over tagged words "
        "(Ryu et al. 2022), positions of tags (Zenkel et al. 2021), flagrant failures "
        "(Hanneman and Dinu 2020)",
    )
    texts = read_texts(options.hypothesis, options.reference, options.source)
    json = is_json(options.reference)
    language = options.target_lang or texts.language
    words = options.bleu_words or ("moses" if json else "13a")
    config = XmlConfig(
        rule=options.syntax or ("lxm" if json else "xml"),
        words=None if words == "off" else words,
        language=None if language is None else language.split("-")[0].lower(),
    )
    if config.rule != "lxm":
        syntax = find_syntax(config.rule)
        warning = check_lines(options.reference, texts.references, syntax)
        if warning is not None:
            terminal.warn(warning)
    spans = SpanConfig(options.f1_words, options.f1_same_name)
    significance = options.config()
    if significance is None or options.baseline is None:
        scores = evaluate_tags(texts, config, spans, shift=options.tag_shift)
        shown = scores.render()
    else:
        other = read_texts(options.baseline, options.reference, options.source)
        compared = compare_tags(
            *(texts, other, config, spans, significance),
            name=options.baseline,
            shift=options.tag_shift,
        )
        scores, shown = compared.scores, compared.render()
    if options.lines is not None:
        files.write_alone(options.lines, scores.render_lines().encode())
    terminal.say(shown)
    return 0


def judgements(arguments: Sequence[str]) -> int:
    """Write a sheet of tags to be judged, or read judged sheets, from the command line."""
    options = flags.read_command(
        JudgementOptions,
        "evaluate judgements",
        arguments,
        "draw a sheet of tags for people to judge, or summarize what several judges said "
        "(Hanneman and Dinu 2020, sections 3.2 and 6.4)",
    )
    if (options.source is None) != (options.translation is None):
        raise ConfigError("--source and --translation belong together: give both or neither")
    ways = (options.sample, options.source, options.sheets or None)
    if sum(way is not None for way in ways) != 1:
        raise ConfigError(
            "give either --sample RUN --output SHEET.tsv, or --source FILE --translation FILE "
            "--output SHEET.tsv, or --sheets A.tsv B.tsv"
        )
    if options.sheets:
        terminal.say(_summary(options))
        return 0
    if options.output is None:
        way = "--sample" if options.source is None else "--source"
        raise ConfigError(f"{way} needs --output SHEET.tsv to write to")
    if options.source is not None and options.translation is not None:
        tags = draw_translations(
            *(options.source, options.translation, find_syntax(options.syntax)),
            *(options.number, options.seed, options.index_split),
        )
        write_translations(options.output, tags)
        lines = len({tag.line for tag in tags})
        terminal.say(f"{options.output}: {len(tags)} tags of {lines} lines to judge")
        return 0
    assert options.sample is not None
    run = FinishedRun.open(options.sample, checked=False)
    rows = draw_sheet(run, options.number, options.seed)
    write_sheet(options.output, rows)
    pairs = len({(row.id, row.variant) for row in rows})
    terminal.say(f"{options.output}: {len(rows)} tags of {pairs} pairs to judge")
    return 0


def _summary(options: JudgementOptions) -> str:
    """Return a summary of judged sheets, either of a run or of translations.

    Raises:
        ConfigError: There are sheets of both kinds.
    """
    of_translations = {path: "highest" in header_of(path) for path in options.sheets}
    if len(set(of_translations.values())) > 1:
        one, other = (
            next(path for path, is_one in of_translations.items() if is_one is kind)
            for kind in (True, False)
        )
        raise ConfigError(f"{one} has tags of translations, {other} tags of a run; give one kind")
    if all(of_translations.values()):
        return summarize(options.sheets, options.index_split).render()
    return agree(read_sheets(options.sheets)).render()
