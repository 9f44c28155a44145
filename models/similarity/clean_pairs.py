"""Clean pairs of sentences, from which a map between the languages of an encoder is fitted."""

import pyarrow as pa
import xxhash

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage.text_lines import read_in_step


def read_pairs(source_input: str, target_input: str) -> list[tuple[str, str]]:
    """Read the clean pairs, leaving out pairs with a blank side.

    Raises:
        ConfigError: No pair is left.
        InputError: The files have different numbers of lines.
    """
    pairs = []
    for lines in read_in_step(source_input, target_input):
        source, target = (line.text for line in lines)
        if source.strip() and target.strip():
            pairs.append((source, target))
    if not pairs:
        raise ConfigError(f"{source_input}: there is no pair with text on both sides")
    return pairs


def sample_pairs(pairs: list[tuple[str, str]], wanted: int, seed: int) -> pa.Table:
    """Draw pairs by a hash of their texts, independently of their position.

    Args:
        pairs: Source and target of each pair.
        wanted: Number of pairs to draw; all if there are fewer.
        seed: Another seed draws other pairs.

    Returns:
        Columns ``source`` and ``target``, in the order of the draw; equal pairs count once.
    """
    keys = {pair: xxhash.xxh3_64_intdigest("\x1f".join(pair).encode(), seed=seed) for pair in pairs}
    drawn = sorted(keys, key=lambda pair: (keys[pair], pair))[:wanted]
    return pa.table(
        {
            side: pa.array([pair[place] for pair in drawn], pa.string())
            for place, side in enumerate(("source", "target"))
        }
    )
