"""Modules that need the extra `neural` are collected for doctests only where it is installed."""

import importlib.util

_NEURAL = (
    *(f"models/{name}.py" for name in ("blocks", "encoder", "heads", "neural", "transport")),
    "models/translator_transformers.py",
    *(f"tests/{name}.py" for name in ("awesome", "encoders", "translators")),
)

_INSTALLED = all(importlib.util.find_spec(name) for name in ("torch", "transformers"))

collect_ignore = [] if _INSTALLED else list(_NEURAL)
