"""Facts about an option besides its value, declared on its field for all code that needs them.

An option that names files, models or places of output has a `Role` in its annotation. Marks in its
``json_schema_extra`` say how plans, nightly refreshes and templates treat it::

    glossary: Annotated[str | None, FILE_OF_LAUNCHER] = Field(None, ..., json_schema_extra=UNSAID)

Code that depends on such facts walks the fields (`places_of`), including nested ones, and names no
option.
"""

import dataclasses
import enum
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping

import pydantic
from pydantic import JsonValue
from pydantic.fields import FieldInfo

Marks = dict[str, JsonValue]

UNSAID: Marks = {"unsaid": True}
"""Marks an option that a plan leaves out while it has its default."""

UNPLANNED: Marks = {"unplanned": True}
"""Marks an option that changes no output byte, such as where a job runs: no plan has it."""

PLANNED_OTHERWISE: Marks = {"planned_otherwise": True}
"""Marks an option that can change output bytes, and that the plan lists by another entry, such as
the digest of what the option names, or only if its step is in use."""

OF_ONE_RUN: Marks = {"of_one_run": True}
"""Marks an option that sets how one run is divided. It may change files but not the fate of a pair,
so the nightly refreshes of a table may differ in it."""

OF_COMMAND: Marks = {"of_command": True}
"""Marks an option that is given on the command line, not in the options file of a run that a
scheduler or a template starts: the engine, the machine, what is printed."""


NAMES_INPUT: Marks = {"names_input": True}
"""Marks an option of a corpus that names its files, or tells which of them belong together."""

SHAPES_TEXT: Marks = {"shapes_text": True}
"""Marks an option of a corpus that sets how its texts are changed when they are read."""

GIVES_PAIRS = "gives_pairs"
"""The mark that `gives_pairs` makes."""


def gives_pairs(kind: str) -> Marks:
    """Mark an option of a corpus that names the source of its pairs (files, runs, ...)."""
    return {GIVES_PAIRS: kind}


AGREES: Marks = {"agrees": True}
"""Marks an option whose value a step of a recipe shares with the steps that it reads from."""

REJECTS = "rejects"
"""The mark that `rejects` makes."""


def rejects(reason: str) -> Marks:
    """Mark a limit that passes more pairs if it is larger, with the reject reason of the others."""
    return {REJECTS: reason}


ONLY_IN_RUNS: Marks = {"only_in_runs": True}
"""Marks an option of word alignment for workers and shards, which commands do not have."""

IN_SHORT = "in_short"
"""The mark that `in_short` makes."""


def in_short(text: str) -> Marks:
    """Mark an option with a shorter help text for the first screen of help."""
    return {IN_SHORT: text}


NOT_BY = "not_by"
"""The mark that `not_by` makes."""


def not_by(**why: str) -> Marks:
    """Mark an option that some methods of a job do not take, each with the reason."""
    reasons: dict[str, JsonValue] = {**why}
    return {NOT_BY: reasons}


def reasons_of(kind: type[pydantic.BaseModel], method: str) -> dict[str, str]:
    """Return the options of a class that a method does not take, each with the reason."""
    reasons = {name: mark_of(field, NOT_BY) for name, field in kind.model_fields.items()}
    return {
        name: str(why[method])
        for name, why in reasons.items()
        if isinstance(why, dict) and method in why
    }


NOT_AT_NIGHT = "not_at_night"
"""The mark that `not_at_night` makes."""


def not_at_night(why: str) -> Marks:
    """Mark an option that the file of a nightly refresh may not have, with the reason."""
    return {NOT_AT_NIGHT: why}


VALUES_NOT_AT_NIGHT = "values_not_at_night"
"""The mark that `values_not_at_night` makes."""


def values_not_at_night(**why: str) -> Marks:
    """Mark an option with the values that a nightly refresh does not take, each with the reason."""
    reasons: dict[str, JsonValue] = {**why}
    return {VALUES_NOT_AT_NIGHT: reasons}


NOT_IN_STEPS = "not_in_steps"
"""The mark that `not_in_steps` makes."""


def not_in_steps(why: str) -> Marks:
    """Mark an option that a step of a recipe may only have with its default, with the reason."""
    return {NOT_IN_STEPS: why}


SET_BY_CALLER: Marks = {"set_by_caller": True}
"""Marks an option that a job in a file of several jobs does not have: the command sets it."""

_LISTED_AFTER = "listed_after"


def listed_after(name: str) -> Marks:
    """Mark an option that is listed after another one, in classes that have both."""
    return {_LISTED_AFTER: name}


def in_order(fields: Mapping[str, FieldInfo]) -> list[str]:
    """Return the names of options in the order in which help lists them.

    This is the order of declaration, base classes first, except for `listed_after`.
    """
    behind: dict[str | None, list[str]] = {}
    for name, field in fields.items():
        mark = mark_of(field, _LISTED_AFTER)
        behind.setdefault(str(mark) if mark in fields else None, []).append(name)

    def listed(first: str | None) -> Iterator[str]:
        for name in behind.get(first, ()):
            yield name
            yield from listed(name)

    return list(listed(None))


NOT_OF_FUNCTIONS: Marks = {"not_of_functions": True}
"""Marks an option of files that Python's functions on tables do not have."""

UNLISTED: Marks = {"unlisted": True}
"""Marks an option of files or of long runs: Python's functions take it, and their help does not
list it."""


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
    """What opens a place."""

    WORKERS = "workers"
    LAUNCHER = "the process that starts the job, which passes on the content"
    IMAGE = "nothing: it is part of the workers' image"


class Part(typing.NamedTuple):
    """The part of an option's text that names a place.

    Attributes:
        first: Number of the character at which it begins.
        last: Number of the character after it.
        use: What is there; None for that of the option.
        on_hub: Whether it may be a name on a hub; None for that of the option.
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
        use: What is there.
        metavar: The name of the value in the help.
        by: What opens it.
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
        use: What is there.
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
        on_hub: Those that may be followed by the name of a model on a hub.
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
OUTPUT = Role(Use.OUTPUT)
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
    own = mark_of(field, "metavar")
    if own is not None:
        return str(own)
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


def mark_of(field: FieldInfo, mark: Mapping[str, object] | str) -> JsonValue:
    """Return the value of a mark of an option; None if the option does not have it."""
    marks = field.json_schema_extra
    if not isinstance(marks, dict):
        return None
    return marks.get(mark if isinstance(mark, str) else next(iter(mark)))


def marked(kind: type[pydantic.BaseModel], *marks: Mapping[str, object] | str) -> frozenset[str]:
    """Return the options of a class that have one of some marks."""
    return frozenset(
        name
        for name, field in kind.model_fields.items()
        if any(mark_of(field, mark) is not None for mark in marks)
    )


def places_of(options: pydantic.BaseModel) -> Iterator[Place]:
    """Yield every place that options name, also those in blocks and lists of options."""
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
    """Tell whether an option is a list of blocks of options, which YAML alone can give."""
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
