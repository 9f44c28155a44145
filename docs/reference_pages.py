"""Write the pages of the reference from the code: options, columns, counters, formats, API."""

import dataclasses
import inspect
import re
import typing
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
from pydantic.fields import FieldInfo

import pairweave
from pairweave import plugins
from pairweave.pipelines.command_line.command_table import (
    COMMANDS,
    JOBS,
    SUBCOMMANDS,
    job_options,
)
from pairweave.pipelines.commands import completion
from pairweave.pipelines.options import base
from pairweave.transforms import rejects, schemas, screen
from pairweave.transforms.counts import counters, histograms
from pairweave.transforms.filtering import rules
from pairweave.transforms.formats import registry
from pairweave.transforms.output import column_meanings

SCHEMAS = {
    "augment": schemas.TAGGED,
    "suggest": schemas.SUGGESTIONS,
    "align": schemas.ALIGNED,
    "bitext": schemas.SENTENCES,
    "rejects of every job": schemas.REJECTS,
}


def write(folder: Path) -> None:
    """Write all pages; files that would not change are left as they are."""
    folder.mkdir(exist_ok=True, parents=True)
    pages = {
        **{
            f"options_{name.replace(' ', '_')}": options_page(name, *model)
            for name, model in option_models().items()
        },
        "options": options_index(),
        "columns": columns_page(),
        "formats": formats_page(),
        "rejects": rejects_page(),
        "counters": counters_page(),
        "api": api_page(),
    }
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in folder.glob("*.md"):
        if path.stem not in pages:
            path.unlink()


def option_models() -> dict[str, tuple[type[base.Options], str]]:
    """Return the option model of every command and subcommand, and what it does, by its words."""
    functions = completion.functions()
    models = {}
    for name, command in (COMMANDS | SUBCOMMANDS).items():
        if name in JOBS:
            models[name] = job_options(name), command.about
        elif name in functions:
            first = functions[name][0]
            models[name] = first.model(name), first.about(name)
    return models


def options_index() -> str:
    """Return the page that lists the pages of options."""
    models = option_models()
    links = {name: f"options_{name.replace(' ', '_')}" for name in models}
    rows = [(f"[`pairweave {name}`]({links[name]}.md)", models[name][1]) for name in models]
    tree = "\n".join(("```{toctree}", ":hidden:", "", *links.values(), "```"))
    about = "Of each command, with values, defaults and meanings, as the code declares them."
    return _page("Options", about, _table(("command", "what it does"), rows), tree)


def options_page(name: str, model: type[base.Options], about: str) -> str:
    """Return the page with the options of one command."""
    rows = [
        (f"`--{option}`", _values(field), _default(field), field.description or "")
        for option, field in model.model_fields.items()
    ]
    keys = " Every option is also a key of the YAML file." * (name in JOBS)
    return _page(
        f"Options of {name}",
        f"`pairweave {name}`: {about}.{keys}",
        _table(("option", "values", "default", "meaning"), rows),
    )


def _values(field: FieldInfo) -> str:
    """Return the type of an option, with its limits."""
    limits = [
        f"{sign} {getattr(limit, name)}"
        for limit in field.metadata
        for name, sign in (("ge", "at least"), ("gt", "over"), ("le", "at most"), ("lt", "under"))
        if getattr(limit, name, None) is not None
    ]
    return ", ".join((_kind(field.annotation), *limits))


def _kind(annotation: object) -> str:
    """Return a type as a reader of the documentation calls it.

    >>> _kind(int | None)
    'whole number'
    >>> _kind(typing.Literal["a", "b"])
    '`a`, `b`'
    """
    if typing.get_origin(annotation) is typing.Literal:
        return ", ".join(f"`{value}`" for value in typing.get_args(annotation))
    parts = [part for part in typing.get_args(annotation) if part not in (type(None), Ellipsis)]
    if typing.get_origin(annotation) is typing.Annotated:
        return _kind(parts[0])
    if typing.get_origin(annotation) is tuple:
        kinds = list(dict.fromkeys(map(_kind, parts)))
        return f"{' or '.join(kinds)}, one or more" if kinds else "texts"
    if parts:
        return " or ".join(dict.fromkeys(map(_kind, parts)))
    name = getattr(annotation, "__name__", str(annotation))
    return "corpus (YAML)" if name.endswith("Corpus") else _PLAIN.get(name, name)


_PLAIN = {
    "bool": "`true`, `false`",
    "float": "number",
    "int": "whole number",
    "str": "text",
    "RuleBlock": "options of rules (YAML)",
}
"""Types as a reader of the documentation calls them."""


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None or value == () or value == "":
        return ""
    if isinstance(value, tuple):
        return " ".join(f"`{part}`" for part in value)
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def columns_page() -> str:
    """Return the page with the columns of each job's rows."""
    parts = [
        f"## {name}\n\n{_table(('column', 'type', 'meaning'), _columns(schema))}"
        for name, schema in SCHEMAS.items()
    ]
    about = "Columns of the Parquet files of a run, of which every file holds these meanings, too."
    return _page("Columns", about, *parts)


