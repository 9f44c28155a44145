"""Faults that omit an entry of a table: of a list, tuple, set or dict that is written out."""

import ast
from collections.abc import Iterator

from tests.mutants.families.edits import Change, Edit, Source, span

_WRAPPERS = {"frozenset", "tuple", "set", "dict", "MappingProxyType"}
Table = ast.List | ast.Tuple | ast.Set | ast.Dict


def omitted_entries(source: Source) -> Iterator[Change]:
    """Yield a fault for each entry of each table of a module.

    A table is a value with two entries or more that a module or a class gives a name, or three
    texts or more to which a function gives one. Lists of numbers alone are not tables, nor is
    ``__all__``.
    """
    for node, inside in _assignments(source.tree, inside=False):
        table = _written_out(node.value)
        if table is not None and _is_table(table, inside=inside) and not _is_all(node):
            yield from _omissions(source, table)


def _assignments(
    node: ast.AST, *, inside: bool
) -> Iterator[tuple[ast.Assign | ast.AnnAssign, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Assign | ast.AnnAssign):
            yield child, inside
        else:
            yield from _assignments(child, inside=inside or isinstance(child, ast.FunctionDef))


def _is_all(node: ast.Assign | ast.AnnAssign) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)


def _written_out(value: ast.expr | None) -> Table | None:
    if isinstance(value, ast.Call) and len(value.args) == 1 and not value.keywords:
        return _written_out(value.args[0]) if ast.unparse(value.func) in _WRAPPERS else None
    return value if isinstance(value, Table) else None


def _is_table(table: Table, *, inside: bool) -> bool:
    entries = _entries(table)
    if inside:
        texts = table.keys if isinstance(table, ast.Dict) else table.elts
        return len(entries) > 2 and all(_is_text(text) for text in texts)
    numbers = all(
        isinstance(one, ast.Constant) and isinstance(one.value, int | float)
        for entry in entries
        for one in entry
    )
    return len(entries) > 1 and not numbers


def _is_text(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _entries(table: Table) -> list[list[ast.expr]]:
    """Return the expressions of each entry; none if a dict contains others by ``**``."""
    if not isinstance(table, ast.Dict):
        return [[entry] for entry in table.elts]
    if None in table.keys:
        return []
    return [[key, value] for key, value in zip(table.keys, table.values, strict=True) if key]


def _omissions(source: Source, table: Table, whole: Table | None = None) -> Iterator[Change]:
    entries = _entries(table)
    for number, entry in enumerate(entries):
        if isinstance(entry[0], ast.Starred) and isinstance(entry[0].value, Table):
            yield from _omissions(source, entry[0].value, whole or table)  # a row of several
            continue
        if len(entries) == 1:
            continue
        if isinstance(table, ast.Tuple) and len(entries) == 2:  # a tuple of one needs its comma
            other = source.segment(entries[1 - number][0])
            edit = Edit(source.start(table), source.end(table), f"({other},)")
        elif number + 1 < len(entries):
            edit = Edit(source.start(entry[0]), source.start(entries[number + 1][0]), "")
        else:
            edit = Edit(source.end(entries[number - 1][-1]), source.end(entry[-1]), "")
        yield Change(*span(whole or table), entry[0].lineno, (edit,))
