"""Install the locked dependencies of some extras, each compared with its hashes.

python deploy/dependencies/install.py [--editable | --wheel FILE] [EXTRA ...]

A file whose SHA-256 is not in ``requirements.lock`` is refused. Then pairweave itself is installed,
if asked for, without anything else: a source tree cannot be compared with a hash. Needs only
Python's standard library and pip.

For a source tree, pip installs uv first, which installs the rest in a fifth of the time; where uv
cannot be had, or fails, pip goes on. Images are built by pip alone and do not contain uv.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LOCK = Path(__file__).resolve().parents[2] / "requirements.lock"
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
UV = (sys.executable, "-m", "uv", "pip")
# uv reads neither the files nor the variables of pip.
_UV_SETTINGS = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX",
    "cert": "SSL_CERT_FILE",
}
_PIN = re.compile(r"^(\S+?)==.*\n(?:    --hash.*\n)+    # in: (.*)\n", re.MULTILINE)


def pins_of(lock: str, sets: set[str]) -> list[str]:
    """Return the pins of the packages that belong to at least one of some sets.

    Raises:
        ValueError: A set is unknown.
    """
    pins = [(match[0], set(match[2].split())) for match in _PIN.finditer(lock)]
    unknown = sets - {name for _, members in pins for name in members}
    if unknown:
        raise ValueError(f"unknown extra: {', '.join(sorted(unknown))}")
    return [pin for pin, members in pins if members & sets]


def main(words: list[str]) -> int:
    """Install; return the exit status of what installed last."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "extras", nargs="*", help="extras of pyproject.toml; `build` alone for what builds a wheel"
    )
    parser.add_argument("--editable", action="store_true", help="also install this source tree")
    parser.add_argument("--wheel", help="also install this wheel of pairweave")
    parser.add_argument("--lock", type=Path, default=LOCK, help="the lock to read")
    given = parser.parse_args(words)
    sets = {*given.extras, *(["build"] if given.editable else [])}
    if given.extras != ["build"]:
        sets.add("base")
    lock = given.lock.read_text(encoding="utf-8")
    # What builds a source archive is locked too; isolated, it would be fetched without a hash.
    steps = [pins_of(lock, {"build"} & sets), pins_of(lock, sets)]
    local = ["--editable", str(LOCK.parent)] if given.editable else []
    local += [given.wheel] if given.wheel else []
    if given.editable and _install(PIP, [_pins_of_uv(lock)], []) == 0:
        if _install(UV, steps, local, settings_for_uv()) == 0:
            return 0
        sys.stderr.write("uv failed, so pip installs\n")
    return _install(PIP, steps, local)


def settings_for_uv() -> dict[str, str]:
    """Return uv's variables for the index, the wheels and the certificates that pip has."""
    listed = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True, check=False)
    pip = dict(re.findall(r"^\S+\.([\w-]+)='(.*)'$", listed.stdout, re.MULTILINE))
    return {uv: pip[name] for name, uv in _UV_SETTINGS.items() if pip.get(name)}


def _pins_of_uv(lock: str) -> list[str]:
    return [match[0] for match in _PIN.finditer(lock) if match[1] == "uv"]


def _install(
    command: tuple[str, ...],
    steps: list[list[str]],
    local: list[str],
    settings: dict[str, str] | None = None,
) -> int:
    """Install pins step by step, then local things; return the first bad status, or 0."""
    install = [*command, "install", "--quiet", "--no-deps", "--no-build-isolation"]
    if command == UV:
        install += ["--python", sys.executable]
    environment = {**os.environ, **(settings or {})}
    for pins in filter(None, steps):
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            file.writelines(pins)
            file.flush()
            words = [*install, "--require-hashes", "--requirement", file.name]
            status = subprocess.call(words, env=environment)
        if status:
            return status
    return subprocess.call([*install, *local], env=environment) if local else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
