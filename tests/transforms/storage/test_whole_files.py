"""Output files appear completely, and must be distinct."""

import pytest

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage.whole_files import require_apart


def test_a_file_named_twice_is_refused_whatever_it_is_called(tmp_path):
    one, other = str(tmp_path / "a"), str(tmp_path / "b")
    require_apart([one, other])
    for same in (one, str(tmp_path / "c" / ".." / "a")):
        with pytest.raises(ConfigError, match="is named twice"):
            require_apart([one, other, same])
