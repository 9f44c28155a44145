"""What the code of the package never does, whatever it is given."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [
    path
    for folder in ("transforms", "models", "pipelines", "deploy")
    for path in sorted((ROOT / folder).rglob("*.py"))
]

UNPICKLING = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib"}
TELLING = {None, "shell", "allow_pickle", "trust_remote_code"}
CALLS = {"eval", "exec", "compile", "__import__", "os.system", "os.popen"}


def faults(tree):
    """Yield the line and the reason of everything in a module that can run what it is given."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {(node.module or "").partition(".")[0]}
        else:
            names = set()
        yield from ((node.lineno, f"imports {name}") for name in names & UNPICKLING)
        if isinstance(node, ast.Call):
            yield from ((node.lineno, why) for why in _of_call(node))


def _of_call(node):
    name = ast.unparse(node.func)
    given = {word.arg: ast.unparse(word.value) for word in node.keywords if word.arg in TELLING}
    if name in CALLS:
        yield f"calls {name}"
    if given.get("shell", "False") != "False":
        yield "starts a shell"
    if name in ("np.load", "numpy.load") and given.get("allow_pickle") != "False":
        yield "np.load without allow_pickle=False"
    if name == "torch.load":
        yield "torch.load"
    loads_yaml = name in ("yaml.load", "yaml.load_all")
    if loads_yaml and ast.unparse(node.args[1]) not in ("_Loader", "yaml.SafeLoader"):
        yield "yaml.load without a safe loader"
    if name in ("yaml.unsafe_load", "yaml.full_load"):
        yield name
    if given.get("trust_remote_code", "False") != "False":
        yield "trust_remote_code"
    own = name.endswith((".from_pretrained", ".from_config"))
    if own and None not in given and given.get("trust_remote_code") != "False":
        yield f"{name} without trust_remote_code=False"


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from dill import loads",
        "eval(text)",
        "run(words, shell=True)",
        "np.load(path)",
        "np.load(path, allow_pickle=True)",
        "torch.load(path, weights_only=True)",
        "yaml.load(text, yaml.Loader)",
        "AutoModel.from_pretrained(path)",
        "AutoModel.from_pretrained(path, trust_remote_code=True)",
    ],
)
def test_each_of_these_would_be_found(text):
    assert list(faults(ast.parse(text)))


def test_no_module_unpickles_or_runs_what_it_is_given():
    actual = [
        f"{path.relative_to(ROOT)}:{line}: {why}"
        for path in SOURCES
        for line, why in faults(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert len(SOURCES) > 300
    assert actual == []
