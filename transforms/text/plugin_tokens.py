"""Cuts texts with another package's tokenizer in a run."""

import itertools
from collections.abc import Sequence
from typing import cast

import numpy as np
import pyarrow as pa

from pairweave.transforms.plugins.entry_points import Plugin, load_plugin, raised
from pairweave.transforms.plugins.returned_numbers import returned_tuples
from pairweave.transforms.plugins.tokenizer import TOKENIZER, Tokenizer

_EXPECTED = (
    "for each text a list of tokens (start, end) in code points, ascending, disjoint, not empty, "
    "without white space at their ends"
)


def cut(
    plugin: Plugin, texts: pa.Array | pa.ChunkedArray, languages: Sequence[str]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cut texts into the tokens of a plugin.

    Args:
        plugin: The tokenizer.
        texts: Texts without nulls ``[text]``.
        languages: The language tag of each ``[text]``.

    Returns:
        Start of each text's tokens, int64 ``[text + 1]``, and the tokens' starts and ends, int32
        ``[token]``.

    Raises:
        ConfigError: The tokenizer cannot be loaded here, raises an error, or returns ranges that
            are not tokens of these texts.
    """
    tokenizer = cast("Tokenizer", load_plugin(plugin, TOKENIZER))
    strings = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    strings = strings.cast(pa.string())
    try:
        cuts = tokenizer.cut(strings, pa.array(languages, pa.string()))
        returned = [list(each) for each in cuts]
    except (MemoryError, KeyboardInterrupt):
        raise
    except BaseException as error:  # a panic of Rust is not an Exception
        raise _failed(plugin, raised(error)) from error
    if len(returned) != len(strings):
        raise _failed(plugin, f"returned tokens of {len(returned)} texts for {len(strings)}")
    try:
        sizes, flat = returned_tuples(returned, 2, "tokens")
    except ValueError as error:
        raise _failed(plugin, str(error)) from error
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    tokens = flat.tolist()
    for number, text in enumerate(strings.to_pylist()):
        wrong = _fault(text, tokens[offsets[number] : offsets[number + 1]])
        if wrong is not None:
            shown = ", ".join(f"{place:g}" for place in wrong)
            raise _failed(plugin, f"returned the token ({shown}) of the text {text[:80]!r}")
    starts, ends = flat.astype(np.int32).T
    return offsets, starts, ends


def _fault(text: str, tokens: Sequence[Sequence[float]]) -> tuple[float, float] | None:
    """Return the first range that is not a token of its text."""
    ends = (0, *(end for _, end in tokens))
    for (start, end), before in zip(tokens, itertools.islice(ends, len(tokens)), strict=True):
        inside = before <= start < end <= len(text) and start == int(start) and end == int(end)
        if not inside or text[int(start)].isspace() or text[int(end) - 1].isspace():
            return start, end
    return None


def _failed(plugin: Plugin, what: str) -> Exception:
    return plugin.failed("tokens", "cut", what, _EXPECTED, "give other --tokens")
