"""A small corpus from an artificial grammar, with every kind of bad row."""

import numpy as np

from pairweave.transforms.kernels.sampling import below, draw

NOUNS = {"house": "Haus", "dog": "Hund", "tree": "Baum", "book": "Buch", "train": "Zug"}
NOUNS |= {"river": "Fluss", "cloud": "Wolke", "teacher": "Lehrer", "window": "Fenster"}
ADJECTIVES = {"red": "rote", "old": "alte", "small": "kleine", "quiet": "stille", "new": "neue"}
VERBS = {"sees": "sieht", "finds": "findet", "follows": "folgt", "likes": "mag", "paints": "malt"}
ADVERBS = {"today": "heute", "often": "oft", "never": "nie", "slowly": "langsam"}


def sentence(number):
    """Return one sentence and its translation, decided by its number."""
    drawn = [np.uint64(draw(*map(np.uint64, (7, number, 0, step)))) for step in range(7)]

    def pick(words, bits):
        return list(words.items())[below(bits, len(words))]

    one, two = pick(NOUNS, drawn[0]), pick(NOUNS, drawn[1])
    first, second = pick(ADJECTIVES, drawn[2]), pick(ADJECTIVES, drawn[3])
    verb, adverb = pick(VERBS, drawn[4]), pick(ADVERBS, drawn[5])
    count = below(drawn[6], 90) + 10
    english = (
        f"The {first[0]} {one[0]} {adverb[0]} {verb[0]} the {second[0]} {two[0]}, {count} times."
    )
    german = f"Das {first[1]} {one[1]} {verb[1]} {adverb[1]} das {second[1]} {two[1]}, {count} Mal."
    return english, german


def troubles():
    """Return pairs that must be rejected, as bytes, one of each kind that text can show."""
    return [
        (b"", b"leer"),
        (b"blank", b" \t "),
        (b"bad \xff byte", b"schlechtes Byte"),
        (b"bell \x07", b"Glocke"),
        (b"one word", b"ein sehr viel zu langer Satz auf der anderen Seite"),
        (b"a tag <a_3> in it", b"mit einem Tag <a_3> darin"),
        (b"x" * 101, b"y" * 101),
    ]


def write_corpus(directory, pairs):
    """Write ``corpus.en`` and ``corpus.de`` with troubles and duplicates among the pairs."""
    lines = [tuple(text.encode() for text in sentence(number)) for number in range(pairs)]
    for position, trouble in enumerate(troubles()):
        lines.insert(position * pairs // 8, trouble)
    lines.append(lines[5])
    for side, name in enumerate(("corpus.en", "corpus.de")):
        (directory / name).write_bytes(b"".join(line[side] + b"\n" for line in lines))
    return len(lines)
