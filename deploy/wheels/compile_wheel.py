"""Add compiled kernels to a wheel of pairweave, so that an installation need not compile them.

python deploy/wheels/compile_wheel.py WHEEL DIRECTORY [LEVEL]

Writes a wheel to the directory for the platform and the version of the Python that runs this, in
which the locked dependencies and the extra `wheels` have to be installed. The kernels are compiled
for any CPU of the platform. With an optimization level lower than Numba's own, 3, they are compiled
in less time, and are slower: enough for a test.
"""

import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

COMPILE = Path(__file__).resolve().with_name("compile_kernels.py")
SHIPPED = Path("pairweave", "compiled_kernels")
"""Where the package looks for them."""

CPU = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
"""What makes Numba compile for any CPU."""


def main(wheel: Path, output: Path, level: str = "3") -> Path:
    """Write the wheel with kernels; return its path.

    Args:
        wheel: The wheel without kernels.
        output: The directory.
        level: How far the kernels are optimized, from 0 to 3.

    Raises:
        CalledProcessError: A step failed; it has said why.
    """
    with tempfile.TemporaryDirectory() as made:
        directory = Path(made)
        _wheel("unpack", "--dest", directory / "unpacked", wheel)
        (tree,) = (directory / "unpacked").iterdir()
        compile_kernels(tree, directory, level)
        _wheel("pack", "--dest-dir", directory, tree)
        packed = directory / wheel.name
        output.mkdir(parents=True, exist_ok=True)
        name = _wheel("tags", "--remove", *platform_tags(), packed).strip()
        return Path(shutil.copy(directory / name, output))


def compile_kernels(tree: Path, directory: Path, level: str) -> None:
    """Compile the kernels of an unpacked wheel and put them into it."""
    kernels = directory / "kernels"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment = {
        **kept,
        **CPU,
        "NUMBA_OPT": level,
        "NUMBA_CACHE_DIR": str(kernels),
        "PYTHONPATH": str(tree),
        "PYTHONPYCACHEPREFIX": str(directory / "bytecode"),
    }
    subprocess.run([sys.executable, str(COMPILE)], env=environment, cwd=directory, check=True)
    (tree / SHIPPED).mkdir()
    for path in kernels.rglob("*.nb[ci]"):
        if (tree / SHIPPED / path.name).exists():
            raise FileExistsError(f"two kernels have compiled code called {path.name}")
        shutil.copy(path, tree / SHIPPED)
    version = importlib.metadata.version("numba")
    (tree / SHIPPED / "numba.txt").write_text(f"{version}\n", encoding="utf-8")


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
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    sys.stdout.write(f"{main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])}\n")
