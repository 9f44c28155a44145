"""An encoder's tokenizer: reading it, and checking that it is suitable for alignment."""

import importlib
import sys
from typing import Any

import numpy as np
import transformers

from pairweave.models.weights.transformers_weights import one_line, quiet
from pairweave.models.weights.weights import ModelFiles
from pairweave.transforms.errors import ConfigError

_SENTENCEPIECE = "sentencepiece.sentencepiece_model_pb2"


def read_tokenizer(files: ModelFiles, embeddings: int) -> Any:  # noqa: ANN401
    """Read a tokenizer, which must support offsets.

    Args:
        files: Files of the model.
        embeddings: Number of pieces with a vector in the model.

    Raises:
        ConfigError: There is no tokenizer, it has no offsets or no padding, or it has pieces
            without a vector in the model.
    """
    _let_sentencepiece_be_read()
    try:
        with quiet():
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                files.directory, trust_remote_code=False, local_files_only=True, use_fast=True
            )
    except Exception as error:  # libraries raise any kind
        raise ConfigError(
            f"{files.directory}: no tokenizer: tokenizer.json, or what it is made of, is missing, "
            f"damaged or unknown to transformers: {one_line(error)}"
        ) from error
    if not getattr(tokenizer, "is_fast", False):
        raise ConfigError(
            f"{files.directory}: {type(tokenizer).__name__} gives no offsets; the model needs a "
            "fast tokenizer (tokenizer.json)"
        )
    # Without its file, transformers creates an empty tokenizer.
    if len(tokenizer) <= len(set(tokenizer.all_special_ids)):
        raise ConfigError(
            f"{files.directory}: no tokenizer: its vocabulary is empty; tokenizer.json or the "
            "vocabulary's own file is missing"
        )
    if tokenizer.pad_token_id is None:
        raise ConfigError(
            f"{files.directory}: the tokenizer has no padding token; set pad_token in "
            "tokenizer_config.json"
        )
    # A piece without a vector is an error of its pair on a CPU, and of the whole process on a GPU.
    most = max(tokenizer.get_vocab().values())
    if most >= embeddings:
        raise ConfigError(
            f"{files.directory}: the tokenizer belongs to another model: it makes pieces up to "
            f"number {most}, and config.json says vocab_size {embeddings}"
        )
    return tokenizer


def backend_of(tokenizer: Any) -> Any:  # noqa: ANN401
    """Return the `tokenizers.Tokenizer` inside a tokenizer, without truncation and padding."""
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    return backend


def special_pieces(tokenizer: Any) -> tuple[np.ndarray, np.ndarray]:  # noqa: ANN401
    """Return the special pieces before and after a sequence, int64 each.

    Raises:
        ConfigError: They cannot be distinguished from pieces of text.
    """
    bare = tokenizer("a", add_special_tokens=False)["input_ids"]
    dressed = tokenizer("a", add_special_tokens=True)["input_ids"]
    for start in range(len(dressed) - len(bare) + 1):
        if dressed[start : start + len(bare)] == bare:
            ends = dressed[:start], dressed[start + len(bare) :]
            return np.array(ends[0], dtype=np.int64), np.array(ends[1], dtype=np.int64)
    raise ConfigError(f"{tokenizer.name_or_path}: cannot tell its special tokens: {dressed}")


def _let_sentencepiece_be_read() -> None:
    """Enable transformers to read SentencePiece models, for mDeBERTa and others.

    The messages in SentencePiece's package may require a newer release of Protocol Buffers than
    Beam allows. Those in transformers have the same file format and work with any release, so they
    replace messages that cannot be imported.
    """
    from google.protobuf.runtime_version import VersionError

    try:
        importlib.import_module(_SENTENCEPIECE)
    except (ImportError, VersionError):
        own = importlib.import_module("transformers.utils.sentencepiece_model_pb2_new")
        sys.modules[_SENTENCEPIECE] = own
