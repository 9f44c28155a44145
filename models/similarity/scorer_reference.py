"""The neural scorer of a job: its reference, and how workers load it.

Importable without torch, which is imported when an encoder is looked up.
"""

import dataclasses
import threading
from types import ModuleType
from typing import Any

import pyarrow as pa

from pairweave.models.encoder.batching import allowed_threads
from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.encoder.encoder_options import LongPairs
from pairweave.models.encoder.hosting import encoder_reference
from pairweave.models.encoder.hosting.failing_pairs import Align, Rejected, align_isolated
from pairweave.models.model_store import LoadedOnce
from pairweave.models.neural_models import absolute_model, import_neural, one_thread
from pairweave.models.similarity import idf
from pairweave.models.similarity.idf import IdfReference
from pairweave.models.similarity.similarity_options import (
    SimilarityConfig,
    SimilarityEncoderOptions,
)
from pairweave.models.similarity.similarity_score import yisi_layer
from pairweave.models.similarity.vector_projection import ProjectionReference
from pairweave.transforms.errors import ConfigError

VERSION = 1
"""Increased when the scores of the same model and settings change."""

_loaded: LoadedOnce["LoadedScorer"] = LoadedOnce()


@dataclasses.dataclass(frozen=True)
class SimilarityReference:
    """A reference to an encoder that compares pairs, which is sent to workers.

    Attributes:
        encoder: Its settings; a local directory is absolute, and the layer is counted from the
            front.
        digest: Digest of its files.
        config: How similarities become a score.
        projection: The map of source vectors, if any.
        scorer: ``yisi2`` or ``margin``.
        sweep: Numbers of the layers with a column of their own, from the front, ascending; the last
            is the encoder's last. Empty for none.
        threads: Number of batches that a CPU processes at once; does not change the output.
    """

    encoder: EncoderConfig
    digest: str
    config: SimilarityConfig
    projection: ProjectionReference | None = None
    scorer: str = "yisi2"
    sweep: tuple[int, ...] = ()
    threads: int = 1

    @property
    def settings(self) -> dict[str, object]:
        """Return everything that determines the scores, except the idf."""
        common = {
            "scorer": self.scorer,
            "encoder": self.digest,
            "layer": self.encoder.layer,
            "precision": self.encoder.precision,
            "long_pairs": self.encoder.long_pairs,
            "scorer_version": VERSION,
        }
        if self.scorer == "margin":
            return common | {
                "pooling": self.config.pooling,
                "neighbours": self.config.neighbours,
            }
        sweep = {"sweep_layers": list(self.sweep)} if self.sweep else {}
        return common | {
            "alpha": self.config.alpha,
            "lm_weight": self.config.lm_weight,
            "projection": None if self.projection is None else self.projection.digest,
            **sweep,
        }

    def with_threads(self, threads: int) -> "SimilarityReference":
        """Return a reference to the same encoder that processes a number of batches at once."""
        return dataclasses.replace(self, threads=threads)

    def load(self, counted: IdfReference | None = None) -> "LoadedScorer":
        """Return the scorer, loaded once per process.

        Args:
            counted: Document frequencies of pieces, for ``yisi2``.

        Raises:
            ConfigError: It cannot be loaded, or is not the planned one.
        """
        key = (self, None if counted is None else counted.digest)
        return _loaded.load(key, lambda: LoadedScorer(self, counted))


class LoadedScorer:
    """The scorer of a process; calls run one at a time, since memory suffices for one."""

    def __init__(self, reference: SimilarityReference, counted: IdfReference | None) -> None:
        """Load the encoder, and check that it can score pairs.

        Raises:
            ConfigError: It cannot be loaded, or is not the planned one.
            WorkerError: The encoder fails on every pair.
        """
        self._neural = _neural()
        self._lock = threading.Lock()
        from pairweave.models.similarity.sentence_vectors import SentenceEncoder
        from pairweave.models.similarity.yisi_scorer import YisiScorer

        layers = (reference.encoder.layer, *reference.sweep) if reference.sweep else ()
        deepest = reference.encoder.changed(layer=max(layers, default=0))
        pieces = load_pieces(deepest if layers else reference.encoder, reference.threads)
        if pieces.encoder.digest != reference.digest:
            raise ConfigError(encoder_reference.changed(reference.encoder))
        self._score: Align
        if reference.scorer == "margin":
            self._score = SentenceEncoder(reference.config.pooling, pieces).encode_or_reject
            return
        assert counted is not None
        projection = None if reference.projection is None else reference.projection.load()
        scorer = YisiScorer(reference.config, pieces, counted.load(), projection, layers)
        self._score = scorer.score_or_reject

    def score_or_reject(self, table: pa.Table) -> tuple[pa.Table, Rejected]:
        """Score pairs, or encode their sides; only pairs on which the encoder fails are rejected.

        Args:
            table: Pairs (with the columns of `transforms.schemas.PAIRS`).

        Returns:
            See `models.similarity.yisi_scorer.YisiScorer.score_or_reject`, or for ``margin``
            `models.similarity.sentence_vectors.SentenceEncoder.encode_or_reject`.

        Raises:
            WorkerError: See `models.encoder.hosting.failing_pairs.align_isolated`.
        """
        fatal = (ConfigError, OSError, MemoryError, *self._neural.OUT_OF_MEMORY)
        table = table.select(["id", "source", "target"])
        with self._lock:
            return align_isolated(self._score, table, fatal)


