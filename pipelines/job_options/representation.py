"""The representation of tags from options."""

from pairweave.pipelines.job_options.drawn_tag_options import DrawnTagOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.tags.tag_profile import TagProfile, read_profile
from pairweave.transforms.tags.tag_rendering import Name, symbol_pattern


def representation_of(options: DrawnTagOptions) -> Name:
    """Return the representation of tags.

    Raises:
        ConfigError: A template is missing or superfluous.
    """
    if (options.representation == "template") != bool(options.template):
        raise ConfigError(
            "--representation template needs --template OPENING CLOSING SELF_CLOSING, and the "
            "reverse"
        )
    if options.representation != "template":
        return options.representation
    if len(options.template) != 3:
        raise ConfigError(
            "--template needs three forms, for opening, closing and self-closing tags, "
            f"got {len(options.template)}"
        )
    opening, closing, empty = options.template
    return opening, closing, empty


def output_symbols(options: DrawnTagOptions) -> str:
    """Return a pattern of symbols besides indexed tags that a text must not contain, or ""."""
    name = representation_of(options)
    profile = None
    if name == "raw" and options.tag_profile is not None:
        profile = read_profile(options.tag_profile)
    return symbols_of(name, profile)


def symbols_of(name: Name, profile: TagProfile | None) -> str:
    """Return the same pattern for a representation, and the profile that ``raw`` takes names of."""
    if name == "raw":
        # A later check refuses raw without a profile.
        return profile.names.pattern() if profile and profile.names.counts else ""
    return "" if name == "indexed" else symbol_pattern(name)
