"""Aligners as a user names them on one line: ``encoder:DIR:layer=8:head=softmax``."""

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from pairweave.models.attention_aligner import AttentionSource
from pairweave.models.encoder.encoder_config import TRANSPORT_SETTINGS, EncoderConfig, HeadConfig
from pairweave.models.external.external_config import ABOUT, PROGRAMS, About, ExternalConfig
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.links import attention
from pairweave.transforms.links.attention import Attention
from pairweave.transforms.option_values import require_choice
from pairweave.transforms.storage import files

ALIGNERS = ("hmm", "encoder", "attention", *PROGRAMS)

ALL = "all"
"""What stands for every layer, head or method of attention."""

Number = TypeVar("Number", int, float)


@dataclasses.dataclass(frozen=True)
class AlignerName:
    """An aligner with its settings.

    Attributes:
        text: As it was written.
        aligner: One of `ALIGNERS`.
        model: Directory of a model, or file of attention, if one is named.
        settings: The other settings.
        option: The option that names it, for messages.
    """

    text: str
    aligner: str
    model: str | None
    settings: dict[str, str]
    option: str = "--aligners"

    @property
    def about(self) -> About:
        """Return what is known of an external program."""
        return ABOUT[self.aligner]

    @property
    def learns(self) -> bool:
        """Tell whether it learns from the text that the command is given."""
        if self.aligner in PROGRAMS:
            return self.about.way != "pair by pair"
        return self.aligner == "hmm" and self.model is None

    @property
    def layer(self) -> int:
        """Return the layer of an encoder.

        Raises:
            ConfigError: It is no number.
        """
        layer = self._number("layer", int)
        return 8 if layer is None else layer

    def encoder_config(self) -> EncoderConfig:
        """Return the settings of an encoder.

        Raises:
            ConfigError: No model is named, or a setting is none of an encoder's or has a wrong
                value.
        """
        of_head = ("threshold", "distortion", *TRANSPORT_SETTINGS)
        self.require_settings("layer", "head", *of_head, "unit", "precision")
        if self.model is None:
            raise ConfigError(
                f"{self.option} encoder: needs a model, as in encoder:DIRECTORY:layer=8"
            )
        own: dict[str, Any] = {
            name: self.settings[name] if name in ("cost", "mass") else self._number(name, float)
            for name in of_head
            if name in self.settings
        }
        head = HeadConfig(self.settings.get("head", "softmax"), **own)
        return EncoderConfig(
            self.model,
            layer=self.layer,
            head=head,
            unit=self.settings.get("unit", "pieces"),
            precision=self.settings.get("precision", "fp32"),
        )

    def attention_source(self) -> AttentionSource:
        """Return where attention is and how links are read off.

        Raises:
            ConfigError: No file is named, or a setting is none of attention's or has a wrong value.
        """
        self.require_settings("method", "layer", "head", "pieces")
        method = self.settings.get("method", "shift")
        require_choice("method", method, attention.METHODS)
        return AttentionSource(
            self._attention_path(),
            method,
            self._number("layer", int),
            self._number("head", int),
            self.settings.get("pieces"),
        )

    def each(self) -> Iterator["AlignerName"]:
        """Yield the aligners that the name stands for: one, or one for each layer, head, method.

        Raises:
            ConfigError: The file has no layers or heads to list.
            InputError: The file of attention cannot be read.
        """
        wanted = [name for name, value in self.settings.items() if value == ALL]
        if self.aligner != "attention" or not wanted:
            yield self
            return
        layers, heads = Attention(files.on_disk(self._attention_path())).layers_and_heads()
        choices: list[Sequence[object]] = []
        for name in wanted:
            sizes = {"layer": layers, "head": heads}
            if name in sizes and sizes[name] is None:
                raise ConfigError(f"{self.option} {self.text}: the file has no {name}s to list")
            choices.append(range(sizes[name] or 0) if name in sizes else tuple(attention.METHODS))
        for values in itertools.product(*choices):
            own = self.settings | dict(zip(wanted, map(str, values), strict=True))
            parts = (f"{name}={value}" for name, value in own.items())
            text = ":".join([self.aligner, self._attention_path(), *parts])
            yield dataclasses.replace(self, text=text, settings=own)

    def _attention_path(self) -> str:
        if self.model is None:
            raise ConfigError(
                f"{self.option} attention: needs a file, as in attention:FILE.npz:layer=2"
            )
        return self.model

    def program_config(self, timeout_seconds: int) -> ExternalConfig:
        """Return how an external program is run.

        Args:
            timeout_seconds: How long one call of it may take.

        Raises:
            ConfigError: A setting is not one of a program's, or out of range.
        """
        self.require_settings("layer", "head", "path")
        return ExternalConfig(
            program=self.aligner,
            path=self.settings.get("path"),
            model=self.model,
            layer=self.layer,
            head=self.settings.get("head"),
            timeout_seconds=timeout_seconds,
        )

    def require_settings(self, *known: str) -> None:
        """Refuse settings that the aligner does not know.

        Raises:
            ConfigError: Names them.
        """
        foreign = sorted(set(self.settings) - set(known))
        if foreign:
            raise ConfigError(
                f"{self.option} {self.text}: does not know {', '.join(foreign)}; it knows "
                f"{', '.join(known) or 'no settings'}"
            )

    def _number(self, setting: str, kind: type[Number]) -> Number | None:
        """Read a setting as a number; None where it is not given."""
        text = self.settings.get(setting)
        try:
            return None if text is None else kind(text)
        except ValueError as error:
            raise ConfigError(f"{self.option} {self.text}: {setting} must be a number") from error


def read_name(text: str, option: str = "--aligners") -> AlignerName:
    """Read an aligner's name, its model and its settings, parted by colons.

    >>> name = read_name("encoder:bert:layer=6")
    >>> name.aligner, name.model, name.settings
    ('encoder', 'bert', {'layer': '6'})

    Raises:
        ConfigError: There is no such aligner, or a part is neither a model nor a setting.
    """
    aligner, *parts = text.split(":")
    if aligner not in ALIGNERS:
        known = [name for name in ALIGNERS if name != "attention" or option == "--aligners"]
        raise ConfigError(f"{option} {text}: there are {', '.join(known)}, not {aligner!r}")
    model = None
    if parts and "=" not in parts[0]:
        model = parts.pop(0)
    settings = {}
    for part in parts:
        name, equals, value = part.partition("=")
        if not (name and equals and value):
            raise ConfigError(
                f"{option} {text}: {part!r} is no setting; expected "
                "NAME[:MODEL][:SETTING=VALUE ...], such as encoder:DIRECTORY:layer=8:head=softmax"
            )
        settings[name] = value
    return AlignerName(text, aligner, model, settings, option)
