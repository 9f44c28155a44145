"""The command ``report``: renders the report of a finished run, with times and speeds."""

from typing import Annotated

from pydantic import Field

from pairweave.pipelines.command_line.command_function import command
from pairweave.pipelines.process import terminal
from pairweave.transforms.commit.checking import read_sums
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_places import FINISHED_RUNS, OUTPUT_FILE
from pairweave.transforms.output import run_files
from pairweave.transforms.output.documents.run_note_model import read_run_note
from pairweave.transforms.output.finished_run import FinishedRun, run_of
from pairweave.transforms.report import page as report_page
from pairweave.transforms.report import run_samples
from pairweave.transforms.storage import files
from pairweave.transforms.storage.whole_files import require_plain_name

PAGE = b"<title>pairweave "
_HEAD = 1_000


@command()
def main(
    directory: Annotated[str, FINISHED_RUNS, "directory of a finished run"],
    *,
    output: Annotated[
        str, OUTPUT_FILE, Field(min_length=1), "file of the report, outside any run"
    ] = "report.html",
) -> int:
    """Write the report from the command line."""
    page = render(directory)
    write(output, page)
    terminal.say(f"report: {output}")
    return 0


def render(directory: str) -> str:
    """Render the report of a finished run, including its ``_run.json`` if that exists.

    Raises:
        ConfigError: There is no finished run.
        WorkerError: One of its files is missing or broken.
    """
    run = FinishedRun.open(directory, counts=True, checked=False)
    sums = read_sums(directory, run.manifest)
    samples = run_samples.gather(run, sums)
    path = files.join(directory, run_files.RUN)
    note = read_run_note(path) if files.exists(path) else None
    return report_page.render(run.manifest, sums, samples, note)


def write(path: str, page: str) -> None:
    """Write a page, but never into a run, whose files must match its manifest.

    Raises:
        ConfigError: The page cannot be written there.
    """
    require_plain_name(path, "a page")
    run = run_of(path)
    if run is not None:
        raise ConfigError(
            f"{path} is inside the run {run}, which must stay as its manifest describes it; "
            "give another file: --output FILE"
        )
    if files.exists(path) and PAGE not in files.read_bytes(path)[:_HEAD]:
        raise ConfigError(
            f"{path}: exists and is not a page of pairweave; give another file: --output FILE"
        )
    try:
        files.write_alone(path, page.encode())
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}") from error
