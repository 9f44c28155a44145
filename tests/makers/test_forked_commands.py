"""Commands of the server that forks them behave as those that are started."""

import os
import signal
import subprocess
import time

import pytest

from tests.makers import corpora, forked_commands, runs

ROOT = runs.ROOT


def start(*words, **more):
    return forked_commands.server().start(words, {**os.environ, "PYTHONPATH": str(ROOT)}, **more)


@pytest.mark.slow
def test_output_errors_and_exit_status_are_those_of_the_command(tmp_path):
    for words in (["--version"], ["augment", "--no_such"], ["doctor", "--help"]):
        forked = start(*words, folder=tmp_path)
        with runs.start_anew(*words, cwd=tmp_path) as anew:
            assert forked.communicate() == anew.communicate()
        assert forked.returncode == anew.returncode


@pytest.mark.slow
def test_it_has_its_folder_environment_session_and_arguments(tmp_path):
    corpora.write_corpus(tmp_path, 20)
    words = ("align", "--source_input", "corpus.en", "--target_input", "corpus.de")
    words += ("--source_lang", "en", "--target_lang", "de", "--output", "out")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path / "missing")}
    process = forked_commands.server().start(words, environment, tmp_path)
    assert os.getsid(process.pid) == process.pid != os.getsid(0)
    _, errors = process.communicate()
    # Without a temporary directory of its own it takes that of the system.
    assert process.returncode == 0, errors
    assert (tmp_path / "out" / "_manifest.json").exists()


def test_a_killed_command_has_the_status_of_its_signal(tmp_path):
    process = start("completion", "bash", folder=tmp_path, read_output=False)
    process.send_signal(signal.SIGSTOP)
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.05)
    process.kill()
    assert process.wait(10) == -signal.SIGKILL
    time.sleep(0.1)
    process.kill()  # is harmless now
    process.communicate()


def test_variables_that_are_read_at_the_start_need_a_true_start():
    server = forked_commands.server()
    assert server.can_start({**os.environ, "HOME": "/elsewhere", "PYTHONPATH": "x"})
    assert not server.can_start({**os.environ, "NUMBA_OPT": "1"})
    assert not server.can_start({**os.environ, "PYTHONHASHSEED": "1"})


@pytest.mark.slow
def test_a_quiet_command_says_nothing_though_a_module_has_logged(tmp_path, monkeypatch):
    (tmp_path / "logs_at_import.py").write_text("import logging\nlogging.warning('late')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    server = forked_commands.Server(["logs_at_import"])
    corpora.write_corpus(tmp_path, 20)
    words = ["fit", "--source_input", "corpus.en", "--target_input", "corpus.de", "--quiet"]
    words += ["--source_lang", "en", "--target_lang", "de", "--output", "fitted"]
    words += ["--check", "none"]  # the corpus has bad rows, and quiet commands warn, too
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    assert server.start(words, environment, tmp_path).communicate() == ("", "")
    server.close()
