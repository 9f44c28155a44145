"""The files of a run in its plan, and how they are read."""

import dataclasses

from pairweave.transforms.formats import registry
from pairweave.transforms.units import Columns, InputFile, Plan


def reading_facts(plan: Plan) -> list[dict[str, object]]:
    """Return the distinct settings with which files are read."""
    ways: list[dict[str, object]] = []
    for unit in plan.units:
        way: dict[str, object] = {
            "corpus": unit.corpus,
            "format": unit.format,
            "columns": _columns_facts(unit.columns) if unit.columns else None,
            "po_take": list(unit.options(registry.FormatOptions).po_take),
        }
        if unit.inline_tags != "raw" or registry.format_of(unit).elements:
            way["inline_tags"] = unit.inline_tags
            way["inline_syntax"] = unit.inline_syntax
            way["tags_differ"] = unit.tags_differ
            way["xliff_take"] = list(unit.options(registry.FormatOptions).xliff_take)
        if unit.plugin is not None:
            way["plugin"] = unit.plugin.facts
        for name in registry.options_of(unit.format) & unit.format_options.keys():
            way.setdefault(name, unit.format_options[name])
        for name in ("html_entities", "c1_controls"):
            if getattr(unit, name) != "keep":
                way[name] = getattr(unit, name)
        if way not in ways:
            ways.append(way)
    return ways


def _columns_facts(columns: Columns) -> dict[str, object]:
    """Return the columns without those that are not given, so that older plans keep their bytes."""
    facts = dataclasses.asdict(columns)
    if columns.links is None:
        del facts["links"]
    for name in ("origin", "paragraphs"):
        if not facts[name]:
            del facts[name]
    return facts


def input_facts(file: InputFile) -> dict[str, object]:
    """Return the manifest's entry for an input file; its path stays private."""
    facts = dataclasses.asdict(file)
    del facts["path"], facts["text_bytes"]
    return facts
