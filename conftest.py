"""Modules that need the extra `neural` or `mutants` are collected only where it is installed."""

import atexit
import gc
import importlib.util
import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule

_NEURAL = (
    *(f"pairweave/models/encoder/{name}.py" for name in ("blocks", "heads", "neural")),
    *(f"pairweave/models/encoder/{name}.py" for name in ("piece_similarity", "optimal_transport")),
    *(f"pairweave/models/encoder/{name}.py" for name in ("layer_states", "piece_encoder")),
    *(
        f"pairweave/models/sentences/{name}.py"
        for name in ("piece_aligner", "piece_vectors", "sentence_encoder")
    ),
    *(
        f"pairweave/models/similarity/{name}.py"
        for name in (
            "left_to_right",
            "margin",
            "projection_fit",
            "sentence_vectors",
            "yisi",
            "yisi_scorer",
        )
    ),
    *(f"pairweave/models/encoder/encoder{name}.py" for name in ("", "_family", "_tokenizer")),
    "pairweave/models/weights/transformers_weights.py",
    *(f"pairweave/models/finetune/finetune{name}.py" for name in ("", "_checkpoint", "_losses")),
    *(f"pairweave/models/finetune/finetune_{name}.py" for name in ("model", "objectives", "pairs")),
    *(
        f"pairweave/models/translation/translation_{name}.py"
        for name in ("attention", "model", "trainer", "weights")
    ),
    "pairweave/models/translators/translator_transformers.py",
    "pairweave/models/translation/own_attention.py",
    "pairweave/pipelines/streaming/torch_rows.py",
    "tests/oracles/slow_yisi.py",
    *(
        f"tests/makers/{name}.py"
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

_MUTANTS = (
    *(f"tests/mutants/{name}.py" for name in ("measure", "sample", "score", "trying")),
    "tests/mutants/families/operators.py",
)


def _installed(*names: str) -> bool:
    return all(importlib.util.find_spec(name) for name in names)


_LEFT_OUT = {
    *(() if _installed("torch", "transformers") else _NEURAL),
    *(() if _installed("cosmic_ray", "coverage") else _MUTANTS),
}
_ROOT = f"{Path(__file__).parent}/"


def _end_at_once() -> None:
    """End without freeing everything; what xdist wants of a process, it has by then."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def pytest_configure(config: pytest.Config) -> None:
    """Let a process of xdist end at once; to free all modules takes seconds."""
    if hasattr(config, "workerinput"):
        atexit.register(_end_at_once)  # before the others, so that it is called after them


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep Python's garbage collector off while pytest collects tests; it takes seconds then.

    Afterwards the collector skips what exists by then, which takes half a second to look through,
    and runs less often, because Hypothesis is called each time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        # C++ libraries report what is left at the end of Python as a leak. Not earlier: pytest
        # collects garbage twice before that.
        atexit.register(gc.unfreeze)
        gc.set_threshold(10_000)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[object], list[object]]:
    """Look for doctests only in files that have a prompt; to go through a module takes time."""
    collectors = yield
    return [
        each
        for each in collectors
        if not isinstance(each, DoctestModule) or b">>>" in file_path.read_bytes()
    ]


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave these files out; pytest would resolve all paths of `collect_ignore` for each file."""
    return True if str(collection_path).removeprefix(_ROOT) in _LEFT_OUT else None
