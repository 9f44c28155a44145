"""The image, the Flex Template and the README of Dataflow say what the code does."""

import importlib.util
import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from pairweave.pipelines.command_line import beam_flags, flags
from pairweave.pipelines.command_line.command_table import COMMANDS
from pairweave.pipelines.commands import status
from pairweave.pipelines.engines.dataflow import checks
from pairweave.pipelines.engines.engine_flags import given_options

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "deploy" / "dataflow"


def load(name):
    """Import a program of the folder."""
    spec = importlib.util.spec_from_file_location(f"dataflow_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


template = load("template_metadata")
main = load("template_main")
first_seconds = load("first_seconds")
JOBS = template.jobs()
OF_LAUNCHER = {
    *("engine", "wait", "workers", "attempts", "memory", "plan_only"),
    *("pharaoh", "scores", "beads", "preview", "corpora"),
}


def test_every_job_with_a_graph_has_a_template():
    assert {"align", "augment", "suggest", "filter", "fit", "bitext"} <= JOBS.keys()


@pytest.mark.parametrize("job", JOBS)
def test_every_parameter_is_an_option_and_every_option_a_parameter(job):
    actual = template.metadata(job, JOBS[job])
    names = [each["name"] for each in actual["parameters"]]
    assert len(set(names)) == len(names)
    assert set(names) == JOBS[job].model_fields.keys() - OF_LAUNCHER | {"job", "config"}
    for each in actual["parameters"][1:-1]:
        field = JOBS[job].model_fields[each["name"]]
        assert each.get("isOptional", False) is not field.is_required()
        assert each["helpText"] == field.description


@pytest.mark.parametrize("job", JOBS)
def test_the_service_can_read_the_metadata(job):
    templates = pytest.importorskip("google.cloud.dataflow_v1beta3.types.templates")
    from google.protobuf import json_format

    actual = template.metadata(job, JOBS[job])
    message = templates.TemplateMetadata.pb()()
    json_format.ParseDict(actual, message)
    assert len(message.parameters) == len(actual["parameters"])
    spec = {"image": "i:1", "metadata": actual, "sdkInfo": {"language": "PYTHON"}}
    json_format.ParseDict(spec, templates.ContainerSpec.pb()())
    with pytest.raises(json_format.ParseError):
        json_format.ParseDict({**actual, "paramters": []}, templates.TemplateMetadata.pb()())


@pytest.mark.parametrize("job", JOBS)
def test_defaults_pass_the_expressions_of_their_parameters(job):
    for each in template.metadata(job, JOBS[job])["parameters"][1:-1]:
        default = JOBS[job].model_fields[each["name"]].default
        for text in each.get("regexes", ()):
            expression = re.compile(text)
            if isinstance(default, bool | int | float | str) and default != "":
                shown = str(default).lower() if isinstance(default, bool) else str(default)
                assert expression.search(shown), (each["name"], default)


def test_a_launch_of_the_template_is_a_command_that_the_job_takes():
    words = main.command(
        [
            *("--job=augment", "--source_lang=en", "--target_lang=de", "--output=gs://bucket/out"),
            *("--input=gs://bucket/in/*.tsv", "--mix=0.5", "--project=a-project"),
            *("--region=europe-west4", "--temp_location=gs://bucket/temp", "--job_name=augment-1"),
            "--sdk_container_image=europe-docker.pkg.dev/p/r/pairweave:1",
        ]
    )
    options, extra = flags.parse(JOBS["augment"], "pairweave", "", words[1:], beam=True)
    assert (options.engine, options.wait, options.input) == (
        "dataflow",
        False,
        ("gs://bucket/in/*.tsv",),
    )
    checks.check_flags(given_options(extra))
    with pytest.raises(SystemExit, match="--job=NAME is missing"):
        main.command(["--output=gs://bucket/out"])


def test_metadata_is_written_for_each_job(tmp_path):
    template.write(tmp_path)
    assert {path.stem for path in tmp_path.iterdir()} == JOBS.keys()
    assert json.loads((tmp_path / "fit.json").read_text())["name"] == "pairweave fit"


def instructions():
    """Return the instructions of the Dockerfile, with their words."""
    text = (FOLDER / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return [(first, rest) for first, *rest in lines if first.isupper()]


def test_the_image_copies_files_that_exist():
    copied = [
        word
        for name, words in instructions()
        if name == "COPY" and not words[0].startswith("--from")
        for word in words[:-1]
    ]
    assert "deploy/dataflow/template_main.py" in copied
    ignored = (FOLDER / "Dockerfile.dockerignore").read_text().splitlines()
    for word in copied:
        assert (ROOT / word).exists(), word
        assert any(f"!{word}".startswith(line) for line in ignored if line.startswith("!")), word


def test_the_image_has_the_beam_of_the_launcher():
    (beam,) = [words[0] for name, words in instructions() if words[0].startswith("BEAM=")]
    locked = re.search(r"^apache-beam==(\S+) ", (ROOT / "requirements.lock").read_text(), re.M)[1]
    assert beam == f"BEAM={locked}"
    bases = [words[0] for name, words in instructions() if name == "FROM"]
    assert not [base for base in bases if base.endswith(":latest")]


def test_the_template_starts_a_program_that_the_image_has():
    text = (FOLDER / "Dockerfile").read_text()
    program = re.search(r"FLEX_TEMPLATE_PYTHON_PY_FILE=(\S+)", text)[1]
    assert (FOLDER / Path(program).name).is_file()
    assert f"{Path(program).parent}/\n" in text


def commands():
    """Return the pairweave commands of the README, with example values of its variables."""
    text = (FOLDER / "README.md").read_text()
    values = {"PROJECT": "a-project", "REGION": "europe-west4", "BUCKET": "gs://a-bucket"}
    values |= {"VERSION": "0.1.0", "IMAGE": "europe-west4-docker.pkg.dev/a-project/images/p"}
    result = []
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        whole = block.replace("\\\n", " ")
        for name, value in values.items():
            whole = whole.replace(f"${name}", value)
        result += [
            shlex.split(line) for line in whole.splitlines() if line.startswith("pairweave ")
        ]
    return result


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_the_commands_of_the_readme_are_valid(words):
    _, job, *rest = words
    assert job in COMMANDS
    model = JOBS[job] if job in JOBS else status.main.model(job)
    options, extra = flags.parse(model, f"pairweave {job}", "", rest, beam=True)
    if job in JOBS:
        assert options.engine == "dataflow"
        checks.check_flags(given_options(extra))
        checks.places.check_reachable(options)


def test_the_options_that_the_readme_names_exist():
    text = (FOLDER / "README.md").read_text()
    table = re.findall(r"^\| (`--.*?) \|", text, re.MULTILINE)
    named = {name for row in table for name in re.findall(r"`(--[a-z_]+)", row)}
    assert len(named) > 15
    known = beam_flags.actions().keys() | {
        f"--{name}" for job in JOBS.values() for name in job.model_fields
    }
    assert named <= known


def test_the_first_seconds_tell_when_a_process_compiled_and_wrote():
    cold = first_seconds.Seen(1.5, [(1.0, False), (2.5, True), (4.5, True)], [5.5, 5.7, 8.0])
    warm = first_seconds.Seen(1.5, [(1.0, False)], [2.5])
    assert first_seconds.table(cold, warm).splitlines()[2:] == [
        "| 1 to 2 | Python starts, imports | Python starts, imports |",
        "| 3 to 5 | compiles 2 kernels | 1 shards written |",
        "| 6 to 7 | 2 shards written | 1 shards written |",
        "| 8 to 60 | 3 shards written | 1 shards written |",
        "| first shard after | 5.5 s | 2.5 s |",
    ]
