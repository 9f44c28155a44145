"""What a package index, a forge and a container get to see."""

import importlib.util
import re
import tomllib

import pytest
import yaml

from tests.docs import pages

ROOT = pages.ROOT
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def setup():
    specification = importlib.util.spec_from_file_location("setup_of_pairweave", ROOT / "setup.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("environment", "address"),
    [
        ({"PAIRWEAVE_REPOSITORY": "https://forge.example/a/b"}, "https://forge.example/a/b"),
        ({"PAIRWEAVE_REPOSITORY": "git@forge.example:a/b.git"}, "https://forge.example/a/b"),
        (
            {"GITHUB_SERVER_URL": "https://forge.example", "GITHUB_REPOSITORY": "a/b"},
            "https://forge.example/a/b",
        ),
        ({"PAIRWEAVE_REPOSITORY": "/srv/repository"}, None),
    ],
)
def test_the_address_of_the_repository_is_found(setup, environment, address):
    assert setup.repository(environment) == address


def test_links_of_an_index_are_absolute(setup):
    shown = setup.for_an_index(README, "https://forge.example/a/b", "1.2")
    links = re.findall(r"\]\(([^)\s]+)\)", shown)
    assert len(links) > 30
    assert all(link.startswith(("https://", "#")) for link in links)
    assert "(https://forge.example/a/b/blob/v1.2/docs/tutorial.md)" in shown


def test_links_of_an_index_are_text_if_no_address_is_known(setup):
    shown = setup.for_an_index(README, None, "1.2")
    assert not re.findall(r"\]\((?!https://|#)", shown)
    assert "[tutorial](" not in shown
    assert setup.urls(None) == {}


def test_every_supported_python_is_a_classifier():
    wanted = {f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13)}
    assert wanted <= set(PROJECT["classifiers"])


def test_the_citation_has_the_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()


def test_the_workflow_runs_what_a_change_must_pass():
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    steps = [step.get("run") for job in workflow["jobs"].values() for step in job["steps"]]
    assert ".ci/run" in steps
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
    assert workflow["permissions"] == {"contents": "read"}


def test_templates_ask_for_commands_that_exist():
    from pairweave.pipelines.command_line.command_table import COMMANDS

    for path in sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")):
        text = path.read_text(encoding="utf-8")
        assert yaml.safe_load(text)
        assert set(re.findall(r"`pairweave (\w+)", text)) <= COMMANDS.keys()


def test_the_local_image_copies_files_that_exist_and_is_not_root():
    folder = ROOT / "deploy" / "local"
    text = (folder / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    ignored = (folder / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    copied = [
        word
        for line in re.findall(r"^COPY (?!--from)(.*)$", text, re.MULTILINE)
        for word in line.split()[:-1]
    ]
    assert "setup.py" in copied
    for word in copied:
        assert (ROOT / word).exists(), word
        assert any(f"!{word}".startswith(line) for line in ignored if line.startswith("!")), word
    assert "latest" not in text
    assert text.index("USER ${UID}") < text.index("ENTRYPOINT")
