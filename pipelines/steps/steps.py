"""The Beam side of each step: a function of a batch or a shard, and what it needs on a worker."""

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import apache_beam as beam
import pyarrow as pa

from pairweave.models import store
from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.hmm.phrase_table import build_phrase_table
from pairweave.transforms import schemas
from pairweave.transforms.commit.commit import commit_run
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.formats.registry import read_unit
from pairweave.transforms.output import receipts, run_files
from pairweave.transforms.output.character_counts import count_characters
from pairweave.transforms.output.names import REJECTS, WriteConfig
from pairweave.transforms.output.write import ShardOutput, write_shard
from pairweave.transforms.screen import ScreenConfig, screen
from pairweave.transforms.shards.sample import gather_sample, sample_rows, why_empty
from pairweave.transforms.shards.shard import Batches, Shard, Shards
from pairweave.transforms.storage import files
from pairweave.transforms.text.tokens import TokenConfig, add_tokens
from pairweave.transforms.units import ReadLimits, Unit

Model = beam.PCollection[store.ModelReference]
Receipts = beam.PCollection[str]
Samples = beam.PCollection[tuple[int, Iterable[pa.Table]]]
View = Callable[[pa.Table], pa.Table]

NO_MODEL = store.ModelReference("", "")
"""What stands for the model where no pair passed the screen."""

_NOTHING_TO_FIT = (
    "there is nothing to fit the aligner on: no pair passed the screen, or the sample of "
    "--fit_pairs drew none of those that did; check the input, the limits of the screen and "
    "the languages, or align with a fitted --model"
)


class ReadUnits(beam.PTransform[beam.pvalue.PBegin, Batches]):
    """Units of input become row batches, and one empty batch.

    Each unit leaves a receipt in the output directory, if one is given.
    """

    def __init__(
        self, units: tuple[Unit, ...], limits: ReadLimits, output: str = "", plan: str = ""
    ) -> None:
        super().__init__()
        self._units = units
        self._read = functools.partial(_read, limits=limits, output=output, plan=plan)

    def expand(self, pipeline: beam.pvalue.PBegin) -> Batches:
        """Spread the units over the workers and read them."""
        units = pipeline | "Units" >> beam.Create([None, *self._units], reshuffle=True)
        return units | "Read" >> beam.FlatMap(self._read).with_output_types(pa.RecordBatch)


def _read(
    unit: Unit | None, limits: ReadLimits, output: str, plan: str
) -> Iterator[pa.RecordBatch]:
    if unit is None:
        yield pa.RecordBatch.from_pylist([], schema=schemas.ROWS)
        return
    rows = 0
    characters: Counter[str] = Counter()
    for batch in read_unit(unit, limits):
        rows += batch.num_rows
        characters += count_characters(batch)
        yield batch
    if output:
        receipts.write_unit_receipt(output, plan, unit.index, rows, characters)


class Screen(beam.PTransform[Batches, Batches]):
    """Row batches in, row batches out, with reasons on the rows that are turned away."""

    def __init__(self, config: ScreenConfig) -> None:
        super().__init__()
        self._config = config

    def expand(self, batches: Batches) -> Batches:
        """Screen each batch."""
        screened = beam.Map(functools.partial(screen, config=self._config))
        return batches | "Rules" >> screened.with_output_types(pa.RecordBatch)


class GatherSample(beam.PTransform[Batches, Samples]):
    """Row batches, an empty one among them, become the parts of one sample under one key."""

    def __init__(self, share: float, seed: int) -> None:
        super().__init__()
        self._sample = functools.partial(sample_rows, share=share, seed=seed)

    def expand(self, batches: Batches) -> Samples:
        """Sample each batch, gather."""
        sample = beam.FlatMap(self._sample).with_output_types(tuple[int, pa.Table])
        return batches | "Sample" >> sample | "Gather" >> beam.GroupByKey()


class FitAligner(beam.PTransform[Batches, Model]):
    """Row batches become one fitted aligner: sample, then fit on one worker."""

    def __init__(
        self,
        directory: str,
        tokens: TokenConfig | None,
        config: HmmConfig,
        share: float,
        seed: int,
        threads: int,
        facts: dict[str, object],
        *,
        allow_empty: bool = False,
        after: Receipts | None = None,
        view: View | None = None,
        pieces: beam.pvalue.AsSingleton | None = None,
    ) -> None:
        super().__init__()
        self._waits = {} if after is None else {"_after": beam.pvalue.AsList(after)}
        self._pieces = {} if pieces is None else {"pieces": pieces}
        self._gather = GatherSample(share, seed)
        self._fit = functools.partial(
            fit_aligner,
            directory=directory,
            tokens=tokens,
            config=config,
            threads=threads,
            facts=facts,
            allow_empty=allow_empty,
            view=view,
        )

    def expand(self, batches: Batches) -> Model:
        """Sample, gather under one key, fit; not before the receipts that are waited for."""
        return batches | self._gather | "Fit" >> beam.Map(self._fit, **self._waits, **self._pieces)


