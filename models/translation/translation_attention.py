"""The attention of a trained translation model to a source while it writes a given translation."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pairweave.models.translation.translation_pairs import Vocabulary
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.links.attention import METHODS
from pairweave.transforms.option_values import require_choice
from pairweave.transforms.storage import files


def default_layer(method: str, layers: int) -> int:
    """Return the layer of the decoder, from 0, whose attention gives the links.

    The penultimate one for ``naive`` (Garg et al. 2019) and the third of six for ``shift`` (Chen et
    al. 2020), both as in Ryu et al. (2022, section 3.3). In a decoder of another depth,
    ``naive`` is the one before the last and ``shift`` the middle one, rounded down; a single layer
    is both.

    >>> [default_layer(method, 6) for method in ("naive", "shift")], default_layer("shift", 1)
    ([4, 2], 0)
    """
    require_choice("method", method, METHODS)
    return max(0, layers - 2 if method == "naive" else (layers - 1) // 2)


def cross_attention(
    model: Any,  # noqa: ANN401 - a Marian model of transformers
    vocabulary: Vocabulary,
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    cut_targets: bool = False,
) -> Iterator[np.ndarray]:
    """Yield the attention of each pair, float32 ``[layer, head, target + 1, source + 1]``.

    Row ``t`` is the step that writes piece ``t`` of the target, the last one the end of the
    sentence; the last column is the end of the source.

    Args:
        model: The model.
        vocabulary: Its vocabulary.
        sources: The sources ``[pair]``.
        targets: Their translations ``[pair]``.
        cut_targets: Whether a target may have more pieces than the model has positions; those
            beyond attend to the end of the source, so nothing is linked with them.

    Raises:
        ConfigError: A side is longer than the model's positions; names the line.
    """
    model.eval()
    model.set_attn_implementation("eager")
    longest = model.config.max_position_embeddings
    both = zip(vocabulary.encode(sources), vocabulary.encode(targets), strict=True)
    for line, (source, target) in enumerate(both, 1):
        pieces = len(source) if cut_targets else max(len(source), len(target))
        if pieces > longest:
            raise ConfigError(
                f"line {line}: has {pieces} pieces, of which the model's "
                f"attention covers {longest}; leave the line out"
            )
        steps = np.insert(target[:-1], 0, vocabulary.padding)[:longest]
        sides = (torch.from_numpy(side.astype(np.int64))[None] for side in (source, steps))
        one, other = (side.to(model.device) for side in sides)
        with torch.no_grad():
            output = model(
                input_ids=one, decoder_input_ids=other, output_attentions=True, use_cache=False
            )
        attention = torch.cat(output.cross_attentions).float().cpu().numpy()
        beyond = len(target) - attention.shape[2]
        if beyond:
            ends = np.zeros((*attention.shape[:2], beyond, len(source)), attention.dtype)
            ends[..., -1] = 1
            attention = np.concatenate([attention, ends], axis=2)
        yield attention


def write_attention(
    path: Path,
    model: Any,  # noqa: ANN401
    vocabulary: Vocabulary,
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    cut_targets: bool = False,
) -> None:
    """Write the attention of pairs to a file that `transforms.links.attention.Attention` reads.

    The arguments after the file are those of `cross_attention`.

    Raises:
        ConfigError: See `cross_attention`.
        OSError: The file cannot be written.
    """
    pairs = cross_attention(model, vocabulary, sources, targets, cut_targets=cut_targets)
    with files.open_write(str(path)) as file:
        np.savez_compressed(file, *pairs)
