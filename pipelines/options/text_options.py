"""Options of what jobs do to texts besides aligning them: finding words, translating."""

from typing import Annotated, Literal

from pydantic import Field

from pairweave.models.translators.translation_options import TranslationOptions
from pairweave.pipelines.options.base import Options
from pairweave.transforms.option_marks import AGREES, listed_before
from pairweave.transforms.option_places import TRANSLATOR
from pairweave.transforms.option_values import has_form


class SegmenterOptions(Options):
    """Words in scripts without spaces."""

    segmenter: Literal["auto", "dictionary", "none"] = Field(
        "auto",
        description="words of Chinese, Japanese, Thai, Lao, Khmer and Burmese: dictionary, from "
        "the dictionaries of ICU and jieba (pip install 'pairweave[segment]'); none, each "
        "character is a word; auto, dictionary if the input is in such a language",
        json_schema_extra=AGREES,
    )

    @property
    def segmented(self) -> tuple[str, ...]:
        """Return the sides of a pair whose word boundaries matter."""
        return ("source", "target")


TranslatorName = Annotated[
    Annotated[
        str,
        has_form(
            "(ctranslate2|transformers):.+",
            "ctranslate2:DIR, transformers:DIR or transformers:OWNER/NAME",
        ),
    ]
    | None,
    TRANSLATOR,
]
"""A translator by its backend and its place (`models.translators.translator.parse_translator`)."""


class TranslatorOptions(TranslationOptions, Options):
    """Translation of sources without a translation in the input."""

    translator: TranslatorName = Field(
        None,
        description="translator of sources without a translation: ctranslate2:DIR, "
        "transformers:DIR or transformers:OWNER/NAME (MarianMT, M2M-100, NLLB)",
        json_schema_extra=listed_before("translator_revision"),
    )
