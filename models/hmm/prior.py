"""The expected counts of an earlier fit, which a new fit takes over as pseudo-counts.

They are Dirichlet priors, as are the back-offs of the model itself (MacKay and Bauman Peto 1995).
The evidence of the earlier fit about a word counts as at most `MAX_LINKS` occurrences, or as fewer
if the fit saw the word less often. So the new text alone decides about words that are common in it,
and both texts decide about words that are rare there.
"""

import dataclasses

import numpy as np
import pyarrow as pa

from pairweave.models.hmm.hmm_parts import Parts
from pairweave.models.hmm.hmm_vocabulary import Vocabulary, build_vocabulary
from pairweave.models.hmm.respelling import spellings_of
from pairweave.transforms.kernels.hmm import model1
from pairweave.transforms.kernels.hmm.hmm import BUCKETS, JUMPS, bucket_of
from pairweave.transforms.kernels.hmm.model1 import FIXED_POINT

MAX_LINKS = 10.0
"""Maximum expected links of a word, and jumps after it, taken over from the earlier fit."""

MAX_JUMPS = 10_000.0
"""Maximum number of jumps in each direction that are taken over from the earlier fit."""

MAX_ALONE = 1_000.0
"""Maximum number of words without a partner, on each side, that are taken over from it."""

_BUCKETS = np.array([bucket_of(distance) for distance in range(-JUMPS, JUMPS + 1)])


@dataclasses.dataclass(frozen=True)
class SideEvidence:
    """The evidence of an earlier fit about the words of one side.

    Attributes:
        words: Its vocabulary.
        alone: Expected occurrences of each word without a partner, float64 ``[word]``.
        jumps: Expected jumps of each distance after its words, float64 ``[distance]``.
        after: Expected jumps after each word, an unseen one and the beginning of the side, float64
            ``[word + 2, bucket]``.
    """

    words: Vocabulary
    alone: np.ndarray
    jumps: np.ndarray
    after: np.ndarray


@dataclasses.dataclass(frozen=True)
class Evidence:
    """The expected counts of an earlier fit, recovered from its probabilities.

    Attributes:
        source: The source side; its jumps are those of the forward direction.
        target: The target side.
        rows: Source word of each entry of the lexicon, int64.
        columns: Target word of each entry, int64.
        links: Expected links of each entry, float64.
    """

    source: SideEvidence
    target: SideEvidence
    rows: np.ndarray
    columns: np.ndarray
    links: np.ndarray

    def exchanged(self) -> "Evidence":
        """Return the evidence of the same fit with both sides exchanged."""
        order = np.lexsort((self.rows, self.columns))
        rows, columns = self.columns[order], self.rows[order]
        return Evidence(self.target, self.source, rows, columns, self.links[order])


@dataclasses.dataclass(frozen=True)
class Prior:
    """Pseudo-counts for the words of a new fit, all in units of 1 / FIXED_POINT except ``jumps``.

    Attributes:
        keys: ``source word << 32 | target word`` of each entry, ascending, int64.
        links: int64 ``[entry]``.
        null_source: Source words without a partner, int64 ``[source word]``.
        null_target: Target words without a partner, int64 ``[target word]``.
        jumps: float64 ``[direction, distance]``.
        after_source: int64 ``[source word + 2, bucket]``.
        after_target: int64 ``[target word + 2, bucket]``.
    """

    keys: np.ndarray
    links: np.ndarray
    null_source: np.ndarray
    null_target: np.ndarray
    jumps: np.ndarray
    after_source: np.ndarray
    after_target: np.ndarray


