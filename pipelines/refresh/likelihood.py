"""How likely a fitted aligner finds the new pairs of a night: a sign of text of another kind.

A sample of them is scored in the process of the night. Pairs are in the order of their ids,
which are hashes, so the first ones of a run are a random sample, and always the same.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.pipelines.refresh.chain.inner_notes import open_run, read_shard
from pairweave.transforms import schemas

SAMPLE = 2_000
"""Pairs that are scored for each pair of languages."""


def mean_likelihood(model: str, run: str, most: int = SAMPLE) -> float | None:
    """Return the mean log-likelihood of a word of a run's pairs, in nats.

    It is the mean over pairs of that of the target given the source, and the other way round.

    Args:
        model: Directory of a fitted aligner.
        run: A finished run, whose rows have the texts of both sides.
        most: Pairs to score, at most.

    Returns:
        None if the model is not an aligner of this project's own, or no row has plain texts.
    """
    from pairweave.models.hmm import hmm_reference, pair_scores
    from pairweave.transforms.text.tokens import add_tokens

    reference = hmm_reference.find_whole(model)
    pairs = _sample(run, most)
    if reference is None or pairs is None:
        return None
    aligner = hmm_reference.load(reference)
    found = pair_scores.likelihoods(aligner.model, add_tokens(pairs, aligner.tokens))
    return float(np.mean(found)) if found.size else None


def _sample(run: str, most: int) -> pa.Table | None:
    """Return the first pairs of a run as `schemas.PAIRS`; None if its rows lack a side."""
    held: list[pa.Table] = []
    finished = open_run(run)
    for name in finished.names:
        rows = read_shard(finished, name)
        if not {"source", "target"} <= set(rows.column_names):
            return None
        if "kind" in rows.column_names:
            rows = rows.filter(pc.equal(rows.column("kind"), "plain"))
        held.append(rows.select(["id", "source", "target", "source_lang", "target_lang"]))
        if sum(part.num_rows for part in held) >= most:
            break
    pairs = pa.concat_tables(held).slice(0, most)
    columns = {name: pairs.column(name) for name in pairs.column_names}
    empty = pa.array([""] * pairs.num_rows, pa.string())
    columns |= {"corpus": empty, "file": empty, "line": pa.array([0] * pairs.num_rows)}
    columns["translation"] = pa.nulls(pairs.num_rows, pa.string())
    found = pa.table([columns[name] for name in schemas.PAIRS.names], names=schemas.PAIRS.names)
    return found.cast(schemas.PAIRS) if pairs.num_rows else None
