"""The vocabulary that all models of an ablation share."""

import hashlib
from pathlib import Path

import orjson
import pyarrow.parquet as pq
import sentencepiece

from pairweave.models.subwords.symbol_pieces import extend_sentencepiece
from pairweave.models.subwords.symbol_training import train_with_symbols
from pairweave.pipelines.ablation.ablation_config import Ablation
from pairweave.pipelines.ablation.ablation_files import VocabularyAbout
from pairweave.pipelines.ablation.tasks import task_of
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import files
from pairweave.transforms.storage.json_files import read_model
from pairweave.transforms.symbols.raw_tags import RAW_CHARACTERS


def shared_vocabulary(ablation: Ablation, path: Path, text: Path) -> bytes:
    """Return a SentencePiece model with the symbols of the task; make it unless it exists.

    Args:
        ablation: The task, and a number of pieces or a model to which the symbols are added.
        path: The file of the model.
        text: The file of pairs on which a new model is trained.

    Raises:
        ConfigError: The given model cannot be read, a new model cannot be trained, the model has
            no pieces for the raw tags of an arm, or its file is damaged or not the one that was
            made.
    """
    raw = next((name for name, arm in ablation.arms.items() if arm.raw_tags), None)
    characters = RAW_CHARACTERS if raw is not None else ""
    is_made = path.exists()
    model = path.read_bytes() if is_made else _new_model(ablation, text, characters)
    processor = _loaded(model, path)
    about, digest = path.with_suffix(".json"), hashlib.sha256(model).hexdigest()
    is_known = is_made and about.exists()  # earlier versions wrote no digest
    if is_known:
        _require_digest(digest, about, path)
    _require_pieces(processor, characters, f"arms.{raw}.raw_tags")
    if not is_known:
        # Before the model: a run that ends between the two makes both again.
        files.write_bytes(str(about), orjson.dumps({"sha256": digest}))
    if not is_made:
        files.write_bytes(str(path), model)
    return model


def _require_digest(digest: str, about: Path, path: Path) -> None:
    """Check that a model is the one that was made."""
    wanted = read_model(str(about), VocabularyAbout).sha256
    if digest != wanted:
        raise ConfigError(
            f"{path}: is not the vocabulary that was made for this directory: expected SHA-256 "
            f"{wanted}, found {digest}; put that file back, or delete this one to make it again"
        )


def check_given(ablation: Ablation) -> None:
    """Check that the model that a configuration names can be read, before hours of other work.

    Raises:
        ConfigError: It cannot.
    """
    if isinstance(ablation.vocabulary, str):
        _extended(ablation.vocabulary, list(task_of(ablation).symbols))


def _extended(path: str, symbols: list[str]) -> bytes:
    """Return a given model with more symbols."""
    try:
        return extend_sentencepiece(files.read_bytes(path), symbols)
    except OSError as error:
        raise ConfigError(f"vocabulary: {path}: cannot be read: {error.strerror}") from error
    except ConfigError as error:
        raise ConfigError(f"vocabulary: {path}: {error}") from error


def _new_model(ablation: Ablation, text: Path, characters: str) -> bytes:
    """Return the given model, or a model trained on a text, with the symbols of the task."""
    task = task_of(ablation)
    listed = list(task.symbols)
    if isinstance(ablation.vocabulary, str):
        return _extended(ablation.vocabulary, listed)
    table = pq.read_table(text)
    sides = [table.column(side).to_pylist() for side in ("source", "target")]
    texts = dict.fromkeys(task.words(one) for side in sides for one in side)
    return train_with_symbols(texts, listed, ablation.vocabulary, "unigram", characters)


def _loaded(model: bytes, path: Path) -> sentencepiece.SentencePieceProcessor:
    """Return the processor of a model, which was read from a file or will be written to it.

    Raises:
        ConfigError: The model is damaged.
    """
    processor = sentencepiece.SentencePieceProcessor()
    try:
        processor.LoadFromSerializedProto(model)
        processor.GetPieceSize()
    except RuntimeError as error:
        raise ConfigError(
            f"{path}: is damaged, because it is not a SentencePiece model; delete it to make it "
            "again"
        ) from error
    return processor


def _require_pieces(
    processor: sentencepiece.SentencePieceProcessor, characters: str, field: str
) -> None:
    """Check that a model has a piece for each of these characters."""
    for character in characters:
        if processor.unk_id() in processor.encode(character):
            raise ConfigError(
                f"{field}: the vocabulary has no piece for {character!r}, so models could not "
                "write tags; give vocabulary a number of pieces and the command a new --output, or "
                "leave raw_tags out"
            )
