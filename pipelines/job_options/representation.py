"""The representation of tags from options."""

from pairweave.pipelines.job_options.drawn_tag_options import DrawnTagOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.tags.tag_profile import read_profile
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
    if name == "raw":
        # A later check refuses raw without a profile.
        profile = options.tag_profile and read_profile(options.tag_profile)
        return profile.names.pattern() if profile and profile.names.counts else ""
    return "" if name == "indexed" else symbol_pattern(name)
