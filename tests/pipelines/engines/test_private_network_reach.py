"""What a command that has left the machine's network can reach."""

import os
import socket

import pytest

from pairweave.pipelines.engines import private_network


def in_a_network_of_its_own(act) -> int:
    """Return what a function returns in a process that has left the network; 99 if it may not."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = 98
    try:
        private_network.enter()
        status = act()
    except PermissionError:
        status = 99
    finally:
        os._exit(status)


def test_processes_in_it_reach_each_other_and_nobody_else():
    with socket.create_server(("127.0.0.1", 0)) as outside:
        port = outside.getsockname()[1]

        def act():
            with socket.create_server(("127.0.0.1", 0)) as inside:
                socket.create_connection(inside.getsockname(), 5).close()
            try:
                socket.create_connection(("127.0.0.1", port), 5)
            except ConnectionRefusedError:
                return private_network.entered() + 2 * (os.geteuid() == user)
            return 4

        user = os.geteuid()
        status = in_a_network_of_its_own(act)
    if status == 99:
        pytest.skip("this system allows no network of one's own")
    assert status == 3
    assert not private_network.entered()


def test_what_the_system_does_not_allow_is_an_error_and_the_process_stays(monkeypatch):
    def refuse(_what):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(private_network, "_unshare", refuse)
    with pytest.raises(OSError, match="Operation not permitted"):
        private_network.enter()
    assert not private_network.entered()
