"""An external aligner is prepared once per process."""

from pairweave.models.external import external_store
from pairweave.models.external.external_config import ExternalConfig
from pairweave.models.external.external_store import ExternalReference
from pairweave.models.model_store import ModelStore


def test_a_program_is_looked_for_once_and_another_one_again(monkeypatch):
    made = []

    def load(reference):
        made.append(reference)
        return object(), reference.digest

    monkeypatch.setattr(external_store, "STORE", ModelStore(load, str))
    one = ExternalReference(ExternalConfig("fast_align"), "digest", "directory")
    other = ExternalReference(ExternalConfig("fast_align"), "another", "directory")
    aligner = external_store.load(one)
    assert aligner is not None
    assert external_store.load(one) is aligner
    assert external_store.load(other) is not aligner
    assert made == [one, other]
