"""Detag and project: by the links of an aligner, tags of sources are put onto translations."""

from collections.abc import Callable, Sequence

import pyarrow as pa

from pairweave.transforms.links.soft_links import soften
from pairweave.transforms.markup.markup import INDEXED, parse_markup
from pairweave.transforms.projection.cut_tables import cut_table
from pairweave.transforms.projection.joined_words import placings
from pairweave.transforms.projection.project import project_tags
from pairweave.transforms.text.segmenter import choose_segmenter, is_unspaced
from pairweave.transforms.text.text_tables import token_table
from pairweave.transforms.text.tokens import TokenConfig

_WORDS = TokenConfig("words")


def choose_projection_segmenter(language: str) -> str:
    """Return the segmenter for translations, so that no tag is placed inside a word.

    Raises:
        ConfigError: The language is written without spaces, and no segmenter is installed.
    """
    reason = f"target_lang is {language}, and tags are projected" if is_unspaced(language) else None
    return choose_segmenter("auto", reason)


def project_indexed(
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
