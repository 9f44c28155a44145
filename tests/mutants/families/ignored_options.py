"""Faults that ignore an option: in its place stands the option's default."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from tests.mutants.families.edits import Change, Edit, Source, span

_MODELS = re.compile(r"(?:Options|Option|Config|Settings|Limits|Corpus)$")
_HOLDERS = re.compile(r"(?:^|[._])(?:options|config|settings|limits|given|chosen)$")
_MADE = {"list": "[]", "dict": "{}", "tuple": "()", "set": "set()", "frozenset": "frozenset()"}

Defaults = dict[str, list[str]]
"""The defaults of each field of an options model, as they are written."""


def defaults_of(sources: Iterable[Source]) -> Defaults:
    """Return the defaults of all fields of options and configurations in some modules."""
    result: dict[str, set[str]] = defaultdict(set)
    for source in sources:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.ClassDef) and _MODELS.search(node.name):
                for name, default in _fields(source, node):
                    result[name].add(default)
    return {name: sorted(defaults) for name, defaults in result.items()}


def ignored_options(source: Source, defaults: Defaults) -> Iterator[Change]:
    """Yield a fault for each place that reads an option from options, or from `self` in a model.

    Texts with values in them are left out: they are messages, and no result depends on them.
    """
    for node, model in _reads(source.tree, None):
        holder = ast.unparse(node.value)
        own = holder == "self" and model is not None
        if not _HOLDERS.search(holder) and not own:
            continue
        for default in defaults.get(node.attr, []):
            edit = Edit(source.start(node), source.end(node), default)
            yield Change(*span(node), node.lineno, (edit,))


def _reads(node: ast.AST, model: str | None) -> Iterator[tuple[ast.Attribute, str | None]]:
    """Yield attributes that are read, each with the model in whose methods it is."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.JoinedStr):
            continue
        if isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Load):
            yield child, model
        inside = model
        if isinstance(child, ast.ClassDef):
            inside = child.name if _MODELS.search(child.name) else None
        yield from _reads(child, inside)


def _fields(source: Source, model: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for node in model.body:
        if (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and node.value is not None
            and "ClassVar" not in ast.unparse(node.annotation)
        ):
            default = _default(source, node.value)
            if default is not None:
                yield node.target.id, default


def _default(source: Source, value: ast.expr) -> str | None:
    """Return the default that a field's value states, if it can stand anywhere else."""
    if isinstance(value, ast.Call) and ast.unparse(value.func) in ("Field", "field"):
        named = {keyword.arg: keyword.value for keyword in value.keywords}
        factory = named.get("default_factory")
        if factory is not None:
            return _MADE.get(ast.unparse(factory))
        given = value.args[0] if value.args else named.get("default")
        return None if given is None else _default(source, given)
    try:
        ast.literal_eval(value)
    except ValueError:
        return None
    return None if value is None or ast.unparse(value) == "..." else ast.unparse(value)
