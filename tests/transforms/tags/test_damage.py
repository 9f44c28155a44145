"""A run repeats its damaged parts and leaves other files alone."""

import json
import shutil

import orjson
import pytest

from pairweave.models.hmm import hmm_reference
from pairweave.transforms.commit.claim import check_claim, claim
from pairweave.transforms.commit.commit import commit_run
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.output import receipts, run_files
from pairweave.transforms.storage import files, hashed_files
from tests.makers import corpora, runs
from tests.transforms.commit.test_manifest import plan, written  # noqa: F401 - a fixture

SIDES = ("--source_input", "corpus.en", "--target_input", "corpus.de")
LANGS = ("--source_lang", "en", "--target_lang", "de")
SMALL = ("--shard_pairs", "150", "--unit_rows", "100", "--workers", "1")
SHARD = "_receipts/shard-00000-of-00001.json"
UNIT = "_receipts/unit-00000.json"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    directory = tmp_path_factory.mktemp("damage")
    corpora.write_corpus(directory, 200)
    for job in ("align", "fit"):
        runs.run_well_here(job, *SIDES, *LANGS, *SMALL, "--output", job, cwd=directory)
    return directory


def again(corpus, job):
    """Repeat a job's command; return its status and the digests of its files."""
    status, _, errors = runs.run_here(job, *SIDES, *LANGS, *SMALL, "--output", job, cwd=corpus)
    return status, errors, runs.tree_digests(corpus / job)


def largest(directory):
    """Return the largest file of a model."""
    model = [path for path in directory.iterdir() if path.is_file() and path.name[0] != "_"]
    return max(model, key=lambda path: path.stat().st_size)


def truncate(path):
    path.write_bytes(path.read_bytes()[:-7])


@pytest.mark.parametrize("damage", [truncate, lambda path: path.unlink()])
@pytest.mark.parametrize("about", [True, False])
def test_a_damaged_model_of_a_run_whose_shards_are_whole_is_fitted_again(corpus, damage, about):
    before = runs.tree_digests(corpus / "align")
    model = corpus / "align" / "models" / "hmm"
    damage(model / "about.json" if about else largest(model))
    assert hmm_reference.find_whole(str(model)) is None
    status, errors, after = again(corpus, "align")
    assert (status, after) == (0, before), errors


def test_a_damaged_model_and_a_lost_shard_are_made_again(corpus):
    before = runs.tree_digests(corpus / "align")
    truncate(largest(corpus / "align" / "models" / "hmm"))
    (corpus / "align" / "data" / "part-00001-of-00002.parquet").unlink()
    status, errors, after = again(corpus, "align")
    assert (status, after) == (0, before), errors


def test_a_fit_makes_a_damaged_model_again_and_lists_nothing_else(corpus):
    before = runs.tree_digests(corpus / "fit")
    truncate(largest(corpus / "fit"))
    (corpus / "fit" / "stray.txt").write_text("mine\n")
    status, errors, after = again(corpus, "fit")
    assert status == 0, errors
    assert after.pop("stray.txt")
    assert after == before
    (corpus / "fit" / "stray.txt").unlink()
    named = json.loads((corpus / "fit" / "about.json").read_text())["files"]
    listed = json.loads((corpus / "fit" / "_manifest.json").read_text())["files"]
    rejects = {f"rejects/part-0000{shard}-of-00002.parquet" for shard in range(2)}
    assert [entry["name"] for entry in listed] == sorted({"about.json", *named, *rejects})


@pytest.mark.parametrize("about", [b"", b"{", b"[]", b"{}", b'{"files": {"../x": "0"}}'])
def test_a_broken_about_of_a_named_model_is_said_in_one_line(corpus, tmp_path, about):
    (tmp_path / "about.json").write_bytes(about)
    with pytest.raises(ConfigError, match=r"about.json: .*fit it again"):
        hmm_reference.read(str(tmp_path))
    assert hmm_reference.find_whole(str(tmp_path)) is None
    arguments = ("align", *SIDES, *LANGS, "--model", tmp_path, "--output", tmp_path / "out")
    status, _, errors = runs.run_here(*arguments, cwd=corpus)
    assert (status, len(errors.strip().splitlines())) == (2, 1)


def test_a_directory_with_a_file_of_the_run_and_no_plan_is_refused(corpus):
    (corpus / "mine").mkdir()
    (corpus / "mine" / "README.md").write_text("mine\n")
    arguments = ("align", *SIDES, *LANGS, *SMALL, "--output", "mine")
    status, _, errors = runs.run_here(*arguments, cwd=corpus)
    assert status == 2
    assert "already has README.md" in errors
    assert "empty directory" in errors
    assert [path.name for path in (corpus / "mine").iterdir()] == ["README.md"]


@pytest.mark.parametrize(
    "name",
    [
        "report.html",
        "symbols.txt",
        "_manifest.json",
        "data/part-7.parquet",
        "rejects/x",
        "models/hmm/x",
    ],
)
def test_whatever_the_run_would_write_is_in_the_way(tmp_path, name):
    output = str(tmp_path)
    files.write_bytes(files.join(output, name), b"mine")
    with pytest.raises(ConfigError, match=f"already has {name},"):
        claim(output, plan(models=["models/hmm"]))
    assert not (tmp_path / "_plan.json").exists()


