"""An external aligner is prepared once per process."""

import pytest

from pairweave.models.external import external_reference
from pairweave.models.external.external_programs import ExternalConfig
from pairweave.models.external.external_reference import ExternalReference
from pairweave.models.model_store import ModelStore
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import hashed_files


def test_a_program_is_looked_for_once_and_another_one_again(monkeypatch):
    made = []

    def load(reference):
        made.append(reference)
        return object(), reference.digest

    monkeypatch.setattr(external_reference, "STORE", ModelStore(load, str))
    one = ExternalReference(ExternalConfig("fast_align"), "digest", "directory")
    other = ExternalReference(ExternalConfig("fast_align"), "another", "directory")
    aligner = one.load()
    assert aligner is not None
    assert one.load() is aligner
    assert other.load() is not aligner
    assert made == [one, other]


@pytest.mark.parametrize(
    ("about", "other"),
    [({"aligner": "external", "program": "eflomal"}, "eflomal"), ({"aligner": "hmm"}, "hmm")],
)
def test_a_model_of_another_program_is_refused_by_its_name(tmp_path, about, other):
    directory = str(tmp_path / "model")
    hashed_files.write(directory, hashed_files.with_hashes({"params": b"1"}, about))
    config = ExternalConfig("fast_align")
    with pytest.raises(ConfigError, match=f"was learned by {other}, not by fast_align"):
        external_reference.find_learned(config, directory)
    assert external_reference.find_whole(config, directory) is None
