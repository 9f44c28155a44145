"""Compile the package's kernels, once, on all cores.

python deploy/wheels/compile_kernels.py [TREE] [--every_cpu] [--level LEVEL] [--runs NAME...]

Runs jobs and commands on a few made-up pairs and puts what Numba compiled into
``compiled_kernels`` of the package in the tree: a checkout (the default) or an unpacked wheel. They
are compiled for this machine's kind of CPU, or for every kind that kernels are shipped for
(`kernel_cache.platform_cpus`), which takes twice as long. With an optimization level lower than
Numba's own, 3, it takes less time and the kernels are slower: enough for a test. With the names of
some runs (of `JOBS` and `COMMANDS`), only the kernels of those are compiled, and others when they
are first called.
"""

import argparse
import contextlib
import graphlib
import importlib.metadata
import io
import logging
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path

import numpy as np

COMPILED = Path("pairweave", "compiled_kernels")
"""Where the package looks for them."""

_RUN = "--run"
"""The word with which this program starts itself to run the jobs; names of some may follow."""

PAIRS = 120
ENGLISH = "the a small red old house dog tree river road sees likes takes finds has today here now"
GERMAN = "das ein klein rot alt haus hund baum fluss weg sieht mag nimmt findet hat heute hier nun"

FITTED = ("--model", "{directory}/fit")
VITERBI = ("--model", "{directory}/fit_viterbi")
SHAPES = (
    *("--self_closing_share", "0.3", "--damage_share", "0.1", "--empty_share", "0.1"),
    *("--split_share", "0.2", "--nesting", "free", "--unaligned_words", "allow"),
    *("--min_confidence", "0.1", "--draw", "confident", "--variants", "2"),
    *("--representation", "xliff", "--max_id", "10", "--whitespace_shift", "--keep_links"),
)
ANY = ("--phrase_pairs", "all")
GIVEN = ("--aligner", "given", "--tokens", "whitespace", "--links", "{directory}/links")
PARALLEL = (
    *("--parallel_source_input", "{directory}/text.en"),
    *("--parallel_target_input", "{directory}/text.de"),
)
TRANSLATED = ("--translation_input", "{directory}/text.mt")

JOBS = {
    "align_given": ("align", *GIVEN),
    "augment_given": ("augment", *GIVEN),
    "fit": ("fit",),
    "suggest": ("suggest", *TRANSLATED, "--deletions"),
    "filter": ("filter",),
    "augment": ("augment", "--keep_links"),
    "augment_pieces": ("augment", "--tokens", "sentencepiece", "--vocabulary", "256"),
    "filter_near": ("filter", "--duplicates", "near", "--select_share", "0.5"),
    "suggest_hmm": ("suggest", *TRANSLATED, "--aligner", "hmm"),
    "bitext": ("bitext", *PARALLEL),
    "fit_viterbi": ("fit", "--decode", "viterbi"),
    "align": ("align", *FITTED, "--pharaoh", "{directory}/pharaoh"),
    "augment_shapes": ("augment", *FITTED, *SHAPES),
    "augment_profile": ("augment", *FITTED, "--tag_profile", "{directory}/profile.json", *ANY),
    "augment_indexed": ("augment", *FITTED, "--inline_tags", "index", "--tags_differ", "keep"),
    "augment_fragments": ("augment", *FITTED, "--method", "fragment"),
    "augment_confirmed": ("augment", *FITTED, "--second_aligner", "hmm:{directory}/fit_viterbi"),
    "align_viterbi": ("align", *VITERBI),
}
"""Options of jobs by the names of their outputs; ``{directory}`` is where the texts are."""

