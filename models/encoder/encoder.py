"""A multilingual encoder, cut after the layer in use."""

import contextlib
import copy
import dataclasses
import hashlib
import json
import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
import transformers

from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.encoder.encoder_family import NO_LAST_NORM, layer_number, read_family
from pairweave.models.encoder.encoder_tokenizer import backend_of, read_tokenizer, special_pieces
from pairweave.models.weights.transformers_weights import is_no_pooler, load_model, quiet
from pairweave.models.weights.weights import ModelFiles, find_model
from pairweave.transforms.errors import ConfigError

Tensor: TypeAlias = torch.Tensor

OUT_OF_MEMORY: tuple[type[BaseException], ...] = (torch.OutOfMemoryError, MemoryError)

_NO_CPU_MEMORY = "DefaultCPUAllocator: can't allocate memory"

_CPU_BUDGET = 512
"""Number of pieces in a batch on a CPU: more do not fit its caches. It is a constant instead of a
measurement, so that links do not depend on the load of the machine."""

_MAX_BUDGET = 1 << 17
_MEMORY_SHARE = 0.5
_TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}

_log = logging.getLogger(__name__)


@contextlib.contextmanager
def inference() -> Iterator[None]:
    """Compute on this thread without gradients.

    Raises:
        MemoryError: The CPU's memory ran out; torch has no class for it.
    """
    try:
        with torch.inference_mode():
            yield
    except RuntimeError as error:
        if _NO_CPU_MEMORY not in str(error):
            raise
        raise MemoryError(str(error).partition(": ")[2]) from None


@dataclasses.dataclass(frozen=True)
class Encoder:
    """A loaded encoder; `load_encoder` makes it.

    Attributes:
        model: The transformer up to the layer in use.
        tokenizer: A `tokenizers.Tokenizer` that neither truncates nor pads.
        device: Device of the model.
        layer: Number of the layer in use, from the front.
        prefix: Special pieces before a sequence, int64.
        suffix: Special pieces after it, int64.
        padding: The piece used as padding.
        limit: Maximum number of pieces of a sequence, without special ones.
        hidden_size: Length of a vector.
        multiple: Widths of batches are rounded up to this.
        digest: Hex SHA-256 of the model's files.
    """

    model: Any
    tokenizer: Any
    device: torch.device
    layer: int
    prefix: np.ndarray
    suffix: np.ndarray
    padding: int
    limit: int
    hidden_size: int
    multiple: int
    digest: str

    def encode(self, ids: Tensor, mask: Tensor | None) -> Tensor:
        """Return the output of the layer in use.

        Args:
            ids: Pieces with the special ones, padded ``[sequence, piece]``.
            mask: True for pieces, False for padding; None if there is no padding.

        Returns:
            Vectors ``[sequence, piece, hidden]``.
        """
        with inference():
            return self.model(ids, mask)

    def free(self) -> None:
        """Return unused memory to the device."""
        if self.device.type == "cuda":
            torch.cuda.empty_cache()


def load_encoder(config: EncoderConfig) -> Encoder:
    """Load an encoder, with its weights only up to the layer in use.

    Raises:
        ConfigError: There is no such model, its weights are incomplete or not safetensors, it has
            no such layer, or the device does not support the precision.
    """
    device = _device(config)
    files = find_model(config.model, config.revision)
    full = read_family(files)
    layer = layer_number(config, full)
    tokenizer = read_tokenizer(files, full.vocab_size)
    prefix, suffix = special_pieces(tokenizer)
    model = _load_model(files, full, layer, config, device)
    limit = _positions(model, full) - len(prefix) - len(suffix)
    if limit < 1:
        raise ConfigError(
            f"{files.directory / 'config.json'}: max_position_embeddings "
            f"{full.max_position_embeddings} leaves no room for a text"
        )
    return Encoder(
        model=_Layers(model, layer, full),
        tokenizer=backend_of(tokenizer),
        device=device,
        layer=layer,
        prefix=prefix,
        suffix=suffix,
        padding=int(tokenizer.pad_token_id),
        limit=limit,
        hidden_size=int(full.hidden_size),
        multiple=8 if device.type == "cuda" else 1,
        digest=digest_of(files),
    )


def load_tokenizer(config: EncoderConfig) -> Any:  # noqa: ANN401 - a tokenizers.Tokenizer
    """Load only the tokenizer of an encoder, as `Encoder.tokenizer`.

    Raises:
        ConfigError: There is no such model, or its tokenizer cannot be used.
    """
    files = find_model(config.model, config.revision)
    return backend_of(read_tokenizer(files, read_family(files).vocab_size))


def inspect_encoder(config: EncoderConfig) -> tuple[int, str]:
    """Return the number of the layer in use, from the front, and the digest of the model's files.

    The weights are checked by `load_encoder` and the device by `check_device`: this machine may
    have no GPU although the workers have one.

    Raises:
        ConfigError: There is no such model, one of its files is missing, its weights are not
            safetensors, or it has no such layer.
    """
    files = find_model(config.model, config.revision)
    full = read_family(files)
    layer = layer_number(config, full)
    special_pieces(read_tokenizer(files, full.vocab_size))
    return layer, digest_of(files)


