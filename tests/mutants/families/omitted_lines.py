"""Faults that omit a statement: a call, an assignment that changes something, a branch, a check."""

import ast
from collections.abc import Iterator

from tests.mutants.families.edits import Change, Edit, Source, span

_CALLS = (ast.Call, ast.Yield, ast.YieldFrom, ast.Await)


def omitted_lines(source: Source) -> Iterator[Change]:
    """Yield a fault for each statement inside a function without which the module still runs.

    Omitted are calls whose result is not used; assignments to attributes, to entries and to a name
    that keeps its former value then; ``del``; and all that an ``if`` does, such as to raise an
    error. Documentation and statements outside functions stay.
    """
    for function in ast.walk(source.tree):
        if isinstance(function, ast.FunctionDef):
            for node in _statements(function.body):
                yield from _omissions(source, node)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield all statements of a body but those of functions and classes in it."""
    for node in body:
        yield node
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            for name in ("body", "orelse", "finalbody"):
                yield from _statements(getattr(node, name, []))
            for handler in getattr(node, "handlers", []):
                yield from _statements(handler.body)
            for case in getattr(node, "cases", []):
                yield from _statements(case.body)


def _omissions(source: Source, node: ast.stmt) -> Iterator[Change]:
    if isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
        if not isinstance(node.body[0], ast.Pass):
            start, end = source.start(node.body[0]), source.end(node.body[-1])
            yield Change(*span(node), node.body[0].lineno, (Edit(start, end, "pass"),))
    elif _can_be_omitted(node):
        edit = Edit(source.start(node), source.end(node), "pass")
        yield Change(*span(node), node.lineno, (edit,))


def _can_be_omitted(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, _CALLS)
    if isinstance(node, ast.Assign):
        return all(_keeps_a_value(target, node.value) for target in node.targets)
    return isinstance(node, ast.AugAssign | ast.Delete)


def _keeps_a_value(target: ast.expr, value: ast.expr) -> bool:
    """Tell whether what is assigned to may have a value already."""
    if isinstance(target, ast.Name):
        used = (node for node in ast.walk(value) if isinstance(node, ast.Name))
        return any(node.id == target.id for node in used)
    return isinstance(target, ast.Attribute | ast.Subscript)
