"""What `pyproject.toml` cannot say: where the repository is, and the README for a package index.

A package index shows the README without the files beside it. Its links into the repository become
absolute there, or plain text if nothing tells where the repository is.
"""

import os
import re
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path

import setuptools

ROOT = Path(__file__).resolve().parent
LINK = re.compile(r"\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")


def repository(environment: Mapping[str, str]) -> str | None:
    """Return the address of the repository.

    It is what ``PAIRWEAVE_REPOSITORY`` says, else what the CI of a forge does, else that of the
    checkout's remote ``origin``; None if that is no address on the web.
    """
    server, name = environment.get("GITHUB_SERVER_URL"), environment.get("GITHUB_REPOSITORY")
    address = environment.get("PAIRWEAVE_REPOSITORY") or (f"{server}/{name}" if name else _origin())
    address = re.sub(r"^(?:ssh://)?git@([^:/]+)[:/]", r"https://\1/", address.strip())
    return (
        address.removesuffix("/").removesuffix(".git") if address.startswith("https://") else None
    )


def _origin() -> str:
    command = ["git", "-C", str(ROOT), "config", "remote.origin.url"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except OSError:  # no git
        return ""


def for_an_index(readme: str, address: str | None, version: str) -> str:
    """Return the README with links that need no file beside it."""
    if address is None:
        return LINK.sub(r"\1", readme)
    return LINK.sub(rf"[\1]({address}/blob/v{version}/\2)", readme)


def urls(address: str | None) -> dict[str, str]:
    """Return the project's addresses."""
    if address is None:
        return {}
    return {
        "Repository": address,
        "Documentation": f"{address}/blob/main/docs/index.md",
        "Changelog": f"{address}/blob/main/CHANGELOG.md",
        "Issues": f"{address}/issues",
        "Security": f"{address}/security/policy",
    }


if __name__ == "__main__":
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    place = repository(os.environ)
    setuptools.setup(
        long_description=for_an_index(
            (ROOT / "README.md").read_text(encoding="utf-8"), place, project["version"]
        ),
        long_description_content_type="text/markdown",
        project_urls=urls(place),
    )
