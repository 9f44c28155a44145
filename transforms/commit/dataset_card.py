"""The dataset card: the content of a run's directory, for people and for dataset hubs."""

import re
from collections.abc import Mapping
from typing import Any

import orjson
import yaml

from pairweave.transforms.output.card_facts import configuration, languages_and_licence
from pairweave.transforms.output.column_meanings import meaning_of
from pairweave.transforms.output.run_files import DATA, REJECTS
from pairweave.transforms.report.shown_counts import described, split_rules
from pairweave.transforms.report.shown_settings import used_settings
from pairweave.transforms.report.templating import render_markdown
from pairweave.transforms.text.control_characters import visible_line
from pairweave.transforms.text.piece_settings import piece_advice

Json = Mapping[str, Any]

MAX_INPUTS = 50
"""Maximum number of input files to list; further files are only counted."""

MAX_VALUE = 300
"""Maximum number of characters of a value in the sample row; longer values are cut."""

# A line break ends a row of a table, so it is shown as an escape of Python, such as \n.
_BREAKS = ("\n", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")
_ESCAPES = str.maketrans(
    {mark: f"\\{mark}" for mark in "\\|`*[]"}
    | {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
    | {mark: "\\" + repr(mark)[1:-1] for mark in _BREAKS}
)


def render(manifest: Json, sample: Json | None = None) -> str:
    """Render a run's ``README.md`` (Hugging Face dataset card format).

    Args:
        manifest: The run's manifest, or its draft.
        sample: A row to show; None if the run has none.
    """
    return f"{_header(manifest)}\n{_body(manifest, sample)}"


def _header(manifest: Json) -> str:
    """Return the YAML header: a configuration for the rows and, if there are any, the rejects.

    Hugging Face `datasets` cannot load a configuration whose files have no row.
    """
    configs = [{**_part(manifest, "default", DATA), "default": True}]
    if manifest["rows"]["rejected"]:
        configs.append(_part(manifest, "rejects", REJECTS))
    header = {**languages_and_licence(manifest), "configs": configs}
    return f"---\n{yaml.safe_dump(header, sort_keys=False, allow_unicode=True)}---\n"


def _part(manifest: Json, name: str, directory: str) -> dict[str, Any]:
    """Return the configuration of a directory of the run."""
    entries = [file for file in manifest["files"] if file["name"].startswith(f"{directory}/")]
    digests = [file["sha256"] for file in entries]
    return configuration(name, f"{directory}/part-*.parquet", digests)


def _cell(text: str) -> str:
    r"""Write text that a user chose into a cell of a table.

    >>> print(_cell("a|b"))
    a\|b
    """
    return visible_line(text.translate(_ESCAPES))


def _code(text: str) -> str:
    r"""Write text as code in Markdown, even if it contains grave accents.

    >>> print(_code("a`b"))
    ``a`b``
    """
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{visible_line(text)}{pad}{fence}"


def _block(text: str) -> str:
    """Write lines as a block of code in Markdown, even if they contain grave accents."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}yaml\n{text.rstrip()}\n{fence}"


def _input(entry: Json) -> tuple[object, ...]:
    """Return the description of an input file."""
    return tuple(entry.get(name, "") for name in ("name", "format", "rows", "bytes", "sha256"))


def _columns(sample: Json | None) -> list[tuple[str, str, str]]:
    """Return the columns of a row with their meanings and their values."""
    return [(name, meaning_of(name) or "", _value(value)) for name, value in (sample or {}).items()]


def _value(value: object) -> str:
    """Return a value as JSON, not too long for a cell; text as it is."""
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}…"


def _body(manifest: Json, sample: Json | None) -> str:
    settings = manifest["configuration"]
    advice = ""
    if "representation" in settings:
        advice = piece_advice("symbols.txt", shifted=bool(settings.get("whitespace_shift")))
    return render_markdown(
        "dataset_card.md.j2",
        {"cell": _cell, "code": _code, "block": _block},
        **{name: manifest[name] for name in ("job", "version", "signature", "shards", "rows")},
        corpora=sorted(manifest["corpora"].items()),
        inputs=[_input(entry) for entry in manifest["inputs"][:MAX_INPUTS]],
        more_inputs=max(0, len(manifest["inputs"]) - MAX_INPUTS),
        columns=_columns(sample),
        settings=used_settings(manifest["configuration"]),
        counts=list(described(split_rules(manifest["counts"])[0]).items()),
        reasons=sorted(manifest["rejected"].items(), key=lambda item: (-item[1], item[0])),
        advice=advice,
    )
