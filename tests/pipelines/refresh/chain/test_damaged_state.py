"""A table of which one file is damaged: who reads the file refuses, names it, and commits nothing.

Each kind of file gets one byte flipped at several places, is cut in half, emptied and deleted.
"""

import contextlib
import itertools
import shutil
import zlib

import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from deltalake import DeltaTable

from tests.makers import corpora, nightly, runs

OF_HELP = 'corpora:\n- {corpus: help, input: "help/*.tsv"}\ngates: {max_removed: 1}\n'


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a directory with the table of three nights, whose next one withdraws a file."""
    directory = tmp_path_factory.mktemp("damaged")
    nightly.write_help(directory, "one", range(20), ["\tohne Quelle"])
    nightly.write_config(directory, of=OF_HELP)
    nightly.good_night(directory)
    (directory / "list.txt").write_text(f"{corpora.sentence(3)[0]}\n")
    runs.run_well_here("refresh", "takedown", "table", "list.txt", cwd=directory)
    nightly.write_help(directory, "two", range(30, 35))
    nightly.good_night(directory)
    (directory / "help/two.tsv").unlink()
    (directory / "list.txt").write_text(f"{corpora.sentence(4)[0]}\n")
    return directory


@pytest.fixture
def directory(made, tmp_path):
    """Return a copy of it, whose files have their times."""
    copied = tmp_path / "copy"
    shutil.copytree(made, copied)
    return copied


COMMANDS = {
    "night": ("--config", "nightly.yaml", "--output", "table"),
    "status": ("status", "table"),
    "verify": ("verify", "table"),
    "vacuum": ("vacuum", "table", "--retention", "0"),
    "export": ("export", "table", "--output", "out"),
    "takedown": ("takedown", "table", "list.txt"),
    "compact": ("compact", "table"),
}
ALL = tuple(COMMANDS)
WHO_READS_LOGS = ("night", "status", "verify", "vacuum", "export", "takedown", "compact")

KINDS = {
    "the last record": ("_refresh/nights/00000003.json", ALL),
    "the first record": ("_refresh/nights/00000001.json", ("night", "verify", "vacuum")),
    "the last seal": ("_refresh/seals/00000003.json", ALL),
    "an earlier seal": ("_refresh/seals/00000001.json", ("verify",)),
    "the tombstones": ("_refresh/tombstones/*.jsonl", ("night", "verify", "takedown")),
    "the last entry of a log": ("tagged/_delta_log/*2.json", WHO_READS_LOGS),
    "the first entry of a log": ("rejects/_delta_log/*0.json", WHO_READS_LOGS),
    "provenance": ("provenance/**/*.parquet", ("night", "verify", "takedown", "compact")),
    "rows": ("tagged/**/*.parquet", ("night", "verify", "export", "takedown", "compact")),
    "rejects": ("rejects/**/*.parquet", ("verify", "takedown")),
}


def current(table, pattern):
    """Return the file of a kind that the last version of the table has."""
    result = sorted(table.glob(pattern))
    if pattern.endswith(".parquet"):
        live = DeltaTable(str(table / pattern.partition("/")[0])).file_uris()
        names = {path.rpartition("/")[2] for path in live}
        result = [path for path in result if path.name in names]
    return result[0]


def flipped(data, seed):
    """Return bytes of which one bit of one byte is another, at a place drawn by a seed."""
    place = zlib.crc32(b"%d" % seed) % len(data)
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


NO_DAMAGE = ("the last seal", "deleted")
"""As if the night was stopped before it: the next one makes it again."""

DAMAGES = {
    **{f"flipped {seed}": (lambda data, seed=seed: flipped(data, seed)) for seed in range(3)},
    "cut": lambda data: data[: len(data) // 2],
    "emptied": lambda _: b"",
    "deleted": lambda _: None,
}


def damage(path, how):
    """Damage a file."""
    data = DAMAGES[how](path.read_bytes())
    path.unlink() if data is None else path.write_bytes(data)


def run(directory, command):
    """Run a command on the table; return its exit status and errors."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(directory / "out")
    status, _, errors = runs.run_here("refresh", *COMMANDS[command], cwd=directory)
    return status, errors


def check_refused(directory, command, name):
    """Check that a command names a file, and that it changes no file that was there."""
    before = runs.tree_digests(directory / "table")
    status, errors = run(directory, command)
    assert status == (1 if command == "verify" else 2), (command, errors)
    assert name in errors, (command, errors)
    assert "Traceback" not in errors
    after = runs.tree_digests(directory / "table")
    assert {key: after.get(key) for key in before} == before, command
    new = after.keys() - before.keys()  # a night may leave data files that no version has
    assert all(key.endswith(".parquet") for key in new), command
    assert command == "night" or not new, command
    assert not list((directory / "out").glob("data/*")) or command != "export"


@pytest.mark.parametrize(
    ("kind", "how"),
    [
        *(pair for pair in itertools.product(KINDS, ("flipped 0", "deleted")) if pair != NO_DAMAGE),
        ("the tombstones", "emptied"),
        ("the last record", "cut"),
    ],
)
def test_every_command_that_reads_a_damaged_file_refuses_and_names_it(directory, kind, how):
    pattern, readers = KINDS[kind]
    path = current(directory / "table", pattern)
    damage(path, how)
    for command in ALL if (kind, how) == ("the first record", "deleted") else readers:
        check_refused(directory, command, path.name)


def test_verify_names_a_damaged_file_of_an_earlier_version_until_it_is_vacuumed(directory):
    table = directory / "table"
    live = {path.rpartition("/")[2] for path in DeltaTable(str(table / "tagged")).file_uris()}
    (old,) = [path for path in (table / "tagged").rglob("*.parquet") if path.name not in live]
    old.write_bytes(flipped(old.read_bytes(), 1))
    check_refused(directory, "verify", old.name)
    runs.run_well_here("refresh", "vacuum", "table", "--retention", "0", cwd=directory)
    assert run(directory, "verify") == (0, "")
    # Nor is it missed where the record of the night that replaced it cannot be read.
    damage(table / "_refresh/nights/00000002.json", "cut")
    assert old.name not in run(directory, "verify")[1]


@pytest.mark.parametrize("kind", KINDS)
def test_no_damage_of_any_file_is_missed_by_verify(directory, kind):
    path = current(directory / "table", KINDS[kind][0])
    whole = path.read_bytes()
    for how in DAMAGES:
        if (kind, how) != NO_DAMAGE:
            damage(path, how)
            check_refused(directory, "verify", path.name)
            path.write_bytes(whole)
    assert run(directory, "verify") == (0, "")
