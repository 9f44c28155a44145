"""Options for each engine, and messages if something is missing."""

import contextlib
import json
import re
import subprocess
import sys
from pathlib import Path

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import (
    DebugOptions,
    DirectOptions,
    PipelineOptions,
    PortableOptions,
)

from pairweave.pipelines.engines import (
    engine_report,
    engine_scripts,
    engines,
    fork_client,
    fork_requests,
    programs,
)
from pairweave.pipelines.engines.flink import java, job_jar, user_cache
from pairweave.pipelines.engines.local import forks
from pairweave.transforms.errors import ConfigError, WorkerError


def flags(engine: str, workers: int, *extra: str) -> list[str]:
    with engines.beam_options(engine, workers, "a-job", extra) as options:
        return list(options)


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A checkout and a PATH that hold nothing."""
    monkeypatch.setattr(programs, "CHECKOUT", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def with_java(machine):
    program(machine / "bin" / "java", "echo 'openjdk version \"17.0.15\" 2025' >&2")
    return machine


@pytest.fixture
def with_flink(with_java):
    jar = with_java / programs.JAR
    jar.parent.mkdir(parents=True)
    jar.write_bytes(b"PK")
    return with_java


def test_one_local_worker_is_this_process():
    assert "--direct_running_mode=in_memory" in flags("local", 1)


def test_several_local_workers_are_processes():
    options = PipelineOptions(flags("local", 3)).view_as(DirectOptions)
    assert options.direct_running_mode == "multi_processing"
    assert options.direct_num_workers == 3


def test_the_local_runner_is_one_that_beam_finds():
    pipeline = beam.Pipeline(options=PipelineOptions(flags("local", 1)))
    assert type(pipeline.runner).__name__ == "LocalRunner"


def test_the_users_flag_takes_the_place_of_ours():
    given = flags("local", 2, "--direct_running_mode=multi_threading", "--direct_num_workers", "4")
    assert [flag for flag in given if "mode" in flag] == ["--direct_running_mode=multi_threading"]
    assert PipelineOptions(given).view_as(DirectOptions).direct_num_workers == 4


def test_the_users_runner_wins():
    given = flags("local", 1, "--runner=FnApiRunner")
    assert [flag for flag in given if flag.startswith("--runner")] == ["--runner=FnApiRunner"]


@pytest.mark.usefixtures("with_flink")
def test_a_job_that_is_sent_as_a_jar_takes_the_jar_that_was_built():
    given = flags(
        *("flink", 1, "--flink_submit_uber_jar", "--flink_master=host:8081"),
        *("--environment_type=EXTERNAL", "--environment_config=localhost:50000"),
    )
    assert any(flag.startswith("--flink_job_server_jar=") for flag in given)
    assert not any("java_launcher" in flag for flag in given)


@pytest.mark.parametrize(
    ("engine", "extra", "here"),
    [
        ("local", (), True),
        ("prism", (), True),
        ("flink", (), True),
        ("flink", ("--flink_master=[local]",), True),
        ("flink", ("--flink_master=host:8081",), False),
        ("flink", ("--environment_type", "EXTERNAL"), False),
        ("local", ("--runner=DataflowRunner",), False),
    ],
)
def test_where_the_workers_are_is_known_from_the_options(engine, extra, here):
    assert engines.works_here(engine, extra) == here


@pytest.mark.parametrize(
    ("engine", "extra", "forked"),
    [
        ("local", (), True),
        ("prism", (), True),
        ("prism", ("--environment_type=LOOPBACK",), False),
        ("flink", (), True),
        ("flink", ("--flink_master", "[auto]"), True),
        ("flink", ("--flink_master=cluster",), False),
        ("flink", ("--flink_master=host:8081",), False),
        ("flink", ("--environment_type", "EXTERNAL"), False),
        ("flink", (f"--{job_jar.OPTION}=a.jar",), False),
        ("dataflow", (), False),
    ],
)
def test_the_launcher_forks_the_workers_that_end_with_it(engine, extra, forked):
    assert engines.forks_workers(engine, extra) == forked


@pytest.mark.parametrize(("ready", "forked"), [(True, True), (True, False), (False, True)])
def test_a_worker_is_a_fork_where_that_is_safe(tmp_path, monkeypatch, ready, forked):
    monkeypatch.setattr(forks, "ready", lambda: ready)
    with contextlib.ExitStack() as held:
        engines.RunPlace(tmp_path, held, None).worker_processes(forked=forked)
        script = (tmp_path / engine_scripts.WORKER).read_text(encoding="utf-8")
        assert (fork_client.__file__ in script) == (ready and forked)
        assert (tmp_path / fork_requests.SOCKET).is_socket() == (ready and forked)


def test_an_unknown_engine_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match="no engine 'spark'; there are local, prism, flink"):
        flags("spark", 1)


@pytest.mark.usefixtures("machine")
def test_prism_without_its_program_says_how_to_build_it():
    with pytest.raises(ConfigError, match=r"go install .*/cmd/prism@v2"):
        flags("prism", 1)


def test_another_program_named_prism_is_not_taken_for_beams(machine):
    program(machine / "bin" / "prism", "echo an api mocking server")
    with pytest.raises(ConfigError, match="no Beam prism program"):
        flags("prism", 1)


def test_prism_is_found_in_the_checkout_and_never_downloaded(machine):
    binary = program(machine / programs.PRISM, '# apache/beam/sdks\necho "$@"')
    with engines.beam_options("prism", 2, "a-job") as given:
        location = next(flag for flag in given if flag.startswith("--prism_location="))
        script = Path(location.partition("=")[2])
        assert str(binary) in script.read_text(encoding="utf-8")
        assert "--environment_type=PROCESS" in given
    assert not script.exists()


def test_each_attempt_on_prism_has_a_program_of_its_own(machine):
    """Beam would share one; the option stands beside experiments of the user."""
    program(machine / programs.PRISM, "# apache/beam/sdks")
    for extra in ((), ("--experiments=use_other_things",)):
        given = PipelineOptions(flags("prism", 2, *extra)).view_as(DebugOptions)
        assert given.lookup_experiment("disable_prism_server_singleton")
        assert bool(extra) == bool(given.lookup_experiment("use_other_things"))


@pytest.mark.parametrize("server", sorted(engines.SERVERS))
def test_the_program_of_an_attempt_is_asked_to_end_with_it(server, monkeypatch):
    ended = []
    monkeypatch.setattr(engines.engine_scripts, "end", lambda script: ended.append(script.name))
    flags("local", 1)
    assert server in ended


def test_a_run_on_prism_may_take_longer_than_a_request(machine):
    """Beam passes its time limit to the request for a job's state, which lasts as long as it."""
    program(machine / programs.PRISM, "# apache/beam/sdks")
    limit = PipelineOptions(flags("prism", 2)).view_as(PortableOptions).job_server_timeout
    assert limit >= 7 * 24 * 3600
    given = PipelineOptions(flags("prism", 2, "--job_server_timeout=60"))
    assert given.view_as(PortableOptions).job_server_timeout == 60


