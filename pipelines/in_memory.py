"""The jobs on tables in memory: what ``import pairweave`` offers.

Each function writes its pairs to a temporary directory, runs the job there in this process, and
reads the rows back. So options, checks, errors and rows are those of the command.
"""

import contextlib
import importlib
import io
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq

from pairweave.transforms.arrow.flat_columns import list_column
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.links.link_options import Heuristic
from pairweave.transforms.links.pharaoh import parse_links, symmetrize_files

Pairs: TypeAlias = Any
"""An Arrow table or record batch, a pandas or Polars frame, or an iterable of tuples."""

LinksLike: TypeAlias = Iterable[str | Sequence[tuple[int, int]]]
"""For each sentence, Pharaoh text (``0-0 1-2``) or pairs of word numbers from 0."""

_TEXTS = ("source", "target", "translation")
_FIELDS = {
    "align": ("source", "target", "links"),
    "augment": ("source", "target", "links"),
    "fit": ("source", "target"),
    "suggest": ("source", "target", "translation", "score", "links"),
}
"""The columns that a job reads, if they are there; links with the aligner ``given`` alone."""

_OF_PAIRS = (
    *("input", "from_run", "source_input", "target_input", "corpora", "corpus", "format"),
    *(f"{name}_field" for name in (*_TEXTS, "score", "links")),
)
"""Options that say where pairs are, which is known of pairs in memory."""

_LINKS = pa.list_(pa.struct([("source", pa.int32()), ("target", pa.int32())]))


class FittedModel(os.PathLike[str]):
    """A fitted aligner, which every function takes as its ``model``.

    Attributes:
        directory: Where it lies. Without ``output`` it is temporary and goes with this object.
    """

    def __init__(self, directory: str, temporary: str | None = None) -> None:
        self.directory = directory
        if temporary is not None:
            weakref.finalize(self, shutil.rmtree, temporary, ignore_errors=True)

    def __fspath__(self) -> str:
        """Return the directory."""
        return self.directory

    def __repr__(self) -> str:
        """Return how to name it."""
        return f"FittedModel({self.directory!r})"


def fit(
    pairs: Pairs,
    *,
    output: str | os.PathLike[str] | None = None,
    **options: Any,  # noqa: ANN401
) -> FittedModel:
    """Fit the statistical aligner on pairs.

    Args:
        pairs: Sentence pairs: a table with the columns ``source`` and ``target``, or tuples.
        output: A directory for the model; by default a temporary one.
        options: Options of ``pairweave fit``, such as ``source_lang="en"``.

    Returns:
        The model, for `align`, `augment` and `suggest`.

    Raises:
        ConfigError: An option or the pairs cannot be used.
    """
    temporary = tempfile.mkdtemp(prefix="pairweave-") if output is None else None
    directory = os.fspath(output or "") if temporary is None else str(Path(temporary, "model"))
    model = FittedModel(directory, temporary)
    with _run("fit", pairs, {**options, "output": directory}):
        return model


def align(pairs: Pairs, model: str | os.PathLike[str] | None = None, **options: Any) -> pa.Table:  # noqa: ANN401
    """Align the words of pairs.

    Args:
        pairs: Sentence pairs: a table with the columns ``source`` and ``target``, or tuples.
        model: A `FittedModel` or a path; by default one is fitted on these pairs.
        options: Options of ``pairweave align``. ``output`` keeps the run's directory, with its
            rejected pairs and its report.

    Returns:
        Rows as ``pairweave align`` writes them (`transforms.schemas.ALIGNED`), by id.

    Raises:
        ConfigError: An option or the pairs cannot be used.
    """
    return _rows("align", pairs, model, options)


def augment(pairs: Pairs, model: str | os.PathLike[str] | None = None, **options: Any) -> pa.Table:  # noqa: ANN401
    """Put tags round phrases that translate each other (Ryu et al. 2022).

    Args:
        pairs: Sentence pairs: a table with the columns ``source`` and ``target``, or tuples.
        model: A `FittedModel` or a path; by default one is fitted on these pairs.
        options: Options of ``pairweave augment``. ``output`` keeps the run's directory, with its
            rejected pairs and its report.

    Returns:
        Rows as ``pairweave augment`` writes them (`transforms.schemas.TAGGED`), by id.

    Raises:
        ConfigError: An option or the pairs cannot be used.
    """
    return _rows("augment", pairs, model, options)


