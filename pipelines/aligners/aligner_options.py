"""Options of jobs and commands that take any aligner, including those of each aligner."""

import types
from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import Field

from pairweave.pipelines.aligners.aligner_registry import ALIGNERS, SECOND_ALIGNER
from pairweave.pipelines.options.base import (
    FITTED_MODEL,
    TOKENS,
    FitSettings,
    TrainedTokenOptions,
)
from pairweave.pipelines.options.token_names import ANY_TOKENS
from pairweave.transforms.links.link_options import NO_LINKS
from pairweave.transforms.option_marks import ONLY_IN_RUNS, PLANNED_OTHERWISE, not_by
from pairweave.transforms.option_places import HUB_MODEL, SUBWORDS
from pairweave.transforms.plugins.name_option import own_or_plugin
from pairweave.transforms.plugins.word_aligner import ALIGNER

_OF_PAIRS = {each.name: each.pairs for each in ALIGNERS if each.pairs}
_OF_TRANSLATIONS = {each.name: each.translations for each in ALIGNERS if each.translations}

if TYPE_CHECKING:
    PairAligner: TypeAlias = str
    TranslationAligner: TypeAlias = str
else:
    PairAligner = Annotated[str, *own_or_plugin(ALIGNER, tuple(_OF_PAIRS))]
    TranslationAligner = Literal[tuple(_OF_TRANSLATIONS)]


def _listed(abouts: dict[str, str]) -> str:
    *first, last = abouts.values()
    return ", ".join([*first, f"or {last}"])


def with_options(
    name: str, base: type[FitSettings], aligners: Collection[str]
) -> type[FitSettings]:
    """Append the options of some aligners to a class of options, in the order of the registry."""
    kinds = [each.options for each in ALIGNERS if each.options and each.name in aligners]
    return types.new_class(name, (*reversed(kinds), base))


class AnyAligner(TrainedTokenOptions):
    """Word alignment."""

    tokens: Annotated[str | None, SUBWORDS, *ANY_TOKENS] = Field(
        None,
        description="units to align: words, whitespace, sentencepiece:MODEL, sentencepiece to "
        "train a model on a sample, the encoder's pieces, or those of another installed package "
        "(default words, or those of the given model)",
        json_schema_extra=TOKENS,
    )
    aligner: str = "hmm"
    model: Annotated[str | None, HUB_MODEL] = Field(
        None,
        min_length=1,
        description="hmm: directory of a fitted model (default: fit on the input first); "
        "encoder and product: directory or hub name of the encoder; external: directory of its "
        "encoder, or what it learned in an earlier run",
        json_schema_extra=FITTED_MODEL,
    )


if TYPE_CHECKING:
    AlignerSettings = AnyAligner
    _Options = AnyAligner
else:
    # The options of aligners for any two texts, and of all aligners.
    AlignerSettings = with_options("AlignerSettings", AnyAligner, _OF_TRANSLATIONS)
    _Options = with_options("_Options", AlignerSettings, _OF_PAIRS.keys() - _OF_TRANSLATIONS.keys())


_OF_TWO = {**PLANNED_OTHERWISE, **not_by(fragment=NO_LINKS)}


class AlignerOptions(_Options):
    """Word alignment of two languages."""

    aligner: PairAligner = Field(
        "hmm",
        description=f"the word aligner: {_listed(_OF_PAIRS)}; or one of another installed package",
    )
    second_aligner: Annotated[str | None, SECOND_ALIGNER] = Field(
        None,
        description="another aligner, whose links are combined with the first one's: "
        "hmm:DIRECTORY, encoder:MODEL:layer=8:head=softmax, or a program in the same form; in the "
        "commands of tags it confirms or doubts them",
        json_schema_extra=_OF_TWO,
    )
    combine: Literal["intersection", "union"] = Field(
        "intersection",
        description="how the links of two aligners are combined",
        json_schema_extra={**_OF_TWO, **ONLY_IN_RUNS},
    )


class TranslationAlignerOptions(AlignerSettings):
    """Word alignment of translations with references."""

    aligner: TranslationAligner = Field(
        "ter", description=f"aligns translation and reference: {_listed(_OF_TRANSLATIONS)}"
    )
