"""Reading one unit of the plan, whatever its format."""

from collections.abc import Callable, Iterator

import pyarrow as pa

from pairweave.transforms.errors import WorkerError
from pairweave.transforms.formats.jsonl import read_jsonl
from pairweave.transforms.formats.lxm import read_lxm
from pairweave.transforms.formats.moses import read_moses
from pairweave.transforms.formats.parquet import read_parquet
from pairweave.transforms.formats.po import read_po
from pairweave.transforms.formats.tmx import read_tmx
from pairweave.transforms.formats.tsv import read_tsv
from pairweave.transforms.formats.xliff import read_xliff
from pairweave.transforms.units import ReadLimits, Unit

Reader = Callable[[Unit, ReadLimits, int], Iterator[pa.RecordBatch]]

READERS: dict[str, Reader] = {
    "moses": read_moses,
    "tsv": read_tsv,
    "jsonl": read_jsonl,
    "parquet": read_parquet,
    "po": read_po,
    "tmx": read_tmx,
    "xliff": read_xliff,
    "lxm": read_lxm,
}


def read_unit(unit: Unit, limits: ReadLimits, batch_rows: int = 8192) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a unit in order, in batches of at most ``batch_rows``.

    Exactly ``unit.rows`` rows come out: kept ones, and rejected ones with stage ``read``, a
    reason, a detail, the sides that could be read, and the start of bytes that are no text. That
    the bytes are the planned ones is known only at the end of the iterator: nothing it has
    yielded may be used before.

    Args:
        unit: What to read.
        limits: As for the plan.
        batch_rows: Most rows in a batch.

    Yields:
        Batches of `transforms.schemas.ROWS`.

    Raises:
        WorkerError: The file cannot be read on this machine, or its bytes or number of rows are
            not what was planned.
        InputError: Pages of a Parquet file are damaged.
    """
    found = 0
    for batch in READERS[unit.format](unit, limits, batch_rows):
        found += batch.num_rows
        yield batch
    if found != unit.rows:
        raise WorkerError(
            f"{unit.label}: {unit.rows} rows were planned, {found} were read; "
            "was the plan made with other limits?"
        )
