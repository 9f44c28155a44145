"""The commands and subcommands of the program: a line for each, with the place of its options.

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
        place: The module and the function that is called with the command's name and the words
            after it, ``module:function``; without the function, ``main``.
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
        """Return the full name of the module with the function."""
        return f"{_PACKAGE}.{self.place.partition(':')[0]}"

    @property
    def options(self) -> str:
        """Return the full name of the module and the class of a job's options; "" without them."""
        return self.place_of_options and f"{_PACKAGE}.{self.place_of_options}"

    def load(self) -> Any:  # noqa: ANN401 - a function, or a `CommandFunction`
        """Return the function; importing its module can take seconds."""
        function = self.place.partition(":")[2] or "main"
        return getattr(importlib.import_module(self.module), function)


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
    "symmetrize": Command("commands.links_commands:symmetrize", "combine two directions of links"),
    "phrases": Command("commands.links_commands:phrases", "list the phrase pairs of links"),
    "tags": Command("command_line.subcommands:run", "learn, encode, decode and project tags"),
    "evaluate": Command("command_line.subcommands:run", "measure results against gold data"),
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
        "say what is wrong with a corpus, where, and how to mend it",
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
    "completion": Command(
        "commands.completion", "print a script that completes commands and options in a shell"
    ),
    "cluster": Command("commands.cluster", "start, stop or show a Flink cluster on this machine"),
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

_EVALUATE = "commands.evaluate.evaluate_command"
_TAGS = "commands.tags"
_TABLE = "commands.refresh.table_commands"

SUBCOMMANDS = {
    "tags encode": Command(f"{_TAGS}.tags_encode", "turn real tags into symbols, with a table"),
    "tags decode": Command(
        f"{_TAGS}.tags_decode", "turn symbols back into tags, and repair a model's mistakes"
    ),
    "tags vocabulary": Command(f"{_TAGS}.tags_vocabulary", "add symbols to subword models"),
    "tags profile": Command(f"{_TAGS}.tags_profile", "learn the shapes of tags from tagged text"),
    "tags agree": Command(
        f"{_TAGS}.tags_agree", "keep the lines whose tags agree in several languages"
    ),
    "tags project": Command(f"{_TAGS}.tags_project", "put a source's tags onto its translation"),
    "tags fit_projection": Command(
        f"{_TAGS}.tags_fit_projection",
        "learn from tagged translations where project should put tags",
    ),
    "evaluate links": Command(
        f"{_EVALUATE}:links",
        "alignment error rate, precision and recall of links (Och and Ney 2003)",
    ),
    "evaluate aligners": Command(
        "commands.evaluate.evaluate_aligners",
        "error rate and speed of several aligners on one gold set",
    ),
    "evaluate sentences": Command(
        f"{_EVALUATE}:sentences",
        "strict and lax precision, recall and F1 of sentence alignments, as vecalign's scorer "
        "defines them (Thompson and Koehn 2019)",
    ),
    "evaluate suggestions": Command(
        f"{_EVALUATE}:suggestions",
        "BLEU and exact match of suggestions (Yang et al. 2022); with --data and --golden instead, "
        "how far examples are from a golden set's",
    ),
    "evaluate tags": Command(
        "commands.evaluate.evaluate_tags",
        "BLEU, XML BLEU, XML accuracy and match (Hashimoto et al. 2019), similarity of trees "
        "(Zhang and Shasha 1989), F1 over tagged words (Ryu et al. 2022), positions of tags "
        "(Zenkel et al. 2021), flagrant failures (Hanneman and Dinu 2020)",
    ),
    "evaluate judgements": Command(
        "commands.evaluate.evaluate_tags:judgements",
        "draw a sheet of tags for people to judge, or summarize what several judges said "
        "(Hanneman and Dinu 2020, sections 3.2 and 6.4)",
    ),
    "refresh status": Command(f"{_TABLE}:status", "show what a table holds"),
    "refresh history": Command(f"{_TABLE}:history", "list the nights of a table"),
    "refresh verify": Command(
        f"{_TABLE}:verify_table",
        "check the files of a table by their hashes, its rows by their provenance, and its nights",
    ),
    "refresh takedown": Command(
        f"{_TABLE}:takedown", "remove pairs by id or text, without reading any input file"
    ),
    "refresh vacuum": Command(
        f"{_TABLE}:vacuum_table", "delete files that no version within the retention has"
    ),
    "refresh compact": Command(
        f"{_TABLE}:compact_table",
        "join the small files of a table, in one version that changes no row",
    ),
    "refresh export": Command(
        f"{_TABLE}:export_table",
        "write a version as plain Parquet shards, corpora mixed by weight and temperature",
    ),
}
"""The subcommands, as they are typed."""


def words_after(name: str) -> tuple[str, ...]:
    """Return the subcommands of a command, without its own name.

    >>> words_after("refresh")[:2], words_after("augment")
    (('status', 'history'), ())
    """
    parts = (words.partition(" ") for words in SUBCOMMANDS)
    return tuple(word for command, _, word in parts if command == name)


CONTINUED = JOBS - {"try"} | {"ablate"}
"""The commands that continue after an interruption when they are run again."""
