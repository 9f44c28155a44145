"""The options of every job: one frozen model per job.

A model defines the flags, YAML keys, checks, help texts and defaults. A job builds the
configurations of its steps from it; no step reads flags or the environment.
"""

import os
import unicodedata
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal, get_args

import pydantic
from pydantic import Field

from pairweave.pipelines.options.first_help import FirstHelp
from pairweave.pipelines.options.token_names import GIVEN_TOKENS, TRAINED_TOKENS
from pairweave.transforms.config import Config, Seed
from pairweave.transforms.option_marks import (
    AGREES,
    NOT_OF_FUNCTIONS,
    OF_COMMAND,
    OF_ONE_RUN,
    PLANNED_OTHERWISE,
    SET_BY_CALLER,
    UNLISTED,
    UNPLANNED,
    UNSAID,
    gives_pairs,
    in_short,
    marked,
    not_at_night,
    not_in_steps,
)
from pairweave.transforms.option_places import (
    CORPUS_FILES,
    FILES,
    OUTPUT_DIRECTORY,
    SUBWORDS,
    Metavar,
)
from pairweave.transforms.option_values import has_form
from pairweave.transforms.screen_options import ScreenLimits
from pairweave.transforms.text.language_names import tag_of
from pairweave.transforms.units import FileLimitOptions, Notice

FITTED_MODEL = in_short("fitted aligner to use (default: fit one first)")

TOKENS = {**AGREES, **in_short("units to align (default words)")}
"""Marks of the option ``tokens`` of a job."""

Workers = Annotated[int, Field(ge=1, le=32_768)]
"""A number of workers; Flink has no more slots for a job."""

Language = Annotated[
    str,
    has_form(
        "[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*", "a language tag such as en or pt-BR", meant=tag_of
    ),
    Metavar("TAG"),
]

Size = Annotated[
    str,
    has_form(r"\d+(\.\d+)? ?[KMGT]i?B", "a size with its unit, such as 2GiB or 512MiB"),
    Metavar("SIZE"),
]
"""A size of memory; `pairweave.pipelines.process.memory.parse_size` reads it."""


def _listed(value: object) -> object:
    """Accept one file without a list in YAML."""
    return (value,) if isinstance(value, str) else value


Patterns = Annotated[tuple[str, ...], pydantic.BeforeValidator(_listed)]


class Options(Config):
    """Base of all option models; the first line of a model's docstring is a title in the help.

    Attributes:
        FIRST_HELP: What ``--help`` shows first; None if all options fit on one screen.
    """

    FIRST_HELP: ClassVar[FirstHelp | None] = None


def left_out_options(options: Options) -> set[str]:
    """Return the options to leave out of a plan.

    These are `UNPLANNED` options, those `PLANNED_OTHERWISE`, and `UNSAID` ones with their defaults.
    """
    kind = type(options)
    unsaid = {
        name
        for name in marked(kind, UNSAID)
        if getattr(options, name) == kind.model_fields[name].get_default()
    }
    return unsaid | marked(kind, UNPLANNED, PLANNED_OTHERWISE)


def _one_line(text: str) -> str:
    """Refuse control characters and separators of lines in a name that lists and cards show."""
    bad = next((mark for mark in text if unicodedata.category(mark) in ("Cc", "Zl", "Zp")), None)
    if bad is not None:
        raise ValueError(f"must not have control characters or line ends such as U+{ord(bad):04X}")
    return text


Label = Annotated[str, pydantic.AfterValidator(_one_line)]
"""A name in one line."""


class Corpus(Options):
    """Location of a corpus: the class that each job's corpora inherit (`corpus_options`)."""

    corpus: Label | None = Field(
        None,
        description="name of the corpus (default: the file's name)",
        json_schema_extra=NOT_OF_FUNCTIONS,
    )
    licence: Label | None = Field(None, description="licence of the corpus, for the dataset card")
    source_input: Annotated[Patterns, CORPUS_FILES] = Field(
        (),
        description="source side, text with one sentence per line; for bitext, each file is a "
        "document",
        json_schema_extra=gives_pairs("files"),
    )
    target_input: Annotated[Patterns, CORPUS_FILES] = Field(
        (),
        description="target side, the translation of --source_input; line by line, for bitext "
        "file by file",
        json_schema_extra=gives_pairs("files"),
    )
    source_lang: Language | None = Field(
        None,
        description="BCP 47 tag of the source language (default und; en for PO)",
        json_schema_extra={
            **AGREES,
            **in_short("BCP 47 tag of the source language (default und)"),
        },
    )
    target_lang: Language | None = Field(
        None,
        description="BCP 47 tag of the target language (default und)",
        json_schema_extra=AGREES,
    )


