"""The message of a failed run, which replaces the stack traces of a runner and its workers."""

import builtins
import re
import signal
from collections.abc import Iterator, Sequence

from pairweave.pipelines.engines.dataflow.service import failed_job
from pairweave.pipelines.process import memory
from pairweave.transforms import errors
from pairweave.transforms.errors import ConfigError, MachineError, PairweaveError

LOST_WORKER = (
    "a worker process died before its work was done; the machine may have run out of "
    f"memory (dmesg shows what was killed): {memory.REMEDY}"
)

_STEP = re.compile(r" \[while running '([^']*)'\]\s*$")
_RAISED = re.compile(r"^((?:[A-Za-z_]\w*\.)*[A-Z]\w*)(?:: (.*))?$")
_DETAILS = re.compile(r'details = "([^"]*)"')
_LOST_WORKER = ("Channel closed prematurely", "SDK worker disconnected")
_LOST_SERVER = "RPC that terminated with"
_DIRECT_CAUSE = "The above exception was the direct cause of the following exception:"
_FRAME = re.compile(r"^(Traceback \(|  |\s*$|During handling|The above exception|\tat |Caused by)")


def failure_message(error: BaseException) -> tuple[str, bool]:
    """Return the message of a failed run, without the runner's stack traces.

    A runner returns the worker's traceback as text inside an exception of its own. The message is
    that of the first error of this package in it, or else of the first error.

    Returns:
        The message, and whether the user must fix something (`ConfigError`) before another run.
    """
    text = str(error)
    raised = list(_raised(text))
    ours = _ours(error, raised)
    if ours is not None:
        kind, message = ours
        return message, issubclass(kind, ConfigError)
    for explain in (_lost_worker, _lost_server, _failed_job):
        explained = explain(text)
        if explained is not None:
            return explained, False
    message = _first_error(error, raised)
    if memory.ran_out(message):
        return f"there is not enough memory ({message.rstrip(': ')}); {memory.REMEDY}", True
    return message, False


def _ours(
    error: BaseException, raised: Sequence[tuple[str, str, str]]
) -> tuple[type[PairweaveError], str] | None:
    """Return the class and message of this package's first error, raised or in the text."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, PairweaveError):
            return type(seen), _STEP.sub("", str(seen))
        seen = seen.__cause__
    names = {kind.__name__: kind for kind in _kinds(PairweaveError)}
    for name, message, _ in raised:
        kind = names.get(name.rpartition(".")[2])
        if kind is not None and name in {kind.__name__, f"{errors.__name__}.{kind.__name__}"}:
            return kind, message
    return None


def _failed_job(text: str) -> str | None:
    """Explain Beam's message about a failed job on Dataflow that contains no traceback."""
    return None if "Traceback" in text else failed_job(text)


def _lost_worker(text: str) -> str | None:
    """Explain a runner's message about a worker that has died."""
    return LOST_WORKER if any(sign in text for sign in _LOST_WORKER) else None


def _lost_server(text: str) -> str | None:
    """Explain gRPC's message about an engine's own program that has died."""
    if _LOST_SERVER not in text:
        return None
    match = _DETAILS.search(text)
    details = f" ({match[1]})" if match else ""
    return (
        "the engine's own program, such as Flink's job server, died or cannot be "
        f"reached{details}; it may have run out of memory: check its log, and {memory.REMEDY}"
    )


def is_lost_server(error: BaseException) -> bool:
    """Tell whether an error means that an engine's own program does not respond."""
    return _LOST_SERVER in str(error)


def is_of_machine(error: BaseException, message: str) -> bool:
    """Tell whether a failure comes from the machine, so that any shard would fail.

    Args:
        error: The error of the run.
        message: Its message (`failure_message`).

    >>> is_of_machine(RuntimeError(), "OSError: [Errno 28] No space left on device")
    True
    """
    if message == LOST_WORKER:
        return False  # the engine's program may have ended because it lost its workers
    seen: BaseException | None = error
    while seen is not None:
        if is_lost_server(seen):
            return True
        seen = seen.__cause__ or seen.__context__
    ours = _ours(error, list(_raised(str(error))))
    if ours is not None:
        return issubclass(ours[0], MachineError)
    kind = getattr(builtins, message.partition(":")[0].rpartition(".")[2], None)
    return isinstance(kind, type) and issubclass(kind, OSError)


def ended_server(program: str, status: int, out_of_memory: int | None = None) -> str:
    """Describe how an engine's own program on this machine ended, and what to do.

    Args:
        program: Its name in the message.
        status: Its exit status; below 0, the number of the signal that ended it.
        out_of_memory: The exit status that means that it ran out of memory, if there is one.

    >>> ended_server("Flink's Java process", -15)
    "Flink's Java process was ended by SIGTERM before the run was done"
    """
    if status == -signal.SIGKILL:
        return (
            f"{program} was killed (SIGKILL) before the run was done; the machine may have run "
            f"out of memory (dmesg shows what was killed): {memory.REMEDY}"
        )
    if status < 0:
        name = signal.Signals(-status).name
        return f"{program} was ended by {name} before the run was done"
    if status == out_of_memory:
        return f"{program} ran out of memory: {memory.REMEDY}"
    return f"{program} ended with exit status {status} before the run was done"


def _first_error(error: BaseException, raised: Sequence[tuple[str, str, str]]) -> str:
    """Return the first error in a text of tracebacks, with its step."""
    text = str(error)
    if raised:
        name, message, _ = _of_file(text) or raised[0]
        step = next((step for _, _, step in raised if step), "")
        return f"{name}: {message}" + (f" (in step {step})" if step else "")
    first = next((line for line in text.splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {first}"


def _of_file(text: str) -> tuple[str, str, str] | None:
    """Return the first `OSError` in a text that was raised from another error.

    It names the file or object, unlike the error of a store's client that it was raised from.
    """
    for part in text.split(_DIRECT_CAUSE)[1:]:
        first = next(_raised(part), ("", "", ""))
        kind = getattr(builtins, first[0], None)
        if isinstance(kind, type) and issubclass(kind, OSError):
            return first
    return None


def _raised(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, message and step of each error that ends a traceback in the text."""
    lines = text.replace("\r", "").split("\n")
    inside = True  # Beam drops the traceback of an error that it cannot reconstruct
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
