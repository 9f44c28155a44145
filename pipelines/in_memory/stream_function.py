"""The function that streams finished runs."""

import os
from collections.abc import Iterable, Sequence
from typing import Any

from pairweave.pipelines.in_memory.keyword_options import in_python, plain_values, require_known
from pairweave.pipelines.streaming.row_stream import RowStream, open_rows
from pairweave.pipelines.streaming.stream_options import StreamedTagOptions
from pairweave.transforms.storage import files


def stream(
    runs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    columns: Sequence[str] = ("source", "target"),
    rank: int = 0,
    ranks: int = 1,
    **options: Any,  # noqa: ANN401
) -> RowStream:
    """Stream finished runs as training data whose tags are drawn anew in every epoch.

    Args:
        runs: Directories of finished runs of ``align``, or of ``augment`` with ``keep_links``.
        columns: Columns of a row: those of ``augment`` (`transforms.schemas.TAGGED`), and
            ``word_links``, the linked ranges of the texts without tags.
        rank: Which of several readers this is, from 0, such as processes that train together.
        ranks: Number of readers; each gets different rows.
        options: Options of tags and of the stream, such as ``epochs=3``, ``seed=1``, ``mix=0.5``;
            ``pairweave stream --help all`` has them all.

    Returns:
        An iterable of rows as dictionaries, which can be resumed (`RowStream`).

    Raises:
        ConfigError: An option or a run cannot be used.
    """
    listed = [runs] if isinstance(runs, str | os.PathLike) else list(runs)
    known = StreamedTagOptions.model_fields
    require_known(options, known, "stream", suggested=known)
    with in_python("stream"):
        given = plain_values(options)
        # Rows are read later, perhaps in another process or after a change of directory.
        directories = [files.absolute(os.fspath(run)) for run in listed]
        return open_rows(directories, given, columns, rank, ranks)
