"""The job ``suggest``: pairs and translations become translation-suggestion examples.

The examples are those of WeTS (Yang et al. 2022), made as Zhu et al. make them.
"""

from collections.abc import Sequence

import apache_beam as beam
import numpy as np
import pyarrow as pa

from pipelines import flags, plan_text
from pipelines.cli import COMMANDS
from pipelines.execute import execute
from pipelines.mono_aligner import align_monolingual, require_monolingual
from pipelines.prepare import prepare
from pipelines.run import Run
from pipelines.steps import Commit, ReadUnits, Screen, WriteShards
from pipelines.suggest_options import SuggestOptions
from pipelines.translating import translated_shards
from transforms.aligned_masks import AlignedConfig
from transforms.errors import ConfigError
from transforms.hints import HintConfig
from transforms.random_masks import RandomConfig
from transforms.rejects import Reject, Stage
from transforms.shards import MakeShards, reject
from transforms.span_lengths import MASK, from_json
from transforms.suggestion_filters import FilterConfig
from transforms.suggestion_scores import Scorer
from transforms.suggestions import SuggestionConfig, make_suggestions

OF_RANDOM = (
    *("start_probability", "lengths", "mean_words", "max_mask_words", "variants"),
    "fit_lengths",
)
OF_ALIGNMENT = ("max_placeholders", "max_placeholder_share", "deletions", "min_confidence")


def main(name: str, arguments: Sequence[str]) -> int:
    """Run the job from its command line."""
    options, extra = flags.parse(
        SuggestOptions, f"pairweave {name}", COMMANDS[name].about, arguments, beam=True
    )
    check_options(options)
    run = prepare(name, options)
    require_monolingual(run)
    suggestion_config(run)
    if options.plan_only:
        return plan_text.show(run, graph, extra)
    execute(run, graph, extra, extra_files())
    plan_text.say_where(options.output)
    return 0


def check_options(options: SuggestOptions) -> None:
    """Refuse options of a method or a distribution that is not used.

    Raises:
        ConfigError: Names them.
    """
    given = options.model_fields_set
    # A golden set is also compared with what the alignment makes.
    of_random = set(OF_RANDOM) - ({"fit_lengths"} if "alignment" in options.methods else set())
    for method, names in (("random", of_random), ("alignment", set(OF_ALIGNMENT))):
        foreign = sorted(given & names) if method not in options.methods else []
        if foreign:
            raise ConfigError(
                f"{_flags(foreign)}: of the method {method}, which --methods does not name"
            )
    kind = options.lengths or ("empirical" if options.fit_lengths else "geometric")
    unknown = {
        "geometric": set(),
        "uniform": {"mean_words"},
        "empirical": {"mean_words", "max_mask_words", "variants", "start_probability"},
    }[kind]
    if given & unknown:
        raise ConfigError(
            f"{_flags(sorted(given & unknown))}: --lengths {kind} does not know it; leave it out"
        )
    if kind == "empirical" and not options.fit_lengths:
        raise ConfigError("--lengths empirical needs --fit_lengths FILE.mask FILE.tgt")


def _flags(names: Sequence[str]) -> str:
    return ", ".join(f"--{name}" for name in names)


def suggestion_config(run: Run) -> SuggestionConfig:
    """Return how examples are made."""
    options = run.options
    assert isinstance(options, SuggestOptions)
    kind = options.lengths or ("empirical" if options.fit_lengths else "geometric")
    golden = from_json(run.document["golden"]) if kind == "empirical" else None  # type: ignore[arg-type]
    return SuggestionConfig(
        methods=options.methods,
        mix=options.mix,
        random=RandomConfig(
            start_probability=options.start_probability,
            lengths=kind,
            mean_words=options.mean_words,
            max_mask_words=options.max_mask_words,
            variants=options.variants,
            golden=golden,
        ),
        aligned=AlignedConfig(
            max_placeholders=options.max_placeholders,
            max_placeholder_share=options.max_placeholder_share,
            deletions=options.deletions,
        ),
        filters=FilterConfig(
            min_source_words=options.min_source_words,
            max_source_words=options.max_source_words,
            min_suggestion_words=options.min_suggestion_words,
            max_suggestion_words=options.max_suggestion_words,
            max_masked_share=options.max_masked_share,
            keep_punctuation=options.keep_punctuation,
            min_confidence=options.min_confidence,
            min_score=options.min_score,
            max_score=options.max_score,
        ),
        hints=HintConfig(options.hint, options.hint_letters),
        words=run.screen.tokens.kind,
        seed=options.seed,
    )


def extra_files() -> dict[str, bytes]:
    """Return ``symbols.txt``: the mask token, for SentencePiece."""
    return {"symbols.txt": f"{MASK}\n".encode()}


def graph(pipeline: beam.Pipeline, run: Run, wanted: frozenset[int]) -> None:
    """Read, screen, shuffle, translate, align, mask, write, commit."""
    options = run.options
    assert isinstance(options, SuggestOptions)
    config = run.write_config
    rows = (
        pipeline
        | "Read" >> ReadUnits(run.plan.units, run.limits, config.output, run.digest)
        | "Screen" >> Screen(run.screen)
    )
    shards = translated_shards(rows | "Shuffle" >> MakeShards(run.shards, wanted), run)
    compared = align_monolingual(shards, pipeline, rows, run, options.heuristic)
    receipts = compared | "MakeSuggestions" >> WriteShards(
        finish, config, suggestions=suggestion_config(run), scorer=run.scorer
    )
    _ = receipts | "Commit" >> Commit(config.output, extra_files(), allow_empty=options.allow_empty)


def finish(
    kept: pa.Table,
    rejected: pa.Table,
    compared: pa.Table,
    suggestions: SuggestionConfig,
    scorer: Scorer | None,
) -> tuple[pa.Table, pa.Table, pa.Table, dict[str, int]]:
    """Make examples, reject the pairs that give none, and count what came out."""
    scores = kept.column("score").to_numpy()  # NaN where a pair has none
    made = make_suggestions(compared, suggestions, scorer, scores)
    reasons, details = made.reasons, made.details
    for reason in sorted({reason for reason in reasons if reason is not None}):
        marks = np.equal(reasons, reason)
        said = details[marks].tolist()
        kept, rejected = reject(kept, rejected, marks, Stage.SUGGEST, Reject(reason), said)
        reasons, details = reasons[~marks], details[~marks]
    return kept, rejected, made.rows, made.counts
