"""Word aligners in other packages: their interface, and their facts for options."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from pairweave.transforms.plugins.plugin_kind import PluginKind, about_of, line_of_text_fault

if TYPE_CHECKING:  # the module is read by --help
    import pyarrow as pa

Link: TypeAlias = tuple[int, int, float]
"""Number of the source token and of the target token, both from 0, and a probability in [0, 1]."""

Links: TypeAlias = Sequence[Sequence[Link]]
"""The links of each pair, in any order, each link once."""


class WordAligner(Protocol):
    """A word aligner for ``--aligner NAME``, named by an entry point.

    The entry point names an instance, not a class::

        [project.entry-points."pairweave.aligners"]
        diagonal = "my_package.diagonal:ALIGNER"

    Attributes:
        about: How it aligns, in one line for ``--help all``.
    """

    about: str

    def align(self, pairs: "pa.Table") -> tuple[Links, Links]:
        """Align pairs in both directions.

        The links of a pair may depend only on that pair and on the code: not on its neighbours,
        their number or order, earlier calls, files, the clock or chance. Otherwise output differs
        with the number of workers. Several processes call it, each making one call at a time.

        Args:
            pairs: The tokens ``source_tokens`` and ``target_tokens`` (lists of `pa.string`), and
                the language tags ``source_lang`` and ``target_lang`` (such as ``en``, ``und`` if it
                is not known); no nulls; up to about 65,536 rows, perhaps none.

        Returns:
            The links from source to target and those of the other direction, each with an entry for
            every row, in their order. Both name the source token first. An aligner without
            directions returns the same links twice. ``--heuristic`` combines the directions.
        """
        ...


def _fault(loaded: object) -> str | None:
    """Return what an aligner lacks, or None."""
    return line_of_text_fault(loaded, "align")


ALIGNER = PluginKind(
    group="pairweave.aligners",
    noun="word aligner",
    expected="an instance with about (a line of text) and align(pairs), as "
    "pairweave.plugins.WordAligner",
    built_in=frozenset({"ter", "hmm", "encoder", "product", "attention", "external", "given"}),
    fault=_fault,
    describe=about_of,
)
