"""Every command of the documentation is read by its own parser, and runs if it can run here."""

import re
import shutil
import tomllib

import pytest

from pairweave.pipelines import cli
from pairweave.pipelines.command_line import flags
from tests.docs import pages
from tests.makers import documented, plugins, runs

ELSEWHERE = {
    "--engine flink": "needs a job server; tests/cluster runs jobs on it",
    "--engine dataflow": "needs a cloud; tests/cluster sends jobs to an imitation of it",
    "gs://": "needs a bucket; tests/jobs/test_object_stores.py has one",
    "hf://": "needs a network; tests/jobs/test_hub_input.py has an imitation of the hub",
    "s3://": "needs a bucket; tests/cluster/test_refresh_stores.py has one",
    "--aligner encoder": "needs weights; tests/jobs/test_encoder_jobs.py makes some",
    "--aligner product": "needs weights; tests/jobs/test_product_jobs.py makes some",
    "--encoder ": "needs weights; tests/jobs/test_filter_encoder.py makes some",
    "pairweave finetune": "needs weights; tests/jobs/test_finetune_job.py makes some",
    "pairweave ablate": "needs torch; tests/jobs/test_ablate.py trains small models",
    "attention:ablation/": "needs torch; tests/jobs/test_ablate.py has small models",
    "pairweave cluster": "needs Flink; tests/cluster/test_session_cluster.py starts one",
    "LC_MESSAGES": "needs installed catalogues; tests/benchmarks/bench_prior.py fits on some",
    "laser.txt.gz": "needs Khmer; tests/jobs/test_filter_given_scores.py has scores of German",
    "--golden_sizes": "needs thousands of rows; tests/pipelines/commands/test_export_series.py",
    "--sheets project.tsv": "needs judges; tests/transforms/metrics/tags has filled sheets",
    "plugin_rules": "needs an installed plugin; tests/jobs/test_plugins.py installs one",
    "--aligner diagonal": "needs it likewise",
    "--tokens characters": "needs it likewise",
    "--scorer lengths": "needs it likewise",
    "pairweave doctor": "needs a network for its stores; tests/pipelines/commands has its tests",
}
"""What only runs where this test does not: beginnings of commands or options in them, and why."""

OWN = [pytest.param(page, id=str(page.relative_to(pages.ROOT))) for page in pages.SITE]
RUNNING = [
    pytest.param(page, id=str(page.relative_to(pages.ROOT)))
    for page in pages.PAGES
    if page.name != "CONTRIBUTING.md"  # test_additions.py
    and any(block.language in ("sh", "yaml", "python") for block in pages.blocks(page))
]


class ParsedError(Exception):
    """A command line was read to its end."""


def parse(words, monkeypatch):
    """Let a command read its options, and stop it there."""
    read = flags.parse

    def stop(*arguments, **keywords):
        read(*arguments, **keywords)
        raise ParsedError

    with monkeypatch.context() as patched:
        patched.setattr(flags, "parse", stop)
        with pytest.raises((ParsedError, SystemExit)):
            cli._run(words)


def write_configurations(page, directory):
    """Write the YAML files of a page."""
    for block in pages.blocks(page):
        if block.configuration:
            (directory / block.configuration).write_text(block.text, encoding="utf-8")


@pytest.mark.parametrize("page", OWN)
def test_options_exist_and_have_these_values(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairweave.yaml").write_text("source_lang: en\n")  # as `init` writes one
    (tmp_path / "nightly.yaml").write_text("job: augment\n")  # as the README shows one
    write_configurations(page, tmp_path)
    points = {
        "pairweave.aligners": {"diagonal": "a_module:ALIGNER"},
        "pairweave.tokenizers": {"characters": "a_module:TOKENIZER"},
        "pairweave.scorers": {"lengths": "a_module:SCORER"},
        "pairweave.formats": {"blocks": "a_module:FORMAT"},
    }
    plugins.use(monkeypatch, plugins.write_package(tmp_path / "site", points=points))
    for block, command in pages.own_commands(page):
        try:
            parse(pages.words(command)[1:], monkeypatch)
        except Exception as error:
            raise AssertionError(f"{block.place}: {command}: {error}") from error


@pytest.mark.parametrize("page", OWN)
def test_yaml_and_python_can_be_read(page):
    import yaml

    for block in pages.blocks(page):
        if block.language == "python":
            compile(block.text, block.place, "exec")
        if block.language == "yaml":
            assert yaml.safe_load(block.text) is not None, block.place


def test_extras_that_are_installed_exist():
    project = tomllib.loads((pages.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"].keys()
    named = {
        name
        for page in pages.PAGES
        for group in re.findall(r"pairweave\[([a-z,]+)\]", page.read_text(encoding="utf-8"))
        for name in group.split(",")
    }
    assert {"neural", "refresh", "gcp"} <= named <= extras


def test_most_commands_run_here():
    every = [command for page in pages.PAGES for _, command in pages.own_commands(page)]
    here = [command for command in every if not any(mark in command for mark in ELSEWHERE)]
    assert len(every) > 50
    assert len(here) > 0.6 * len(every)
    assert all(any(mark in command for command in every) for mark in ELSEWHERE)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    directory = tmp_path_factory.mktemp("documented")
    documented.write_inputs(directory)
    return directory


@pytest.mark.slow
@pytest.mark.parametrize("page", RUNNING)
def test_commands_run(page, inputs, tmp_path, monkeypatch):
    directory = tmp_path / "work"
    shutil.copytree(inputs, directory)
    monkeypatch.chdir(directory)
    for name in documented.RUNS & {word.rstrip("/") for word in written_by(page)}:
        shutil.rmtree(directory / name)
    names: dict[str, object] = {}
    write_configurations(page, directory)
    for block in pages.blocks(page):
        if block.language == "python" and "torch" not in block.text:
            exec(compile(block.text, block.place, "exec"), names)
        for command in pages.commands(block):
            if not any(mark in command for mark in ELSEWHERE):
                run_here(block, command, directory)


def written_by(page):
    """Return the output directories that the commands of a page name."""
    result = [pages.words(command) for _, command in pages.own_commands(page)]
    return {
        words[position + 1]
        for words in result
        for position, word in enumerate(words[:-1])
        if word == "--output"
    }


def run_here(block, command, directory):
    """Run a command, if it is one of pairweave."""
    first, *words = pages.words(command)
    if first != "pairweave":
        return
    start = runs.run if words[0] == "stream" else runs.run_here  # it writes bytes
    if words[0] in cli.JOBS and "--workers" not in words:
        words += ["--workers", "1"]  # no byte depends on it, and a start costs seconds
    try:
        status, out, errors = start(*words, cwd=directory)
    except SystemExit as left:  # --help
        status, out, errors = left.code, "", ""
    assert status == 0, f"{block.place}: {command}\n{errors[-3000:]}"
    assert "Traceback" not in errors
    target = re.search(r" > (\S+)", command)
    if target:
        (directory / target[1]).write_text(out, encoding="utf-8")
