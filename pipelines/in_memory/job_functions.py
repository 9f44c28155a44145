"""The jobs as functions: pairs and keywords in, rows and rejects out."""

import os
import re
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pairweave.pipelines.in_memory.keyword_options import (
    documented,
    in_python,
    options_of_files,
    pairs_in_file,
    refuse,
    text_columns,
    validated,
)
from pairweave.pipelines.in_memory.table_jobs import Result, finished, run_table
from pairweave.pipelines.process import scratch
from pairweave.pipelines.run.input_look import look_at_input
from pairweave.pipelines.trial.trial import Trial, run_trial
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.findings import Finding
from pairweave.transforms.output.run_files import REJECTS
from pairweave.transforms.reading.python_tables import Pairs, as_table
from pairweave.transforms.storage import files

PathLike = str | os.PathLike[str]
Files = PathLike | Sequence[PathLike]


class FittedModel(os.PathLike[str]):
    """A fitted aligner, the ``model`` of functions on pairs of its languages.

    Attributes:
        directory: The absolute path of its directory. Without ``output`` it is temporary and
            deleted with this object.
    """

    def __init__(self, directory: str, temporary: str | None = None) -> None:
        self.directory = directory
        if temporary is not None:
            weakref.finalize(self, scratch.remove_own, temporary, os.getpid())

    def __fspath__(self) -> str:
        """Return the directory."""
        return self.directory

    def __repr__(self) -> str:
        """Return the class and the directory."""
        return f"FittedModel({self.directory!r})"


@documented("fit")
def fit(
    pairs: Pairs,
    *,
    output: PathLike | None = None,
    **options: Any,  # noqa: ANN401
) -> FittedModel:
    """Fit the statistical aligner on pairs.

    Args:
        pairs: Sentence pairs: a table with the columns ``source`` and ``target``, or tuples.
        output: A directory for the model; by default a temporary one.
        options: See below.

    Returns:
        The model, for `align`, `augment`, `filter` and `bitext` on pairs of the same languages.

    Raises:
        ConfigError: An option or the pairs cannot be used.
    """
    temporary = tempfile.mkdtemp(prefix="pairweave-") if output is None else None
    directory = os.fspath(output or "") if temporary is None else str(Path(temporary, "model"))
    model = FittedModel(files.absolute(directory), temporary)
    try:
        with finished("fit", pairs, {**options, "output": directory}):
            return model
    except ConfigError as error:
        if temporary is None:
            raise
        # A temporary directory is gone when the message is read.
        rejects = f"; the rejected pairs are in {Path(directory, REJECTS)}"
        raise ConfigError(str(error).replace(rejects, "")) from error


@documented("align")
def align(pairs: Pairs, model: PathLike | None = None, **options: Any) -> Result:  # noqa: ANN401
    """Align the words of pairs.

    Args:
        pairs: Sentence pairs: a table with the columns ``source`` and ``target``, or tuples.
        model: A `FittedModel` or a path; by default one is fitted on these pairs.
        options: See below. ``output`` keeps the run's directory, with its report.

    Returns:
        ``rows`` as ``pairweave align`` writes them (`transforms.schemas.ALIGNED`),
        by id, and ``rejects``, both of the kind of table that ``pairs`` is.

    Raises:
        ConfigError: An option or the pairs cannot be used.
    """
    return run_table("align", pairs, _with_model(options, model))


@documented("augment")
def augment(pairs: Pairs, model: PathLike | None = None, **options: Any) -> Result:  # noqa: ANN401
    """Put tags around phrases that translate each other (Ryu et al. 2022).

    Args:
        pairs: Sentence pairs: a table with the columns ``source`` and ``target``, or tuples.
        model: A `FittedModel` or a path; by default one is fitted on these pairs.
        options: See below. ``output`` keeps the run's directory, with its report.

    Returns:
        ``rows`` as ``pairweave augment`` writes them (`transforms.schemas.TAGGED`),
        by id, and ``rejects``, both of the kind of table that ``pairs`` is.

    Raises:
        ConfigError: An option or the pairs cannot be used.
    """
    return run_table("augment", pairs, _with_model(options, model))


@documented("suggest")
def suggest(pairs: Pairs, model: PathLike | None = None, **options: Any) -> Result:  # noqa: ANN401
    """Make translation-suggestion examples (Zhu et al.).

    Args:
        pairs: Sentence pairs, as for `augment`; with machine translations as ``translation``, or
            as the third of each tuple.
        model: With ``aligner="hmm"``, an aligner of translations with their references, both in
            the target language; by default they are compared without one (``ter``).
        options: See below. ``output`` keeps the run's directory, with its report.

    Returns:
        ``rows`` as ``pairweave suggest`` writes them (`transforms.schemas.SUGGESTIONS`),
        by id, and ``rejects``, both of the kind of table that ``pairs`` is.

    Raises:
        ConfigError: An option or the pairs cannot be used.
    """
    return run_table("suggest", pairs, _with_model(options, model))


