"""The definition of a job on a corpus, as far as its planning needs it."""

import dataclasses
from collections.abc import Callable
from typing import Any, Generic

from pairweave.pipelines.parts.part import Part
from pairweave.pipelines.run.run import PlannedT


@dataclasses.dataclass(frozen=True, kw_only=True)
class JobDefinition(Generic[PlannedT]):
    """A job on a corpus, which is planned before it runs.

    Attributes:
        name: Its name.
        options: The class of its options.
        parts: Its parts, in the order in which they are planned.
        check: Checks the options, and raises an error for those that cannot be combined.
        refuses: The word for its input in the message that refuses a model for other languages;
            None if such a model only causes a notice.
    """

    name: str
    options: type[PlannedT]
    parts: tuple[Part[Any, Any], ...]
    check: Callable[[PlannedT], None] = lambda _: None
    refuses: str | None = None
