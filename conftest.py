"""Modules that need the extra `neural` are collected for doctests only where it is installed."""

import importlib.util

_NEURAL = (
    *(f"models/{name}.py" for name in ("blocks", "heads", "neural", "transport")),
    *(f"models/encoder{name}.py" for name in ("", "_family", "_tokenizer")),
    "models/transformers_weights.py",
    *(f"models/finetune{name}.py" for name in ("", "_checkpoint", "_losses", "_model")),
    *(f"models/finetune{name}.py" for name in ("_objectives", "_pairs")),
    "models/translator_transformers.py",
    *(
        f"tests/{name}.py"
        for name in (
            "awesome",
            "encoder_families",
            "encoders",
            "poisoned",
            "toy_language",
            "translators",
        )
    ),
)

_INSTALLED = all(importlib.util.find_spec(name) for name in ("torch", "transformers"))

collect_ignore = [] if _INSTALLED else list(_NEURAL)
