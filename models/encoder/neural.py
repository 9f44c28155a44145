"""The neural word aligner: an encoder and a head, from tokens to directed links."""

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import torch

from pairweave.models.aligner import require_countable
from pairweave.models.encoder.batching import Budget, cut_batches, prefetch, run_batches
from pairweave.models.encoder.blocks import Block, Side, cut_blocks, prepare_block
from pairweave.models.encoder.encoder import (
    OUT_OF_MEMORY,
    Encoder,
    inference,
    inspect_encoder,
    load_encoder,
)
from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.encoder.heads import extract
from pairweave.models.encoder.piece_encoder import PieceEncoder
from pairweave.models.encoder.piece_similarity import padded
from pairweave.models.encoder.pieces import add_piece_tokens
from pairweave.transforms import progress_marks, schemas
from pairweave.transforms.arrow import flat_columns
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.kernels.text.encoder_pieces import UnitLinks

VERSION = 1
"""Increased when the same model and settings give different links."""

_BLOCK_CHARACTERS = {"cpu": 1 << 18, "cuda": 1 << 22}
"""Characters whose hidden states are in memory at once: about 0.2 GB in fp32 on a CPU."""

_BLOCK_CELLS = {"cpu": 1 << 18, "cuda": 1 << 21}
"""Maximum number of cells that a head processes at once."""

Tensor: TypeAlias = torch.Tensor


class EncoderAligner:
    """An encoder with a head; implements `models.aligner.Aligner`.

    `align` must not be called concurrently: the device's memory is planned for one call.
    """

    def __init__(self, config: EncoderConfig, encoder: Encoder, threads: int = 1) -> None:
        """Keep the parts (`load_aligner` makes them) and measure the device.

        Args:
            config: The settings.
            encoder: The encoder.
            threads: Number of batches that a CPU processes at once, each on one thread, so that no
                sum depends on their number. A GPU processes one.
        """
        self.config = config
        self.encoder = encoder
        self._pieces = PieceEncoder(config, encoder, threads)
        self._cells = Budget(_BLOCK_CELLS[encoder.device.type], OUT_OF_MEMORY)

    @property
    def budget(self) -> Budget:
        """Return the limit of padded pieces in a batch."""
        return self._pieces.budget

    @property
    def digest(self) -> str:
        """Return the hex SHA-256 of everything that determines the links.

        The device and the batches are left out: they change links no more than the precision
        does.
        """
        return _digest(self.config, self.encoder.layer, self.encoder.digest)

    def align(self, table: pa.Table) -> pa.Table:
        """Turn TOKENS rows (PAIRS rows, if pieces are the tokens) into LINKED rows, in order.

        Raises:
            WorkerError: A side has more tokens than links can number, or a pair is to be
                rejected (`align_or_reject` does that).
        """
        linked, rejected = self.align_or_reject(table)
        for row, (reason, detail) in rejected.items():
            raise WorkerError(f"pair {table['id'][row]}: {reason}: {detail}")
        return linked

    def align_or_reject(self, table: pa.Table) -> tuple[pa.Table, dict[int, tuple[str, str]]]:
        """Turn TOKENS rows into LINKED rows, and reject those that the encoder cannot align.

        Args:
            table: Pairs with token offsets (`transforms.schemas.TOKENS`), or without
                (`transforms.schemas.PAIRS`) if the encoder's pieces are the tokens.

        Returns:
            The LINKED rows, in the same order and without the rejected ones; and the reason and a
            detail of each rejected row, by row of ``table``.

        Raises:
            WorkerError: A side has more tokens than links can number, or the encoder returned a
                value that is not finite.
        """
        if self.config.tokens == "pieces":
            table = add_piece_tokens(table, self.encoder.tokenizer)
        schemas.require(table, schemas.TOKENS)
        table = table.combine_chunks()
        require_countable(table)
        rejected: dict[int, tuple[str, str]] = {}
        rows, futures = [], []
        characters = _BLOCK_CHARACTERS[self.encoder.device.type]
        blocks = prefetch(
            cut_blocks(table, characters),
            lambda rows: prepare_block(table, rows, self.encoder, self.config),
        )
        with ThreadPoolExecutor(max_workers=1) as pool:
            for block in blocks:
                rejected |= block.rejected
                rows.append(block.rows)
                futures.append(pool.submit(block.token_links, self.find_links(block)))
                progress_marks.aligned(len(block.rows))
            links = [future.result() for future in futures]
        kept = table
        if rejected:
            gone = np.zeros(table.num_rows, dtype=np.bool_)
            gone[list(rejected)] = True
            kept = table.filter(pa.array(~gone))
        forward, reverse = _in_row_order(rows, links)
        columns = [pa.chunked_array([column]) for column in (forward, reverse)]
        return (
            pa.Table.from_arrays([*kept.columns, *columns], schema=schemas.LINKED),
            dict(sorted(rejected.items())),
        )

    @inference()
    def find_links(self, block: Block) -> UnitLinks:
        """Encode a block and extract its links.

        Raises:
            WorkerError: The encoder returned a value that is not finite, as may happen in fp16.
        """
        hidden = self.encode(block)
        self._pieces.require_finite(hidden)
        return self._read_off(block, hidden)

    def encode(self, block: Block) -> Tensor:
        """Return the vector of every piece of a block, ``[piece, hidden]``."""
        return self._pieces.encode(block.ids, block.sequences)

    def _read_off(self, block: Block, hidden: Tensor) -> UnitLinks:
        """Extract the links of all pairs from hidden states, in batches of similar size."""
        source, target = block.source, block.target
        source_units = self._units(source, hidden)
        target_units = self._units(target, hidden)
        sizes = np.diff(source.offsets), np.diff(target.offsets)
        real = np.flatnonzero((sizes[0] > 0) & (sizes[1] > 0))
        widest = np.maximum(*sizes)[real]
        parts: list[tuple[np.ndarray, ...]] = []

        @inference()
        def work(members: np.ndarray) -> None:
            pairs = real[members]
            links = extract(
                padded(
                    source_units,
                    self._pieces.send(source.offsets[pairs]),
                    int(sizes[0][pairs].max()),
                ),
                padded(
                    target_units,
                    self._pieces.send(target.offsets[pairs]),
                    int(sizes[1][pairs].max()),
                ),
                self._pieces.send(sizes[0][pairs]),
                self._pieces.send(sizes[1][pairs]),
                self.config.head,
            )
            either = (links.forward | links.reverse).nonzero(as_tuple=True)
            directions = links.forward[either].byte() + 2 * links.reverse[either].byte()
            columns = (
                *either,
                directions,
                links.forward_probability[either],
                links.reverse_probability[either],
            )
            pair, *others = (column.cpu().numpy() for column in columns)
            parts.append((pairs[pair], *others))

        batches = cut_batches(widest * widest, self._cells.limit)
        run_batches(batches, self._cells, work, self.encoder.free, self._pieces.threads)
        return _grouped(parts, len(block.rows))

    def _units(self, side: Side, hidden: Tensor) -> Tensor:
        """Return the compared vectors: those of pieces, or of words as the mean of their pieces."""
        if side.pooled is None or side.counts is None:
            return hidden[side.begin :][: int(side.offsets[-1])]
        vectors = hidden[self._pieces.send(side.pooled)].float()
        return torch.segment_reduce(vectors, "mean", lengths=self._pieces.send(side.counts), axis=0)


