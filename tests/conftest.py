"""Configuration of all tests: time limits, location of real data, profiles of Hypothesis."""

import os
import signal
import time
from pathlib import Path
from types import FrameType

import hypothesis
import pytest

from tests.makers import quick_disk

# Where it is ignored, as in a shell's background job, a command that a test starts would ignore it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Java's processes live for seconds here: its quick compiler alone halves their CPU time. It says on
# standard error that it has read this.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

hypothesis.settings.register_profile("unit", max_examples=30, deadline=None)
hypothesis.settings.register_profile("dev", max_examples=100, deadline=None)
hypothesis.settings.register_profile("ci", max_examples=40, deadline=None, derandomize=True)
hypothesis.settings.register_profile("nightly", max_examples=5000, deadline=None)
hypothesis.settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "unit")
)


# By suite, in seconds; all other tests have what `pyproject.toml` says. A machine may be busy.
TIME_LIMITS = {"slow": 1200, "flink": 1200, "gpu": 1200, "bench": 3600}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each test of a slow suite its time limit, unless the test has its own."""
    for item in items:
        limits = [TIME_LIMITS[name] for name in TIME_LIMITS if item.get_closest_marker(name)]
        if limits and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(max(limits)))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Wait for no disk, unless time is measured."""
    if not any(item.get_closest_marker("bench") for item in session.items):
        quick_disk.install()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave a test out, and note its name, if the time of a whole run (`.ci/run`) is over."""
    if time.time() > float(os.environ.get("PAIRWEAVE_TESTS_END", "inf")):
        with Path(os.environ["PAIRWEAVE_TESTS_LEFT_OUT"]).open("a", encoding="utf-8") as file:
            file.write(f"{item.nodeid}\n")
        pytest.skip("no time is left")


class TimeLimitReached(BaseException):
    """A test takes too long; unlike a failure, Hypothesis does not try to see it again."""


@pytest.hookimpl(wrapper=True)
def pytest_timeout_set_timer():
    """Let the end of a test's time be no failure that Hypothesis would repeat without a limit."""
    is_set = yield
    fail = signal.getsignal(signal.SIGALRM)

    def end(number: int, frame: FrameType | None) -> None:
        try:
            fail(number, frame)
        except pytest.fail.Exception as error:
            raise TimeLimitReached(str(error)) from None

    if callable(fail):
        signal.signal(signal.SIGALRM, end)
    return is_set


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the directory of real data, or skip."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    path = Path(os.environ.get("PAIRWEAVE_DATA", beside))
    if not path.is_dir():
        pytest.skip(f"no real data at {path}; set PAIRWEAVE_DATA to its directory")
    return path


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the flags without which no golden file and no table changes, and those of `refresh`."""
    parser.addoption("--update_golden", action="store_true", help="write golden files anew")
    parser.addoption(
        "--write_reliability", action="store_true", help="write rows of deploy/RELIABILITY.md anew"
    )
    parser.addoption("--kills", type=int, default=2, help="nights of refresh to kill, by seed")
    parser.addoption("--fortnight", help="file for the table of a fortnight of refresh")


@pytest.fixture(scope="session")
def golden_file(request: pytest.FixtureRequest):
    """Return a function that gives what a golden file says, or writes it if that is asked for."""
    directory = Path(__file__).parent / "golden"

    def read(name: str, content: str) -> str:
        if request.config.getoption("--update_golden"):
            (directory / name).write_text(f"{content}\n")
        return (directory / name).read_text().strip()

    return read
