"""The command ``evaluate``: scores results against gold data."""

import sys
from collections.abc import Callable, Sequence

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.commands.command_options import (
    CompareExamplesOptions,
    EvaluateLinksOptions,
    EvaluateSentencesOptions,
    EvaluateSuggestionsOptions,
)
from pairweave.pipelines.commands.evaluate import evaluate_aligners, evaluate_tags
from pairweave.pipelines.process import terminal
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.metrics.example_metrics import (
    Comparison,
    has_files,
    profile_files,
    profile_run,
)
from pairweave.transforms.metrics.link_metrics import evaluate_links
from pairweave.transforms.metrics.sentence_metrics import evaluate_sentences
from pairweave.transforms.metrics.suggestion_metrics import (
    compare_suggestions,
    evaluate_suggestions,
)
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.storage import files

USAGE = """usage: pairweave evaluate KIND ARGUMENTS [--option value ...]

  links HYPOTHESIS GOLD             AER, precision and recall of word links
  aligners --pairs FILE --gold GOLD --aligners NAME ...
                                    the same for several aligners, with their speed
  sentences HYPOTHESIS GOLD         precision, recall and F1 of sentence alignments
  suggestions HYPOTHESIS GOLD ... --target_lang TAG
                                    sacreBLEU and exact match of suggestions
  suggestions --data RUN --golden PREFIX
                                    how far masks are from those of a golden set
  tags HYPOTHESIS REFERENCE         accuracy, F1 and failures of tags in translations
  judgements --sample RUN --output SHEET
                                    a sheet of tags for people to judge
  judgements --sheets SHEET ...     what they found, and how far they agree

pairweave evaluate KIND --help lists the options of one kind.
"""


def main(_name: str, arguments: Sequence[str]) -> int:
    """Run the command from its command line."""
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.stdout.write(USAGE)
        return 0 if arguments else 2
    kinds: dict[str, Callable[[Sequence[str]], int]] = {
        "links": _links,
        "aligners": evaluate_aligners.main,
        "sentences": _sentences,
        "suggestions": _suggestions,
        "tags": evaluate_tags.main,
        "judgements": evaluate_tags.judgements,
    }
    if arguments[0] not in kinds:
        names = ", ".join(f"evaluate {name}" for name in kinds)
        raise ConfigError(f"cannot evaluate {arguments[0]!r}; choose from: {names}")
    return kinds[arguments[0]](arguments[1:])


def _links(arguments: Sequence[str]) -> int:
    options = flags.read_command(
        EvaluateLinksOptions,
        "evaluate links",
        arguments,
        "alignment error rate, precision and recall of links (Och and Ney 2003)",
    )
    scores = evaluate_links(
        files.on_disk(options.hypothesis), files.on_disk(options.gold), options.one_based
    )
    if scores.warning is not None:
        terminal.warn(f"warning: {options.gold}: {scores.warning}")
    return _say(scores.render())


def _sentences(arguments: Sequence[str]) -> int:
    options = flags.read_command(
        EvaluateSentencesOptions,
        "evaluate sentences",
        arguments,
        "strict and lax precision, recall and F1 of sentence alignments, as vecalign's scorer "
        "defines them (Thompson and Koehn 2019)",
    )
    return _say(evaluate_sentences(options.hypothesis, options.gold).render())


def _suggestions(arguments: Sequence[str]) -> int:
    if any(word.partition("=")[0] in ("--data", "--golden") for word in arguments):
        return _examples(arguments)
    options = flags.read_command(
        EvaluateSuggestionsOptions,
        "evaluate suggestions",
        arguments,
        "BLEU and exact match of suggestions (Yang et al. 2022); with --data and --golden instead, "
        "how far examples are from a golden set's",
    )
    files = options.hypothesis, options.gold, options.target_lang
    config = options.config()
    if config is None or options.baseline is None:
        return _say(evaluate_suggestions(*files).render())
    return _say(compare_suggestions(*files, options.baseline, config).render())


def _examples(arguments: Sequence[str]) -> int:
    options = flags.read_command(
        CompareExamplesOptions,
        "evaluate suggestions",
        arguments,
        "how far suggestion examples are from a golden set's (Jensen-Shannon distances)",
    )
    language = options.target_lang
    if has_files(options.data):
        profiles = {"all": profile_files(options.data, language)}
    else:
        run = FinishedRun.open(options.data)
        profiles = profile_run(run)
        tags = {corpus["target_lang"] for corpus in run.manifest["corpora"].values()}
        if language is None and len(tags) == 1:
            (language,) = tags
    return _say(Comparison(profiles, profile_files(options.golden, language)).render())


def _say(text: str) -> int:
    terminal.say(text)
    return 0
