"""Options of the jobs and commands that take any aligner, those of each aligner among them."""

import types
from typing import TYPE_CHECKING, Literal, TypeAlias

from pydantic import Field

from pairweave.pipelines.aligners.registry import ALIGNERS
from pairweave.pipelines.options.base import FitSettings

_OF_PAIRS = {each.name: each.pairs for each in ALIGNERS if each.pairs}
_OF_TRANSLATIONS = {each.name: each.translations for each in ALIGNERS if each.translations}

if TYPE_CHECKING:
    PairAligner: TypeAlias = str
    TranslationAligner: TypeAlias = str
else:
    PairAligner = Literal[tuple(_OF_PAIRS)]
    TranslationAligner = Literal[tuple(_OF_TRANSLATIONS)]


def _listed(abouts: dict[str, str]) -> str:
    *first, last = abouts.values()
    return ", ".join([*first, f"or {last}"])


def with_options(base: type[FitSettings], aligners: tuple[str, ...]) -> type[FitSettings]:
    """Return options with those of some aligners behind them, in the order of the registry."""
    kinds = [each.options for each in ALIGNERS if each.options and each.name in aligners]
    return types.new_class(f"{base.__name__}OfEach", (*reversed(kinds), base))


class AnyAligner(FitSettings):
    """How words are aligned, by any aligner."""

    aligner: str = "hmm"
    model: str | None = Field(
        None,
        min_length=1,
        description="hmm: directory of a fitted model (default: fit on the input first); "
        "encoder: directory or hub name; external: directory of its encoder, or what it learned in "
        "an earlier run",
        json_schema_extra={"metavar": "DIR"},
    )

    @property
    def aligner_name(self) -> str:
        """Return which of the registered aligners is used."""
        return self.aligner

    @property
    def given_model(self) -> str | None:
        """Return where the aligner's model is, if one is given."""
        return self.model


if TYPE_CHECKING:
    _Settings = AnyAligner
else:
    _Settings = with_options(AnyAligner, tuple(_OF_TRANSLATIONS))


class AlignerSettings(_Settings):
    """How the words of two texts are aligned, whatever their languages."""


if TYPE_CHECKING:
    _Options = AlignerSettings
else:
    _Options = with_options(AlignerSettings, tuple(_OF_PAIRS.keys() - _OF_TRANSLATIONS.keys()))


class AlignerOptions(_Options):
    """How the words of two languages are aligned."""

    aligner: PairAligner = Field("hmm", description=f"the word aligner: {_listed(_OF_PAIRS)}")
    second_aligner: str | None = Field(
        None,
        description="another aligner, whose links are combined with the first one's: hmm:DIRECTORY,"
        " encoder:MODEL:layer=8:head=softmax, or a program likewise",
    )
    combine: Literal["intersection", "union"] = Field(
        "intersection", description="how the links of two aligners are combined"
    )

    @property
    def second_name(self) -> str | None:
        """Return how the second aligner is named, if there is one."""
        return self.second_aligner

    @property
    def combined_by(self) -> str | None:
        """Return how the links of two aligners are joined."""
        return self.combine


class TranslationAlignerOptions(AlignerSettings):
    """How translations are aligned with references."""

    aligner: TranslationAligner = Field(
        "ter", description=f"aligns translation and reference: {_listed(_OF_TRANSLATIONS)}"
    )
