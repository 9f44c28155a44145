"""The encoder of sentences of a job: its reference, and how workers load it.

Importable without torch.
"""

import dataclasses
import functools
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.model_store import LoadedOnce
from pairweave.models.neural_models import absolute_model, import_neural
from pairweave.models.similarity.similarity_score import yisi_layer
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.kernels.sentences.beads import Told

if TYPE_CHECKING:
    from pairweave.models.sentences.piece_aligner import DocumentPieces
    from pairweave.models.sentences.sentence_encoder import EncodedPieces

Similarity = Literal["sentences", "yisi2"]
"""How two sides are compared: by vectors of sentences, or by vectors of pieces with YiSi-2."""

_WANTED_BY = "--scorer encoder"

_loaded: LoadedOnce["SentenceEncoder"] = LoadedOnce()


@dataclasses.dataclass(frozen=True)
class SentenceEncoderReference:
    """A reference to an encoder of sentences, which is sent to workers.

    Attributes:
        config: Its settings; a local directory is absolute, and the layer is counted from the
            front.
        digest: Digest of its files.
        similarity: What is compared.
    """

    config: EncoderConfig
    digest: str
    similarity: Similarity = "sentences"

    def load(self) -> "SentenceEncoder":
        """Return the encoder, loaded once per process.

        Raises:
            ConfigError: It cannot be loaded, or is not the planned one.
        """
        return _loaded.load(self, lambda: SentenceEncoder(self))


class SentenceEncoder:
    """The encoder of a process; calls run one at a time, since memory suffices for one."""

    def __init__(self, reference: SentenceEncoderReference) -> None:
        """Load it.

        Raises:
            ConfigError: It cannot be loaded, or is not the planned one.
        """
        neural = import_neural("pairweave.models.sentences.sentence_encoder", _WANTED_BY)
        self._encode = neural.encode_sentences
        self._encode_pieces = neural.encode_pieces
        self._pieces = neural.load_pieces(reference.config)
        self._lock = threading.Lock()
        if self._pieces.encoder.digest != reference.digest:
            raise ConfigError(
                f"{reference.config.model}: not the encoder that the run was planned with; its "
                "files changed, or a hub model's branch moved (give a commit with --revision)"
            )

    def vectors(self, texts: Sequence[str], report: Told | None = None) -> np.ndarray:
        """Return the vectors of sentences (`models.sentences.sentence_encoder`)."""
        with self._lock:
            return self._encode(self._pieces, texts, report)

    def pieces(self, texts: Sequence[str]) -> "EncodedPieces":
        """Return the pieces of some texts with their vectors."""
        with self._lock:
            return self._encode_pieces(self._pieces, texts)

    def document(
        self, sides: tuple[Sequence[str], Sequence[str]], report: tuple[Told, Told]
    ) -> "DocumentPieces":
        """Return both sides of a document with the vectors of their pieces.

        Args:
            sides: The sentences of each side.
            report: Called for each side after each encoded block; counts sentences.
        """
        from pairweave.models.sentences.piece_aligner import DocumentPieces
        from pairweave.models.sentences.piece_vectors import Held, PieceVectors

        held = Held()
        source, target = (
            PieceVectors(number, texts, self.pieces, held, report[number])
            for number, texts in enumerate(sides)
        )
        return DocumentPieces(source, target)


@functools.cache  # this hashes the weights
def find(
    model: str, layer: int | None, revision: str | None, similarity: Similarity = "sentences"
) -> SentenceEncoderReference:
    """Find an encoder; hash its weights without loading them.

    Args:
        model: Its directory or name on the hub.
        layer: The layer whose vectors are compared; None for the last, and for YiSi-2 for the one
            a third of the layers before the end, as in `filter`.
        revision: Branch, tag or commit of a hub model.
        similarity: What is compared.

    Raises:
        ConfigError: The extra ``neural`` is not installed, or there is no such model or layer.
    """
    encoder = import_neural("pairweave.models.encoder.encoder", _WANTED_BY)
    config = EncoderConfig(
        model=absolute_model(model), layer=-1 if layer is None else layer, revision=revision
    )
    encoder.check_device(config)
    number, digest = encoder.inspect_encoder(config)
    if similarity == "yisi2" and layer is None:
        config = config.changed(layer=yisi_layer(number))
        number, digest = encoder.inspect_encoder(config)
    return SentenceEncoderReference(config.changed(layer=number), digest, similarity)
