"""Documents in two languages whose alignment is known."""

import numpy as np

from pairweave.transforms.kernels.sampling import below, draw
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.units import CorpusInput
from tests.makers.corpora import sentence


def _draw(number, step, size):
    return below(np.uint64(draw(*map(np.uint64, (11, number, 0, step)))), size)


def document(first, count):
    """Return source paragraphs, target paragraphs and gold beads of about so many sentences.

    Of ten places one has a sentence more in the source, one in the target, one two sentences for
    one on either side. Every fifth place ends a paragraph on both sides.
    """
    sides, beads = ([[]], [[]]), []
    sizes = [0, 0]
    for place in range(count):
        english, german = sentence(first + 3 * place)
        more, other = sentence(first + 3 * place + 1)
        kind = _draw(first + place, 1, 10)
        texts = {
            0: ([english, more], [f"{german[:-1]} und {other}"]),
            1: ([f"{english[:-1]} and {more}"], [german, other]),
            2: ([english], []),
            3: ([], [german]),
        }.get(kind, ([english], [german]))
        bead = []
        for side in range(2):
            sides[side][-1].extend(texts[side])
            bead.append(tuple(range(sizes[side], sizes[side] + len(texts[side]))))
            sizes[side] += len(texts[side])
        beads.append(tuple(bead))
        if place % 5 == 4 and all(paragraphs[-1] for paragraphs in sides):
            for paragraphs in sides:
                paragraphs.append([])
    return *sides, beads


def document_unit(directory, sides):
    """Write a document pair, and return its unit.

    Args:
        directory: Where ``d.en`` and the like are written.
        sides: The lines of both sides, by language.
    """
    paths = {language: directory / f"d.{language}" for language in sides}
    for language, lines in sides.items():
        paths[language].write_text("".join(f"{line}\n" for line in lines))
    (source, source_path), (target, target_path) = paths.items()
    corpus = CorpusInput(
        source_lang=source,
        target_lang=target,
        source_input=(str(source_path),),
        target_input=(str(target_path),),
    )
    (unit,) = make_plan([corpus], documents=True).units
    return unit


def write_documents(directory, counts):
    """Write ``0.en``, ``0.de``, ``1.en`` and so on; return the gold beads of each document."""
    gold = []
    for number, count in enumerate(counts):
        *sides, beads = document(10_000 * number, count)
        for name, paragraphs in zip(("en", "de"), sides, strict=True):
            text = "\n".join("".join(f"{line}\n" for line in lines) for lines in paragraphs)
            (directory / f"{number}.{name}").write_text(text, encoding="utf-8")
        gold.append(beads)
    return gold
