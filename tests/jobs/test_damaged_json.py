"""JSON files of a run with each field damaged in turn: one line that names it, no traceback."""

import json
import re
import shutil
from collections import Counter

import pytest

from pairweave.pipelines.commands.finished import report_command
from pairweave.pipelines.run import run_summary
from pairweave.pipelines.streaming.stream_options import StreamCommandOptions
from pairweave.pipelines.streaming.streamed_runs import open_stream
from pairweave.transforms.commit import claim, leftovers, run_state
from pairweave.transforms.commit.checking import read_sums
from pairweave.transforms.commit.commit import commit_run
from pairweave.transforms.errors import ClaimedError, ConfigError, PairweaveError
from pairweave.transforms.export.export import export
from pairweave.transforms.formats import registry
from pairweave.transforms.output import receipts, run_files
from pairweave.transforms.output.documents.manifest_model import Manifest, read_manifest
from pairweave.transforms.output.documents.plan_model import PlanDocument, read_plan
from pairweave.transforms.output.documents.receipt_models import ShardReceipt, UnitReceipt
from pairweave.transforms.output.documents.run_note_model import RunNote, read_run_note
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.planning.earlier_run import input_of_run
from pairweave.transforms.report import run_comparison, run_samples
from pairweave.transforms.storage.json_files import parse_model, read_model
from tests.makers import damaged_json, finished_runs

