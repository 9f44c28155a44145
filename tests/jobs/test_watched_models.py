"""A new model is used once it is completely published, and is checked for once."""

import pytest

from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.encoder.hosting import encoder_reference, loaded_encoder
from pairweave.models.encoder.hosting.encoder_reference import EncoderReference
from pairweave.transforms.errors import ConfigError, WorkerError


class Publisher:
    """Stands for a directory of models: its stamp, and what is found there."""

    def __init__(self):
        self.stamps = [1]
        self.digest = "first"
        self.found = self.loaded = 0

    def stamp(self, _directory):
        number = self.stamps.pop(0) if len(self.stamps) > 1 else self.stamps[0]
        return (("model", number, 0, 0),)

    def find(self, config):
        self.found += 1
        if self.digest is None:
            raise ConfigError("no model")
        return EncoderReference(config, self.digest)

    def load(self, reference):
        self.loaded += 1
        return type("Aligner", (), {"digest": reference.digest, "config": reference.config})()


@pytest.fixture
def publisher(monkeypatch):
    made = Publisher()
    for name in ("stamp", "find", "load"):
        monkeypatch.setattr(encoder_reference, name, getattr(made, name))
    monkeypatch.setattr(encoder_reference, "out_of_memory", lambda: ())
    monkeypatch.setattr(loaded_encoder, "check_sound", lambda *_: None)
    monkeypatch.setattr(loaded_encoder, "align_isolated", lambda *_: ([], {}))
    return made


def watch():
    return loaded_encoder.LoadedEncoder(EncoderReference(EncoderConfig("directory"), None))


def test_a_model_stays_while_its_directory_does(publisher):
    aligner = watch()
    assert [aligner.align(None).digest for _ in range(3)] == ["first"] * 3
    assert (publisher.found, publisher.loaded) == (1, 1)


def test_another_model_is_taken_up_with_the_next_shard(publisher):
    aligner = watch()
    publisher.stamps, publisher.digest = [2], "second"
    assert [aligner.align(None).digest for _ in range(2)] == ["second"] * 2
    assert (publisher.found, publisher.loaded) == (2, 2)


def test_the_same_model_under_a_new_stamp_is_not_loaded_again(publisher):
    aligner = watch()
    publisher.stamps = [2]
    assert [aligner.align(None).digest for _ in range(2)] == ["first"] * 2
    assert (publisher.found, publisher.loaded) == (2, 1)


def test_a_model_that_changes_while_it_is_read_is_left_for_later(publisher):
    aligner = watch()
    publisher.stamps, publisher.digest = [2, 3], "half"
    assert aligner.align(None).digest == "first"
    publisher.stamps, publisher.digest = [3], "second"
    assert aligner.align(None).digest == "second"


def test_a_first_model_that_changes_while_it_is_read_is_an_error_that_passes(publisher):
    publisher.stamps = [1, 2]
    with pytest.raises(WorkerError, match="changed while it was read"):
        watch()
    publisher.stamps = [2]
    assert watch().align(None).digest == "first"


def test_a_published_model_that_cannot_be_used_is_an_error_unless_it_is_being_written(publisher):
    aligner = watch()
    publisher.stamps, publisher.digest = [2, 3], None
    assert aligner.align(None).digest == "first"
    publisher.stamps = [3]
    with pytest.raises(ConfigError, match="no model"):
        aligner.align(None)
