"""The job ``augment``: a parallel corpus becomes tagged pairs (Ryu et al. 2022)."""

from typing import Any

import apache_beam as beam

from pairweave.pipelines.job_options.pair_options import AugmentOptions
from pairweave.pipelines.job_options.representation import representation_of
from pairweave.pipelines.jobs.screened_rows import screened_rows
from pairweave.pipelines.options.text_options import TranslatorOptions
from pairweave.pipelines.parts.aligner_parts import ALIGNER, SECOND_ALIGNER
from pairweave.pipelines.parts.excluded_pairs import KNOWN_PAIRS
from pairweave.pipelines.parts.look_part import LOOK
from pairweave.pipelines.parts.rule_parts import RULE_BLOCK
from pairweave.pipelines.parts.tag_parts import GLOSSARY, TAG_PROFILE
from pairweave.pipelines.parts.text_parts import SCREEN, SEGMENTER
from pairweave.pipelines.parts.translator_part import TRANSLATOR
from pairweave.pipelines.run.job import Job
from pairweave.pipelines.run.run import Run
from pairweave.pipelines.steps.aligning import align_with_second, aligned_phrases, scored_phrases
from pairweave.pipelines.steps.fragment_finding import find_on_shard
from pairweave.pipelines.steps.steps import Commit, MapShards, MapWholeShards, WriteShards, timed
from pairweave.transforms.config import pick
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.links.kept_links import with_links
from pairweave.transforms.links.link_options import ConfidenceConfig, SymmetrizeConfig
from pairweave.transforms.links.phrase_extraction import (
    PhraseConfig,
    extract_phrases,
    without_phrases,
)
from pairweave.transforms.links.symmetrize import symmetrize
from pairweave.transforms.option_marks import reasons_of
from pairweave.transforms.option_values import refuse_given
from pairweave.transforms.output.write import ShardOutput
from pairweave.transforms.rejects import Reject, Stage
from pairweave.transforms.shards.shard import Batches, Shard, Shards
from pairweave.transforms.shards.shuffle import MakeShards
from pairweave.transforms.tags.fragments import FragmentConfig
from pairweave.transforms.tags.glossary import Glossary, TermConfig, find_terms
from pairweave.transforms.tags.injection_options import MethodOptions
from pairweave.transforms.tags.kept_tags import keep_or_inject_tags, own_symbols
from pairweave.transforms.tags.tag_config import TagConfig
from pairweave.transforms.tags.tag_counts import count_shapes, count_tags
from pairweave.transforms.tags.tags import inject_tags, symbols


def check(options: AugmentOptions) -> None:
    """Refuse options of tags if nothing is to be tagged."""
    names = {*MethodOptions.model_fields, *TranslatorOptions.model_fields, "keep_links"}
    if options.mix == 0:
        refuse_given(options, names, "--mix 0 tags no pair; leave {it} out, or raise --mix")
    if options.method != "fragment" and options.translator is not None:
        raise ConfigError("--translator translates fragments; give --method fragment as well")


def check_run(run: Run[AugmentOptions]) -> None:
    """Refuse options that do not apply to the things that the run tags."""
    options = run.options
    _check_confidence(run)
    _check_method(run)
    if options.method == "fragment":
        _check_fragments(run)
        fragment_config(options, tag_config(run))
    if options.representation == "raw" and keeps_tags(run):
        raise ConfigError(
            "--representation raw names injected tags; tags of the input keep their numbers: "
            "give --inline_tags strip, or another representation"
        )


def _check_method(run: Run[AugmentOptions]) -> None:
    """Refuse options, and tags of the input, that the method does not take."""
    method = run.options.method
    why = reasons_of(AugmentOptions, method)
    for name in sorted(why.keys() & run.options.model_fields_set):
        raise ConfigError(f"--method {method} does not take --{name}: {why[name]}; leave it out")
    if method != "alignment" and keeps_tags(run):
        raise ConfigError(
            f"--method {method} tags text without tags of its own; give --inline_tags strip"
        )


def _check_confidence(run: Run[AugmentOptions]) -> None:
    """Refuse scores with two aligners, whose links are joined but not their probabilities."""
    options = run.options
    if run.result_of(SECOND_ALIGNER) is not None and options.needs_scores:
        raise ConfigError(
            "--min_confidence and --draw confident score phrase pairs by one aligner's "
            "probabilities; leave out these options or --second_aligner"
        )


def _check_fragments(run: Run[AugmentOptions]) -> None:
    """Refuse aligners and tokens other than those of a fitted hmm on words, before a run starts."""
    options = run.options
    if options.aligner != "hmm":
        raise ConfigError("--method fragment translates with a fitted hmm; give --aligner hmm")
    if run.tokens is None or run.tokens.model is not None:
        raise ConfigError(
            "--method fragment translates words; give --tokens words or whitespace, and a model "
            "that was fitted on them"
        )


