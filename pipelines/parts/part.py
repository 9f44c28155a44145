"""The parts of a job, each responsible for one of its models, rules or files.

When a job is planned, a part reads its options and returns the facts that other code needs
(`Settled`): its entries in the plan, its models, the distributions that run them, the input of its
steps.
Planning, the plan, the shares of memory and cores and the checks of languages are loops over these
results. None of them knows the name of a part or of an option, so one more kind of model, rule or
file is one module and one line in the lists of the jobs that have it.
"""

import abc
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic

from typing_extensions import TypeVar

from pairweave.models.learned_languages import Learned
from pairweave.models.model_store import ModelReference
from pairweave.transforms.config import Config
from pairweave.transforms.units import CorpusInput, Notice, Plan, ReadLimits

OptionsT = TypeVar("OptionsT", bound=Config)
NeedT = TypeVar("NeedT")


@dataclasses.dataclass(frozen=True)
class Fitting:
    """A model that the run makes from its own pairs before it can go on.

    Attributes:
        directory: Its directory, relative to the run's output.
        pairs: Approximate number of pairs that it is made from.
        find: Returns the reference to a complete model in a directory; None if there is none.
    """

    directory: str
    pairs: int
    find: Callable[[str], ModelReference | None]


@dataclasses.dataclass(frozen=True)
class Settled(Generic[NeedT]):
    """The result of planning a part.

    Attributes:
        need: The data that the steps of the part receive.
        settings: Its entries in the plan's configuration, which determine output bytes.
        left_out: Options that have no effect in this run; the plan lists none of them.
        facts: Its entries in the plan outside the configuration, such as contents of files.
        models: References of its models, or settings of its encoders, which workers load.
        packages: Distributions that run its models.
        copies: Number of copies of its model that the workers of a machine share; None if each has
            its own.
        learned: Its models that were learned from pairs of two languages.
        fitting: The model that the run makes first; None if it makes none.
        recorded: Digests of models that each shard's receipt names.
        notices: Its notices about the input.
    """

    need: NeedT
    settings: Mapping[str, object] = dataclasses.field(default_factory=dict)
    left_out: frozenset[str] = frozenset()
    facts: Mapping[str, object] = dataclasses.field(default_factory=dict)
    models: tuple[object, ...] = ()
    packages: tuple[str, ...] = ()
    copies: int | None = None
    learned: tuple[Learned, ...] = ()
    fitting: Fitting | None = None
    recorded: Mapping[str, str] = dataclasses.field(default_factory=dict)
    notices: tuple[Notice, ...] = ()

    def with_threads(self, threads: int) -> "Settled[NeedT]":
        """Return a copy whose model, if it has one, processes up to ``threads`` batches at once."""
        need: Any = self.need
        if not hasattr(need, "with_threads"):
            return self
        return dataclasses.replace(self, need=need.with_threads(threads))


class Part(abc.ABC, Generic[OptionsT, NeedT]):
    """A part of a job.

    Attributes:
        name: Its name, which no other part has.
        options: The class that declares its options; a job that has the part inherits them.
    """

    name: str
    options: type[Config] = Config

    def check(self, options: OptionsT) -> object:
        """Make all checks that do not need the input, before it is read.

        Returns:
            Results that `plan` would otherwise compute again, for `Planning.checked`; or None.

        Raises:
            ConfigError: The options cannot be used.
        """

    def check_corpora(self, options: OptionsT, corpora: Sequence[CorpusInput]) -> None:
        """Check the corpora, before their files are read.

        Raises:
            ConfigError: A corpus has something that the part cannot use.
        """

    @abc.abstractmethod
    def plan(self, options: OptionsT, planning: "Planning") -> Settled[NeedT]:
        """Read the files and models that options name; return what planning and steps need.

        Raises:
            ConfigError: The options, or the files or models that they name, cannot be used.
        """


@dataclasses.dataclass
class Planning:
    """A job while it is planned.

    Attributes:
        plan: Its input, divided into units.
        limits: Limits of the readers.
        settled: The planning results of the parts before this one, by their names.
        checked: The results of the parts' checks, by the parts' names.
    """

    plan: Plan
    limits: ReadLimits
    settled: dict[str, Settled[Any]] = dataclasses.field(default_factory=dict)
    checked: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def need(self, part: Part[Any, NeedT]) -> NeedT:
        """Return the data that an earlier part of the job provides for its steps."""
        need: NeedT = self.settled[part.name].need
        return need
