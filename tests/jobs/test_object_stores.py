"""Paths in object stores where the extra that reads them is not installed."""

import gzip
import sys

import pytest

from pairweave.transforms.storage import object_stores
from tests.makers import runs, stores

WITHOUT = {
    "az": ("azure.storage.blob", "pairweave[azure]"),
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
    ("evaluate", "links", "{s}/a", "{s}/b"),
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


@pytest.mark.parametrize("scheme", ["foo", "http", "hdfs"])
def test_a_path_of_another_kind_is_refused_in_a_line(pairs, scheme):
    line = refused(pairs, ("report", "{s}/run"), f"{scheme}://host")
    expected = "apache-beam[hadoop]" if scheme == "hdfs" else "begins with gs://, s3:// or az://"
    assert expected in line


@pytest.mark.slow
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


@pytest.mark.slow
def test_commands_on_files_of_links_read_them_from_a_store():
    with stores.running("s3") as store:
        object_stores.use_beam_flags([])
        store.put("forward", b"0-0 1-1\n")
        store.put("reverse.gz", gzip.compress(b"0-0 1-2\n"))
        words = ("s3://bucket/forward", "s3://bucket/reverse.gz")
        status, out, _ = runs.run("symmetrize", *words, "--heuristic", "intersection")
        assert (status, out) == (0, "0-0\n")
        status, _, errors = runs.run("symmetrize", words[0], "s3://bucket/absent")
        assert status == 2
        assert "s3://bucket/absent: no such file or directory in this store" in errors
    object_stores.use_beam_flags([])


def test_doctor_refuses_a_path_on_a_disk_as_a_store():
    status, _, errors = runs.run_here("doctor", "--stores", "corpora")
    assert status == 2
    assert "--stores corpora: is not the URI of a store" in errors
