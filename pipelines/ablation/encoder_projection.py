"""Detag and project: an encoder links the words of sources and translations."""

from collections.abc import Callable

import pyarrow as pa

from pairweave.models.aligner import align_all
from pairweave.models.encoder.hosting import encoder_reference
from pairweave.models.encoder.hosting.encoder_reference import EncoderReference
from pairweave.pipelines.aligners.aligner_registry import read_name
from pairweave.pipelines.aligners.encoder import config_of


def find(name: str, field: str) -> EncoderReference:
    """Find the encoder that puts the tags of an arm back; hash its weights without loading them.

    Args:
        name: The encoder's one-line name, such as ``encoder:DIRECTORY:layer=5``.
        field: The field of the configuration that has it.

    Raises:
        ConfigError: The name is wrong, there is no such encoder, or it cannot be used here.
    """
    return encoder_reference.find(config_of(read_name(name, field)))


def links(reference: EncoderReference) -> Callable[[pa.Table], pa.Table]:
    """Return a function that links the words of a table by an encoder.

    Pairs that are too long for the encoder get no links.

    Raises:
        ConfigError: The encoder cannot be loaded, or has changed since it was found.
    """
    aligner = reference.load()
    return lambda table: align_all(aligner, table)
