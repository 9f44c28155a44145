"""What a job manager says of its slots, and what answers in its place."""

import time

import pytest

from pairweave.pipelines.engines.flink import session_cluster
from pairweave.pipelines.engines.flink.cluster_state import ClusterState
from tests.makers import odd_servers

COUNTS = b'{"taskmanagers":3,"slots-total":6,"slots-available":4,"jobs-running":1}'


@pytest.fixture(autouse=True)
def hurry(monkeypatch):
    monkeypatch.setattr(session_cluster, "ANSWER_SECONDS", 0.5)


def answer(content, length=None):
    length = len(content) if length is None else length
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (length, content)


def overview(port):
    return session_cluster.overview(
        ClusterState(rest=port, job_port=1, slots=2, task_managers=3, members=[])
    )


def test_the_counts_of_a_job_manager_are_read():
    with odd_servers.answering(answer(COUNTS)) as (port, requests):
        said = overview(port)
    assert (said.slots_total, said.slots_available, said.jobs_running) == (6, 4, 1)
    assert requests[0].startswith(b"GET /overview HTTP/1.1\r\n")


@pytest.mark.parametrize("name", ["http_proxy", "HTTP_PROXY", "all_proxy"])
def test_no_proxy_stands_between_a_command_and_its_own_machine(monkeypatch, name):
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv(name, "http://127.0.0.1:1")
    with odd_servers.answering(answer(COUNTS)) as (port, _):
        assert overview(port).slots_total == 6


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"\xff", b"4", b"null", b"[]", b"[1, 2]", b"[[1, 2]]", b'{"errors":["Not found."]}'),
        COUNTS[:-2],
        COUNTS.replace(b"4", b'"4"'),
        COUNTS.replace(b"4", b"null"),
        COUNTS.replace(b"4", b"4.5"),
        COUNTS.replace(b"slots-total", b"slots"),
        b"[" * 100_000,
        b" " * session_cluster.OVERVIEW_BYTES + COUNTS,
    ],
    ids=lambda content: content[:20],
)
def test_an_answer_of_another_shape_is_none(content):
    with odd_servers.answering(answer(content)) as (port, requests):
        assert overview(port) is None
    assert len(requests) == 1


def test_an_answer_that_ends_early_is_none_even_if_it_can_be_read():
    with odd_servers.answering(answer(COUNTS, len(COUNTS) + 9)) as (port, _):
        assert overview(port) is None


@pytest.mark.parametrize(
    "kind", [*odd_servers.ANSWERS, odd_servers.HANGS, odd_servers.DRIPS], ids=str
)
def test_what_is_no_job_manager_is_none_and_soon(kind):
    began = time.monotonic()
    with odd_servers.answering(kind) as (port, requests):
        assert overview(port) is None
        assert time.monotonic() - began < 4
    assert len(requests) == 1  # no redirection is followed


def test_a_port_at_which_nothing_listens_is_none():
    assert overview(session_cluster.free_port()) is None
