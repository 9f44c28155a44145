"""Our own JSON files: one model for each, read in one place, with one-line errors."""

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

import orjson
import pydantic

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import files

LONGEST = 60
"""Maximum number of characters of a wrong value to show in a message."""


class JsonFile(pydantic.BaseModel):
    """The content of a JSON file, or a part of it.

    Values must have the right type: no text is read as a number. Fields that a model does not name
    are left as they are, so that an older version reads what a later one adds.

    Attributes:
        ADVICE: Advice about a damaged file of this kind, the end of the message.
    """

    model_config = pydantic.ConfigDict(strict=True, frozen=True, extra="allow")

    ADVICE: ClassVar[str] = "was it edited?"


Model = TypeVar("Model", bound=JsonFile)


def read_model(path: str, model: type[Model]) -> Model:
    """Read a JSON file, and check every field that its model names.

    Raises:
        ConfigError: It is not a JSON object, or a field is missing or wrong. The message names file
            and field, what was expected and what to do.
        OSError: It cannot be read.
    """
    return parse_model(files.read_bytes(path), path, model)


def read_checked(
    path: str, model: "type[JsonFile] | Callable[[dict[str, Any]], type[JsonFile]]"
) -> dict[str, Any]:
    """Read a JSON file and check it like `read_model`, but return the plain object.

    For code that hashes, shows or copies the whole file.

    Args:
        path: The file.
        model: Its model; or a function that chooses one by the object.

    Raises:
        ConfigError: See `read_model`.
        OSError: It cannot be read.
    """
    advice = getattr(model, "ADVICE", JsonFile.ADVICE)
    value = parse_object(files.read_bytes(path), path, advice)
    check(value, path, model if isinstance(model, type) else model(value))
    return value


def parse_model(data: bytes, path: str, model: type[Model]) -> Model:
    """Parse the content of a JSON file that was read, as `read_model` does.

    Raises:
        ConfigError: See `read_model`.
    """
    return check(parse_object(data, path, model.ADVICE), path, model)


def parse_object(data: bytes, path: str, advice: str = JsonFile.ADVICE) -> dict[str, Any]:
    """Parse a JSON object without checking its fields.

    Args:
        data: The content of a file.
        path: Its path, for the message.
        advice: Advice for a damaged file.

    Raises:
        ConfigError: It is not a JSON object.
    """
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise ConfigError(f"{path}: not JSON ({error}); {advice}") from error
    if not isinstance(value, dict):
        raise ConfigError(f"{path}: expected a JSON object, found {_shown(value)}; {advice}")
    return value


def check(value: Mapping[str, Any], path: str, model: type[Model]) -> Model:
    """Check the fields of a JSON object that was read.

    Raises:
        ConfigError: See `read_model`.
    """
    try:
        return model.model_validate(value)
    except pydantic.ValidationError as error:
        raise ConfigError(f"{path}: {first_problem(error)}; {model.ADVICE}") from error


def first_problem(error: pydantic.ValidationError) -> str:
    """Describe the first wrong field: ``field: expected …, found …``."""
    problem = error.errors(include_url=False)[0]
    place = _place(problem["loc"])
    if problem["type"] == "missing":
        return f"{place}: is missing"
    if problem["type"] == "extra_forbidden":
        return f"{place}: is unknown to this version of pairweave"
    limits = problem.get("ctx", {})
    if problem["type"] == "value_error":
        problem_text = str(limits["error"])
        return f"{place}: {problem_text}" if place else problem_text
    named = _EXPECTED.get(problem["type"])
    expected = named.format(**limits) if named else problem["msg"]
    return f"{place}: expected {expected}, found {_shown(problem['input'])}"


_EXPECTED: Mapping[str, str] = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a whole number of fewer digits",
    "finite_number": "a finite number",
    "float_type": "a number",
    "float_parsing": "a number",
    "string_type": "text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "none_required": "null",
    "greater_than": "a number over {gt}",
    "greater_than_equal": "{ge} or more",
    "less_than": "a number under {lt}",
    "less_than_equal": "at most {le}",
    "literal_error": "{expected}",
    "form": "{expected}{advice}",
    "string_pattern_mismatch": "text of the form {pattern}",
    "string_too_short": "text that is not empty",
    "too_short": "at least {min_length} of them",
    "too_long": "at most {max_length} entries",
}
"""The expected value, by pydantic's type of error; pydantic's texts end in advice for
programmers."""


def _place(parts: tuple[int | str, ...]) -> str:
    """Name a field: ``files[0].bytes``."""
    named = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    return named.removeprefix(".")


def _shown(value: object) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # in JSON, it would be null
    try:
        text = orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:  # JSON has no such value, such as a number of more than 64 bits
        text = ascii(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