def check_device(config: EncoderConfig) -> None:
    """Check that this machine can run an encoder with its settings.

    Raises:
        ConfigError: There is no such device, or it does not support the precision.
    """
    _device(config)
    if config.precision == "int8":
        _quantization()


def digest_of(files: ModelFiles) -> str:
    """Return the hex SHA-256 of the names and contents of a model's files."""
    listed = {}
    for path in (*files.weights, *files.others):
        with path.open("rb") as file:
            listed[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return hashlib.sha256(json.dumps(listed, sort_keys=True).encode()).hexdigest()


def measure_budget(encoder: Encoder) -> int:
    """Return the maximum number of padded pieces in a batch on this device.

    On a GPU, a small and a larger batch of sequences of up to 128 pieces are encoded; the
    difference in peak memory gives the cost of a piece. Half of the free memory is used, and the
    result is rounded down to a power of two, so that small differences in memory do not change it.
    On a CPU it is a constant.
    """
    if encoder.device.type != "cuda":
        return _CPU_BUDGET
    width = max(min(encoder.limit, 128), 1)
    peaks = []
    for rows in (8, 64):
        ids = torch.full((rows, width), encoder.padding, device=encoder.device)
        torch.cuda.reset_peak_memory_stats(encoder.device)
        encoder.encode(ids, torch.ones_like(ids, dtype=torch.bool))
        peaks.append(torch.cuda.max_memory_allocated(encoder.device))
    encoder.free()
    piece_bytes = max((peaks[1] - peaks[0]) / (56 * width), 1.0)
    free_bytes, _ = torch.cuda.mem_get_info(encoder.device)
    most = max(int(_MEMORY_SHARE * free_bytes / piece_bytes), 2)
    return min(1 << (most.bit_length() - 1), _MAX_BUDGET)


def list_of_layers(model: Any, layers: int) -> Any:  # noqa: ANN401
    """Return the list of a model's layers.

    Raises:
        ConfigError: The structure of the family's layers is unknown.
    """
    lists = {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.ModuleList) and len(module) == layers
    }
    # Layers may contain lists as well. Two lists in one module are ambiguous: one may hold the
    # attentions.
    outermost = [name for name in lists if not any(name.startswith(f"{other}.") for other in lists)]
    if len(outermost) != 1:
        raise ConfigError(
            f"{type(model).__name__}: cannot find its layers; it can align only with its last "
            "layer (layer -1), and cannot be fine-tuned"
        )
    return lists[outermost[0]]


class _Layers:
    """The forward pass of a truncated model of any family."""

    def __init__(self, model: Any, layer: int, full: Any) -> None:  # noqa: ANN401
        self._model = model
        # A norm after the last layer belongs to the whole stack and does not apply to the output
        # of an inner layer.
        self._inner = 0 < layer < full.num_hidden_layers and full.model_type not in NO_LAST_NORM
        self._kept = threading.local()  # batches may be encoded by several threads at once
        if self._inner:
            list_of_layers(model, layer)[-1].register_forward_hook(self._keep)

    def _keep(self, module: Any, inputs: Any, output: Any) -> None:  # noqa: ANN401, ARG002
        self._kept.output = output[0] if isinstance(output, tuple) else output

    def __call__(self, ids: Tensor, mask: Tensor | None) -> Tensor:
        output = self._model(input_ids=ids, attention_mask=mask).last_hidden_state
        return self._kept.__dict__.pop("output") if self._inner else output

    @property
    def transformer(self) -> Any:  # noqa: ANN401
        """Return the truncated model."""
        return self._model

    def parameters(self) -> Iterator[Any]:
        """Yield the weights in use."""
        return self._model.parameters()

    def take_weights(self, whole: Any) -> None:  # noqa: ANN401
        """Use the weights of a model that has all layers, so that they are in memory only once."""
        theirs = dict(whole.named_parameters())
        for name, weight in self._model.named_parameters():
            if name in theirs and theirs[name].shape == weight.shape:
                weight.data = theirs[name].data


def _device(config: EncoderConfig) -> torch.device:
    """Choose the device and check that it supports the precision."""
    name = config.device
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    device = torch.device(name)
    if device.type == "cuda":
        count = torch.cuda.device_count()
        if (device.index or 0) >= count:
            raise ConfigError(f"device {name}: this machine has {count} GPUs that torch can use")
        if config.precision == "int8":
            raise ConfigError("precision int8 is for a CPU; on a GPU use bf16 or fp16")
        emulated = not torch.cuda.is_bf16_supported(including_emulation=False)
        if config.precision == "bf16" and emulated:
            _log.warning("this GPU has no bf16 instructions; fp16 is faster here")
    elif config.precision == "fp16":
        raise ConfigError("precision fp16 needs a GPU; on a CPU use fp32, bf16 or int8")
    return device


