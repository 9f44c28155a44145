"""The step that trains an external aligner on a sample of a run's rows."""

from collections.abc import Iterable, Mapping

import apache_beam as beam
import pyarrow as pa

from pairweave.models.aligner import NOTHING
from pairweave.models.external import external_reference
from pairweave.models.external.external import learn
from pairweave.models.external.external_programs import ExternalConfig
from pairweave.models.external.external_reference import ExternalReference
from pairweave.pipelines.steps.aligner_run import AlignerRun
from pairweave.pipelines.steps.steps import GatherSample, LearnFromSample
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.shards.sample import gather_sample, why_empty
from pairweave.transforms.shards.shard import Batches
from pairweave.transforms.text.tokens import TokenConfig, add_tokens


def trained_program(
    rows: Batches, run: AlignerRun, config: ExternalConfig
) -> beam.pvalue.AsSingleton:
    """Return the model that a program learns from a sample of a run's rows, as a side input."""
    options = run.options
    assert run.tokens is not None
    step = LearnFromSample(
        "Learn",
        GatherSample(run.plan.rows, options.fit_pairs, options.seed),
        learn_from_sample,
        directory=run.model_directory,
        config=config,
        tokens=run.tokens,
        facts=run.language_facts(),
        allow_empty=options.may_fit_nothing,
        no_rows=run.plan.why_no_rows,
    )
    return beam.pvalue.AsSingleton(rows | "TrainProgram" >> step)


def learn_from_sample(
    element: tuple[int, Iterable[pa.Table]],
    directory: str,
    config: ExternalConfig,
    tokens: TokenConfig,
    facts: Mapping[str, object],
    *,
    allow_empty: bool,
    no_rows: str,
) -> ExternalReference:
    """Train a program on the parts of a sample, and save the result.

    Returns:
        The reference that workers load; without a digest for an empty sample, if that is allowed.

    Raises:
        ConfigError: The sample is empty, and that is not allowed.
    """
    parts = list(element[1])
    sample = gather_sample(parts)
    if not sample.num_rows:
        if allow_empty:
            return ExternalReference(config, NOTHING)
        if no_rows:
            raise ConfigError(
                f"{config.program} has nothing to learn from: {no_rows}; give files with pairs"
            )
        why = why_empty(parts)
        raise ConfigError(
            f"{config.program} has nothing to learn from: no pair passed the screen and was "
            "sampled; check the input, the limits of the screen and --fit_pairs"
            + (f"; {why}" if why else "")
        )
    learned = learn(config, add_tokens(sample, tokens))
    return external_reference.save(config, directory, learned, {**facts, "pairs": sample.num_rows})
