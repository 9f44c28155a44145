"""Choose the encoder of sentences of the job ``bitext``."""

import functools

from pairweave.models.sentences import encoder_reference
from pairweave.models.sentences.encoder_reference import SentenceEncoderReference
from pairweave.pipelines.options.bitext_options import BitextOptions


def encoder_of(options: BitextOptions) -> SentenceEncoderReference | None:
    """Return the encoder that scores pairs, if one does.

    Raises:
        ConfigError: There is no such model or layer, or the extra ``neural`` is not installed.
    """
    if options.scorer == "words" or options.encoder is None:
        return None
    return _find(options.encoder, options.layer, options.revision)


@functools.cache  # its weights are hashed
def _find(model: str, layer: int | None, revision: str | None) -> SentenceEncoderReference:
    return encoder_reference.find(model, layer, revision)
