"""What is refused before a job is written as a jar for a Flink cluster of its own."""

import pytest

from pairweave.pipelines.engines import engines
from pairweave.pipelines.engines.flink import job_jar
from pairweave.pipelines.job_options.pair_options import AlignOptions
from pairweave.transforms.errors import ConfigError

WORKERS = {"environment_type": "EXTERNAL", "environment_config": "localhost:50000"}


def options(**more):
    given = {"input": ("a.tsv",), "output": "out", "engine": "flink"}
    return AlignOptions(**given | more)


def test_a_jar_with_the_place_of_its_workers_is_taken(tmp_path):
    given = {job_jar.OPTION: str(tmp_path / "a.jar"), **WORKERS}
    job_jar.check_jar(options(pharaoh=None), given)
    assert job_jar.wanted(given).id == str(tmp_path / "a.jar")
    assert job_jar.wanted({}) is None


def test_the_job_finds_the_cluster_that_runs_it_and_no_file_of_the_launcher(tmp_path):
    extra = [f"--{job_jar.OPTION}={tmp_path}/a.jar"]
    extra += [f"--{name}={value}" for name, value in WORKERS.items()]
    jar = tmp_path / "server.jar"
    jar.touch()
    extra.append(f"--flink_job_server_jar={jar}")
    with engines.beam_options("flink", 2, "a-job", extra) as given:
        assert "--flink_master=[auto]" in given
        assert not any(word.startswith("--flink_conf_dir") for word in given)
    assert not engines.works_here("flink", extra)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({job_jar.OPTION: "{}/a.zip"}, r"a\.zip: expected the name of a \.jar"),
        ({job_jar.OPTION: "{}/absent/a.jar"}, "in a directory that exists"),
        ({"flink_master": "localhost:8081"}, "leave --flink_master out"),
        ({"environment_type": None}, "give the place of the workers"),
    ],
)
def test_what_no_cluster_could_run_is_refused(changed, message, tmp_path):
    given = {job_jar.OPTION: "{}/a.jar", **WORKERS, **changed}
    given = {name: value.format(tmp_path) for name, value in given.items() if value is not None}
    with pytest.raises(ConfigError, match=message):
        job_jar.check_jar(options(), given)


def test_another_engine_and_a_file_that_only_a_launcher_writes_are_refused(tmp_path):
    given = {job_jar.OPTION: str(tmp_path / "a.jar"), **WORKERS}
    with pytest.raises(ConfigError, match="give --engine flink"):
        job_jar.check_jar(options(engine="prism"), given)
    with pytest.raises(ConfigError, match=r"--pharaoh: .* leave --output_executable_path out"):
        job_jar.check_jar(options(pharaoh="links"), given)