KOREAN = ("--source_input", "{directory}/text.en", "--target_input", "{directory}/text.ko")
JAPANESE = ("--source_input", "{directory}/text.en", "--target_input", "{directory}/text.ja")
PARAGRAPHS = (
    *("--source_input", "{directory}/paragraphs.en", "--paragraphs", "first", "--allow_empty"),
    *("--target_input", "{directory}/paragraphs.de"),
)
BOTH_TAGGED = ("--source_input", "{directory}/text.en", "--target_input", "{directory}/text.de")
PLAIN_TARGET = ("--source_input", "{directory}/text.en", "--target_input", "{directory}/plain.de")
LANGUAGES = ("--source_lang", "en", "--target_lang", "de")
PROJECT = ("tags", "project", "--syntax", "xml", *LANGUAGES, *PLAIN_TARGET, *GIVEN)
PROFILE = ("tags", "profile", "--syntax", "xml", "--input", "{directory}/text.en")
MARKED = ("--source_input", "{directory}/marked.en", "--target_input", "{directory}/marked.de")
LEARN = ("tags", "fit_projection", "--syntax", "xml", *LANGUAGES, *MARKED, *GIVEN)

COMMANDS = {
    "profile.json": (*PROFILE, "--target_input", "{directory}/text.de"),
    "best.de": (*PROJECT, "--rules", "best"),
    "paper.de": (*PROJECT, "--rules", "paper"),
    "weights.json": LEARN,
    "fit_korean": ("fit", *KOREAN, "--target_lang", "ko", "--workers", "1"),
    "augment_japanese": ("augment", *JAPANESE, "--target_lang", "ja", "--workers", "1"),
    "bitext_paragraphs": ("bitext", *PARAGRAPHS, *LANGUAGES, "--workers", "1"),
    "stream": ("stream", "{directory}/align", "--epochs", "1"),
    "stream_kept": ("stream", "{directory}/augment", "--epochs", "1"),
    "symmetrize": ("symmetrize", "{directory}/links", "{directory}/links"),
    "phrases": ("phrases", "{directory}/links"),
}
"""Other command lines by the names of their outputs."""

PRINTING = frozenset({"stream", "stream_kept", "symmetrize", "phrases"})
"""Those that write to the standard output."""


def compile_kernels(
    tree: Path, level: str = "3", names: Sequence[str] = (), *, every_cpu: bool = False
) -> Path:
    """Compile the kernels of a package in place of those that are there; return their folder.

    Args:
        tree: The directory with the folder ``pairweave``.
        level: How far the kernels are optimized, from 0 to 3.
        names: The runs whose kernels are compiled; all by default.
        every_cpu: Compile for every kind of CPU of the platform, not only for that of this machine.

    Raises:
        CalledProcessError: A job failed; it has said why.
        FileExistsError: The code of two kernels would have the same name.
    """
    with tempfile.TemporaryDirectory() as made:
        directory = Path(made)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
        environment = {
            **kept,
            "NUMBA_CPU_FEATURES": "",
            "NUMBA_OPT": level,
            "NUMBA_CACHE_DIR": str(directory / "kernels"),
            "PYTHONPATH": str(tree.absolute()),
        }
        command = [sys.executable, str(Path(__file__).absolute()), _RUN, *names]
        shutil.rmtree(tree / COMPILED, ignore_errors=True)
        cpus = _cpus(tree, directory, every_cpu=every_cpu)
        for cpu in cpus:
            sys.stdout.write(f"for the CPU {cpu}: ")
            sys.stdout.flush()
            environment["NUMBA_CPU_NAME"] = cpu
            subprocess.run(command, env=environment, cwd=directory, check=True)
        folder = directory / "compiled"
        folder.mkdir()
        for path in (directory / "kernels").rglob("*.nb[ci]"):
            if (folder / path.name).exists():
                raise FileExistsError(f"two kernels have compiled code called {path.name}")
            shutil.copy(path, folder)
        version = importlib.metadata.version("numba")
        (folder / "numba.txt").write_text(f"{version}\n", encoding="utf-8")
        (folder / "cpus.txt").write_text(f"{' '.join(cpus)}\n", encoding="utf-8")
        return Path(shutil.copytree(folder, tree / COMPILED))


def _cpus(tree: Path, directory: Path, *, every_cpu: bool) -> list[str]:
    """Return the kinds of CPU to compile for, from the package that is compiled.

    Those of this machine are chosen by Numba's variables, too.
    """
    chosen = "platform_cpus()" if every_cpu else "usable_cpus()[:1]"
    code = f"from pairweave.transforms.kernels import kernel_cache as c; print(*c.{chosen})"
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(tree.absolute())},
        cwd=directory,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout.split()


