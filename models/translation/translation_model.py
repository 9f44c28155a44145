"""The model, which is an untrained Marian of transformers, and its conversion."""

import json
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors import SafetensorError

from pairweave.models.translation.translation_config import TranslationConfig
from pairweave.models.translation.translation_pairs import END, UNKNOWN, Vocabulary
from pairweave.models.weights.transformers_weights import quiet
from pairweave.transforms.errors import worker_error


def new_model(config: TranslationConfig, vocabulary: Vocabulary, seed: int) -> Any:  # noqa: ANN401
    """Return an untrained model, whose weights depend only on the seed and the sizes."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        with quiet():
            return transformers.MarianMTModel(_config(config, vocabulary))


def _config(config: TranslationConfig, vocabulary: Vocabulary) -> Any:  # noqa: ANN401
    return transformers.MarianConfig(
        vocab_size=len(vocabulary.pieces),
        d_model=config.dimension,
        encoder_layers=config.encoder_layers,
        decoder_layers=config.decoder_layers,
        encoder_attention_heads=config.heads,
        decoder_attention_heads=config.heads,
        encoder_ffn_dim=config.feed_forward,
        decoder_ffn_dim=config.feed_forward,
        max_position_embeddings=config.positions,
        dropout=config.dropout,
        attention_dropout=0.0,
        activation_dropout=0.0,
        activation_function="swish",
        scale_embedding=True,
        # Embeddings are as large as positions once they are scaled; layers are initialized as by
        # Glorot and Bengio (2010). With transformers' 0.02, small models learn the position of a
        # piece long before they learn the piece itself.
        init_std=config.dimension**-0.5,
        static_position_embeddings=True,
        pad_token_id=vocabulary.padding,
        eos_token_id=END,
        decoder_start_token_id=vocabulary.padding,
        forced_eos_token_id=END,
        share_encoder_decoder_embeddings=True,
    )


def convert(model: Any, vocabulary: Vocabulary, directory: Path) -> None:  # noqa: ANN401
    """Write a trained model in the format of CTranslate2, with its SentencePiece model.

    Args:
        model: The model.
        vocabulary: Its vocabulary.
        directory: Where to write it.

    Raises:
        FullError: There is no room for it.
        WorkerError: It cannot be written for another reason.
    """
    try:
        _convert(model, vocabulary, directory)
    except (OSError, SafetensorError) as error:
        raise worker_error(f"{directory}: the model cannot be written: {error}") from error


def _convert(model: Any, vocabulary: Vocabulary, directory: Path) -> None:  # noqa: ANN401
    import ctranslate2

    own = directory / "transformers"
    own.mkdir(parents=True)
    for side in ("source", "target"):
        (own / f"{side}.spm").write_bytes(vocabulary.model)
    numbers = {piece: number for number, piece in enumerate(vocabulary.pieces)}
    (own / "vocab.json").write_text(json.dumps(numbers), encoding="utf-8")
    about = {
        "tokenizer_class": "MarianTokenizer",
        "eos_token": vocabulary.pieces[END],
        "unk_token": vocabulary.pieces[UNKNOWN],
        "pad_token": vocabulary.pieces[-1],
    }
    (own / "tokenizer_config.json").write_text(json.dumps(about), encoding="utf-8")
    with quiet():
        model.eval().to("cpu").save_pretrained(own)
        converter = ctranslate2.converters.TransformersConverter(str(own))
        converter.convert(str(directory / "ctranslate2"))
