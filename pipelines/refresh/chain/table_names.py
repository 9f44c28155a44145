"""The Delta tables of a refresh: their names, and how each is divided into directories."""

MAIN = {"augment": "tagged", "suggest": "suggestions", "align": "links", "filter": "pairs"}
"""The table of each job's rows."""

PROVENANCE, REJECTS, FILES = "provenance", "rejects", "files"

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
