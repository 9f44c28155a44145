"""JSON files of this project's own, each read by one model."""

from typing import Any, TypeVar

import orjson
import pydantic

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import files

T = TypeVar("T", bound=pydantic.BaseModel)

_SHOWN = 60
"""Characters of a wrong value that a message shows."""


def read_model(path: str, model: type[T]) -> T:
    """Read a JSON file that a model describes.

    Args:
        path: The file.
        model: The model; fields that it does not know are refused if it forbids them.

    Raises:
        ConfigError: It is not JSON, or a field is not as the model says; names file and field.
        OSError: The file cannot be read.
    """
    return parse_model(path, files.read_bytes(path), model)


def parse_model(path: str, data: bytes, model: type[T]) -> T:
    """Return what a model says of the content of a JSON file; see `read_model`.

    Raises:
        ConfigError: It is not JSON, or a field is not as the model says; names file and field.
    """
    try:
        return model.model_validate(orjson.loads(data))
    except orjson.JSONDecodeError as error:
        raise ConfigError(f"{path}: not JSON ({error}); was it edited or cut off?") from error
    except pydantic.ValidationError as error:
        raise ConfigError(f"{path}: {_described(error.errors()[0])}") from error


def _described(problem: Any) -> str:  # noqa: ANN401 - a dict of pydantic's
    place = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "missing":
        return f"{place}: is missing; was the file edited?"
    if problem["type"] == "extra_forbidden":
        return f"{place}: is unknown; was the file written by another version of pairweave?"
    text = problem["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    got = repr(problem["input"])
    short = got if len(got) <= _SHOWN else f"{got[: _SHOWN - 3]}..."
    return f"{f'{place}: ' if place else ''}expected {text}, got {short}"
