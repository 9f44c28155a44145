"""Attention is read from the file that a run was planned with, or not at all."""

import types

import pytest
import xxhash

from pairweave.models import given_links
from pairweave.transforms.errors import WorkerError


def test_a_file_of_attention_that_is_gone_or_changed_is_named(tmp_path):
    path = tmp_path / "a.npz"
    digest = xxhash.xxh3_128(b"planned").hexdigest()
    part = types.SimpleNamespace(path=str(path), name="a.npz", digest=digest)
    with pytest.raises(WorkerError, match=r"^a\.npz: cannot be read on this machine: "):
        given_links._require_planned(part)
    path.write_bytes(b"other")
    with pytest.raises(WorkerError, match=r"^a\.npz: is not the file that the run was planned"):
        given_links._require_planned(part)
    path.write_bytes(b"planned")
    given_links._require_planned(part)