def several_corpora() -> Any:  # noqa: ANN401 - as of `Field`
    """Return the field of a job's corpora, whose class differs between jobs."""
    return Field((), description="several corpora (YAML only): a list of maps of input options")


class InputOptions(FileLimitOptions, Corpus):
    """Reading."""

    unit_rows: int = Field(
        65_536,
        ge=1,
        description="lines of plain text read as one unit of work",
        json_schema_extra={**OF_ONE_RUN, **UNLISTED},
    )
    corpora: tuple[Corpus, ...] = several_corpora()

    @classmethod
    def corpus_kind(cls) -> type[Corpus]:
        """Return the class of the job's corpora, whose options the job itself has as well."""
        kind: type[Corpus] = get_args(cls.model_fields["corpora"].annotation)[0]
        return kind


class ScreenOptions(ScreenLimits, Options):
    """The screen, which rejects pairs before the costly steps."""

    exclude: Annotated[Patterns, FILES] = Field(
        (),
        description="dev and test files, one sentence per line, whose sentences are rejected",
        json_schema_extra=in_short("dev and test sets whose sentences are rejected"),
    )


class WordAlignerOptions(Config):
    """The tokens to align, and the aligner."""

    ALIGNER: ClassVar[str] = "hmm"
    """The aligner of a job without an option for it."""

    tokens: Annotated[str | None, SUBWORDS, *GIVEN_TOKENS] = Field(
        None,
        description="units to align: words, whitespace, sentencepiece:MODEL, or those of another "
        "installed package (default words, or those of the given model)",
        json_schema_extra=TOKENS,
    )

    @property
    def aligner_name(self) -> str:
        """Return the name of the aligner."""
        name: str = getattr(self, "aligner", self.ALIGNER)
        return name

    @property
    def given_model(self) -> str | None:
        """Return the location of the aligner's model, if one is given."""
        model: str | None = getattr(self, "model", None)
        return model

    @property
    def prior_model(self) -> str | None:
        """Return the directory of an earlier fit that the fit starts from, if there is one."""
        prior: str | None = getattr(self, "prior", None)
        return prior


class FitSettings(WordAlignerOptions, Options):
    """Fitting a word aligner."""

    PASSED: ClassVar[str] = "the screen"
    """The checks that pairs pass before the aligner is fitted on them, for messages."""

    fit_pairs: int = Field(
        200_000, ge=1, description="approximate number of pairs to fit the model on"
    )
    decode: Literal["posterior", "viterbi"] = Field(
        "posterior",
        description="how a fitted model finds links in each direction (a given model keeps its own "
        "setting)",
    )


FITTING = frozenset(FitSettings.model_fields.keys() - WordAlignerOptions.model_fields.keys())
"""Options of the fit alone."""


class TrainedTokenOptions(FitSettings):
    """Fitting a word aligner: on tokens of a model that may be trained first."""

    tokens: Annotated[str | None, SUBWORDS, *TRAINED_TOKENS] = Field(
        None,
        description="units to align: words, whitespace, sentencepiece:MODEL, sentencepiece to "
        "train a model on a sample, or those of another installed package (default words, or those "
        "of the given model)",
        json_schema_extra=TOKENS,
    )
    vocabulary: int = Field(
        16_000, ge=256, description="pieces of a SentencePiece model trained on a sample"
    )


OF_OUTPUT = {
    **UNPLANNED,
    **SET_BY_CALLER,
    **not_at_night("give --output on the command line"),
}


class OutputOptions(Config):
    """Output."""

    output: Annotated[str, OUTPUT_DIRECTORY] = Field(
        min_length=1,
        description="directory or URI of the run's files",
        json_schema_extra=OF_OUTPUT,
    )


