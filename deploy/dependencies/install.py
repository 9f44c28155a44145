"""Install the locked dependencies of some extras, each compared with its hashes.

python deploy/dependencies/install.py [--editable | --wheel FILE] [EXTRA ...]

pip refuses a file whose SHA-256 is not in ``requirements.lock``. Then pairweave itself is
installed, if asked for, without anything else: pip cannot compare a source tree with a hash. Needs
only Python's standard library and pip.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LOCK = Path(__file__).resolve().parents[2] / "requirements.lock"
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
    """Install; return pip's exit status."""
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
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    # What builds a source archive is locked too; isolated, pip would fetch it without a hash.
    pip += ["--no-deps", "--no-build-isolation"]
    lock = given.lock.read_text(encoding="utf-8")
    status = _install(pip, pins_of(lock, {"build"} & sets))
    status = status or _install(pip, pins_of(lock, sets))
    if not status and given.editable:
        status = subprocess.call([*pip, "--editable", str(LOCK.parent)])
    if not status and given.wheel:
        status = subprocess.call([*pip, given.wheel])
    return status


def _install(pip: list[str], pins: list[str]) -> int:
    if not pins:
        return 0
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.writelines(pins)
        file.flush()
        return subprocess.call([*pip, "--require-hashes", "--requirement", file.name])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
