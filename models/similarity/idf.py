"""Document frequencies of pieces: the number of sentences of each side that contain them."""

import dataclasses
import hashlib
import io
from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from pairweave.models.encoder.pieces import Pieces
from pairweave.models.model_store import ModelReference, ModelStore
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.storage import files, hashed_files

FORMAT = 1
KIND = "idf"
DIRECTORY = "models/idf"
"""Directory of a run's counts, relative to its output."""

_SIDES = ("source", "target")


@dataclasses.dataclass(frozen=True)
class Idf:
    """The number of sentences that contain each piece.

    Attributes:
        pairs: Number of pairs counted.
        source: Number of sources with each piece of the vocabulary, int64 ``[piece]``.
        target: Number of targets with each piece, int64 ``[piece]``.
        pieces: Digest of the tokenizer (`digest_of`).
        about: Further metadata, such as the languages of both sides, as in ``about.json``.
    """

    pairs: int
    source: np.ndarray
    target: np.ndarray
    pieces: str
    about: Mapping[str, object] = dataclasses.field(default_factory=dict)

    def weights(self, side: str) -> np.ndarray:
        """Return the weight of each piece on a side, float64 ``[piece]``, all above 0.

        It is ``log(1 + (N + 1) / (n + 1))`` for a piece in ``n`` of ``N`` sentences (Lo 2019,
        section 2.1), so an unseen piece has the greatest weight and a piece in every sentence still
        has some. The base of the logarithm cancels out of every score.
        """
        return _weights(self.pairs, self.source if side == "source" else self.target)

    def with_pairs(self, source: Pieces, target: Pieces) -> "Idf":
        """Return these counts plus the counts of further pairs.

        Args:
            source: Pieces of the sources.
            target: Pieces of their targets.
        """
        sources, targets = (_document_counts(side, len(self.source)) for side in (source, target))
        return dataclasses.replace(
            self,
            pairs=self.pairs + len(source.offsets) - 1,
            source=self.source + sources,
            target=self.target + targets,
        )


@dataclasses.dataclass(frozen=True)
class IdfReference(ModelReference):
    """A reference to counts with their digest, which is sent to workers."""

    directory: str
    digest: str

    def load(self) -> Idf:
        """Return the counts, loaded once per process.

        Raises:
            ConfigError: They are damaged, or not the planned ones.
        """
        return STORE.load(self)


def digest_of(tokenizer: Any) -> str:  # noqa: ANN401 - a tokenizers.Tokenizer
    """Return the hex SHA-256 of a tokenizer, which determines the numbers of pieces."""
    return hashlib.sha256(tokenizer.to_str().encode()).hexdigest()


def nothing_counted(vocabulary: int, pieces: str) -> Idf:
    """Return the counts of no pairs.

    Args:
        vocabulary: Number of pieces in the vocabulary.
        pieces: Digest of the tokenizer.
    """
    nothing = np.zeros(vocabulary, np.int64)
    return Idf(0, nothing, nothing, pieces)


def count(source: Pieces, target: Pieces, vocabulary: int, pieces: str) -> Idf:
    """Count the sentences of each side that contain each piece.

    Args:
        source: Pieces of the sources.
        target: Pieces of their targets.
        vocabulary: Number of pieces in the vocabulary.
        pieces: Digest of the tokenizer.
    """
    return nothing_counted(vocabulary, pieces).with_pairs(source, target)


def piece_weights(ids: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the weight of each piece of some sentences, counted only in these sentences.

    Args:
        ids: Vocabulary numbers, int64 ``[piece]``.
        ends: Start of each sentence's pieces, int64 ``[sentence + 1]``.

    Returns:
        Weights as in `Idf.weights`, float64 ``[piece]``.
    """
    sentences = len(ends) - 1
    kinds, pieces = np.unique(ids, return_inverse=True)
    texts = np.repeat(np.arange(sentences), np.diff(ends))
    different = np.unique(texts * len(kinds) + pieces)
    counts = np.bincount(different % max(len(kinds), 1), minlength=len(kinds))
    return _weights(sentences, counts)[pieces]


def _weights(sentences: int, counts: np.ndarray) -> np.ndarray:
    return np.log1p((sentences + 1) / (counts + 1.0))


def _document_counts(pieces: Pieces, vocabulary: int) -> np.ndarray:
    texts = np.repeat(np.arange(len(pieces.offsets) - 1), pieces.lengths)
    different = np.unique(texts * vocabulary + pieces.ids)
    return np.bincount(different % vocabulary, minlength=vocabulary).astype(np.int64)


class IdfAbout(hashed_files.About):
    """The content of the ``about.json`` in a directory of counts."""

    pairs: Annotated[int, Field(ge=0)]
    pieces: str
    source_lang: list[str] | None = None
    target_lang: list[str] | None = None


def pack(idf: Idf, facts: Mapping[str, object]) -> dict[str, bytes]:
    """Return all files of the counts' directory, ``about.json`` last."""
    packed = {}
    for side in _SIDES:
        buffer = io.BytesIO()
        np.save(buffer, getattr(idf, side), allow_pickle=False)
        packed[f"{side}.npy"] = buffer.getvalue()
    about = {"format": FORMAT, "kind": KIND, "pairs": idf.pairs, "pieces": idf.pieces, **facts}
    return hashed_files.with_hashes(packed, about)


def save(directory: str, packed: Mapping[str, bytes]) -> IdfReference:
    """Write the directory, ``about.json`` last."""
    hashed_files.write(directory, packed)
    return IdfReference(files.absolute(directory), _digest(packed))


def find_whole(directory: str) -> IdfReference | None:
    """Return the counts in a directory, or None if they are missing or damaged."""
    try:
        packed = hashed_files.read(directory)
    except WorkerError:
        return None
    about = hashed_files.parse_about(packed[hashed_files.ABOUT])
    if about.get("format") != FORMAT or about.get("kind") != KIND:
        return None
    return IdfReference(files.absolute(directory), _digest(packed))


def find(directory: str) -> IdfReference:
    """Return the counts that a user names.

    Raises:
        ConfigError: There are none, or they are damaged.
    """
    reference = find_whole(directory)
    if reference is None:
        raise ConfigError(
            f"--idf {directory}: no complete counts of pieces; give the directory models/idf of "
            "a finished run of filter --scorer yisi2, or leave it out to count on this corpus"
        )
    return reference


def _open(reference: IdfReference) -> tuple[Idf, str]:
    try:
        packed = hashed_files.read(reference.directory)
        STORE.check(reference, _digest(packed))
        about = hashed_files.parse_about(packed[hashed_files.ABOUT], IdfAbout)
        source, target = (
            np.load(io.BytesIO(packed[f"{side}.npy"]), allow_pickle=False) for side in _SIDES
        )
        idf = Idf(about["pairs"], source, target, about["pieces"], about)
        return idf, reference.digest
    except (WorkerError, ValueError, KeyError) as error:
        raise ConfigError(
            f"{reference.directory}: is not a directory of counts ({error}); let filter count again"
        ) from error


def _digest(packed: Mapping[str, bytes]) -> str:
    return hashlib.sha256(packed[hashed_files.ABOUT]).hexdigest()


STORE: ModelStore[IdfReference, Idf] = ModelStore(
    _open, lambda reference: f"{reference.directory}: changed while the run was using it"
)
"""The counts that this process has loaded."""
