"""An error of the user gives one clear line and exit status 2, never a traceback or a wait."""

import errno
import hashlib
import json
import os
import resource
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from pairweave.models.hmm import hmm_reference
from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.pipelines import cli
from pairweave.pipelines.engines import failures
from pairweave.pipelines.process import memory
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import files, yaml_files
from pairweave.transforms.text.tokens import TokenConfig
from tests.makers.finished_runs import write_run
from tests.makers.hmm_corpora import plain_table

LANGUAGES = ("--source_lang", "en", "--target_lang", "de", "--workers", "1")


def refused(capsys, *words):
    """Run the command and return what it says as it refuses to."""
    assert cli.main([str(word) for word in words]) == 2
    errors = capsys.readouterr().err
    assert "Traceback" not in errors
    assert errors.count("\n") == 1, errors
    errors.encode()
    return errors


def align(capsys, tmp_path, *words):
    return refused(capsys, "align", *words, *LANGUAGES, "--output", tmp_path / "out")


def test_a_file_name_that_is_not_utf_8(capsys, tmp_path):
    name = os.fsdecode(b"\xff.tsv")
    (tmp_path / name).write_text("a\tb\n")
    assert r"\xff.tsv: is not UTF-8" in align(capsys, tmp_path, "--input", tmp_path / name)
    assert r"\xff.tsv: its name is not UTF-8" in align(
        capsys, tmp_path, "--input", tmp_path / "*.tsv"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('name: "\\ud800"\n', "half of a surrogate pair"),
        ("corpora: " + "[" * 500 + "]" * 500, "nested too deep"),
        ("seed: 1\nworkers: 2\nseed: 3\n", "line 3: the key seed is given twice, first in line 1"),
        ("corpora:\n- name: a\n  name: b\n", "line 3: the key name is given twice"),
        ("name: 2001-99-99\n", "line 1: '2001-99-99' is not a valid timestamp"),
    ],
)
def test_a_configuration_that_cannot_be_trusted(capsys, tmp_path, text, said):
    path = tmp_path / "a.yaml"
    path.write_text(text)
    actual = align(capsys, tmp_path, "--config", path)
    assert said in actual
    assert "a.yaml: " in actual


