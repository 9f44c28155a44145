"""Packages with plugins: made by hand on disk, or the example installed by pip."""

import importlib
import shutil
import subprocess
import sys

from pairweave.transforms.formats import registry
from pairweave.transforms.plugins import entry_points
from tests.makers.runs import ROOT

RULE = """
import numpy as np

class Rule:
    about, limit, least = "characters of the source", 10.0, False

    def measure(self, pairs):
        return np.array([len(text) for text in pairs["source"].to_pylist()], "f4")

RULE = Rule()
"""
"""A module with a rule."""

ALIGNER = """
class Aligner:
    about = "the first tokens"

    def align(self, pairs):
        links = [[(0, 0, 0.5)] for _ in range(len(pairs))]
        return links, links

ALIGNER = Aligner()
"""
"""A module with a word aligner."""


def write_package(folder, name="a-package", module="a_module", code=RULE, points=None, version="1"):
    """Write an installed distribution of one module; return the folder.

    Args:
        folder: A folder of packages.
        name: Name of the distribution.
        module: Name of the module.
        code: Its code.
        points: Entry points by group and name; None for the rule ``length``.
        version: Version of the distribution.
    """
    points = points or {"pairweave.rules": {"length": f"{module}:RULE"}}
    folder.mkdir(exist_ok=True)
    (folder / f"{module}.py").write_text(code)
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = []
    for group, named in points.items():
        lines += [f"[{group}]", *(f"{point} = {value}" for point, value in named.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    (info / "RECORD").write_text(f"{module}.py,,\n{info.name}/METADATA,,\n")
    return folder


def install_example(folder):
    """Install the example of a plugin into a folder as pip does; return the folder."""
    source = shutil.copytree(ROOT / "examples" / "plugin", folder / "source")
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check")
    where = ("--quiet", "--target", folder / "site", source)
    subprocess.run([sys.executable, "-m", "pip", "install", *options, *where], check=True)
    return folder / "site"


def use(monkeypatch, *folders):
    """Put folders of packages on the path of this process, as if it had just started with them."""
    for folder in folders:
        monkeypatch.syspath_prepend(str(folder))
        for path in folder.glob("*.py"):
            monkeypatch.delitem(sys.modules, path.stem, raising=False)
    forget()


def forget():
    """Forget the plugins that this process has loaded."""
    entry_points.load_plugin.cache_clear()
    entry_points._digest_of_module.cache_clear()
    registry._plugin_format.cache_clear()
    importlib.invalidate_caches()
