"""Add compiled kernels to a wheel of pairweave, so that an installation need not compile them.

python deploy/wheels/compile_wheel.py WHEEL DIRECTORY [--level LEVEL | --kernels FOLDER]

Writes a wheel to the directory for the platform and the version of the Python that runs this, in
which the locked dependencies and the extra `wheels` have to be installed. The kernels are those of
the folder, or are compiled by `compile_kernels.py` for every kind of CPU.
"""

import argparse
import importlib.metadata
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from compile_kernels import COMPILED, compile_kernels


def main(wheel: Path, output: Path, level: str = "3", kernels: Path | None = None) -> Path:
    """Write the wheel with kernels; return its path.

    Args:
        wheel: The wheel without kernels.
        output: The directory.
        level: How far the kernels are optimized, from 0 to 3.
        kernels: A folder with kernels that were compiled from the same sources.

    Raises:
        CalledProcessError: A step failed; it has said why.
    """
    with tempfile.TemporaryDirectory() as made:
        directory = Path(made)
        _wheel("unpack", "--dest", directory / "unpacked", wheel)
        (tree,) = (directory / "unpacked").iterdir()
        if kernels is None:
            compile_kernels(tree, level, every_cpu=True)
            for bytecode in list(tree.rglob("__pycache__")):
                shutil.rmtree(bytecode)
        else:
            shutil.copytree(kernels, tree / COMPILED)
        _wheel("pack", "--dest-dir", directory, tree)
        packed = directory / wheel.name
        output.mkdir(parents=True, exist_ok=True)
        name = _wheel("tags", "--remove", *platform_tags(), packed).strip()
        return Path(shutil.copy(directory / name, output))


def platform_tags() -> list[str]:
    """Return flags with the tags of Numba's own wheel: what it compiles runs where it does."""
    text = importlib.metadata.distribution("numba").read_text("WHEEL") or ""
    tags = [line.removeprefix("Tag: ") for line in text.splitlines() if line.startswith("Tag: ")]
    python, abi, _ = tags[0].split("-")
    platforms = ".".join(tag.split("-")[2] for tag in tags)
    return ["--python-tag", python, "--abi-tag", abi, "--platform-tag", platforms]


def _wheel(*words: object) -> str:
    """Run a command of the package `wheel`; return what it prints."""
    command = [sys.executable, "-m", "wheel", *map(str, words)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--level", choices="0123", default="3")
    parser.add_argument("--kernels", type=Path)
    given = parser.parse_args()
    made_wheel = main(given.wheel, given.directory, given.level, given.kernels)
    sys.stdout.write(f"{made_wheel}\n")
