"""The Delta tables of a refresh: their names, directories and files."""

from typing import Any

MAIN = {"augment": "tagged", "suggest": "suggestions", "align": "links", "filter": "pairs"}
"""The table of each job's rows."""

PROVENANCE, REJECTS, FILES = "provenance", "rejects", "files"

ORDER = (FILES, PROVENANCE, REJECTS, *MAIN.values())
"""The order in which a night is committed to the tables."""

LANGUAGES = ("source_lang", "target_lang")
PARTITIONS = {
    "tagged": (*LANGUAGES, "kind"),
    "suggestions": (*LANGUAGES, "method"),
    "links": LANGUAGES,
    "pairs": LANGUAGES,
    PROVENANCE: LANGUAGES,
    REJECTS: LANGUAGES,
    FILES: (),
}
"""The partition columns of each table: their values name its directories."""

LOG = "_delta_log"
"""The directory of a table's log."""

Entry = dict[str, Any]
"""A file of a table: its path, its size, its rows, its partition."""
