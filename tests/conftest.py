"""What all tests share: where the real data lies, and how hard Hypothesis tries."""

import os
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile("dev", max_examples=100, deadline=None)
hypothesis.settings.register_profile("ci", max_examples=100, deadline=None, derandomize=True)
hypothesis.settings.register_profile("nightly", max_examples=5000, deadline=None)
hypothesis.settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev")
)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the directory of real data, or skip."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    path = Path(os.environ.get("PAIRWEAVE_DATA", beside))
    if not path.is_dir():
        pytest.skip(f"no real data at {path}; set PAIRWEAVE_DATA to its directory")
    return path


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the flag without which no golden file changes."""
    parser.addoption("--update_golden", action="store_true", help="write golden files anew")


@pytest.fixture(scope="session")
def golden_file(request: pytest.FixtureRequest):
    """Return a function that gives what a golden file says, or writes it if that is asked for."""
    directory = Path(__file__).parent / "golden"

    def read(name: str, found: str) -> str:
        if request.config.getoption("--update_golden"):
            (directory / name).write_text(f"{found}\n")
        return (directory / name).read_text().strip()

    return read
