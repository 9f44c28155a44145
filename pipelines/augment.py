"""The job ``augment``: a parallel corpus becomes tagged pairs (Ryu et al. 2022)."""

from collections.abc import Sequence

import apache_beam as beam
import pyarrow as pa

from models import store
from models.translator_store import TranslatorReference
from pipelines import flags, plan_text
from pipelines.cli import COMMANDS
from pipelines.confident import check_confidence, phrase_shards
from pipelines.execute import execute
from pipelines.fragments import check_fragments, find, fragment_config, token_shards
from pipelines.job_options import AugmentOptions
from pipelines.prepare import prepare
from pipelines.representation import representation_of
from pipelines.run import Run
from pipelines.steps import Commit, ReadUnits, Screen, WriteShards
from transforms.errors import ConfigError
from transforms.fragments import FragmentConfig
from transforms.kept_tags import keep_or_inject_tags, own_symbols
from transforms.rejects import Reject, Stage
from transforms.shards import reject
from transforms.tag_config import TagConfig
from transforms.tag_counts import count_tags
from transforms.tag_profile import TagProfile
from transforms.tags import inject_tags, symbols


def main(name: str, arguments: Sequence[str]) -> int:
    """Run the job from its command line."""
    options, extra = flags.parse(
        AugmentOptions, f"pairweave {name}", COMMANDS[name].about, arguments, beam=True
    )
    run = prepare(name, options)
    check_confidence(run)
    if options.method == "fragment":
        check_fragments(run)
        fragment_config(options, tag_config(run))
    elif options.translator is not None:
        raise ConfigError("--translator translates fragments; give --method fragment as well")
    if options.representation == "raw" and keeps_tags(run):
        raise ConfigError(
            "--representation raw names injected tags; tags of the input keep to their numbers: "
            "give --inline_tags strip, or another representation"
        )
    if options.plan_only:
        return plan_text.show(run, graph, extra)
    execute(run, graph, extra, extra_files(run))
    plan_text.say_where(options.output)
    return 0


def tag_config(run: Run) -> TagConfig:
    """Return how tags are injected."""
    options = run.options
    assert isinstance(options, AugmentOptions)
    profile = run.document.get("tag_profile")
    return TagConfig(
        max_tags=options.max_tags,
        tag_share=options.tag_share,
        nesting=options.nesting,
        mix=options.mix,
        variants=options.variants,
        whitespace_shift=options.whitespace_shift,
        seed=options.seed,
        words=run.screen.tokens.kind,
        self_closing_share=options.self_closing_share,
        damage_share=options.damage_share,
        empty_share=options.empty_share,
        split_share=options.split_share,
        profile=TagProfile.from_json(profile) if isinstance(profile, dict) else None,
        draw=options.draw,
        take_all=options.method == "fragment",
        representation=representation_of(options),
    )


def extra_files(run: Run) -> dict[str, bytes]:
    """Return ``symbols.txt``: the tag tokens, one a line, for SentencePiece."""
    config = tag_config(run)
    names = dict.fromkeys([*symbols(config), *(own_symbols(config) if keeps_tags(run) else ())])
    return {"symbols.txt": "".join(f"{name}\n" for name in names).encode()}


def keeps_tags(run: Run) -> bool:
    """Tell whether pairs of the input may have tags of their own."""
    return any(unit.inline_tags == "index" for unit in run.plan.units)


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
    tags = tag_config(run)
    if options.method == "fragment":
        shards, model = token_shards(pipeline, rows, run, wanted)
        settings = {
            "tags": tags,
            "fragments": fragment_config(options, tags),
            "translator": run.translator,
        }
        step = WriteShards(finish_fragments, config, model, **settings, own_tags=keeps_tags(run))
    else:
        shards = phrase_shards(pipeline, rows, run, wanted)
        step = WriteShards(finish, config, tags=tags, own_tags=keeps_tags(run))
    receipts = shards | "InjectTags" >> step
    _ = receipts | "Commit" >> Commit(
        config.output, extra_files(run), allow_empty=options.allow_empty
    )


def finish(
    kept: pa.Table,
    rejected: pa.Table,
    phrases: pa.Table,
    tags: TagConfig,
    *,
    own_tags: bool = False,
) -> tuple[pa.Table, pa.Table, pa.Table, dict[str, int]]:
    """Inject tags, reject the pairs that give no row, and count what came out."""
    if own_tags:
        tagged, without, too_many = keep_or_inject_tags(kept, phrases, tags)
        kept, rejected = reject(kept, rejected, too_many, Stage.TAG, Reject.TOO_MANY_TAGS)
        without = without[~too_many]
    else:
        tagged, without = inject_tags(phrases, tags)
    kept, rejected = reject(kept, rejected, without, Stage.TAG, Reject.NO_PHRASE_PAIR)
    return kept, rejected, tagged, count_tags(tagged, phrases, tags)


def finish_fragments(
    kept: pa.Table,
    rejected: pa.Table,
    table: pa.Table,
    reference: store.ModelReference,
    tags: TagConfig,
    fragments: FragmentConfig,
    translator: TranslatorReference | None,
    *,
    own_tags: bool = False,
) -> tuple[pa.Table, pa.Table, pa.Table, dict[str, int]]:
    """Find fragments, tag them, and count what was done and what came out."""
    phrases, done = find(table, reference, fragments, translator)
    kept, rejected, tagged, counts = finish(kept, rejected, phrases, tags, own_tags=own_tags)
    return kept, rejected, tagged, {**counts, **done}
