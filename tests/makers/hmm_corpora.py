"""Tables of tokens for the aligner's tests, and the error rate of its links."""

import gzip
import re
import unicodedata

import pyarrow as pa

from pairweave.transforms import schemas
from tests.makers import rows

# As `words` cuts English and French, near enough: numbers whole, elided words on their own.
_ENGLISH = re.compile(r"\d+(?:[.,:]\d+)*|['\u2019](?:s|re|ve|ll|d|m)\b|[^\W_]+|\S", re.IGNORECASE)
_FRENCH = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+['\u2019](?=[^\W\d_]{2})|[^\W_]+|\S")


SHUFFLED = range(16_573, 19_576)
"""Lines of ``newstest.en-fr``, from 0, in another order on each side: no translations."""


def translated_lines(stem, lines):
    """Return the lines of a side of a parallel corpus without those that are no translations."""
    shuffled = SHUFFLED if stem == "newstest.en-fr" else ()
    return [line for number, line in enumerate(lines) if number not in shuffled]


def spans(text, pattern=re.compile(r"\S+")):
    """Return the (start, end) of each match in a text: words between spaces by default."""
    return [match.span() for match in pattern.finditer(text)]


def tokens_table(pairs):
    """Return a TOKENS table of (source, source spans, target, target spans)."""
    names = ("start", "end")
    return pa.Table.from_pylist(
        [
            rows.pair(
                row,
                source,
                target,
                source_tokens=[dict(zip(names, span, strict=True)) for span in source_spans],
                target_tokens=[dict(zip(names, span, strict=True)) for span in target_spans],
            )
            for row, (source, source_spans, target, target_spans) in enumerate(pairs)
        ],
        schema=schemas.TOKENS,
    )


def plain_table(pairs):
    """Return a TOKENS table of pairs that are split at blanks."""
    return tokens_table(
        [(source, spans(source), target, spans(target)) for source, target in pairs]
    )


def gold_pairs(shared_data, name):
    """Return the tokenised pairs of a gold set, and its sure and possible links (zero-based).

    There may be fewer rows of links than pairs: the other pairs are text to learn from.
    """
    folder = shared_data / "align"
    links = (folder / f"{name}.gold").read_text(encoding="utf-8").splitlines()
    if not (folder / f"{name}.src-tgt").exists():
        sides = [
            (folder / f"{name}.{side}").read_text(encoding="utf-8").splitlines()
            for side in ("en", "xx")
        ]
        sure = [{tuple(map(int, link.split("-"))) for link in line.split()} for line in links]
        return list(zip(*sides, strict=True)), [(row, row) for row in sure]
    text = (folder / f"{name}.src-tgt").read_text(encoding="utf-8")
    pairs = [tuple(map(str.strip, line.split("|||"))) for line in text.splitlines()]
    gold = []
    for line in links:
        kinds = {
            (int(a) - 1, int(b) - 1): kind for a, kind, b in re.findall(r"(\d+)([-p])(\d+)", line)
        }
        gold.append(({link for link in kinds if kinds[link] == "-"}, set(kinds)))
    return pairs, gold


def english_french_table(pairs):
    """Return a TOKENS table of untokenised English-French pairs."""
    return tokens_table(
        [(one, spans(one, _ENGLISH), other, spans(other, _FRENCH)) for one, other in pairs]
    )


def without_accents(text):
    """Return a text case-folded, compatibly decomposed and without combining marks."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def in_georgian_letters(text):
    """Return a text with each Latin letter exchanged, so that no word is spelled alike."""
    return "".join(
        chr(ord("\u10d0") + ord(letter) - ord("a")) if "a" <= letter <= "z" else letter
        for letter in without_accents(text)
    )


_LATIN = "sch gue gui ch ia io ll ph qu sh th ts ya yu ce ci ge gi x"
_SOUNDS = "ш ге ги ч ия ио ль ф к ш т ц я ю се си хе хи кс"  # noqa: RUF001 - it is Cyrillic
CYRILLIC = {
    **dict(zip(_LATIN.split(), _SOUNDS.split(), strict=True)),
    **dict(zip("abcdefgijklmnopqrstuvwyz", "абкдефгижклмнопкрстуввйз", strict=True)),
    "h": "",
}
"""How letters are written in Cyrillic, much as Spanish names are in Russian."""

_TO_CYRILLIC = re.compile("|".join(sorted(CYRILLIC, key=len, reverse=True)))


def in_cyrillic_letters(text):
    """Return a text with its sounds written in Cyrillic: some letters for two, two for one."""
    return " ".join(
        _TO_CYRILLIC.sub(lambda found: CYRILLIC[found.group()], word) or word
        for word in without_accents(text).split(" ")
    )


_LIKE = str.maketrans({"c": "k", "q": "k", "x": "k", "v": "b", "j": "z", "y": "i", "w": None})
_SYLLABLE = re.compile(r"([bdfghklmnprstz]?)([aeiou])|([bdfghklmnprstz])")


def _in_syllables(text, write):
    """Return a text with each consonant and vowel written as one sign, as loanwords are."""
    return " ".join(
        _SYLLABLE.sub(
            lambda found: write(found[1] or found[3] or "", found[2] or ""), word.translate(_LIKE)
        )
        or word
        for word in without_accents(text).split(" ")
    )


def in_hangul(text):
    """Return a text with its sounds written in Hangul; a consonant alone has the vowel EU."""
    places = (0, 2, 3, 5, 5, 6, 7, 9, 12, 15, 16, 17, 17, 18, 11)
    initials = dict(zip([*"gndrlmbszktpfh", ""], places, strict=True))
    vowels = {"a": 0, "e": 5, "i": 20, "o": 8, "u": 13, "": 18}
    return _in_syllables(
        text, lambda one, two: chr(0xAC00 + (initials[one] * 21 + vowels[two]) * 28)
    )


def in_katakana(text):
    """Return a text with its sounds written in Katakana; a consonant alone has the vowel U."""
    like = {"l": "r", "f": "h", "": ""}
    return _in_syllables(
        text,
        lambda one, two: unicodedata.lookup(
            f"KATAKANA LETTER {like.get(one, one)}{two or 'u'}".upper()
        ),
    )


NEWS = 18_073
"""Pairs of news before the captions in `english_french`."""


def english_french(shared_data):
    """Return the untokenised English-French training text as pairs with spans.

    Without the lines of ``newstest.en-fr`` that are no translations.
    """
    folder = shared_data / "parallel"
    pairs = []
    for english, french in (
        ("newstest.en-fr.en.gz", "newstest.en-fr.fr.gz"),
        ("multi30k.en.gz", "multi30k.fr.gz"),
    ):
        sides = []
        for name in (english, french):
            with gzip.open(folder / name, "rt", encoding="utf-8", newline="\n") as lines:
                sides.append(lines.read().split("\n")[:-1])
        pairs += [
            (one, spans(one, _ENGLISH), other, spans(other, _FRENCH))
            for line, (one, other) in enumerate(zip(*sides, strict=True))
            if line not in SHUFFLED or not english.startswith("newstest")
        ]
    return pairs


def error_rate(links_of_rows, gold):
    """Return the alignment error rate in percent (Och and Ney 2003)."""
    links = sum(len(row) for row in links_of_rows)
    sure = sum(len(row) for row, _ in gold)
    right = sum(
        len(row & possible) + len(row & certain)
        for row, (certain, possible) in zip(links_of_rows, gold, strict=True)
    )
    return 100 * (1 - right / (links + sure))


def link_rows(table, column):
    """Return a column of links as lists of (source token, target token)."""
    return [[(link["source"], link["target"]) for link in row] for row in table[column].to_pylist()]
