"""The registry of aligners: one module and one line each."""

import dataclasses
import functools
import re
from collections.abc import Iterator

from pairweave.pipelines.aligners.aligner_name import AlignerName
from pairweave.pipelines.aligners.attention import Attention
from pairweave.pipelines.aligners.encoder import Encoder, StartingEncoder
from pairweave.pipelines.aligners.external import External
from pairweave.pipelines.aligners.given import Given
from pairweave.pipelines.aligners.hmm import Hmm
from pairweave.pipelines.aligners.job_aligner import JobAligner
from pairweave.pipelines.aligners.plugin import PluginJobAligner
from pairweave.pipelines.aligners.product import Product
from pairweave.pipelines.aligners.ter import Ter
from pairweave.pipelines.options.base import WordAlignerOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_places import Part, Role, Use

ALIGNERS: tuple[JobAligner, ...] = (
    Ter(),
    Hmm(),
    Encoder(),
    Product(),
    Attention(),
    External(),
    Given(),
)
"""All aligners, in the order in which help and messages list them."""

NAMED = {name: aligner for aligner in ALIGNERS for name in aligner.names}
"""Aligners with one-line names, by name."""

_COLON = re.compile(":(?!//)")  # a model may be a URI

_BY_NAME = {aligner.name: aligner for aligner in (*ALIGNERS, StartingEncoder())}


def aligner_of(options: WordAlignerOptions) -> JobAligner:
    """Return the aligner of a job or a command; an aligner of another package is a plugin."""
    return _BY_NAME.get(options.aligner_name) or PluginJobAligner(options.aligner_name)


def read_name(text: str, option: str = "--aligners") -> AlignerName:
    """Parse an aligner's name, model and settings, separated by colons.

    >>> name = read_name("encoder:bert:layer=6")
    >>> name.aligner, name.model, name.settings
    ('encoder', 'bert', {'layer': '6'})

    Raises:
        ConfigError: There is no such aligner, a part is neither a model nor a setting, or a setting
            is given twice.
    """
    aligner, *parts = _COLON.split(text)
    if aligner not in NAMED:
        every = option == "--aligners"
        known = [name for name, kind in NAMED.items() if every or kind.may_be_second]
        raise ConfigError(f"{option} {text}: expected one of {', '.join(known)}, got {aligner!r}")
    model = None
    if parts and "=" not in parts[0]:
        model = parts.pop(0)
    settings = {}
    for part in parts:
        name, equals, value = part.partition("=")
        if not (name and equals and value):
            raise ConfigError(
                f"{option} {text}: {part!r} is not a setting; expected "
                "NAME[:MODEL][:SETTING=VALUE ...], such as encoder:DIRECTORY:layer=8:head=softmax"
            )
        if name in settings:
            raise ConfigError(f"{option} {text}: {name} is given twice; give one of both values")
        settings[name] = value
    return AlignerName(text, aligner, model, settings, option)


def places_in_name(text: str, option: str = "--second_aligner") -> Iterator[Part]:
    """Yield the parts of an aligner's name that are places: its models, and its program.

    Raises:
        ConfigError: No aligner has this name.
    """
    name = read_name(text, option)
    aligner = NAMED[name.aligner]
    first = 0
    for number, word in enumerate(_COLON.split(text)):
        last = first + len(word)
        setting, equals, _ = word.partition("=")
        if number == 1 and word == name.model:
            yield Part(first, last, on_hub=aligner.models_from_hub)
        elif number and setting in aligner.places:
            place = first + len(setting + equals)
            yield Part(place, last, aligner.places[setting], on_hub=False)
        first = last + 1


SECOND_ALIGNER = Role(Use.MODEL, "KIND[:MODEL]", on_hub=True, parts=places_in_name)
COMPARED_ALIGNERS = dataclasses.replace(
    SECOND_ALIGNER, parts=functools.partial(places_in_name, option="--aligners")
)