def test_other_files_are_not_in_the_way(tmp_path):
    # A run with a given --model writes none, so that model may lie inside its directory.
    files.write_bytes(str(tmp_path / "models" / "hmm" / "about.json"), b"mine")
    (tmp_path / "notes.txt").write_text("mine\n")
    claim(str(tmp_path), plan())
    claim(str(tmp_path), plan())


def test_a_fit_is_stopped_by_rejects_of_others(tmp_path):
    files.write_bytes(str(tmp_path / "rejects" / "x"), b"mine")
    with pytest.raises(ConfigError, match="already has rejects/x,"):
        claim(str(tmp_path), plan(writes_rows=False))


def test_a_fit_is_stopped_by_a_model_but_not_by_a_readme(tmp_path):
    (tmp_path / "README.md").write_text("mine\n")
    (tmp_path / "about.json").write_text("{}")
    with pytest.raises(ConfigError, match=r"already has about.json"):
        claim(str(tmp_path), plan(writes_rows=False))
    (tmp_path / "about.json").unlink()
    claim(str(tmp_path), plan(writes_rows=False))


@pytest.mark.parametrize("broken", [b"", b'{"job": "al'])
def test_a_plan_that_is_no_json_is_written_again(tmp_path, broken):
    output = str(tmp_path)
    claim(output, plan())
    whole = (tmp_path / "_plan.json").read_bytes()
    (tmp_path / "_plan.json").write_bytes(broken)
    check_claim(output, plan())
    claim(output, plan())
    assert (tmp_path / "_plan.json").read_bytes() == whole
    (tmp_path / "_plan.json").write_bytes(b"[]")
    with pytest.raises(ConfigError, match="expected a JSON object"):
        claim(output, plan())


def change(output, name, **changes):
    """Change keys of a JSON file; None takes one away."""
    path = files.join(output, name)
    value = {**orjson.loads(files.read_bytes(path)), **changes}
    value = {key: item for key, item in value.items() if item is not None}
    files.write_bytes(path, run_files.to_json(value))


@pytest.mark.parametrize(
    "changes",
    [
        *({key: None} for key in ("shard", "rows", "kept", "kept_by_corpus", "rejected")),
        *({key: None} for key in ("units", "counts", "files")),
        {"shard": 1},
        {"rows": 4},
        {"rows": "3"},
        {"kept": True},
        {"kept": 3},
        {"kept_by_corpus": {"c": 1}},
        {"rejected": []},
        {"rejected": [{"rows": 1}]},
        {"units": [[0, 2, 0]]},
        {"units": [[0, 1, 2]]},
        {"units": [[0, 3]]},
        {"counts": []},
        {"files": []},
        {"files": [7, 8]},
    ],
)
def test_a_damaged_shard_receipt_counts_for_nothing(written, changes):  # noqa: F811
    digest = run_files.plan_digest(plan())
    assert receipts.finished_shards(written, digest, 1) == {0}
    change(written, SHARD, **changes)
    assert receipts.finished_shards(written, digest, 1) == frozenset()
    with pytest.raises(WorkerError, match="no usable receipt"):
        commit_run(written, {})


@pytest.mark.parametrize("changes", [{"rows": None}, {"rows": 2}, {"rows": "3"}, {"unit": 1}])
def test_a_damaged_unit_receipt_counts_for_nothing(written, changes):  # noqa: F811
    digest = run_files.plan_digest(plan())
    assert receipts.unread_units(written, digest, 1) == frozenset()
    change(written, UNIT, **changes)
    assert receipts.unread_units(written, digest, 1) == {0}
    with pytest.raises(WorkerError):
        commit_run(written, {})


def test_damaged_receipts_are_made_again(corpus):
    before = runs.tree_digests(corpus / "align")
    output = str(corpus / "align")
    change(output, "_receipts/shard-00000-of-00002.json", units=None)
    change(output, "_receipts/unit-00001.json", rows=7)
    status, errors, after = again(corpus, "align")
    assert (status, after) == (0, before), errors


def test_a_planned_model_that_is_not_whole_is_not_committed(written):  # noqa: F811
    directory = f"{written}/models/hmm"
    document = plan(models=["models/hmm"])
    files.write_bytes(files.join(written, "_plan.json"), run_files.to_json(document))
    for name in (SHARD, UNIT):
        change(written, name, plan=run_files.plan_digest(document))
    with pytest.raises(WorkerError, match=r"models/hmm/about.json: cannot be read"):
        commit_run(written, {})
    about = {"files": {"a": "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"}}
    for name, data in (("about.json", run_files.to_json(about)), ("a", b"b"), ("stray", b"")):
        files.write_bytes(files.join(directory, name), data)
    with pytest.raises(WorkerError, match=r"models/hmm/a: its hash differs"):
        commit_run(written, {})
    files.write_bytes(files.join(directory, "a"), b"a")
    names = [entry["name"] for entry in commit_run(written, {})["files"]]
    assert [name for name in names if "models" in name] == ["models/hmm/a", "models/hmm/about.json"]
    assert list(hashed_files.read(directory)) == ["a", "about.json"]


@pytest.mark.parametrize("key", ["tokens", "format", "aligner"])
def test_a_model_whose_about_lacks_a_key_is_not_used_as_it_lies(corpus, tmp_path, key):
    shutil.copytree(corpus / "fit", tmp_path / "model")
    assert hmm_reference.find_whole(str(tmp_path / "model")) is not None
    path = tmp_path / "model" / "about.json"
    about = json.loads(path.read_text())
    del about[key]
    path.write_text(json.dumps(about))
    assert hmm_reference.find_whole(str(tmp_path / "model")) is None
