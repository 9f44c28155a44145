"""The memory limit of a container, and sizes with units."""

import pytest

from pairweave.pipelines.process import memory

GIB = 1 << 30


@pytest.fixture
def groups(tmp_path):
    """Return a function that writes the files of control groups and reads their limit."""

    def limit_of(own, files):
        (tmp_path / "own").write_text(own)
        for name, text in files.items():
            path = tmp_path / "cgroup" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n")
        return memory.container_bytes(tmp_path / "cgroup", tmp_path / "own")

    return limit_of


@pytest.mark.parametrize(
    ("own", "files", "found"),
    [
        ("0::/\n", {"memory.max": GIB}, GIB),
        ("0::/a/b\n", {"a/b/memory.max": "max", "a/memory.max": GIB}, GIB),
        ("0::/a/b\n", {"a/b/memory.max": GIB, "a/memory.max": 2 * GIB}, GIB),
        # The path of the host, of which the container sees the root alone.
        ("0::/docker/123\n", {"memory.max": GIB}, GIB),
        ("0::/\n", {"memory.max": "max"}, None),
        ("0::/\n", {}, None),
        ("5:memory:/d\n1:cpu:/d\n", {"memory/d/memory.limit_in_bytes": GIB}, GIB),
        ("5:memory:/d\n", {"memory/memory.limit_in_bytes": GIB}, GIB),
        ("5:memory:/\n", {"memory/memory.limit_in_bytes": (1 << 63) - 4096}, None),
        ("5:memory:/\n0::/x\n", {"memory/memory.limit_in_bytes": GIB, "memory.max": "max"}, GIB),
    ],
)
def test_the_least_limit_of_the_groups_counts(groups, own, files, found):
    assert groups(own, files) == found


def test_where_there_are_no_groups_there_is_no_limit(tmp_path):
    assert memory.container_bytes(tmp_path, tmp_path / "none") is None


@pytest.mark.parametrize(
    ("text", "size"),
    [("2GiB", 2 * GIB), ("1.5 GiB", 3 << 29), ("512MiB", 512 << 20), ("4GB", 4 * 10**9)],
)
def test_a_size_has_a_unit(text, size):
    assert memory.parse_size(text) == size


def test_what_is_given_counts_before_the_container(monkeypatch):
    monkeypatch.setattr(memory, "container_bytes", lambda: GIB)
    assert memory.limit("3GiB") == memory.Limit(3 * GIB, "--memory 3GiB", is_hard=True)
    assert memory.limit(None).size == GIB
    monkeypatch.setattr(memory, "container_bytes", lambda: None)
    assert memory.limit(None).size == memory.machine_bytes()
    assert not memory.limit(None).is_hard


def test_a_shown_size_is_enough():
    for size in (1, 1 << 20, GIB - 1, GIB, GIB + 1, 5 * GIB + 12_345):
        assert memory.parse_size(memory.show_size(size)) >= size
