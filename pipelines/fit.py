"""The job ``fit``: trains the statistical aligner on a sample and freezes it."""

import time
from collections.abc import Sequence

import apache_beam as beam

from models import store
from pipelines import flags, plan_text
from pipelines.cli import COMMANDS
from pipelines.fitting import fit_step
from pipelines.options import FitOptions
from pipelines.run import Graph, Run, note_run, prepare, resume
from pipelines.steps import ReadUnits, Screen
from transforms import files, manifest, sealed
from transforms.write import file_entry, to_json


def main(name: str, arguments: Sequence[str]) -> int:
    """Run the job from its command line."""
    options, extra = flags.parse(
        FitOptions, f"pairweave {name}", COMMANDS[name].about, arguments, beam=True
    )
    run = prepare(name, options)
    if options.plan_only:
        return plan_text.show(run, graph, extra)
    output = files.absolute(options.output)
    manifest.claim(output, run.document)
    started = time.time()

    def missing() -> Graph | None:
        if store.find_whole(output) is not None:
            return None
        return lambda pipeline: graph(pipeline, run)

    attempts = resume(run, extra, missing)
    commit(run, output)
    note_run(run, output, started, attempts, reused=0)
    plan_text.say_where(output)
    return 0


def graph(pipeline: beam.Pipeline, run: Run, _wanted: frozenset[int] = frozenset()) -> None:
    """Read, screen, sample, fit."""
    output = files.absolute(run.options.output)
    _ = (
        pipeline
        | "Read" >> ReadUnits(run.plan.units, run.limits, output, run.digest)
        | "Screen" >> Screen(run.screen)
        | "FitAligner" >> fit_step(run, output)
    )


def commit(run: Run, output: str) -> None:
    """Write the manifest of a fitted model.

    Raises:
        WorkerError: A file of the model is missing or is not the one that was written.
    """
    files.delete_temporary(output)
    model = sealed.read(output)
    about = sealed.parse_about(model[store.ABOUT])
    document = {
        **{key: run.document[key] for key in ("job", "version", "signature", "configuration")},
        **{key: run.document[key] for key in ("corpora", "inputs", "notices")},
        "plan_sha256": run.digest,
        "rows": {"read": run.plan.rows, "fitted": about["pairs"]},
        "files": [file_entry(name, data) for name, data in model.items()],
    }
    files.write_bytes(files.join(output, manifest.MANIFEST), to_json(document))
