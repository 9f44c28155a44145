"""What decides about the texts of pairs: the screen, and the segmenter for text without spaces."""

from collections.abc import Iterable

from pairweave.pipelines.aligners.token_choice import screen_tokens
from pairweave.pipelines.options.base import PlannedOptions
from pairweave.pipelines.options.text_options import SegmenterOptions
from pairweave.pipelines.parts.aligner_parts import ALIGNER
from pairweave.pipelines.parts.part import Part, Planning, Settled, files_facts
from pairweave.transforms.config import pick
from pairweave.transforms.formats.registry import read_unit
from pairweave.transforms.output.signature_line import Counted
from pairweave.transforms.screen import ScreenConfig, load_exclude
from pairweave.transforms.text.iso_languages import UNDETERMINED
from pairweave.transforms.text.segmenter import NONE, choose_segmenter, is_unspaced, needs_segmenter
from pairweave.transforms.text.tokens import TokenConfig
from pairweave.transforms.units import ReadLimits, Unit


def _plan_screen(options: PlannedOptions, planning: Planning) -> Settled[ScreenConfig]:
    """Read the sentences to exclude."""
    config = screen_of(options, planning.result_of(ALIGNER).tokens)
    return Settled(config, settings={"exclude": Counted(files_facts(options.exclude))})


SCREEN = Part("screen", _plan_screen)
"""The limits of the screen, with the sentences that are excluded."""


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


_LOOK_ROWS = 1_000
"""Number of rows to examine in a file without a language tag."""


def _plan_segmenter(options: SegmenterOptions, planning: Planning) -> Settled[str]:
    """Choose the segmenter.

    Raises:
        ConfigError: A segmenter is needed, but not installed.
    """
    chosen = NONE
    if options.segmenter != NONE and options.segmented:
        reason = _reason(planning.plan.units, planning.limits, options.segmented)
        chosen = choose_segmenter(options.segmenter, reason)
    return Settled(chosen, settings={"segmenter": chosen})


SEGMENTER = Part("segmenter", _plan_segmenter)
"""The segmenter, by its name in the plan (`transforms.text.segmenter`).

The language tag decides whether a segmenter is needed. Without a tag, the first rows of each
file decide: one text in a hundred in a script without spaces is enough."""


def _reason(units: Iterable[Unit], limits: ReadLimits, wanted: Iterable[str]) -> str | None:
    """Return why one of the wanted sides needs a segmenter; None if none does."""
    looked = set()
    for unit in units:
        tags = {"source": unit.source_lang, "target": unit.target_lang}
        languages = {side: tags[side] for side in wanted}
        for side, language in languages.items():
            if is_unspaced(language):
                return f"{unit.file}: the {side} language is {language}"
        sides = [side for side, language in languages.items() if language == UNDETERMINED]
        if not sides or unit.file in looked:
            continue
        looked.add(unit.file)
        batch = next(iter(read_unit(unit, limits, _LOOK_ROWS)), None)
        for side in sides:
            if batch is not None and needs_segmenter(batch.column(side).drop_null()):
                return f"{unit.file}: the {side} side is in a script without spaces"
    return None
