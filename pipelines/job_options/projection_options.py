"""The options of the commands that place tags by links: one frozen model per command."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from pairweave.pipelines.aligners.aligner_options import AlignerOptions
from pairweave.pipelines.aligners.given import AttentionOptions
from pairweave.pipelines.options.base import Language, Patterns
from pairweave.pipelines.options.first_help import LANGUAGES, PLACE, FirstHelp
from pairweave.pipelines.options.text_options import SegmenterOptions
from pairweave.transforms.links.link_options import Heuristic
from pairweave.transforms.option_places import CORPUS_FILES, FILE, FILES, OUTPUT_FILE


class TagLinkOptions(AlignerOptions, SegmenterOptions, AttentionOptions):
    """Options of commands that place tags: the source, and where its links come from."""

    tagged_target: ClassVar[bool] = False
    """Whether the translation has tags, too."""

    source_input: Annotated[str, CORPUS_FILES] = Field(
        min_length=1, description="text with tags, one sentence per line [.gz .zst .xz .bz2]"
    )
    syntax: Literal["xliff", "xml", "html", "indexed"] = Field(
        "xliff", description="syntax of tags in the text"
    )
    links: Annotated[str | None, CORPUS_FILES] = Field(
        None,
        description="Pharaoh links between the tokens set by --tokens, line by line; implies "
        "--aligner given",
    )
    forward_links: Annotated[str | None, CORPUS_FILES] = Field(
        None,
        description="or the links of one direction, also as source-target, with --reverse_links",
    )
    reverse_links: Annotated[str | None, CORPUS_FILES] = Field(
        None, description="and the links of the other direction"
    )
    attention: Annotated[str | None, CORPUS_FILES] = Field(
        None,
        description="or the attention of a translation model for each line: .npz with arrays "
        "arr_0, arr_1 and so on, [target, source], [head, target, source] or [layer, head, target, "
        "source], or one padded .npy array",
    )
    fit_source_input: Annotated[Patterns, FILES] = Field(
        (), description="more plain text to fit hmm on, line-parallel, the source side"
    )
    fit_target_input: Annotated[Patterns, FILES] = Field((), description="the target side")
    source_lang: Language = Field("und", description="BCP 47 tag of the source language")
    target_lang: Language = Field("und", description="BCP 47 tag of the target language")


class TagsProjectOptions(TagLinkOptions):
    """Options of ``tags project``."""

    FIRST_HELP: ClassVar[FirstHelp | None] = FirstHelp(
        "pairweave tags project --source_input tagged.en --target_input plain.de \\\n"
        f"  {LANGUAGES} --model model/ --output tagged.de",
        f"source_input target_input {PLACE} syntax model aligner links rules",
    )

    target_input: Annotated[str, CORPUS_FILES] = Field(
        min_length=1, description="its translation without tags, line by line"
    )
    output: Annotated[str, OUTPUT_FILE] = Field(
        min_length=1, description="file for the translation with the tags [.gz .zst .xz .bz2]"
    )
    rules: Literal["best", "paper"] = Field(
        "best",
        description="placing tags: best, by all evidence; paper, as Hanneman and Dinu (2020)",
    )
    heuristic: Heuristic = Field(
        "grow-diag", description="how the two directions are combined, for paper"
    )
    projection_weights: Annotated[str | None, FILE] = Field(
        None, description="weights of the evidence for best, from tags fit_projection"
    )
    confidence: Annotated[str | None, OUTPUT_FILE] = Field(
        None,
        description="file for how sure each tag's place is, JSON lines, one for each line of text "
        "[.gz .zst .xz .bz2]",
    )


class TagsFitProjectionOptions(TagLinkOptions):
    """Options of ``tags fit_projection``."""

    tagged_target: ClassVar[bool] = True
    rules: ClassVar[Literal["best"]] = "best"
    heuristic: ClassVar[Heuristic] = "grow-diag"

    target_input: Annotated[str, CORPUS_FILES] = Field(
        min_length=1, description="its translation with the same tags, line by line"
    )
    output: Annotated[str, OUTPUT_FILE] = Field(
        min_length=1, description="file of the weights, JSON"
    )


TagOptions = TagsProjectOptions | TagsFitProjectionOptions
"""The options of either command."""
