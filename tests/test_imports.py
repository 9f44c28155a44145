"""No two modules import each other, and imports wait inside functions only for what is slow."""

import ast
import functools
import importlib.util
import tomllib
from pathlib import Path

import pytest

import pairweave
from pairweave.pipelines.command_line.command_table import COMMANDS, SUBCOMMANDS

PROJECT = Path(__file__).parents[1]
ROOT = Path(pairweave.__file__).parent
FOLDERS = ("models", "pipelines", "transforms")

SLOW = frozenset(
    {
        *("apache_beam", "ctranslate2", "datasets", "deltalake", "fsspec", "google", "jinja2"),
        *("numba", "numpy", "orjson", "pandas", "polars", "pyarrow", "pydantic", "regex"),
        *("sentencepiece", "tokenizers", "torch", "transformers", "typing_extensions"),
        "yaml",
    }
)
"""Libraries that are optional, or take long to import."""

KERNELS = "pairweave.transforms.kernels."
"""Modules that load compiled code, which takes as long."""

NEURAL = frozenset({"ctranslate2", "tokenizers", "torch", "transformers"})
"""Libraries of optional extras without which the unit suite has to run."""

LOADED_ALONE = frozenset(
    {
        # A reference loads the encoder that is held by reference: the only circle that is left.
        (
            "pairweave.models.encoder.hosting.encoder_reference",
            "pairweave.models.encoder.hosting.loaded_encoder",
        ),
    }
)
"""Imports that wait for another reason, which stands above each."""

DEFINITIONS = (ast.AsyncFunctionDef, ast.ClassDef, ast.FunctionDef)

AT_THE_START = frozenset({"pairweave.pipelines.cli", "pairweave.pipelines.process.interrupt"})
"""Modules whose time counts before signals are answered, whatever they import."""


def names_of(node, package):
    """Return the modules that an import statement may name."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    assert node.level == 0, package
    folder = ROOT.joinpath(*node.module.split(".")[1:])
    return [
        f"{node.module}.{alias.name}" if is_module(folder / alias.name) else node.module
        for alias in node.names
    ]


def is_module(path):
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def imports_of(tree, package):
    """Yield (module, whether at the top, whether when the program runs) for each import."""

    def walk(node, *, top, runs):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                continue  # which has no statement inside
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            types = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
            if isinstance(child, ast.Import | ast.ImportFrom):
                yield from ((name, top, runs) for name in names_of(child, package))
            yield from walk(child, top=top and not inside, runs=runs and not types)

    yield from walk(tree, top=True, runs=True)


@functools.cache
def modules():
    """Return each module's imports."""
    result = {}
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            parts = ("pairweave", *path.relative_to(ROOT).with_suffix("").parts)
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            result[name] = list(imports_of(ast.parse(path.read_text("utf-8")), name))
    return result


def inner(name):
    """Return the modules of the project that a module imports in any way."""
    return {each for each, _, _ in modules()[name] if each in modules() and each != name}


@functools.cache
def loaded(name):
    """Return the modules of the project that are loaded when a module is imported."""
    seen, waiting = {name}, [name]
    while waiting:
        for each, top, runs in modules()[waiting.pop()]:
            if top and runs and each in modules() and each not in seen:
                seen.add(each)
                waiting.append(each)
    return frozenset(seen)


@functools.cache
def slow_ones(name):
    """Return the slow libraries and the kernels that are loaded when a module is imported."""
    result = (
        each for other in loaded(name) for each, top, runs in modules()[other] if top and runs
    )
    kernels = frozenset(each for each in loaded(name) if each.startswith(KERNELS))
    return kernels | (SLOW & {each.split(".")[0] for each in result})


@functools.cache
def starts():
    """Return the modules that are imported first: those of commands, and those that imports name
    inside functions."""
    commands = (*COMMANDS.values(), *SUBCOMMANDS.values())
    named = {command.module for command in commands}
    named |= {command.options.partition(":")[0] for command in COMMANDS.values()} - {""}
    named |= {f"pairweave.{room}" for room in pairweave._ROOMS.values()}
    waiting = {e for result in modules().values() for e, top, runs in result if runs and not top}
    return frozenset((named | waiting) & modules().keys())


