"""Files, models and places of output that an option names, declared on its field.

Such an option has a `Role` in its annotation. Code that depends on places walks the fields
(`places_of`), including nested ones, and names no option.
"""

import dataclasses
import enum
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping

import pydantic
from pydantic.fields import FieldInfo


class Use(enum.Enum):
    """The kind of thing at a place that an option names."""

    FILES = "files, or patterns of their names"
    RUNS = "directories of finished runs"
    EARLIER = "finished runs, files, or patterns of their names"
    FILE = "one file or directory"
    MODEL = "the directory of a model, or a model's name on a hub"
    PROGRAM = "an executable program, or its name on the search path"
    OUTPUT = "a file or directory that the command writes"
    BESIDE = "a file that is written beside a run, once the run is over"
    BY_LINE = "such a file, with a line for each line of the input"

    @property
    def is_written(self) -> bool:
        """Return True if the command writes there."""
        return self in (Use.OUTPUT, Use.BESIDE, Use.BY_LINE)


class By(enum.Enum):
    """The process that opens a place."""

    WORKERS = "workers"
    LAUNCHER = "the process that starts the job, which passes on the content"
    IMAGE = "nothing: it is part of the workers' image"


class Part(typing.NamedTuple):
    """The part of an option's text that names a place.

    Attributes:
        first: Number of the character at which it begins.
        last: Number of the character after it.
        use: The kind of thing there; None for the kind of the option.
        on_hub: Whether it may be a name on a hub; None for the value of the option.
    """

    first: int
    last: int
    use: Use | None = None
    on_hub: bool | None = None


def _whole(text: str) -> Iterator[Part]:
    yield Part(0, len(text))


class Metavar(str):
    """The name of a value in the help, besides its type."""

    __slots__ = ()


@dataclasses.dataclass(frozen=True)
class Role:
    """The role of an option that names places.

    Attributes:
        use: The kind of thing there.
        metavar: The name of the value in the help.
        by: The process that opens the place.
        on_hub: Whether it may be the name of a model on a hub, which a run downloads.
        revision: The option with the commit of a model from a hub, if there is one.
        parts: Yields the parts of a text that name places; the whole text by default.
    """

    use: Use
    metavar: str = "TEXT"
    by: By = By.WORKERS
    on_hub: bool = False
    revision: str | None = None
    parts: Callable[[str], Iterable[Part]] = _whole

    @property
    def is_whole(self) -> bool:
        """Return True if the whole text names a place."""
        return self.parts is _whole


class Place(typing.NamedTuple):
    """A place that an option names.

    Attributes:
        option: Name of the option, without that of a block around it.
        path: The file, directory, pattern or model.
        use: The kind of thing there.
        on_hub: Whether it may be the name of a model on a hub.
        role: The role of the option.
        value: The value, or the member of the list, that names it.
    """

    option: str
    path: str
    use: Use
    on_hub: bool
    role: Role
    value: str


def behind(*kinds: str, on_hub: tuple[str, ...] = ()) -> Callable[[str], Iterator[Part]]:
    """Return a function that finds the path after one of some words and a colon.

    Args:
        kinds: The words.
        on_hub: The words that may be followed by the name of a model on a hub.
    """

    def parts(text: str) -> Iterator[Part]:
        kind, colon, path = text.partition(":")
        if colon and path and kind in kinds:
            yield Part(len(kind) + 1, len(text), on_hub=kind in on_hub)

    return parts


CORPUS_FILES = Role(Use.FILES, "GLOB")
FILES = Role(Use.FILES, "FILE")
FILES_BY_PREFIX = Role(Use.FILES, "PREFIX")
FINISHED_RUNS = Role(Use.RUNS, "DIR")
EARLIER = Role(Use.EARLIER, "RUN|FILE")
RUN_OR_PREFIX = Role(Use.EARLIER, "RUN|PREFIX")
FILE = Role(Use.FILE, "FILE")
DIRECTORY = Role(Use.FILE, "DIR")
TABLE = Role(Use.FILE, "TABLE")
STORE = Role(Use.FILE, "URI")
FILE_OF_LAUNCHER = Role(Use.FILE, "FILE", By.LAUNCHER)
FILES_OF_LAUNCHER = Role(Use.FILES, "FILE", By.LAUNCHER)
MODEL = Role(Use.MODEL, "DIR")
HUB_MODEL = Role(Use.MODEL, "DIR", on_hub=True, revision="revision")
TRANSLATOR = Role(
    Use.MODEL,
    "KIND:MODEL",
    on_hub=True,
    revision="translator_revision",
    parts=behind("ctranslate2", "transformers", on_hub=("transformers",)),
)
SUBWORDS = Role(Use.FILE, "KIND[:MODEL]", parts=behind("sentencepiece"))
DETECTOR = Role(Use.FILE, "NAME", parts=behind("fasttext"))
PROGRAM = Role(Use.PROGRAM, "FILE", By.IMAGE)
OUTPUT_DIRECTORY = Role(Use.OUTPUT, "DIR")
OUTPUT_FILE = Role(Use.OUTPUT, "FILE")
OUTPUT_OR_URL = Role(Use.OUTPUT, "FILE|URL")
FILE_BESIDE = Role(Use.BESIDE, "FILE", By.LAUNCHER)
LINE_FILE = Role(Use.BY_LINE, "FILE", By.LAUNCHER)


