"""Options, declared once next to their step, and the configurations made from them.

The options of a step are a class of their own, with a line for each option: its default, check and
help. The class is in a module without Numba, Beam or torch, because ``--help`` reads it. A job that
inherits the class gets the flags and the YAML keys. If the step needs nothing else, the class is
also its configuration (``SymmetrizeConfig``). Otherwise the configuration inherits the options
(``PhraseOptions``), and adds settings that no user sets, such as the run's segmenter::

    class SymmetrizeConfig(Config):
        heuristic: Heuristic = Field("grow-diag", description="how directions are combined")

    class PhraseOptions(Config):
        max_words: int = Field(64, ge=1, le=512, description="longest phrase, in tokens")

    class PhraseConfig(PhraseOptions):
        segmenter: str = NONE

    class AugmentOptions(PhraseOptions, SymmetrizeConfig, ..., JobOptions):
        ...

    both = pick(SymmetrizeConfig, options)
    config = pick(PhraseConfig, options, segmenter=run.segmenter)

Code makes a configuration from values of the right types (``PhraseConfig(max_words=3)``); a wrong
value is a `ConfigError`. Options of a command line or a file may be text, so ``model_validate``
reads them, with pydantic's own error, which the reader of the file describes.

A configuration with a few options of another step declares them again, with the same type
(``max_tags: MaxTags``).

Other facts about an option, such as that it names a file, are declared on its field too
(``option_places.py``, ``option_marks.py``).

If an option has other help or another default in one of its jobs, that job declares it again; both
declarations name the same type, which contains the check.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Self, TypeVar, get_args, get_origin

import pydantic
from pydantic import Field
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_marks import in_order
from pairweave.transforms.option_values import describe_form, unknown_choice

Made = TypeVar("Made", bound="Config")

Share = Annotated[float, Field(ge=0, le=1)]
PositiveShare = Annotated[float, Field(gt=0, le=1)]
Variants = Annotated[int, Field(ge=1, le=100)]
Mix = Annotated[float, Field(ge=0)]
Seed = Annotated[int, Field(ge=0, le=(1 << 63) - 1, description="seed of all random draws")]


_NUMBERS = {int, float}
_IN_CODE = {"in": "code"}
"""The context for checking values that must already have the right type."""


class Config(pydantic.BaseModel):
    """Options of a step, or other settings: frozen, complete, without unknown keys.

    Values may be given in order, without their names. They must have the right type: unlike
    ``model_validate``, this does not read text as a number.
    """

    model_config = pydantic.ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=True, arbitrary_types_allowed=True
    )

    def __init__(self, *values: object, **named: object) -> None:
        """Check every value.

        Raises:
            ConfigError: A value is missing, unknown or outside its limits.
        """
        given = {**dict(zip(type(self).model_fields, values, strict=False)), **named}
        if len(given) < len(values) + len(named):
            raise TypeError(f"{type(self).__name__}: a value is given twice, or there are too many")
        try:
            self.__pydantic_validator__.validate_python(
                given, strict=True, context=_IN_CODE, self_instance=self
            )
        except pydantic.ValidationError as error:
            problem = error.errors()[0]
            raise ConfigError(_refusal(type(self), problem)) from error

    @pydantic.field_validator("*", mode="before")
    @classmethod
    def _no_switch_for_a_number(cls, value: object, info: pydantic.ValidationInfo) -> object:
        """Refuse what YAML reads as a switch (``no``, ``off``), which Pydantic takes as 0 or 1."""
        if info.context is not _IN_CODE and _has_switch(value):
            assert info.field_name is not None
            kinds = _leaves(cls.model_fields[info.field_name].annotation)
            words = {kind for kind in kinds if isinstance(kind, str)}  # of a Literal
            if kinds - words <= {*_NUMBERS, str, type(None)} and not kinds.isdisjoint(_NUMBERS):
                raise ValueError(
                    "expected a number; yes, no, on, off, true and false are not numbers"
                )
        return value

    # Pydantic's mark of a method that ``model_validate`` does not call.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[pydantic.BaseModel], handler: pydantic.GetCoreSchemaHandler
    ) -> CoreSchema:
        """Put the options in order before pydantic builds their checks."""
        fields = cls.__pydantic_fields__
        for name in in_order(fields):
            fields[name] = fields.pop(name)
        return handler(source)

    def changed(self, **values: object) -> Self:
        """Return the same configuration with other values, which are checked too."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        return type(self)(**{**given, **values})


