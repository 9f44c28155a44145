"""Which commands leave the machine's network, and what they can reach there."""

import os
import socket

import pytest

from pairweave.pipelines.engines import private_network


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("augment --engine prism --input a.tsv", True),
        ("augment --engine=prism --input a.tsv", True),
        ("align --engine flink --input a.tsv --environment_type PROCESS", True),
        ("align --engine prism --model {here}", True),
        ("align --engine prism --second_aligner encoder:{here}:8", True),
        ("align --input a.tsv", False),
        ("align --engine local --input a.tsv", False),
        ("align --engine dataflow --input a.tsv", False),
        ("align --engine prism --input s3://bucket/a.tsv", False),
        ("align --engine prism --output gs://bucket/out", False),
        ("align --engine flink --flink-master host:8081", False),
        ("align --engine flink --environment_type EXTERNAL", False),
        ("align --engine prism --model owner/name", False),
        ("align --engine prism --translator transformers:owner/name", False),
        ("augment --config {directory}/near.yaml", True),
        ("augment --config {directory}/far.yaml", False),
        ("augment --config {directory}/far.yaml --model {here}", True),
        ("augment --config {directory}/near.yaml --engine local", False),
        ("augment --engine prism --config {directory}/none.yaml", True),
        ("run --config {directory}/recipe.yaml --engine prism", True),
        ("run --config {directory}/far_recipe.yaml --engine prism", False),
    ],
)
def test_only_a_run_with_all_parts_on_this_machine_leaves_the_network(tmp_path, words, wanted):
    here = tmp_path / "model"
    here.mkdir()
    files = {
        "near.yaml": f"engine: prism  # here\ninput: a.tsv\nmodel: '{here}'\n",
        "far.yaml": "engine: prism\nmodel: owner/name\n",
        "recipe.yaml": f"steps:\n  - job: fit\n    model: {here}\n  - model: {{from: fit}}\n",
        "far_recipe.yaml": "steps:\n  - job: fit\n    model: owner/name\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    given = words.format(here=here, directory=tmp_path).split()
    assert private_network.is_wanted(given) is wanted


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
