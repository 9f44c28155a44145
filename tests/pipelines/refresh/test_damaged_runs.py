"""The plan and manifest of a run inside a table, or of a step, with each field damaged in turn."""

import json
import re
import types
from pathlib import Path

import pytest

from pairweave.pipelines.commands import run_command
from pairweave.pipelines.refresh import assembly, inner_runs, likelihood, table_schemas
from pairweave.pipelines.refresh.chain import inner_notes
from pairweave.pipelines.refresh.inner_runs import InnerRun
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output.documents.manifest_model import Manifest
from pairweave.transforms.output.documents.plan_model import PlanDocument
from pairweave.transforms.storage.json_files import parse_model
from tests.makers import damaged_json, finished_runs

NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
REQUEST = types.SimpleNamespace(keys=())


@pytest.fixture
def inner(tmp_path):
    """Return a finished run as one of a table's."""
    keys = [str(number) for number in range(len(finished_runs.plan()["inputs"]))]
    note = inner_notes.Note.model_validate(
        {
            "settings": {"job": "align", "release": "1.2.3", "options": {}},
            "languages": ["en", "de"],
            "model": None,
            "taken_down": NOTHING,
            "files": [[key, f"{key}.tsv"] for key in keys],
            "known": NOTHING,
            "order": keys,
        }
    )
    made = InnerRun(inner_notes.write(str(tmp_path), note, b"", b""), tuple(keys))
    finished_runs.write_run(
        made.run, finished_runs.aligned_data, {"pairs": 4, "links": 4}, job="align"
    )
    return made


def check_rejected(inner):
    options = types.SimpleNamespace(output=inner.run)
    run_command._check_rejected(types.SimpleNamespace(options=options, job="align", max_rejected=1))


READERS = {
    "counts": inner_runs.manifest_of,
    "columns": lambda inner: table_schemas.columns_of_run(inner.run),
    "likelihood": lambda inner: likelihood._sample(assembly.Source(inner.run, {}, {}), 1),
    "rows": lambda inner: assembly.assemble(assembly.Source(inner.run, {}, {}), None, None),
    "recipe": check_rejected,
}


def refused_damage(path, model):
    """Yield what is wrong and the bytes, of some damage of each field that its model refuses."""
    document = json.loads(path.read_bytes())
    seen = set()
    every = [*damaged_json.texts(document)]
    every += [
        (what, json.dumps(result).encode())
        for what, result in damaged_json.damaged(document, deepest=3)
    ]
    for what, data in every:
        field = what.split(" ")[0]
        if field in seen and "." in field:
            continue
        try:
            parse_model(data, "file", model)
        except ConfigError:
            seen.add(field)
            yield what, data


@pytest.mark.parametrize("reader", READERS)
def test_a_damaged_manifest_is_refused_in_one_line_that_names_it(inner, tmp_path, reader):
    path = next(tmp_path.glob("_runs/*/run/_manifest.json"))
    damage = list(refused_damage(path, Manifest))
    assert len(damage) > 60
    for what, data in damage:
        path.write_bytes(data)
        with pytest.raises(ConfigError) as refused:
            READERS[reader](inner)
        assert re.match(rf"{re.escape(str(path))}: [^\n]+$", str(refused.value)), what


def test_a_damaged_plan_is_refused_in_one_line_that_names_it(inner, tmp_path):
    path = next(tmp_path.glob("_runs/*/run/_plan.json"))
    assert inner_runs.source_of(inner, REQUEST).directory == inner.run
    document = json.loads(path.read_bytes())
    damage = list(refused_damage(path, PlanDocument))
    assert len(damage) > 40
    inputs = document["inputs"]
    other = {"none": [], "one fewer": inputs[:-1], "twice": inputs * 2}
    other["a target first"] = [{**inputs[0], "role": "target"}, *inputs]
    damage += [
        (what, json.dumps({**document, "inputs": actual}).encode())
        for what, actual in other.items()
    ]
    for what, data in damage:
        path.write_bytes(data)
        with pytest.raises(ConfigError) as refused:
            inner_runs.source_of(inner, REQUEST)
        assert re.match(rf"{re.escape(str(path))}: [^\n]+$", str(refused.value)), what


@pytest.mark.parametrize("damage", [b"", b"PAR1", None])
def test_a_damaged_first_shard_is_refused_with_what_to_delete(inner, damage):
    path = Path(inner.run, "data/part-00000-of-00002.parquet")
    path.unlink() if damage is None else path.write_bytes(damage)
    with pytest.raises(
        ConfigError, match=f"^{path}: is missing or differs .* Delete {inner.directory}"
    ):
        table_schemas.columns_of_run(inner.run)