def pick(config: type[Made], options: Config, **derived: object) -> Made:
    """Make a step's configuration from a job's options.

    Args:
        config: The configuration.
        options: The job's options, which include those of the step.
        derived: Further settings, which no user sets directly. They take precedence over options
            of the same name.

    Returns:
        The configuration, with the value of every option that both have.

    Raises:
        TypeError: An option that is not derived has different types in both, so its meaning may
            differ.
    """
    own, given = config.model_fields, type(options).model_fields
    shared = (own.keys() & given.keys()) - derived.keys()
    for name in shared:
        if own[name].annotation != given[name].annotation:
            raise TypeError(f"{config.__name__}: {name} differs from that of the options")
    return config(**{name: getattr(options, name) for name in shared}, **derived)


def _has_switch(value: object) -> bool:
    """Tell whether a value of YAML is a switch, or a list or map with one."""
    if isinstance(value, dict):
        return any(map(_has_switch, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_has_switch, value))
    return isinstance(value, bool)


def _leaves(annotation: object) -> set[object]:
    """Return the types in an annotation; those of lists and maps are those of their entries.

    >>> _leaves(dict[str, Share]) == {str, float}
    True
    """
    if get_origin(annotation) is Annotated:
        return _leaves(get_args(annotation)[0])
    parts = [part for part in get_args(annotation) if part is not ...]
    return {leaf for part in parts for leaf in _leaves(part)} if parts else {annotation}


def _refusal(config: type[Config], problem: Mapping[str, Any]) -> str:
    """Describe an invalid value: the fault, the expected value, and the given one."""
    name, value = str(problem["loc"][0]) if problem["loc"] else "", problem["input"]
    field = config.model_fields.get(name)
    name = field.title if field is not None and field.title else name
    if field is None or problem["type"] == "missing":
        return f"{name}: {problem['msg'].lower()}"
    if problem["type"] == "literal_error":
        return unknown_choice(name, value, _choices(field.annotation))
    if problem["type"] == "too_short":
        return f"{name} must be some of {', '.join(_choices(field.annotation))}, got none"
    if problem["type"] == "string_pattern_mismatch":
        return f"{name} must be {field.description}, got {value!r}"
    if problem["type"] == "form":
        return f"{name} {describe_form(problem)}"
    if problem["type"] == "value_error":
        return f"{name} {problem['ctx']['error']}, got {value!r}"
    if problem["type"] == "tuple_type":
        return f"{name} must be a tuple, got {value!r}"
    expected = [_KINDS_OF_NUMBERS.get(problem["type"], ""), _range(field)]
    wanted = ", ".join(part for part in expected if part) or problem["msg"].lower()
    return f"{name} must be {wanted}, got {value!r}"


def _choices(annotation: object) -> list[str]:
    """Return the words of a Literal, of a list of them, or of one that may be None."""
    words: list[str] = []
    for part in get_args(annotation):
        words += [part] if isinstance(part, str) else _choices(part)
    return words


_KINDS_OF_NUMBERS = {"float_type": "a number", "int_type": "a whole number"}

_BOUNDS: Mapping[str, Callable[[object], str]] = {
    "ge": lambda least: f"{least} or more",
    "gt": lambda least: f"over {least}",
    "le": lambda most: f"at most {most}",
    "lt": lambda most: f"under {most}",
}


def _range(field: FieldInfo) -> str:
    """Return the range of a numeric field in words; empty if it has no bounds."""
    bounds = {
        bound: getattr(limit, bound)
        for limit in field.metadata
        for bound in _BOUNDS
        if hasattr(limit, bound)
    }
    if bounds.keys() == {"ge", "le"}:
        return f"{bounds['ge']} to {bounds['le']}"
    return " and ".join(_BOUNDS[bound](limit) for bound, limit in bounds.items())
