"""The encoder of a worker, loaded once, which aligns one shard at a time."""

import logging
import os
import threading
from typing import Any, NamedTuple

import pyarrow as pa

from pairweave.models.aligner import Aligned
from pairweave.models.encoder.hosting import encoder_reference
from pairweave.models.encoder.hosting.encoder_reference import EncoderReference, Stamp
from pairweave.models.encoder.hosting.failing_pairs import Rejected, align_isolated, check_sound
from pairweave.transforms import schemas
from pairweave.transforms.arrow.arrow_coder import from_stream, to_stream
from pairweave.transforms.errors import ConfigError, WorkerError

_log = logging.getLogger(__name__)


class Alignment(NamedTuple):
    """The results for one shard's pairs.

    Attributes:
        linked: The LINKED rows (`transforms.schemas`), in order, without the rejected ones.
        rejected: Reason and detail of the rejected rows, by row.
        digest: The digest of the aligner.
    """

    linked: pa.Table
    rejected: Rejected
    digest: str


class LoadedEncoder:
    """The encoder of a worker. Beam shares it between threads, or by proxy between processes.

    Calls run one at a time, because the device's memory suffices for one. If the model's directory
    is watched, a new model is loaded at the beginning of a call.
    """

    def __init__(self, reference: EncoderReference) -> None:
        """Load the encoder, and check that it can align pairs.

        Raises:
            ConfigError: It cannot be loaded, or is not the planned one.
            WorkerError: It fails on any pair.
        """
        self._reference = reference
        self._lock = threading.Lock()
        self._aligner: Any = None
        self._stamp: Stamp = ()
        if reference.digest is None:
            self._refresh()
        else:
            self._take(reference)

    def align(self, table: pa.Table) -> Alignment:
        """Align one shard's pairs.

        Args:
            table: Pairs as `models.encoder.neural.EncoderAligner.align_or_reject` takes them.

        Raises:
            ConfigError: The model in a watched directory cannot be used.
            WorkerError: See `models.encoder.hosting.failing_pairs.align_isolated`.
        """
        with self._lock:
            if self._reference.digest is None:
                self._refresh()
            linked, rejected = align_isolated(self._align, table, self._fatal)
            return Alignment(linked, rejected, self._aligner.digest)

    def align_or_reject(self, table: pa.Table) -> Aligned:
        """Align one shard's pairs; see `align`."""
        linked, rejected, _ = self.align(table)
        return linked, dict(rejected)

    def with_soft_links(self, least: float) -> "LoadedEncoder":  # noqa: ARG002 - the head decides
        """Return the encoder itself, whose head determines its links."""
        return self

    def align_stream(self, stream: bytes) -> tuple[bytes, Rejected, str]:
        """Align as `align` does, with Arrow streams for a caller in another process."""
        linked, rejected, digest = self.align(from_stream(stream))
        return to_stream(linked).to_pybytes(), rejected, digest

    def _align(self, table: pa.Table) -> tuple[pa.Table, Rejected]:
        """Align; an error must not contain paths, because it becomes a rejected pair's detail."""
        try:
            return self._aligner.align_or_reject(table)
        except WorkerError as error:
            raise WorkerError(str(error).removeprefix(f"{self._model}: ")) from None

    @property
    def _model(self) -> str:
        return self._aligner.config.model

    @property
    def _fatal(self) -> tuple[type[BaseException], ...]:
        return (ConfigError, OSError, MemoryError, *encoder_reference.out_of_memory())

    def _take(self, reference: EncoderReference) -> None:
        self._aligner = None  # free its memory before the next model measures the free memory
        self._aligner = encoder_reference.load(reference)
        given = reference.config.tokens == "given"
        columns = (schemas.TOKENS if given else schemas.PAIRS).names
        try:
            check_sound(self._align, columns, self._fatal)
        except WorkerError as error:
            raise WorkerError(f"{self._model}: {error}") from None

    def _refresh(self) -> None:
        """Load the model published in the watched directory if it has changed.

        While its files are being written, the current model is kept.
        """
        watched = self._reference.config.model
        before = encoder_reference.stamp(watched)
        if before == self._stamp and self._aligner is not None:
            return
        # If the link moves while files are read, two models must not be mixed.
        config = self._reference.config.changed(model=os.path.realpath(watched))
        try:
            published = encoder_reference.find(config)
            if before == encoder_reference.stamp(watched):
                if self._aligner is None or published.digest != self._aligner.digest:
                    self._take(published)
                    _log.info("%s: aligning with %s from now on", watched, published.digest)
                self._stamp = before
                return
        except ConfigError:
            if before == encoder_reference.stamp(watched):
                raise
        if self._aligner is None:
            raise WorkerError(
                f"{watched}: changed while it was read; publish a model by moving a link or "
                "renaming a directory"
            )