def _columns(schema: pa.Schema) -> Iterator[tuple[str, str, str]]:
    for field in schema:
        null = " or null" if field.nullable else ""
        kind = re.sub(r" not null|element: ", "", str(field.type))
        meaning = column_meanings.MEANINGS.get(field.name, "")
        yield f"`{field.name}`", f"`{kind}`{null}", meaning


def formats_page() -> str:
    """Return the page with the formats that are read and written."""
    rows = []
    for entry in registry.ENTRIES:
        read = registry.input_format(entry.name) if entry.reads else None
        suffixes = ", ".join(f"`{ending}`" for ending in read.extensions) if read else ""
        rows.append(
            (
                f"`{entry.name}`",
                "yes" if read else "",
                suffixes,
                entry.writes or "",
                ", ".join(f"`--{option}`" for option in sorted(registry.options_of(entry.name))),
            )
        )
    head = ("format", "read by jobs", "suffixes", "written by export, as", "options")
    return _page("Formats", "Formats of pairs.", _table(head, rows))


def rejects_page() -> str:
    """Return the page with the reasons for which pairs are rejected."""
    limits = {rule.reason: rule.option for rule in rules.RULES}
    rows = [
        (f"`{reason.value}`", f"`--{limits[reason]}`" if reason in limits else "")
        for reason in (*screen.ScreenReject, *rejects.Reject)
    ]
    about = "The column `reason` of rejects; the column `detail` has the value that decided."
    return _page("Reject reasons", about, _table(("reason", "limit"), rows))


def counters_page() -> str:
    """Return the page with the counters and histograms of manifests and receipts."""
    declared = {**counters.COUNTERS}
    rules_of_filter = {
        f"{kind}_REASON": dataclasses.replace(each, about=each.about.format(reason="REASON"))
        for kind, each in counters.RULE_COUNTERS.items()
    }
    rows = [
        (f"`{name}`", each.jobs, each.about)
        for name, each in {**declared, **rules_of_filter}.items()
    ]
    about = (
        "`counts` in `_manifest.json` and in receipts: whole numbers by these names. A counter "
        "that is not there is 0, or of another job. `REASON` is a reject reason of a rule of "
        "`filter`."
    )
    bars = [
        (
            f"`{name}`",
            each.by,
            each.unit,
            ", ".join(map(str, _edges(each))),
            column_meanings.MEANINGS.get(name, each.title) if each.by == "all" else each.title,
        )
        for name, each in histograms.HISTOGRAMS.items()
    ]
    how = (
        "`histograms` in `_manifest.json`: by these names, objects with `unit`, `by`, `edges` and "
        "`counts`. `counts` has a list for each corpus, for each method, or one under `all`, as "
        "`by` says. The first number of a list is that of the values below the first edge; each "
        "other number is that of the values from an edge up to the next one, excluded, and the "
        "last is that of the values from the last edge on. Edges are the same in every run, so "
        "numbers of several runs can be added. Receipts have the lists alone, without the zeros at "
        "their end."
    )
    return _page(
        "Counters and histograms",
        about,
        _table(("counter", "jobs", "what it counts"), rows),
        "## Histograms",
        how,
        _table(("histogram", "by", "unit", "edges", "of"), bars),
    )


def _edges(histogram: histograms.Histogram) -> list[object]:
    """Return the edges of a histogram, those in the middle of many left out."""
    edges: list[object] = list(histogram.as_json({})["edges"])
    return edges if len(edges) <= 8 else [*edges[:3], "…", *edges[-3:]]


def api_page() -> str:
    """Return the page with the public functions and classes."""
    parts = []
    for name in sorted(pairweave.__all__):
        value = getattr(pairweave, name)
        if not callable(value):  # the version
            parts.append(
                f"## {name}\n\n```{{eval-rst}}\n.. py:data:: pairweave.{name}\n   :type: str\n```"
            )
            continue
        kind = "autoclass" if inspect.isclass(value) else "autofunction"
        # The docstring of a named tuple lists its fields.
        members = "" if kind == "autofunction" or hasattr(value, "_fields") else "\n   :members:"
        parts.append(f"## {name}\n\n```{{eval-rst}}\n.. {kind}:: pairweave.{name}{members}\n```")
    about = "Everything that is not on this page is private and may change without notice."
    for name in sorted(plugins.__all__):
        directive = f".. autoclass:: pairweave.plugins.{name}\n   :members:"
        parts.append(f"## plugins.{name}\n\n```{{eval-rst}}\n{directive}\n```")
    return _page("Python API", about, *parts)


def _page(title: str, *parts: str) -> str:
    return "\n\n".join((f"# {title}", *parts)) + "\n"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    """Return a text for a cell of a Markdown table."""
    text = " ".join(text.split()).replace("|", "\\|")
    if "`" in text:
        return text
    return re.sub(r"(--\w+)", r"`\1`", re.sub(r"([&<>*\[\]])", r"\\\1", text))
