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
