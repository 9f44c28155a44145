"""The counters of all jobs: names for programs, and texts for people.

Names are part of the format of receipts and manifests. A job that counts something new declares it
here; a shard with a counter that is not declared is refused when it is written.
"""

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from pairweave.transforms.rejects import PLUGIN_RULE, Reject

SUGGESTING = ("random", "alignment", "parallel")
"""The methods that make examples of suggestions."""

MASK_RULES = (
    *("contains_the_mask_token", "splits_a_tag", "source_length", "identical"),
    *("punctuation_only", "suggestion_length", "masked_share", "confidence", "score"),
)
"""Reasons for dropping an example (`suggestions.suggestion_filters.RULE_NAMES`)."""


@dataclasses.dataclass(frozen=True)
class Counter:
    """The declaration of a counter.

    Attributes:
        jobs: The jobs that count it.
        about: The things that are counted, as a plural that follows a number.
    """

    jobs: str
    about: str


def _suggestion_counters() -> Iterator[tuple[str, Counter]]:
    for method in SUGGESTING:
        yield f"{method}_examples", Counter("suggest", f"examples by the method {method}")
    for operation in ("replace", "insert", "delete"):
        about = f"examples by the method alignment whose suggestion is to {operation}"
        yield f"alignment_{operation}_examples", Counter("suggest", about)
    for method in SUGGESTING:
        for rule in MASK_RULES:
            why = rule.replace("_", " ")
            about = f"masks by the method {method} dropped, reason: {why}"
            yield f"{method}_masks_dropped_{rule}", Counter("suggest", about)


COUNTERS: Mapping[str, Counter] = MappingProxyType(
    {
        "pairs": Counter("align, bitext", "pairs written"),
        "links": Counter("align", "links between tokens"),
        "links_of_first_aligner": Counter(
            "augment, align, suggest", "links of the first of two aligners"
        ),
        "links_of_second_aligner": Counter(
            "augment, align, suggest", "links of the second of two aligners"
        ),
        "links_of_both_aligners": Counter(
            "augment, align, suggest", "links that both aligners make"
        ),
        "one_to_one_pairs": Counter("bitext", "pairs of one sentence each"),
        "source_sentences": Counter("bitext", "source sentences in the pairs"),
        "target_sentences": Counter("bitext", "target sentences in the pairs"),
        "plain_rows": Counter("augment", "rows without injected tags"),
        "tagged_rows": Counter("augment", "tagged rows"),
        "tags": Counter("augment", "tags in the tagged rows; a tag in two parts counts once"),
        "self_closing_tags": Counter("augment", "self-closing tags"),
        "opening_halves": Counter("augment", "opening tags without their closing one"),
        "closing_halves": Counter("augment", "closing tags without their opening one"),
        "empty_tag_pairs": Counter("augment", "pairs of tags with nothing between them"),
        "tags_in_two_parts": Counter("augment", "tags in two parts"),
        "terms_on_both_sides": Counter("augment", "glossary terms found on both sides of a pair"),
        "terms_without_links": Counter("augment", "glossary terms whose links do not agree"),
        "tagged_terms": Counter("augment", "glossary terms that were tagged"),
        "pairs_with_tagged_terms": Counter("augment", "pairs with a tagged glossary term"),
        "tried_pairs": Counter("augment", "pairs in which fragments were looked for"),
        "wanted_pairs": Counter("augment", "pairs that were to get fragments"),
        "tried_fragments": Counter("augment", "fragments whose translation was looked for"),
        "fragments_in_tried_pairs": Counter("augment", "fragments of the pairs that were tried"),
        "translated_fragments": Counter("augment", "fragments given to the translator"),
        "translator_calls": Counter("augment", "calls of the translator"),
        "kept_pairs": Counter("filter", "pairs that no rule rejects"),
        "kept_target_words": Counter("filter", "words of the targets that no rule rejects"),
        "triples": Counter("suggest", "translations that were judged by their placeholders"),
        "kept_triples": Counter("suggest", "translations that this judgement keeps"),
        "triples_without_differences": Counter("suggest", "translations equal to their references"),
        "triples_over_placeholder_limit": Counter(
            "suggest", "translations with too many placeholders"
        ),
        "placeholders": Counter(
            "suggest", "placeholders of the translations that this judgement keeps"
        ),
        "joined_placeholders": Counter(
            "suggest", "placeholders of these translations after they were joined"
        ),
        **dict(_suggestion_counters()),
        "steps": Counter("finetune", "steps of the training"),
    }
)
"""Every counter by its name, except those of `RULE_COUNTERS`."""

RULE_COUNTERS: Mapping[str, Counter] = MappingProxyType(
    {
        "would_reject": Counter("filter", "pairs that {reason} would reject"),
        "would_reject_first": Counter("filter", "pairs that {reason} would reject first"),
        "would_reject_only": Counter("filter", "pairs that only {reason} would reject"),
    }
)
"""Counters of every rule of `filter`, by the part of their names before the reason."""

_OF_RULE = re.compile(
    rf"({'|'.join(sorted(RULE_COUNTERS, reverse=True))})_({'|'.join(Reject)}|{PLUGIN_RULE})"
)


def rule_counter(kind: str, reason: str) -> str:
    """Name a counter of a rule.

    >>> rule_counter("would_reject_only", "script")
    'would_reject_only_script'
    """
    return f"{kind}_{reason}"


def of_rule(name: str) -> tuple[str, str] | None:
    """Return the kind (a key of `RULE_COUNTERS`) and the reason of a rule's counter; else None.

    >>> of_rule("would_reject_only_script"), of_rule("pairs")
    (('would_reject_only', 'script'), None)
    """
    match = _OF_RULE.fullmatch(name)
    return None if match is None else (match[1], match[2])


def about(name: str) -> str:
    """Return the meaning of a counter; the name itself if it is not declared.

    >>> about("tagged_rows"), about("would_reject_script")
    ('tagged rows', 'pairs that script would reject')
    """
    rule = of_rule(name)
    if rule is not None:
        return RULE_COUNTERS[rule[0]].about.format(reason=rule[1])
    return COUNTERS[name].about if name in COUNTERS else name


def check_declared(names: Iterable[str]) -> None:
    """Check that counters are declared.

    Raises:
        ValueError: A counter is not declared, which is a fault of the program.
    """
    for name in names:
        if name not in COUNTERS and of_rule(name) is None:
            raise ValueError(f"{name}: a counter that {__name__} does not declare")
