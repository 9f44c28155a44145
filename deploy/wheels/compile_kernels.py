"""Run each job on a few made-up pairs, so that Numba compiles the kernels and caches them.

python deploy/wheels/compile_kernels.py

The kernels are compiled for the CPU and into the directory that Numba's variables name
(``NUMBA_CPU_NAME``, ``NUMBA_CPU_FEATURES``, ``NUMBA_CACHE_DIR``).
"""

import contextlib
import os
import sys
import tempfile
from pathlib import Path

from pairweave.pipelines.cli import main

PAIRS = 120
ENGLISH = "the a small red old house dog tree river road sees likes takes finds has today here now"
GERMAN = "das ein klein rot alt haus hund baum fluss weg sieht mag nimmt findet hat heute hier nun"

FITTED = ("--model", "{directory}/fit")
SHAPES = (
    *("--self_closing_share", "0.3", "--damage_share", "0.1", "--empty_share", "0.1"),
    *("--split_share", "0.2", "--nesting", "free", "--unaligned_words", "allow"),
    *("--min_confidence", "0.1", "--draw", "confident", "--variants", "2"),
    *("--representation", "xliff", "--max_id", "10", "--whitespace_shift", "--keep_links"),
)
GIVEN = ("--aligner", "given", "--tokens", "whitespace", "--links", "{directory}/links")
PARALLEL = (
    *("--parallel_source_input", "{directory}/text.en"),
    *("--parallel_target_input", "{directory}/text.de"),
)
TRANSLATED = ("--translation_input", "{directory}/text.mt")

RUNS = {
    "fit": ("fit",),
    "fit_viterbi": ("fit", "--decode", "viterbi"),
    "align": ("align", *FITTED),
    "align_viterbi": ("align", "--model", "{directory}/fit_viterbi"),
    "align_given": ("align", *GIVEN),
    "augment": ("augment",),
    "augment_pieces": ("augment", "--tokens", "sentencepiece", "--vocabulary", "256"),
    "augment_indexed": ("augment", *FITTED, "--inline_tags", "index", "--tags_differ", "keep"),
    "augment_fragments": ("augment", *FITTED, "--method", "fragment"),
    "augment_shapes": ("augment", *FITTED, *SHAPES),
    "filter": ("filter",),
    "filter_near": ("filter", "--duplicates", "near", "--select_share", "0.5"),
    "suggest": ("suggest", *TRANSLATED, "--deletions"),
    "suggest_hmm": ("suggest", *TRANSLATED, "--aligner", "hmm"),
    "bitext": ("bitext", *PARALLEL),
}
"""Command lines by the names of their outputs; ``{directory}`` is where the texts are."""


def compile_kernels(directory: Path) -> None:
    """Run the jobs in a directory.

    Raises:
        SystemExit: A job failed.
    """
    _write_texts(directory)
    for name, words in RUNS.items():
        given = [word.format(directory=directory) for word in words]
        given += ["--source_input", f"{directory}/text.en", "--source_lang", "en"]
        given += ["--target_input", f"{directory}/text.de", "--target_lang", "de"]
        _run(*given, "--workers", "1", "--output", f"{directory}/{name}")
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        _run("stream", f"{directory}/align", "--epochs", "1")


def _write_texts(directory: Path) -> None:
    for name in ("en", "de", "mt"):
        words = (ENGLISH if name == "en" else GERMAN).split()
        step = 5 if name == "mt" else 7
        lines = []
        for row in range(PAIRS):
            line = [words[(row * step + place * (row % 3 + 1)) % len(words)] for place in range(9)]
            if row % 4 == 0:
                line[2] = f"<b>{line[2]}</b>"
            lines.append(f"{' '.join(line)} {row}.\n")
        (directory / f"text.{name}").write_text("".join(lines))
    links = " ".join(f"{place}-{place}" for place in range(9))
    (directory / "links").write_text(f"{links}\n" * PAIRS)


def _run(*words: str) -> None:
    status = main(words)
    if status:
        sys.exit(f"compile_kernels: exit status {status}: pairweave {' '.join(words)}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        compile_kernels(Path(made))
