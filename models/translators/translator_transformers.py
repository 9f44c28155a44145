"""Translation models of transformers: MarianMT, M2M-100 and NLLB."""

import dataclasses
import json
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
import transformers

from pairweave.models.encoder.encoder import OUT_OF_MEMORY, has_fast_bf16, inference
from pairweave.models.encoder.encoder import digest_of as files_digest
from pairweave.models.translators import translation_pieces
from pairweave.models.translators.piece_translator import Hypothesis, PieceTranslator
from pairweave.models.translators.translation_pieces import END, Languages
from pairweave.models.translators.translator import TranslatorConfig, digest_of
from pairweave.models.weights.transformers_weights import load_model
from pairweave.models.weights.weights import ModelFiles, find_model
from pairweave.transforms.errors import ConfigError

VERSION = 1
"""Increased when the same model and settings give different translations."""

FAMILIES = ("marian", "m2m_100")
"""Values of ``model_type``; NLLB is an ``m2m_100``."""

_TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
_UNKNOWN = "<unk>"


@dataclasses.dataclass(frozen=True)
class Inspected:
    """A model whose weights are not loaded.

    Attributes:
        files: Its files.
        settings: Its configuration (`transformers.PretrainedConfig`).
        digest: The digest that its translator will have.
        languages: Its languages.
        source: Numbers of the source pieces.
        target: Numbers of the target pieces.
    """

    files: ModelFiles
    settings: Any
    digest: str
    languages: Languages
    source: Mapping[str, int]
    target: Mapping[str, int]


def inspect(config: TranslatorConfig) -> Inspected:
    """Inspect a model; hash its weights without loading them.

    Raises:
        ConfigError: There is no such model, its weights are not safetensors, it belongs to another
            family, or it lacks a tokenizer.
    """
    files = find_model(config.model, config.translator_revision)
    try:
        settings = transformers.AutoConfig.from_pretrained(
            files.directory, trust_remote_code=False, local_files_only=True
        )
    except (OSError, ValueError, KeyError) as error:
        raise ConfigError(f"{files.directory}: not a transformers model: {error}") from error
    if settings.model_type not in FAMILIES:
        raise ConfigError(
            f"{files.directory}: a {settings.model_type} model; translators are MarianMT, M2M-100 "
            "and NLLB"
        )
    translation_pieces.load_pieces(files.directory)
    source, target = _vocabularies(files, settings.model_type)
    return Inspected(
        files,
        settings,
        digest_of(config, VERSION, {"all": files_digest(files)}),
        translation_pieces.read_languages(files.directory, source),
        source,
        target,
    )


def load(config: TranslatorConfig, threads: int = 1) -> PieceTranslator:
    """Load a model.

    Args:
        config: Settings of the translator.
        threads: Number of batches that a CPU processes at once, each on one thread.

    Raises:
        ConfigError: See `inspect`; or the weights do not fit, or the device does not support the
            precision.
    """
    inspected = inspect(config)
    return PieceTranslator(
        config,
        _Engine(config, inspected, threads),
        translation_pieces.load_pieces(inspected.files.directory),
        inspected.languages,
        ends_source=True,
        digest=inspected.digest,
    )


