"""Whole ablations: two arms trained, killed in the middle, and resumed."""

import hashlib
import json
import shutil
import time

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("ctranslate2")

from pairweave.pipelines.ablation.ablation_files import read_packed
from pairweave.transforms.links.attention import Attention
from tests.makers import encoders, runs
from tests.makers.ablations import (
    SIZE,
    suggestion_configuration,
    write_configuration,
    write_pairs,
)

pytestmark = pytest.mark.slow


def write(directory, **changed):
    """Write a configuration of two arms on a few hundred segments, of which one is projected."""
    directory.mkdir()
    train = write_pairs(directory, "train", range(1_000, 1_300))
    words = write_pairs(directory, "words", range(40, 45), tagged=False)
    texts = (directory / "train.en").read_text() + (directory / "train.de").read_text()
    encoders.write_bert(directory / "encoder", texts.splitlines(), layers=2)
    return write_configuration(
        directory,
        size={**SIZE, "steps": 60},
        seeds=[1],
        start={"data": [{**train, "tags": "strip"}], "steps": 60},
        arms={
            "plain": {"data": [{**train, "tags": "strip"}], "project": {}},
            "own": {"data": [train], "whitespace_shift": True},
            "attended": {
                "data": [{**train, "tags": "strip"}],
                "project": {"aligner": "attention"},
            },
            "encoded": {
                "data": [{**train, "tags": "strip"}],
                "project": {"aligner": f"encoder:{directory / 'encoder'}:layer=1"},
            },
        },
        attention={"words": {side: words[side] for side in ("source", "target")}},
        dev=write_pairs(directory, "dev", range(3_000, 3_010)),
        **changed,
    )


def units_of(output):
    """Return what units hold that does not depend on the run."""
    result = {}
    for path in sorted((output / "units").iterdir()):
        unit = read_packed(path)
        unit.pop("run")
        result[path.name] = unit
    return result


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    directory = tmp_path_factory.mktemp("ablate") / "files"
    config = write(directory)
    runs.run_well_here("ablate", "--config", config, "--output", directory / "made")
    return config, directory / "made"


def kill_at(checkpoint, *words):
    """Start a command and kill it when a checkpoint is there."""
    process = runs.start(*words)
    end = time.monotonic() + 300
    while not checkpoint.exists() and process.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.01)
    runs.kill_group(process)
    process.communicate()


def test_units_that_were_killed_and_resumed_equal_those_that_were_not(undisturbed, tmp_path):
    config, whole = undisturbed
    output = tmp_path / "made"
    words = ("ablate", "--config", config, "--output", output, "--only")
    kill_at(output / "start" / "checkpoint.safetensors", *words, "own/1")
    assert not (output / "start" / "weights.safetensors").exists()
    for arm in ("own", "plain"):
        kill_at(output / "work" / f"{arm}-1" / "checkpoint.safetensors", *words, f"{arm}/1")
        assert not (output / "units" / f"{arm}-1.json.gz").exists()
        runs.run_well_here(*words, f"{arm}/1")
        assert read_packed(output / "units" / f"{arm}-1.json.gz")["run"]["resumed_at"] > 0
    runs.run_well_here(*words, "attended/1", "encoded/1")
    assert units_of(output) == units_of(whole)
    assert (output / "results.jsonl").read_bytes() == (whole / "results.jsonl").read_bytes()


def test_a_model_learns_and_its_tags_are_measured(undisturbed):
    _, whole = undisturbed
    units = units_of(whole)
    assert set(units) == {f"{arm}-1.json.gz" for arm in ("attended", "encoded", "own", "plain")}
    for unit in units.values():
        train, dev = unit["losses"]["train"], unit["losses"]["dev"]
        assert len(train) == len(dev) == 2
        assert dev[1] < dev[0]
        assert len(unit["translations"]["help"]) == 10
    weights = (whole / "start" / "weights.safetensors").read_bytes()
    assert {unit["start_weights"] for unit in units.values()} == {
        hashlib.sha256(weights).hexdigest()
    }
    rows = [json.loads(line) for line in (whole / "results.jsonl").read_text().splitlines()]
    match = {row["arm"]: row["value"] for row in rows if row["metric"] == "xml_match"}
    for arm in ("plain", "attended", "encoded"):
        assert match[arm] == 100  # each tag of the source is put back exactly once
    same, *others = (units[f"{arm}-1.json.gz"] for arm in ("plain", "attended", "encoded"))
    assert all(other["losses"] == same["losses"] for other in others)
    assert [other["aligner"] is None for other in others] == [True, False]


