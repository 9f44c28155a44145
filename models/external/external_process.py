"""Finds external programs, identifies their versions, runs them and watches them."""

import contextlib
import functools
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from pairweave.models.external.external_programs import ExternalConfig
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.storage import files

# One thread and a fixed order of hash tables, so that sums are rounded alike on every machine.
# Nothing is downloaded while a shard is aligned.
_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONIOENCODING": "utf-8",
    "PYTHONUTF8": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
}

_VERSIONS = """
import importlib.metadata, json, sys
versions = {}
for name in sys.argv[1:]:
    try:
        versions[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps(versions))
"""


def find_program(config: ExternalConfig, executable: str | None = None) -> str:
    """Return the path of a program, or of the Python that has its package.

    Args:
        config: The program; its path takes precedence over the search path.
        executable: Another executable of the program, next to its main one or on the search path.

    Raises:
        ConfigError: It is missing; says how to get it.
    """
    about = config.about
    name = executable or about.executable
    if config.path is not None:
        program = shutil.which(config.path)
        if program is None:
            raise ConfigError(
                f"--program_path {config.path}: no such executable program; {config.program}: "
                f"{about.install}"
            )
        path = Path(program).absolute()
        return str(path) if executable is None else str(path.with_name(executable))
    if name is None:
        if not _has_module((about.package or "").replace("-", "_")):
            raise ConfigError(
                f"--program {config.program}: this Python has no package {about.package}; "
                f"{about.install}, or give the Python that has it with --program_path"
            )
        return sys.executable
    if executable is None and about.module is not None and _has_module(about.module):
        return sys.executable
    on_path = shutil.which(name)
    if on_path is None:
        raise ConfigError(
            f"--program {config.program}: no {name} on the search path; {about.install}, or "
            "give its path with --program_path"
        )
    return str(Path(on_path).absolute())


def _has_module(name: str) -> bool:
    """Tell whether the package of a module is installed, without importing it."""
    return importlib.util.find_spec(name.partition(".")[0]) is not None


def start_of(config: ExternalConfig) -> tuple[str, ...]:
    """Return the words that start a program: its executable, or Python with its module or script.

    Raises:
        ConfigError: It is missing.
    """
    about = config.about
    path = find_program(config)
    if about.script is not None:
        return path, "-c", about.script
    if about.package is None or not is_python(path):
        return (path,)
    if about.module is not None:
        return path, "-m", about.module
    return path, str(Path(path).with_name(about.executable or about.package))


def identity(config: ExternalConfig) -> str:
    """Identify the version of a program, without its path.

    A Python package is identified by its version and those of the packages that it computes with,
    anything else by the SHA-256 of its executable.

    Raises:
        ConfigError: The program is missing, or its Python lacks the package.
    """
    path = find_program(config)
    package = config.about.package
    python = python_of(path)
    if package is None or python is None:
        return _sha256(path)
    wanted = (package, *config.about.computes_with)
    versions = _versions(python, wanted)
    missing = [name for name in wanted if name not in versions]
    if missing and config.about.executable is None:
        raise ConfigError(
            f"--program_path {path}: this Python has no package {missing[0]}; "
            f"{config.about.install}"
        )
    if package not in versions:
        return _sha256(path)
    return " ".join(f"{name}=={versions[name]}" for name in sorted(versions))


def run(
    name: str,
    command: Sequence[str],
    timeout_seconds: int,
    directory: Path,
    stdin: bytes = b"",
) -> tuple[bytes, bytes]:
    """Run a program to its end.

    Args:
        name: The program's name in messages.
        command: The program and its arguments.
        timeout_seconds: After this time it is killed, with all processes that it started.
        directory: Its working directory.
        stdin: Its standard input.

    Returns:
        Its standard output and its standard error.

    Raises:
        WorkerError: It cannot be started, takes too long, or fails; the message repeats the last
            line of its standard error.
    """
    try:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=directory,
            env={**os.environ, **_ENVIRONMENT},
            start_new_session=True,
        )
    except OSError as error:
        raise WorkerError(f"{name}: {command[0]} cannot be started: {error.strerror}") from error
    try:
        out, errors = process.communicate(stdin, timeout=timeout_seconds)
    except subprocess.TimeoutExpired as error:
        raise WorkerError(
            f"{name}: not done after {timeout_seconds} s, so it was killed; give a larger "
            "--program_timeout or smaller --shard_pairs"
        ) from error
    finally:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    if process.returncode:
        ending = (
            f"was killed by signal {-process.returncode}"
            if process.returncode < 0
            else f"failed with status {process.returncode}"
        )
        raise WorkerError(f"{name} {ending}: {last_line(errors) or 'it printed no error'}")
    return out, errors


def read_answer(path: Path, name: str) -> bytes:
    """Return the file that a program was told to write.

    Raises:
        WorkerError: The file is missing.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise WorkerError(f"{name} succeeded, but did not write {path.name}") from error


def last_line(text: bytes) -> str:
    r"""Return the last line with text, for a message.

    >>> last_line(b"Traceback\nValueError: no\n\n")
    'ValueError: no'
    """
    lines = [line.strip() for line in text.decode("utf-8", "replace").splitlines()]
    filled = [line for line in lines if line]
    return filled[-1][:300] if filled else ""


def is_python(path: str) -> bool:
    """Tell from its name whether a program is a Python interpreter."""
    return Path(path).name.startswith("python")


def python_of(path: str) -> str | None:
    """Return the path if it is a Python, else the Python that runs the script, else None."""
    if is_python(path):
        return path
    with Path(path).open("rb") as file:
        first = file.readline(1024)
    if not first.startswith(b"#!"):
        return None
    words = first[2:].decode("utf-8", "replace").split()
    if words and Path(words[0]).name == "env" and len(words) > 1:
        words = words[1:]
    if not words or not is_python(words[0]):
        return None
    return shutil.which(words[0])


@functools.lru_cache(maxsize=16)
def _versions(python: str, packages: tuple[str, ...]) -> dict[str, str]:
    command = [python, "-c", _VERSIONS, *packages]
    out, _ = run(Path(python).name, command, 60, Path.cwd())
    return dict(json.loads(out))


def _sha256(path: str) -> str:
    try:
        return f"sha256:{files.sha256_of(path)}"
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