@documented("filter")
def filter(pairs: Pairs, model: PathLike | None = None, **options: Any) -> Result:  # noqa: ANN401
    """Judge, score and select pairs.

    Args:
        pairs: Sentence pairs: a table with the columns ``source`` and ``target``, or tuples.
        model: A `FittedModel` or a path; by default one is fitted on these pairs.
        options: See below. ``output`` keeps the run's directory, with its report.

    Returns:
        ``rows`` as ``pairweave filter`` writes them (`transforms.schemas.PAIRS` with scores),
        by id, and ``rejects``, both of the kind of table that ``pairs`` is.

    Raises:
        ConfigError: An option or the pairs cannot be used.
    """
    return run_table("filter", pairs, _with_model(options, model))


@documented("bitext")
def bitext(pairs: Pairs, model: PathLike | None = None, **options: Any) -> Result:  # noqa: ANN401
    """Turn document pairs into sentence pairs.

    Args:
        pairs: Document pairs: a table with the columns ``source`` and ``target``, each a text with
            a sentence or a paragraph a line, or a list of paragraphs; or tuples.
        model: A `FittedModel` or a path; by default one is fitted on the documents.
        options: See below. ``output`` keeps the run's directory, with its report.

    Returns:
        ``rows`` as ``pairweave bitext`` writes them (sentence pairs),
        by id, and ``rejects``, both of the kind of table that ``pairs`` is.

    Raises:
        ConfigError: An option or the pairs cannot be used.
    """
    return run_table("bitext", pairs, _with_model(options, model))


@documented("try")
def try_(
    pairs: Pairs,
    model: PathLike | None = None,
    count: int = 20,
    **options: Any,  # noqa: ANN401
) -> list[Trial]:
    """Show the result of each step of `augment` for a few pairs.

    Args:
        pairs: Sentence pairs, as for `augment`.
        model: A `FittedModel` or a path; by default one is fitted on these pairs.
        count: The number of pairs to try, from the first.
        options: See below.

    Returns:
        For each pair its place, its reject if it was rejected, the steps (tokens, links, phrase
        pairs) and the rows.

    Raises:
        ConfigError: An option or the pairs cannot be used.
    """
    options = _with_model(options, model)
    refuse(options, [*options_of_files("try"), "output"], "pairs in memory are tried")
    table = as_table(pairs, text_columns("try", options), options=options)
    with pairs_in_file("try_", table) as (_, own):
        usual = {"engine": "local", "workers": 1}
        try:
            checked = validated("try", {**usual, **options}, {**own, "pairs": count})
        except ConfigError as error:  # the command has its own name for the number
            raise ConfigError(re.sub("^pairs:", "count:", str(error))) from error
        return run_trial(checked, count)


@documented("check", without=("fail_on", "inline_tags"))
def check(
    pairs: Pairs | None = None,
    *,
    input: Files = (),
    source_input: Files = (),
    target_input: Files = (),
    **options: Any,  # noqa: ANN401
) -> list[Finding]:
    """Report the problems of pairs before they are used, with their places and remedies.

    Args:
        pairs: Sentence pairs: a table with the columns ``source`` and ``target``, or tuples. The
            lines of findings are then its rows, counted from 1. Files are given by the next
            keywords instead.
        input: Files with both sides of each pair.
        source_input: Line-parallel text, the source side.
        target_input: Line-parallel text, the target side.
        options: See below.

    Returns:
        The findings, each with kind, file, first and last line, count, evidence and option; none
        for sound pairs.

    Raises:
        ConfigError: An option, the pairs or the files cannot be used.
    """
    refuse(options, ("files", "fail_on"), "look at the findings that are returned")
    named = {"input": input, "source_input": source_input, "target_input": target_input}
    files = {name: _listed(value) for name, value in named.items() if value}
    if (pairs is None) == (not files):
        raise ConfigError("check takes pairs, or files by input or source_input and target_input")
    if pairs is None:
        with in_python("check"):
            return look_at_input(validated("check", options, files))[1]
    refuse(options, ("format", "source_field", "target_field"), "pairs are in memory")
    table = as_table(pairs, ("source", "target"), options=options)
    with pairs_in_file("check", table) as (_, own):
        return look_at_input(validated("check", options, own))[1]


def _listed(value: Files) -> tuple[str, ...]:
    several = (value,) if isinstance(value, str | os.PathLike) else value
    return tuple(os.fspath(each) for each in several)


def _with_model(options: dict[str, Any], model: PathLike | None) -> dict[str, Any]:
    return options if model is None else {**options, "model": os.fspath(model)}
