"""Subcommands of ``evaluate`` that score links, sentence alignments and suggestions."""

from typing import Annotated

from pydantic import Field

from pairweave.pipelines.command_line.command_function import command
from pairweave.pipelines.commands.evaluate.compared_systems import Baseline, tests_against
from pairweave.pipelines.commands.evaluate.evaluate_aligners import OneBased
from pairweave.pipelines.options.base import Language, Patterns
from pairweave.pipelines.process import terminal
from pairweave.transforms.metrics.example_metrics import (
    Comparison,
    has_files,
    profile_files,
    profile_run,
)
from pairweave.transforms.metrics.link_metrics import evaluate_links
from pairweave.transforms.metrics.sentence_metrics import evaluate_sentences
from pairweave.transforms.metrics.significance_options import Significance
from pairweave.transforms.metrics.suggestion_metrics import (
    compare_suggestions,
    evaluate_suggestions,
)
from pairweave.transforms.option_places import FILE, FILES, FILES_BY_PREFIX, RUN_OR_PREFIX
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.storage import files


@command()
def links(
    hypothesis: Annotated[str, FILE, "Pharaoh links to judge"],
    gold: Annotated[str, FILE, "gold links: i-j sure, ipj possible"],
    *,
    one_based: OneBased = False,
) -> int:
    """Compare word links with gold links."""
    scores = evaluate_links(files.on_disk(hypothesis), files.on_disk(gold), one_based)
    if scores.warning is not None:
        terminal.warn(f"warning: {gold}: {scores.warning}")
    return _say(scores.render())


@command()
def sentences(
    hypothesis: Annotated[
        str,
        FILE,
        "beads to judge, such as [0, 1]:[2] or [0, 1]:[2]:0.53; blank lines separate documents",
    ],
    gold: Annotated[str, FILE, "gold beads of the same number of documents, in the same form"],
) -> int:
    """Compare sentence alignments with gold ones."""
    return _say(evaluate_sentences(hypothesis, gold).render())


@command("how far suggestion examples are from a golden set's (Jensen-Shannon distances)")
def suggestion_examples(
    *,
    data: Annotated[
        str,
        RUN_OR_PREFIX,
        Field(min_length=1),
        "directory of a finished run of suggest, or the PREFIX of PREFIX.src, PREFIX.mask and "
        "PREFIX.tgt",
    ],
    golden: Annotated[
        str,
        FILES_BY_PREFIX,
        Field(min_length=1),
        "the PREFIX of the golden PREFIX.src, PREFIX.mask and PREFIX.tgt",
    ],
    target_lang: Annotated[
        Language | None, "BCP 47 tag of the translations (default: the run's, if it has one)"
    ] = None,
) -> int:
    """Compare the examples of a run, or of files, with a golden set."""
    if has_files(data):
        profiles = {"all": profile_files(data, target_lang)}
    else:
        run = FinishedRun.open(data)
        profiles = profile_run(run)
        tags = {corpus["target_lang"] for corpus in run.manifest["corpora"].values()}
        if target_lang is None and len(tags) == 1:
            (target_lang,) = tags
    return _say(Comparison(profiles, profile_files(golden, target_lang)).render())


@command(other_form=suggestion_examples)
def suggestions(
    hypothesis: Annotated[str, FILE, "suggestions to judge, one per line"],
    gold: Annotated[
        Patterns,
        FILES,
        Field(min_length=1),
        "gold suggestions, line by line; several files are several references",
    ],
    *,
    target_lang: Annotated[
        Language, "language of the suggestions; sacreBLEU cuts Chinese into characters"
    ],
    baseline: Baseline = None,
    significance: Significance,
) -> int:
    """Compare suggestions with gold ones."""
    if not tests_against(baseline, significance):
        return _say(evaluate_suggestions(hypothesis, gold, target_lang).render())
    compared = compare_suggestions(hypothesis, gold, target_lang, baseline, significance)
    return _say(compared.render())


def _say(text: str) -> int:
    terminal.say(text)
    return 0
