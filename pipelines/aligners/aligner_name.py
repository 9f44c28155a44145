"""The one-line name of an aligner: ``encoder:DIR:layer=8:head=softmax``."""

import dataclasses
from typing import TypeVar, get_args

from pydantic.fields import FieldInfo

from pairweave.transforms.errors import ConfigError

Number = TypeVar("Number", int, float)


@dataclasses.dataclass(frozen=True)
class AlignerName:
    """An aligner with its settings.

    Attributes:
        text: The name as given.
        aligner: The first part: a name in `pipelines.aligners.aligner_registry.NAMED`.
        model: Directory of a model, or file of attention, if given.
        settings: The other settings.
        option: The option that has the name, for messages.
    """

    text: str
    aligner: str
    model: str | None
    settings: dict[str, str]
    option: str = "--aligners"

    def require_settings(self, *known: str) -> None:
        """Refuse settings that the aligner does not have."""
        foreign = sorted(set(self.settings) - set(known))
        if foreign:
            raise ConfigError(
                f"{self.option} {self.text}: unknown setting {', '.join(foreign)}; expected "
                f"{', '.join(known) or 'no settings'}"
            )

    def number(self, setting: str, kind: type[Number]) -> Number | None:
        """Return a setting as a number; None if the setting is not given.

        Raises:
            ConfigError: It is not a number.
        """
        text = self.settings.get(setting)
        try:
            return None if text is None else kind(text)
        except ValueError as error:
            raise ConfigError(f"{self.option} {self.text}: {setting} must be a number") from error

    def value(self, setting: str, field: FieldInfo) -> object:
        """Return a given setting, as a number if its option is a number.

        Raises:
            ConfigError: It is not a number.
        """
        kinds = {field.annotation, *get_args(field.annotation)}
        kind = next((kind for kind in (int, float) if kind in kinds), None)
        return self.settings[setting] if kind is None else self.number(setting, kind)
