"""Options of ``check``."""

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import pydantic
from pydantic import Field

from pairweave.pipelines.options.base import Language, Options, Patterns
from pairweave.pipelines.options.corpus_options import FieldOptions
from pairweave.transforms.findings import KINDS
from pairweave.transforms.formats.registry import FormatOptions
from pairweave.transforms.option_marks import SHAPES_TEXT, gives_pairs
from pairweave.transforms.option_places import CORPUS_FILES, MODEL, Metavar
from pairweave.transforms.suggestions.suggestion_options import split_words
from pairweave.transforms.units import FileLimitOptions

if TYPE_CHECKING:
    KindName: TypeAlias = str
else:
    KindName = Literal[tuple(KINDS)]


class CheckOptions(FormatOptions, FileLimitOptions, FieldOptions, Options):
    """Options of ``check``."""

    files: Annotated[tuple[str, ...], CORPUS_FILES] = Field(
        (),
        description="files or globs with both sides of each pair, or two files of text, the source "
        "and its translation line by line",
        json_schema_extra={"at": 0, **gives_pairs("files")},
    )
    input: Annotated[Patterns, CORPUS_FILES] = Field(
        (),
        description="files or globs with both sides of each pair, as in jobs",
        json_schema_extra=gives_pairs("files"),
    )
    source_input: Annotated[Patterns, CORPUS_FILES] = Field(
        (),
        description="line-parallel text, the source side, as in jobs",
        json_schema_extra=gives_pairs("files"),
    )
    target_input: Annotated[Patterns, CORPUS_FILES] = Field(
        (),
        description="line-parallel text, the target side, as in jobs",
        json_schema_extra=gives_pairs("files"),
    )
    source_lang: Language = Field("und", description="BCP 47 tag of the source language")
    target_lang: Language = Field("und", description="BCP 47 tag of the target language")
    inline_tags: Literal["raw", "strip", "reject"] | None = Field(
        None,
        description="tags inside texts, as in jobs (default strip for TMX, XLIFF and LXM, else "
        "raw)",
        json_schema_extra=SHAPES_TEXT,
    )
    model: Annotated[str | None, MODEL] = Field(
        None,
        description="fitted aligner; with its links, stretches of 20 lines that do not belong "
        "together are found, without them those of 50",
    )
    fail_on: Annotated[
        tuple[KindName, ...], pydantic.BeforeValidator(split_words), Metavar("KIND")
    ] = Field(
        (),
        description=f"end with exit status 1 if one of these is found: {', '.join(KINDS)}",
    )
