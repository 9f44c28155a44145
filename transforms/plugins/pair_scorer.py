"""Scorers of ``filter`` in other packages: their interface, and their facts for options."""

from typing import TYPE_CHECKING, Protocol

from pairweave.transforms.plugins.plugin_kind import PluginKind, about_of, line_of_text_fault

if TYPE_CHECKING:  # the module is read by --help
    import numpy as np
    import pyarrow as pa


class PairScorer(Protocol):
    """A scorer of pairs for ``filter --scorer NAME``, named by an entry point.

    The entry point names an instance, not a class::

        [project.entry-points."pairweave.scorers"]
        lengths = "my_package.lengths:SCORER"

    Attributes:
        about: What the score is, in one line for ``--help all``.
    """

    about: str

    def score(self, pairs: "pa.Table") -> "np.ndarray":
        """Score pairs; a selection keeps those with the highest scores.

        The score of a pair may depend only on that pair and on the code: not on its neighbours,
        their number or order, earlier calls, files, the clock or chance. Otherwise output differs
        with the number of workers. Several processes call it, each making one call at a time.

        Args:
            pairs: The texts ``source`` and ``target`` and their language tags ``source_lang`` and
                ``target_lang`` (such as ``en`` or ``pt-BR``, ``und`` if it is not known), all
                `pa.string` without nulls; up to about 65,536 rows, perhaps none.

        Returns:
            A score for each row, in their order: float32 ``[pair]``, finite, in any unit.
        """
        ...


def _fault(loaded: object) -> str | None:
    """Return what a scorer lacks, or None."""
    return line_of_text_fault(loaded, "score")


SCORER = PluginKind(
    group="pairweave.scorers",
    noun="scorer",
    expected="an instance with about (a line of text) and score(pairs), as "
    "pairweave.plugins.PairScorer",
    built_in=frozenset({"hmm", "yisi2", "margin", "given"}),
    fault=_fault,
    describe=about_of,
)
