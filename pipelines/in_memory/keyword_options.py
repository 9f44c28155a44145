"""Options of jobs as keywords of Python functions: their names, types, help and errors."""

import contextlib
import difflib
import functools
import inspect
import itertools
import operator
import os
import re
import sys
import tempfile
import types
import typing
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
import pydantic_core
from pydantic.fields import FieldInfo

from pairweave.models import neural_models
from pairweave.pipelines.command_line import mistaken_paths, outputs, validation
from pairweave.pipelines.command_line.command_table import job_options
from pairweave.pipelines.engines.local import worker
from pairweave.pipelines.job_options.check_options import CheckOptions
from pairweave.pipelines.options.base import Options
from pairweave.pipelines.process import interrupt, terminal
from pairweave.transforms.errors import (
    PATH_ERRORS,
    PLACE_ERRORS,
    ConfigError,
    InputError,
    PairweaveError,
)
from pairweave.transforms.formats import registry
from pairweave.transforms.option_marks import (
    GIVES_PAIRS,
    NOT_OF_FUNCTIONS,
    UNLISTED,
    mark_of,
    marked,
)
from pairweave.transforms.option_places import is_list_of_blocks
from pairweave.transforms.units import FileLimitOptions

Function = TypeVar("Function", bound=Callable[..., Any])

FIELD = "_field"
"""The ending of options that name a column of a table."""

OWN_DEFAULTS: Mapping[str, Any] = {"workers": 1, "check": "none"}
"""Defaults that differ from those of jobs: one process, and no look at the input."""

_UNLISTED = FileLimitOptions.model_fields.keys() | registry.FormatOptions.model_fields.keys()
"""Options of one format and limits of files; like options marked so, help does not list them."""

SHARED_MODELS = ("large_model", "model_copies")
"""Options by which processes share a model. Only the command has a private directory for the key
and the files of a shared model."""

_FLAG = re.compile(
    r"(pairweave [a-z ]+(?: --[a-z_]+ [^ ;]+)+|(?<!\w)'(?:[^'\\]|\\.)*')|(?<![\w-])--(?=[a-z])"
)
"""Matches a command as typed in a shell and a text in quotes, which stay as they are, or the two
hyphens of an option."""

_HELP = re.compile(r"; see pairweave [a-z_ ]+ --help( all)?")


def job_model(job: str) -> type[Options]:
    """Return the options of a job."""
    return CheckOptions if job == "check" else job_options(job)  # `check` is a command, not a job


def text_columns(job: str, options: Mapping[str, Any]) -> list[str]:
    """Return the columns that a job with some options reads if a table has them."""
    fields = [name for name in job_model(job).model_fields if name.endswith(FIELD)]
    columns = [name.removesuffix(FIELD) for name in fields]
    return [name for name in columns if name != "links" or options.get("aligner") == "given"]


def options_of_files(job: str) -> list[str]:
    """Return the options that name files of pairs; a function gets a table in their place."""
    return [
        name
        for name, field in job_model(job).model_fields.items()
        if mark_of(field, GIVES_PAIRS) in ("files", "runs")
        or is_list_of_blocks(field)
        or name.endswith(FIELD)
        or mark_of(field, NOT_OF_FUNCTIONS)
    ]


def keywords(job: str) -> dict[str, FieldInfo]:
    """Return the options of a job that are keywords of its function."""
    kind = job_model(job)
    left_out = {
        *options_of_files(job),
        *_UNLISTED,
        *marked(kind, UNLISTED),
        *SHARED_MODELS,
        "model",
    }
    return {name: field for name, field in kind.model_fields.items() if name not in left_out}


class Keyword(NamedTuple):
    """An option as a keyword of a function.

    Attributes:
        annotation: Its type.
        default: Its default.
        about: Its help.
    """

    annotation: Any
    default: object
    about: str


def documented(job: str, without: Iterable[str] = ()) -> Callable[[Function], Function]:
    """Give a function the options of a job in its signature and its help.

    Args:
        job: The job.
        without: Options that do not apply to the function.
    """
    return with_keywords(keywords_of_kinds({job: keywords(job)}), without)


def with_keywords(
    named: Mapping[str, Keyword], without: Iterable[str] = ()
) -> Callable[[Function], Function]:
    """Add keywords to the signature and the help of a function, after its own parameters.

    Args:
        named: The keywords by name.
        without: Keywords that do not apply to the function.
    """
    left_out = set(without)

    def wrap(function: Function) -> Function:
        parameters = [
            parameter
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        taken = {parameter.name for parameter in parameters} | left_out
        own = {name: keyword for name, keyword in named.items() if name not in taken}
        more = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=keyword.default,
                annotation=keyword.annotation,
            )
            for name, keyword in own.items()
        ]
        target: Any = function
        target.__signature__ = inspect.Signature([*parameters, *more])
        lines = [f"    {name}: {keyword.about}" for name, keyword in own.items()]
        target.__doc__ = (
            f"{inspect.cleandoc(function.__doc__ or '')}\n\nOptions:\n" + "\n".join(lines) + "\n"
        )
        return function

    return wrap


def keywords_of_kinds(kinds: Mapping[str, Mapping[str, FieldInfo]]) -> dict[str, Keyword]:
    """Return the options of all kinds of a command as keywords of one function.

    The help of an option begins with the kinds that have it, unless all have it.
    """
    named: dict[str, Keyword] = {}
    for name in dict.fromkeys(itertools.chain.from_iterable(kinds.values())):
        fields = {kind: options[name] for kind, options in kinds.items() if name in options}
        having: dict[str, list[str]] = {}
        for kind, field in fields.items():
            having.setdefault(about(field), []).append(kind)
        texts = [f"({', '.join(these)}) {text}" for text, these in having.items()]
        if len(having) == 1 and len(fields) == len(kinds):
            texts = list(having)
        types_of_kinds = tuple(_plain_type(field.annotation) for field in fields.values())
        default = default_of(name, next(iter(fields.values())))
        if default is None:  # optional, because another kind may not have it
            types_of_kinds += (type(None),)
        annotation: Any = functools.reduce(operator.or_, types_of_kinds)
        named[name] = Keyword(annotation, default, "; ".join(texts))
    return named