def _load_model(
    files: ModelFiles,
    full: Any,  # noqa: ANN401
    layer: int,
    config: EncoderConfig,
    device: torch.device,
) -> Any:  # noqa: ANN401
    """Build the truncated model and load only its weights."""
    if getattr(full, "num_hidden_groups", 1) > 1 and layer < full.num_hidden_layers:
        # The group of a layer depends on the number of layers.
        raise ConfigError(
            f"{files.directory}: its layers share weights in {full.num_hidden_groups} groups, so "
            "it cannot be cut; use layer -1 or another encoder"
        )
    cut = copy.deepcopy(full)
    cut.num_hidden_layers = layer
    model = load_model(
        transformers.AutoModel,
        files.directory,
        _TYPES.get(config.precision, torch.float32),
        is_no_pooler,
        config=cut,
    )
    if model.main_input_name != "input_ids":
        raise ConfigError(
            f"{files.directory}: a {full.model_type} is not a text encoder: it reads "
            f"{model.main_input_name}"
        )
    _check_numbers(model, files, config.precision)
    if hasattr(model, "pooler"):
        model.pooler = None
    model.eval().requires_grad_(requires_grad=False)
    return _quantized(model) if config.precision == "int8" else _placed(model, config, device)


def load_language_model(config: EncoderConfig, encoder: Encoder) -> Any:  # noqa: ANN401
    """Load all layers of an encoder with the head that fills in masks.

    Weights that the loaded encoder also has are shared with it.

    Args:
        config: The encoder's settings.
        encoder: The same encoder, loaded.

    Raises:
        ConfigError: The model has no such head, or the precision is int8.
    """
    require_language_precision(config)
    files = find_model(config.model, config.revision)
    absent: list[str] = []

    def is_used(name: str) -> bool:
        absent.append(name)
        return False

    model = load_model(
        transformers.AutoModelForMaskedLM,
        files.directory,
        _TYPES[config.precision],
        is_used,
    )
    if absent:
        raise no_head(files.directory, f"{len(absent)} weights are missing, first {min(absent)}")
    model.eval().requires_grad_(requires_grad=False)
    model = _placed(model, config, encoder.device)
    encoder.model.take_weights(model.base_model)
    return model


def require_language_precision(config: EncoderConfig) -> None:
    """Refuse a precision that language models do not support.

    Raises:
        ConfigError: The precision is int8.
    """
    if config.precision == "int8":
        raise ConfigError("precision int8: a language model needs fp32, bf16 or fp16")


def no_head(directory: Path, why: str) -> ConfigError:
    """Return the error for an encoder whose files contain no language model head."""
    return ConfigError(
        f"{directory}: has no language model head ({why}); leave the language model out, or give "
        "an encoder with its head"
    )


def _placed(model: Any, config: EncoderConfig, device: torch.device) -> Any:  # noqa: ANN401
    """Move a model to its device, in arithmetic that the device supports."""
    if config.precision == "bf16" and device.type == "cpu" and not has_fast_bf16():
        _log.warning(
            "this CPU has no bf16 instructions: weights are rounded to bf16, but the "
            "arithmetic stays fp32 and is no faster; int8 is faster here"
        )
        model = model.float()
    return model.to(device)


def _check_numbers(model: Any, files: ModelFiles, precision: str) -> None:  # noqa: ANN401
    """Refuse infinite and NaN weights, which would make every state NaN.

    The table of the pieces is not checked: such a vector affects only pairs with that piece, which
    are rejected.
    """
    pieces = model.get_input_embeddings().weight
    for name, weight in model.named_parameters():
        if weight is pieces:
            continue
        # One sum checks all numbers without using memory.
        if not torch.isfinite(weight.detach().sum(dtype=torch.float64)):
            cure = "use bf16 or fp32" if precision == "fp16" else "the model is damaged"
            raise ConfigError(
                f"{files.directory}: weight {name} is not finite in {precision}; {cure}"
            )


def has_fast_bf16() -> bool:
    """Tell whether the CPU supports bf16 products; without them torch is slower than in fp32."""
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def _quantized(model: Any) -> Any:  # noqa: ANN401
    """Quantise linear layers: weights in advance and by channel, activations dynamically."""
    quantization = _quantization()
    with quiet():
        return quantization.quantize_dynamic(
            model, {torch.nn.Linear: quantization.per_channel_dynamic_qconfig}
        )


def _quantization() -> Any:  # noqa: ANN401 - a module
    """Import torch's module for int8, which later releases may lack."""
    try:
        from torch.ao import quantization
    except ImportError as error:
        raise ConfigError(f"precision int8: torch {torch.__version__} lacks it: {error}") from error
    return quantization


def _positions(model: Any, full: Any) -> int:  # noqa: ANN401
    """Return the number of positions of the model that are available for pieces.

    RoBERTa's family numbers positions after its padding piece, so it has fewer than it declares.
    """
    declared = int(getattr(full, "max_position_embeddings", 0) or 0)
    if declared < 1:
        return 512
    table = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    padding = getattr(table, "padding_idx", None)
    return declared if padding is None else declared - padding - 1