def find(
    options: SimilarityEncoderOptions,
    config: SimilarityConfig,
    long_pairs: LongPairs = "windows",
    projection: ProjectionReference | None = None,
    scorer: str = "yisi2",
    sweep: int | None = None,
) -> SimilarityReference:
    """Find an encoder; hash its weights without loading them.

    Args:
        options: The encoder.
        config: How similarities become a score.
        long_pairs: Treatment of pairs over its limit.
        projection: The map of source vectors, if any.
        scorer: ``yisi2`` or ``margin``.
        sweep: Number of layers, counted from the last, that get a column of their own.

    Raises:
        ConfigError: The extra ``neural`` is not installed, there is no such model or layer, it
            lacks the language model that the score needs, or the map belongs to other vectors.
    """
    _neural()
    from pairweave.models.encoder import encoder

    chosen = encoder_config(options, long_pairs, last=scorer == "margin")
    encoder.check_device(chosen)
    if config.lm_weight:
        from pairweave.models.similarity import left_to_right

        left_to_right.check_language_model(chosen)
    layer, digest = encoder.inspect_encoder(chosen)
    chosen = chosen.changed(layer=layer)
    if projection is not None:
        fitted = projection.load()
        if (fitted.encoder, fitted.layer) != (digest, layer):
            raise ConfigError(
                f"--projection {projection.directory}: was fitted on layer {fitted.layer} of the "
                f"encoder {fitted.encoder[:12]}, but --encoder {options.encoder} is "
                f"{digest[:12]}, with layer {layer}; fit one on it with projection_fit"
            )
    swept = () if sweep is None else _last_layers(chosen, sweep)
    return SimilarityReference(chosen, digest, config, projection, scorer, swept)


def _last_layers(config: EncoderConfig, wanted: int) -> tuple[int, ...]:
    """Return the numbers of the last layers of an encoder, from the front, ascending.

    Raises:
        ConfigError: It has fewer layers.
    """
    from pairweave.models.encoder import encoder

    last, _ = encoder.inspect_encoder(config.changed(layer=-1))
    if wanted > last + 1:
        raise ConfigError(
            f"--sweep_layers {wanted}: {config.model} has {last} layers and its embeddings; give "
            f"at most {last + 1}"
        )
    return tuple(range(last - wanted + 1, last + 1))


def check_idf(reference: SimilarityReference, counted: IdfReference) -> None:
    """Refuse counts of another encoder's pieces.

    Raises:
        ConfigError: The counts belong to another encoder.
    """
    if counted.load().pieces != idf.digest_of(load_tokenizer(reference.encoder)):
        raise ConfigError(
            f"--idf {counted.directory}: the pieces that were counted are not those of "
            f"{reference.encoder.model}; give the counts of a run with this encoder, or leave "
            "--idf out"
        )


def encoder_config(
    options: SimilarityEncoderOptions, long_pairs: LongPairs = "windows", *, last: bool = False
) -> EncoderConfig:
    """Return the settings of the encoder that the options name.

    The default layer is the last for ``margin``, and for ``yisi2`` the one a third of the layers
    before the end (`similarity_score.yisi_layer`).
    """
    assert options.encoder is not None
    layer = options.layer
    config = EncoderConfig(
        model=absolute_model(options.encoder),
        layer=-1 if layer is None else layer,
        precision=options.precision,
        long_pairs=long_pairs,
        token_budget=str(options.token_budget or "auto"),
        revision=options.revision,
    )
    if layer is not None or last:
        return config
    from pairweave.models.encoder import encoder

    layers, _ = encoder.inspect_encoder(config)
    return config.changed(layer=yisi_layer(layers))


def load_pieces(config: EncoderConfig, threads: int = 1) -> Any:  # noqa: ANN401 - a PieceEncoder
    """Load an encoder that turns pieces into vectors.

    Raises:
        ConfigError: It cannot be loaded.
    """
    _neural()
    from pairweave.models.encoder.encoder import load_encoder
    from pairweave.models.encoder.piece_encoder import PieceEncoder

    one_thread()
    return PieceEncoder(config, load_encoder(config), allowed_threads(threads))


def load_tokenizer(config: EncoderConfig) -> Any:  # noqa: ANN401 - a tokenizers.Tokenizer
    """Load an encoder's tokenizer without its weights.

    Raises:
        ConfigError: It cannot be loaded.
    """
    _neural()
    from pairweave.models.encoder import encoder

    return encoder.load_tokenizer(config)


def _neural() -> ModuleType:
    """Import the modules that need torch.

    Raises:
        ConfigError: The extra is not installed.
    """
    return import_neural("pairweave.models.encoder.encoder", "--scorer yisi2")
