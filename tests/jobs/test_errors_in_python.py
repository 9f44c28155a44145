"""Errors of `import pairweave` are its own kinds, and name keywords instead of flags."""

import shutil

import pytest

import pairweave
from pairweave.transforms.errors import ClaimedError, ConfigError
from tests.makers import corpora

LANGS = {"source_lang": "en", "target_lang": "de"}
PAIRS = [corpora.sentence(number) for number in range(60)]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return the directory of a run of `align`."""
    directory = tmp_path_factory.mktemp("runs") / "links"
    pairweave.align(PAIRS, output=directory, **LANGS)
    return directory


@pytest.mark.parametrize("call", ["augment", "stream"])
@pytest.mark.parametrize(
    ("name", "reason"), [("none.json", "No such file or directory"), ("folder", "Is a directory")]
)
def test_a_tag_profile_that_cannot_be_read_is_named_with_its_keyword(
    run, tmp_path, call, name, reason
):
    (tmp_path / "folder").mkdir()
    path = tmp_path / name
    first, more = {"augment": (PAIRS, LANGS), "stream": (run, {})}[call]
    with pytest.raises(ConfigError, match=f"^tag_profile {path}: cannot be read: {reason}; make"):
        getattr(pairweave, call)(first, tag_profile=path, **more)


def test_an_output_that_is_a_file_is_a_mistake_of_the_caller(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigError, match=f"^{tmp_path}/file: is a file, not a directory; give an"):
        pairweave.align(PAIRS, output=tmp_path / "file", **LANGS)


def test_an_output_of_another_run_is_refused_without_flags(run):
    with pytest.raises(ClaimedError, match=r"Give another output, or repeat") as refused:
        pairweave.align(PAIRS, output=run, max_ratio=2, **LANGS)
    assert "--" not in str(refused.value)


def test_a_shard_that_changes_while_rows_are_read_is_refused_without_flags(run, tmp_path):
    copy = tmp_path / "links"
    shutil.copytree(run, copy)
    stream = pairweave.stream(copy)
    shard = next((copy / "data").iterdir())
    shard.write_bytes(shard.read_bytes() + b"x")
    with pytest.raises(pairweave.PairweaveError, match="expected sha256") as refused:
        next(iter(stream))
    assert "--" not in str(refused.value)
