"""Tokenizers in other packages: their interface, and their facts for options."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from pairweave.transforms.plugins.plugin_kind import PluginKind, about_of, line_of_text_fault

if TYPE_CHECKING:  # the module is read by --help
    import pyarrow as pa

Token: TypeAlias = tuple[int, int]
"""First code point of a token, and the code point after its last one, both from 0."""


class Tokenizer(Protocol):
    """A tokenizer for ``--tokens NAME``, named by an entry point.

    The entry point names an instance, not a class::

        [project.entry-points."pairweave.tokenizers"]
        syllables = "my_package.syllables:TOKENIZER"

    Attributes:
        about: What its tokens are, in one line for ``--help all``.
    """

    about: str

    def cut(
        self, texts: "pa.StringArray", languages: "pa.StringArray"
    ) -> Sequence[Sequence[Token]]:
        """Cut texts into the tokens that are aligned.

        The tokens of a text may depend only on that text, its language and the code: not on its
        neighbours, their number or order, earlier calls, files, the clock or chance. Otherwise
        output differs with the number of workers. Several processes call it, each making one call
        at a time.

        Args:
            texts: Texts without nulls; up to about 65,536, perhaps none.
            languages: The language tag of each text (such as ``en``, ``und`` if it is not known).

        Returns:
            The tokens of each text, in their order: half-open ranges of its code points (as
            Python's strings count), ascending, disjoint, none empty, and none with white space at
            its ends. Text outside the tokens is aligned to nothing.
        """
        ...


def _fault(loaded: object) -> str | None:
    """Return what a tokenizer lacks, or None."""
    return line_of_text_fault(loaded, "cut")


TOKENIZER = PluginKind(
    group="pairweave.tokenizers",
    noun="tokenizer",
    expected="an instance with about (a line of text) and cut(texts, languages), as "
    "pairweave.plugins.Tokenizer",
    built_in=frozenset({"words", "whitespace", "sentencepiece", "pieces"}),
    fault=_fault,
    describe=about_of,
)
