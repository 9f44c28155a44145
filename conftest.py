"""Modules that need the extra `neural` are collected for doctests only where it is installed."""

import importlib.util

_NEURAL = (
    *(
        f"pairweave/models/{name}.py"
        for name in ("blocks", "heads", "neural", "piece_similarity", "transport")
    ),
    *(f"pairweave/models/encoder{name}.py" for name in ("", "_family", "_tokenizer")),
    "pairweave/models/transformers_weights.py",
    *(f"pairweave/models/finetune{name}.py" for name in ("", "_checkpoint", "_losses", "_model")),
    *(f"pairweave/models/finetune{name}.py" for name in ("_objectives", "_pairs")),
    "pairweave/models/translator_transformers.py",
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

collect_ignore = ["tests/mutants", *(() if _INSTALLED else _NEURAL)]
