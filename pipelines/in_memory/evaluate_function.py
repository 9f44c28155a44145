"""The function `evaluate`, with the options of all kinds of ``pairweave evaluate``."""

import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from pydantic.fields import FieldInfo

from pairweave.pipelines.command_line.command_table import SUBCOMMANDS
from pairweave.pipelines.in_memory.keyword_options import (
    in_python,
    keywords_of_kinds,
    refuse,
    require_known,
    with_keywords,
)
from pairweave.pipelines.in_memory.text_functions import printed_by, write_lines
from pairweave.transforms.errors import ConfigError

Lines: TypeAlias = str | os.PathLike[str] | Iterable[str]
"""A file, or its lines."""

EvaluatedKind: TypeAlias = Literal["links", "sentences", "suggestions", "tags"]

_KINDS: Mapping[str, Mapping[str, FieldInfo]] = {
    kind: SUBCOMMANDS[f"evaluate {kind}"].load().model(f"evaluate {kind}").model_fields
    for kind in get_args(EvaluatedKind)
}
"""The options of each kind."""

_EVALUATED = keywords_of_kinds(_KINDS)
_IN_PLACE = ("hypothesis", "gold", "reference")
"""Options of these commands that are given by their position, without a flag."""


@with_keywords(_EVALUATED, without=_IN_PLACE)
def evaluate(
    kind: EvaluatedKind,
    hypothesis: Lines,
    gold: Lines,
    *,
    source: Lines | None = None,
    baseline: Lines | None = None,
    **options: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Measure results against gold data.

    Args:
        kind: ``links`` (alignment error rate), ``sentences``, ``suggestions`` or ``tags``.
        hypothesis: The results: a file, or its lines.
        gold: The gold data: a file, or its lines.
        source: For tags, the sources with their tags (a file or lines), to count flagrant failures.
        baseline: For suggestions and tags, another system's results (a file or lines): every figure
            is tested against that system's.
        options: See below; most are of some kinds alone, which the help names.

    Returns:
        The figures, by name.

    Raises:
        ConfigError: The kind or an option is unknown, or an option or a file cannot be used.

    >>> evaluate("links", ["0-0 1-1"], ["1-1 2-2"], one_based=True)["aer"]
    0.0
    """
    if kind not in _KINDS:
        raise ConfigError(f"kind: must be one of {', '.join(_KINDS)}, got {kind!r}")
    files = {"hypothesis": hypothesis, "gold": gold, "source": source, "baseline": baseline}
    given = {name: lines for name, lines in files.items() if lines is not None}
    _require_of_kind(kind, [*list(given)[2:], *options])
    with tempfile.TemporaryDirectory(prefix="pairweave-") as directory:
        paths = {name: _file(lines, Path(directory, name)) for name, lines in given.items()}
        first = paths.pop("hypothesis"), paths.pop("gold")
        with in_python("evaluate", directory):
            printed = printed_by(f"evaluate {kind}", {**options, **paths}, first)
    figures: dict[str, Any] = json.loads(printed.strip().splitlines()[-1])
    return figures


def _require_of_kind(kind: str, names: Sequence[str]) -> None:
    """Refuse keywords that `evaluate` does not have, or that belong to other kinds.

    Raises:
        ConfigError: There is such a keyword.
    """
    refuse(names, _IN_PLACE, "it is the argument gold")
    require_known(names, _EVALUATED, "evaluate", suggested=_KINDS[kind])
    for name in names:
        having = [each for each, fields in _KINDS.items() if name in fields]
        if kind not in having:
            raise ConfigError(f"{name}: applies to {' and '.join(having)}, not to {kind}")


def _file(lines: Lines, path: Path) -> str:
    """Return the name of a file of lines; write lines that are not in a file to a path."""
    if isinstance(lines, str | os.PathLike):
        return os.fspath(lines)
    write_lines(path, lines)
    return str(path)
