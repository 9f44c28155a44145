"""The job ``augment --method glossary``: tags around the terms of a glossary."""

from pairweave.pipelines.options.job_options import AugmentOptions
from pairweave.pipelines.run.run import Run
from pairweave.transforms.config import pick
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.tags.glossary import Glossary, TermConfig, read_glossary
from pairweave.transforms.tags.tag_config import TagConfig
from pairweave.transforms.text.stemming import stemmer_name

_NO_SCORE = "terms have no score"

UNKNOWN = {
    "draw": _NO_SCORE,
    "max_words": "the glossary sets how long a term is",
    "min_confidence": _NO_SCORE,
    "nesting": "terms that are tagged do not overlap",
    "split_share": "a term is tagged in one part",
    "tag_profile": "lengths, positions and numbers of tags follow from the terms",
    "tag_share": "only --max_tags limits the tags of a pair",
    "unaligned_words": "a word of a term may lack a link",
    "variants": "it makes one tagged row per pair",
}
"""Options of tags that do not apply to terms, and why."""


def glossary_of(options: AugmentOptions) -> Glossary | None:
    """Return the glossary whose terms are tagged; None for another method.

    Raises:
        ConfigError: It is missing, superfluous, or cannot be read.
    """
    if options.method != "glossary":
        for name in ("glossary", "glossary_match"):
            if name in options.model_fields_set:
                raise ConfigError(
                    f"--{name} applies only to tags around terms; give --method glossary as well"
                )
        return None
    if options.glossary is None:
        raise ConfigError(
            "--method glossary needs --glossary FILE, with SOURCE TAB TARGET on each line"
        )
    return read_glossary(
        options.glossary, options.glossary_match, punctuation=options.punctuation_tags
    )


def glossary_settings(glossary: Glossary | None) -> dict[str, object]:
    """Return a glossary's entries in a plan."""
    if glossary is None:
        return {}
    stemmer = {"stemmer": stemmer_name()} if glossary.match == "stem" else {}
    return {"glossary": glossary.digest, "glossary_match": glossary.match, **stemmer}


def check_glossary(run: Run[AugmentOptions]) -> None:
    """Refuse options that do not apply to terms, before anything is written.

    Raises:
        ConfigError: There are such options.
    """
    for name in sorted(UNKNOWN.keys() & run.options.model_fields_set):
        raise ConfigError(
            f"--method glossary does not take --{name}: {UNKNOWN[name]}; leave it out"
        )
    if any(unit.inline_tags == "index" for unit in run.plan.units):
        raise ConfigError(
            "--method glossary tags text without tags of its own; give --inline_tags strip"
        )


def term_config(tags: TagConfig) -> TermConfig:
    """Return the settings of tagging terms."""
    return pick(
        TermConfig,
        tags,
        share=tags.tagged_share,
        words=tags.words,
        segmenter=tags.segmenter,
    )
