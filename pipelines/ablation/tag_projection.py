"""Detag and project: by the links of an aligner, tags of sources are put onto translations."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence

import pyarrow as pa

from pairweave.models.encoder.hosting import encoder_reference
from pairweave.models.encoder.hosting.encoder_reference import EncoderReference
from pairweave.models.hmm.hmm import HmmConfig, HmmModel, fit
from pairweave.pipelines.ablation.ablation_config import Ablation, ProjectedTags
from pairweave.pipelines.ablation.evaluation_sets import refuse_seen
from pairweave.pipelines.ablation.task_kind import Pair, plain
from pairweave.pipelines.aligners.aligner_registry import read_name
from pairweave.pipelines.aligners.encoder import config_of
from pairweave.transforms.links.soft_links import soften
from pairweave.transforms.markup.markup import INDEXED, parse_markup
from pairweave.transforms.projection.cut_tables import cut_table
from pairweave.transforms.projection.joined_words import placings
from pairweave.transforms.projection.project import project_tags
from pairweave.transforms.storage.text_lines import read_in_step
from pairweave.transforms.text.segmenter import choose_segmenter, is_unspaced
from pairweave.transforms.text.text_tables import token_table
from pairweave.transforms.text.tokens import TokenConfig

_WORDS = TokenConfig("words")


def fit_arm(
    field: str,
    given: ProjectedTags,
    ablation: Ablation,
    pairs: Iterable[Pair],
    known: Mapping[str, str],
) -> HmmModel:
    """Fit the aligner with which an arm puts tags back.

    Args:
        field: The arm's field in the configuration.
        given: Text to fit the aligner on; None for the arm's own text.
        ablation: The languages.
        pairs: The arm's own pairs.
        known: The test set of each source (`evaluation_sets.known_sources`).

    Raises:
        ConfigError: Segments of a test set are in the text.
    """
    if given.fit_source is not None and given.fit_target is not None:
        lines = read_in_step(given.fit_source, given.fit_target)
        pairs = [(one.text, other.text) for one, other in lines]
        refuse_seen(
            (plain(source) for source, _ in pairs),
            known,
            f"the fit of the aligner of {field} ({given.fit_source})",
            "leave them out of the file",
        )
    texts = dict.fromkeys((plain(source), plain(target)) for source, target in pairs)
    filled = [pair for pair in texts if all(pair)]
    sides = [source for source, _ in filled], [target for _, target in filled]
    table = token_table(sides, _WORDS, (ablation.source_lang, ablation.target_lang))
    return fit(table, HmmConfig(), os.cpu_count() or 1)


def find_encoder(name: str, field: str) -> EncoderReference:
    """Find the encoder that puts the tags of an arm back; hash its weights without loading them.

    Args:
        name: The encoder's one-line name, such as ``encoder:DIRECTORY:layer=5``.
        field: The field of the configuration that has it.

    Raises:
        ConfigError: The name is wrong, there is no such encoder, or it cannot be used here.
    """
    return encoder_reference.find(config_of(read_name(name, field)))


def choose_projection_segmenter(language: str) -> str:
    """Return the segmenter for translations, so that no tag is placed inside a word.

    Raises:
        ConfigError: The language is written without spaces, and no segmenter is installed.
    """
    reason = f"target_lang is {language}, and tags are projected" if is_unspaced(language) else None
    return choose_segmenter("auto", reason)


def project(
    align: Callable[[pa.Table], pa.Table],
    sources: Sequence[str],
    translations: Sequence[str],
    languages: tuple[str, str],
    rules: str,
) -> list[str]:
    """Put the indexed tags of sources onto their translations.

    Args:
        align: Turns TOKENS rows into LINKED rows, in the same order.
        sources: Sources with tags ``[segment]``.
        translations: Translations without tags.
        languages: BCP 47 tags of both sides.
        rules: Where tags go (`transforms.projection.project`).
    """
    marked = [parse_markup(source, INDEXED) for source in sources]
    tagged = [at for at, one in enumerate(marked) if one.tags and translations[at].strip()]
    sources_with_tags = [marked[at] for at in tagged]
    targets = [translations[at] for at in tagged]
    texts = [one.text for one in sources_with_tags], targets
    table = cut_table(token_table(texts, _WORDS, languages), sources_with_tags, targets)
    segmenter = choose_projection_segmenter(languages[1])
    links = soften(align(table)) if tagged else []
    made = list(translations)
    placed = placings(table, sources_with_tags, links, _WORDS, segmenter)
    for at, parts in zip(tagged, placed, strict=True):
        made[at] = str(project_tags(marked[at], translations[at], *parts, rules))
    for at, one_marked in enumerate(marked):
        if one_marked.tags and not translations[at].strip():
            made[at] = "".join(tag.raw for tag in one_marked.tags)
    return made
