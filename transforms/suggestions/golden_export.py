"""Golden suggestions in the format of WeTS, as rows for export in the form of a run's rows."""

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
import xxhash

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.export.export import Exported, RowFiles, Unfit, fitting, require_rows
from pairweave.transforms.export.export_formats import RowExport
from pairweave.transforms.export.export_rows import Selection
from pairweave.transforms.storage import files
from pairweave.transforms.suggestions.masked_lines import read_masked
from pairweave.transforms.suggestions.span_lengths import golden_sides
from pairweave.transforms.symbols.mask import NOTHING

STEM = "golden"
BATCH_ROWS = 8_192

_SCHEMA = pa.schema(
    [("id", pa.string()), ("variant", pa.int32())]
    + [(name, pa.string()) for name in ("source", "masked", "suggestion")]
)


def read_rows(sides: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
    """Yield the examples of a golden set in the order of its lines.

    Args:
        sides: The files by side (`golden_sides`), plain, ``.gz`` or ``.zst``.

    Yields:
        Batches with ``id``, a hash of the texts; ``variant``, the number of equal examples before
        this one; ``source``, ``masked`` and ``suggestion``.

    Raises:
        InputError: A file cannot be read, the numbers of lines differ, or a masked translation does
            not have one mask.
    """
    seen: Counter[str] = Counter()
    rows: list[tuple[str, int, str, str, str]] = []
    for source, masked, (suggestion,) in read_masked(sides["src"], sides["mask"], [sides["tgt"]]):
        text = "\x1f".join((source, masked, suggestion))
        key = xxhash.xxh3_128_hexdigest(text.encode())
        rows.append((key, seen[key], source, masked, "" if suggestion == NOTHING else suggestion))
        seen[key] += 1
        if len(rows) == BATCH_ROWS:
            yield _batch(rows)
            rows = []
    if rows:
        yield _batch(rows)


def _batch(rows: Sequence[tuple[str, int, str, str, str]]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


@dataclasses.dataclass(frozen=True)
class GoldenSet:
    """A golden set that has been read, with the examples that a format can represent.

    It is kept in memory, because golden sets are made by hand and small.

    Attributes:
        batches: The examples that the format can represent.
        left_out: Number of the other examples.
        bytes: Size of the files.
        how: The format.
    """

    batches: tuple[pa.RecordBatch, ...]
    left_out: int
    bytes: int
    how: RowExport

    @classmethod
    def read(
        cls, paths: Sequence[str], how: RowExport, unfit: Unfit, sizes: Sequence[int] = ()
    ) -> "GoldenSet":
        """Read a golden set, before anything is written.

        Args:
            paths: Its files: ``.src``, ``.mask`` and ``.tgt``, in any order.
            how: The format.
            unfit: How to treat examples that the format cannot represent
                (`transforms.export.export`).
            sizes: Sizes of samples that will be asked for.

        Raises:
            ConfigError: A file is missing, the format cannot represent an example, or there are
                fewer than the largest size.
            InputError: See `read_rows`.
        """
        sides = golden_sides(paths, "golden", "src mask tgt")
        every, batches = 0, []
        for batch in read_rows(sides):
            every += batch.num_rows
            try:
                batches.append(fitting(batch, how, unfit))
            except ConfigError as error:
                raise ConfigError(f"golden set {sides['mask']}: {error}") from error
        if sizes:
            require_rows(batches, max(sizes))
        size = sum(files.size(path) for path in sides.values())
        left_out = every - sum(batch.num_rows for batch in batches)
        return cls(tuple(batches), left_out, size, how)

    def export(self, output: str, selection: Selection, sizes: Sequence[int] = ()) -> Exported:
        """Write the examples in the format in which a run's suggestions are exported.

        Zhu et al. train on the run's rows in a first stage and fine-tune on these examples in a
        second; both stages use the same form (their equation 1).

        Args:
            output: Directory of the files, whose names begin with ``golden``.
            selection: The sample and the order.
            sizes: Instead, samples of these sizes; a larger one contains a smaller one.

        Raises:
            ConfigError: A file of the output exists.
        """
        row_files = RowFiles(self.how, files.join(output, STEM), self.bytes)
        done = row_files.write(lambda: iter(self.batches), selection, sizes)
        return Exported(done.paths, done.rows, self.left_out)
