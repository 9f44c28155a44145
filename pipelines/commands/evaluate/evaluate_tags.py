"""The commands ``evaluate tags`` and ``evaluate judgements``."""

from collections.abc import Sequence

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.options.command_options import EvaluateTagsOptions, JudgementOptions
from pairweave.pipelines.process import terminal
from pairweave.pipelines.run import finished_run
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.metrics.tags.judgement import agree, draw_sheet, read_sheets, write_sheet
from pairweave.transforms.metrics.tags.tag_comparison import compare_tags
from pairweave.transforms.metrics.tags.tag_metrics import evaluate_tags
from pairweave.transforms.metrics.tags.tag_spans import SpanConfig
from pairweave.transforms.metrics.tags.tag_texts import is_json, read_texts
from pairweave.transforms.metrics.tags.xml_metrics import XmlConfig
from pairweave.transforms.storage import files


def main(arguments: Sequence[str]) -> int:
    """Measure outputs with tags from the command line."""
    options, _ = flags.parse(
        EvaluateTagsOptions,
        "pairweave evaluate tags",
        "BLEU, XML BLEU, XML accuracy and match (Hashimoto et al. 2019), F1 over tagged words "
        "(Ryu et al. 2022), positions of tags (Zenkel et al. 2021), flagrant failures "
        "(Hanneman and Dinu 2020)",
        arguments,
        beam=False,
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
    options, _ = flags.parse(
        JudgementOptions,
        "pairweave evaluate judgements",
        "draw a sheet of tags for people to judge, or summarize what several judges said "
        "(Hanneman and Dinu 2020, section 3.2)",
        arguments,
        beam=False,
    )
    if (options.sample is None) == (not options.sheets):
        raise ConfigError("give either --sample RUN --output SHEET.tsv, or --sheets A.tsv B.tsv")
    if options.sample is None:
        terminal.say(f"{agree(read_sheets(options.sheets)).render()}")
        return 0
    if options.output is None:
        raise ConfigError("--sample needs --output SHEET.tsv to write to")
    found = finished_run.open_manifest(options.sample)
    rows = draw_sheet(options.sample, found, options.number, options.seed)
    write_sheet(options.output, rows)
    pairs = len({(row.id, row.variant) for row in rows})
    terminal.say(f"{options.output}: {len(rows)} tags of {pairs} pairs to judge")
    return 0
