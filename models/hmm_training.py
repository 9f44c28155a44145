"""Training of the statistical aligner: vocabulary, lexicon, then rounds of expectation."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa

from models.hmm_config import HmmConfig
from models.hmm_storage import Parts
from models.hmm_vocabulary import Vocabulary, collect_vocabulary, cut
from transforms.kernels import hmm, model1

CHUNK_PAIRS = 1024
"""Pairs whose jumps and likelihood are summed before they join the others', in order."""


def train(table: pa.Table, config: HmmConfig, threads: int) -> Parts:
    """Fit all parts of a model; see `models.hmm.fit`."""
    source = collect_vocabulary(table, "source", config.max_vocabulary)
    target = collect_vocabulary(table, "target", config.max_vocabulary)
    source_words, source_offsets = _numbered(table, "source", source)
    target_words, target_offsets = _numbered(table, "target", target)
    pairs = len(source_offsets) - 1
    begins, places = model1.occurrences(source_words, source_offsets, len(source))
    bounds = np.linspace(0, len(source), 65).astype(np.int64)

    def find_candidates(block: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return model1.candidates(
            bounds[block],
            bounds[block + 1],
            begins,
            places,
            target_words,
            target_offsets,
            source_offsets,
            target.counts,
            config.max_translations,
        )

    chunks = range(0, pairs, CHUNK_PAIRS)
    likelihoods = []
    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(find_candidates, range(64)))
        row_offsets = np.concatenate(
            [np.zeros(1, dtype=np.int64), np.cumsum(np.concatenate([part[0] for part in found]))]
        )
        columns = np.concatenate([part[1] for part in found])
        counts = (
            np.concatenate([part[2] for part in found]).astype(np.float64) * model1.FIXED_POINT
        ).astype(np.int64)
        del found, begins, places
        null_target = _shares(target.counts)
        null_source = _shares(source.counts)
        jumps = np.zeros((0, 0), dtype=np.float32)
        probabilities = np.empty((len(columns), 2), dtype=np.float32)
        for iteration in range(config.model1_iterations + config.hmm_iterations):
            model1.maximize(row_offsets, columns, counts, len(target), probabilities)
            if iteration == config.model1_iterations:
                jumps = hmm.first_jumps()
            totals = [np.zeros(len(columns), dtype=np.int64) for _ in range(threads)]
            jump_counts = np.zeros((len(chunks), 2, 2 * hmm.JUMPS + 1), dtype=np.float64)
            logs = np.zeros((len(chunks), 2), dtype=np.float64)

            def expect(thread: int) -> None:
                for number in range(thread, len(chunks), threads):
                    logs[number] = hmm.expect(
                        chunks[number],
                        min(chunks[number] + CHUNK_PAIRS, pairs),
                        source_words,
                        source_offsets,
                        target_words,
                        target_offsets,
                        row_offsets,
                        columns,
                        probabilities,
                        null_target,
                        null_source,
                        jumps,
                        config.null_probability,
                        1e-9,
                        totals[thread],
                        jump_counts[number],
                    )

            list(pool.map(expect, range(threads)))
            counts = totals[0]
            for more in totals[1:]:
                counts += more
            if len(jumps):
                jumps = hmm.jump_weights(jump_counts)
            likelihoods.append([float(value) for value in logs.sum(axis=0)])
        model1.maximize(row_offsets, columns, counts, len(target), probabilities)
    kept = counts >= model1.FIXED_POINT >> 12
    sizes = np.add.reduceat(np.append(kept, False).astype(np.int64), row_offsets[:-1])
    sizes[np.diff(row_offsets) == 0] = 0
    return Parts(
        config,
        source,
        target,
        np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)]),
        columns[kept],
        probabilities[kept],
        null_target,
        null_source,
        jumps,
        {
            "pairs": pairs,
            "source_tokens": int(source_offsets[-1]),
            "target_tokens": int(target_offsets[-1]),
            "log_likelihood": likelihoods,
        },
    )


def _shares(counts: np.ndarray) -> np.ndarray:
    """Return how large a part of all tokens each word is, float32."""
    return (counts / max(counts.sum(), 1)).astype(np.float32)


def _numbered(table: pa.Table, side: str, words: Vocabulary) -> tuple[np.ndarray, np.ndarray]:
    """Return the words of one side of all pairs and where each pair begins."""
    found = [np.empty(0, dtype=np.int32)]
    sizes = [np.zeros(1, dtype=np.int64)]
    for part in cut(table, side):
        found.append(words.find(part))
        sizes.append(np.diff(part.pair_offsets))
    return np.concatenate(found), np.cumsum(np.concatenate(sizes))
