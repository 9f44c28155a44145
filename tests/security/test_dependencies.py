"""What is installed: the versions and hashes of the lock, under licences that allow it."""

import hashlib
import importlib.metadata
import importlib.util
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "deploy" / "dependencies"
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]


def load(name):
    """Import a program of the folder."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


install, licences, sbom = map(load, ("install", "licences", "sbom"))


def pins_of(*sets):
    """Return the versions of sets of the lock, by name."""
    pins = install.pins_of(LOCK, {"base", *sets})
    return dict(re.match(r"([^=]+)==(\S+)", pin).groups() for pin in pins)


def test_lock_constraints_and_project_agree():
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    remedy = "run `make lock`"
    assert sorted(f"{n}=={v}" for n, v in pins_of(*EXTRAS).items()) == sorted(constraints), remedy
    for extra, requirements in {"base": PROJECT["project"]["dependencies"], **EXTRAS}.items():
        pins = pins_of(extra)
        for requirement in map(Requirement, requirements):
            name = re.sub(r"[-_.]+", "-", requirement.name).lower()
            assert requirement.specifier.contains(pins[name]), (extra, name, remedy)
    for requirement in map(Requirement, PROJECT["build-system"]["requires"]):
        assert requirement.specifier.contains(pins_of("build")[requirement.name])


def test_every_pin_has_hashes_and_says_where_it_belongs():
    pins = re.findall(r"^\S+==", LOCK, re.MULTILINE)
    assert len(pins) == len(install.pins_of(LOCK, {"base", "build", *EXTRAS})) > 250
    for pin in install.pins_of(LOCK, {"base", *EXTRAS}):
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", pin)
    with pytest.raises(ValueError, match="unknown extra: nonsense"):
        install.pins_of(LOCK, {"nonsense"})


def test_the_lock_names_no_place():
    assert not re.search(r"https?:|index-url|find-links|@", LOCK)


@pytest.mark.parametrize("right", [True, False])
def test_a_file_with_another_hash_is_not_installed(tmp_path, right):
    wheel = tmp_path / "apart-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("apart.py", "")
        archive.writestr(
            "apart-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: apart\nVersion: 1\n"
        )
        archive.writestr("apart-1.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("apart-1.dist-info/RECORD", "")
    digest = hashlib.sha256(wheel.read_bytes() if right else b"").hexdigest()
    lock = tmp_path / "lock"
    lock.write_text(f"apart==1 \\\n    --hash=sha256:{digest}\n    # in: base\n")
    environment = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, str(FOLDER / "install.py"), "--lock", str(lock)],
        env={**environment, "PIP_TARGET": str(tmp_path / "installed")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode == 0) is right, done.stderr
    assert (tmp_path / "installed" / "apart.py").is_file() is right
    assert right or "DO NOT MATCH THE HASHES" in done.stderr


@pytest.mark.parametrize(
    ("failing", "programs"),
    [(None, ["pip", "uv", "uv", "uv"]), ("uv", ["pip", "uv", "pip", "pip", "pip"])],
)
def test_a_source_tree_is_installed_by_uv_or_else_by_pip(monkeypatch, capsys, failing, programs):
    called = []

    def call(words, **_):
        called.append(words)
        return int(words[2] == failing)

    monkeypatch.setattr(install.subprocess, "call", call)
    assert install.main(["--editable", "demo"]) == 0
    assert [words[2] for words in called] == programs
    assert all("--require-hashes" in words for words in called if "--requirement" in words)
    assert called[-1][-2:] == ["--editable", str(ROOT)]
    assert ("uv failed, so pip installs" in capsys.readouterr().err) is (failing == "uv")


def test_a_wheel_is_installed_by_pip_alone(monkeypatch):
    called = []
    monkeypatch.setattr(install.subprocess, "call", lambda words, **_: called.append(words))
    install.main(["--wheel", "pairweave.whl", "gcp"])
    assert {words[2] for words in called} == {"pip"}


def test_uv_gets_the_settings_of_pip(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.example/simple")
    settings = install.settings_for_uv()
    assert settings["UV_FIND_LINKS"] == str(tmp_path)
    assert settings["UV_DEFAULT_INDEX"] == "https://index.example/simple"
    monkeypatch.setattr(
        install.subprocess, "run", lambda *a, **_: install.subprocess.CompletedProcess(a, 0, "")
    )
    assert install.settings_for_uv() == {}


def test_every_installed_package_has_an_accepted_licence():
    locked = pins_of(*EXTRAS)
    actual = {
        name: licences.licence_of(each.metadata)
        for name, each in licences.installed().items()
        if name in locked
    }
    assert len(actual) > 90
    assert [name for name, each in actual.items() if not licences.is_accepted(name, each)] == []
    plain = pins_of()
    others = {name for name, each in actual.items() if not licences.is_permissive(each)}
    assert others & plain.keys() <= {"certifi", "orjson", "tqdm"}
    assert licences.EXCEPTIONS.keys() <= locked.keys()


@pytest.mark.parametrize(
    ("fields", "wanted", "accepted"),
    [
        ({"License-Expression": "MIT OR GPL-3.0-only"}, "MIT OR GPL-3.0-only", True),
        ({"License-Expression": "MIT AND GPL-3.0-only"}, "MIT AND GPL-3.0-only", False),
        ({"Classifier": "License :: OSI Approved :: BSD License"}, "BSD-3-Clause", True),
        (
            {"Classifier": "License :: OSI Approved :: GNU General Public License v3 (GPLv3)"},
            "NOASSERTION",
            False,
        ),
        ({"License": "Apache License, Version 2.0"}, "Apache-2.0", True),
        ({"License": "GPLv3"}, "NOASSERTION", False),
        ({}, "NOASSERTION", False),
    ],
)
def test_a_licence_is_what_the_metadata_says(fields, wanted, accepted):
    import email.message

    metadata = email.message.Message()
    for name, value in fields.items():
        metadata[name] = value
    assert licences.licence_of(metadata) == wanted
    assert licences.is_accepted("a-package", wanted) is accepted


def test_the_bill_lists_what_is_installed():
    bill = sbom.bill()
    listed = {each["name"]: each["version"] for each in bill["components"]}
    installed = {
        licences.name_of(each): each.version for each in importlib.metadata.distributions()
    }
    installed.pop("pairweave", None)
    assert listed == installed
    assert bill == json.loads(json.dumps(sbom.bill()))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    for each in bill["components"]:
        assert each["purl"] == each["bom-ref"] == f"pkg:pypi/{each['name']}@{each['version']}"
        assert each["licenses"]


def test_the_image_installs_from_the_lock_and_writes_its_bill():
    text = (ROOT / "deploy" / "dataflow" / "Dockerfile").read_text(encoding="utf-8")
    assert "pip install" not in text
    for extras in ("gcp", "gcp neural"):
        words = f"install.py --lock requirements.lock --wheel wheels/*.whl {extras} \\"
        assert words in text
    assert text.count("sbom.py > sbom.cdx.json") == 2