def run_jobs(directory: Path, names: Sequence[str] = ()) -> None:
    """Run everything, or what is named, in a directory, on all cores, and say how much is done.

    The first process that needs a kernel compiles it, and the others wait for it. So there are more
    processes than cores, and what has kernels of its own begins first.

    Raises:
        SystemExit: A job failed.
    """
    # Not at the top: the version of the package that is compiled is not always installed.
    from pairweave.pipelines.jobs import align, augment, bitext, filter, fit, suggest  # noqa: F401
    from pairweave.pipelines.process import descendants

    descendants.die_with_parent(os.getppid(), signal.SIGTERM)

    # A library that has logged while it was imported has made Python show all that is logged.
    logging.getLogger().handlers.clear()
    sys.stdout.write("compiling kernels, once for these sources, on all cores\n")
    _write_texts(directory)
    every = _command_lines(directory)
    wanted = list(names or every)
    for name in wanted:  # which grows
        wanted += sorted(_outputs_read(every[name], directory).difference(wanted))
    lines = {name: every[name] for name in wanted}
    order = graphlib.TopologicalSorter(
        {name: _outputs_read(words, directory) for name, words in lines.items()}
    )
    order.prepare()
    # Forked before Beam starts a thread.
    context = multiprocessing.get_context("fork")
    running: dict[Future[None], str] = {}
    done = 0
    with ProcessPoolExecutor(
        2 * len(os.sched_getaffinity(0)),
        mp_context=context,
        initializer=descendants.die_with_parent,
        initargs=(os.getpid(),),
    ) as processes:
        called = () if names else (call_kernels_of_pieces, call_kernels_of_vectors)
        calls = [processes.submit(function) for function in called]
        while order.is_active():
            for name in order.get_ready():
                running[processes.submit(_run, *lines[name], *_output(name, directory))] = name
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                future.result()
                order.done(running.pop(future))
                done += 1
                sys.stdout.write(f"compiled for {done} of {len(lines)} runs\n")
                sys.stdout.flush()
        for call in calls:
            call.result()


def call_kernels_of_pieces() -> None:
    """Call the kernels of an encoder's pieces, with values of the types that jobs give them.

    A job with an encoder would need torch.
    """
    from pairweave.transforms.kernels.text import encoder_pieces
    from pairweave.transforms.kernels.text.spans import FlatSpans
    from pairweave.transforms.text import codepoints

    offsets, starts, ends = np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, np.int32)
    text = np.frombuffer(b"a", np.uint8)
    encoder_pieces.merge_pieces(offsets, starts, ends, text, offsets, codepoints.properties())
    spans = FlatSpans(offsets, *encoder_pieces.cover(*(offsets, starts, ends) * 2))
    probability = np.ones(1, np.float32)
    links = encoder_pieces.UnitLinks(
        offsets, starts, starts, np.ones(1, np.uint8), probability, probability
    )
    encoder_pieces.token_links(links, spans, spans, offsets[1:], offsets[1:])


def call_kernels_of_vectors() -> None:
    """Call the kernels that compare a document's sentences by an encoder's vectors, likewise."""
    from pairweave.models.sentences.bead_weights import KINDS, MAX_SENTENCES
    from pairweave.models.sentences.embedding_aligner import (
        SentenceVectors,
        coarse_centre,
        gains_within,
    )
    from pairweave.transforms.kernels.sentences import embedded, piece_maxima, piecewise
    from pairweave.transforms.kernels.sentences.beads import Band

    vectors = SentenceVectors(np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32))
    coarse_centre(vectors)
    band = Band(np.zeros(3, np.int64), np.full(3, 3), 3 * np.arange(4))
    path = np.zeros(1, np.uint8)
    embedded.path_costs(path, band, KINDS, gains_within(band, vectors))
    side = piece_maxima.WeightedPieces(np.arange(3), np.ones(2))
    maxima = piece_maxima.begin_maxima(band, MAX_SENTENCES)
    recent = piece_maxima.begin_recent(band, side, MAX_SENTENCES)
    for row in (1, 2):
        of_row = piece_maxima.begin_row(row, band, side, side)
        piece_maxima.add_similarities(np.ones((1, 2), np.float32), 0, side.ends, of_row)
        piece_maxima.end_row(row, band, side, side, of_row, recent, maxima)
    yisi = piecewise.Yisi(maxima, np.arange(3.0), np.arange(3.0), 0.5)
    piecewise.singles(1, band, yisi, 1, np.empty((1, 2)))
    apart = np.ones((2, MAX_SENTENCES), np.float32)
    compared = piecewise.Piecewise(yisi, apart, apart, side.ends, side.ends, 0.0, 1.0)
    piecewise.add_gains(band, KINDS, compared, 1, 2, np.zeros((9, len(KINDS.sources))))
    piecewise.path_costs(path, band, KINDS, compared)


