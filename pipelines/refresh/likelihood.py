"""The likelihood of a night's new pairs by a fitted aligner.

If it is low, their text is unlike the text that the aligner was fitted on.

A sample is scored in the night's own process. Pairs are sorted by their ids, which are hashes, so
the first pairs of a run are a random sample, and always the same one.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.pipelines.refresh.assembly import Source, wanted_contents
from pairweave.pipelines.refresh.chain.inner_notes import open_run, read_shard
from pairweave.transforms import schemas
from pairweave.transforms.text.tokens import add_tokens

SAMPLE = 2_000
"""Number of pairs to score for each pair of languages."""


def mean_likelihood(model: str, source: Source, most: int = SAMPLE) -> float | None:
    """Return the mean log-likelihood per word of a run's pairs, in nats.

    It is the mean over pairs and over both directions: the target given the source, and the source
    given the target.

    Args:
        model: Directory of a fitted aligner.
        source: A finished run, whose rows have the texts of both sides, and its wanted files.
        most: Maximum number of pairs to score.

    Returns:
        None if the model is not one of pairweave's own aligners, or no row has plain texts.
    """
    from pairweave.models.hmm import hmm_reference, pair_scores

    reference = hmm_reference.find_whole(model)
    pairs = _sample(source, most)
    if reference is None or pairs is None:
        return None
    aligner = hmm_reference.load(reference)
    likelihoods = pair_scores.likelihoods(aligner.model, add_tokens(pairs, aligner.tokens))
    return float(np.mean(likelihoods)) if likelihoods.size else None


def _sample(source: Source, most: int) -> pa.Table | None:
    """Return the first pairs of wanted files as `schemas.PAIRS`; None if the rows lack a side."""
    held: list[pa.Table] = []
    finished = open_run(source.directory)
    for name in finished.names:
        rows = read_shard(finished, name)
        if not {"source", "target"} <= set(rows.column_names):
            return None
        if "kind" in rows.column_names:
            rows = rows.filter(pc.equal(rows.column("kind"), "plain"))
        rows = rows.filter(pc.is_valid(wanted_contents(rows, source)))
        held.append(rows.select(["id", "source", "target", "source_lang", "target_lang"]))
        if sum(part.num_rows for part in held) >= most:
            break
    pairs = pa.concat_tables(held).slice(0, most)
    columns = {name: pairs.column(name) for name in pairs.column_names}
    empty = pa.array([""] * pairs.num_rows, pa.string())
    columns |= {"corpus": empty, "file": empty, "line": pa.array([0] * pairs.num_rows)}
    columns["translation"] = pa.nulls(pairs.num_rows, pa.string())
    ordered = pa.table([columns[name] for name in schemas.PAIRS.names], names=schemas.PAIRS.names)
    return ordered.cast(schemas.PAIRS) if pairs.num_rows else None
