"""One of each: a rule and a scorer of ``filter``, a word aligner, a tokenizer, a format."""

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Links = list[list[tuple[int, int, float]]]
Tokens = list[list[tuple[int, int]]]


class Shouting:
    """The difference between the shares of capitals in the letters of both sides, from 0 to 1.

    Letters without case, such as those of Chinese, do not count; a side without others has 0.
    """

    about = "difference between the sides' shares of capital letters"
    limit = 0.5
    least = False

    def measure(self, pairs: pa.Table) -> np.ndarray:
        """Return the difference for each pair, float32 ``[pair]``."""
        source, target = (_capitals(pairs.column(side)) for side in ("source", "target"))
        return np.abs(source - target)


def _capitals(texts: pa.ChunkedArray) -> np.ndarray:
    """Return the share of capitals in the letters of each text, float32 ``[text]``."""
    upper, lower = (
        pc.count_substring_regex(texts, pattern).to_numpy() for pattern in (r"\p{Lu}", r"\p{Ll}")
    )
    return (upper / np.maximum(upper + lower, 1)).astype(np.float32)


class Lengths:
    """How alike the lengths of both sides are: the shorter one's share of the longer one."""

    about = "length of the shorter side by that of the longer one, from 0 to 1"

    def score(self, pairs: pa.Table) -> np.ndarray:
        """Return the share for each pair, float32 ``[pair]``; two empty sides have 1."""
        source, target = (
            pc.utf8_length(pairs.column(side)).to_numpy() for side in ("source", "target")
        )
        shorter, longer = np.minimum(source, target), np.maximum(source, target)
        return np.where(longer == 0, 1, shorter / np.maximum(longer, 1)).astype(np.float32)


class Diagonal:
    """Links each token with the one in the same place of the other side.

    The place is relative to the length, and the probability is less the further apart both are.
    """

    about = "by relative place (no model)"

    def align(self, pairs: pa.Table) -> tuple[Links, Links]:
        """Return the links of both directions, as (source, target, probability)."""
        sides = [pairs.column(name).to_pylist() for name in ("source_tokens", "target_tokens")]
        forward = [_nearest(source, target) for source, target in zip(*sides, strict=True)]
        reverse = [
            [(there, here, probability) for here, there, probability in _nearest(target, source)]
            for source, target in zip(*sides, strict=True)
        ]
        return forward, reverse


def _nearest(tokens: list[str], others: list[str]) -> list[tuple[int, int, float]]:
    """Return for each token the one of the other side at the nearest relative place."""
    if not others:
        return []
    places = [number * len(others) / len(tokens) for number in range(len(tokens))]
    return [(number, int(place), 1 - place % 1 / 2) for number, place in enumerate(places)]


class Characters:
    """Each character that is no white space is a token."""

    about = "characters"

    def cut(self, texts: pa.StringArray, languages: pa.StringArray) -> Tokens:
        """Return the range of each character, whatever the language."""
        assert len(texts) == len(languages)
        return [
            [(place, place + 1) for place, character in enumerate(text) if not character.isspace()]
            for text in texts.to_pylist()
        ]


class Blocks:
    """Text with a source line, a target line and an empty line for each pair."""

    about = "a source line, a target line and an empty line for each pair, in UTF-8"

    def read(
        self, file: BinaryIO, source_lang: str, target_lang: str
    ) -> Iterator[tuple[str | None, str | None]]:
        """Yield the pairs; a block of one line has no target.

        Raises:
            ValueError: A block has more than two lines.
        """
        block: list[str] = []
        for number, raw in enumerate(file, 1):
            line = raw.decode().rstrip("\r\n")
            if len(block) == 2 and line:
                raise ValueError(
                    f"line {number}: expected an empty line behind the {source_lang} line and the "
                    f"{target_lang} line"
                )
            if line:
                block.append(line)
            elif block:
                yield block[0], block[1] if len(block) == 2 else None
                block = []
        if block:
            yield block[0], block[1] if len(block) == 2 else None


SHOUTING = Shouting()
LENGTHS = Lengths()
DIAGONAL = Diagonal()
CHARACTERS = Characters()
BLOCKS = Blocks()
