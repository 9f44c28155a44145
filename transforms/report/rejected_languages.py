"""Notices about languages for which one rule rejected most pairs."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from pairweave.transforms.output.receipt_sums import ReceiptSums
from pairweave.transforms.rejects import AS_UTF8, Reject
from pairweave.transforms.screen import ScreenReject

MIN_PAIRS = 20
"""Minimum number of pairs of two languages for a notice on them."""

MOST = 0.5
"""A rule that rejects a greater share of the pairs of two languages is named."""

RATIO_ADVICE = (
    "look whether the sides are parallel; if they are, raise --max_ratio or use --tokens "
    "sentencepiece"
)

_OF_THE_FORMAT = "look at the format of the file and at the options that name its fields"

ADVICE = {
    str(Reject.MISSING_FIELD): _OF_THE_FORMAT,
    str(Reject.WRONG_TYPE): _OF_THE_FORMAT,
    str(Reject.FIELD_COUNT): _OF_THE_FORMAT,
    str(Reject.INVALID_JSON): _OF_THE_FORMAT,
    str(ScreenReject.LENGTH_RATIO): RATIO_ADVICE,
    str(Reject.INVALID_UTF8): AS_UTF8,
    str(Reject.TAGS_DIFFER): "--tags_differ keep keeps such pairs, with the tags of both",
}
"""Advice on rules that reject many pairs."""

Json = Mapping[str, Any]


def language_notices(corpora: Json, inputs: Sequence[Json], sums: ReceiptSums) -> list[str]:
    """Return notices on rules that rejected most pairs of two languages.

    Languages in a single file are left out: the notice on that file says the same.

    Args:
        corpora: Corpora of a manifest, by name.
        inputs: Input files of the plan.
        sums: The sums of all receipts.
    """
    read: Counter[str] = Counter()
    rejected: dict[str, Counter[str]] = defaultdict(Counter)
    names = {name: languages_of(corpus) for name, corpus in corpora.items()}
    for name, kept in sums.kept_by_corpus.items():
        read[names[name]] += kept
    for (name, _, reason), pairs in sums.rejected.items():
        read[names[name]] += pairs
        rejected[names[name]][reason] += pairs
    first = {entry["name"]: entry for entry in inputs if entry["role"] in ("source", "pairs")}
    files = Counter(names.get(entry["corpus"]) for entry in first.values())
    return [
        f"{languages}: most pairs were rejected by one rule, {pairs:,} of {read[languages]:,} "
        f"as {reason}" + (f"; {ADVICE[reason]}" if reason in ADVICE else "")
        for languages in sorted(rejected)
        for reason, pairs in sorted(rejected[languages].items())
        if files[languages] > 1 and read[languages] >= MIN_PAIRS and pairs > MOST * read[languages]
    ]


def languages_of(corpus: Json) -> str:
    """Return the languages of a corpus in the form for notices."""
    return f"{corpus['source_lang']} to {corpus['target_lang']}"
