"""Formats of input files in other packages: their interface, and their facts for options."""

from collections.abc import Iterable
from typing import BinaryIO, Protocol, TypeAlias

from pairweave.transforms.plugins.plugin_kind import PluginKind, about_of, line_of_text_fault

TextPair: TypeAlias = tuple[str | None, str | None]
"""Source and target of a pair; a side that is missing or cannot be read is None."""


class CorpusFormat(Protocol):
    """A format of files with both sides for ``--format NAME``, named by an entry point.

    The entry point names an instance, not a class::

        [project.entry-points."pairweave.formats"]
        blocks = "my_package.blocks:FORMAT"

    Attributes:
        about: What the files are, in one line for ``--help all``.
    """

    about: str

    def read(self, file: BinaryIO, source_lang: str, target_lang: str) -> Iterable[TextPair]:
        r"""Read the pairs of a file, one by one.

        They may depend only on the bytes of the file, the languages and the code: not on earlier
        calls, other files, the clock or chance. A file is read once for the plan, where its pairs
        are counted, and by one worker in the run. Yield them as they are read: a file may be larger
        than memory.

        Args:
            file: The bytes of a file, decompressed, from its start; it cannot seek.
            source_lang: The language tag of the sources (such as ``en``, ``und`` if not known).
            target_lang: The language tag of the targets.

        Yields:
            The pairs, in the order of the file. The column ``line`` of a row is the number of its
            pair, from 1. A pair without a side is rejected as ``missing_field``. Text with control
            characters other than tab, line feed and carriage return, and text longer than
            ``--max_line_bytes``, is rejected as in every format.

        Raises:
            ValueError: The file is not in this format, or is damaged. The message says what was
                expected and where.
        """
        ...


def _fault(loaded: object) -> str | None:
    """Return what a format lacks, or None."""
    return line_of_text_fault(loaded, "read")


FORMAT = PluginKind(
    group="pairweave.formats",
    noun="format",
    expected="an instance with about (a line of text) and read(file, source_lang, target_lang), as "
    "pairweave.plugins.CorpusFormat",
    built_in=frozenset(
        {
            *("wets", "mt5", "moses", "opustrainer", "tsv", "csv", "jsonl", "parquet", "po", "tmx"),
            *("xliff", "xliff2", "lxm", "moses_zip", "html", "chat", "hf", "pharaoh", "attention"),
        }
    ),
    fault=_fault,
    describe=about_of,
)
