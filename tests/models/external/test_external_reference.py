"""An external aligner is prepared once per process."""

from pairweave.models.external import external_reference
from pairweave.models.external.external_programs import ExternalConfig
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
    aligner = one.load()
    assert aligner is not None
    assert one.load() is aligner
    assert other.load() is not aligner
    assert made == [one, other]
