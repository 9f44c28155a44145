"""Write the locks: ``constraints.txt`` (versions) and ``requirements.lock`` (versions and hashes).

python deploy/dependencies/make_lock.py [--upgrade]

Versions in ``constraints.txt`` stay as they are unless ``--upgrade`` is given; what is missing is
added. Each package of ``requirements.lock`` says which sets it belongs to: ``base`` for a plain
installation, otherwise the extras that bring it, and ``build`` for what builds pairweave itself.
Needs uv.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONSTRAINTS = ROOT / "constraints.txt"
LOCK = ROOT / "requirements.lock"
HEAD = (
    "# Hashes of every dependency on Linux with Python 3.11, written by `make lock`. All of them:\n"
    "# pip install --require-hashes --requirement requirements.lock; some of them:\n"
    "# python deploy/dependencies/install.py EXTRA ...\n"
)


def compile_pins(*flags: str) -> str:
    """Return what uv resolves for the project with some flags."""
    words = ["uv", "pip", "compile", "--quiet", "--python-version", "3.11"]
    words += ["--no-annotate", "--no-header", *flags, "pyproject.toml"]
    return subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def names_of(pins: str) -> set[str]:
    """Return the names of the packages in pins."""
    return set(re.findall(r"^([\w.-]+)==", pins, re.MULTILINE))


def sets_of(project: dict) -> dict[str, set[str]]:
    """Return the names of the packages of each set."""
    fixed = ("--constraint", str(CONSTRAINTS))
    extras = sorted(project["project"]["optional-dependencies"])
    sets = {"base": names_of(compile_pins(*fixed))}
    sets |= {extra: names_of(compile_pins(*fixed, "--extra", extra)) for extra in extras}
    needed = project["build-system"]["requires"]
    sets["build"] = {re.match(r"[\w.-]+", requirement)[0].lower() for requirement in needed}
    return sets


def annotated(pins: str, sets: dict[str, set[str]]) -> str:
    """Return pins with hashes, each followed by the sets that it belongs to."""
    parts = [HEAD]
    for pin in re.findall(r"^\S+==.*(?:\n    .*)*", pins, re.MULTILINE):
        (name,) = names_of(pin)
        if name in sets["base"]:
            member = ["base", *(["build"] if name in sets["build"] else [])]
        else:
            member = sorted(extra for extra, names in sets.items() if name in names)
        parts.append(f"{pin}\n    # in: {' '.join(member)}\n")
    return "".join(parts)


def main(flags: list[str]) -> None:
    """Write both files."""
    compile_pins("--all-extras", "--output-file", str(CONSTRAINTS), *flags)
    fixed = ("--constraint", str(CONSTRAINTS))
    pins = compile_pins("--all-extras", "--generate-hashes", *fixed)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    LOCK.write_text(annotated(pins, sets_of(project)), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
