"""An external aligner is prepared once per process."""

from pairweave.models.external import external_reference
from pairweave.models.external.external_config import ExternalConfig
from pairweave.models.external.external_reference import ExternalReference
from pairweave.models.model_store import ModelStore


def test_a_program_is_looked_for_once_and_another_one_again(monkeypatch):
    made = []

    def load(reference):
        made.append(reference)
        return object(), reference.digest

    monkeypatch.setattr(external_reference, "STORE", ModelStore(load, str))
    one = ExternalReference(ExternalConfig("fast_align"), "digest", "directory")
    other = ExternalReference(ExternalConfig("fast_align"), "another", "directory")
    aligner = external_reference.load(one)
    assert aligner is not None
    assert external_reference.load(one) is aligner
    assert external_reference.load(other) is not aligner
    assert made == [one, other]
