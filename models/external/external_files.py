"""The files that external programs read, and readers of their answers.

A reader returns links line by line as Pharaoh text, and the pairs that the program gave up.
"""

from collections.abc import Iterable

from pairweave.transforms.errors import WorkerError
from pairweave.transforms.rejects import Reject

SEPARATOR = " ||| "
DIRECTIONS = {"forward": ("source", "target"), "reverse": ("target", "source")}
"""For each direction, the side that the program conditions on and the side that it generates."""

Answer = tuple[bytes, dict[int, tuple[str, str]]]
"""Links as source-target, one line for each pair; and the reason and detail of each pair given up,
by line. The links of such a pair are empty."""


def joined(source: list[str], target: list[str]) -> dict[str, str]:
    """Return the file ``text`` with lines ``source ||| target``."""
    pairs = zip(source, target, strict=True)
    return {"text": "".join(f"{one}{SEPARATOR}{other}\n" for one, other in pairs)}


def sides(source: list[str], target: list[str]) -> dict[str, str]:
    """Return the files ``source`` and ``target``."""
    return {
        "source": "".join(f"{line}\n" for line in source),
        "target": "".join(f"{line}\n" for line in target),
    }


def numbered_files(source: list[str], target: list[str]) -> dict[str, str]:
    """Return the files of GIZA++ and mkcls for both directions.

    Words are passed as numbers, which the programs use anyway, so no word can be mistaken for the
    files' own markup.
    """
    numbers = {"source": numbered(source), "target": numbered(target)}
    files = {}
    for side, sentences in numbers.items():
        files[f"{side}.vcb"] = vocabulary_text(sentences)
        files[side] = "".join(f"{' '.join(f'w{word}' for word in words)}\n" for words in sentences)
    for direction, (one, other) in DIRECTIONS.items():
        files[f"{direction}.snt"] = sentences_text(numbers[one], numbers[other])
        files[f"{direction}.cooc"] = cooccurrence_text(numbers[one], numbers[other])
    return files


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


def sentences_text(sources: list[list[int]], targets: list[list[int]]) -> str:
    """Return sentence pairs as GIZA++ reads them: a count, the given side, the other side."""
    return "".join(
        f"1\n{' '.join(map(str, source))}\n{' '.join(map(str, target))}\n"
        for source, target in zip(sources, targets, strict=True)
    )


def cooccurrence_text(sources: list[list[int]], targets: list[list[int]]) -> str:
    """Return the words that co-occur in a pair, sorted; the empty word 0 co-occurs with all."""
    met = {
        (word, other)
        for source, target in zip(sources, targets, strict=True)
        for other in set(target)
        for word in (0, *set(source))
    }
    return "".join(f"{word} {other}\n" for word, other in sorted(met))


def read_links(data: bytes) -> Answer:
    """Read links that are Pharaoh text already."""
    return data, {}


def read_fast_align(data: bytes) -> Answer:
    """Read the links of ``source ||| target ||| links ||| score`` lines.

    Raises:
        WorkerError: A line has another form.
    """
    lines = []
    for line in data.splitlines():
        fields = line.split(b"|||")
        if len(fields) != 4:
            raise WorkerError(
                f"fast_align: expected 'source ||| target ||| links ||| score', found {line[:80]!r}"
            )
        lines.append(fields[2].strip() + b"\n")
    return b"".join(lines), {}


def fast_align_settings(printed: bytes) -> dict[str, str]:
    """Parse the fitted values that fast_align prints but leaves out of its parameters.

    Raises:
        WorkerError: It does not print them.
    """
    settings = {}
    for line in printed.decode("utf-8", "replace").splitlines():
        if "expected target length" in line:
            settings["length_ratio"] = line.split()[-1]
        elif "final tension" in line:
            settings["tension"] = line.split()[-1]
    if len(settings) != 2:
        raise WorkerError(
            "fast_align did not print its tension and its ratio of lengths; is --program_path the "
            "fast_align that knows -p and -f?"
        )
    return settings


def read_simalign(data: bytes) -> Answer:
    """Read links, or the sizes of a pair that is too long, as in ``! 600 510``.

    Raises:
        WorkerError: Such a line has another form.
    """
    lines = data.splitlines()
    given_up = {}
    for number, line in enumerate(lines):
        if line.startswith(b"!"):
            words = line.split()
            if len(words) != 3:
                raise WorkerError(
                    f"simalign: expected links or '! pieces room', found {line[:80]!r}"
                )
            detail = f"{int(words[1])} pieces; the encoder's limit is {int(words[2])}"
            given_up[number] = str(Reject.TOO_LONG_FOR_ENCODER), detail
            lines[number] = b""
    return b"".join(line + b"\n" for line in lines), given_up


def read_viterbi(data: bytes, *, turned: bool = False) -> Answer:
    r"""Read ``A3.final`` of GIZA++: three lines per pair, the third with each given word's links.

    Args:
        data: The file.
        turned: Whether the given side is the target.

    Raises:
        WorkerError: The file has another form.

    >>> read_viterbi(b"#\n2 3 4\nNULL ({ }) w2 ({ 1 }) w3 ({ }) w4 ({ 3 2 })\n", turned=True)
    (b'0-0 2-2 1-2\n', {})
    """
    lines = []
    for line in data.decode("utf-8", "replace").splitlines()[2::3]:
        parts = line.split("({")[1:]
        if not parts or not line.startswith("NULL") or not all("})" in part for part in parts):
            raise WorkerError(
                f"GIZA++: expected 'NULL ({{ }}) word ({{ 1 }})', found {line[:80]!r}"
            )
        links = [
            (word, int(number) - 1)
            for word, part in enumerate(parts[1:])
            for number in part.partition("})")[0].split()
        ]
        lines.append(" ".join(f"{b}-{a}" if turned else f"{a}-{b}" for a, b in links) + "\n")
    return "".join(lines).encode(), {}
