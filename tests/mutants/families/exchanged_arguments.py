"""Faults that exchange two arguments of a call which have the same type."""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations

from tests.mutants.families.edits import Change, Edit, Source, span

Parameters = tuple[tuple[str, str], ...]
"""The name and the annotation of each parameter that is annotated; others have ""."""


@dataclass
class Signatures:
    """Parameters of the project's functions and data classes, without `self`.

    Attributes:
        functions: By module and name.
        methods: By name alone; of those that several classes have, every signature.
    """

    functions: dict[str, Parameters] = field(default_factory=dict)
    methods: dict[str, set[Parameters]] = field(default_factory=lambda: defaultdict(set))


def signatures_of(sources: Mapping[str, Source]) -> Signatures:
    """Return the signatures in some modules, which are given by dotted name."""
    result = Signatures()
    for module, source in sources.items():
        for node in source.tree.body:
            if isinstance(node, ast.FunctionDef):
                result.functions[f"{module}.{node.name}"] = _parameters(node)
            elif isinstance(node, ast.ClassDef):
                _add_class(result, module, node)
    return result


def exchanged_arguments(source: Source, module: str, signatures: Signatures) -> Iterator[Change]:
    """Yield a fault for each two arguments of one type in each call of the project's own code."""
    known = {name.rpartition(".")[2]: name for name in signatures.functions if _is_in(name, module)}
    known |= _imports(source.tree)
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
            continue
        parameters = _called(node.func, known, signatures)
        if parameters is None:
            continue
        given = _typed(node, parameters)
        for (one, of_one), (other, of_other) in combinations(given, 2):
            if of_one and of_one == of_other and ast.dump(one) != ast.dump(other):
                edits = (
                    Edit(source.start(one), source.end(one), source.segment(other)),
                    Edit(source.start(other), source.end(other), source.segment(one)),
                )
                yield Change(*span(node), one.lineno, edits)


def _is_in(name: str, module: str) -> bool:
    return name.rpartition(".")[0] == module


def _add_class(found: Signatures, module: str, node: ast.ClassDef) -> None:
    methods = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
    if "__init__" in methods:
        found.functions[f"{module}.{node.name}"] = _parameters(methods["__init__"])[1:]
    else:
        fields = [one for one in node.body if isinstance(one, ast.AnnAssign)]
        found.functions[f"{module}.{node.name}"] = tuple(
            (ast.unparse(one.target), ast.unparse(one.annotation)) for one in fields
        )
    for name, method in methods.items():
        static = any("static" in ast.unparse(one) for one in method.decorator_list)
        found.methods[name].add(_parameters(method)[0 if static else 1 :])


def _parameters(function: ast.FunctionDef) -> Parameters:
    given = function.args
    return tuple(
        (one.arg, ast.unparse(one.annotation) if one.annotation else "")
        for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)
    )


def _imports(tree: ast.Module) -> dict[str, str]:
    """Return what each imported name stands for."""
    known = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return known


def _called(
    function: ast.expr, known: Mapping[str, str], signatures: Signatures
) -> Parameters | None:
    if isinstance(function, ast.Name):
        return signatures.functions.get(known.get(function.id, ""))
    if not isinstance(function, ast.Attribute):
        return None
    if isinstance(function.value, ast.Name) and function.value.id in known:
        name = f"{known[function.value.id]}.{function.attr}"
        if name in signatures.functions:
            return signatures.functions[name]
    methods = signatures.methods.get(function.attr, set())
    return next(iter(methods)) if len(methods) == 1 else None


def _typed(call: ast.Call, parameters: Parameters) -> list[tuple[ast.expr, str]]:
    """Return the arguments of a call in order, each with the type of its parameter."""
    types = dict(parameters)
    given = [(argument, kind) for argument, (_, kind) in zip(call.args, parameters, strict=False)]
    return given + [(one.value, types.get(one.arg or "", "")) for one in call.keywords]
