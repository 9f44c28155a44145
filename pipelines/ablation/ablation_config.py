"""The YAML file of ``ablate``: arms, seeds, test sets, metrics, and the size of the models."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

import pydantic
from pydantic import Field

from pairweave.models.translation.translation_config import SIZES, SizeName, TranslationConfig
from pairweave.pipelines.ablation.task_names import METRICS_OF, TaskName, task_problem
from pairweave.pipelines.options.base import Language, Patterns
from pairweave.transforms.config import Config
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.markup.markup import SyntaxName
from pairweave.transforms.metrics.measured import Metric
from pairweave.transforms.option_values import has_form
from pairweave.transforms.storage.json_files import first_problem
from pairweave.transforms.storage.yaml_files import read_yaml

Name = Annotated[
    str,
    has_form(
        "[A-Za-z0-9][A-Za-z0-9_.-]*", "a name of ASCII letters, digits, dots, hyphens, underscores"
    ),
    Field(max_length=100),
]


NO_KINDS = "kinds chooses rows of augment; those of other jobs are of no kind, so leave it out"


class StreamedTags(Config):
    """New tags in every pass over the data, as ``pairweave stream`` draws them."""

    epochs: int = Field(4, ge=1, le=100, description="passes with other tags; then the first again")
    options: dict[str, Any] = Field(default_factory=dict, description="options of stream")

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        if "epochs" in self.options:
            raise ValueError("options: epochs is a key beside options; leave it out of them")
        return self


class DataItem(Config):
    """A part of an arm's data: ``run``, ``job``, ``pairs``, or the files of both sides."""

    run: str | None = Field(None, description="directory of a finished run")
    job: Literal["augment", "align", "filter", "suggest"] | None = Field(
        None, description="job to run first"
    )
    options: dict[str, Any] = Field(default_factory=dict, description="options of the job")
    stream: StreamedTags | None = Field(None, description="new tags in every pass")
    pairs: str | None = Field(None, description="an export as JSONL or TSV")
    source: str | None = Field(None, description="line-parallel text")
    target: str | None = Field(None, description="its translation, or suggestions for the masks")
    masked: str | None = Field(None, description="its translation with a mask in each line")
    syntax: SyntaxName | None = Field(None, description="syntax of tags in the texts")
    tags: Literal["keep", "strip"] = Field("keep", description="what becomes of the tags")
    kinds: tuple[Literal["plain", "tagged"], ...] = Field(
        ("plain", "tagged"), min_length=1, description="rows of a run of augment"
    )
    take: int | None = Field(None, ge=1, description="number of pairs, chosen by their text")
    times: int = Field(1, ge=1, le=100, description="how often each pair occurs")

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        ways = [self.run, self.job, self.pairs, self.source or self.target]
        if sum(way is not None for way in ways) != 1:
            raise ValueError("give exactly one of run, job, pairs, and source with target")
        if (self.source is None) != (self.target is None):
            raise ValueError("source and target must be given together")
        if self.masked is not None and self.source is None:
            raise ValueError("masked needs source and target, the suggestions for its masks")
        if self.options and self.job is None:
            raise ValueError("options are those of a job, but none is given")
        made = self.run is not None or self.job is not None
        if self.stream is not None and not made:
            raise ValueError("stream draws tags from a run or a job, but none is given")
        if self.job == "align" and self.stream is None:
            raise ValueError("align makes links and no tags; give stream, or the job augment")
        if len(self.kinds) < 2 and (not made or self.stream is not None):
            raise ValueError("kinds chooses rows of a run or a job without stream")
        if len(self.kinds) < 2 and self.job == "filter":
            raise ValueError(NO_KINDS)
        if self.syntax is not None and made:
            raise ValueError("syntax applies to files; the tags of a run are known")
        return self

    @property
    def label(self) -> str:
        """Return the name of the part in messages."""
        return self.run or self.job or self.pairs or f"{self.source} and {self.target}"


class ProjectedTags(Config):
    """Detag and project: the model translates plain text, and links put the tags back."""

    aligner: str = Field(
        "hmm",
        description="what links the words: hmm, the trained model's own attention, or "
        "encoder:DIRECTORY:layer=5",
    )
    method: Literal["naive", "shift"] = Field(
        "shift", description="attention: whose attention a piece has: its own step's, or the next's"
    )
    layer: int | None = Field(
        None, ge=0, description="attention: layer of the decoder (default: by the method)"
    )
    rules: Literal["best", "paper"] = Field("best", description="where tags go, see tags project")
    fit_source: str | None = Field(None, description="text to fit the aligner on (default: data)")
    fit_target: str | None = Field(None, description="its translation")

    @property
    def encoder(self) -> str | None:
        """Return the one-line name of the encoder, if one links the words."""
        return self.aligner if self.aligner.startswith("encoder:") else None

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        if (self.fit_source is None) != (self.fit_target is None):
            raise ValueError("fit_source and fit_target must be given together")
        if self.aligner not in ("hmm", "attention") and self.encoder is None:
            raise ValueError(
                f"there is no aligner {self.aligner!r}; give hmm, attention or "
                "encoder:DIRECTORY, perhaps with settings as in encoder:DIRECTORY:layer=5"
            )
        unused = set[str]()
        if self.aligner != "hmm":
            unused |= {"fit_source", "fit_target"}
        if self.aligner != "attention":
            unused |= {"method", "layer"}
        given = sorted(unused & self.model_fields_set)
        if given:
            raise ValueError(f"{given[0]} does nothing with aligner {self.aligner}")
        return self