@pytest.mark.usefixtures("with_java")
def test_flink_without_its_job_server_names_the_command_that_builds_it():
    with pytest.raises(ConfigError, match="run `pairweave doctor --install flink`"):
        flags("flink", 1)


def test_flink_without_java_says_so(with_flink):
    (with_flink / "bin" / "java").unlink()
    with pytest.raises(ConfigError, match="no java: install Java 11 to 21"):
        flags("flink", 1)


def test_a_java_home_without_java_is_named(with_flink, monkeypatch):
    program(with_flink / "bin" / "java", "echo 'openjdk version \"17\"' >&2")
    monkeypatch.setenv("JAVA_HOME", "/no/such/jdk")
    with pytest.raises(ConfigError, match="JAVA_HOME is /no/such/jdk, which has no bin/java"):
        flags("flink", 1)


@pytest.mark.usefixtures("with_flink")
def test_a_java_program_that_is_not_there_is_named_with_its_option():
    with pytest.raises(ConfigError, match="--job_server_java_launcher /no/java: no such program"):
        flags("flink", 1, "--job_server_java_launcher=/no/java")


@pytest.mark.parametrize(("told", "version"), [("1.8.0_392", 8), ("23", 23), ("17.0.1", 17)])
def test_java_says_its_version_in_more_than_one_way(machine, told, version):
    path = program(machine / "bin" / "java", f"echo 'java version \"{told}\"' >&2")
    assert java.java_version(str(path)) == version


def test_flink_on_an_old_java_is_refused(with_flink):
    program(with_flink / "bin" / "java", "echo 'openjdk version \"1.8.0_1\"' >&2")
    with pytest.raises(ConfigError, match=r"is Java 8; Flink 1\.19 needs 11 to 21"):
        flags("flink", 1)


def test_java_home_goes_before_path(with_flink, monkeypatch):
    program(with_flink / "home" / "bin" / "java", "echo 'openjdk version \"21\"' >&2")
    monkeypatch.setenv("JAVA_HOME", str(with_flink / "home"))
    state = next(state for state in engine_report.states() if state.engine == "flink")
    assert state.ready
    assert "Java 21" in state.render()


@pytest.mark.usefixtures("with_flink")
def test_the_mini_cluster_restarts_a_failed_job_some_times():
    with engines.beam_options("flink", 1, "a-job") as given:
        assert "--flink_master=[local]" in given
        assert "--flink_version=1.19" in given
        assert "--environment_type=PROCESS" in given
        conf = next(flag for flag in given if flag.startswith("--flink_conf_dir="))
        text = Path(conf.partition("=")[2], "flink-conf.yaml").read_text(encoding="utf-8")
        assert "restart-strategy.type: fixed-delay" in text
        assert "restart-strategy.fixed-delay.attempts: 3" in text
        scratch = Path(conf.partition("=")[2]).parent
        assert f"io.tmp.dirs: {scratch}\n" in text
        assert scratch.is_dir()
    assert not scratch.exists()  # and with it what the cluster spilled


