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
from pairweave.pipelines.process import verbosity
from pairweave.transforms import rejects, schemas, screen
from pairweave.transforms.counts import counters, histograms
from pairweave.transforms.filtering import evidence, filtered, rules
from pairweave.transforms.formats import registry
from pairweave.transforms.option_marks import mark_of
from pairweave.transforms.option_places import is_list_of_blocks
from pairweave.transforms.output import column_meanings

SCHEMAS = {
    "augment": schemas.TAGGED,
    "suggest": schemas.SUGGESTIONS,
    "align": schemas.ALIGNED,
    "bitext": schemas.SENTENCES,
    "filter": filtered.data_of(filtered.SCORED.empty_table(), annotate=False, detects=False).schema,
    "rejects of every job": schemas.REJECTS,
}

_ORIGIN = pa.schema([schemas.PAIRS.field("file"), schemas.PAIRS.field("line")])
_YISI = [name for name in evidence.YISI_COLUMNS if name != "lm"]
_LAYER = f"{evidence.LAYER_COLUMN}NUMBER"
ADDED = (
    ("augment", "keep_links", pa.schema([schemas.WORD_LINKS])),
    ("augment", "inline_tags index", pa.schema([schemas.TAGGED_MARKUP.field("markup")])),
    ("augment", "keep_origin", _ORIGIN),
    ("suggest", "keep_origin", _ORIGIN),
    ("bitext", "document_field", pa.schema([schemas.NAMED_SENTENCES.field("document_id")])),
    ("filter", "annotate_only", pa.schema({"keep": pa.bool_(), "reason": pa.string()})),
    ("filter", "detector", pa.schema(dict.fromkeys(filtered.DETECTED, pa.string()))),
    ("filter", "scorer yisi2", pa.schema(dict.fromkeys(_YISI, pa.float32()))),
    ("filter", "sweep_layers", pa.schema({_LAYER: pa.float32()})),
    ("filter", "lm_weight", pa.schema({"lm": pa.float32()})),
    ("filter", "scorer margin", pa.schema(dict.fromkeys(evidence.MARGIN_COLUMNS, pa.float32()))),
    ("filter", "plugin_rules", pa.schema({"rule_NAME": pa.float32()})),
)
"""Columns that only runs with an option have: the job, the option and its value, the columns."""


def write(folder: Path) -> None:
    """Write all pages; files that would not change are left as they are."""
    folder.mkdir(exist_ok=True, parents=True)
    pages = {
        **{
            f"options_{name.replace(' ', '_')}": options_page(name, forms)
            for name, forms in option_models().items()
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


Forms = tuple[tuple[type[base.Options], str], ...]
"""The option model of each form of a command, and what the command does in that form."""


def option_models() -> dict[str, Forms]:
    """Return the forms of every command and subcommand, by its words; most have one."""
    functions = completion.functions()
    models: dict[str, Forms] = {}
    for name, command in (COMMANDS | SUBCOMMANDS).items():
        if name in JOBS:
            models[name] = ((job_options(name), command.about),)
        elif name in functions:
            models[name] = tuple((each.model(name), each.about(name)) for each in functions[name])
    return models


def options_index() -> str:
    """Return the page that lists the pages of options."""
    models = option_models()
    links = {name: f"options_{name.replace(' ', '_')}" for name in models}
    rows = [(f"[`pairweave {name}`]({links[name]}.md)", models[name][0][1]) for name in models]
    tree = "\n".join(("```{toctree}", ":hidden:", "", *links.values(), "```"))
    about = (
        "The options of each command, with values, defaults and meanings, as the code declares "
        "them. Every command also takes these:"
    )
    common = _table(("option", "meaning"), ((f"`{flag}`", text) for flag, text in verbosity.HELP))
    return _page("Options", about, common, _table(("command", "what it does"), rows), tree)


def options_page(name: str, forms: Forms) -> str:
    """Return the page with the options of one command."""
    keys = " Every option is also a key of the YAML file." * (name in JOBS)
    parts = []
    for model, about in forms:
        rows = [
            (_as_given(option, field), _values(field), _default(field), field.description or "")
            for option, field in model.model_fields.items()
        ]
        parts.append(f"`pairweave {name}`: {about}.{keys}")
        parts.append(_table(("option", "values", "default", "meaning"), rows))
    return _page(f"Options of {name}", *parts)


def _as_given(option: str, field: FieldInfo) -> str:
    """Return an option as a user gives it: a key of the YAML file, a flag or a word without one."""
    if is_list_of_blocks(field):
        return f"`{option}:`"
    return f"`--{option}`" if mark_of(field, "at") is None else f"`{option.upper()}`"


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
    about = (
        "Columns of the Parquet files of a run. Every file has the meanings, too, in the metadata "
        "of its columns."
    )
    return _page("Columns", about, *parts, "## Columns that options add", _added_columns())


def _added_columns() -> str:
    """Return the table of columns that only runs with some options have, and what it leaves out."""
    rows = [
        (job, f"`--{option}`", f"`{field.name}`", f"`{_type(field)}`", _meaning(field.name))
        for job, option, schema in ADDED
        for field in schema
    ]
    scorers = (
        f"In rows of `filter`, the columns from `{evidence.HMM_COLUMNS[0]}` to "
        f"`{evidence.HMM_COLUMNS[-1]}` are those of the default scorer: runs with another "
        "`--scorer` or with scores of their own lack them. With `--annotate_only`, the "
        "measurements of a pair that was not scored are null."
    )
    return f"{_table(('job', 'option', 'column', 'type', 'meaning'), rows)}\n\n{scorers}"


def _columns(schema: pa.Schema) -> Iterator[tuple[str, str, str]]:
    for field in schema:
        null = " or null" if field.nullable else ""
        yield f"`{field.name}`", f"`{_type(field)}`{null}", _meaning(field.name)


def _type(field: pa.Field) -> str:
    """Return the type of a column, without what Arrow writes about its parts."""
    return re.sub(r" not null|element: ", "", str(field.type))


def _meaning(column: str) -> str:
    """Return the meaning of a column, or of the kind of columns that a name stands for."""
    return column_meanings.MEANINGS.get(re.sub(r"(?<=_)(NAME|NUMBER)$", "", column), "")


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
    meanings = _meanings_of_reasons()
    rows = [
        (
            f"`{reason.value}`",
            f"`--{limits[reason]}`" if reason in limits else "",
            meanings[reason.value],
        )
        for reason in (*screen.ScreenReject, *rejects.Reject)
    ]
    about = (
        "The column `reason` of rejects, step by step; the column `detail` has the value that "
        "decided. The meanings are those of "
        "[troubleshooting](../../troubleshooting.md#reject-reasons). Rules of plugins give "
        "`rule_NAME`."
    )
    table = _table(("reason", "limit of a rule of filter", "the pair"), rows)
    return _page("Reject reasons", about, table)


def _meanings_of_reasons() -> dict[str, str]:
    """Return the meaning of each reject reason, as the table of troubleshooting has it."""
    text = (Path(__file__).parent / "troubleshooting.md").read_text(encoding="utf-8")
    table = text.partition("\n## Reject reasons\n")[2]
    return {
        reason: re.sub(r"\]\((?=\w)", "](../../", meaning)
        for names, meaning in re.findall(r"^\| (`[^|]+) \| (.+) \|$", table, re.MULTILINE)
        for reason in re.findall(r"`(\w+)`", names)
    }


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
