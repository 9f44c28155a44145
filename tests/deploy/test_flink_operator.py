"""The manifests for the Flink Kubernetes Operator against the schema that the operator uses."""

import copy
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
import yaml

FOLDER = Path(__file__).parents[2] / "deploy" / "flink"
OPERATOR = "org.apache.flink:flink-kubernetes-operator-api:1.10.0"
"""Maven Central's copy of the operator's types; in it, the definitions that it gives a cluster."""

DEFINITION = "META-INF/fabric8/flinkdeployments.flink.apache.org-v1.yml"
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
NUMBERS = {"integer": int, "number": (int, float)}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, **NUMBERS}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    """Return the schema of a FlinkDeployment."""
    maven = shutil.which("mvn")
    if maven is None:
        pytest.skip("no mvn on PATH")
    directory = tmp_path_factory.mktemp("operator")
    done = subprocess.run(
        [maven, "-q", "-B", COPY, f"-Dartifact={OPERATOR}", f"-DoutputDirectory={directory}"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"Maven cannot get {OPERATOR}: {done.stdout[-300:]}")
    (jar,) = directory.glob("*.jar")
    with zipfile.ZipFile(jar) as file:
        definition = yaml.safe_load(file.read(DEFINITION))
    (version,) = definition["spec"]["versions"]
    assert version["name"] == "v1beta1"
    return version["schema"]["openAPIV3Schema"]


def problems(value, schema, place=""):
    """Yield what a schema forbids, with unknown keys, as a server does that checks strictly."""
    if schema.get("x-kubernetes-int-or-string"):
        if isinstance(value, bool) or not isinstance(value, int | str):
            yield f"{place}: {value!r} is neither number nor text"
        return
    kind = schema["type"]
    wrong = isinstance(value, bool) and kind != "boolean"
    if wrong or not isinstance(value, TYPES[kind]):
        yield f"{place}: {value!r} is no {kind}"
        return
    if value not in schema.get("enum", [value]):
        yield f"{place}: {value!r} is none of {schema['enum']}"
    if kind == "array":
        for number, item in enumerate(value):
            yield from problems(item, schema["items"], f"{place}[{number}]")
    if kind == "object" and not schema.get("x-kubernetes-preserve-unknown-fields"):
        known, others = schema.get("properties", {}), schema.get("additionalProperties")
        for name, item in value.items():
            inner = known.get(name, others)
            if inner is not None:
                yield from problems(item, inner, f"{place}.{name}")
            elif known:
                yield f"{place}.{name}: unknown"
        yield from (
            f"{place}.{name}: missing" for name in schema.get("required", ()) if name not in value
        )


def checked(manifest, schema):
    """Return the problems of a manifest below its own kind and name, which every object has."""
    own = {"apiVersion", "kind", "metadata"}
    return list(problems({key: manifest[key] for key in manifest.keys() - own}, schema))


@pytest.mark.parametrize("name", ["session.yaml", "application.yaml"])
def test_the_operator_takes_the_manifest(name, schema):
    manifest = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    assert (manifest["apiVersion"], manifest["kind"]) == (
        "flink.apache.org/v1beta1",
        "FlinkDeployment",
    )
    assert checked(manifest, schema) == []


def misspelt(spec):
    spec["taskManager"]["podTemplate"]["spec"]["containers"][1]["comand"] = ["python"]


def unknown_version(spec):
    spec["flinkVersion"] = "v1_12"


def number_for_text(spec):
    spec["flinkConfiguration"]["taskmanager.numberOfTaskSlots"] = 2


def text_for_list(spec):
    spec["taskManager"]["podTemplate"]["spec"]["containers"][1]["args"] = "--port 50000"


WRONG = {
    misspelt: ".spec.taskManager.podTemplate.spec.containers[1].comand: unknown",
    unknown_version: ".spec.flinkVersion: 'v1_12' is none of",
    number_for_text: ".spec.flinkConfiguration.taskmanager.numberOfTaskSlots: 2 is no string",
    text_for_list: ".spec.taskManager.podTemplate.spec.containers[1].args: '--port 50000' is no",
}


@pytest.mark.parametrize("change", WRONG, ids=lambda change: change.__name__)
def test_the_schema_finds_what_is_wrong(change, schema):
    manifest = yaml.safe_load((FOLDER / "session.yaml").read_text(encoding="utf-8"))
    changed = copy.deepcopy(manifest)
    change(changed["spec"])
    (problem,) = checked(changed, schema)
    assert problem.startswith(WRONG[change])
