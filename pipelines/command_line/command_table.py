"""The commands of the program: a line for each, with the place of its options.

It imports none of their modules, nor pydantic, so that a wrong name or ``--version`` costs little.
"""

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pairweave.pipelines.options.base import Options


class Command(NamedTuple):
    """A job or another command of the command line.

    Attributes:
        module: A module with ``main(prog, arguments)``.
        about: A line on what the command does.
        options: The module and the class of a job's options, ``module:Class``. Its help is written
            from them alone, since the job's own module takes seconds to import.
        beam: Whether options of Beam may follow a job's own.
    """

    module: str
    about: str
    options: str = ""
    beam: bool = True


COMMANDS = {
    "augment": Command(
        "pairweave.pipelines.jobs.augment",
        "turn pairs into tagged pairs",
        "pairweave.pipelines.job_options.pair_options:AugmentOptions",
    ),
    "suggest": Command(
        "pairweave.pipelines.jobs.suggest",
        "turn pairs into translation-suggestion examples",
        "pairweave.pipelines.job_options.suggest_options:SuggestOptions",
    ),
    "align": Command(
        "pairweave.pipelines.jobs.align",
        "turn pairs into word links",
        "pairweave.pipelines.job_options.pair_options:AlignOptions",
    ),
    "filter": Command(
        "pairweave.pipelines.jobs.filter",
        "judge, score and select pairs",
        "pairweave.pipelines.job_options.filter_options:FilterJobOptions",
    ),
    "fit": Command(
        "pairweave.pipelines.jobs.fit",
        "fit the statistical aligner",
        "pairweave.pipelines.job_options.pair_options:FitOptions",
    ),
    "bitext": Command(
        "pairweave.pipelines.jobs.bitext",
        "turn document pairs into sentence pairs",
        "pairweave.pipelines.job_options.bitext_options:BitextOptions",
    ),
    "run": Command(
        "pairweave.pipelines.commands.run_command",
        "run several jobs, each a step of a recipe in YAML",
        "pairweave.pipelines.recipes.recipe_options:RecipeOptions",
    ),
    "refresh": Command(
        "pairweave.pipelines.commands.refresh.refresh_command",
        "bring versioned tables up to date with new, changed and withdrawn files",
        "pairweave.pipelines.refresh.refresh_options:RefreshOptions",
    ),
    "finetune": Command(
        "pairweave.pipelines.jobs.finetune",
        "fine-tune an encoder for alignment",
        "pairweave.pipelines.job_options.pair_options:FinetuneOptions",
        beam=False,
    ),
    "filter_fit": Command(
        "pairweave.pipelines.commands.filter_fit", "fit the score of filter to labelled pairs"
    ),
    "projection_fit": Command(
        "pairweave.pipelines.commands.projection_fit",
        "fit a linear map between the languages of an encoder, for filter",
    ),
    "symmetrize": Command(
        "pairweave.pipelines.commands.links_commands", "combine two directions of links"
    ),
    "phrases": Command(
        "pairweave.pipelines.commands.links_commands", "list the phrase pairs of links"
    ),
    "tags": Command(
        "pairweave.pipelines.commands.tags.tags_command", "learn, encode, decode and project tags"
    ),
    "evaluate": Command(
        "pairweave.pipelines.commands.evaluate.evaluate_command",
        "measure results against gold data",
    ),
    "ablate": Command(
        "pairweave.pipelines.commands.ablate",
        "train a small translation model on each variant of the data, and compare them",
    ),
    "status": Command(
        "pairweave.pipelines.commands.status", "show how far a run or a job on Dataflow is"
    ),
    "gc": Command("pairweave.pipelines.commands.gc", "remove what failed runs have left behind"),
    "report": Command(
        "pairweave.pipelines.commands.finished.report_command",
        "write the HTML report of a finished run again",
    ),
    "compare": Command(
        "pairweave.pipelines.commands.finished.compare",
        "write an HTML page on two finished runs side by side",
    ),
    "export": Command(
        "pairweave.pipelines.commands.finished.export_command",
        "write a finished run's rows for a trainer",
    ),
    "stream": Command(
        "pairweave.pipelines.commands.finished.stream",
        "print a finished run's pairs for a trainer, with new tags in every epoch",
    ),
    "preview": Command(
        "pairweave.pipelines.commands.finished.preview", "print a few pairs of a finished run"
    ),
    "init": Command(
        "pairweave.pipelines.commands.init", "look at files and write the options of a first run"
    ),
    "check": Command(
        "pairweave.pipelines.commands.check_command",
        "say what is wrong with a corpus before it is used, where, and what mends it",
    ),
    "try": Command(
        "pairweave.pipelines.commands.try_command",
        "show what each step of augment makes of a few pairs",
        "pairweave.pipelines.trial.trial_options:TrialOptions",
        beam=False,
    ),
    "demo": Command(
        "pairweave.pipelines.commands.demo",
        "run the main job on a small real corpus",
        "pairweave.pipelines.commands.command_options:DemoOptions",
    ),
    "doctor": Command("pairweave.pipelines.commands.doctor", "show what this machine has"),
    "completion": Command(
        "pairweave.pipelines.commands.completion", "print a script that completes words in a shell"
    ),
    "cluster": Command(
        "pairweave.pipelines.commands.cluster", "start or end a Flink cluster on this machine"
    ),
}


def job_options(name: str) -> Any:  # noqa: ANN401 - a subclass of `pipelines.options.base.Options`
    """Return the options of a job, or of another command of `JOBS`."""
    module, _, kind = COMMANDS[name].options.partition(":")
    return getattr(importlib.import_module(module), kind)


def options_of(name: str) -> "type[Options] | None":
    """Return the job options of a command; None if it has none."""
    return job_options(name) if name in JOBS else None


def job_of(name: str) -> Any:  # noqa: ANN401 - a `pipelines.run.job_definition.JobDefinition`
    """Return a job; its module takes seconds to import."""
    return importlib.import_module(COMMANDS[name].module).JOB


UNSUPERVISED = frozenset({"cluster"})
"""Commands that start processes that go on running after the command ends."""


JOBS = frozenset(name for name, command in COMMANDS.items() if command.options)
"""The commands with options of a job."""

SUBCOMMANDS = {
    "refresh": ("status", "history", "verify", "takedown", "vacuum", "compact", "export"),
    "run": (),
}
"""The subcommands of each command of `JOBS` that takes words or keys besides its options."""

CONTINUED = JOBS - {"try"} | {"ablate"}
"""The commands that continue after an interruption when they are run again."""
