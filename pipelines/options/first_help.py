"""The first help of a command with many options: an example, and the options most people need.

``--help all`` lists every option.
"""

from typing import NamedTuple

TWO_FILES = "--source_input corpus.en.gz --target_input corpus.de.gz"
LANGUAGES = "--source_lang en --target_lang de"

INPUT = "source_input target_input input"
PLACE = "source_lang target_lang output"
RUN = "workers plan_only"


class FirstHelp(NamedTuple):
    """The first screen of help.

    Attributes:
        example: A command as one would type it.
        options: Options to show, after ``--config`` where there is one, in this order, divided by
            spaces.
    """

    example: str
    options: str

    @property
    def names(self) -> list[str]:
        """Return the names of the options to show."""
        return ["config", *self.options.split()]