def test_keys_of_other_maps_may_be_the_same(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("corpora:\n- &one\n  name: a\n- <<: *one\n  name: b\n")
    assert yaml_files.read_yaml(str(path)) == {"corpora": [{"name": "a"}, {"name": "b"}]}


@pytest.mark.parametrize("pattern", ["a.tsv", "*.tsv"])
def test_a_pipe_as_input(capsys, tmp_path, pattern):
    os.mkfifo(tmp_path / "a.tsv")
    actual = align(capsys, tmp_path, "--input", tmp_path / pattern)
    assert "a.tsv: is not a regular file" in actual


def test_a_pipe_as_sentences_to_exclude(capsys, tmp_path):
    (tmp_path / "a.tsv").write_text("a b\tx y\n")
    os.mkfifo(tmp_path / "dev")
    words = ("--input", tmp_path / "a.tsv", "--exclude", tmp_path / "dev")
    assert "dev: is not a regular file" in align(capsys, tmp_path, *words)


def test_a_directory_as_input(capsys, tmp_path):
    actual = align(capsys, tmp_path, "--input", tmp_path)
    assert "is a directory; give" in actual


def test_a_pipe_as_configuration(capsys, tmp_path):
    os.mkfifo(tmp_path / "a.yaml")
    assert "named pipe" in align(capsys, tmp_path, "--config", tmp_path / "a.yaml")


@pytest.fixture
def model(tmp_path):
    directory = tmp_path / "model"
    pairs = [(f"the house {n}", f"das Haus {n}") for n in range(30)]
    fitted = fit(plain_table(pairs), HmmConfig(hmm_iterations=1))
    hmm_reference.save(
        str(directory), hmm_reference.pack(fitted, TokenConfig(kind="whitespace"), {"pairs": 30})
    )
    return directory


def seal(directory: Path) -> None:
    """Give the files of a model the hashes that they have."""
    header = json.loads((directory / "model.json").read_text())
    for name in header["files"]:
        data = (directory / name).read_bytes()
        header["files"][name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    (directory / "model.json").write_text(json.dumps(header))
    about = json.loads((directory / "about.json").read_text())
    for name in about["files"]:
        about["files"][name] = hashlib.sha256((directory / name).read_bytes()).hexdigest()
    (directory / "about.json").write_text(json.dumps(about))


@pytest.mark.parametrize("name", ["jumps.arrow", "source_words.arrow", "lexicon.arrow"])
@pytest.mark.parametrize("place", [-12, -60, -100])
def test_a_model_whose_arrow_footer_is_damaged_under_matching_hashes(model, name, place):
    data = bytearray((model / name).read_bytes())
    data[place : place + 6] = b"\xff\x7f\xff\x7f\xff\x7f"
    (model / name).write_bytes(bytes(data))
    seal(model)
    with pytest.raises(ConfigError, match=f"model: {name}"):
        hmm_reference.read(str(model))


def test_a_model_whose_jumps_are_zero(model):
    path = model / "jumps.arrow"
    table = pa.ipc.open_file(pa.BufferReader(path.read_bytes())).read_all()
    zeros = pa.array(np.zeros(len(table), np.float32))
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(pa.table([zeros, zeros], schema=table.schema))
    seal(model)
    with pytest.raises(ConfigError, match=r"model: jumps\.arrow is damaged"):
        hmm_reference.read(str(model))


def test_a_pipe_in_a_model(model):
    (model / "jumps.arrow").unlink()
    os.mkfifo(model / "jumps.arrow")
    with pytest.raises(ConfigError, match=r"jumps\.arrow: is not a regular file"):
        hmm_reference.read(str(model))
    (model / "about.json").unlink()
    os.mkfifo(model / "about.json")
    with pytest.raises(ConfigError, match=r"about\.json: is not a regular file"):
        hmm_reference.read(str(model))


@pytest.mark.parametrize(
    "command", [("report",), ("preview",), ("export", "--format", "tsv", "--output", "e.tsv")]
)
def test_a_manifest_that_names_another_file(capsys, tmp_path, command):
    output = str(tmp_path / "run")
    write_run(output)
    path = Path(output, "_manifest.json")
    manifest = json.loads(path.read_text())
    entry = next(e for e in manifest["files"] if e["name"].startswith("data/"))
    entry["name"] = "data/other.parquet"
    path.write_text(json.dumps(manifest))
    name, *others = command
    actual = refused(capsys, name, output, *others)
    assert "does not list data/part-00000-of-00002.parquet" in actual


def test_a_directory_where_a_file_is_to_be_written(tmp_path):
    (tmp_path / "part").mkdir()
    with pytest.raises(ConfigError, match="part: a directory is in the place of a file"):
        files.write_bytes(str(tmp_path / "part"), b"data")
    assert list(tmp_path.iterdir()) == [tmp_path / "part"]


@pytest.mark.parametrize("name", ["data/part-00000-of-00001.parquet", "_receipts/unit-00000.json"])
def test_a_directory_where_a_part_or_a_receipt_is_to_be_written(capsys, tmp_path, name):
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"the house {n}\tdas Haus {n}\n" for n in range(50)))
    (tmp_path / "out" / name).mkdir(parents=True)
    words = ("align", "--input", path, *LANGUAGES, "--output", tmp_path / "out")
    assert cli.main([str(word) for word in words]) == 2
    errors = capsys.readouterr().err
    assert f"{name}: a directory is in the place of a file to be written" in errors


def test_a_read_only_file_system(capsys, tmp_path, monkeypatch):
    path = tmp_path / "a.tsv"
    path.write_text("a b\tx y\n")

    def fail(_path):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(tmp_path / "out"))

    monkeypatch.setattr(files, "make_directory", fail)
    assert "Read-only file system" in align(capsys, tmp_path, "--input", path)


def test_too_little_address_space(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _kind: (1 << 30, resource.RLIM_INFINITY))
    actual = align(capsys, tmp_path, "--input", "a.tsv")
    assert "too little address space (ulimit -v): 1,024 MiB, a job needs 3,072" in actual
    assert cli.main(["--version"]) == 0


def test_memory_that_runs_out(capsys, monkeypatch):
    def run(_words):
        raise MemoryError

    monkeypatch.setattr(cli, "_run", run)
    assert memory.REMEDY in refused(capsys, "align")
    message, user_error = failures.failure_message(MemoryError("malloc of size 9 failed"))
    assert user_error
    assert message.startswith("there is not enough memory (MemoryError: malloc")


def test_a_worker_that_was_killed():
    message, _ = failures.failure_message(RuntimeError("Channel closed prematurely."))
    assert message.startswith("a worker process died")
    assert memory.REMEDY in message


def test_an_engine_whose_program_was_killed():
    text = (
        "<_MultiThreadedRendezvous of RPC that terminated with:\n"
        '\tstatus = StatusCode.UNAVAILABLE\n\tdetails = "Socket closed"\n>'
    )
    message, _ = failures.failure_message(RuntimeError(text))
    assert "Flink's job server, died or cannot be reached (Socket closed)" in message
    assert not message.endswith("<")
