"""Symbols of tags as whole pieces of SentencePiece models and Hugging Face tokenizers."""

import functools
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import sentencepiece

from pairweave.models.model_directory import require_regular
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import files

CONTEXTS = ("{}", "{} ", " {}", "{} x", "x {}", "x {} x", "x{}", "{}x", "x{}x", "{0}{0}", ".{},")
"""Contexts in which a symbol must be one piece."""

NORMAL, USER_DEFINED, UNUSED = 1, 4, 5
"""Types of pieces in sentencepiece_model.proto."""

SPACE = "\u2581"  # what SentencePiece writes for a space

# Fields of sentencepiece_model.proto by message: number, type, label, and the message it holds. All
# other fields are kept as they are.
_FIELDS: dict[str, dict[str, tuple[int, str, str, str | None]]] = {
    "Piece": {
        "piece": (1, "STRING", "OPTIONAL", None),
        "score": (2, "FLOAT", "OPTIONAL", None),
        "type": (3, "INT32", "OPTIONAL", None),
    },
    "Trainer": {
        "vocab_size": (4, "INT32", "OPTIONAL", None),
        "user_defined_symbols": (31, "STRING", "REPEATED", None),
    },
    "Model": {
        "pieces": (1, "MESSAGE", "REPEATED", "Piece"),
        "trainer_spec": (2, "MESSAGE", "OPTIONAL", "Trainer"),
    },
}


@functools.cache
def model_class() -> Any:  # noqa: ANN401 - a class made at run time
    """Return a message class for SentencePiece models, with the fields that are edited here.

    The class that comes with SentencePiece requires the release of Protocol Buffers that it was
    generated with; this one works with any.
    """
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(
        name="pairweave/sentencepiece_model.proto", package="pairweave", syntax="proto2"
    )
    for name, fields in _FIELDS.items():
        message = file.message_type.add(name=name)
        for field, (number, kind, label, message_type) in fields.items():
            message.field.add(
                name=field,
                number=number,
                type=kinds.Type.Value(f"TYPE_{kind}"),
                label=kinds.Label.Value(f"LABEL_{label}"),
                type_name=f".pairweave.{message_type}" if message_type else None,
            )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("pairweave.Model"))


def extend_sentencepiece(model: bytes, symbols: Sequence[str]) -> bytes:
    """Return a SentencePiece model with user-defined symbols added after its pieces.

    All pieces keep their numbers. A symbol that is already a piece becomes user-defined; one that
    is already user-defined is left as it is.

    Args:
        model: A serialized model.
        symbols: Texts that must never be split.

    Raises:
        ConfigError: It is not a model, or a symbol would be split in some context.
    """
    _load(model)
    message = model_class().FromString(model)
    pieces = {piece.piece: piece for piece in message.pieces}
    for symbol in symbols:
        name = symbol.replace(" ", SPACE)
        piece = pieces.get(name)
        if piece is None:
            piece = message.pieces.add(piece=name, score=0.0, type=NORMAL)
            pieces[name] = piece
        if piece.type == USER_DEFINED:
            continue
        if piece.HasField("type") and piece.type != NORMAL:
            raise ConfigError(
                f"{symbol!r} has a special meaning in the SentencePiece model, as <s> does; "
                "choose another representation"
            )
        piece.type = USER_DEFINED
        message.trainer_spec.user_defined_symbols.append(name)
    message.trainer_spec.vocab_size = len(message.pieces)
    extended = message.SerializeToString()
    processor = _load(extended)
    check_whole(
        symbols,
        lambda text: [piece.replace(SPACE, " ") for piece in processor.encode(text, out_type=str)],
        "the SentencePiece model",
    )
    return extended


def _load(model: bytes) -> Any:  # noqa: ANN401 - sentencepiece has no types
    try:
        return sentencepiece.SentencePieceProcessor(model_proto=model)
    except (RuntimeError, OSError) as error:
        raise ConfigError(f"this is not a SentencePiece model: {error}") from error


def check_whole(
    symbols: Sequence[str], pieces_of: Callable[[str], Sequence[str]], what: str
) -> None:
    """Check that each symbol is exactly one piece in every context (`CONTEXTS`).

    Args:
        symbols: The symbols.
        pieces_of: Returns the pieces of a text, as they are written in it.
        what: The thing that splits the text, for the message.

    Raises:
        ConfigError: A symbol is split; names it and the text.
    """
    for symbol in symbols:
        for context in CONTEXTS:
            text = context.format(symbol)
            pieces = pieces_of(text)
            if pieces.count(symbol) != text.count(symbol):
                raise ConfigError(
                    f"{what} splits {symbol!r} in {text!r} into {' | '.join(pieces)}; its "
                    "normalization may change the symbol: choose another representation"
                )


def extend_tokenizer(directory: str, symbols: Sequence[str], output: str) -> dict[str, int]:
    """Write a Hugging Face tokenizer with symbols added after its tokens.

    Args:
        directory: A local directory with a tokenizer.
        symbols: Texts that must never be split.
        output: Directory of the new tokenizer; must not be the same.

    Returns:
        The number of added tokens, and the number of all tokens, to which the rows of a model's
        embeddings must be resized.

    Raises:
        ConfigError: There is no tokenizer, one of its files is not a regular file, or a symbol
            would be split in some context.
    """
    if not Path(directory).is_dir():
        raise ConfigError(f"{directory}: is not a directory with a tokenizer")
    require_regular(Path(directory))
    if os.path.realpath(directory) == os.path.realpath(output):
        raise ConfigError(
            f"{output}: is the tokenizer's own directory; give another one to write to"
        )
    try:
        from transformers import AddedToken, AutoTokenizer
    except ImportError as error:
        raise ConfigError(
            "tokenizers need the extra neural: pip install 'pairweave[neural]'"
        ) from error
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            directory, trust_remote_code=False, local_files_only=True
        )
    except (OSError, ValueError) as error:
        raise ConfigError(f"{directory}: contains no tokenizer: {error}") from error
    special = sorted({*tokenizer.all_special_tokens} & {*symbols})
    if special:
        raise ConfigError(
            f"{special[0]!r} has a special meaning in the tokenizer {directory}; choose another "
            "representation"
        )
    added = tokenizer.add_tokens(
        [
            AddedToken(symbol, single_word=False, lstrip=False, rstrip=False, normalized=False)
            for symbol in symbols
        ]
    )
    check_whole(
        symbols,
        lambda text: tokenizer.convert_ids_to_tokens(
            tokenizer(text, add_special_tokens=False)["input_ids"]
        ),
        f"the tokenizer {directory}",
    )
    tokenizer.save_pretrained(output)
    return {"added": added, "tokens": len(tokenizer)}


def write_sentencepiece(path: str, symbols: Sequence[str], output: str) -> dict[str, int]:
    """Write a SentencePiece model with symbols added (`extend_sentencepiece`).

    Returns:
        The number of added pieces, and the number of all pieces.

    Raises:
        ConfigError: The file is not a model, or a symbol would be split in some context.
    """
    model = files.read_bytes(path)
    try:
        extended = extend_sentencepiece(model, symbols)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error
    files.write_bytes(output, extended)
    before, after = (_load(content).get_piece_size() for content in (model, extended))
    return {"added": after - before, "pieces": after}