def _command_lines(directory: Path) -> dict[str, list[str]]:
    """Return the command lines without their outputs, by the names of these, in order of start."""
    texts = (*LANGUAGES, *BOTH_TAGGED, "--workers", "1")
    jobs = {name: (*words, *texts) for name, words in JOBS.items()}
    return {
        name: [word.format(directory=directory) for word in words]
        for name, words in (COMMANDS | jobs).items()
    }


def _outputs_read(words: list[str], directory: Path) -> set[str]:
    """Return the names of the outputs of others that a command line reads."""
    ends = {name: str(directory / name) for name in (*JOBS, *COMMANDS)}
    return {name for name, end in ends.items() if any(word.endswith(end) for word in words)}


def _output(name: str, directory: Path) -> tuple[str, ...]:
    """Return the option of an output; nothing for a command that prints."""
    return () if name in PRINTING else ("--output", str(directory / name))


def _write_texts(directory: Path) -> None:
    for name in ("en", "de", "mt"):
        words = (ENGLISH if name == "en" else GERMAN).split()
        step = 5 if name == "mt" else 7
        lines, marked = [], []
        for row in range(PAIRS):
            line = [words[(row * step + place * (row % 3 + 1)) % len(words)] for place in range(9)]
            marked.append(f"{' '.join(f'<b>{word}</b>' for word in line)} <br/>{row}.\n")
            if row % 4 == 0:
                line[2] = f"<b>{line[2]}</b>"
            lines.append(f"{' '.join(line)} {row}.\n")
        (directory / f"text.{name}").write_text("".join(lines))
        (directory / f"marked.{name}").write_text("".join(marked))
        parts = ["".join(lines[first : first + 5]) for first in range(0, PAIRS, 5)]
        (directory / f"paragraphs.{name}").write_text("\n".join(parts))
    german = (directory / "text.de").read_text()
    (directory / "plain.de").write_text(re.sub("</?b>", "", german))
    (directory / "text.ko").write_text(german.replace("a", "집에서").replace("u", "개를"))
    (directory / "text.ja").write_text(
        german.replace(" ", "").replace("a", "家で").replace("u", "犬を")
    )
    links = " ".join(f"{place}-{place}" for place in range(9))
    (directory / "links").write_text(f"{links}\n" * PAIRS)


def _run(*words: str) -> None:
    # Not at the top: the version of the package that is compiled is not always installed.
    from pairweave.pipelines.cli import main

    # Shown only if something is wrong. `stream` writes bytes, to the buffer of the output.
    said = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        status = main(words)
    if status:
        said.flush()
        command = f"pairweave {' '.join(words)}"
        text = said.buffer.getvalue().decode()
        sys.exit(f"{text}compile_kernels: exit status {status}: {command}")


def _main() -> None:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("tree", nargs="?", type=Path, default=Path())
    parser.add_argument("--every_cpu", action="store_true")
    parser.add_argument("--level", default="3", choices=("0", "1", "2", "3"))
    parser.add_argument("--runs", nargs="+", default=(), metavar="NAME", choices=(*JOBS, *COMMANDS))
    given = parser.parse_args()
    folder = compile_kernels(given.tree, given.level, given.runs, every_cpu=given.every_cpu)
    sys.stdout.write(f"{folder}\n")


if __name__ == "__main__":
    if sys.argv[1:2] == [_RUN]:
        with tempfile.TemporaryDirectory() as texts:
            run_jobs(Path(texts), sys.argv[2:])
    else:
        _main()
