"""The job ``augment --method fragment``, which tags translated fragments instead of links."""

import functools

from pairweave.models.hmm import hmm_reference
from pairweave.models.translators import translator_reference
from pairweave.models.translators.lexical_translator import LexicalTranslator
from pairweave.models.translators.translator_reference import TranslatorReference
from pairweave.pipelines.job_options.pair_options import AugmentOptions
from pairweave.pipelines.parts.translator_part import TRANSLATOR
from pairweave.pipelines.run.run import Run
from pairweave.pipelines.steps.aligner_run import Model
from pairweave.pipelines.steps.steps import MapWholeShards, timed
from pairweave.transforms import schemas
from pairweave.transforms.config import pick
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.shards.shard import Shard
from pairweave.transforms.tags.fragments import FragmentConfig, FragmentTranslator, find_fragments
from pairweave.transforms.tags.tag_config import TagConfig
from pairweave.transforms.tags.text_fragments import TextFragments


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


def check_fragments(run: Run[AugmentOptions]) -> None:
    """Refuse aligners and tokens other than those of a fitted hmm on words, before a run starts."""
    options = run.options
    if options.aligner != "hmm":
        raise ConfigError("--method fragment translates with a fitted hmm; give --aligner hmm")
    if run.tokens is None or run.tokens.model is not None:
        raise ConfigError(
            "--method fragment translates words; give --tokens words or whitespace, and a model "
            "that was fitted on them"
        )


def find_fragments_of(run: Run[AugmentOptions], model: Model, tags: TagConfig) -> MapWholeShards:
    """Return the step that finds fragments by a fitted aligner, to be tagged in the given way."""
    config, translator = fragment_config(run.options, tags), run.need(TRANSLATOR)
    return MapWholeShards(find_on_shard, reference=model, config=config, translator=translator)


def find_on_shard(
    shard: Shard,
    reference: hmm_reference.HmmReference,
    config: FragmentConfig,
    translator: TranslatorReference | None,
) -> Shard:
    """Turn a shard's tokens into the PHRASES rows of its fragments, with their counts.

    Args:
        shard: A shard whose working table has tokens.
        reference: The fitted aligner, which has the same tokens.
        config: The settings of the search.
        translator: Translates fragments; None for the aligner's own lexicon and phrases.
    """
    with timed(shard.table.num_rows):
        if reference == hmm_reference.NO_MODEL:  # `cut` has checked that there is no pair
            return shard.with_table(schemas.PHRASES.empty_table()).with_notes(counts={})
        fragments = find_fragments(shard.table, translator_of(reference, translator), config)
        return shard.with_table(fragments.table).with_notes(counts=fragments.counts)


@functools.lru_cache(maxsize=2)
def translator_of(
    reference: hmm_reference.HmmReference, translator: TranslatorReference | None = None
) -> FragmentTranslator:
    """Return the translator of fragments, loaded once per process."""
    fitted = hmm_reference.load(reference)
    if translator is not None:
        translate = functools.partial(translator_reference.translate, translator)
        return TextFragments(translate, fitted.tokens)
    return LexicalTranslator(fitted.model.parts, fitted.tokens, fitted.phrases)
