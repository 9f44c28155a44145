"""Translating with a trained model, by CTranslate2 with beam search. No torch."""

from collections.abc import Sequence
from pathlib import Path

from pairweave.models.translation.translation_config import TranslationConfig
from pairweave.models.translation.translation_pairs import Vocabulary
from pairweave.transforms.errors import ConfigError

_BATCH_TOKENS = 4_096

_LONGEST = 2.5
"""Maximum length of a translation, in pieces for each piece of the source, so that a model that
repeats itself stops; twelve more pieces are always allowed."""


def too_long(
    vocabulary: Vocabulary, texts: Sequence[str], config: TranslationConfig
) -> tuple[int, int] | None:
    """Return the index and length in pieces of the first text that is too long; None if none is."""
    lengths = map(len, vocabulary.cut(texts))
    long = ((number, pieces) for number, pieces in enumerate(lengths) if pieces > config.positions)
    return next(long, None)


def translate(
    directory: Path,
    vocabulary: Vocabulary,
    texts: Sequence[str],
    config: TranslationConfig,
    device: str,
) -> list[str]:
    """Translate texts, in fp32 and on one thread, so that the result is always the same.

    Args:
        directory: The model in the format of CTranslate2.
        vocabulary: Its vocabulary.
        texts: Sources ``[text]``, none longer than the model's positions (`too_long`).
        config: The width of the beam, and the positions.
        device: The device, as PyTorch names it.

    Returns:
        Their translations ``[text]``; an empty source has an empty translation.

    Raises:
        ConfigError: CTranslate2 is not installed.
    """
    try:
        import ctranslate2
    except ModuleNotFoundError as error:
        raise ConfigError(
            "ablate translates with ctranslate2, which is not installed; install it with: "
            "pip install 'pairweave[ablate]'"
        ) from error
    kind, _, index = device.partition(":")
    translator = ctranslate2.Translator(
        str(directory),
        device=kind,
        device_index=int(index or 0),
        compute_type="float32",
        inter_threads=1,
        intra_threads=1,
    )
    cut = vocabulary.cut(texts)
    order = sorted(range(len(cut)), key=lambda number: (len(cut[number]), number))
    translations = [""] * len(cut)
    batch: list[int] = []
    for number in [*order, -1]:
        if batch and (number < 0 or (len(batch) + 1) * len(cut[number]) > _BATCH_TOKENS):
            longest = min(int(_LONGEST * len(cut[batch[-1]])) + 12, config.positions)
            results = translator.translate_batch(
                [cut[place] for place in batch],
                beam_size=config.beam_size,
                max_decoding_length=longest,
                max_input_length=0,
            )
            for place, result in zip(batch, results, strict=True):
                translations[place] = vocabulary.join(result.hypotheses[0])
            batch = []
        if number >= 0 and len(cut[number]) > 1:
            batch.append(number)
    return translations