def test_an_encoder_that_has_changed_is_refused(undisturbed, tmp_path):
    config, whole = undisturbed
    made = shutil.copytree(whole, tmp_path / "made")
    (made / "units" / "encoded-1.json.gz").unlink()
    about = made / "arms" / "encoded" / "about.json"
    text = about.read_text()
    about.write_text(text.replace(json.loads(text)["aligner"], "0" * 64))
    with runs.start("ablate", "--config", config, "--output", made) as process:
        _, errors = process.communicate()
    assert process.returncode == 2
    assert f"encoder:{config.parent / 'encoder'}:layer=1: is not the aligner that was" in errors


def test_the_attention_of_each_model_is_written_for_evaluate_aligners(undisturbed):
    config, whole = undisturbed
    lines = [(config.parent / f"words.{side}").read_text().splitlines() for side in ("en", "de")]
    (config.parent / "words.txt").write_text(
        "".join(f"{one} ||| {other}\n" for one, other in zip(*lines, strict=True))
    )
    (config.parent / "gold").write_text("1-1 2-2 3-3 4-4\n" * 5)
    files = [whole / "attention" / f"{arm}-1" / "words.npz" for arm in ("own", "plain", "attended")]
    shapes = [Attention(file).layers_and_heads() for file in files]
    assert shapes == [(1, 2)] * 3
    assert files[1].read_bytes() == files[2].read_bytes() != files[0].read_bytes()
    pieces = f"pieces={whole / 'vocabulary.spm'}"
    said = runs.run_well_here(
        *("evaluate", "aligners", "--pairs", config.parent / "words.txt"),
        *("--gold", config.parent / "gold", "--one_based", "true"),
        *("--aligners", f"attention:{files[0]}:layer=all:method=all:{pieces}"),
    )
    measured = json.loads(said.splitlines()[-1])["aligners"]
    names = [row["aligner"].split(":layer=")[1].split(":pieces")[0] for row in measured]
    assert names == ["0:method=naive", "0:method=shift"]
    assert all(row["links"] > 0 for row in measured)


def test_suggestions_of_two_stages_that_were_killed_equal_those_that_were_not(tmp_path):
    config = write_configuration(tmp_path, suggestion_configuration, seeds=[1])
    whole, output = tmp_path / "whole", tmp_path / "made"
    said = runs.run_well_here("ablate", "--config", config, "--output", whole)
    assert "2 of 2 units finished, 6 results" in said
    words = ("ablate", "--config", config, "--output", output, "--only")
    kill_at(output / "work" / "made-1" / "checkpoint.safetensors", *words, "made/1")
    assert not (output / "units").exists()
    runs.run_well_here(*words, "made/1")
    assert read_packed(output / "units" / "made-1.json.gz")["run"]["resumed_at"] > 0
    runs.run_well_here(*words, "golden/1")
    assert units_of(output) == units_of(whole)
    assert (output / "results.jsonl").read_bytes() == (whole / "results.jsonl").read_bytes()


def test_arms_of_jobs_and_streams_are_made_first(tmp_path):
    directory = tmp_path / "files"
    config = write(directory)
    text = config.read_text(encoding="utf-8")
    files = {"source_input": f"{directory}/train.en", "target_input": f"{directory}/train.de"}
    job = {"options": {**files, "inline_tags": "strip"}}
    arms = {
        "plain": {"data": [{**job, "job": "augment"}]},
        "stream": {"data": [{**job, "job": "align", "stream": {"epochs": 2}}]},
    }
    lines = text.splitlines()
    first = lines.index("arms:")
    last = next(at for at, line in enumerate(lines) if at > first and not line.startswith(" "))
    config.write_text("\n".join([*lines[:first], f"arms: {json.dumps(arms)}", *lines[last:]]))
    output = tmp_path / "made"
    said = runs.run_well_here("ablate", "--config", config, "--output", output)
    assert "2 of 2 units finished" in said
    abouts = {arm: json.loads((output / "arms" / arm / "about.json").read_bytes()) for arm in arms}
    assert len(abouts["plain"]["passes"]) == 1
    assert len(abouts["stream"]["passes"]) == 2
    assert len(list((output / "runs").iterdir())) == 2
