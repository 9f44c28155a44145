"""The summary of a finished recipe: pairs read, kept and rejected by each step."""

from collections.abc import Iterator, Sequence
from typing import Any

from pairweave.pipelines.recipes.step import Step
from pairweave.transforms.output import run_files
from pairweave.transforms.output.documents.manifest_model import read_manifest
from pairweave.transforms.output.run_files import to_json
from pairweave.transforms.storage import files
from pairweave.transforms.text_columns import text_columns

SUMMARY = "_recipe.json"
"""The file in the directory of a recipe with its steps and their numbers of rows."""

_COLUMNS = ("read", "kept", "rejected")


def write(output: str, steps: Sequence[Step]) -> None:
    """Write the summary of a recipe whose steps are all finished."""
    entries = [
        {
            "name": step.name,
            "job": step.job,
            "reads": list(step.reads),
            "plan_sha256": manifest.get("plan_sha256"),
            "rows": manifest["rows"],
            "rejected": manifest.get("rejected", {}),
        }
        for step, manifest in _finished(steps)
    ]
    files.write_alone(files.join(output, SUMMARY), to_json({"steps": entries}))


def lines(output: str, steps: Sequence[Step]) -> list[str]:
    """Return the summary as a table."""
    rows: list[tuple[str, ...]] = [("step", "job", *_COLUMNS)]
    for step, manifest in _finished(steps):
        numbers = [manifest["rows"].get(name) for name in _COLUMNS]
        cells = ["" if number is None else f"{number:,}" for number in numbers]
        rows.append((step.name, step.job, *cells))
    return [*text_columns(rows, left=2), f"summary: {files.join(output, SUMMARY)}"]


def _finished(steps: Sequence[Step]) -> Iterator[tuple[Step, dict[str, Any]]]:
    for step in steps:
        yield step, read_manifest(files.join(step.options.output, run_files.MANIFEST))
