import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.storage import disk_files, files

ROOT = str(Path(__file__).resolve().parents[3])
NAME = """
import sys
sys.path.insert(0, sys.argv[1])
from pairweave.transforms.storage import disk_files
print(disk_files.name_for("part-0"), end="")
"""


def test_creating_twice_keeps_the_first(tmp_path):
    path = str(tmp_path / "a" / "plan")
    assert files.create(path, b"one")
    assert not files.create(path, b"two")
    assert files.read_bytes(path) == b"one"
    assert files.list_names(str(tmp_path / "a")) == ["plan"]


def test_writing_twice_is_writing_once(tmp_path):
    path = str(tmp_path / "part")
    files.write_bytes(path, b"one")
    files.write_bytes(path, b"one")
    assert files.list_names(str(tmp_path)) == ["part"]


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = str(tmp_path / "part")
    files.write_bytes(path, b"old")

    def no_space(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match=f"No space left on device: '{path}'"):
        files.write_bytes(path, b"new")
    assert files.read_bytes(path) == b"old"
    assert files.list_names(str(tmp_path)) == ["part"]


@pytest.fixture
def synced(monkeypatch):
    """Return what is synchronized, as (path, names in its directory at that time)."""
    result = []

    def note(descriptor):
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        names = path if path.is_dir() else path.parent
        result.append((path, {entry.name for entry in names.iterdir()}))

    monkeypatch.setattr(os, "fsync", note)
    return result


def write_open(path, data):
    with files.open_write(path) as file:
        file.write(data)


@pytest.mark.parametrize("write", [files.write_bytes, files.create, write_open])
def test_a_file_reaches_the_disk_before_its_name_does_and_the_name_before_the_end(
    tmp_path, synced, write
):
    write(str(tmp_path / "part"), b"data")
    (data, before), (directory, after) = synced
    assert data.name.startswith(disk_files.PREFIX)
    assert "part" not in before
    assert directory == tmp_path
    assert "part" in after


def test_new_directories_reach_the_disk_before_a_file_in_them(tmp_path, synced):
    files.write_bytes(str(tmp_path / "a" / "b" / "part"), b"data")
    made = [path for path, _ in synced if path in (tmp_path, tmp_path / "a")]
    assert sorted(made) == [tmp_path, tmp_path / "a"]
    assert synced[-2][0].name.startswith(disk_files.PREFIX)
    assert synced[-1][0] == tmp_path / "a" / "b"


def test_a_pipe_is_found_among_the_matches_and_no_other(tmp_path):
    (tmp_path / "a").write_bytes(b"text")
    (tmp_path / "c").mkdir()
    for pattern in (tmp_path / "*", tmp_path / "a", tmp_path / "none", tmp_path / "c"):
        files.require_regular(str(pattern), "copy it")
    os.mkfifo(tmp_path / "b")
    for pattern in (tmp_path / "*", tmp_path / "b"):
        with pytest.raises(InputError, match=r"/b: is not a regular file; copy it") as caught:
            files.require_regular(str(pattern), "copy it")
        assert caught.value.path == str(tmp_path / "b")
    (tmp_path / "d").symlink_to("nowhere")
    with pytest.raises(InputError, match="/d: is a link to nowhere, "):
        files.require_regular(str(tmp_path / "d"), "copy it")


def test_a_store_that_nothing_here_reads_is_refused_and_a_disk_is_not_asked():
    files.check_store("nosuch/file")
    with pytest.raises(ConfigError, match="nosuch:// is not supported"):
        files.check_store("nosuch://bucket/file")


def test_what_dead_writers_left_is_deleted_and_nothing_else(tmp_path):
    with subprocess.Popen([sys.executable, "-c", NAME, ROOT], stdout=subprocess.PIPE) as dead:
        name = dead.stdout.read().decode()
    old, new, own = (
        ".tmp-0123.1.2-a-part-1",
        ".tmp-0123.1.2-b-part-2",
        disk_files.name_for("p"),
    )
    for temporary in (name, old, new, own):
        (tmp_path / temporary).write_bytes(b"half")
    (tmp_path / "part-0").write_bytes(b"whole")
    # Of another machine: one that was being written an hour ago and one that may be now.
    os.utime(tmp_path / old, (0, time.time() - disk_files.STALE_SECONDS - 1))
    files.delete_temporary(str(tmp_path))
    assert files.list_names(str(tmp_path)) == sorted([new, own, "part-0"])


def test_a_process_that_got_a_dead_ones_number_keeps_nothing_of_it(tmp_path):
    name = disk_files.name_for("part-0")
    machine, _, tail = name.removeprefix(disk_files.PREFIX).partition(".")
    pid, _, tail = tail.partition(".")
    path = tmp_path / f"{disk_files.PREFIX}{machine}.{pid}.1{tail}"
    path.write_bytes(b"half")
    assert disk_files.is_dead(path)
    assert not disk_files.is_dead(tmp_path / name)


