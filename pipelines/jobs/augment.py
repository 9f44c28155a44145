"""The job ``augment``: a parallel corpus becomes tagged pairs (Ryu et al. 2022)."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import apache_beam as beam

from pairweave.models.hmm import hmm_reference
from pairweave.models.translators.translator_reference import TranslatorReference
from pairweave.pipelines.cli import COMMANDS
from pairweave.pipelines.command_line import flags
from pairweave.pipelines.options.base import TranslatorOptions
from pairweave.pipelines.options.job_options import AugmentOptions, KeptLinksOptions, MethodOptions
from pairweave.pipelines.options.representation import representation_of
from pairweave.pipelines.run import plan_text, run_summary
from pairweave.pipelines.run.execute import execute
from pairweave.pipelines.run.prepare import prepare
from pairweave.pipelines.run.run import Run
from pairweave.pipelines.steps.fragment_finding import check_fragments, find, fragment_config
from pairweave.pipelines.steps.glossary_terms import check_glossary, term_config
from pairweave.pipelines.steps.phrase_scoring import (
    aligned_phrases,
    check_confidence,
    scored_phrases,
)
from pairweave.pipelines.steps.screened_rows import ReadInput, ScreenRows, trained_pieces
from pairweave.pipelines.steps.second_aligner import AlignWithSecond
from pairweave.pipelines.steps.steps import Commit, MapShards, WriteShards
from pairweave.transforms.config import pick
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.links.confidence import ConfidenceConfig
from pairweave.transforms.links.kept_links import with_links
from pairweave.transforms.links.phrase_extraction import (
    PhraseConfig,
    extract_phrases,
    without_phrases,
)
from pairweave.transforms.links.symmetrize import SymmetrizeConfig, symmetrize
from pairweave.transforms.output.write import ShardOutput
from pairweave.transforms.rejects import Reject, Stage
from pairweave.transforms.shards.shard import Batches, Shard, Shards
from pairweave.transforms.shards.shuffle import MakeShards
from pairweave.transforms.tags.fragments import FragmentConfig
from pairweave.transforms.tags.glossary import Glossary, TermConfig, find_terms
from pairweave.transforms.tags.injection_options import GlossaryOptions
from pairweave.transforms.tags.kept_tags import keep_or_inject_tags, own_symbols
from pairweave.transforms.tags.tag_config import TagConfig
from pairweave.transforms.tags.tag_counts import count_shapes, count_tags
from pairweave.transforms.tags.tag_profile import TagProfile
from pairweave.transforms.tags.tags import inject_tags, symbols


def main(name: str, arguments: Sequence[str]) -> int:
    """Run the job from its command line."""
    options, extra = flags.parse(
        AugmentOptions, f"pairweave {name}", COMMANDS[name].about, arguments, beam=True
    )
    return start(name, options, extra)


def start(name: str, options: AugmentOptions, extra: Sequence[str]) -> int:
    """Plan the job, and run it or show its plan; return the exit status."""
    check(options)
    run = prepare(name, options, extra)
    check_confidence(run)
    if options.method == "fragment":
        check_fragments(run)
        fragment_config(options, tag_config(run))
    if options.method == "glossary":
        check_glossary(run)
    if options.representation == "raw" and keeps_tags(run):
        raise ConfigError(
            "--representation raw names injected tags; tags of the input keep their numbers: "
            "give --inline_tags strip, or another representation"
        )
    if options.plan_only:
        return plan_text.show(run, graph, extra)
    if not execute(run, graph, extra, extra_files(run)):
        return 0
    run_summary.say_where(options.output)
    return 0


def check(options: AugmentOptions) -> None:
    """Refuse options of tags if nothing is to be tagged.

    Raises:
        ConfigError: There are such options; the message names them.
    """
    finding = (MethodOptions, GlossaryOptions, TranslatorOptions, KeptLinksOptions)
    names = {name for kind in finding for name in kind.model_fields}
    unused = sorted(options.model_fields_set & names)
    if options.mix == 0 and unused:
        unknown = ", ".join(f"--{name}" for name in unused)
        raise ConfigError(f"{unknown}: --mix 0 tags no pair; leave it out, or raise --mix")
    if options.method != "fragment" and options.translator is not None:
        raise ConfigError("--translator translates fragments; give --method fragment as well")


def tag_config(run: Run[AugmentOptions]) -> TagConfig:
    """Return how tags are injected."""
    options = run.options
    profile = run.document.get("tag_profile")
    return pick(
        TagConfig,
        options,
        segmenter=run.segmenter,
        words="whitespace" if run.screen.tokens.kind == "whitespace" else "words",
        profile=TagProfile.from_json(profile) if isinstance(profile, dict) else None,
        take_all=options.method != "alignment",
        representation=representation_of(options),
    )


def extra_files(run: Run[AugmentOptions]) -> dict[str, bytes]:
    """Return ``symbols.txt``: the tag tokens, one per line, for SentencePiece."""
    config = tag_config(run)
    names = dict.fromkeys([*symbols(config), *(own_symbols(config) if keeps_tags(run) else ())])
    return {"symbols.txt": "".join(f"{name}\n" for name in names).encode()}


def keeps_tags(run: Run[AugmentOptions]) -> bool:
    """Tell whether pairs of the input can have tags of their own."""
    return any(unit.inline_tags == "index" for unit in run.plan.units)


def graph(pipeline: beam.Pipeline, run: Run[AugmentOptions], wanted: frozenset[int]) -> None:
    """Read, screen, shuffle; fit, tokenize, align, symmetrize, extract; inject, write, commit."""
    pieces = trained_pieces(pipeline, run)
    rows = pipeline | "Read" >> ReadInput(run)
    rows = rows | "Screen" >> ScreenRows(run, pieces)
    shards = rows | "Shuffle" >> MakeShards(run.shards, wanted, begin=run.begin)
    found, inject = find_phrases(shards, rows, run, pieces)
    receipts = found | "InjectTags" >> inject
    committed = Commit(run.write_config, extra_files(run), allow_empty=run.options.allow_empty)
    _ = receipts | "Commit" >> committed


def find_phrases(
    shards: Shards, rows: Batches, run: Run[AugmentOptions], pieces: beam.pvalue.AsSingleton | None
) -> tuple[Shards, WriteShards]:
    """Tokenize, align, symmetrize, extract phrases; return them, and the step that tags them.

    If no row is to be tagged, nothing is aligned. Fragments and terms are found in the step that
    tags them, fragments without links; scores of phrase pairs need links of one aligner.

    Args:
        shards: The pairs to tag.
        rows: Screened rows that an aligner is fitted on, if the run fits one.
        run: The planned job.
        pieces: The SentencePiece model that the run trains, if any.
    """
    options, aligner, config = run.options, run.aligner, run.write_config
    tags = tag_config(run)
    phrases = pick(PhraseConfig, options, segmenter=run.segmenter)
    scores = pick(ConfidenceConfig, options)
    with_scores = scores.scores and run.glossary is None
    both = pick(SymmetrizeConfig, options)
    scored: dict[str, Any] = {"links": both, "phrases": phrases, "confidence": scores}
    inject = WriteShards(
        finish, config, tags=tags, own_tags=keeps_tags(run), links=options.keep_links
    )
    if options.mix == 0:
        return shards | "WithoutPhrases" >> MapShards(without_phrases), inject
    model = aligner.model(rows, run, pieces)
    found = shards | "Tokenize" >> MapShards(aligner.cut, model, tokens=run.tokens)
    if options.method == "fragment":
        inject = WriteShards(finish_fragments, config, model, **fragment_settings(run, tags))
    elif with_scores and aligner.has_soft_links:
        found = found | "ScorePhrases" >> MapShards(aligned_phrases, model, **scored)
    elif with_scores:
        found = found | "Align" >> aligner.step(run, model)
        found = found | "ScorePhrases" >> MapShards(scored_phrases, **scored)
    else:
        found = found | "Align" >> aligner.step(run, model)
        found = found | "Symmetrize" >> MapShards(symmetrize, config=both)
        if run.second is not None:
            second = AlignWithSecond(run.second, options.heuristic, options.combine)
            found = found | "AlignWithSecond" >> second
        if run.glossary is None:
            found = found | "ExtractPhrases" >> MapShards(extract_phrases, config=phrases)
        else:
            inject = WriteShards(finish_terms, config, **term_settings(run, tags))
    return found, inject


def fragment_settings(run: Run[AugmentOptions], tags: TagConfig) -> dict[str, Any]:
    """Return the further arguments of `finish_fragments`."""
    options = run.options
    fragments = fragment_config(options, tags)
    own_tags = keeps_tags(run)
    return {
        "tags": tags,
        "fragments": fragments,
        "translator": run.translator,
        "own_tags": own_tags,
    }


def term_settings(run: Run[AugmentOptions], tags: TagConfig) -> dict[str, Any]:
    """Return the further arguments of `finish_terms`."""
    options = run.options
    terms = term_config(tags)
    return {"tags": tags, "glossary": run.glossary, "terms": terms, "links": options.keep_links}


def finish(
    shard: Shard, tags: TagConfig, *, own_tags: bool = False, links: bool = False
) -> ShardOutput:
    """Inject tags, reject the pairs that give no row, and count the results."""
    phrases = shard.table
    if own_tags:
        tagged, without, too_many = keep_or_inject_tags(shard.kept, phrases, tags)
        shard = shard.reject(too_many, Stage.TAG, Reject.TOO_MANY_TAGS)
        without = without[~too_many]
    else:
        tagged, without = inject_tags(phrases, tags)
    shard = shard.reject(without, Stage.TAG, Reject.NO_PHRASE_PAIR)
    return ShardOutput(
        shard,
        with_links(tagged, phrases) if links else tagged,
        count_tags(tagged),
        tag_shapes=count_shapes(tagged, phrases, tags),
    )


def finish_terms(
    shard: Shard, tags: TagConfig, glossary: Glossary, terms: TermConfig, *, links: bool = False
) -> ShardOutput:
    """Find the terms of a glossary, tag them, and count terms and results."""
    found = find_terms(shard.table, glossary, terms)
    made = finish(shard.with_table(found.table), tags, links=links)
    return dataclasses.replace(made, counts={**made.counts, **found.counts})


def finish_fragments(
    shard: Shard,
    reference: hmm_reference.HmmReference,
    tags: TagConfig,
    fragments: FragmentConfig,
    translator: TranslatorReference | None,
    *,
    own_tags: bool = False,
) -> ShardOutput:
    """Find fragments, tag them, and count fragments and results."""
    phrases, done = find(shard.table, reference, fragments, translator)
    made = finish(shard.with_table(phrases), tags, own_tags=own_tags)
    return dataclasses.replace(made, counts={**made.counts, **done})