def suggest(pairs: Pairs, model: str | os.PathLike[str] | None = None, **options: Any) -> pa.Table:  # noqa: ANN401
    """Make translation-suggestion examples (Zhu et al.).

    Args:
        pairs: Sentence pairs, as for `augment`; with machine translations as ``translation``, or
            as the third of each tuple.
        model: An aligner of translations with references, where one is used.
        options: Options of ``pairweave suggest``. ``output`` keeps the run's directory, with its
            rejected pairs and its report.

    Returns:
        Rows as ``pairweave suggest`` writes them (`transforms.schemas.SUGGESTIONS`), by id.

    Raises:
        ConfigError: An option or the pairs cannot be used.
    """
    return _rows("suggest", pairs, model, options)


def symmetrize(
    forward: LinksLike, reverse: LinksLike, heuristic: Heuristic = "grow-diag"
) -> pa.Table:
    """Combine two directions of links (Och and Ney 2003; Koehn et al. 2005).

    Args:
        forward: Links of one direction, for each sentence.
        reverse: Links of the other, also as source and target.
        heuristic: As ``pairweave symmetrize --heuristic``.

    Returns:
        The column ``links``: ``list<struct<source: int32, target: int32>>`` ``[sentence]``, sorted.

    Raises:
        ConfigError: The heuristic is unknown, or the text of a sentence's links has a line break.
        InputError: Links are malformed, or the sides have other numbers of sentences.
    """
    with tempfile.TemporaryDirectory(prefix="pairweave-") as directory:
        paths = [Path(directory, name) for name in ("forward", "reverse")]
        for path, links in zip(paths, (forward, reverse), strict=True):
            lines = (_line(_pharaoh(each), path.name) for each in links)
            path.write_text("".join(lines), encoding="utf-8")
        out = io.BytesIO()
        symmetrize_files(paths[0], paths[1], heuristic, out)
    joined = parse_links(out.getvalue(), paths[0])
    sides = {"source": joined.sources, "target": joined.targets}
    fields = {name: numbers.astype(np.int32) for name, numbers in sides.items()}
    return pa.table({"links": list_column(joined.offsets, fields, _LINKS)})


def project_tags(
    sources: Iterable[str],
    translations: Iterable[str],
    links: LinksLike | None = None,
    **options: Any,  # noqa: ANN401
) -> pa.Table:
    """Put the tags of sources onto their translations (Hanneman and Dinu 2020, section 3).

    Args:
        sources: Texts with tags ``[sentence]``.
        translations: Their translations without tags ``[sentence]``.
        links: Links of the words of each source, without its tags, and its translation; by default
            an aligner makes them.
        options: Options of ``pairweave tags project``, such as ``syntax="xliff"``.

    Returns:
        The column ``text``: the translations with tags ``[sentence]``.

    Raises:
        ConfigError: An option cannot be used, or a text has a line break.
        InputError: The tags of a source are malformed, or links do not fit the texts.
    """
    _refuse(options, ("source_input", "target_input", "output"), "texts in memory are projected")
    with tempfile.TemporaryDirectory(prefix="pairweave-") as directory:
        names = {"source_input": sources, "target_input": translations}
        if links is not None:
            names["links"] = map(_pharaoh, links)
        for name, texts in names.items():
            path = Path(directory, name)
            path.write_text("".join(_line(text, name) for text in texts), encoding="utf-8")
            options[name] = str(path)
        options["output"] = str(Path(directory, "output"))
        _command("commands.tags.tags_project", "project", options)
        lines = Path(options["output"]).read_text(encoding="utf-8").split("\n")[:-1]
    return pa.table({"text": pa.array(lines, type=pa.string())})


def _rows(
    job: str, pairs: Pairs, model: str | os.PathLike[str] | None, options: dict[str, Any]
) -> pa.Table:
    if model is not None:
        options = {**options, "model": os.fspath(model)}
    with _run(job, pairs, options) as output:
        return pyarrow.dataset.dataset(str(output / "data"), format="parquet").to_table()


