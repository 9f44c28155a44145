"""How a failed run reads: one message, not the stack traces of a runner and its workers."""

import re
from collections.abc import Iterator

from transforms import errors
from transforms.errors import ConfigError, PairweaveError

_STEP = re.compile(r" \[while running '([^']*)'\]\s*$")
_RAISED = re.compile(r"^((?:[A-Za-z_]\w*\.)*[A-Z]\w*)(?:: (.*))?$")
_FRAME = re.compile(r"^(Traceback \(|  |\s*$|During handling|The above exception|\tat |Caused by)")


def failure_message(error: BaseException) -> tuple[str, bool]:
    """Find what a failed run has to say, without the runner's stack traces.

    A runner hands back the worker's traceback as text inside an exception of its own. The
    first error of ours in it is the one to show; else the first error at all.

    Returns:
        The message, and whether the user must mend something (`ConfigError`) before another run.
    """
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, PairweaveError):
            return _STEP.sub("", str(seen)), isinstance(seen, ConfigError)
        seen = seen.__cause__
    text = str(error)
    found = list(_raised(text))
    names = {kind.__name__: kind for kind in _kinds(PairweaveError)}
    for name, message, _ in found:
        kind = names.get(name.rpartition(".")[2])
        if kind is not None and name in {kind.__name__, f"{errors.__name__}.{kind.__name__}"}:
            return message, issubclass(kind, ConfigError)
    if found:
        name, message, _ = found[0]
        step = next((step for _, _, step in found if step), "")
        return f"{name}: {message}" + (f" (in step {step})" if step else ""), False
    first = next((line for line in text.splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {first}", False


def _raised(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, message and step of each error that ends a traceback in the text."""
    lines = text.replace("\r", "").split("\n")
    inside = True  # Beam drops the traceback of an error that it cannot build again
    index = 0
    while index < len(lines):
        line = lines[index]
        index += 1
        if "Traceback (most recent call last)" in line:
            inside = True
            continue
        match = _RAISED.match(line) if inside else None
        if match is None:
            inside = inside and index > 1
            continue
        inside = False
        message = [match[2] or ""]
        while index < len(lines) and not _FRAME.match(lines[index]):
            message.append(lines[index])
            index += 1
        whole = "\n".join(message)
        step = _STEP.search(whole)
        yield match[1], _STEP.sub("", whole), step[1] if step else ""


def _kinds(kind: type[PairweaveError]) -> Iterator[type[PairweaveError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _kinds(below)
