"""The message of a failed run, without stack traces."""

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions

from pairweave.pipelines.engines.failures import (
    LOST_WORKER,
    ended_server,
    failure_message,
    is_of_machine,
)
from pairweave.transforms.arrow import exchange
from pairweave.transforms.errors import (
    ConfigError,
    InputError,
    MachineError,
    WorkerError,
    unreadable,
)

TRACE = """Traceback (most recent call last):
  File "apache_beam/runners/common.py", line 1512, in apache_beam.runners.common.DoFnRunner.process
  File "/somewhere/core.py", line 2126, in <lambda>
    wrapper = lambda x, *args, **kwargs: [fn(x, *args, **kwargs)]
                                          ^^^^^^^^^^^^^^^^^^^^^^
{error}

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "apache_beam/runners/common.py", line 1623, in DoFnRunner._reraise_augmented
{error} [while running 'Write shards/Write']
"""
LOCAL = TRACE
PRISM = "Pipeline job-001 failed in state FAILED: bundle inst004 stage-004 failed:" + TRACE
FLINK = (
    "Pipeline BeamApp_8e failed in state FAILED: java.lang.RuntimeException: Error received from "
    "SDK harness for instruction 2: " + TRACE
)
engines = pytest.mark.parametrize("shape", [LOCAL, PRISM, FLINK], ids=["local", "prism", "flink"])


@engines
def test_an_error_that_the_user_must_mend_is_its_message_alone(shape):
    said = "pairweave.transforms.errors.ConfigError: no such layer: 13"
    error = RuntimeError(shape.format(error=said))
    assert failure_message(error) == ("no such layer: 13", True)


@engines
def test_a_worker_error_is_not_for_the_user_to_mend(shape):
    error = RuntimeError(shape.format(error="pairweave.transforms.errors.WorkerError: 3 in, 2 out"))
    assert failure_message(error) == ("3 in, 2 out", False)


@engines
def test_a_message_of_several_lines_comes_whole(shape):
    told = "pairweave.transforms.errors.InputError: a.txt: two things\nfirst: this [code]"
    assert failure_message(RuntimeError(shape.format(error=told))) == (
        "a.txt: two things\nfirst: this [code]",
        True,
    )


@engines
def test_another_error_comes_with_its_name_and_step(shape):
    error = RuntimeError(shape.format(error="OSError: [Errno 28] No space left on device"))
    message, user_error = failure_message(error)
    assert message == "OSError: [Errno 28] No space left on device (in step Write shards/Write)"
    assert not user_error


@engines
def test_the_error_of_a_stores_client_gives_way_to_that_which_names_the_object(shape):
    said = "PermissionError: [Errno 13] S3 refuses: Forbidden: 's3://b/data/part-0'"
    client = (
        "botocore.exceptions.ClientError: An error occurred (403)\n\nThe above exception was the "
        "direct cause of the following exception:\n\nTraceback (most recent call last):\n"
        '  File "/somewhere/s3.py", line 201, in _mapped\n'
    )
    error = RuntimeError(shape.format(error=client + said))
    message, user_error = failure_message(error)
    assert message == f"{said} (in step Write shards/Write)"
    assert not user_error
    assert is_of_machine(error, message)


def test_an_error_of_that_name_from_another_library_is_not_ours():
    error = RuntimeError(LOCAL.format(error="botocore.ConfigError: a profile"))
    assert failure_message(error) == (
        "botocore.ConfigError: a profile (in step Write shards/Write)",
        False,
    )


def test_an_error_without_a_message_is_its_name():
    assert failure_message(RuntimeError(LOCAL.format(error="StopIteration")))[0].startswith(
        "StopIteration"
    )


def test_an_error_of_ours_needs_no_search():
    assert failure_message(ConfigError("mend this")) == ("mend this", True)
    assert failure_message(WorkerError("try again")) == ("try again", False)


def test_the_cause_of_an_error_is_searched():
    error = RuntimeError("outside")
    error.__cause__ = InputError("gzip_truncated", "a.gz", "ends early")
    assert failure_message(error) == ("a.gz: ends early [gzip_truncated]", True)


@engines
@pytest.mark.parametrize(
    ("cause", "is_machine"),
    [
        (exchange.unwritable(OSError(28, "No space left on device"), 9), True),
        (unreadable("shard 3", OSError(5, "Input/output error")), True),
        (unreadable("shard 3", FileNotFoundError(2, "No such file")), False),
        (WorkerError("3 in, 2 out"), False),
    ],
    ids=["full disk", "broken disk", "missing file", "fault of a shard"],
)
def test_a_fault_of_the_machine_is_known_in_the_text_of_a_runner(shape, cause, is_machine):
    kind = f"{type(cause).__module__}.{type(cause).__name__}"
    error = RuntimeError(shape.format(error=f"{kind}: {cause}"))
    message, user_error = failure_message(error)
    assert (message, user_error) == (str(cause), False)
    assert is_of_machine(error, message) is is_machine


def test_a_fault_of_the_machine_is_known_as_a_cause():
    error = RuntimeError("outside")
    error.__cause__ = MachineError("full")
    assert is_of_machine(error, "full")


@pytest.mark.parametrize("link", ["__cause__", "__context__"])
def test_a_lost_server_is_known_behind_another_error(link):
    error = RuntimeError("the shards could not be made")
    setattr(
        error, link, RuntimeError("<_InactiveRpcError of RPC that terminated with: UNAVAILABLE>")
    )
    assert is_of_machine(error, "RuntimeError: the shards could not be made")
    assert not is_of_machine(RuntimeError("alone"), "RuntimeError: alone")


@pytest.mark.parametrize(
    "text",
    [
        "SDK worker disconnected: worker[job-001], 1 active instructions, error: context canceled",
        "java.lang.IllegalStateException: Channel closed prematurely",
    ],
)
def test_a_lost_worker_is_no_fault_of_the_machine_though_its_engine_ends_too(text):
    lost = RuntimeError("<_MultiThreadedRendezvous of RPC that terminated with: UNAVAILABLE>")
    error = RuntimeError(f"Pipeline job-001 failed in state FAILED: {text}")
    error.__context__ = lost
    assert failure_message(error) == (LOST_WORKER, False)
    assert not is_of_machine(error, LOST_WORKER)
    assert is_of_machine(lost, failure_message(lost)[0])


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (1, "java ended with exit status 1 before the run was done"),
        (3, "java ran out of memory: "),
        (-1, "java was ended by SIGHUP before the run was done"),
        (-15, "java was ended by SIGTERM before the run was done"),
        (-9, "java was killed (SIGKILL) before the run was done; the machine may have run out"),
    ],
)
def test_how_an_engines_own_program_ended_is_told(status, told):
    assert ended_server("java", status, 3).startswith(told)


def test_text_without_a_traceback_is_its_first_line():
    error = RuntimeError("Pipeline failed in state FAILED\nmore\n")
    assert failure_message(error) == ("RuntimeError: Pipeline failed in state FAILED", False)


def broken(_: int) -> int:
    raise InputError("gzip_truncated", "a.gz", "the file ends early")


def test_an_input_error_survives_the_runner_in_this_process():
    options = PipelineOptions(
        ["--runner=pairweave.pipelines.engines.local.local_runner.LocalRunner"]
    )
    pipeline = beam.Pipeline(options=options)
    _ = pipeline | beam.Create([1]) | "Break" >> beam.Map(broken)
    with pytest.raises(Exception, match="ends early") as caught:
        pipeline.run().wait_until_finish()
    assert failure_message(caught.value) == ("a.gz: the file ends early [gzip_truncated]", True)