@contextlib.contextmanager
def _run(job: str, pairs: Pairs, options: dict[str, Any]) -> Iterator[Path]:
    """Run a job on pairs in a temporary directory, and yield the directory of its output."""
    _refuse(options, _OF_PAIRS, "pairs in memory are the input")
    with tempfile.TemporaryDirectory(prefix="pairweave-") as directory:
        given = options.get("aligner") == "given"
        table = as_table(pairs, [name for name in _FIELDS[job] if given or name != "links"])
        path = Path(directory, "pairs.parquet")
        pq.write_table(table, path)
        settings: dict[str, Any] = {"engine": "local", "workers": 1, **options}
        settings = {"output": str(Path(directory, "output")), **settings, "input": str(path)}
        settings |= {f"{name}_field": name for name in table.column_names}
        _command(f"jobs.{job}", job, settings)
        yield Path(settings["output"])


def _refuse(options: dict[str, Any], names: Iterable[str], why: str) -> None:
    """Refuse options that the function itself sets."""
    for name in names:
        if name in options:
            raise ConfigError(f"{name}: {why}; leave it out")


def _command(module: str, name: str, options: dict[str, Any]) -> None:
    """Run a command with options as flags; what it prints is left out."""
    words = []
    for option, value in options.items():
        values = value if isinstance(value, list | tuple) else (value,)
        words += [f"--{option}", *map(_word, values)]
    with contextlib.redirect_stdout(io.StringIO()):
        importlib.import_module(f"pairweave.pipelines.{module}").main(name, words)


def _word(value: object) -> str:
    """Return the value of an option as its flag takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def as_table(pairs: Pairs, columns: Sequence[str]) -> pa.Table:
    """Return pairs as an Arrow table with string columns.

    Args:
        pairs: What the caller has; its index and its other columns are left out.
        columns: The columns that are wanted; ``source`` and ``target`` must be there.

    Raises:
        ConfigError: It is none of the kinds that are known, a column is missing, or a text is none.
    """
    table = _from_any(pairs)
    missing = [name for name in ("source", "target") if name not in table.column_names]
    if missing:
        has = ", ".join(table.column_names) or "none"
        raise ConfigError(f"pairs have no column {missing[0]}; their columns: {has}")
    table = table.select([name for name in columns if name in table.column_names])
    for place, name in enumerate(table.column_names):
        if name not in _TEXTS:
            continue
        try:
            column = table.column(name).cast(pa.string())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise ConfigError(f"pairs: column {name} holds no text: {error}") from error
        table = table.set_column(place, name, column)
    return table


def _from_any(pairs: Pairs) -> pa.Table:
    if isinstance(pairs, pa.Table):
        return pairs
    if isinstance(pairs, pa.RecordBatch):
        return pa.Table.from_batches([pairs])
    if hasattr(pairs, "__arrow_c_stream__") or hasattr(pairs, "__dataframe__"):
        return pa.table(pairs)
    if isinstance(pairs, str | bytes) or not isinstance(pairs, Iterable):
        raise ConfigError(
            f"pairs: got {type(pairs).__name__}; give an Arrow table, a pandas or Polars frame, or "
            "tuples of source and target"
        )
    rows = [tuple(pair) for pair in pairs]
    width = len(rows[0]) if rows else 2
    for number, row in enumerate(rows):
        if len(row) != width or not 2 <= width <= len(_TEXTS):
            raise ConfigError(
                f"pairs: tuple {number} has {len(row)} items; give source and target, or source, "
                "target and translation, in each"
            )
    columns = zip(*rows, strict=True) if rows else ((), ())
    try:
        arrays = [pa.array(column, type=pa.string()) for column in columns]
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError) as error:
        raise ConfigError(f"pairs: a text is none: {error}") from error
    return pa.table(dict(zip(_TEXTS[:width], arrays, strict=True)))


def _pharaoh(links: str | Sequence[tuple[int, int]]) -> str:
    if isinstance(links, str):
        return links
    return " ".join(f"{source}-{target}" for source, target in links)


def _line(text: str, name: str) -> str:
    if "\n" in text or "\r" in text:
        raise ConfigError(f"{name}: {text[:40]!r} has a line break; give one sentence each")
    return f"{text}\n"
