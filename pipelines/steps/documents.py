"""The steps that apply functions to document pairs."""

import functools
from collections.abc import Callable, Iterator, Mapping

import apache_beam as beam
import pyarrow as pa

from pairweave.models.hmm import hmm_reference
from pairweave.transforms import schemas
from pairweave.transforms.shards.shard import Batches
from pairweave.transforms.units import Unit

Units = beam.PCollection[Unit | None]
Model = hmm_reference.HmmReference | beam.pvalue.AsSingleton


class Documents(beam.PTransform[beam.pvalue.PBegin, Units]):
    """Creates the document pairs, and a None that gives an empty batch."""

    def __init__(self, units: tuple[Unit, ...]) -> None:
        super().__init__()
        self._units = units

    def expand(self, pipeline: beam.pvalue.PBegin) -> Units:
        """Spread the document pairs over the workers."""
        return pipeline | "Units" >> beam.Create([None, *self._units], reshuffle=True)


class EachDocument(beam.PTransform[Units, Batches]):
    """Applies a function that turns document pairs into row batches; None gives an empty batch."""

    def __init__(
        self,
        function: Callable[..., Iterator[pa.RecordBatch]],
        models: Mapping[str, Model],
        **settings: object,
    ) -> None:
        """Set the function, the models that it takes by name, and its settings."""
        super().__init__()
        self._function = functools.partial(function, **settings)
        self._models = dict(models)

    def expand(self, documents: Units) -> Batches:
        """Apply the function."""
        step = beam.FlatMap(_each, self._function, **self._models)
        return documents | "Document" >> step.with_output_types(pa.RecordBatch)


def _each(
    unit: Unit | None,
    function: Callable[..., Iterator[pa.RecordBatch]],
    model: hmm_reference.HmmReference | None = None,
    half_0: hmm_reference.HmmReference | None = None,
    half_1: hmm_reference.HmmReference | None = None,
) -> Iterator[pa.RecordBatch]:
    optional = {"model": model, "half_0": half_0, "half_1": half_1}
    models = {name: reference for name, reference in optional.items() if reference is not None}
    if unit is None:
        yield pa.RecordBatch.from_pylist([], schema=schemas.ROWS)
    else:
        yield from function(unit, **models)
