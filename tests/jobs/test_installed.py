"""The installed package is not affected by other folders with the same names."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.makers.trees import FOLDERS, copy_sources

ROOT = Path(__file__).parents[2]
BUILD = (
    "import sys; from setuptools import build_meta; getattr(build_meta, sys.argv[1])(sys.argv[2])"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return a wheel and a source distribution, made of a copy of what git knows."""
    pytest.importorskip("setuptools", reason="needs setuptools to build with")
    directory = tmp_path_factory.mktemp("built")
    tree = copy_sources(directory / "tree", "tests")
    for what in ("build_wheel", "build_sdist"):
        done = subprocess.run(
            [sys.executable, "-c", BUILD, what, str(directory)],
            cwd=tree,
            env={**os.environ, "PAIRWEAVE_REPOSITORY": "https://forge.example/a/b"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
    return next(directory.glob("*.whl")), next(directory.glob("*.tar.gz"))


def modules():
    """Return the paths that all modules should have in a package."""
    own = ("__init__.py", "plugins.py", "py.typed")
    result = {f"pairweave/{name}" for name in own}
    for name in FOLDERS[1:]:
        for path in (ROOT / name).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                result.add(f"pairweave/{path.relative_to(ROOT)}")
    return result


def test_the_wheel_holds_one_package(built):
    with zipfile.ZipFile(built[0]) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert names == modules()


def test_the_metadata_has_addresses_and_links_that_work_elsewhere(built):
    with zipfile.ZipFile(built[0]) as wheel:
        (name,) = [name for name in wheel.namelist() if name.endswith("/METADATA")]
        text = wheel.read(name).decode()
    assert "Project-URL: Repository, https://forge.example/a/b\n" in text
    assert "Description-Content-Type: text/markdown" in text
    assert "](https://forge.example/a/b/blob/v" in text
    assert "](docs/" not in text


def test_the_source_distribution_holds_real_files(built):
    with tarfile.open(built[1]) as archive:
        members = archive.getmembers()
    assert not [member.name for member in members if member.issym() or member.islnk()]
    names = {member.name.partition("/")[2] for member in members if member.isfile()}
    assert {name for name in names if name.startswith("pairweave/")} == modules()
    assert not [name for name in names if name.startswith((*FOLDERS[1:], "tests"))]


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [pytest.param(0, id="wheel"), pytest.param(1, id="sdist", marks=pytest.mark.slow)]
)
def test_an_installed_package_does_not_mind_folders_of_its_rooms_names(built, tmp_path, kind):
    site = tmp_path / "site"
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    subprocess.run(
        [*command, "--no-deps", "--no-build-isolation", "--target", str(site), str(built[kind])],
        check=True,
    )
    for name in FOLDERS[1:]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    code = (
        "import pairweave, sys; from pairweave.pipelines import cli; "
        f"assert pairweave.__file__.startswith({str(site)!r}), pairweave.__file__; "
        "sys.exit(cli.main(['augment', '--help']))"
    )
    path = os.pathsep.join((str(tmp_path), str(site)))
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "usage: pairweave augment" in done.stdout


def interpreter(version):
    """Return a Python of this version that runs, from the path or from pyenv; None for none."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    result = [shutil.which(f"python{version}"), *pyenv.glob(f"{version}.*/bin/python")]
    for path in filter(None, result):
        done = subprocess.run([path, "-c", ""], check=False, stderr=subprocess.DEVNULL)
        if done.returncode == 0:  # a shim of pyenv's may stand for no Python
            return str(path)
    return None


@pytest.mark.slow
def test_the_newest_python_can_install_and_use_it(built, tmp_path):
    version = "3.13"  # 3.12 lies between it and that of the other tests
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} here")
    subprocess.run([python, "-m", "venv", str(tmp_path / "env")], check=True)
    python = str(tmp_path / "env" / "bin" / "python")
    install = [python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    subprocess.run([*install, "--no-compile", str(built[0])], check=True)
    for name in FOLDERS[1:]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    code = (
        "import pairweave; "
        "links = pairweave.symmetrize(['0-0 1-1'], ['0-0'], heuristic='intersection'); "
        "print(links.to_pylist())"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for arguments, wanted in (
        (["-c", code], "[{'source': 0, 'target': 0}]"),
        (["-m", "pairweave.pipelines.cli", "augment", "--help"], "usage: pairweave augment"),
    ):
        done = subprocess.run(
            [python, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        assert wanted in done.stdout
