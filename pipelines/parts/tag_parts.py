"""What ``augment`` tags by: the profile of drawn tags, the glossary of terms."""

import hashlib

from pairweave.pipelines.job_options.pair_options import AugmentOptions
from pairweave.pipelines.parts.part import Part, Planning, Settled
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_values import refuse_given
from pairweave.transforms.output.run_files import to_json
from pairweave.transforms.tags.glossary import Glossary, read_glossary
from pairweave.transforms.tags.injection_options import MethodOptions
from pairweave.transforms.tags.tag_profile import TagProfile, read_profile
from pairweave.transforms.text.stemming import stemmer_name

_OF_GLOSSARY = MethodOptions.model_fields.keys() - {"method"}


def _plan_glossary(options: AugmentOptions, planning: Planning) -> Settled[Glossary | None]:
    """Read the glossary.

    Raises:
        ConfigError: It is missing, superfluous, or cannot be read.
    """
    if options.method != "glossary":
        why = "{applies} only to tags around terms; give --method glossary as well"
        refuse_given(options, _OF_GLOSSARY, why)
        return Settled(None)
    if options.glossary is None:
        raise ConfigError(
            "--method glossary needs --glossary FILE, with SOURCE TAB TARGET on each line"
        )
    glossary = read_glossary(
        options.glossary, options.glossary_match, punctuation=options.punctuation_tags
    )
    stemmer = {"stemmer": stemmer_name()} if glossary.match == "stem" else {}
    return Settled(
        glossary,
        settings={
            "glossary": glossary.digest,
            "glossary_match": glossary.match,
            **stemmer,
        },
    )


GLOSSARY = Part("glossary", _plan_glossary)
"""The glossary; None for another method."""


def _plan_tag_profile(options: AugmentOptions, planning: Planning) -> Settled[TagProfile | None]:
    """Read the profile.

    Raises:
        ConfigError: It cannot be read.
    """
    if options.tag_profile is None:
        return Settled(None)
    profile = read_profile(options.tag_profile).to_json()
    return Settled(
        TagProfile.from_json(profile),
        settings={"tag_profile": hashlib.sha256(to_json(profile)).hexdigest()},
        facts={"tag_profile": profile},
    )


TAG_PROFILE = Part("tag_profile", _plan_tag_profile)
"""The profile; None if none is given. The plan contains all of it, to make runs repeatable."""
