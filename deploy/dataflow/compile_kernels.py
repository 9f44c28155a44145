"""Run each job on a few made-up pairs, so that its kernels are compiled and cached.

Part of the image's build: a new worker loads the kernels instead of compiling them.
"""

import sys
import tempfile
from pathlib import Path

from pairweave.pipelines.cli import main

PAIRS = 120
ENGLISH = "the a small red old house dog tree river road sees likes takes finds has today here now"
GERMAN = "das ein klein rot alt haus hund baum fluss weg sieht mag nimmt findet hat heute hier nun"

JOBS = {
    "fit": (),
    "align": (),
    "augment": (),
    "filter": (),
    "suggest": ("--aligner", "hmm"),
    "bitext": (),
}


def compile_kernels(directory: Path) -> None:
    """Run the jobs in a directory.

    Raises:
        SystemExit: A job failed.
    """
    names = ("en", "de", "mt")
    texts = {name: directory / f"text.{name}" for name in names}
    english, german = ENGLISH.split(), GERMAN.split()
    for name, path in texts.items():
        words = english if name == "en" else german
        step = 5 if name == "mt" else 7
        lines = [
            " ".join(words[(row * step + place * (row % 3 + 1)) % len(words)] for place in range(9))
            for row in range(PAIRS)
        ]
        path.write_text("".join(f"{line} {row}.\n" for row, line in enumerate(lines)))
    for job, more in JOBS.items():
        _run(directory, job, texts, more)


def _run(directory: Path, job: str, texts: dict[str, Path], more: tuple[str, ...]) -> None:
    words = [
        *(job, "--source_input", str(texts["en"]), "--target_input", str(texts["de"])),
        *("--source_lang", "en", "--target_lang", "de", "--workers", "1"),
        *("--output", str(directory / job), *more),
    ]
    if job == "bitext":
        words += ["--parallel_source_input", str(texts["en"])]
        words += ["--parallel_target_input", str(texts["de"])]
    if job == "suggest":
        words += ["--translation_input", str(texts["mt"])]
    status = main(words)
    if status:
        sys.exit(f"compile_kernels: {job} ended with exit status {status}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        compile_kernels(Path(made))
