"""A run whose files are on this machine needs no network, and does not try to use it."""

import os
import platform
import subprocess
import sys

import pytest

from tests.makers import corpora, no_network, runs

PROBE = """
import socket, sys
from tests.makers import no_network
no_network.forbid()
no_network.note_attempts(sys.argv[1])
for family in no_network.FAMILIES:
    try:
        socket.socket(family)
    except PermissionError:
        continue
    sys.exit("a socket was made")
try:
    socket.create_connection(("example.org", 80))
except OSError:
    pass
socket.socketpair()
"""

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"),
    reason="needs Linux's filter of system calls on a machine whose numbers are known",
)


def start(words, tmp_path):
    """Run a program in this tree; return what it did, and the notes of what it tried."""
    notes = tmp_path / "notes"
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("HF_")},
        "PYTHONPATH": str(runs.ROOT),
    }
    done = subprocess.run(
        [sys.executable, *words(notes)],
        cwd=runs.ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=runs.SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    lines = notes.read_text().splitlines()
    # urllib3 makes and closes a socket when it is imported, to see whether there is IPv6.
    return [line for line in lines if " in _has_ipv6, " not in line]


def test_the_filter_stops_sockets_and_the_notes_show_attempts(tmp_path):
    actual = start(lambda notes: ["-c", PROBE, notes], tmp_path)
    assert [line.partition(" ")[0] for line in actual] == [
        *(["socket.__new__"] * 2),
        "socket.getaddrinfo",
    ]


def attempts(tmp_path, job, *more):
    """Run a job on a small corpus without a network; return what it tried."""
    corpora.write_corpus(tmp_path, 120)
    return start(
        lambda notes: [
            *("-m", no_network.__name__, notes, job, "--shard_pairs", "60"),
            *("--source_input", tmp_path / "corpus.en", "--source_lang", "en"),
            *("--target_input", tmp_path / "corpus.de", "--target_lang", "de"),
            *("--output", tmp_path / "out", *more),
        ],
        tmp_path,
    )


@pytest.mark.slow
def test_a_job_runs_where_there_is_no_network(tmp_path):
    assert attempts(tmp_path, "augment", "--workers", "2") == []
    assert (tmp_path / "out" / "_manifest.json").is_file()


@pytest.mark.slow
def test_a_job_with_an_encoder_runs_where_there_is_no_network(tmp_path):
    pytest.importorskip("torch", reason="needs the extra `neural`")
    from tests.makers.encoders import write_bert

    texts = [text for row in range(120) for text in corpora.sentence(row)]
    write_bert(tmp_path / "bert", texts, layers=2)
    more = ("--aligner", "encoder", "--model", tmp_path / "bert", "--layer", "2")
    assert attempts(tmp_path, "align", *more, "--workers", "1") == []
    assert (tmp_path / "out" / "_manifest.json").is_file()
