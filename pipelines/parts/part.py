"""The parts of a job, each responsible for one of its models, rules or files.

When a job is planned, a part reads its options and returns the facts that other code needs
(`Settled`): its entries in the plan, its models, the distributions that run them, the input of its
steps.
Planning, the plan, the shares of memory and cores and the checks of languages are loops over these
results. None of them knows the name of a part or of an option, so one more kind of model, rule or
file is one function and one line in the lists of the jobs that have it.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Generic

from typing_extensions import TypeVar

from pairweave.models.learned_languages import Learned
from pairweave.models.model_store import ModelReference
from pairweave.transforms.config import Config
from pairweave.transforms.storage import files
from pairweave.transforms.units import CorpusInput, Notice, Plan, ReadLimits

OptionsT = TypeVar("OptionsT", bound=Config)
ResultT = TypeVar("ResultT")


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
class Settled(Generic[ResultT]):
    """The result of planning a part.

    Attributes:
        result: The data that the steps of the part receive.
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

    result: ResultT
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

    def with_threads(self, threads: int) -> "Settled[ResultT]":
        """Return a copy whose model, if it has one, processes up to ``threads`` batches at once."""
        result: Any = self.result
        if not hasattr(result, "with_threads"):
            return self
        return dataclasses.replace(self, result=result.with_threads(threads))


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

    def result_of(self, part: "Part[Any, ResultT]") -> ResultT:
        """Return the data that an earlier part of the job provides for its steps."""
        result: ResultT = self.settled[part.name].result
        return result


@dataclasses.dataclass(frozen=True)
class Part(Generic[OptionsT, ResultT]):
    """A part of a job.

    Its functions take options of the class that declares those of the part; a job that has the part
    inherits from it.

    Attributes:
        name: Its name, which no other part has.
        plan: Reads the files and models that options name; returns what planning and steps need.
            Raises `ConfigError` if the options, or the files or models that they name, cannot be
            used.
        check: Makes all checks that do not need the input, before it is read; raises `ConfigError`
            if the options cannot be used. Returns results that `plan` would otherwise compute
            again, for `Planning.checked`; or None.
        check_corpora: Checks the corpora, before their files are read; raises `ConfigError` if one
            has something that the part cannot use.
    """

    name: str
    plan: Callable[[OptionsT, Planning], Settled[ResultT]]
    check: Callable[[OptionsT], object] = lambda _: None
    check_corpora: Callable[[OptionsT, Sequence[CorpusInput]], None] = lambda _, __: None


def files_facts(patterns: Sequence[str]) -> list[dict[str, str]]:
    """Return the plan's entry for files named by options, without paths so that they may move."""
    return [
        {"name": PurePosixPath(path).name, "sha256": files.sha256_of(path)}
        for pattern in patterns
        for path in files.match(pattern)
    ]
