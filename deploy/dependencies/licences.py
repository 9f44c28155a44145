"""List the licences of the installed packages, and refuse those that are not permissive.

python deploy/dependencies/licences.py

A licence is what a package's metadata says: its SPDX expression, else its classifiers, else its
short name of a licence. Exit status 1 if one is neither permissive nor among `EXCEPTIONS`.
"""

import importlib.metadata
import re
import sys
from collections.abc import Mapping

PERMISSIVE = frozenset(
    {
        *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0"),
        *("CNRI-Python", "ISC", "MIT", "MIT-0", "MIT-CMU", "PSF-2.0", "Zlib"),
        "Apache-2.0 WITH LLVM-exception",
    }
)
"""SPDX identifiers of licences that ask for no more than to be named."""

UNKNOWN = "NOASSERTION"
"""SPDX for a licence that nothing states."""

EXCEPTIONS = {
    "certifi": "MPL-2.0, installed unchanged: covers changes to its own files only",
    "hypothesis": "MPL-2.0, for tests only",
    "orjson": "MPL-2.0 in part, installed unchanged: covers changes to its own files only",
    "pathspec": "MPL-2.0, for development only",
    "tqdm": "MPL-2.0 in part, installed unchanged: covers changes to its own files only",
    "yattag": "LGPL, for mutation tests only",
}
"""Packages under other licences, and why they are accepted."""

PROPRIETARY = ("nvidia-", "cuda-")
"""Beginnings of the names of NVIDIA's libraries, which torch brings: only with encoders."""

_NAMES = {
    "apache": "Apache-2.0",
    "bsd": "BSD-3-Clause",
    "isc": "ISC",
    "mit": "MIT",
    "psf": "PSF-2.0",
    "python software foundation": "PSF-2.0",
    "3-clause bsd": "BSD-3-Clause",
}
"""Beginnings of names in metadata without an SPDX expression. A BSD licence of unknown kind counts
as that with three clauses; all are permissive."""


def name_of(distribution: importlib.metadata.Distribution) -> str:
    """Return the name of a package as locks spell it."""
    return re.sub(r"[-_.]+", "-", distribution.metadata["Name"]).lower()


def licence_of(metadata: Mapping[str, str]) -> str:
    """Return the SPDX expression of a package's licence; `UNKNOWN` if none is.

    Args:
        metadata: The core metadata of the package.
    """
    expression = metadata.get("License-Expression")
    if expression:
        return expression
    every = metadata.get_all("Classifier", [])  # type: ignore[attr-defined]
    named = [each.split(" :: ")[-1] for each in every if each.startswith("License :: ")]
    text = (metadata.get("License") or "").strip()
    if text.startswith("LicenseRef-") or _parts(text) <= PERMISSIVE | {"MPL-2.0"}:
        return text
    names = [_spdx(name) for name in (*named, text.partition("\n")[0])]
    return next((name for name in names if name), UNKNOWN)


def _spdx(name: str) -> str | None:
    lower = name.lower().removeprefix("the ")
    if lower.startswith(("mozilla", "mpl")):
        return "MPL-2.0"
    return next((spdx for start, spdx in _NAMES.items() if lower.startswith(start)), None)


def _parts(expression: str) -> set[str]:
    return {part.strip(" ()") for part in re.split(r" AND | OR ", expression)}


def is_permissive(expression: str) -> bool:
    """Tell whether an SPDX expression asks for permissive licences only.

    >>> is_permissive("MIT OR GPL-3.0-only"), is_permissive("MIT AND MPL-2.0")
    (True, False)
    """
    return all(
        any(part.strip(" ()") in PERMISSIVE for part in term.split(" OR "))
        for term in expression.split(" AND ")
    )


def is_accepted(name: str, expression: str) -> bool:
    """Tell whether a package may be installed."""
    return is_permissive(expression) or name in EXCEPTIONS or name.startswith(PROPRIETARY)


def installed() -> dict[str, importlib.metadata.Distribution]:
    """Return the installed packages by name, sorted."""
    by_name = {name_of(each): each for each in importlib.metadata.distributions()}
    return dict(sorted(by_name.items()))


def main() -> int:
    """Print name, version and licence of each package; return 1 if one is not accepted."""
    refused = []
    for name, distribution in installed().items():
        expression = licence_of(distribution.metadata)
        sys.stdout.write(f"{name} {distribution.version}: {expression}\n")
        if not is_accepted(name, expression):
            refused.append(name)
    for name in refused:
        sys.stderr.write(f"{name}: its licence is not permissive; see {__file__}\n")
    return int(bool(refused))


if __name__ == "__main__":
    sys.exit(main())
