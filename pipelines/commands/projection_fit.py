"""The command ``projection_fit``: a linear map between the languages of an encoder."""

from typing import Annotated

import numpy as np
from pydantic import Field

from pairweave.models.similarity import scorer_reference, vector_projection
from pairweave.models.similarity.clean_pairs import read_pairs, sample_pairs
from pairweave.models.similarity.similarity_options import (
    Pairing,
    ProjectionKind,
    SimilarityEncoderOptions,
)
from pairweave.models.similarity.vector_projection import Projection
from pairweave.pipelines.command_line.command_function import command
from pairweave.pipelines.commands.command_options import PairSeed
from pairweave.pipelines.options.base import Language
from pairweave.pipelines.process import terminal
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_places import CORPUS_FILES, OUTPUT_DIRECTORY
from pairweave.transforms.storage import files, hashed_files


@command()
def main(
    *,
    vectors: SimilarityEncoderOptions,
    source_input: Annotated[
        str, CORPUS_FILES, "clean text, one sentence per line [.gz .zst .xz .bz2]"
    ],
    target_input: Annotated[str, CORPUS_FILES, "its translation, line by line"],
    source_lang: Annotated[
        Language | None,
        "BCP 47 tag of the source language; with it, filter refuses the map for pairs in other "
        "languages",
    ] = None,
    target_lang: Annotated[
        Language | None,
        "BCP 47 tag of the target language; with it, filter refuses the map for pairs in other "
        "languages",
    ] = None,
    pairs: Annotated[
        int, Field(ge=1), "pairs to fit on, drawn by a hash of their texts and the seed"
    ] = 5_000,
    method: Annotated[
        ProjectionKind,
        "orthogonal: the best rotation (and reflection), which leaves similarities within the "
        "source as they are; least_squares: the best linear map",
    ] = "orthogonal",
    pairing: Annotated[
        Pairing,
        "pieces to fit on: mutual, those that are each other's most similar; argmax, each source "
        "piece and the target piece most similar to it (NRC at WMT20)",
    ] = "mutual",
    seed: PairSeed = 1,
    output: Annotated[
        str, OUTPUT_DIRECTORY, Field(min_length=1), "directory of the map, for filter --projection"
    ],
) -> int:
    """Fit a map from the command line."""
    if vectors.encoder is None:
        raise ConfigError("--encoder DIRECTORY, or --encoder OWNER/NAME: give the encoder")
    if files.list_names(output):
        raise ConfigError(f"--output {output}: is not empty; give a new directory")
    config = scorer_reference.encoder_config(vectors)
    drawn = sample_pairs(read_pairs(source_input, target_input), pairs, seed)
    pieces = scorer_reference.load_pieces(config)
    # This needs torch, which `load_pieces` has imported.
    from pairweave.models.similarity.projection_fit import fit_moments

    moments = fit_moments(drawn, pieces, pairing)
    if not moments.pairs:
        raise ConfigError(f"{source_input}: no pair has pieces on both sides")
    matrix = moments.solve(method)
    projection = Projection(
        matrix.astype(np.float32), method, pieces.encoder.digest, pieces.encoder.layer
    )
    tags = {"source_lang": source_lang, "target_lang": target_lang}
    languages = {side: [tag] for side, tag in tags.items() if tag is not None}
    facts = {
        **languages,
        "pairs": drawn.num_rows,
        "pairing": pairing,
        "pieces": moments.pairs,
        "seed": seed,
    }
    hashed_files.write(output, vector_projection.pack(projection, facts))
    before, after = moments.distance(np.eye(len(matrix))), moments.distance(matrix)
    terminal.say(
        f"{drawn.num_rows:,} pairs, {moments.pairs:,} pairs of pieces; mean squared distance of "
        f"their vectors {before:.4f}, projected {after:.4f}; {output} is for "
        "filter --projection"
    )
    if moments.pairs < len(matrix):
        terminal.say(
            f"notice: {moments.pairs:,} pairs of pieces do not determine a map of vectors of "
            f"{len(matrix):,} numbers; give more pairs"
        )
    return 0
