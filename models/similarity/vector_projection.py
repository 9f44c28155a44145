"""A linear map from the vectors of source pieces to those of target pieces (CLP).

Multilingual encoders place languages in different regions of the vector space; a map learnt from a
few thousand clean pairs moves the vectors of one language to the region of the other (NRC at WMT20,
section 2.3; Artetxe et al. 2016; Zhao et al. 2020).
"""

import dataclasses
import hashlib
import io
from collections.abc import Mapping
from typing import Literal

import numpy as np

from pairweave.models.model_store import ModelReference, ModelStore
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.storage import files, hashed_files

FORMAT = 1
KIND = "projection"
KINDS = ("orthogonal", "least_squares")
_FILE = "projection.npy"

_TURNED = 4
"""Number of rows added to the triangle at once, as a multiple of the length of a vector."""


@dataclasses.dataclass(frozen=True)
class Projection:
    """A map, and the encoder and layer that it belongs to.

    Attributes:
        matrix: Source vectors (rows) times this matrix approximate target vectors, float32
            ``[hidden, hidden]``.
        kind: One of `KINDS`.
        encoder: Digest of the encoder's files.
        layer: Number of the layer, from the front.
        about: Further metadata, such as the languages of both sides, as in ``about.json``.
    """

    matrix: np.ndarray
    kind: str
    encoder: str
    layer: int
    about: Mapping[str, object] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class ProjectionReference(ModelReference):
    """A reference to a map with its digest, which is sent to workers."""

    directory: str
    digest: str

    def load(self) -> Projection:
        """Return the map, loaded once per process.

        Raises:
            ConfigError: It is damaged, or not the planned one.
        """
        return STORE.load(self)


class Moments:
    """The statistics of pairs of vectors that both solutions need, in constant memory.

    Besides sums of products they include a triangle ``R`` with ``X = Q R``, where ``X`` are all
    source vectors, and ``Qᵀ Y`` for the target vectors ``Y`` (sequential TSQR: Golub and Van Loan
    2013, sections 5.3 and 12.5; Demmel et al. 2012). The sums alone do not suffice for least
    squares: ``Xᵀ X`` has the squares of the singular values of ``X``, so directions in which
    vectors hardly differ, such as those of float32 vectors beyond their rank, are lost in rounding.
    """

    def __init__(self, hidden: int) -> None:
        """Start without pairs.

        Args:
            hidden: Length of a vector.
        """
        self.pairs = 0
        self._within = np.zeros((hidden, hidden))
        self._across = np.zeros((hidden, hidden))
        self._triangle = np.zeros((0, hidden))
        self._turned = np.zeros((0, hidden))
        self._held: list[tuple[np.ndarray, np.ndarray]] = []

    def add(self, source: np.ndarray, target: np.ndarray) -> None:
        """Add pairs of vectors ``[pair, hidden]``, which are scaled to length 1 first."""
        source, target = _scaled(source), _scaled(target)
        self._within += source.T @ source
        self._across += source.T @ target
        self.pairs += len(source)
        self._held.append((source, target))
        # Adding fewer rows at once would cost more: the triangle is decomposed again each time.
        if sum(len(rows) for rows, _ in self._held) >= _TURNED * source.shape[1]:
            self._reduce()

    def _reduce(self) -> None:
        """Add the collected rows to the triangle."""
        source, target = (
            np.concatenate([first, *rows])
            for first, rows in zip(
                (self._triangle, self._turned), zip(*self._held, strict=True), strict=True
            )
        )
        turn, self._triangle = np.linalg.qr(source)
        self._turned = turn.T @ target
        self._held = []

    def distance(self, matrix: np.ndarray) -> float:
        """Return the mean of ``|x W - y|²`` over the pairs; there must be at least one."""
        moved = np.einsum("ij,ij->", self._within @ matrix, matrix)
        return float(moved - 2 * np.einsum("ij,ij->", self._across, matrix)) / self.pairs + 1.0

    def solve(self, kind: str) -> np.ndarray:
        """Return the map W that minimizes the sum of ``|x W - y|²``, float64.

        Args:
            kind: ``orthogonal``: among orthogonal maps, which preserve cosines within the source
                (Artetxe et al. 2016, section 2: from the singular value decomposition of the sum
                of ``xᵀ y``); ``least_squares``: among all maps; of several minima, the one with the
                smallest norm.
        """
        if kind == "orthogonal":
            left, _, right = np.linalg.svd(self._across)
            return left @ right
        if self._held:
            self._reduce()
        # NumPy's own limit for this number of rows, below which a singular value counts as 0.
        least = np.finfo(np.float64).eps * max(self.pairs, self._triangle.shape[1])
        return np.linalg.lstsq(self._triangle, self._turned, rcond=least)[0]


def _scaled(vectors: np.ndarray) -> np.ndarray:
    vectors = vectors.astype(np.float64)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


class ProjectionAbout(hashed_files.About):
    """The content of the ``about.json`` in a map's directory."""

    method: Literal["orthogonal", "least_squares"]
    encoder: str
    layer: int


def pack(projection: Projection, facts: Mapping[str, object]) -> dict[str, bytes]:
    """Return all files of a map's directory, ``about.json`` last."""
    buffer = io.BytesIO()
    np.save(buffer, projection.matrix, allow_pickle=False)
    about = {
        "format": FORMAT,
        "kind": KIND,
        "method": projection.kind,
        "encoder": projection.encoder,
        "layer": projection.layer,
        **facts,
    }
    return hashed_files.with_hashes({_FILE: buffer.getvalue()}, about)


def find(directory: str) -> ProjectionReference:
    """Return the map that a user names.

    Raises:
        ConfigError: There is none, or it is damaged.
    """
    try:
        about = hashed_files.read(directory)[hashed_files.ABOUT]
    except WorkerError as error:
        raise ConfigError(
            f"--projection {directory}: no complete projection ({error}); make one with "
            "pairweave projection_fit"
        ) from error
    reference = ProjectionReference(files.absolute(directory), hashlib.sha256(about).hexdigest())
    reference.load()
    return reference


def _open(reference: ProjectionReference) -> tuple[Projection, str]:
    directory = reference.directory
    try:
        packed = hashed_files.read(directory)
        STORE.check(reference, hashlib.sha256(packed[hashed_files.ABOUT]).hexdigest())
        about = hashed_files.parse_about(packed[hashed_files.ABOUT])
        if about.get("format") != FORMAT or about.get("kind") != KIND:
            raise ValueError(f"kind {about.get('kind')}, format {about.get('format')}")
        hashed_files.parse_about(packed[hashed_files.ABOUT], ProjectionAbout)
        matrix = np.load(io.BytesIO(packed[_FILE]), allow_pickle=False)
        if matrix.ndim != 2 or len(matrix) != matrix.shape[1] or not np.isfinite(matrix).all():
            raise ValueError(f"{_FILE} is not a square matrix of finite numbers")
        projection = Projection(
            matrix.astype(np.float32),
            about["method"],
            about["encoder"],
            about["layer"],
            about,
        )
        return projection, reference.digest
    except (WorkerError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{directory}: is not a projection ({error}); make one with pairweave projection_fit"
        ) from error


STORE: ModelStore[ProjectionReference, Projection] = ModelStore(
    _open, lambda reference: f"{reference.directory}: changed while the run was using it"
)
"""The maps that this process has loaded."""
