"""Options of ``tags encode``, ``decode`` and ``vocabulary``: the form of tags for a model."""

from typing import Annotated, Literal

from pydantic import Field

from pairweave.pipelines.options.base import Options
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.markup.markup import SyntaxName, find_syntax
from pairweave.transforms.option_places import Metavar
from pairweave.transforms.symbols.representations import find_representation
from pairweave.transforms.symbols.tag_coding import Coding
from pairweave.transforms.symbols.tag_symbols import Representation

RepresentationName = Literal["indexed", "xliff", "masked", "html", "template"]


class SymbolOptions(Options):
    """The representation of tags."""

    representation: RepresentationName | None = Field(
        None,
        description="symbols for tags: indexed <a_0>, xliff <g id=...>, masked XLF_OPENG,1, html "
        "<b>, or a --template (default indexed)",
    )
    template: Annotated[tuple[str, ...], Metavar("TAG")] = Field(
        (),
        description="forms of opening, closing and self-closing tags, such as '⟦{index}⟧' "
        "'⟦/{index}⟧' '⟦{index}/⟧'",
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