class LaterStage(Config):
    """A later stage of training, such as one on golden data after pseudo data."""

    data: tuple[DataItem, ...] = Field(min_length=1, description="the parts, all of which are used")
    steps: int = Field(ge=1, le=10_000_000, description="updates, out of those of the size")


class Arm(Config):
    """A recipe of training data."""

    data: tuple[DataItem, ...] = Field(min_length=1, description="the parts, all of which are used")
    then: tuple[LaterStage, ...] = Field((), description="later stages of training")
    project: ProjectedTags | None = Field(None, description="detag and project")
    hint_letters: int | None = Field(
        None, ge=1, le=100, description="first letters of the suggestion that the model is given"
    )
    whitespace_shift: bool = Field(
        default=False,
        description="white space after tags instead of before them, for training and tests",
    )
    raw_tags: bool = Field(
        default=False,
        description='tags as text (<g id="1">) that the vocabulary cuts into pieces, for training '
        "and tests",
    )

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        for name in ("whitespace_shift", "raw_tags"):
            if getattr(self, name) and self.project is not None:
                raise ValueError(f"{name} does nothing with project: the model sees no tags")
        if self.whitespace_shift and self.raw_tags:
            raise ValueError("whitespace_shift is for symbols; leave it out, or raw_tags")
        return self

    def stages(self) -> list[tuple[str, tuple[DataItem, ...]]]:
        """Return the data of each stage, with the part of its name after the arm's field."""
        later = [(f".then[{number}]", stage.data) for number, stage in enumerate(self.then)]
        return [("", self.data), *later]

    def steps(self, updates: int) -> list[int]:
        """Divide all updates among the stages; the first stage gets the rest of the later ones."""
        own = [stage.steps for stage in self.then]
        return [updates - sum(own), *own]


class Start(Config):
    """A model that all units start from, such as one trained on more text than the arms have."""

    data: tuple[DataItem, ...] = Field(min_length=1, description="the parts, all of which are used")
    steps: int = Field(ge=1, le=10_000_000, description="updates")
    seed: int = Field(1, ge=0, lt=1 << 31, description="seed of its weights and of the order")


class EvaluationFiles(Config):
    """A test set."""

    source: str = Field(description="source text, one segment per line")
    target: Patterns = Field(
        min_length=1,
        description="its translation by people; or files of suggestions for the masks",
    )
    masked: str | None = Field(None, description="its translation with a mask in each line")
    syntax: SyntaxName | None = Field(None, description="syntax of tags in the texts")


class AttentionFiles(Config):
    """Pairs for which the attention of each unit's model is written."""

    source: str = Field(description="plain text, one segment per line")
    target: str = Field(description="its translation")


class SizeNumbers(Config):
    """A named size with some of its numbers replaced."""

    like: SizeName = Field(description="the size from which all other numbers come")
    dimension: int | None = None
    heads: int | None = None
    feed_forward: int | None = None
    encoder_layers: int | None = None
    decoder_layers: int | None = None
    steps: int | None = None
    batch_tokens: int | None = None
    learning_rate: float | None = None
    warmup_steps: int | None = None
    dropout: float | None = None
    label_smoothing: float | None = None
    max_pieces: int | None = None
    checkpoint_steps: int | None = None
    beam_size: int | None = None
    threads: int | None = None


def _kind_of_size(value: object) -> str:
    return "SizeNumbers" if isinstance(value, dict | SizeNumbers) else "SizeName"


Size = Annotated[
    Annotated[SizeName, pydantic.Tag("SizeName")]
    | Annotated[SizeNumbers, pydantic.Tag("SizeNumbers")],
    pydantic.Discriminator(_kind_of_size),
]
"""A size by its name or with numbers; a message is about the one that was given."""


