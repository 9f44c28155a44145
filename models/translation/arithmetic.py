"""Chooses the device and precision of a unit of training; imports torch only when needed."""

import platform
from pathlib import Path
from typing import Any

from pairweave.models.translation.translation_config import Precision
from pairweave.transforms.errors import ConfigError

_CPU_INFO = Path("/proc/cpuinfo")

_BF16_FLAGS = frozenset({"amx_bf16", "bf16"})
"""Flags of processors that multiply matrices in bf16 quicker than in fp32: x86 (``amx_bf16``), Arm
(``bf16``). With only ``avx512_bf16``, PyTorch takes 1.3 to 1.7 times as long as in fp32; without
any of them, many times as long."""


def has_bf16(cpu_info: str) -> bool:
    """Tell whether a processor multiplies matrices in bf16 quicker than in fp32.

    Args:
        cpu_info: The content of ``/proc/cpuinfo``.

    >>> has_bf16("flags : avx512f avx512_bf16"), has_bf16("flags : avx512_bf16 amx_bf16")
    (False, True)
    """
    lines = (line.partition(":") for line in cpu_info.splitlines())
    flags = (value.split() for name, _, value in lines if name.strip() in ("flags", "Features"))
    return not _BF16_FLAGS.isdisjoint(next(flags, []))


def choose_device(device: str) -> str:
    """Return the device of ``auto``: the first GPU if there is one, else the CPU.

    Raises:
        ConfigError: The options ask for a GPU, and there is none.
    """
    if device == "cpu":
        return device
    torch = torch_library()
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if not torch.cuda.is_available():
        raise ConfigError(f"--device {device}: PyTorch finds no GPU; give cpu")
    return device


def choose_precision(device: str, precision: str) -> Precision:
    """Return the precision of ``auto``: bf16 where the device is quicker with it.

    Args:
        device: The device.
        precision: ``auto``, ``fp32`` or ``bf16``.
    """
    if precision != "auto":
        return "bf16" if precision == "bf16" else "fp32"
    if device == "cpu":
        able = _CPU_INFO.is_file() and has_bf16(_CPU_INFO.read_text(encoding="utf-8"))
    else:
        able = torch_library().cuda.is_bf16_supported(including_emulation=False)
    return "bf16" if able else "fp32"


def kind_of(device: str, precision: Precision) -> str:
    """Return the kind of a device; all units of a table must be made on the same kind.

    A CPU is named by its architecture and the widest vectors that PyTorch uses, since kernels for
    other vectors round differently.
    """
    torch = torch_library()
    if device == "cpu":
        return f"cpu {platform.machine()} {torch.backends.cpu.get_cpu_capability()} {precision}"
    return f"{torch.cuda.get_device_name(device)} {precision}"


def torch_library() -> Any:  # noqa: ANN401 - a module
    """Return torch.

    Raises:
        ConfigError: It is not installed.
    """
    try:
        import torch
    except ModuleNotFoundError as error:
        raise ConfigError(
            "ablate needs torch, transformers and ctranslate2, and not all of them are installed; "
            "install them with: pip install 'pairweave[ablate]'"
        ) from error
    return torch