def role_of(field: FieldInfo) -> Role | None:
    """Return the role of an option; None if it names no place."""
    return next((each for each in field.metadata if isinstance(each, Role)), None)


def metavar_of(field: FieldInfo) -> str | None:
    """Return the name of an option's value in the help; None for the name of its type."""
    role = role_of(field)
    if role is not None:
        return role.metavar
    facts = [*field.metadata, *_metadata(field.annotation)]
    return next((str(each) for each in facts if isinstance(each, Metavar)), None)


def _metadata(annotation: object) -> Iterator[object]:
    """Yield the annotations of the types inside a type."""
    if typing.get_origin(annotation) is typing.Annotated:
        yield from typing.get_args(annotation)[1:]
    for part in typing.get_args(annotation):
        if not isinstance(part, str):
            yield from _metadata(part)


def places_of(options: pydantic.BaseModel) -> Iterator[Place]:
    """Yield every place that options name, including those in blocks and lists of options."""
    for name, field in type(options).model_fields.items():
        yield from _places(name, role_of(field), getattr(options, name))


def _places(name: str, role: Role | None, value: object) -> Iterator[Place]:
    if isinstance(value, pydantic.BaseModel):
        yield from places_of(value)
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _places(name, role, each)
    elif isinstance(value, str) and value and role is not None:
        for part in role.parts(value):
            use = part.use or role.use
            on_hub = role.on_hub if part.on_hub is None else part.on_hub
            yield Place(name, value[part.first : part.last], use, on_hub, role, value)


def places_in(kind: type[pydantic.BaseModel], values: Mapping[str, object]) -> Iterator[Place]:
    """Yield every place in values that are not checked yet, such as those of a step in a file.

    Values of a wrong type name no place; their own check reports them.

    Args:
        kind: The class of the options.
        values: Values by name of the option; others are ignored.
    """
    for name, field in kind.model_fields.items():
        inner = block_of(field)
        value = values.get(name)
        if inner is None:
            yield from _places(name, role_of(field), value)
            continue
        if isinstance(value, str):
            value = _read_block(field, value)
        if isinstance(value, pydantic.BaseModel):
            yield from places_of(value)
        for entry in value if isinstance(value, list | tuple) else (value,):
            if isinstance(entry, dict):
                yield from places_in(inner, entry)


def block_of(field: FieldInfo) -> type[pydantic.BaseModel] | None:
    """Return the class of the options in a block or in a list of blocks; None for a plain value."""
    kinds = [field.annotation]
    while kinds:
        kind = kinds.pop()
        if isinstance(kind, type) and issubclass(kind, pydantic.BaseModel):
            return kind
        kinds.extend(typing.get_args(kind))
    return None


def is_list_of_blocks(field: FieldInfo) -> bool:
    """Tell whether an option is a list of blocks of options, which only YAML can give."""
    return typing.get_origin(field.annotation) is tuple and block_of(field) is not None


def _read_block(field: FieldInfo, text: str) -> object:
    """Read a block that is given as text, as its own check does."""
    kind: typing.Any = typing.Annotated[field.annotation, *field.metadata]
    try:
        return pydantic.TypeAdapter(kind).validate_python(text)
    except pydantic.ValidationError:
        return None


def with_places(
    kind: type[pydantic.BaseModel], values: Mapping[str, object], change: Callable[[Place], str]
) -> dict[str, object]:
    """Return values in which each place is replaced.

    Args:
        kind: The class of the options.
        values: Values of some options by name, as JSON.
        change: Returns the replacement of a place.
    """
    return {
        name: _with_places(name, kind.model_fields[name], value, change)
        for name, value in values.items()
    }


def _with_places(
    name: str, field: FieldInfo, value: object, change: Callable[[Place], str]
) -> object:
    inner, role = block_of(field), role_of(field)
    if isinstance(value, list):
        return [_with_places(name, field, each, change) for each in value]
    if inner is not None and isinstance(value, dict):
        return with_places(inner, value, change)
    if role is None or not isinstance(value, str) or not value:
        return value
    text = value
    for part in sorted(role.parts(value), reverse=True):
        place = Place(
            name,
            value[part.first : part.last],
            part.use or role.use,
            role.on_hub if part.on_hub is None else part.on_hub,
            role,
            value,
        )
        text = text[: part.first] + change(place) + text[part.last :]
    return text