class _Engine:
    """Batches through ``generate``."""

    def __init__(self, config: TranslatorConfig, inspected: Inspected, threads: int) -> None:
        self._device = _device(config)
        self.threads = threads if self._device.type == "cpu" else 1
        self._model = _load_model(config, inspected, self._device)
        self._source, self._target = inspected.source, inspected.target
        self._names = {number: piece for piece, number in inspected.target.items()}
        self._end = inspected.target[END]
        self._padding = int(inspected.settings.pad_token_id)
        # Pieces without a name, such as the spare rows of M2M-100's embeddings, are not generated
        # either.
        nameless = set(range(self._model.config.vocab_size)) - self._names.keys()
        special_tokens = {
            self._target[token] for token in inspected.languages.special_tokens(self._target)
        }
        self._special_tokens = sorted({self._padding} | nameless | special_tokens)
        self._no_padding = inspected.settings.model_type == "marian"
        self._start = int(inspected.settings.decoder_start_token_id)
        self.source_limit = self.target_limit = int(inspected.settings.max_position_embeddings)
        self.out_of_memory: tuple[type[BaseException], ...] = OUT_OF_MEMORY

    def search(
        self, sources: list[list[str]], prefix: list[str], beam_size: int, max_tokens: int
    ) -> list[Hypothesis]:
        """Translate a batch."""
        before = self._numbers(prefix, self._target)
        # Complete, so that the beams, lengths and forced ends in the model's own file are ignored.
        settings = transformers.GenerationConfig(
            num_beams=beam_size,
            do_sample=False,
            max_new_tokens=max_tokens,
            length_penalty=1.0,
            # The search stops when as many translations are finished as the beam is wide, as in
            # CTranslate2.
            early_stopping=beam_size > 1,
            decoder_start_token_id=self._start,
            bos_token_id=None,
            eos_token_id=self._end,
            pad_token_id=self._padding,
            suppress_tokens=self._special_tokens,
        )
        ids, mask = self._padded([self._numbers(source, self._source) for source in sources])
        with inference():
            self._model.generation_config = settings
            generated = self._model.generate(
                input_ids=ids,
                attention_mask=mask,
                decoder_input_ids=torch.tensor([[self._start, *before]])
                .repeat(len(ids), 1)
                .to(ids),
            )
        return [self._hypothesis(row) for row in generated[:, 1 + len(before) :].tolist()]

    def force(
        self, sources: list[list[str]], targets: list[list[str]], prefix: list[str]
    ) -> list[float]:
        """Return the mean log-probability of each target's pieces and end symbol."""
        before = self._numbers(prefix, self._target)
        rows = [[*before, *self._numbers(target, self._target), self._end] for target in targets]
        ids, mask = self._padded([self._numbers(source, self._source) for source in sources])
        wanted, inside = self._padded(rows)
        inside[:, : len(before)] = 0
        decoder_input = torch.cat(
            [torch.full_like(wanted[:, :1], self._start), wanted[:, :-1]], dim=1
        )
        with inference():
            logits = self._model(
                input_ids=ids, attention_mask=mask, decoder_input_ids=decoder_input, use_cache=False
            ).logits.float()
            if self._no_padding:  # Marian's own vocabulary has no padding
                logits[..., self._padding] = -torch.inf
            scores = logits.log_softmax(-1).gather(-1, wanted[..., None])[..., 0]
            scores = scores.masked_fill(inside == 0, 0.0)
            means = scores.double().sum(1) / inside.sum(1)
        return means.tolist()

    def free(self) -> None:
        """Return unused memory to the device."""
        if self._device.type == "cuda":
            torch.cuda.empty_cache()

    def _hypothesis(self, row: list[int]) -> Hypothesis:
        ended = self._end in row
        stop = row.index(self._end) if ended else len(row)
        return Hypothesis([self._names[number] for number in row[:stop]], ended)

    def _numbers(self, pieces: Sequence[str], vocabulary: Mapping[str, int]) -> list[int]:
        unknown = vocabulary[_UNKNOWN]
        return [vocabulary.get(piece, unknown) for piece in pieces]

    def _padded(self, rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return rows padded to one width, and 1 for each piece, int64 ``[row, piece]``."""
        width = max(map(len, rows))
        ids = np.full((len(rows), width), self._padding, dtype=np.int64)
        mask = np.zeros((len(rows), width), dtype=np.int64)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = row
            mask[number, : len(row)] = 1
        return torch.from_numpy(ids).to(self._device), torch.from_numpy(mask).to(self._device)


def _device(config: TranslatorConfig) -> torch.device:
    name = config.device
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    device = torch.device(name)
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        count = torch.cuda.device_count()
        raise ConfigError(f"device {name}: this machine has {count} GPUs that torch can use")
    if config.translator_precision == "fp16" and device.type == "cpu":
        raise ConfigError("precision fp16 needs a GPU; on a CPU use fp32 or bf16")
    return device


def _load_model(config: TranslatorConfig, inspected: Inspected, device: torch.device) -> Any:  # noqa: ANN401
    model = load_model(
        transformers.AutoModelForSeq2SeqLM,
        inspected.files.directory,
        _TYPES[config.translator_precision],
    )
    model.eval().requires_grad_(requires_grad=False)
    if config.translator_precision == "bf16" and device.type == "cpu" and not has_fast_bf16():
        model = model.float()  # this CPU's arithmetic is fp32; the weights stay rounded
    return model.to(device)


def _vocabularies(files: ModelFiles, family: str) -> tuple[dict[str, int], dict[str, int]]:
    """Return the numbers of source pieces and of target pieces.

    Raises:
        ConfigError: A vocabulary is missing or lacks the end of a sentence.
    """
    directory = files.directory
    if family == "marian":
        source = translation_pieces.read_object(directory / "vocab.json")
        own = directory / "target_vocab.json"
        target = translation_pieces.read_object(own) if own.is_file() else source
    else:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tokenizer = transformers.AutoTokenizer.from_pretrained(
                    directory, trust_remote_code=False, local_files_only=True
                )
        except (OSError, ValueError, KeyError, json.JSONDecodeError) as error:
            raise ConfigError(f"{directory}: no tokenizer: {error}") from error
        source = {**tokenizer.get_vocab(), **getattr(tokenizer, "lang_token_to_id", {})}
        target = source
    for vocabulary in (source, target):
        missing = [piece for piece in (END, _UNKNOWN) if piece not in vocabulary]
        if missing:
            raise ConfigError(f"{directory}: the vocabulary lacks {missing[0]}")
    return source, target