@pytest.mark.usefixtures("with_flink")
def test_flink_opens_one_step_at_a_time_and_has_a_process_for_each_of_its_slots():
    given = flags("flink", 3)
    assert "--parallelism=3" in given
    assert "--sdk_worker_parallelism=3" in given
    assert "--execution_mode_for_batch=BATCH_FORCED" in given
    options = PipelineOptions(given).view_as(PortableOptions)
    assert options.environment_type == "PROCESS"
    assert set(json.loads(options.environment_config)) == {"command"}


@pytest.mark.usefixtures("with_flink")
def test_the_users_environment_replaces_ours_as_a_whole():
    given = flags("flink", 2, "--environment_type=LOOPBACK")
    assert not any(flag.startswith("--environment_config") for flag in given)
    assert not any(flag.startswith("--sdk_worker_parallelism") for flag in given)


@pytest.mark.usefixtures("with_flink")
def test_a_session_cluster_needs_to_know_where_its_workers_are():
    with pytest.raises(ConfigError, match="worker_pool` next to each task manager"):
        flags("flink", 2, "--flink_master=host:8081")


@pytest.mark.usefixtures("with_flink")
def test_a_session_cluster_keeps_its_own_restart_strategy():
    given = flags(
        "flink",
        2,
        "--flink_master=host:8081",
        "--environment_type=EXTERNAL",
        "--environment_config=localhost:50000",
    )
    assert not any("flink_conf_dir" in flag for flag in given)
    assert sum(flag.startswith("--flink_master") for flag in given) == 1


@pytest.mark.usefixtures("machine")
def test_a_running_job_server_needs_neither_jar_nor_java():
    given = flags(
        "flink",
        2,
        "--runner=PortableRunner",
        "--job_endpoint=localhost:8099",
        "--environment_type=LOOPBACK",
    )
    assert not any("jar" in flag for flag in given)


@pytest.mark.usefixtures("machine")
def test_the_report_names_what_is_missing():
    states = {state.engine: state for state in engine_report.states()}
    assert states["local"].ready
    assert "GPU" in states["local"].render()
    assert "go install" in states["prism"].render()
    assert {"no java", "no job server"} == {text.split(":")[0] for text in states["flink"].missing}


def without_home():
    raise RuntimeError("Could not determine home directory.")


@pytest.mark.usefixtures("machine")
def test_a_user_without_a_home_directory_is_told_what_to_set(monkeypatch):
    """As in a container whose user has no entry in its list of users."""
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", without_home)
    states = {state.engine: state for state in engine_report.states()}
    assert "set HOME, or XDG_CACHE_HOME" in states["flink"].render()
    with pytest.raises(ConfigError, match="set HOME, or XDG_CACHE_HOME"):
        flags("flink", 1, "--flink_master=cluster")
    with pytest.raises(ConfigError, match=r"no job server at a\.jar"):
        flags("flink", 1, "--flink_job_server_jar=a.jar")


def test_a_relative_cache_directory_is_ignored(monkeypatch):
    """Programs of the cluster start in another directory."""
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    assert user_cache.cache_directory() == Path.home() / ".cache" / "pairweave"


def test_the_report_loads_no_neural_library():
    code = "import sys; from pairweave.pipelines.engines import engine_report; "
    code += (
        "engine_report.states(); sys.exit(any(m in sys.modules for m in ('torch', 'apache_beam')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


GONE = RuntimeError("<_MultiThreadedRendezvous of RPC that terminated with:\n\tstatus = X\n>")


@pytest.mark.usefixtures("with_flink")
@pytest.mark.parametrize(
    ("status", "message"),
    [
        ("-9", "Flink's Java process was killed (SIGKILL) before the run was done; the machine"),
        ("-6", "Flink's Java process was ended by SIGABRT before the run was done"),
        ("3", "Flink's Java process ran out of memory: give the run more memory"),
        ("1", "Flink's Java process ended with exit status 1 before the run was done"),
    ],
)
def test_a_java_that_ends_during_a_run_is_named_with_how_it_ended(status, message):
    def lose_java():
        with engines.beam_options("flink", 1, "a") as given:
            flag = next(flag for flag in given if flag.startswith("--job_server_java_launcher="))
            Path(f"{flag.partition('=')[2]}.exit").write_text(status)
            raise GONE

    with pytest.raises(WorkerError, match=re.escape(message)):
        lose_java()


@pytest.mark.usefixtures("with_flink")
def test_a_java_that_still_runs_leaves_the_error_as_it_is(monkeypatch):
    monkeypatch.setattr(engines, "EXIT_SECONDS", 0.05)
    with pytest.raises(RuntimeError, match="RPC that"), engines.beam_options("flink", 1, "a"):
        raise GONE