@dataclasses.dataclass(frozen=True)
class Earlier:
    """An earlier fit from which a new fit starts.

    Attributes:
        parts: The parts of the earlier fit.
        digest: The digest of the earlier fit, for the report.
        exchanged: Whether its source side is in the language of the new target side, or the other
            way round.
    """

    parts: Parts
    digest: str
    exchanged: bool = False

    def evidence(self) -> Evidence:
        """Return the counts of the earlier fit, with the sides of the new fit."""
        evidence = evidence_of(self.parts)
        return evidence.exchanged() if self.exchanged else evidence

    def report(self, *, used: bool, **agreement: float) -> dict[str, object]:
        """Return the entry about the earlier fit in the report of the new fit.

        Args:
            used: Whether the new fit started from it.
            agreement: How far both directions agree with the earlier fit and without it, if that
                was compared.
        """
        return {"digest": self.digest, "exchanged": self.exchanged, "used": used, **agreement}


def evidence_of(parts: Parts) -> Evidence:
    """Recover the expected counts of a fit.

    A probability is ``count / (mass + prior)`` plus the share of the back-off, which is computed
    again without counts. A word has as many jumps after it as links. The number of words without a
    partner follows from ``null_probability``.
    """
    lexicon = parts.lexicon
    stems = _stem_entries(parts)
    alike = np.empty(len(lexicon.columns), dtype=np.float32)
    words = len(parts.source)
    model1.entry_likeness(
        0,
        words,
        lexicon.row_offsets,
        lexicon.columns,
        spellings_of(parts.source.spellings, parts.respelling, syllables=parts.syllables),
        spellings_of(parts.target.spellings, parts.respelling, syllables=parts.syllables),
        alike,
    )
    chance = np.empty_like(lexicon.probabilities)
    model1.maximize(
        0,
        words,
        model1.Entries(lexicon.row_offsets, lexicon.columns, stems, alike),
        np.zeros(len(lexicon.columns), dtype=np.int64),
        lexicon.stem_counts,
        parts.source_words,
        parts.target_words,
        chance,
    )
    rows = np.repeat(np.arange(words, dtype=np.int64), np.diff(lexicon.row_offsets))
    of = parts.source_words.mass[rows].astype(np.float64) + parts.source_words.prior
    links = (lexicon.probabilities[:, 0].astype(np.float64) - chance[:, 0]) * of
    alone = parts.config.null_probability
    sizes = [float(parts.report[f"{side}_tokens"]) for side in ("source", "target")]
    source = SideEvidence(
        parts.source,
        alone * sizes[0] * _shares(parts.source_words.null[:-1]),
        sizes[1] * parts.jumps[0].astype(np.float64),
        _after(parts.source_words.mass[:-1], parts.source_factors, parts.jumps[0]),
    )
    target = SideEvidence(
        parts.target,
        alone * sizes[1] * _shares(parts.target_words.null[:-1]),
        sizes[0] * parts.jumps[1].astype(np.float64),
        _after(parts.target_words.mass[:-1], parts.target_factors, parts.jumps[1]),
    )
    columns = lexicon.columns.astype(np.int64)
    return Evidence(source, target, rows, columns, np.maximum(links, 0.0))


def joined(own: Vocabulary, earlier: Vocabulary, most: int) -> Vocabulary:
    """Add the words of an earlier fit to a vocabulary, and keep the ``most`` commonest.

    The count of a word is that in the new text plus that in the earlier fit, of which at most
    `MAX_LINKS` are added. Equally common words keep their order, words of the new text first.
    """
    counts = dict(zip(own.words.to_pylist(), own.counts.tolist(), strict=True))
    more = np.minimum(earlier.counts, int(MAX_LINKS)).tolist()
    for word, count in zip(earlier.words.to_pylist(), more, strict=True):
        counts[word] = counts.get(word, 0) + count
    totals = np.fromiter(counts.values(), np.int64, len(counts))
    order = np.argsort(-totals, kind="stable")[:most]
    words = pa.array(counts.keys(), pa.string())
    return build_vocabulary(words.take(pa.array(order)), totals[order])


