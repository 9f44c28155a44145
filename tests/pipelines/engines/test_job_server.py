"""Building the job server without a checkout, with programs that stand for Maven."""

from pathlib import Path

import pytest

from pairweave.pipelines.engines.flink import job_server
from pairweave.pipelines.process import file_lock
from pairweave.transforms.errors import ConfigError


@pytest.fixture
def maven(tmp_path, monkeypatch):
    """Return a function that puts a program `mvn` with this text on PATH."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    (tmp_path / "bin").mkdir()

    def write(text: str) -> None:
        program = tmp_path / "bin" / "mvn"
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)

    return write


def files(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir())


def test_the_job_server_is_built_once_in_the_users_cache(maven, tmp_path):
    maven(
        "for word; do case $word in -Dtarget=*) "
        f'echo jar > "${{word#*=}}/{job_server.NAME}.jar";; esac; done'
    )
    jar = job_server.install()
    assert jar.read_text() == "jar\n"
    assert jar == job_server.installed_jar()
    assert files(tmp_path / "cache" / "pairweave") == [jar.name]
    maven("exit 1")
    assert job_server.install() == jar


def test_a_failed_build_shows_what_maven_said_and_leaves_nothing(maven, tmp_path):
    maven("echo '[ERROR] Unknown host'; exit 1")
    with pytest.raises(ConfigError, match=r"exit status 1: \[ERROR\] Unknown host"):
        job_server.install()
    assert files(tmp_path / "cache" / "pairweave") == []


def test_what_a_killed_build_left_goes_with_the_next(maven, tmp_path):
    left = tmp_path / "cache" / "pairweave" / "build-abc"
    left.mkdir(parents=True)
    (left / "half.jar").write_text("half")
    maven("exit 1")
    with pytest.raises(ConfigError, match="exit status 1"):
        job_server.install()
    assert files(left.parent) == []


def test_a_second_build_at_the_same_time_is_refused(maven, tmp_path):
    place = tmp_path / "cache" / "pairweave"
    place.mkdir(parents=True)
    maven("exit 1")
    with (
        file_lock.alone_in(place, "busy"),
        pytest.raises(ConfigError, match=r"another .* is running there"),
    ):
        job_server.install()


def test_without_maven_the_message_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="no mvn on PATH; install Maven"):
        job_server.install()
