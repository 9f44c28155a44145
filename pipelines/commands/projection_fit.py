"""The command ``projection_fit``: a linear map between the languages of an encoder."""

import sys
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import xxhash

from pairweave.models.similarity import scorer_reference, vector_projection
from pairweave.models.similarity.vector_projection import Projection
from pairweave.pipelines.command_line import flags
from pairweave.pipelines.commands.command_options import ProjectionFitOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import files, hashed_files
from pairweave.transforms.storage.text_lines import read_in_step


def main(name: str, arguments: Sequence[str]) -> int:
    """Fit a map from the command line."""
    options = flags.read_command(ProjectionFitOptions, name, arguments)
    if options.encoder is None:
        raise ConfigError("--encoder DIRECTORY, or --encoder OWNER/NAME: give the encoder")
    if files.list_names(options.output):
        raise ConfigError(f"--output {options.output}: is not empty; give a new directory")
    config = scorer_reference.encoder_config(options)
    pairs = sample_pairs(read_pairs(options), options.pairs, options.seed)
    pieces = scorer_reference.load_pieces(config)
    # This needs torch, which `load_pieces` has imported.
    from pairweave.models.similarity.projection_fit import fit_moments

    moments = fit_moments(pairs, pieces, options.pairing)
    if not moments.pairs:
        raise ConfigError(f"{options.source_input}: no pair has pieces on both sides")
    matrix = moments.solve(options.method)
    projection = Projection(
        matrix.astype(np.float32), options.method, pieces.encoder.digest, pieces.encoder.layer
    )
    languages = {
        side: [tag]
        for side in ("source_lang", "target_lang")
        if (tag := getattr(options, side)) is not None
    }
    facts = {
        **languages,
        "pairs": pairs.num_rows,
        "pairing": options.pairing,
        "pieces": moments.pairs,
        "seed": options.seed,
    }
    hashed_files.write(options.output, vector_projection.pack(projection, facts))
    before, after = moments.distance(np.eye(len(matrix))), moments.distance(matrix)
    sys.stdout.write(
        f"{pairs.num_rows:,} pairs, {moments.pairs:,} pairs of pieces; mean squared distance of "
        f"their vectors {before:.4f}, projected {after:.4f}; {options.output} is for "
        "filter --projection\n"
    )
    if moments.pairs < len(matrix):
        sys.stdout.write(
            f"notice: {moments.pairs:,} pairs of pieces do not determine a map of vectors of "
            f"{len(matrix):,} numbers; give more pairs\n"
        )
    return 0


def read_pairs(options: ProjectionFitOptions) -> list[tuple[str, str]]:
    """Read the clean pairs, without those that have a blank side.

    Raises:
        ConfigError: There is no pair.
        InputError: The files have different numbers of lines.
    """
    pairs = []
    for lines in read_in_step(options.source_input, options.target_input):
        source, target = (line.text for line in lines)
        if source.strip() and target.strip():
            pairs.append((source, target))
    if not pairs:
        raise ConfigError(f"{options.source_input}: there is no pair with text on both sides")
    return pairs


def sample_pairs(pairs: list[tuple[str, str]], wanted: int, seed: int) -> pa.Table:
    """Draw pairs by a hash of their texts, independently of their position.

    Args:
        pairs: Source and target of each.
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