class PlannedOptions(OutputOptions, WordAlignerOptions, ScreenOptions, InputOptions):
    """Running: with input, screen and tokens, the options of every job on a corpus."""

    DOCUMENTS: ClassVar[bool] = False
    """Whether the input is documents, whose rows are known only once they are aligned."""

    WRITES_ROWS: ClassVar[bool] = True
    """Whether the job writes rows; otherwise it only writes rejects, and its output is a model."""

    TRANSLATIONS: ClassVar[bool] = False
    """Whether the screen also judges the translation of a pair."""

    seed: Seed = 1
    plan_only: bool = Field(
        default=False,
        description="print the plan, run nothing, write nothing",
        json_schema_extra={
            **UNPLANNED,
            **OF_COMMAND,
            **SET_BY_CALLER,
            **NOT_OF_FUNCTIONS,
            **not_at_night("give --plan_only on the command line"),
        },
    )

    @property
    def splits(self) -> bool:
        """Return True if workers split rows of the input, so their number is unknown."""
        return False

    def reserved_text(self) -> str:
        """Return a pattern (RE2) of the output's own symbols, which no text may contain, or ""."""
        return ""

    def notices(self) -> Iterator[Notice]:
        """Yield notices about options that may not have the intended effect."""
        yield from ()

    @property
    def aligns(self) -> bool:
        """Return True if the job needs an aligner, and fits one if none is given."""
        return False

    @property
    def writes_every_pair(self) -> bool:
        """Return True if the rows of the job include pairs that it would reject."""
        return False


SET_ELSEWHERE = (*sorted(marked(PlannedOptions, SET_BY_CALLER)), "config")
"""Keys that a job in a file of several jobs does not have: the command itself sets them."""


class GraphOptions(PlannedOptions):
    """Running: options of every job with a graph that makes shards."""

    shard_pairs: int = Field(
        65_536,
        ge=1,
        description="approximate number of pairs in a shard; fewer if pairs average over 8 KiB",
        json_schema_extra=OF_ONE_RUN,
    )
    engine: Literal["local", "prism", "flink", "dataflow"] = Field(
        "local",
        description="engine that runs the graph",
        json_schema_extra={**UNPLANNED, **OF_COMMAND},
    )
    wait: bool = Field(
        default=True,
        description="dataflow: wait for the end of the job; with false, print its id and leave",
        json_schema_extra={
            **UNPLANNED,
            **OF_COMMAND,
            **UNLISTED,
            **not_in_steps("later steps need the finished output of this one"),
        },
    )
    plugins_in_image: bool = Field(
        default=False,
        description="dataflow: the packages of all plugins that options name are installed in the "
        "workers' image, in the versions that this machine has; without it they are refused",
        json_schema_extra=UNPLANNED,
    )
    workers: Workers = Field(
        default_factory=lambda: os.cpu_count() or 1,
        description="processes (local) or parallel slots (flink); with fewer shards, also threads "
        "of an encoder or a translator; does not change the output; not for dataflow",
        json_schema_extra={**UNPLANNED, **OF_COMMAND},
    )
    memory: Size | None = Field(
        None,
        description="local: memory that the run may use, such as 2GiB (default the container's "
        "limit, or the machine's); if it is too little for all workers, fewer run, with the same "
        "output",
        json_schema_extra={**UNPLANNED, **OF_COMMAND},
    )
    attempts: int = Field(
        2,
        ge=1,
        description="number of attempts; each continues where the one before failed",
        json_schema_extra={**UNPLANNED, **OF_COMMAND, **UNLISTED},
    )
    standstill_minutes: float | None = Field(
        None,
        ge=0,
        description="minutes after which an attempt fails if it has read no unit and written no "
        "shard, and its processes on this machine have done no work (default 60 if all workers are "
        "on this machine); 0: no limit, the default elsewhere",
        json_schema_extra={**UNPLANNED, **UNLISTED},
    )
    max_set_aside: int = Field(
        3,
        ge=0,
        description="how many shards may be set aside, that is, fail on every attempt and once "
        "more alone; all others are finished, and a later run makes these. 0: none, the run fails "
        "with its last attempt",
        json_schema_extra={**UNPLANNED, **UNLISTED},
    )

    @property
    def shards_are_independent(self) -> bool:
        """Return True if a shard can be finished although another one cannot be made."""
        return self.WRITES_ROWS

    @property
    def may_be_empty(self) -> bool:
        """Return True if a run that keeps no pairs succeeds."""
        return False


class JobOptions(FitSettings, GraphOptions):
    """Options of every job with a graph that aligns words or fits an aligner."""

    @property
    def aligns(self) -> bool:
        """Return True if the job needs an aligner, and fits one if none is given."""
        return True

    @property
    def may_fit_nothing(self) -> bool:
        """Return True if a run continues without an aligner when there is no pair to fit one on."""
        return self.may_be_empty


class RowJobOptions(JobOptions):
    """Running: options of every such job that writes rows, and not only the aligner."""

    allow_empty: bool = Field(
        default=False,
        description="let a run succeed that keeps no pairs",
        json_schema_extra=UNPLANNED,
    )

    @property
    def may_be_empty(self) -> bool:
        """Return True if a run that keeps no pairs succeeds."""
        return self.allow_empty
