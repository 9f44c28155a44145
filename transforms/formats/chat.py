"""Instructions and answers for the fine-tuning of language models, as JSON lines of messages.

Each line is ``{"messages": [{"role": "system", ...}, {"role": "user", ...}, {"role": "assistant",
...}]}``, as OpenAI's fine-tuning and TRL's trainer read it; the system's message is optional. The
answer is the target of a pair, or the suggestion; it is empty where the suggestion is to delete.
"""

import re
from collections.abc import Callable, Mapping

import orjson
import pyarrow as pa

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.export.export_formats import RowExport, Templates
from pairweave.transforms.reading.language_tags import ANY
from pairweave.transforms.symbols.mask import MASK

_BETWEEN = " from {source_lang} to {target_lang}"
TRANSLATE = f"Translate{_BETWEEN}:\n\n{{source}}"
TRANSLATE_TAGS = (
    f"Translate{_BETWEEN}. Keep every tag, and place it around the words that translate those "
    "inside it in the source:\n\n{source}"
)
SUGGEST = (
    f"In this translation{_BETWEEN}, {MASK} marks text that is "
    "missing or wrong. Answer only with the text that belongs there, or with nothing if nothing "
    "is needed.\n\nText: {source}\n\nTranslation: {masked}"
)
INSTRUCTIONS = {"augment": TRANSLATE, "filter": TRANSLATE, "suggest": SUGGEST}
"""The user's message by job; `TRANSLATE_TAGS` for rows with tags. Unknown languages are omitted."""

_DEFAULTS = Templates()

_ANSWERS = {"augment": "target", "filter": "target", "suggest": "suggestion"}

_FIELDS = {
    "augment": ("source", "source_lang", "target_lang", "corpus"),
    "filter": ("source", "source_lang", "target_lang", "corpus"),
    "suggest": ("source", "masked", "hint", "source_lang", "target_lang", "corpus"),
}
"""The names that a template may use, by job."""

_FIELD = re.compile(r"\{(\w+)\}")


def writer(job: str, templates: Templates = _DEFAULTS) -> Callable[[pa.RecordBatch], list[bytes]]:
    r"""Return a function that turns rows of a job into lines.

    Args:
        job: ``augment``, ``filter`` or ``suggest``.
        templates: The user's message instead of that in `INSTRUCTIONS`, and optionally a system
            message. ``{source}`` and other names of columns (`_FIELDS`) in braces are replaced;
            everything else stays as it is.

    Raises:
        ConfigError: A template names an unknown column, or an instruction lacks ``{source}``.
    """
    _check("instruction", templates.instruction, job)
    _check("system", templates.system, job)
    wanted = {*_FIELDS[job], _ANSWERS[job], "kind"}

    def write(rows: pa.RecordBatch) -> list[bytes]:
        # Lists of tags and links would take most of the time.
        columns = rows.select([name for name in rows.schema.names if name in wanted])
        return [b"".join(_line(row, job, templates) for row in columns.to_pylist())]

    return write


def _check(option: str, template: str | None, job: str) -> None:
    names = () if template is None else _FIELD.findall(template)
    known = ", ".join(f"{{{name}}}" for name in _FIELDS[job])
    for name in names:
        if name not in _FIELDS[job]:
            raise ConfigError(f"--{option}: rows of {job} have no {{{name}}}; they have {known}")
    if option == "instruction" and template is not None and "source" not in names:
        raise ConfigError("--instruction: expected {source} in it, where the source's text goes")


def _line(row: Mapping[str, object], job: str, templates: Templates) -> bytes:
    default = TRANSLATE_TAGS if row.get("kind") == "tagged" else INSTRUCTIONS[job]
    if ANY in (row["source_lang"], row["target_lang"]):
        default = default.replace(_BETWEEN, "")
    messages = []
    if templates.system is not None:
        messages.append(_message("system", _filled(templates.system, row)))
    messages.append(_message("user", _filled(templates.instruction or default, row)))
    messages.append(_message("assistant", str(row[_ANSWERS[job]])))
    return orjson.dumps({"messages": messages}, option=orjson.OPT_APPEND_NEWLINE)


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def _filled(template: str, row: Mapping[str, object]) -> str:
    """Replace the names of columns; braces in the texts themselves stay as they are."""
    return _FIELD.sub(lambda name: str(row[name[1]] or ""), template)


def _write(rows: pa.RecordBatch) -> list[bytes]:
    job = "suggest" if "suggestion" in rows.schema.names else "augment"
    return writer(job)(rows)


EXPORT = RowExport(
    "chat",
    ("suggest", "augment", "filter"),
    (".chat.jsonl",),
    (),
    "",
    _write,
    templated=writer,
)
