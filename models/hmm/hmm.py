"""The statistical word aligner: IBM Model 1, then HMMs of both directions trained to agree.

Source: Vogel, Ney and Tillmann (1996) for the HMM, Liang, Taskar and Klein (2006) for the
agreement. `fit` trains, `HmmModel.align` aligns; neither sees Beam.
"""

import dataclasses
import functools
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from pairweave.models.aligner import AlignsEveryPair, require_countable
from pairweave.models.hmm.hmm_config import HmmConfig
from pairweave.models.hmm.hmm_files import HEADER, digest_of, pack, unpack
from pairweave.models.hmm.hmm_parts import Parts
from pairweave.models.hmm.hmm_vocabulary import cut_pairs
from pairweave.models.hmm.prior import Earlier
from pairweave.models.hmm.prior_choice import (
    ENOUGH_PAIRS,
    FEW_PAIRS,
    SAMPLE_PAIRS,
    agreement_of,
    is_better,
)
from pairweave.models.hmm.training import train
from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.kernels.hmm import agreement
from pairweave.transforms.kernels.scratch import make_scratch

__all__ = ["HmmConfig", "HmmModel", "fit"]


class HmmModel(AlignsEveryPair):
    """A fitted aligner; implements `models.aligner.Aligner`."""

    def __init__(self, parts: Parts) -> None:
        """Keep the parts, which must never be changed."""
        self._parts = parts
        self._model = parts.model

    @functools.cached_property
    def _files(self) -> dict[str, bytes]:
        return pack(self._parts)

    @property
    def digest(self) -> str:
        """Return the hex SHA-256 of everything that determines the links."""
        return digest_of(self._files[HEADER])

    @property
    def parts(self) -> Parts:
        """Return the parts of the fitted model, which must not be changed."""
        return self._parts

    @property
    def config(self) -> HmmConfig:
        """Return the settings that the model was fitted with."""
        return self._parts.config

    @property
    def report(self) -> dict[str, Any]:
        """Return pairs, tokens, vocabularies and log-likelihoods (forward, reverse) of the fit."""
        return dict(json.loads(self._files[HEADER])["fit"])

    def with_threshold(self, threshold: float) -> "HmmModel":
        """Return the same model with another threshold for the posterior probability of links.

        Nothing is copied. A low threshold gives nearly all links that the model considers.

        Raises:
            ConfigError: The threshold is out of range (`models.hmm.hmm_config`).
        """
        config = dataclasses.replace(self._parts.config, decode="posterior", threshold=threshold)
        return HmmModel(dataclasses.replace(self._parts, config=config))

    def with_soft_links(self, least: float) -> "HmmModel":
        """Return the same model with every link of at least this posterior probability."""
        return self.with_threshold(least)

    def align(self, table: pa.Table) -> pa.Table:
        """Turn TOKENS rows into LINKED rows, in the same order.

        Raises:
            WorkerError: A side has more tokens than links can number.
        """
        schemas.require(table, schemas.TOKENS)
        require_countable(table)
        forward, reverse = [], []
        parts, scratch = self._parts, make_scratch()
        for source, target in cut_pairs(table):
            made = agreement.align_pairs(
                *parts.sides(source, target),
                self._model,
                parts.config.threshold,
                1 if parts.config.decode == "viterbi" else None,
                scratch,
            )
            forward.append(_links(*made[:4]))
            reverse.append(_links(*made[4:]))
        kind = schemas.LINKED.field("forward").type
        return pa.Table.from_arrays(
            [*table.columns, pa.chunked_array(forward, kind), pa.chunked_array(reverse, kind)],
            schema=schemas.LINKED,
        )

    def to_files(self) -> dict[str, bytes]:
        """Return the model's files, by name; the same model gives the same bytes."""
        return dict(self._files)

    @classmethod
    def from_files(cls, files: Mapping[str, bytes]) -> "HmmModel":
        """Read a model.

        Raises:
            ConfigError: A file is missing, damaged or has another version.
        """
        return cls(unpack(files))


def fit(
    table: pa.Table, config: HmmConfig, threads: int = 1, earlier: Earlier | None = None
) -> HmmModel:
    """Fit an aligner to the pairs of a TOKENS table.

    Args:
        table: Pairs with token offsets; only texts and tokens are used.
        config: The settings.
        threads: Threads to use; their number changes no bit of the model.
        earlier: An earlier fit, whose evidence about each word counts as a few occurrences
            (`models.hmm.prior`); None for none. It is left out if the fit is no better with it
            (`models.hmm.prior_choice`).

    Returns:
        The model. It aligns other pairs as well as these.

    Raises:
        ConfigError: There are no pairs, or no threads.
    """
    schemas.require(table, schemas.TOKENS)
    if table.num_rows == 0:
        raise ConfigError("an aligner needs pairs to be fitted on, got none")
    if threads < 1:
        raise ConfigError(f"threads must be at least 1, got {threads}")
    if earlier is None:
        return HmmModel(train(table, config, threads))
    if not FEW_PAIRS <= table.num_rows < ENOUGH_PAIRS:
        used = table.num_rows < FEW_PAIRS
        model = HmmModel(train(table, config, threads, earlier if used else None))
        return _reported(model, earlier.report(used=used))
    alone = HmmModel(train(table, config, threads, turn=(0, 2)))
    started = HmmModel(train(table, config, threads, earlier, turn=(1, 2)))
    sample = table.slice(0, SAMPLE_PAIRS)
    without, given = (agreement_of(model.align(sample)) for model in (alone, started))
    used = is_better(given, without)
    report = earlier.report(used=used, agreement=given, agreement_without=without)
    return _reported(started if used else alone, report)


def _reported(model: HmmModel, prior: dict[str, object]) -> HmmModel:
    """Return the model with a report on whether the earlier fit was used."""
    report = {**model.parts.report, "prior": prior}
    return HmmModel(dataclasses.replace(model.parts, report=report))


def _links(
    offsets: np.ndarray, source: np.ndarray, target: np.ndarray, probability: np.ndarray
) -> pa.Array:
    """Build a column of links from flat arrays."""
    struct = pa.StructArray.from_arrays(
        [pa.array(source), pa.array(target), pa.array(probability)], fields=list(schemas.LINK)
    )
    return pa.ListArray.from_arrays(
        pa.array(offsets), struct, type=schemas.LINKED.field("forward").type
    )