def _plain_type(annotation: Any) -> Any:  # noqa: ANN401 - any type annotation
    """Return a type without the checks that its annotation has.

    >>> _plain_type(typing.Annotated[str, "a check"] | None)
    typing.Optional[str]
    """
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _plain_type(arguments[0])
    if origin in (typing.Union, types.UnionType):
        return typing.Union[tuple(map(_plain_type, arguments))]  # noqa: UP007 - made at run time
    return annotation


def default_of(name: str, field: FieldInfo) -> object:
    """Return the default of a keyword."""
    if name in OWN_DEFAULTS:
        return OWN_DEFAULTS[name]
    default = field.get_default(call_default_factory=True)
    return None if default is pydantic_core.PydanticUndefined else default


def about(field: FieldInfo) -> str:
    """Return the help of a keyword."""
    return _without_hyphens(field.description or "")


def validated(job: str, given_keywords: Mapping[str, Any], own: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Return the options of a job.

    Args:
        job: The job.
        given_keywords: The keywords of the caller.
        own: Options that the function itself sets.

    Raises:
        ConfigError: An option is unknown, or has a wrong value.
    """
    known = job_model(job).model_fields
    function = "try_" if job == "try" else job
    require_known(given_keywords, known, function, suggested=keywords(job))
    options = validation.validate(
        job_model(job), {**plain_values(given_keywords), **own}, f"pairweave {job}"
    )
    mistaken_paths.check(options)
    outputs.check(options)
    return options


def require_known(
    given: Iterable[str], known: Collection[str], function: str, suggested: Iterable[str]
) -> None:
    """Refuse keywords that a function does not have.

    Args:
        given: The names of the caller's keywords.
        known: The names that the function has.
        function: Its name.
        suggested: The names to suggest in place of a wrong one.

    Raises:
        ConfigError: A keyword is unknown.
    """
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, list(suggested), 1, 0.6)
            hint = f"did you mean {near[0]}?" if near else "no such option"
            raise ConfigError(f"{name}: {hint}; see help(pairweave.{function})")


def plain_values(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the caller's keywords with values in the form for options.

    A path becomes text, a list a tuple, a NumPy number a Python number.
    """
    return {name: _plain(value) for name, value in given.items()}


def _plain(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, list):
        return tuple(map(_plain, value))
    return value.item() if type(value).__module__ == "numpy" else value


def refuse(options: Collection[str], names: Iterable[str], why: str) -> None:
    """Refuse options that a function itself sets.

    Raises:
        ConfigError: Such an option is given.
    """
    for name in names:
        if name in options:
            raise ConfigError(f"{name}: {why}; leave it out")


PAIRS_FILE = "pairs.parquet"
"""Name of the file with the pairs of a call."""


@contextlib.contextmanager
def in_python(name: str, directory: str | None = None, *, of_pairs: bool = False) -> Iterator[None]:
    """Make errors and warnings of a block name keywords and arguments instead of flags and files.

    Args:
        name: The function's name.
        directory: The temporary directory with the function's files, named after its arguments;
            None if it has none.
        of_pairs: Whether the files include `PAIRS_FILE`, with the argument ``pairs``.
    """

    def without_files(text: str) -> str:
        if directory is not None:
            text = text.replace(f"{directory}{os.sep}", "")
        return text.replace(PAIRS_FILE, "pairs") if of_pairs else text

    def in_words(text: str) -> str:
        return _with_keywords(without_files(text), name)

    try:
        with (
            terminal.warning_by(lambda text: _warn(in_words(text))),
            neural_models.threads_given_back(),
            worker.logs_of_caller(),
            interrupt.heard_in_python(),
        ):
            yield
    except PairweaveError as error:
        if isinstance(error, InputError):  # another process makes the error again from these parts
            path, message = without_files(str(error.path)), in_words(error.message)
            error.__init__(error.code, path, message, error.line)  # type: ignore[misc]
        else:
            error.args = tuple(in_words(str(each)) for each in error.args)
        raise
    except OSError as error:
        if not isinstance(error, PATH_ERRORS) and error.errno not in PLACE_ERRORS:
            raise
        place = f"{error.filename}: " if error.filename else ""
        raise ConfigError(in_words(f"{place}{error.strerror or error}")) from error


@contextlib.contextmanager
def pairs_in_file(
    name: str, pairs: pa.Table, place: str | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Write pairs to a temporary file for a block of `in_python`.

    Yields:
        The directory of the file, and the options by which a job reads it.
    """
    with (
        tempfile.TemporaryDirectory(prefix="pairweave-", dir=place) as directory,
        in_python(name, directory, of_pairs=True),
    ):
        path = Path(directory, PAIRS_FILE)
        pq.write_table(pairs, path)
        fields = {f"{column}{FIELD}": column for column in pairs.column_names}
        yield directory, {"input": (str(path),), **fields}


def _warn(text: str) -> None:
    """Issue a warning for the nearest line of code outside this package."""
    own = ("pairweave.", "contextlib")
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(own):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level + 1)


def _with_keywords(text: str, name: str) -> str:
    text = _HELP.sub(f"; see help(pairweave.{name})", text)
    return _without_hyphens(text.removeprefix("warning: "))


def _without_hyphens(text: str) -> str:
    return _FLAG.sub(lambda match: match[1] or "", text)
