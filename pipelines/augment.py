"""The job ``augment``: a parallel corpus becomes tagged pairs (Ryu et al. 2022)."""

from collections import Counter
from collections.abc import Sequence

import apache_beam as beam
import numpy as np
import pyarrow as pa

from pipelines import flags, plan_text
from pipelines.aligning import aligned_shards
from pipelines.cli import COMMANDS
from pipelines.options import AugmentOptions
from pipelines.run import Run, execute, prepare
from pipelines.steps import Commit, EachShard, ReadUnits, Screen, WriteShards
from transforms.phrases import PhraseConfig, extract_phrases
from transforms.rejects import Reject, Stage
from transforms.shards import reject
from transforms.tags import TagConfig, inject_tags, symbols


def main(name: str, arguments: Sequence[str]) -> int:
    """Run the job from its command line."""
    options, extra = flags.parse(
        AugmentOptions, f"pairweave {name}", COMMANDS[name].about, arguments, beam=True
    )
    run = prepare(name, options)
    if options.plan_only:
        return plan_text.show(run, graph, extra)
    execute(run, graph, extra, extra_files(run))
    plan_text.say_where(options.output)
    return 0


def tag_config(run: Run) -> TagConfig:
    """Return how tags are injected."""
    options = run.options
    assert isinstance(options, AugmentOptions)
    return TagConfig(
        max_tags=options.max_tags,
        tag_share=options.tag_share,
        nesting=options.nesting,
        mix=options.mix,
        variants=options.variants,
        whitespace_shift=options.whitespace_shift,
        seed=options.seed,
        words=run.screen.tokens.kind,
    )


def extra_files(run: Run) -> dict[str, bytes]:
    """Return ``symbols.txt``: the tag tokens, one a line, for SentencePiece."""
    return {"symbols.txt": "".join(f"{name}\n" for name in symbols(tag_config(run))).encode()}


def graph(pipeline: beam.Pipeline, run: Run, wanted: frozenset[int]) -> None:
    """Read, screen, shuffle, align, symmetrize, extract, inject, write, commit."""
    options = run.options
    assert isinstance(options, AugmentOptions)
    config = run.write_config
    rows = (
        pipeline
        | "Read" >> ReadUnits(run.plan.units, run.limits, config.output, run.digest)
        | "Screen" >> Screen(run.screen)
    )
    receipts = (
        aligned_shards(pipeline, rows, run, wanted)
        | "ExtractPhrases"
        >> EachShard(
            extract_phrases, config=PhraseConfig(options.max_words, options.unaligned_words)
        )
        | "InjectTags" >> WriteShards(finish, config, tags=tag_config(run))
    )
    _ = receipts | "Commit" >> Commit(
        config.output, extra_files(run), allow_empty=options.allow_empty
    )


def finish(
    kept: pa.Table, rejected: pa.Table, phrases: pa.Table, tags: TagConfig
) -> tuple[pa.Table, pa.Table, pa.Table, dict[str, int]]:
    """Inject tags, reject the pairs that give no row, and count what came out."""
    tagged, without = inject_tags(phrases, tags)
    kept, rejected = reject(kept, rejected, without, Stage.TAG, Reject.NO_PHRASE_PAIR)
    return kept, rejected, tagged, count(tagged)


def count(tagged: pa.Table) -> dict[str, int]:
    """Count rows by kind, tags, and tagged rows by their number of tags."""
    kinds = Counter(tagged.column("kind").to_pylist())
    lengths = pa.compute.list_value_length(tagged.column("tags")).to_numpy()
    by_tags = np.bincount(lengths[lengths > 0])
    counts = {"plain rows": kinds["plain"], "tagged rows": kinds["tagged"]}
    counts["tags"] = int(lengths.sum())
    for tags, rows in enumerate(by_tags.tolist()):
        if rows:
            counts[f"tagged rows with {tags} tags"] = rows
    return counts
