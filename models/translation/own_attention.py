"""The attention of a unit's own model: as links that put tags back, and as files to measure."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from pairweave.models.attention_aligner import AttentionAligner, AttentionSource
from pairweave.models.translation.translation_attention import default_layer, write_attention
from pairweave.models.translation.translation_pairs import Vocabulary
from pairweave.transforms.arrow.replaced_columns import replaced


@dataclasses.dataclass(frozen=True)
class OwnAttention:
    """A trained model whose attention links words.

    Attributes:
        model: A Marian model of transformers.
        vocabulary: Its vocabulary.
        pieces: The file of the vocabulary.
    """

    model: Any
    vocabulary: Vocabulary
    pieces: Path

    def aligner(self, method: str, layer: int | None, work: Path) -> Callable[[pa.Table], pa.Table]:
        """Return a function that links the words of TOKENS rows in both directions.

        Args:
            method: Whose attention a piece has, ``naive`` or ``shift``.
            layer: Layer of the decoder; None for that of the method (`default_layer`).
            work: The directory for the file of attention.
        """
        if layer is None:
            layer = default_layer(method, self.model.config.decoder_layers)

        def align(table: pa.Table) -> pa.Table:
            path = work / "attention.npz"
            sides = (table.column(side).to_pylist() for side in ("source", "target"))
            # A model that repeats itself may write more pieces than it has positions.
            write_attention(path, self.model, self.vocabulary, *sides, cut_targets=True)
            lines = pa.array(range(1, table.num_rows + 1), table.column("line").type)
            numbered = replaced(table, "line", lines)
            source = AttentionSource(str(path), method, layer, None, str(self.pieces))
            linked = AttentionAligner(source).align(numbered)
            path.unlink()
            return linked

        return align

    def write_sets(
        self, sets: Mapping[str, tuple[Sequence[str], Sequence[str]]], directory: Path
    ) -> None:
        """Write the attention for the pairs of each set to ``directory/NAME.npz``.

        Args:
            sets: Both sides of each set, by its name.
            directory: The directory.

        Raises:
            ConfigError: A pair is too long for the model.
        """
        for name, sides in sets.items():
            write_attention(directory / f"{name}.npz", self.model, self.vocabulary, *sides)
