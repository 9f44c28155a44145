"""The model of a run: the one given, or one fitted inside the same graph."""

import apache_beam as beam

from pairweave.models import store
from pairweave.models.hmm.hmm import HmmConfig
from pairweave.pipelines.run.run import Run
from pairweave.pipelines.steps.screened_rows import ScreenedRows
from pairweave.pipelines.steps.steps import FitAligner, Receipts
from pairweave.transforms.links.monolingual import translated_only
from pairweave.transforms.output import run_files
from pairweave.transforms.shards.sample import sample_share


def fitted_aligner(
    pipeline: beam.Pipeline,
    rows: ScreenedRows,
    run: Run,
    after: Receipts | None = None,
    *,
    monolingual: bool = False,
) -> beam.pvalue.AsSingleton:
    """Return the run's model as a side input: a reference that workers load.

    A model that an earlier attempt of the same run finished is used again, if it is whole.

    Args:
        pipeline: The run's pipeline.
        rows: Screened rows, of which a sample is fitted on.
        run: The run.
        after: Receipts that must be there before a model is fitted.
        monolingual: Whether a model is fitted on translations and targets, instead of sources
            and targets.
    """
    reference = run.model or store.find_whole(run.model_directory)
    if reference is not None:
        return beam.pvalue.AsSingleton(pipeline | "Model" >> beam.Create([reference]))
    options = run.options
    facts = run.language_facts()
    if monolingual:
        facts["source_lang"] = facts["target_lang"]
    step = FitAligner(
        directory=run.model_directory,
        tokens=run.tokens,
        config=HmmConfig(decode=options.decode),
        share=sample_share(run.plan.rows, options.fit_pairs),
        seed=options.seed,
        threads=options.workers,
        facts=facts,
        # A fit without a model would be nothing at all.
        allow_empty=options.allow_empty and run.job != run_files.FIT,
        after=after,
        view=translated_only if monolingual else None,
        pieces=rows.pieces,
    )
    return beam.pvalue.AsSingleton(rows.batches | "FitAligner" >> step)
