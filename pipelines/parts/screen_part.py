"""The screen of a job, which rejects pairs before the costly steps."""

from pairweave.pipelines.aligners.token_choice import screen_tokens
from pairweave.pipelines.options.base import PlannedOptions, ScreenOptions
from pairweave.pipelines.parts.aligner_part import ALIGNER
from pairweave.pipelines.parts.file_facts import files_facts
from pairweave.pipelines.parts.part import Part, Planning, Settled
from pairweave.transforms.config import pick
from pairweave.transforms.output.signature_line import Counted
from pairweave.transforms.screen import ScreenConfig, load_exclude
from pairweave.transforms.text.tokens import TokenConfig


class ScreenPart(Part[PlannedOptions, ScreenConfig]):
    """The limits of the screen, with the sentences that are excluded."""

    name = "screen"
    options = ScreenOptions

    def plan(self, options: PlannedOptions, planning: Planning) -> Settled[ScreenConfig]:
        """Read the sentences to exclude."""
        config = screen_of(options, planning.need(ALIGNER).tokens)
        return Settled(config, settings={"exclude": Counted(files_facts(options.exclude))})


def screen_of(options: PlannedOptions, tokens: TokenConfig | None) -> ScreenConfig:
    """Return the settings of a job's screen."""
    return pick(
        ScreenConfig,
        options,
        excluded=load_exclude(options.exclude),
        tokens=screen_tokens(tokens),
        reserved=options.reserved_text(),
        translations=options.TRANSLATIONS,
        keeps_long_texts=options.writes_every_pair,
    )


SCREEN = ScreenPart()
