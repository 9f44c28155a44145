"""eflomal (Östling and Tiedemann 2016) and GIZA++ (Och and Ney 2003): a whole corpus at once.

Their links for a pair depend on all pairs aligned with it, and eflomal's also on chance, so a shard
cannot be aligned on its own. They are supported for comparison only.
"""

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from pairweave.models.external.external_config import ExternalConfig
from pairweave.models.external.external_process import find_program, read_answer, run
from pairweave.models.external.external_text import Directions, Text
from pairweave.transforms.errors import WorkerError


class Eflomal:
    """The command ``eflomal-align`` with its own defaults: three samplers, model 3."""

    def __init__(self, config: ExternalConfig) -> None:
        """Keep the settings."""
        self._config = config

    def learn(self, text: Text) -> dict[str, bytes]:  # noqa: ARG002 - it learns as it aligns
        """Learn nothing beforehand."""
        return {}

    def align(self, text: Text, learned: Mapping[str, bytes]) -> Directions:  # noqa: ARG002
        """Align a whole corpus."""
        with tempfile.TemporaryDirectory(prefix="pairweave-") as name:
            directory = Path(name)
            for side in ("source", "target"):
                (directory / side).write_text(text.side(side), encoding="utf-8")
            path = Path(find_program(self._config))
            start: tuple[str, ...] = (str(path),)
            if path.name.startswith("python"):
                start = (str(path), str(path.with_name("eflomal-align")))
            command = (*start, "-s", "source", "-t", "target", "-f", "forward", "-r", "reverse")
            run("eflomal", command, self._config.timeout_seconds, directory)
            forward = read_answer(directory / "forward", "eflomal")
            return Directions(forward, read_answer(directory / "reverse", "eflomal"))


class Giza:
    """The programs ``GIZA++`` and ``mkcls``: Model 1, HMM, Models 3 and 4, each direction.

    Words are passed as numbers, which the programs use anyway, so no word can be taken for markup
    of their files. GIZA++ itself truncates sentences of more than 100 words.
    """

    def __init__(self, config: ExternalConfig) -> None:
        """Keep the settings."""
        self._config = config

    def learn(self, text: Text) -> dict[str, bytes]:  # noqa: ARG002 - it learns as it aligns
        """Learn nothing beforehand."""
        return {}

    def align(self, text: Text, learned: Mapping[str, bytes]) -> Directions:  # noqa: ARG002
        """Align a whole corpus."""
        source, target = numbered(text.source), numbered(text.target)
        return Directions(
            links_text(self._direction(source, target), turned=False),
            links_text(self._direction(target, source), turned=True),
        )

    def _direction(self, given: list[list[int]], made: list[list[int]]) -> list[list[list[int]]]:
        """Return, for each pair and word of the given side, the linked words of the other."""
        config = self._config
        with tempfile.TemporaryDirectory(prefix="pairweave-") as name:
            directory = Path(name)
            for side, sentences in (("s", given), ("t", made)):
                (directory / f"{side}.vcb").write_text(vocabulary_text(sentences))
                (directory / side).write_text(
                    "".join(f"{' '.join(f'w{word}' for word in words)}\n" for words in sentences)
                )
                classes = ("-c50", "-n2", f"-p{side}", f"-V{side}.vcb.classes", "opt")
                run(
                    "mkcls",
                    (find_program(config, "mkcls"), *classes),
                    config.timeout_seconds,
                    directory,
                )
            (directory / "st.snt").write_text(sentences_text(given, made))
            (directory / "st.cooc").write_text(cooccurrence_text(given, made))
            command = (
                *(find_program(config), "-S", "s.vcb", "-T", "t.vcb", "-C", "st.snt"),
                *("-CoocurrenceFile", "st.cooc", "-o", "st", "-p0", "0.98"),
                *("-m1", "5", "-m2", "0", "-mh", "5", "-m3", "3", "-m4", "3"),
            )
            run("GIZA++", command, config.timeout_seconds, directory)
            return read_viterbi(read_answer(directory / "st.A3.final", "GIZA++"))


def numbered(lines: Iterable[str]) -> list[list[int]]:
    """Return sentences as word numbers from 2, in order of appearance; 0 and 1 are reserved.

    >>> numbered(["a b a", "c a"])
    [[2, 3, 2], [4, 2]]
    """
    numbers: dict[str, int] = {}
    return [
        [numbers.setdefault(word, len(numbers) + 2) for word in line.split(" ")] for line in lines
    ]


def vocabulary_text(sentences: list[list[int]]) -> str:
    """Return a vocabulary as GIZA++ reads it: ``number word count`` lines."""
    counts: dict[int, int] = {}
    for words in sentences:
        for word in words:
            counts[word] = counts.get(word, 0) + 1
    return "".join(f"{word} w{word} {counts[word]}\n" for word in sorted(counts))


def sentences_text(given: list[list[int]], made: list[list[int]]) -> str:
    """Return sentence pairs as GIZA++ reads them: how often, the given side, the other."""
    return "".join(
        f"1\n{' '.join(map(str, source))}\n{' '.join(map(str, target))}\n"
        for source, target in zip(given, made, strict=True)
    )


def cooccurrence_text(given: list[list[int]], made: list[list[int]]) -> str:
    """Return the words that co-occur in a pair, sorted; the empty word 0 co-occurs with all."""
    met = {
        (word, other)
        for source, target in zip(given, made, strict=True)
        for other in set(target)
        for word in (0, *set(source))
    }
    return "".join(f"{word} {other}\n" for word, other in sorted(met))


def read_viterbi(data: bytes) -> list[list[list[int]]]:
    """Read ``A3.final``: three lines per pair, the third with the links of each given word.

    Returns:
        For each pair and given word the linked words of the other side, from 0.

    Raises:
        WorkerError: The file has another form.
    """
    lines = data.decode("utf-8", "replace").splitlines()
    pairs = []
    for line in lines[2::3]:
        # NULL ({ 3 }) w2 ({ 1 }) w5 ({ 2 4 })
        parts = line.split("({")[1:]
        if not parts or not line.startswith("NULL") or not all("})" in part for part in parts):
            raise WorkerError(
                f"GIZA++: expected 'NULL ({{ }}) word ({{ 1 }})', found {line[:80]!r}"
            )
        numbers = [part.partition("})")[0].split() for part in parts[1:]]
        pairs.append([[int(number) - 1 for number in found] for found in numbers])
    return pairs


def links_text(pairs: list[list[list[int]]], *, turned: bool) -> bytes:
    r"""Return Pharaoh lines of each given word's links, turned if the given side is the target.

    >>> links_text([[[0], [], [2, 1]]], turned=True)
    b'0-0 2-2 1-2\n'
    """
    lines = []
    for words in pairs:
        links = ((word, other) for word, found in enumerate(words) for other in found)
        lines.append(" ".join(f"{b}-{a}" if turned else f"{a}-{b}" for a, b in links))
    return "".join(f"{line}\n" for line in lines).encode()
