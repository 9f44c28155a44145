"""The dataset card: what a run's directory holds, for people and for dataset hubs."""

import re
from collections.abc import Mapping
from typing import Any

import yaml

from pairweave.transforms.output.run_files import DATA, REJECTS
from pairweave.transforms.report.shown_counts import short_counts
from pairweave.transforms.report.templating import render_markdown
from pairweave.transforms.text.control_characters import visible_line
from pairweave.transforms.text.piece_settings import piece_advice

Json = Mapping[str, Any]

# A line break ends a row of a table, so it is shown as one writes it in Python, such as \n.
_BREAKS = ("\n", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")
_ESCAPES = str.maketrans(
    {mark: f"\\{mark}" for mark in "\\|`*[]"}
    | {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
    | {mark: "\\" + repr(mark)[1:-1] for mark in _BREAKS}
)


def render(manifest: Json) -> str:
    """Render a run's ``README.md`` from its manifest (Hugging Face dataset card format)."""
    return f"{_header(manifest)}\n{_body(manifest)}"


def _header(manifest: Json) -> str:
    """Return the YAML header: a configuration for the rows and, if there are any, the rejects.

    Hugging Face `datasets` cannot load a configuration whose files have no row.
    """
    languages = sorted(
        {
            corpus[side]
            for corpus in manifest["corpora"].values()
            for side in ("source_lang", "target_lang")
        }
    )
    licences = sorted({corpus["licence"] or "unknown" for corpus in manifest["corpora"].values()})
    configs: list[dict[str, Any]] = [
        {
            "config_name": "default",
            "default": True,
            "data_files": [{"split": "train", "path": f"{DATA}/part-*.parquet"}],
        }
    ]
    if manifest["rows"]["rejected"]:
        path = f"{REJECTS}/part-*.parquet"
        configs.append({"config_name": "rejects", "data_files": [{"split": "train", "path": path}]})
    header = {
        "language": languages,
        "license": licences[0] if len(licences) == 1 else "other",
        "task_categories": ["translation"],
        "configs": configs,
    }
    return f"---\n{yaml.safe_dump(header, sort_keys=False, allow_unicode=True)}---\n"


def _cell(text: str) -> str:
    r"""Write text that a user chose into a cell of a table.

    >>> print(_cell("a|b"))
    a\|b
    """
    return visible_line(text.translate(_ESCAPES))


def _code(text: str) -> str:
    r"""Write text as code in Markdown, whatever grave accents it holds.

    >>> print(_code("a`b"))
    ``a`b``
    """
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{visible_line(text)}{pad}{fence}"


def _body(manifest: Json) -> str:
    settings = manifest["configuration"]
    advice = ""
    if "representation" in settings:
        advice = piece_advice("symbols.txt", shifted=bool(settings.get("whitespace_shift")))
    return render_markdown(
        "dataset_card.md.j2",
        {"cell": _cell, "code": _code},
        **{name: manifest[name] for name in ("job", "signature", "shards", "rows")},
        corpora=sorted(manifest["corpora"].items()),
        counts=list(short_counts(manifest["counts"]).items()),
        reasons=sorted(manifest["rejected"].items(), key=lambda item: (-item[1], item[0])),
        advice=advice,
    )
