"""Versions of packages in signatures and in the settings of a run."""

import importlib.metadata

import pytest

from pairweave.transforms.errors import WorkerError
from pairweave.transforms.installed_packages import require_same, version_of, with_versions


def test_a_package_is_named_with_its_version():
    version = importlib.metadata.version("numpy")
    assert version_of("numpy") == version
    assert version_of("no-such-package") == "source tree"
    assert with_versions(["numpy"]) == [f"numpy-{version}"]
    assert with_versions(["numpy", "no_such_package"]) is None


@pytest.mark.parametrize(("installed", "named"), [("a-2", "a-2"), (None, "none")])
def test_a_machine_with_other_packages_is_refused(installed, named):
    require_same("cuts words", "a-1", "a-1")
    with pytest.raises(WorkerError, match=f"^this run cuts words with a-1, .* has {named}; inst"):
        require_same("cuts words", "a-1", installed)
