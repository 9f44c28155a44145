"""The options of ``tags encode``, ``tags decode`` and ``tags vocabulary``."""

from typing import Annotated, Literal

from pydantic import Field

from pairweave.pipelines.options.base import Options
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.markup.markup import find_syntax
from pairweave.transforms.option_places import CORPUS_FILES, DIRECTORY, FILE, FILES, OUTPUT
from pairweave.transforms.symbols.representations import SELF_TRANSLATED, find_representation
from pairweave.transforms.symbols.tag_coding import Coding
from pairweave.transforms.symbols.tag_symbols import Representation

SyntaxName = Literal["xml", "html", "xliff", "indexed"]
RepresentationName = Literal["indexed", "xliff", "masked", "html", "template"]


class SymbolOptions(Options):
    """The representation of tags."""

    representation: RepresentationName | None = Field(
        None,
        description="symbols for tags: indexed <a_0>, xliff <g id=...>, masked XLF_OPENG,1, html "
        "<b>, or a --template (default indexed)",
    )
    template: tuple[str, ...] = Field(
        (),
        description="forms of opening, closing and self-closing tags, such as '⟦{index}⟧' "
        "'⟦/{index}⟧' '⟦{index}/⟧'",
        json_schema_extra={"metavar": "TAG"},
    )

    def find(self) -> Representation:
        """Return the selected representation."""
        if (self.representation == "template") > bool(self.template):
            raise ConfigError("--representation template needs --template with three forms")
        if self.template:
            if self.representation not in (None, "template"):
                raise ConfigError(
                    f"--template and --representation {self.representation} exclude each other"
                )
            return find_representation(self.template)
        return find_representation(self.representation or "indexed")


class CodingOptions(SymbolOptions):
    """The encoding of tags."""

    syntax: SyntaxName = Field("xml", description="syntax of tags in the text")
    whitespace_shift: bool = Field(
        default=False,
        description="move the space before a tag to after it, and add one after tags that begin a "
        "text, for SentencePiece; tags decode undoes this and repairs what a model left "
        "unshifted",
    )

    def coding(self) -> Coding:
        """Return the settings of encoding."""
        return Coding(self.find(), find_syntax(self.syntax), self.whitespace_shift)


class TagsEncodeOptions(CodingOptions):
    """Options of ``tags encode``."""

    input: Annotated[str, CORPUS_FILES] = Field(
        min_length=1, description="tagged text, one per line [.gz .zst .xz .bz2]"
    )
    output: Annotated[str, OUTPUT] = Field(
        min_length=1, description="file of the text with symbols [.gz .zst .xz .bz2]"
    )
    table: Annotated[str, OUTPUT] = Field(
        min_length=1,
        description="file of the tags behind the symbols, JSON lines [.gz .zst .xz .bz2]",
    )
    target_input: Annotated[str | None, CORPUS_FILES] = Field(
        None, description="its tagged translation: matching tags get the same number"
    )
    target_output: Annotated[str | None, OUTPUT] = Field(
        None, description="file of the translation with symbols"
    )
    target_table: Annotated[str | None, OUTPUT] = Field(
        None, description="file of the translation's table"
    )
    max_tags: int | None = Field(
        None,
        ge=1,
        le=10_000,
        description="tags per line that the model has symbols for; lines with more cause a warning "
        "(default as in symbols.txt of augment: 10, or 9 for xliff, masked and html)",
    )


class TagsDecodeOptions(CodingOptions):
    """Options of ``tags decode``."""

    input: Annotated[str, CORPUS_FILES] = Field(
        min_length=1, description="text with symbols, one per line [.gz .zst .xz .bz2]"
    )
    output: Annotated[str, OUTPUT] = Field(
        min_length=1, description="file of the text with real tags [.gz .zst .xz .bz2]"
    )
    table: Annotated[str | None, FILE] = Field(
        None, description="the table that tags encode wrote; it also records how tags were encoded"
    )
    source: Annotated[str | None, FILE] = Field(
        None,
        description="instead of the table: the tagged text that was encoded, with the same "
        "--syntax, --representation and --whitespace_shift",
    )


class TagsAgreeOptions(Options):
    """Options of ``tags agree``."""

    input: Annotated[tuple[str, ...], CORPUS_FILES] = Field(
        min_length=1,
        description="tagged text, a file per language, the same sentences line by line "
        "[.gz .zst .xz .bz2]",
    )
    output: Annotated[str, OUTPUT] = Field(
        min_length=1, description="directory of the kept lines, in files of the same names"
    )
    syntax: SyntaxName = Field("xliff", description="syntax of tags in the text")
    differing: Literal["skip", "trim"] = Field(
        "skip",
        description="lines whose tags differ: skip leaves them out, trim keeps them with the tags "
        "that all languages have",
    )
    tagged_only: bool = Field(default=False, description="leave out lines without tags")


class TagsVocabularyOptions(SymbolOptions):
    """Options of ``tags vocabulary``."""

    max_tags: int = Field(
        SELF_TRANSLATED, ge=1, le=10_000, description="number of tags to list symbols for"
    )
    output: Annotated[str | None, OUTPUT] = Field(
        None, description="file for the symbols, one per line"
    )
    self_translations: Annotated[str | None, OUTPUT] = Field(
        None, description="file for training rows (TSV) whose two sides are the same symbol"
    )
    sentencepiece: Annotated[str | None, FILE] = Field(
        None, description="SentencePiece model to extend"
    )
    train: Annotated[tuple[str, ...], FILES] = Field(
        (),
        description="instead: plain text in all languages [.gz .zst .xz .bz2] to train a new "
        "SentencePiece model on; with --whitespace_shift, tags then do not change the pieces of "
        "text",
    )
    model_type: Literal["unigram", "bpe"] = Field(
        "unigram", description="algorithm of the trained model"
    )
    vocabulary: int = Field(
        32_000,
        ge=256,
        le=1_000_000,
        description="number of pieces of the trained model, without symbols",
    )
    output_model: Annotated[str | None, OUTPUT] = Field(
        None, description="file for the extended or the trained model"
    )
    tokenizer: Annotated[str | None, DIRECTORY] = Field(
        None, description="directory of a Hugging Face tokenizer to extend"
    )
    output_tokenizer: Annotated[str | None, OUTPUT] = Field(
        None, description="directory for the extended tokenizer"
    )
