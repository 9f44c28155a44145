"""Translation of texts as pieces: limits, batches, and texts without a translation. No torch."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import regex

from pairweave.models.encoder.batching import Batch, Budget, cut_batches, run_batches
from pairweave.models.translators.translation_pieces import END, Languages, PieceModel
from pairweave.models.translators.translator import Rejection, TranslatorConfig
from pairweave.transforms.rejects import Reject

_VISIBLE = regex.compile(r"[^\p{White_Space}\p{Cc}\p{Default_Ignorable_Code_Point}]")

# Characters that no reader accepts (`transforms.reading.rows`).
_CONTROL = regex.compile("[\x00-\x08\x0a-\x1f]")


@dataclasses.dataclass(frozen=True, slots=True)
class Hypothesis:
    """The best translation in a beam.

    Attributes:
        pieces: Its pieces, without the language tokens and the end symbol.
        ended: Whether it ends with the end symbol.
    """

    pieces: Sequence[str]
    ended: bool


class Engine(Protocol):
    """A model that turns pieces into pieces, batch by batch."""

    @property
    def threads(self) -> int:
        """Return the number of batches that it processes at once."""
        ...

    @property
    def source_limit(self) -> int:
        """Return the maximum number of pieces of a source, including special ones."""
        ...

    @property
    def target_limit(self) -> int:
        """Return the maximum number of pieces of a translation, including languages and end."""
        ...

    @property
    def out_of_memory(self) -> tuple[type[BaseException], ...]:
        """Return the errors that mean that the device's memory ran out."""
        ...

    def search(
        self, sources: list[list[str]], prefix: list[str], beam_size: int, max_tokens: int
    ) -> list[Hypothesis]:
        """Translate a batch.

        Args:
            sources: Pieces of each source, including special ones.
            prefix: Pieces at the start of every translation.
            beam_size: Width of the beam.
            max_tokens: Maximum number of pieces of a translation, without the prefix.
        """
        ...

    def force(
        self, sources: list[list[str]], targets: list[list[str]], prefix: list[str]
    ) -> list[float]:
        """Return the mean log-probability of each target's pieces and end symbol."""
        ...

    def free(self) -> None:
        """Release unused memory of the device."""
        ...


class PieceTranslator:
    """A model with its pieces and languages; implements `translator.Translator`."""

    def __init__(
        self,
        config: TranslatorConfig,
        engine: Engine,
        pieces: PieceModel,
        languages: Languages,
        ends_source: bool,  # noqa: FBT001 - passed by name
        digest: str,
    ) -> None:
        """Keep the parts; the backends' `load` makes them."""
        self._config = config
        self._engine = engine
        self._pieces = pieces
        self._languages = languages
        self._suffix = [END] if ends_source else []
        self._digest = digest
        self.budget = Budget(config.translator_batch_tokens, engine.out_of_memory)

    @property
    def digest(self) -> str:
        """Return the hex SHA-256 of everything that determines the translations."""
        return self._digest

    @property
    def source_limit(self) -> int:
        """Return the maximum number of pieces of a source, including special ones."""
        return min(self._config.translator_source_tokens, self._engine.source_limit)

    def translate(
        self, texts: Sequence[str], source_lang: str, target_lang: str
    ) -> list[str | Rejection]:
        """Translate texts; see `models.translators.translator.Translator.translate`."""
        before, prefix = self._languages.prefixes(source_lang, target_lang)
        sources = [[*before, *cut, *self._suffix] for cut in self._pieces.cut(texts)]
        lengths = np.array([len(source) for source in sources], dtype=np.int64)
        limit = self.source_limit
        longest = min(
            self._config.max_translation_tokens, self._engine.target_limit - len(prefix) - 1
        )
        results: list[str | Rejection] = [
            Rejection(
                Reject.TOO_LONG_FOR_TRANSLATOR,
                f"{length} pieces including special ones; the translator's limit is {limit}",
            )
            for length in lengths.tolist()
        ]

        def work(members: np.ndarray) -> None:
            batch = [sources[member] for member in members]
            # One more than allowed, to tell a translation that just fits from one that continues.
            hypotheses = self._engine.search(batch, prefix, self._config.beam_size, longest + 1)
            for member, hypothesis in zip(members.tolist(), hypotheses, strict=True):
                results[member] = self._checked(hypothesis, longest)

        self._in_batches(np.flatnonzero(lengths <= limit), lengths, work)
        return results

    def score(
        self, sources: Sequence[str], targets: Sequence[str], source_lang: str, target_lang: str
    ) -> np.ndarray:
        """Return the log-probabilities of translations; see `translator.Translator.score`."""
        before, prefix = self._languages.prefixes(source_lang, target_lang)
        framed = [[*before, *cut, *self._suffix] for cut in self._pieces.cut(sources)]
        wanted = self._pieces.cut_target(targets)
        lengths = np.array([len(source) for source in framed], dtype=np.int64)
        target_lengths = np.array([len(target) + len(prefix) + 1 for target in wanted], np.int64)
        scores = np.full(len(framed), np.nan, dtype=np.float32)

        def work(members: np.ndarray) -> None:
            scores[members] = self._engine.force(
                [framed[member] for member in members],
                [wanted[member] for member in members],
                prefix,
            )

        fits = (lengths <= self.source_limit) & (target_lengths <= self._engine.target_limit)
        self._in_batches(np.flatnonzero(fits), np.maximum(lengths, target_lengths), work)
        return scores

    def _in_batches(
        self, members: np.ndarray, lengths: np.ndarray, work: Callable[[np.ndarray], None]
    ) -> None:
        """Process texts in batches of similar length, longest first."""
        batches = [
            Batch(members[batch.members], batch.width)
            for batch in cut_batches(lengths[members], self.budget.limit)
        ]
        run_batches(batches, self.budget, work, self._engine.free, self._engine.threads)

    def _checked(self, hypothesis: Hypothesis, longest: int) -> str | Rejection:
        """Return the text of a translation, or the reason why it is invalid."""
        if not hypothesis.ended or len(hypothesis.pieces) > longest:
            return Rejection(
                Reject.UNFINISHED_TRANSLATION, f"not finished after {longest} pieces, the limit"
            )
        text = self._pieces.join(hypothesis.pieces)
        if not _VISIBLE.search(text):
            return Rejection(
                Reject.EMPTY_TRANSLATION, f"{len(hypothesis.pieces)} pieces, no visible text"
            )
        if control := _CONTROL.search(text):
            where = f"the translation has U+{ord(control[0]):04X} at {control.start()}"
            return Rejection(Reject.CONTROL_CHAR, where)
        return text
