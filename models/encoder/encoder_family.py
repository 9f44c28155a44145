"""A model's configuration: checks that it is an encoder that can align, and its layers."""

import json
from typing import Any

import transformers
from transformers.models.auto import modeling_auto

from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.weights.transformers_weights import one_line, quiet
from pairweave.models.weights.weights import ModelFiles
from pairweave.transforms.errors import ConfigError

_BATCH_DEPENDENT = (
    *("convbert", "funnel", "mobilebert"),  # mix neighbours without a mask
    *("fnet", "nystromformer", "yoso"),  # mix or sample the whole width of a batch
    *("big_bird", "mra", "reformer"),  # attend at random, or depending on earlier attention
)
"""Families whose vectors depend on the rest of the batch."""

NO_LAST_NORM = ("albert", "flaubert", "xlm")
"""Families with neither a norm after their last layer nor a list of layers."""

_BOTH_WAYS = ("bert-generation",)
"""Encoders that transformers lists among causal language models."""


def read_family(files: ModelFiles) -> Any:  # noqa: ANN401 - a transformers configuration
    """Read a model's configuration, and refuse models that are not text encoders.

    Raises:
        ConfigError: It cannot be read, or the model cannot align.
    """
    path = files.directory / "config.json"
    try:
        given = json.loads(path.read_bytes())
    except ValueError as error:
        raise ConfigError(f"{path}: not JSON: {error}") from error
    if not isinstance(given, dict):
        raise ConfigError(f"{path}: expected a JSON object, found {type(given).__name__}")
    try:
        with quiet():
            full = transformers.AutoConfig.from_pretrained(
                files.directory, trust_remote_code=False, local_files_only=True
            )
    except Exception as error:  # libraries raise any kind
        raise ConfigError(
            f"{path}: not an encoder that transformers supports: "
            f"{one_line(error)}{_own_code(given)}"
        ) from error
    _check(full, files)
    return full


def layer_number(config: EncoderConfig, full: Any) -> int:  # noqa: ANN401
    """Return the number of the layer in use, counted from the front.

    Raises:
        ConfigError: There is no such layer.
    """
    layers = int(full.num_hidden_layers)
    layer = config.layer if config.layer >= 0 else layers + 1 + config.layer
    if not 0 <= layer <= layers:
        raise ConfigError(
            f"layer {config.layer}: {config.model} has {layers} layers; "
            f"choose 0 to {layers}, or -1 (the last) to -{layers + 1}"
        )
    return layer


def _check(full: Any, files: ModelFiles) -> None:  # noqa: ANN401
    """Refuse configurations of models other than encoders, or with quantised weights."""
    family = full.model_type
    if full.is_encoder_decoder or getattr(full, "is_decoder", False) or _writes(full):
        raise ConfigError(
            f"{files.directory}: a {family} cannot align; use an encoder trained to fill in "
            "masks, such as BERT or XLM-R"
        )
    if family in _BATCH_DEPENDENT:
        raise ConfigError(
            f"{files.directory}: a {family} encodes a text differently depending on the rest of "
            "the batch, so links would depend on other pairs; use another encoder"
        )
    for name in ("num_hidden_layers", "hidden_size", "vocab_size"):
        if not isinstance(getattr(full, name, None), int):
            raise ConfigError(
                f"{files.directory}: a {family} is not a text encoder: config.json has no {name}"
            )
    if getattr(full, "quantization_config", None) is not None:
        raise ConfigError(
            f"{files.directory / 'config.json'}: quantization_config: the weights are quantised; "
            "give the model in fp32, fp16 or bf16 (--precision int8 quantises it on a CPU)"
        )


def _writes(full: Any) -> bool:  # noqa: ANN401
    """Tell whether a family is generative, so that pieces attend only to those before them."""
    family = full.model_type
    if family in _BOTH_WAYS or getattr(full, "use_bidirectional_attention", False):
        return False
    causal = modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    return family in causal and family not in modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES


def _own_code(given: dict[str, Any]) -> str:
    """Return a message that the model's own code is not executed, if it has any."""
    if "auto_map" not in given:
        return ""
    return "; the model comes with its own code (auto_map), which pairweave never runs"