NOTE = finished_runs.run_note(
    steps={"Read/Read": {"seconds": 0.5, "rows": 10, "rows_per_second": 20.0}},
    dataflow_job={"id": "1", "project": "p", "region": "r"},
)
CONFIGURATION = {"seed": 1, "mix": 1.0, "variants": 1, "keep_links": True, "exclude": []}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a finished run of `align` and one of `augment`."""
    base = tmp_path_factory.mktemp("whole")
    aligned = str(base / "align")
    finished_runs.write_run(
        aligned,
        finished_runs.aligned_data,
        {"pairs": 4, "links": 4},
        job="align",
        configuration=CONFIGURATION,
    )
    finished_runs.write_run(str(base / "augment"), configuration=CONFIGURATION)
    for name in ("align", "augment"):
        (base / name / "_run.json").write_text(json.dumps(NOTE))
    return base


def compare(run):
    both = [FinishedRun.open(run, counts=True, checked=False)] * 2
    manifests = [each.manifest for each in both]
    pairs = run_comparison.compare_pairs(both)
    sums = [read_sums(run, result) for result in manifests]
    run_comparison.render(["a", "b"], manifests, pairs, [each.histograms for each in sums])


def preview(run):
    run_samples.drawn_kept(FinishedRun.open(run, checked=False), 3, 1)


def status(run):
    run_state.read_state(run).lines()


def export_rows(run):
    how = registry.row_export_of("jsonl", run, "augment")
    shutil.rmtree(f"{run}.export", ignore_errors=True)
    export(FinishedRun.open(run), how, f"{run}.export")


def stream(run):
    open_stream(StreamCommandOptions(runs=(run,), epochs=1), links=False)


def read_on(run):
    input_of_run(run, None, None, {})


def collect(run):
    leftovers.find_leftovers(run, now=1e12, grace=0, unfinished=True)


def end(run):
    run_summary.say_where(run)


def resume(run):
    plan = run_files.read_json(f"{run}/_plan.json")
    receipts.finished_shards(run, run_files.plan_digest(plan), 2)
    receipts.unread_units(
        run, run_files.plan_digest(plan), len(read_plan(f"{run}/_plan.json")["units"])
    )


def commit(run):
    commit_run(run, {})


COMMANDS = (
    ("_manifest.json", "augment", report_command.render),
    ("_manifest.json", "augment", compare),
    ("_manifest.json", "augment", preview),
    ("_manifest.json", "augment", export_rows),
    ("_manifest.json", "augment", end),
    ("_manifest.json", "augment", collect),
    ("_manifest.json", "augment", stream),
    ("_manifest.json", "align", stream),
    ("_manifest.json", "align", read_on),
    ("_plan.json", "augment", status),
    ("_plan.json", "augment", stream),
    ("_plan.json", "augment", collect),
    ("_plan.json", "augment", resume),
    ("_plan.json", "augment", commit),
    ("_run.json", "augment", report_command.render),
    ("_run.json", "augment", status),
    ("_receipts/shard-00000-of-00002.json", "augment", report_command.render),
    ("_receipts/shard-00000-of-00002.json", "augment", compare),
    ("_receipts/shard-00000-of-00002.json", "augment", status),
    ("_receipts/shard-00000-of-00002.json", "augment", stream),
    ("_receipts/shard-00000-of-00002.json", "augment", resume),
    ("_receipts/shard-00000-of-00002.json", "augment", commit),
    ("_receipts/unit-00000.json", "augment", status),
    ("_receipts/unit-00000.json", "augment", resume),
    ("_receipts/unit-00000.json", "augment", commit),
)

READERS = {
    "_manifest.json": read_manifest,
    "_plan.json": read_plan,
    "_run.json": read_run_note,
    "_receipts/shard-00000-of-00002.json": lambda path: read_model(path, ShardReceipt),
    "_receipts/unit-00000.json": lambda path: read_model(path, UnitReceipt),
}
FREE = ("configuration.", "units", "unit_reasons", "tag_shapes.")
"""Fields whose content is checked where it is used."""

OPTIONAL = {"format", "histograms", "tag_shapes", "unit_reasons", "characters"}
OPTIONAL |= {"steps", "dataflow_job"}


def all_damaged(path, deepest=4):
    """Yield what is wrong and the bytes, for every damage to a file."""
    document = json.loads(path.read_bytes())
    yield from damaged_json.texts(document)
    for what, result in damaged_json.damaged(document, deepest):
        yield what, json.dumps(result).encode()


def problem_with(call, what):
    """Return what is wrong with the way in which damage is refused; None if nothing is."""
    try:
        call()
    except PairweaveError as error:
        said = str(error)
        fine = "\n" not in said and re.search(r"_[a-z]+\.json|(shard|unit)-[0-9]+|/run: ", said)
        return None if fine else f"{what}: {said}"
    except Exception as error:  # noqa: BLE001
        return f"{what}: {error!r}"
    return None


MODELS = {
    "_manifest.json": Manifest,
    "_plan.json": PlanDocument,
    "_run.json": RunNote,
    "_receipts/shard-00000-of-00002.json": ShardReceipt,
    "_receipts/unit-00000.json": UnitReceipt,
}


def chosen_damage(path, name, *, settings):
    """Return one damage that the reader of a file refuses, and those it does not, some a field.

    All commands read a file in the same place. What is not refused there, such as an option, a
    command must notice itself.
    """
    chosen, tried, refused = [], Counter(), 0
    for what, data in all_damaged(path, deepest=3):
        try:
            parse_model(data, "file", MODELS[name])
        except ConfigError:
            refused += 1
            if refused == 1:
                chosen.append((what, data))
            continue
        field = re.split("[ .]", what)[0]
        tried[field] += 1
        if tried[field] <= 2 or (settings and field == "configuration"):
            chosen.append((what, data))
    return chosen


@pytest.mark.parametrize("job", ["align", "augment"])
@pytest.mark.parametrize("name", READERS)
def test_each_field_of_a_wrong_type_is_named(whole, tmp_path, job, name):
    run = shutil.copytree(whole / job, tmp_path / "run")
    path, accepted, refused = run / name, set(), set()
    whole_file = path.read_bytes()
    for what, data in all_damaged(path, 4 if job == "augment" else 2):
        path.write_bytes(data)
        field = what.split(" ")[0].split(".")[0]
        try:
            READERS[name](str(path))
        except ConfigError as error:
            said = str(error)
            refused.add(what)
            assert said.startswith(f"{path}: ")
            assert "\n" not in said
            if " = " in what or "left out" in what:
                assert field in said, what
        else:
            accepted.add(what)
    path.write_bytes(whole_file)
    # Beside what is free: what may be null or left out, an entry of a list or a mapping fewer,
    # and other edges.
    others = {what for what in accepted if not what.startswith(FREE) and ".edges." not in what}
    assert not [what for what in others if not what.endswith(("left out", "= null"))]
    fields = json.loads(whole_file)
    assert {f"{field} left out" for field in fields if field not in OPTIONAL} <= refused


@pytest.mark.parametrize(("name", "job", "command"), COMMANDS)
def test_commands_refuse_what_is_damaged_in_one_line(whole, tmp_path, name, job, command):
    run = shutil.copytree(whole / job, tmp_path / "run")
    if command is commit:
        (run / "_manifest.json").unlink()
    path, actual = run / name, []
    whole_file = path.read_bytes()
    command(str(run))
    if command is commit:
        (run / "_manifest.json").unlink()
    for what, data in chosen_damage(path, name, settings=command is stream):
        path.write_bytes(data)
        actual.append(problem_with(lambda: command(str(run)), what))
    path.write_bytes(whole_file)
    assert [problem for problem in actual if problem] == []


def change(run, **fields):
    path = run / "_manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **fields}))
    return str(path)


INCONSISTENT = {
    "shards": {"shards": 0},
    "rows.kept": {"rows": {"read": 10, "kept": -4, "rejected": 14}},
    "rows": {"rows": {"read": 11, "kept": 4, "rejected": 6}},
    "corpora.*.kept": {"rows": {"read": 11, "kept": 5, "rejected": 6}},
    "rejected": {"rejected": {"length_ratio": 6, "identical": 1}},
    "counts.plain_rows": {"counts": {"plain_rows": -1}},
    "files": {"files": []},
}


@pytest.mark.parametrize("field", INCONSISTENT)
@pytest.mark.parametrize("command", [report_command.render, preview, export_rows, stream])
def test_a_manifest_that_contradicts_itself_is_no_empty_run(whole, tmp_path, field, command):
    run = shutil.copytree(whole / "augment", tmp_path / "run")
    path = change(run, **INCONSISTENT[field])
    with pytest.raises(ConfigError) as refused:
        command(str(run))
    assert str(refused.value).startswith(f"{path}: ")
    assert field.split(".")[0] in str(refused.value) or "part-00000" in str(refused.value)


def test_a_manifest_lists_each_file_once(whole, tmp_path):
    run = shutil.copytree(whole / "align", tmp_path / "run")
    entries = json.loads((run / "_manifest.json").read_bytes())["files"]
    path = change(run, files=[*entries, entries[0]])
    with pytest.raises(ConfigError, match=f"^{re.escape(path)}: files: lists {entries[0]['name']}"):
        preview(str(run))


def test_files_of_rejects_have_as_many_rows_as_were_rejected(whole, tmp_path):
    run = shutil.copytree(whole / "align", tmp_path / "run")
    entries = json.loads((run / "_manifest.json").read_bytes())["files"]
    for entry in entries:
        entry["rows"] = 0 if entry["name"].startswith("rejects/") else entry.get("rows")
    change(run, files=entries)
    with pytest.raises(ConfigError, match="files: expected 6 rows in all in rejects/, found 0"):
        preview(str(run))


def test_corpora_add_up_to_the_rejected_rows(whole, tmp_path):
    run = shutil.copytree(whole / "align", tmp_path / "run")
    corpora = json.loads((run / "_manifest.json").read_bytes())["corpora"]
    corpora["web"]["rejected"] = {}
    change(run, corpora=corpora)
    with pytest.raises(ConfigError, match=r"corpora\.\*\.rejected: expected 6 in all"):
        preview(str(run))


def test_a_histogram_has_one_bar_more_than_edges_which_ascend(whole, tmp_path):
    run = shutil.copytree(whole / "augment", tmp_path / "run")
    histograms = json.loads((run / "_manifest.json").read_bytes())["histograms"]
    for edges, message in ([1, 2], "one bar more than edges"), ([*range(15, -1, -1)], "ascend"):
        change(run, histograms={**histograms, "tags": {**histograms["tags"], "edges": edges}})
        with pytest.raises(ConfigError, match=f"histograms.tags: expected .*{message}"):
            preview(str(run))


def older(run):
    """Make a run's files those of the first format, in which counters had sentences as names."""
    for name in ("_manifest.json", "_plan.json"):
        result = json.loads((run / name).read_bytes())
        result.pop("format")
        result.pop("histograms", None)
        if "counts" in result:
            result["counts"] = {"plain rows": 4, "tagged rows with 1 tags": 4}
        (run / name).write_text(json.dumps(result))


