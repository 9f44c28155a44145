"""The steps of a job with someone else's aligner: learn from a sample, align each shard."""

import functools
from collections.abc import Iterable, Mapping

import apache_beam as beam
import pyarrow as pa

from pairweave.models.external import external_store
from pairweave.models.external.external import learn
from pairweave.models.external.external_config import ExternalConfig
from pairweave.models.external.external_store import ExternalReference
from pairweave.pipelines.aligners.external_choice import external_config
from pairweave.pipelines.options.base import AlignerOptions
from pairweave.pipelines.run.run import Run
from pairweave.pipelines.steps.screened_rows import ScreenedRows
from pairweave.pipelines.steps.steps import GatherSample
from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.shards.sample import gather_sample, sample_share, why_empty
from pairweave.transforms.shards.shard import Batches, Shard, Shards
from pairweave.transforms.text.tokens import TokenConfig, add_tokens

Learned = beam.PCollection[ExternalReference]

NOTHING_LEARNED = ""
"""The digest of a program that found no pair to learn from."""


def learned_aligner(
    pipeline: beam.Pipeline, rows: ScreenedRows, run: Run
) -> beam.pvalue.AsSingleton:
    """Return the run's program as a side input: a reference that workers load.

    What an earlier attempt of the same run learned is used again, if it is whole.
    """
    options = run.options
    assert isinstance(options, AlignerOptions)
    assert run.tokens is not None
    config = external_config(options)
    directory = run.model_directory
    reference = run.model or external_store.find_whole(config, directory)
    if reference is not None:
        return beam.pvalue.AsSingleton(pipeline | "Model" >> beam.Create([reference]))
    step = LetLearn(
        directory=directory,
        config=config,
        tokens=run.tokens,
        share=sample_share(run.plan.rows, options.fit_pairs),
        seed=options.seed,
        facts=run.language_facts(),
        allow_empty=options.allow_empty,
    )
    return beam.pvalue.AsSingleton(rows.batches | "LetLearn" >> step)


class LetLearn(beam.PTransform[Batches, Learned]):
    """Row batches become what a program learned: sample, then learn on one worker."""

    def __init__(
        self,
        directory: str,
        config: ExternalConfig,
        tokens: TokenConfig,
        share: float,
        seed: int,
        facts: Mapping[str, object],
        *,
        allow_empty: bool,
    ) -> None:
        super().__init__()
        self._gather = GatherSample(share, seed)
        self._learn = functools.partial(
            learn_from_sample,
            directory=directory,
            config=config,
            tokens=tokens,
            facts=facts,
            allow_empty=allow_empty,
        )

    def expand(self, batches: Batches) -> Learned:
        """Sample, gather under one key, learn."""
        return batches | self._gather | "Learn" >> beam.Map(self._learn)


def learn_from_sample(
    element: tuple[int, Iterable[pa.Table]],
    directory: str,
    config: ExternalConfig,
    tokens: TokenConfig,
    facts: Mapping[str, object],
    *,
    allow_empty: bool,
) -> ExternalReference:
    """Let a program learn from the parts of a sample, and save it.

    Returns:
        What workers load; without a digest where the sample is empty and may be.

    Raises:
        ConfigError: The sample is empty.
    """
    parts = list(element[1])
    sample = gather_sample(parts)
    if not sample.num_rows:
        if allow_empty:
            return ExternalReference(config, NOTHING_LEARNED)
        why = why_empty(parts)
        raise ConfigError(
            f"no pair passed the screen and was drawn into the sample, so {config.program} has "
            "nothing to learn from; check the input, the limits of the screen and --fit_pairs"
            + (f"; {why}" if why else "")
        )
    learned = learn(config, add_tokens(sample, tokens))
    return external_store.save(config, directory, learned, {**facts, "pairs": sample.num_rows})


class AlignExternally(beam.PTransform[Shards, Shards]):
    """Aligns the working table of every shard; pairs that the program cannot take are rejected."""

    def __init__(self, model: beam.pvalue.AsSingleton) -> None:
        super().__init__()
        self._model = model

    def expand(self, shards: Shards) -> Shards:
        """Align each shard."""
        return shards | "Table" >> beam.Map(align_externally, self._model).with_output_types(Shard)


def align_externally(shard: Shard, reference: ExternalReference) -> Shard:
    """Align a shard's pairs; kept rows, rejected rows and working table stay in step."""
    if reference.digest == NOTHING_LEARNED:
        return shard.with_table(no_links(shard.table))
    linked, given_up = external_store.align(reference, shard.table)
    return shard.give_up(given_up).with_table(linked)


def no_links(table: pa.Table) -> pa.Table:
    """Return the LINKED rows of a shard that holds no pair, as where nothing passed the screen.

    Raises:
        WorkerError: It holds pairs.
    """
    if table.num_rows:
        raise WorkerError(f"{table.num_rows} pairs to align, but there were none to learn from")
    return schemas.LINKED.empty_table()
