"""Finding the translated fragments that ``augment --method fragment`` tags, instead of links."""

import functools

from pairweave.models.hmm import hmm_reference
from pairweave.models.translators import translator_reference
from pairweave.models.translators.lexical_translator import LexicalTranslator
from pairweave.models.translators.translator_reference import TranslatorReference
from pairweave.pipelines.steps.steps import timed
from pairweave.transforms import schemas
from pairweave.transforms.shards.shard import Shard
from pairweave.transforms.tags.fragments import FragmentConfig, FragmentTranslator, find_fragments
from pairweave.transforms.tags.text_fragments import TextFragments


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
