"""Loading weights into a model of transformers, from local files only."""

import contextlib
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
import transformers

from pairweave.transforms.errors import ConfigError

_NO_SDPA = "scaled_dot_product_attention"
"""Occurs in the error of a family without fused attention, such as mDeBERTa."""


def load_model(
    kind: Any,  # noqa: ANN401 - one of transformers' Auto classes
    directory: Path,
    dtype: torch.dtype,
    is_used: Callable[[str], bool] = lambda _: True,
    **more: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """Load a model.

    Args:
        kind: One of the Auto classes, such as `transformers.AutoModel`.
        directory: The model's directory, with its weights as safetensors.
        dtype: Type of its weights.
        is_used: Called with a weight's name; returns True if the files must contain it.
        more: Further arguments of ``kind.from_pretrained``.

    Raises:
        ConfigError: A file cannot be read, or the weights do not match the configuration.
    """
    settings = {
        "dtype": dtype,
        "trust_remote_code": False,
        "use_safetensors": True,
        "local_files_only": True,
        "output_loading_info": True,
        "ignore_mismatched_sizes": True,  # reported below
        **more,
    }
    try:
        with quiet():
            try:
                model, report = kind.from_pretrained(
                    directory, attn_implementation="sdpa", **settings
                )
            except ValueError as error:
                if _NO_SDPA not in str(error):
                    raise
                model, report = kind.from_pretrained(
                    directory, attn_implementation="eager", **settings
                )
    except MemoryError:
        raise
    except Exception as error:  # libraries raise any kind
        raise ConfigError(f"{directory}: cannot be loaded: {one_line(error)}") from error
    missing = sorted(filter(is_used, report["missing_keys"]))
    misshapen = sorted(str(entry) for entry in report["mismatched_keys"])
    if missing or misshapen:
        raise ConfigError(
            f"{directory}: the weights do not fit config.json: {len(missing)} missing, "
            f"{len(misshapen)} of another shape, first {(missing + misshapen)[0]}"
        )
    return model


def is_no_pooler(name: str) -> bool:
    """Return True for a weight outside the pooler; nothing here uses the pooler."""
    return not name.startswith("pooler.")


def one_line(error: Exception) -> str:
    """Return the text of a library's error on one line, with its class if the text needs it."""
    text = " ".join(str(error).split())
    if isinstance(error, OSError | ValueError | RuntimeError) and text:
        return text
    return f"{type(error).__name__}: {text}"


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers' notes about unused weights; our own errors report what matters."""
    notes = transformers.utils.logging
    level, bars = notes.get_verbosity(), notes.is_progress_bar_enabled()
    notes.set_verbosity_error()
    notes.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        notes.set_verbosity(level)
        if bars:
            notes.enable_progress_bar()