@functools.cache
def with_each_start(name):
    """Return the slow ones that are loaded with a module, whichever module is imported first."""
    around = [slow_ones(start) for start in starts() if name in loaded(start)]
    return frozenset.intersection(*around) if around else slow_ones(name)


def circles(names):
    """Return the sets of modules that import each other (Tarjan's components)."""
    numbers, lowest, path, sets = {}, {}, [], []

    def visit(name):
        numbers[name] = lowest[name] = len(numbers)
        path.append(name)
        for other in sorted(inner(name) & names):
            if other not in numbers:
                visit(other)
                lowest[name] = min(lowest[name], lowest[other])
            elif other in path:
                lowest[name] = min(lowest[name], numbers[other])
        if lowest[name] == numbers[name]:
            start = path.index(name)
            sets.append(path[start:])
            del path[start:]

    for name in sorted(names):
        if name not in numbers:
            visit(name)
    return [members for members in sets if len(members) > 1]


@pytest.mark.parametrize("folder", ["pipelines", "transforms"])
def test_no_two_modules_import_each_other(folder):
    names = {name for name in modules() if name.startswith(f"pairweave.{folder}.")}
    assert circles(names) == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_an_import_waits_inside_a_function_only_for_something_slow(folder):
    idle = [
        f"{name} -> {each}"
        for name, actual in modules().items()
        if name.startswith(f"pairweave.{folder}.")
        for each, top, runs in actual
        if runs and not top and each in modules() and each not in AT_THE_START
        if slow_ones(each) <= with_each_start(name) and (name, each) not in LOADED_ALONE
    ]
    assert idle == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_an_import_for_types_alone_is_of_something_slow_or_of_what_is_not_loaded(folder):
    idle = [
        f"{name} -> {each}"
        for name, actual in modules().items()
        if name.startswith(f"pairweave.{folder}.")
        for each, _, runs in actual
        if not runs and each not in (modules().keys() - loaded(name))
        if each in modules() or each.split(".")[0] not in SLOW - slow_ones(name)
    ]
    assert idle == []


def test_what_needs_torch_is_not_collected_without_it():
    spec = importlib.util.spec_from_file_location("configuration", ROOT.parent / "conftest.py")
    configuration = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(configuration)
    neural = {f"{name.replace('.', '/')}.py" for name in modules() if slow_ones(name) & NEURAL}
    assert neural <= set(configuration._NEURAL)


@functools.cache
def needs_neural(name):
    """Return whether importing a module, of the package or of the tests, loads a neural library."""
    if name.split(".")[0] in NEURAL:
        return True
    if name in modules():
        return bool(slow_ones(name) & NEURAL)
    path = PROJECT.joinpath(*name.split(".")).with_suffix(".py")
    return path.is_file() and any(map(needs_neural, unguarded_imports(path)))


def unguarded_imports(path):
    """Return what a file imports before it skips for lack of a neural library."""
    tree = ast.parse(path.read_text("utf-8"))
    names = []
    for statement in tree.body:
        text = "" if isinstance(statement, DEFINITIONS) else ast.unparse(statement)
        if "importorskip(" in text and any(f"'{library}'" in text for library in NEURAL):
            break
        if isinstance(statement, ast.Import):
            names += [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom):
            names.append(statement.module)
            names += [f"{statement.module}.{alias.name}" for alias in statement.names]
    return names


def test_a_test_that_needs_torch_skips_before_it_is_imported():
    paths = sorted((PROJECT / "tests").rglob("test_*.py"))
    assert len(paths) > 100
    failing = [
        f"{path.relative_to(PROJECT)} -> {name}"
        for path in paths
        for name in unguarded_imports(path)
        if needs_neural(name)
    ]
    assert failing == []


def test_the_order_of_folders_in_the_decision_is_that_of_the_contracts():
    contracts = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = contracts["tool"]["importlinter"]["contracts"]
    ordered = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    decision = (PROJECT / "deploy/decisions/0009-folders.md").read_text(encoding="utf-8")
    told = [block.splitlines()[1:] for block in decision.split("```")[1::2]]
    told = [[line.split() for line in block] for block in told]
    assert told == [[layer.split(" | ") for layer in layers] for layers in ordered]
