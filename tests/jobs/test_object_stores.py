"""Paths in object stores where the extra that reads them is not installed."""

import sys

import pytest

from pairweave.transforms.storage import object_stores
from tests.makers import runs, stores

WITHOUT = {
    "gs": ("google.cloud.storage", "pairweave[gcp]"),
    "s3": ("boto3", "pairweave[aws]"),
}
PAIRS = ("--source_input", "a.en", "--target_input", "a.de")
LANGS = ("--source_lang", "en", "--target_lang", "de")

# Each names one path of the store {s}.
NEEDING_THE_EXTRA = [
    ("augment", "--source_input", "{s}/a.en", "--target_input", "{s}/a.de", *LANGS, "--output=o"),
    ("augment", "--input", "{s}/*.tsv", *LANGS, "--output", "o"),
    ("augment", *PAIRS, *LANGS, "--output", "{s}/out"),
    ("augment", *PAIRS, *LANGS, "--output", "{s}/out", "--plan_only"),
    ("augment", *PAIRS, *LANGS, "--output", "o", "--model", "{s}/model"),
    ("augment", *PAIRS, *LANGS, "--output", "o", "--tag_profile", "{s}/profile.json"),
    ("augment", "--config", "{s}/job.yaml", "--output", "o"),
    ("align", *PAIRS, *LANGS, "--output", "o", "--tokens", "sentencepiece:{s}/m.model"),
    ("align", *PAIRS, *LANGS, "--output", "o", "--exclude", "{s}/dev.en"),
    ("align", *PAIRS, *LANGS, "--output", "o", "--pharaoh", "{s}/links"),
    ("fit", *PAIRS, *LANGS, "--output", "{s}/model"),
    ("export", "{s}/run", "--format", "tsv", "--output", "o"),
    ("report", "{s}/run"),
    ("preview", "{s}/run"),
    ("evaluate", "tags", "{s}/a", "{s}/b"),
    ("evaluate", "suggestions", "--data", "{s}/run", "--golden", "g"),
]
ON_A_DISK_ONLY = [
    ("symmetrize", "{s}/a", "{s}/b"),
    ("phrases", "{s}/a"),
    ("evaluate", "links", "{s}/a", "{s}/b"),
    ("finetune", *PAIRS, *LANGS, "--model", "{s}/encoder", "--output", "o"),
]


@pytest.fixture
def pairs(tmp_path):
    (tmp_path / "a.en").write_text("a b c\n")
    (tmp_path / "a.de").write_text("d e f\n")
    return tmp_path


@pytest.fixture(params=sorted(WITHOUT))
def store(request, monkeypatch):
    """Make the package that a store needs fail to be imported; return URI and extra."""
    module, extra = WITHOUT[request.param]
    monkeypatch.setitem(sys.modules, module, None)
    return f"{request.param}://bucket", extra


def refused(pairs, arguments, uri, run=runs.run_here):
    """Run a command that is refused in one line before anything is written; return the line."""
    filled = [word.format(s=uri) for word in arguments]
    status, _, errors = run(*filled, cwd=pairs)
    (line,) = errors.splitlines()
    assert status == 2, line
    assert f"{uri}/" in line
    assert sorted(path.name for path in pairs.iterdir()) == ["a.de", "a.en"]
    return line


@pytest.mark.parametrize("arguments", NEEDING_THE_EXTRA, ids=lambda words: " ".join(words)[:60])
def test_a_path_in_a_store_names_the_extra_that_is_missing(pairs, store, arguments):
    uri, extra = store
    line = refused(pairs, arguments, uri)
    assert line.endswith(f"needs packages that are not installed: pip install '{extra}'")


@pytest.mark.parametrize("arguments", ON_A_DISK_ONLY, ids=lambda words: words[0])
def test_what_reads_a_disk_alone_names_no_extra(pairs, arguments):
    if arguments[0] == "finetune":
        pytest.importorskip("torch", reason="needs the extra `neural`")
    line = refused(pairs, arguments, "s3://bucket", runs.run)
    assert "can only be read from a disk; copy it there" in line


@pytest.mark.parametrize("scheme", ["foo", "http", "hdfs"])
def test_a_path_of_another_kind_is_refused_in_a_line(pairs, scheme):
    line = refused(pairs, ("report", "{s}/run"), f"{scheme}://host")
    expected = "apache-beam[hadoop]" if scheme == "hdfs" else "begins with gs:// or s3://"
    assert expected in line


@pytest.mark.parametrize("scheme", sorted(stores.KINDS))
def test_doctor_tells_which_stores_are_reachable(scheme):
    with stores.running(scheme):
        good, bad = f"{scheme}://{stores.BUCKET}/corpora", f"{scheme}://no-such-bucket"
        object_stores.use_beam_flags([])
        status, out, _ = runs.run_here("doctor", "--stores", good)
        assert f"{good}: reachable" in out
        assert status == 0
        status, out, _ = runs.run_here("doctor", "--stores", good, bad)
        assert status == 1
        assert f"  {bad}: " in out
        assert f"{bad}: reachable" not in out
    object_stores.use_beam_flags([])


def test_doctor_refuses_a_path_on_a_disk_as_a_store():
    status, _, errors = runs.run_here("doctor", "--stores", "corpora")
    assert status == 2
    assert "--stores corpora: is no URI" in errors