@pytest.mark.parametrize("command", [report_command.render, compare, stream])
def test_counters_of_an_earlier_format_are_not_read(whole, tmp_path, command):
    run = shutil.copytree(whole / "augment", tmp_path / "run")
    older(run)
    with pytest.raises(ConfigError) as refused:
        command(str(run))
    assert str(refused.value).startswith(
        f"{run}/_manifest.json: format: expected 2, found 1: an earlier pairweave ("
    )
    assert "run the job again with another --output, or use that version" in str(refused.value)


@pytest.mark.parametrize("job", ["align", "augment"])
def test_rows_of_an_earlier_format_are_still_read(whole, tmp_path, job):
    run = shutil.copytree(whole / job, tmp_path / "run")
    older(run)
    preview(str(run))
    if job == "augment":
        export_rows(str(run))
    else:
        read_on(str(run))
        stream(str(run))
    collect(str(run))
    status(str(run))


def test_a_directory_that_an_earlier_version_began_is_refused(whole, tmp_path):
    run = shutil.copytree(whole / "augment", tmp_path / "run")
    plan = json.loads((run / "_plan.json").read_bytes())
    claim.check_claim(str(run), plan)
    older(run)
    with pytest.raises(ClaimedError) as refused:
        claim.check_claim(str(run), plan)
    assert "pairweave 1.2.3 began this run, and writes its files in another form" in str(
        refused.value
    )
    assert "give another --output, or finish it with that version" in str(refused.value)