def tag_config(run: Run[AugmentOptions]) -> TagConfig:
    """Return how tags are injected."""
    options = run.options
    return pick(
        TagConfig,
        options,
        segmenter=run.result_of(SEGMENTER),
        words="whitespace" if run.screen.tokens.kind == "whitespace" else "words",
        profile=run.result_of(TAG_PROFILE),
        take_all=options.method != "alignment",
        representation=representation_of(options),
    )


def fragment_config(options: AugmentOptions, tags: TagConfig) -> FragmentConfig:
    """Return the settings of the search for fragments."""
    return pick(
        FragmentConfig,
        options,
        segmenter=tags.segmenter,
        max_words=options.max_words,
        punctuation=tags.punctuation_tags,
        share=tags.tagged_share,
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
    config = run.write_config
    rows, pieces = screened_rows(pipeline, run)
    shards = rows | "Shuffle" >> MakeShards(run.shards, wanted, begin=run.begin)
    phrases = find_phrases(shards, rows, run, pieces)
    receipts = phrases | "InjectTags" >> inject_tags_of(run)
    committed = Commit(config, extra_files(run), allow_empty=run.options.allow_empty)
    _ = receipts | "Commit" >> committed


def find_phrases(
    shards: Shards, rows: Batches, run: Run[AugmentOptions], pieces: beam.pvalue.AsSingleton | None
) -> Shards:
    """Return shards whose working tables have the phrase pairs that may be tagged.

    If no row is to be tagged, nothing is aligned. Fragments are found without links; scores of
    phrase pairs need links of one aligner.

    Args:
        shards: The pairs to tag.
        rows: Screened rows that an aligner is fitted on, if the run fits one.
        run: The planned job.
        pieces: The SentencePiece model that the run trains, if any.
    """
    options, aligner = run.options, run.aligner
    if options.mix == 0:
        return shards | "WithoutPhrases" >> MapShards(without_phrases)
    phrases = pick(PhraseConfig, options, segmenter=run.result_of(SEGMENTER))
    scores, both = pick(ConfidenceConfig, options), pick(SymmetrizeConfig, options)
    scored: dict[str, Any] = {"links": both, "phrases": phrases, "confidence": scores}
    with_scores = scores.needs_scores and options.method != "glossary"
    model = aligner.model(rows, run, pieces)
    tokens = shards | "Tokenize" >> MapShards(aligner.cut, model, tokens=run.tokens)
    if options.method == "fragment":
        fragments = fragment_config(options, tag_config(run))
        finding = {"config": fragments, "translator": run.result_of(TRANSLATOR)}
        return tokens | "FindFragments" >> MapWholeShards(find_on_shard, reference=model, **finding)
    if with_scores and aligner.has_soft_links:
        return tokens | "ScorePhrases" >> MapShards(aligned_phrases, model, **scored)
    linked = tokens | "Align" >> aligner.step(run, model)
    if with_scores:
        return linked | "ScorePhrases" >> MapShards(scored_phrases, **scored)
    links = linked | "Symmetrize" >> MapShards(symmetrize, config=both)
    if (reference := run.result_of(SECOND_ALIGNER)) is not None:
        ways = {"heuristic": options.heuristic, "way": options.combine}
        second = MapWholeShards(align_with_second, reference=reference, **ways)
        links = links | "AlignWithSecond" >> second
    if options.method == "glossary":
        tags = tag_config(run)
        terms = pick(TermConfig, tags, share=tags.tagged_share)
        find = MapWholeShards(find_terms_on_shard, glossary=run.result_of(GLOSSARY), terms=terms)
        return links | "FindTerms" >> find
    return links | "ExtractPhrases" >> MapShards(extract_phrases, config=phrases)


def find_terms_on_shard(shard: Shard, glossary: Glossary, terms: TermConfig) -> Shard:
    """Turn a shard's links into the PHRASES rows of its terms, with their counts."""
    with timed(shard.table.num_rows):
        tagged = find_terms(shard.table, glossary, terms)
        return shard.with_table(tagged.table).with_notes(counts=tagged.counts)


def inject_tags_of(run: Run[AugmentOptions]) -> WriteShards:
    """Return the step that injects tags around phrase pairs and writes the shards."""
    settings: dict[str, Any] = {"tags": tag_config(run), "own_tags": keeps_tags(run)}
    return WriteShards(finish, run.write_config, **settings, links=run.options.keep_links)


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


JOB = Job(
    name="augment",
    options=AugmentOptions,
    parts=(
        RULE_BLOCK,
        ALIGNER,
        TRANSLATOR,
        SCREEN,
        SECOND_ALIGNER,
        TAG_PROFILE,
        SEGMENTER,
        GLOSSARY,
        KNOWN_PAIRS,
        LOOK,
    ),
    graph=graph,
    check=check,
    check_run=check_run,
    extra_files=extra_files,
)
main = JOB.main
