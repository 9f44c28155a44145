"""What ``--help`` of a job shows first: an example, and the options that most people need.

``--help all`` lists every option.
"""

from typing import NamedTuple


class ShortHelp(NamedTuple):
    """The first screen of help.

    Attributes:
        example: A command as one would type it.
        names: Options to show, in this order.
    """

    example: str
    names: tuple[str, ...]


TEXTS = {
    "model": "fitted aligner to use (default: fit one on the input)",
    "paragraphs": "role of paragraphs (default weigh)",
    "duplicates": "which pairs are equal (default masked: but for addresses and numbers)",
    "filter": "rules to reject pairs by, such as '{max_copied: 0.3}'",
    "keep_links": "keep links, for export and stream",
    "exclude": "dev and test sets whose sentences are rejected",
    "annotate_only": "score all pairs, reject none",
    "preview": "show what the rules do to the first N pairs, and stop",
    "select_words": "keep the best pairs, of this many target words",
    "hint": "hints in the rows (default none)",
}
"""What an option does, shorter than its own help."""

_INPUT = "source_input target_input input"
_PLACE = "source_lang target_lang output"
_RUN = "workers plan_only"
_FILES = "--source_input corpus.en.gz --target_input corpus.de.gz"
_TAGS = "--source_lang en --target_lang de"


def _help(example: str, names: str) -> ShortHelp:
    return ShortHelp(example, ("config", *names.split()))


_ALL = {
    "augment": _help(
        f"pairweave augment {_FILES} \\\n  {_TAGS} --max_tags 3 --output tagged/",
        f"{_INPUT} {_PLACE} model mix max_tags representation exclude filter keep_links {_RUN}",
    ),
    "suggest": _help(
        f"pairweave suggest {_FILES} \\\n  --translation_input mt.de.gz {_TAGS} "
        "--output suggestions/",
        f"source_input target_input translation_input {_PLACE} methods aligner translator mix hint "
        f"fit_lengths {_RUN}",
    ),
    "try": _help(
        f"pairweave try {_FILES} \\\n  {_TAGS} --model model/ --pairs 5 --change heuristic=union",
        f"{_INPUT} source_lang target_lang pairs change model fit_pairs aligner tokens heuristic "
        "max_words method max_tags",
    ),
    "align": _help(
        f"pairweave align {_FILES} \\\n  {_TAGS} --pharaoh links.txt --output linked/",
        f"{_INPUT} {_PLACE} pharaoh aligner model tokens heuristic {_RUN}",
    ),
    "filter": _help(
        f"pairweave filter {_FILES} \\\n  {_TAGS} --select_words 5000000 --output clean/",
        f"{_INPUT} {_PLACE} model scorer select_words detector exclude duplicates annotate_only "
        f"preview {_RUN}",
    ),
    "fit": _help(
        f"pairweave fit {_FILES} \\\n  {_TAGS} --output model/",
        f"{_INPUT} {_PLACE} tokens fit_pairs {_RUN}",
    ),
    "bitext": _help(
        "pairweave bitext --source_input 'en/*.txt' --target_input 'de/*.txt' --pair_by name \\\n"
        f"  {_TAGS} --split lines --output sentences/",
        f"{_INPUT} {_PLACE} pair_by split paragraphs model scorer {_RUN}",
    ),
    "finetune": _help(
        f"pairweave finetune --model DIR --layer 8 \\\n  {_FILES} --output tuned/",
        f"source_input target_input {_PLACE} objectives layer plan_only",
    ),
}


def of(prog: str) -> ShortHelp | None:
    """Return the first screen of a command's help; None if all its options fit on one."""
    return _ALL.get(prog.removeprefix("pairweave "))
