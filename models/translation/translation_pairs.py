"""Training pairs as pieces, and the batches of each update. No torch.

A batch depends only on the pairs, the settings, the seed and its number, so training that resumes
from a checkpoint gets the same batches as without the interruption.
"""

import dataclasses
import functools
import hashlib
from collections.abc import Sequence

import numpy as np
import sentencepiece

from pairweave.models.encoder.batching import cut_batches
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.kernels.sampling import STEP_TRAINING_ORDER, draw

END, UNKNOWN = 0, 1
"""The numbers of the special pieces; padding, which comes last, is the size of the vocabulary."""

_FIRST = 2


class Vocabulary:
    """The pieces of a SentencePiece model, numbered as in the translation model.

    The end of a sentence is first, padding last, as in the models of OPUS-MT. The special pieces
    of the SentencePiece model itself are left out.
    """

    def __init__(self, model: bytes) -> None:
        """Load the model.

        Raises:
            ConfigError: It is not a SentencePiece model.
        """
        try:
            self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        except (RuntimeError, OSError) as error:
            raise ConfigError(f"this is not a SentencePiece model: {error}") from error
        self.model = model
        size = self._processor.get_piece_size()
        names = [self._processor.id_to_piece(number) for number in range(size)]
        special = {
            number
            for number in range(size)
            if self._processor.is_control(number) or self._processor.is_unknown(number)
        }
        kept = [number for number in range(size) if number not in special]
        self.pieces = ["</s>", "<unk>", *(names[number] for number in kept), "<pad>"]
        self._numbers = np.full(size, UNKNOWN, np.int32)
        self._numbers[kept] = np.arange(_FIRST, _FIRST + len(kept), dtype=np.int32)

    @property
    def padding(self) -> int:
        """Return the number of the padding."""
        return len(self.pieces) - 1

    @functools.cached_property
    def digest(self) -> str:
        """Return the hex SHA-256 of the model."""
        return hashlib.sha256(self.model).hexdigest()

    def encode(self, texts: Sequence[str]) -> list[np.ndarray]:
        """Return the numbers of each text's pieces, with the end of the sentence."""
        encoded = self._processor.encode(list(texts), out_type=int, num_threads=1)
        return [np.append(self._numbers[pieces], np.int32(END)) for pieces in encoded]

    def cut(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the pieces of each text, with the end of the sentence."""
        encoded = self._processor.encode(list(texts), out_type=str, num_threads=1)
        return [[*pieces, self.pieces[END]] for pieces in encoded]

    def join(self, pieces: Sequence[str]) -> str:
        """Return the text of pieces."""
        return str(self._processor.decode_pieces(list(pieces)))


@dataclasses.dataclass(frozen=True)
class PassPairs:
    """The pairs of one pass over the data.

    Attributes:
        sources: Pieces of each source ``[pair]``.
        targets: Pieces of each target ``[pair]``.
        left_out: Pairs that are too long.
    """

    sources: list[np.ndarray]
    targets: list[np.ndarray]
    left_out: int

    @functools.cached_property
    def lengths(self) -> np.ndarray:
        """Return the number of pieces of each pair's longer side ``[pair]``."""
        sides = zip(self.sources, self.targets, strict=True)
        return np.array([max(len(source), len(target)) for source, target in sides], np.int64)


def encode_pass(
    vocabulary: Vocabulary, sources: Sequence[str], targets: Sequence[str], max_pieces: int
) -> PassPairs:
    """Return the pieces of the pairs whose sides are short enough and not empty."""
    both = zip(vocabulary.encode(sources), vocabulary.encode(targets), strict=True)
    fit = [pair for pair in both if all(1 < len(side) <= max_pieces for side in pair)]
    return PassPairs([s for s, _ in fit], [t for _, t in fit], len(sources) - len(fit))


class Batches:
    """The batches of all updates.

    Attributes:
        passes: The pairs of each pass; after the last pass, the first one is used again.
    """

    def __init__(self, passes: Sequence[PassPairs], batch_tokens: int, seed: int) -> None:
        """Keep the pairs; each pass is put in order when it begins."""
        self.passes = passes
        self._tokens, self._seed = batch_tokens, seed
        self._starts = [0]
        self._order = functools.lru_cache(maxsize=2)(self._shuffled)

    def batch(self, step: int) -> tuple[int, np.ndarray]:
        """Return the pass of an update, and the numbers of its pairs."""
        while self._starts[-1] <= step:
            self._starts.append(self._starts[-1] + len(self._order(len(self._starts) - 1)))
        epoch = int(np.searchsorted(self._starts, step, "right")) - 1
        return epoch % len(self.passes), self._order(epoch)[step - self._starts[epoch]]

    def _shuffled(self, epoch: int) -> list[np.ndarray]:
        """Return the batches of a pass in random order; a batch has pairs of similar length.

        Pairs of equal length are in random order, which differs each time.
        """
        pairs = self.passes[epoch % len(self.passes)]
        generator = np.random.Generator(np.random.Philox(key=_key(self._seed, epoch)))
        order = generator.permutation(len(pairs.lengths))
        by_length = order[np.argsort(pairs.lengths[order], kind="stable")]
        batches = [
            by_length[batch.members]
            for batch in cut_batches(pairs.lengths[by_length], self._tokens)
        ]
        return [batches[place] for place in generator.permutation(len(batches))]


@dataclasses.dataclass(frozen=True)
class Stage:
    """A part of training with data of its own.

    Attributes:
        passes: The pairs of each pass over the data.
        steps: Its updates.
    """

    passes: tuple[PassPairs, ...]
    steps: int


class StagedBatches:
    """The batches of all updates of several stages; each stage begins with its first pass."""

    def __init__(self, stages: Sequence[Stage], batch_tokens: int, seed: int) -> None:
        """Keep the pairs of all stages."""
        self._begins = np.cumsum([0, *(stage.steps for stage in stages)])[:-1]
        self._batches = [Batches(stage.passes, batch_tokens, seed) for stage in stages]

    def batch(self, step: int) -> tuple[PassPairs, np.ndarray]:
        """Return the pairs of an update's pass, and the numbers of the pairs in its batch."""
        stage = int(np.searchsorted(self._begins, step, "right")) - 1
        batches = self._batches[stage]
        number, rows = batches.batch(step - int(self._begins[stage]))
        return batches.passes[number], rows


def _key(seed: int, epoch: int) -> int:
    return int(draw(np.uint64(seed), np.uint64(epoch), STEP_TRAINING_ORDER, np.uint64(0)))


def padded(rows: Sequence[np.ndarray], padding: int) -> np.ndarray:
    """Return rows of one length, int64 ``[row, piece]``."""
    matrix = np.full((len(rows), max(map(len, rows))), padding, np.int64)
    for number, row in enumerate(rows):
        matrix[number, : len(row)] = row
    return matrix
