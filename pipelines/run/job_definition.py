"""The definition of a job on a corpus, as far as its planning needs it, and its command."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Generic

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.engines import engine_flags
from pairweave.pipelines.options.base import GraphOptions
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
    check: Callable[[PlannedT], object] = lambda _: None
    refuses: str | None = None

    def main(self, _name: str, arguments: Sequence[str]) -> int:
        """Run the job from its command line; return the exit status."""
        options, extra = flags.parse_command(self.options, self.name, arguments)
        if isinstance(options, GraphOptions):
            engine_flags.check_used({options.engine}, engine_flags.given_options(extra))
        return self.start(options, extra)

    def start(self, options: PlannedT, extra: Sequence[str]) -> int:
        """Plan the job, and run it or show its plan; return the exit status.

        Args:
            options: Its options.
            extra: Beam options of the user.

        Raises:
            ConfigError: The user must fix something.
            WorkerError: The run failed.
        """
        raise NotImplementedError
