"""What a job on a corpus is made of, as far as its planning needs it."""

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
        check: Refuses options that cannot be combined.
        refuses: What its input is called in the refusal of a model of other languages; None if
            such a model gives a notice alone.
    """

    name: str
    options: type[PlannedT]
    parts: tuple[Part[Any, Any], ...]
    check: Callable[[PlannedT], None] = lambda _: None
    refuses: str | None = None
