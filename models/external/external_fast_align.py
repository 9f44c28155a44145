"""fast_align (Dyer, Chahuneau and Smith 2013), as its program and as the package systran-align.

Both learn once from a sample and then align any text with the learned model. fast_align's links for
new text therefore differ from those that it prints during training: the saved parameters are those
before the last iteration, without rare translations.
"""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pairweave.models.external.external_config import ExternalConfig
from pairweave.models.external.external_process import find_program, read_answer, run
from pairweave.models.external.external_text import Directions, Text
from pairweave.transforms.errors import WorkerError

FORWARD, REVERSE, SETTINGS = "forward.params", "reverse.params", "settings.json"

# The authors' recommendation: favour the diagonal, fit its strength, and use a prior.
_LEARN = ("-d", "-o", "-v")

_SYSTRAN = """
import json, sys
import systran_align
mode, text, forward, reverse, answer = sys.argv[1:]
if mode == "learn":
    systran_align.generate_alignment_probabilities(
        text, forward, reverse,
        favor_diagonal=True, optimize_tension=True, variational_bayes=True,
    )
else:
    pairs = [line.rstrip("\\n").split(" ||| ") for line in open(text, encoding="utf-8")]
    sides = [[side.split(" ") for side in column] for column in zip(*pairs)] or [[], []]
    found = systran_align.Aligner(forward, reverse).align_batch(*sides)
    with open(answer, "w", encoding="utf-8") as file:
        for pair in found:
            print(*(f"{i}-{j}" for i, j in pair["alignments"]), file=file)
"""


class FastAlign:
    """The program ``fast_align``: each direction has its own parameters."""

    def __init__(self, config: ExternalConfig) -> None:
        """Keep the settings."""
        self._config = config

    def learn(self, text: Text) -> dict[str, bytes]:
        """Learn both directions from text; returns parameters and settings, by file name."""
        command = find_program(self._config)
        learned: dict[str, bytes] = {}
        settings = {}
        with tempfile.TemporaryDirectory(prefix="pairweave-") as name:
            directory = Path(name)
            (directory / "text").write_text(text.joined(), encoding="utf-8")
            for file, turned in ((FORWARD, ()), (REVERSE, ("-r",))):
                arguments = (command, "-i", "text", *_LEARN, *turned, "-p", file)
                _, said = run("fast_align", arguments, self._config.timeout_seconds, directory)
                learned[file] = read_answer(directory / file, "fast_align")
                settings[file] = _said_settings(said)
        learned[SETTINGS] = json.dumps(settings, sort_keys=True).encode()
        return learned

    def align(self, text: Text, learned: Mapping[str, bytes]) -> Directions:
        """Align text by what was learned."""
        command = find_program(self._config)
        settings = json.loads(learned[SETTINGS])
        stdin = text.joined().encode()
        answers = []
        with tempfile.TemporaryDirectory(prefix="pairweave-") as name:
            directory = Path(name)
            for file, turned in ((FORWARD, ()), (REVERSE, ("-r",))):
                (directory / file).write_bytes(learned[file])
                tension, ratio = settings[file]["tension"], settings[file]["length_ratio"]
                out, _ = run(
                    "fast_align",
                    (command, "-i", "-", "-d", "-T", tension, "-m", ratio, "-f", file, *turned),
                    self._config.timeout_seconds,
                    directory,
                    stdin,
                )
                answers.append(_links_of(out))
        return Directions(answers[0], answers[1])


class SystranAlign:
    """The package ``systran-align``, in its own Python; it joins both directions itself."""

    def __init__(self, config: ExternalConfig) -> None:
        """Keep the settings."""
        self._config = config

    def learn(self, text: Text) -> dict[str, bytes]:
        """Learn both directions from text; returns the parameters, by file name."""
        with tempfile.TemporaryDirectory(prefix="pairweave-") as name:
            directory = Path(name)
            self._run("learn", text, directory)
            return {
                file: read_answer(directory / file, "systran-align") for file in (FORWARD, REVERSE)
            }

    def align(self, text: Text, learned: Mapping[str, bytes]) -> Directions:
        """Align text by what was learned."""
        with tempfile.TemporaryDirectory(prefix="pairweave-") as name:
            directory = Path(name)
            for file in (FORWARD, REVERSE):
                (directory / file).write_bytes(learned[file])
            self._run("align", text, directory)
            links = read_answer(directory / "links", "systran-align")
            return Directions(links, links)

    def _run(self, mode: str, text: Text, directory: Path) -> None:
        (directory / "text").write_text(text.joined(), encoding="utf-8")
        python = find_program(self._config)
        command = (python, "-c", _SYSTRAN, mode, "text", FORWARD, REVERSE, "links")
        run("systran-align", command, self._config.timeout_seconds, directory)


def _said_settings(said: bytes) -> dict[str, str]:
    """Parse the fitted values that fast_align prints but leaves out of its parameters.

    Raises:
        WorkerError: It does not say so.
    """
    found = {}
    for line in said.decode("utf-8", "replace").splitlines():
        if "expected target length" in line:
            found["length_ratio"] = line.split()[-1]
        elif "final tension" in line:
            found["tension"] = line.split()[-1]
    if len(found) != 2:
        raise WorkerError(
            "fast_align did not say its tension and its ratio of lengths; is --program_path the "
            "fast_align that knows -p and -f?"
        )
    return found


def _links_of(out: bytes) -> bytes:
    """Return the links of ``source ||| target ||| links ||| score`` lines.

    Raises:
        WorkerError: A line is of another form.
    """
    lines = []
    for line in out.splitlines():
        fields = line.split(b"|||")
        if len(fields) != 4:
            raise WorkerError(
                f"fast_align: expected 'source ||| target ||| links ||| score', found {line[:80]!r}"
            )
        lines.append(fields[2].strip() + b"\n")
    return b"".join(lines)