class Ablation(Config):
    """An ablation: the models, their training data, and the metrics."""

    task: TaskName = Field("translation", description="what the models learn")
    source_lang: Language
    target_lang: Language
    size: Size = "toy"
    vocabulary: int | str = Field(2_000, description="pieces of a new model, or a model's file")
    seeds: tuple[Annotated[int, Field(ge=0, lt=1 << 31)], ...] = Field(min_length=1)
    start: Start | None = Field(None, description="a model that all units start from")
    baseline: Name
    arms: dict[Name, Arm] = Field(min_length=1)
    tests: dict[Name, EvaluationFiles] = Field(min_length=1)
    dev: EvaluationFiles | None = Field(None, description="pairs of the learning curve")
    attention: dict[Name, AttentionFiles] = Field(
        default_factory=dict, description="pairs for which the models' attention is written"
    )
    metrics: tuple[str, ...] = Field((), description="metrics of the task (default: all)")
    overlap: Literal["refuse", "leave_out"] = "refuse"

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        if self.baseline not in self.arms:
            raise ValueError(
                f"baseline: there is no arm {self.baseline}; the arms are {', '.join(self.arms)}"
            )
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError("seeds: one is given twice; nothing is trained twice")
        if len(set(self.metrics)) < len(self.metrics):
            raise ValueError("metrics: one is given twice; the table has each once")
        known = self.known_metrics
        odd = next((name for name in self.metrics if name not in known), None)
        if odd is not None:
            raise ValueError(
                f"metrics: there is no {odd} of the task {self.task}; choose from "
                f"{', '.join(known)}"
            )
        if isinstance(self.vocabulary, int) and not 100 <= self.vocabulary <= 1_000_000:
            raise ValueError("vocabulary: expected 100 to 1000000 pieces, or a file")
        for field, part in self._parts():
            if (
                problem := task_problem(self.task, part.model_dump(exclude_defaults=True))
            ) is not None:
                raise ValueError(f"{field}: {problem}")
        if self.attention and self.task != "translation":
            raise ValueError("attention: applies to translations; leave it out")
        for name, arm in self.arms.items():
            updates = self.model.steps if arm.then else 1
            if arm.steps(updates)[0] < 1:
                raise ValueError(
                    f"arms.{name}.then: its stages have all {updates} updates of the size, so none "
                    "is left for the first; lower their steps"
                )
        return self

    def _parts(self) -> Iterator[tuple[str, Config]]:
        """Yield the parts that only some tasks have, with their fields."""
        for name, arm in self.arms.items():
            yield f"arms.{name}", arm
            for later, data in arm.stages():
                for number, item in enumerate(data):
                    yield f"arms.{name}{later}.data[{number}]", item
        for number, item in enumerate(self.start.data if self.start else ()):
            yield f"start.data[{number}]", item
        for name, test in self.tests.items():
            yield f"tests.{name}", test
        if self.dev is not None:
            yield "dev", self.dev

    @property
    def used_metrics(self) -> tuple[str, ...]:
        """Return the names of the metrics that are computed."""
        return self.metrics or tuple(self.known_metrics)

    @property
    def known_metrics(self) -> Mapping[str, Metric]:
        """Return the metrics of the task by name."""
        return METRICS_OF[self.task]

    @property
    def model(self) -> TranslationConfig:
        """Return the sizes and settings of the models."""
        if isinstance(self.size, str):
            return SIZES[self.size]
        given = self.size.model_dump(exclude={"like"}, exclude_none=True)
        return SIZES[self.size.like].changed(**given)

    def units(self) -> list[tuple[str, int]]:
        """Return the arm and seed of each unit of work: all arms with one seed, then the next."""
        return [(arm, seed) for seed in self.seeds for arm in self.arms]


def read_ablation(path: str) -> Ablation:
    """Read the YAML file of an ablation.

    Raises:
        ConfigError: The file cannot be read, or a field is unknown, missing or wrong; names both
            the field.
    """
    value = read_yaml(path)
    if not isinstance(value, dict):
        raise ConfigError(f"{path}: expected a map with arms, tests, seeds and a baseline")
    try:
        made = Ablation.model_validate(value)
        layers = made.model.decoder_layers
    except pydantic.ValidationError as error:
        raise ConfigError(f"{path}: {_problem(error)}") from error
    except ConfigError as error:
        raise ConfigError(f"{path}: size: {error}") from error
    for name, arm in made.arms.items():
        if arm.project is not None and (arm.project.layer or 0) >= layers:
            raise ConfigError(
                f"{path}: arms.{name}.project.layer: expected less than {layers}, the number of "
                "layers of the decoder, which are numbered from 0"
            )
    return made


def _problem(error: pydantic.ValidationError) -> str:
    """Describe an error in one line, and leave alternatives of a type out of a field's place."""
    text = first_problem(error)
    text = text.replace("is unknown to this version of pairweave", "is not a key here")
    return re.sub(r"\.(SizeName|SizeNumbers|\[key\])(?=[:.])|(?<=^vocabulary)\.int(?=:)", "", text)


def split_unit(word: str, ablation: Ablation) -> tuple[str, int]:
    """Return the arm and seed of ``ARM/SEED``.

    Raises:
        ConfigError: There is no such unit.
    """
    arm, _, seed = word.rpartition("/")
    if arm not in ablation.arms:
        raise ConfigError(
            f"--only {word}: there is no arm {arm or word!r}; write ARM/SEED with one of "
            f"{', '.join(ablation.arms)}"
        )
    if not (seed.isascii() and seed.isdigit()) or int(seed) not in ablation.seeds:
        raise ConfigError(
            f"--only {word}: there is no seed {seed!r}; the seeds are "
            f"{', '.join(map(str, ablation.seeds))}"
        )
    return arm, int(seed)