def prior_of(evidence: Evidence, source: Vocabulary, target: Vocabulary) -> Prior:
    """Return pseudo-counts for the words of a new fit.

    Args:
        evidence: The counts of the earlier fit.
        source: Words of the new fit's source side, from `joined`.
        target: Words of its target side, from `joined`.
    """
    of_source, of_target = (
        _numbers(side.words, vocabulary)
        for side, vocabulary in ((evidence.source, source), (evidence.target, target))
    )
    links = evidence.links
    for words, ends in ((of_source, evidence.rows), (of_target, evidence.columns)):
        mass = np.bincount(ends, evidence.links, len(words))
        links = np.minimum(links, evidence.links * _share(mass, MAX_LINKS)[ends])
    rows, columns = of_source[evidence.rows], of_target[evidence.columns]
    kept = (rows >= 0) & (columns >= 0)
    keys = (rows[kept] << 32) | columns[kept]
    order = np.argsort(keys)
    alone, after, jumps = [], [], []
    for side, numbers, vocabulary in (
        (evidence.source, of_source, source),
        (evidence.target, of_target, target),
    ):
        fewer = side.alone * _share(side.alone.sum(), MAX_ALONE)
        alone.append(_placed(fewer, numbers, len(vocabulary)))
        fewer = side.after * _share(side.after.sum(axis=1, keepdims=True), MAX_LINKS)
        after.append(_placed(fewer, numbers, len(vocabulary)))
        jumps.append(side.jumps * _share(side.jumps.sum(), MAX_JUMPS))
    return Prior(
        keys[order],
        (links[kept][order] * FIXED_POINT).astype(np.int64),
        alone[0],
        alone[1],
        np.stack(jumps),
        after[0],
        after[1],
    )


def _share(total: np.ndarray, most: float) -> np.ndarray:
    """Return the factor for counts that makes their total at most ``most``."""
    return most / np.maximum(total, most)


def _stem_entries(parts: Parts) -> np.ndarray:
    """Return the entry of each pair of words in the lexicon of stems, int32."""
    lexicon = parts.lexicon
    stems = np.repeat(np.arange(len(lexicon.stem_offsets) - 1), np.diff(lexicon.stem_offsets))
    keys = (stems.astype(np.int64) << 32) | lexicon.stem_columns
    rows = np.repeat(parts.source.stems, np.diff(lexicon.row_offsets)).astype(np.int64)
    wanted = (rows << 32) | parts.target.stems[lexicon.columns]
    return np.searchsorted(keys, wanted).astype(np.int32)


def _shares(null: np.ndarray) -> np.ndarray:
    """Return the share of each word among the words without a partner, float64."""
    shares = null.astype(np.float64)
    return shares / max(float(shares.sum()), 1e-30)


def _after(mass: np.ndarray, factors: np.ndarray, jumps: np.ndarray) -> np.ndarray:
    """Return the expected jumps after each word; 0 after an unseen word and at the start."""
    shares = np.bincount(_BUCKETS, jumps, minlength=BUCKETS) * factors.astype(np.float64)
    shares = shares / shares.sum(axis=1, keepdims=True)
    times = np.append(mass.astype(np.float64), [0.0, 0.0])
    return shares * times[:, None]


def _numbers(earlier: Vocabulary, words: Vocabulary) -> np.ndarray:
    """Return the number of each word of an earlier fit in another vocabulary, or -1, int64."""
    numbers = {word: number for number, word in enumerate(words.words.to_pylist())}
    places = (numbers.get(word, -1) for word in earlier.words.to_pylist())
    return np.fromiter(places, np.int64, len(earlier))


def _placed(values: np.ndarray, numbers: np.ndarray, size: int) -> np.ndarray:
    """Return counts of words by their numbers in another vocabulary, in fixed point, int64.

    The rows for an unseen word and for the beginning of the side stay at the end.
    """
    more = len(values) - len(numbers)
    placed = np.zeros((size + more, *values.shape[1:]), dtype=np.int64)
    kept = numbers >= 0
    placed[numbers[kept]] = values[: len(numbers)][kept] * FIXED_POINT
    placed[size:] = values[len(numbers) :] * FIXED_POINT
    return placed