def fit_aligner(
    element: tuple[int, Iterable[pa.Table]],
    directory: str,
    tokens: TokenConfig | None,
    config: HmmConfig,
    threads: int,
    facts: dict[str, object],
    *,
    allow_empty: bool = False,
    view: View | None = None,
    pieces: bytes = b"",
    _after: list[str] | None = None,
) -> store.ModelReference:
    """Fit an aligner on the parts of a sample and save it.

    Args:
        element: The sample's parts under one key.
        directory: Where the model goes.
        tokens: How text is cut; None for the pieces of the SentencePiece model.
        config: Settings of the fit.
        threads: Threads to use; they change no bit of the model.
        facts: What else the model says of itself.
        allow_empty: Whether an empty sample gives no model instead of an error.
        view: Turns the sample's PAIRS rows into those that the aligner is fitted on.
        pieces: The SentencePiece model that the run trained, if it did.
        _after: What the step waited for.

    Returns:
        Where the model lies; `NO_MODEL` of an empty sample, if that is allowed.

    Raises:
        ConfigError: The sample is empty and that is not allowed.
    """
    parts = list(element[1])
    sample = gather_sample(parts)
    if view is not None:
        sample = view(sample)
    if not sample.num_rows and allow_empty:
        return NO_MODEL
    if not sample.num_rows:
        rejects = files.join(directory, REJECTS)
        why = why_empty(parts)
        where = "" if _after is None else f"; the rejected pairs are in {rejects}"
        raise ConfigError(_NOTHING_TO_FIT + (f"; {why}" if why else "") + where)
    if tokens is None:
        tokens = TokenConfig("sentencepiece", pieces)
    cut = add_tokens(sample, tokens)
    model = fit(cut, config, threads=threads)
    # Fragments are translated from one language into another, and by words.
    wanted = view is None and tokens.model is None
    phrases = build_phrase_table(model, cut, threads) if wanted else None
    packed = store.pack(model, tokens, {**facts, "pairs": sample.num_rows}, phrases)
    return store.save(directory, packed)


class EachShard(beam.PTransform[Shards, Shards]):
    """Maps the working table of every shard by one function, which may also take the model."""

    def __init__(
        self,
        function: Callable[..., pa.Table],
        model: beam.pvalue.AsSingleton | None = None,
        **settings: object,
    ) -> None:
        super().__init__()
        self._function = functools.partial(function, **settings)
        self._model = model

    def expand(self, shards: Shards) -> Shards:
        """Apply the function."""
        if self._model is None:
            step = beam.Map(_on_table, self._function)
        else:
            step = beam.Map(_on_table_with_model, self._function, self._model)
        return shards | "Table" >> step.with_output_types(Shard)


def _on_table(shard: Shard, function: Callable[..., pa.Table]) -> Shard:
    return shard.with_table(function(shard.table))


def _on_table_with_model(
    shard: Shard, function: Callable[..., pa.Table], model: store.ModelReference
) -> Shard:
    return shard.with_table(function(shard.table, model))


def tokenize(
    table: pa.Table, reference: store.ModelReference, tokens: TokenConfig | None
) -> pa.Table:
    """Cut pairs into tokens; None for those that the aligner was fitted on."""
    if reference == NO_MODEL:
        _require_empty(table)
        return schemas.TOKENS.empty_table()
    return add_tokens(table, tokens or store.load(reference).tokens)


def align(table: pa.Table, reference: store.ModelReference) -> pa.Table:
    """Align tokens with the model that the reference names."""
    if reference == NO_MODEL:
        _require_empty(table)
        return schemas.LINKED.empty_table()
    return store.load(reference).model.align(table)


def _require_empty(table: pa.Table) -> None:
    """Refuse pairs for which there is no model: they passed the screen, the sample missed them."""
    if table.num_rows:
        raise ConfigError(_NOTHING_TO_FIT)


class WriteShards(beam.PTransform[Shards, Receipts]):
    """Writes every shard with its rejects and its receipt, by a job's last function of a shard.

    The function takes a shard, and the model if the step is given one.
    """

    def __init__(
        self,
        finish: Callable[..., ShardOutput],
        config: WriteConfig,
        model: beam.pvalue.AsSingleton | None = None,
        **settings: object,
    ) -> None:
        super().__init__()
        self._settings = {"finish": functools.partial(finish, **settings), "config": config}
        self._model = model

    def expand(self, shards: Shards) -> Receipts:
        """Write each shard; the receipts' names come out."""
        if self._model is None:
            step = beam.Map(_write, **self._settings)
        else:
            step = beam.Map(_write_with_model, self._model, **self._settings)
        return shards | "Write" >> step.with_output_types(str)


def _write(shard: Shard, finish: Callable[..., ShardOutput], config: WriteConfig) -> str:
    return write_shard(finish(shard), config)


def _write_with_model(
    shard: Shard,
    model: store.ModelReference,
    finish: Callable[..., ShardOutput],
    config: WriteConfig,
) -> str:
    return _write(shard, functools.partial(finish, reference=model), config)


class Commit(beam.PTransform[Receipts, Receipts]):
    """Commits the run once every receipt has come."""

    def __init__(self, output: str, extra_files: dict[str, bytes], *, allow_empty: bool) -> None:
        super().__init__()
        self._output = output
        self._commit = functools.partial(_commit, extra_files=extra_files, allow_empty=allow_empty)

    def expand(self, receipts: Receipts) -> Receipts:
        """Wait for all receipts, then write the card and the manifest."""
        return (
            receipts.pipeline
            | "Once" >> beam.Create([self._output])
            | "Manifest" >> beam.Map(self._commit, receipts=beam.pvalue.AsList(receipts))
        )


def _commit(
    output: str,
    extra_files: dict[str, bytes],
    allow_empty: bool,  # noqa: FBT001 - passed by name
    receipts: list[str],  # noqa: ARG001 - what the step waits for
) -> str:
    commit_run(output, extra_files, allow_empty=allow_empty)
    return files.join(output, run_files.MANIFEST)
