"""The commands of the program: a line for each, with the place of its options.

It imports none of their modules, nor pydantic, so that a wrong name or ``--version`` costs little.
"""

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pairweave.pipelines.options.base import Options


_PACKAGE = "pairweave.pipelines"


class Command(NamedTuple):
    """A job or another command of the command line.

    Attributes:
        place: The module with ``main(prog, arguments)``, in this package.
        about: A line on what the command does.
        place_of_options: The module and the class of a job's options, ``module:Class``. Its help is
            written from them alone, since the job's own module takes seconds to import.
        beam: Whether options of Beam may follow a job's own.
    """

    place: str
    about: str
    place_of_options: str = ""
    beam: bool = True

    @property
    def module(self) -> str:
        """Return the full name of the module with ``main``."""
        return f"{_PACKAGE}.{self.place}"

    @property
    def options(self) -> str:
        """Return the full name of the module and the class of a job's options; "" without them."""
        return self.place_of_options and f"{_PACKAGE}.{self.place_of_options}"


COMMANDS = {
    "augment": Command(
        "jobs.augment", "turn pairs into tagged pairs", "job_options.pair_options:AugmentOptions"
    ),
    "suggest": Command(
        "jobs.suggest",
        "turn pairs into translation-suggestion examples",
        "job_options.suggest_options:SuggestOptions",
    ),
    "align": Command(
        "jobs.align", "turn pairs into word links", "job_options.pair_options:AlignOptions"
    ),
    "filter": Command(
        "jobs.filter",
        "judge, score and select pairs",
        "job_options.filter_options:FilterJobOptions",
    ),
    "fit": Command(
        "jobs.fit", "fit the statistical aligner", "job_options.pair_options:FitOptions"
    ),
    "bitext": Command(
        "jobs.bitext",
        "turn document pairs into sentence pairs",
        "job_options.bitext_options:BitextOptions",
    ),
    "run": Command(
        "commands.run_command",
        "run several jobs, each a step of a recipe in YAML",
        "recipes.recipe_options:RecipeOptions",
    ),
    "refresh": Command(
        "commands.refresh.refresh_command",
        "bring versioned tables up to date with new, changed and withdrawn files",
        "refresh.refresh_options:RefreshOptions",
    ),
    "finetune": Command(
        "jobs.finetune",
        "fine-tune an encoder for alignment",
        "job_options.pair_options:FinetuneOptions",
        beam=False,
    ),
    "filter_fit": Command("commands.filter_fit", "fit the score of filter to labelled pairs"),
    "projection_fit": Command(
        "commands.projection_fit",
        "fit a linear map between the languages of an encoder, for filter",
    ),
    "symmetrize": Command("commands.links_commands", "combine two directions of links"),
    "phrases": Command("commands.links_commands", "list the phrase pairs of links"),
    "tags": Command("commands.tags.tags_command", "learn, encode, decode and project tags"),
    "evaluate": Command("commands.evaluate.evaluate_command", "measure results against gold data"),
    "ablate": Command(
        "commands.ablate",
        "train a small translation model on each variant of the data, and compare them",
    ),
    "status": Command("commands.status", "show how far a run or a job on Dataflow is"),
    "gc": Command("commands.gc", "remove what failed runs have left behind"),
    "report": Command(
        "commands.finished.report_command", "write the HTML report of a finished run again"
    ),
    "compare": Command(
        "commands.finished.compare", "write an HTML page on two finished runs side by side"
    ),
    "export": Command(
        "commands.finished.export_command", "write a finished run's rows for a trainer"
    ),
    "stream": Command(
        "commands.finished.stream",
        "print a finished run's pairs for a trainer, with new tags in every epoch",
    ),
    "preview": Command("commands.finished.preview", "print a few pairs of a finished run"),
    "init": Command("commands.init", "look at files and write the options of a first run"),
    "check": Command(
        "commands.check_command",
        "say what is wrong with a corpus before it is used, where, and what mends it",
    ),
    "try": Command(
        "commands.try_command",
        "show what each step of augment makes of a few pairs",
        "trial.trial_options:TrialOptions",
        beam=False,
    ),
    "demo": Command(
        "commands.demo",
        "run the main job on a small real corpus",
        "commands.command_options:DemoOptions",
    ),
    "doctor": Command("commands.doctor", "show what this machine has"),
    "completion": Command("commands.completion", "print a script that completes words in a shell"),
    "cluster": Command("commands.cluster", "start or end a Flink cluster on this machine"),
}


def job_options(name: str) -> Any:  # noqa: ANN401 - a subclass of `pipelines.options.base.Options`
    """Return the options of a job, or of another command of `JOBS`."""
    module, _, kind = COMMANDS[name].options.partition(":")
    return getattr(importlib.import_module(module), kind)


def options_of(name: str) -> "type[Options] | None":
    """Return the job options of a command; None if it has none."""
    return job_options(name) if name in JOBS else None


def job_of(name: str) -> Any:  # noqa: ANN401 - a `pipelines.run.job.Job`
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
