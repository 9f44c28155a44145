"""The summary of a finished recipe: pairs read, kept and rejected by each step."""

from collections.abc import Sequence

from pairweave.pipelines.recipes.step import Step
from pairweave.transforms.output import run_files
from pairweave.transforms.output.documents.manifest_model import read_manifest
from pairweave.transforms.output.other_outputs import RECIPE
from pairweave.transforms.output.run_files import to_json
from pairweave.transforms.storage import files
from pairweave.transforms.text_columns import text_columns

_COLUMNS = ("read", "kept", "rejected")


def write(output: str, steps: Sequence[Step]) -> list[str]:
    """Write the summary of a recipe whose steps are all finished; return it as a table."""
    entries = []
    rows: list[tuple[str, ...]] = [("step", "job", *_COLUMNS)]
    for step in steps:
        manifest = read_manifest(files.join(step.options.output, run_files.MANIFEST))
        entries.append(
            {
                "name": step.name,
                "job": step.job,
                "reads": list(step.reads),
                "plan_sha256": manifest.get("plan_sha256"),
                "rows": manifest["rows"],
                "rejected": manifest.get("rejected", {}),
            }
        )
        numbers = [manifest["rows"].get(name) for name in _COLUMNS]
        cells = ["" if number is None else f"{number:,}" for number in numbers]
        rows.append((step.name, step.job, *cells))
    path = files.join(output, RECIPE)
    files.write_alone(path, to_json({"steps": entries}))
    return [*text_columns(rows, left=2), f"summary: {path}"]