def load_aligner(config: EncoderConfig, threads: int = 1) -> EncoderAligner:
    """Load an aligner with its encoder.

    Args:
        config: The settings.
        threads: See `EncoderAligner`.

    Raises:
        ConfigError: See `models.encoder.encoder.load_encoder`.
    """
    return EncoderAligner(config, load_encoder(config), threads)


def find_digest(config: EncoderConfig) -> str:
    """Return the digest that the aligner will have, without loading its weights.

    Raises:
        ConfigError: See `models.encoder.encoder.inspect_encoder`.
    """
    return _digest(config, *inspect_encoder(config))


def _digest(config: EncoderConfig, layer: int, files: str) -> str:
    settings = config.model_dump(exclude={"model", "revision", "token_budget", "device"})
    settings["layer"] = layer
    head = settings["head"]
    head["name"], head["threshold"] = head.pop("head"), config.head.effective_threshold
    del head["head_threshold"]
    named = {"aligner": "encoder", "version": VERSION, "files": files, **settings}
    return hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()


def _grouped(parts: list[tuple[np.ndarray, ...]], pairs: int) -> UnitLinks:
    """Sort links by pair."""
    kinds = (np.int64, np.int32, np.int32, np.uint8, np.float32, np.float32)
    columns = [
        np.concatenate([part[place] for part in parts]) if parts else np.empty(0)
        for place in range(len(kinds))
    ]
    order = np.argsort(columns[0], kind="stable")
    pair, *others = (
        column[order].astype(kind) for column, kind in zip(columns, kinds, strict=True)
    )
    return UnitLinks(np.searchsorted(pair, np.arange(pairs + 1)).astype(np.int64), *others)


def _in_row_order(
    rows: list[np.ndarray], links: list[tuple[np.ndarray, ...]]
) -> tuple[pa.Array, pa.Array]:
    """Return the links of blocks as two columns, in the order of the table."""
    order = np.argsort(np.concatenate([np.empty(0, dtype=np.int64), *rows]))
    columns = []
    for start in (0, 4):
        parts = [part[start : start + 4] for part in links]
        sizes = np.concatenate([np.empty(0, dtype=np.int64), *(np.diff(part[0]) for part in parts)])
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        fields = {
            name: np.concatenate([np.empty(0, dtype=kind), *(part[place] for part in parts)])
            for place, name, kind in (
                (1, "source", np.int16),
                (2, "target", np.int16),
                (3, "probability", np.float32),
            )
        }
        kind = schemas.LINKED.field("forward").type
        columns.append(flat_columns.list_column(offsets, fields, kind).take(pa.array(order)))
    return columns[0], columns[1]