def test_a_fork_names_its_files_after_itself(tmp_path):
    own = disk_files.name_for("part-0")
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        os.write(writer, disk_files.name_for("part-0").encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as names:
        name = names.read()
    assert f".{pid}." in name
    assert f".{os.getpid()}." in own
    os.waitpid(pid, 0)
    assert disk_files.is_dead(tmp_path / name)
    assert not disk_files.is_dead(tmp_path / own)


def test_a_file_of_a_process_that_is_not_there_is_dead(tmp_path):
    machine = disk_files.name_for("part-0").removeprefix(disk_files.PREFIX)
    machine = machine.partition(".")[0]
    no_process = 1 << 30  # above Linux' highest number of a process
    assert disk_files.is_dead(tmp_path / f"{disk_files.PREFIX}{machine}.{no_process}.7-x-p")


def test_a_pattern_matches_files_in_order_and_no_directory(tmp_path):
    for name in ("b.tsv", "a.tsv"):
        (tmp_path / name).touch()
    (tmp_path / "c.tsv").mkdir()
    assert files.match(str(tmp_path / "*.tsv")) == [str(tmp_path / n) for n in ("a.tsv", "b.tsv")]
    assert files.match(str(tmp_path / "none*")) == []


def test_what_is_below_a_directory_is_listed_without_what_links_lead_to(tmp_path):
    for name in ("out/top", "out/a/b/deep", "out/a/middle", "elsewhere/private"):
        files.make_directory(str((tmp_path / name).parent))
        files.write_bytes(str(tmp_path / name), b"x")
    (tmp_path / "out" / "linked").symlink_to(tmp_path / "elsewhere")
    assert files.list_below(str(tmp_path / "out")) == ["a/b/deep", "a/middle", "top"]
    assert files.list_names(str(tmp_path / "out")) == ["top"]
    assert files.list_names(str(tmp_path / "out" / "a")) == ["middle"]
    assert files.list_below(str(tmp_path / "nothing")) == []


def test_a_link_that_leads_nowhere_is_refused_where_a_pattern_matches_it(tmp_path):
    (tmp_path / "a.en").write_text("text\n")
    (tmp_path / "b.en").symlink_to("a.en")
    files.require_regular(str(tmp_path / "*.en"), "save it")
    (tmp_path / "c.en").symlink_to("/no/disk/c.en")
    for pattern in ("*.en", "**/*.en", "c.en"):
        with pytest.raises(InputError, match=r"/c\.en: is a link to /no/disk/c\.en, which"):
            files.require_regular(str(tmp_path / pattern), "save it")
    files.require_regular(str(tmp_path / "*.de"), "save it")


def test_what_is_in_the_place_of_a_directory_is_named(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to("nowhere/x")
    for name, what in (("file", "is a file"), ("link", "is a link that leads nowhere")):
        with pytest.raises(FileExistsError, match=f"{what}, not a directory; .*/{name}'$"):
            files.make_directory(str(tmp_path / name))
        with pytest.raises(OSError, match=f"{what}, not a directory; .*/{name}'$"):
            files.make_directory(str(tmp_path / name / "a" / "b"))


def write(how, path):
    """Write a file with one of the functions for that."""
    if how == "open_write":
        with files.open_write(path) as file:
            file.write(b"text")
    else:
        getattr(files, how)(path, b"text")


@pytest.mark.parametrize("how", ["write_bytes", "open_write", "create"])
def test_a_place_where_nothing_can_be_written_is_named_without_the_temporary_file(
    tmp_path, monkeypatch, how
):
    really_open = Path.open

    def refuse(place, *arguments, **options):
        if place.name.startswith(disk_files.PREFIX):
            raise PermissionError(13, "Permission denied", str(place))
        return really_open(place, *arguments, **options)

    def refuse_to_delete(place, **_):
        raise OSError(30, "Read-only file system", str(place))  # also of a file that is not there

    path = str(tmp_path / "part")
    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(disk_files, "_Named", refuse)
    monkeypatch.setattr(Path, "unlink", refuse_to_delete)
    with pytest.raises(PermissionError) as caught:
        write(how, path)
    assert caught.value.filename == path


@pytest.mark.parametrize("how", ["write_bytes", "open_write", "create"])
def test_a_name_as_long_as_the_file_system_allows_can_be_written(tmp_path, how):
    name = "é" * 127 + "x"
    write(how, str(tmp_path / name))
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_what_a_dead_writer_of_a_long_name_left_is_deleted(tmp_path):
    left = tmp_path / disk_files.name_for("x" * 255).replace(f".{os.getpid()}.", ".1.")
    left.write_bytes(b"half")
    other = tmp_path / disk_files.name_for("y" * 255).replace(f".{os.getpid()}.", ".1.")
    other.write_bytes(b"half")
    files.write_alone(str(tmp_path / ("x" * 255)), b"whole")
    assert sorted(tmp_path.iterdir()) == sorted([other, tmp_path / ("x" * 255)])
