"""The machine on which models are trained, and the lines that show its progress."""

import dataclasses
import importlib.metadata
import time
from collections.abc import Callable, Sequence
from typing import Any

from pairweave.models.translation import arithmetic
from pairweave.models.translation.translation_config import Precision, TranslationConfig
from pairweave.models.translation.translation_pairs import PassPairs, Vocabulary, encode_pass
from pairweave.pipelines.ablation.task_kind import Pair
from pairweave.pipelines.process.log import LOG
from pairweave.transforms.errors import ConfigError

_SAY_SECONDS = 30.0
_PACKAGES = ("ctranslate2", "sentencepiece", "torch", "transformers")

CHECKPOINT = "checkpoint.safetensors"


@dataclasses.dataclass(frozen=True)
class Machine:
    """Where units are trained.

    Attributes:
        device: The device, as PyTorch names it.
        precision: The arithmetic.
        kind: The kind of the device.
    """

    device: str
    precision: Precision
    kind: str

    @classmethod
    def find(cls, device: str, precision: str) -> "Machine":
        """Return the machine that the options select.

        Raises:
            ConfigError: There is no such device, or a library is not installed.
        """
        chosen = arithmetic.choose_device(device)
        arithmetic.torch_library()
        chosen_precision = arithmetic.choose_precision(chosen, precision)
        return cls(chosen, chosen_precision, arithmetic.kind_of(chosen, chosen_precision))


def made_with(machine: Machine) -> dict[str, Any]:
    """Return the facts about the machine that determine a model's weights."""
    from pairweave.models.translation import translation_trainer

    return {
        "device": machine.kind,
        "packages": {name: importlib.metadata.version(name) for name in _PACKAGES},
        "version": translation_trainer.VERSION,
    }


def encoded(
    field: str,
    passes: Sequence[Sequence[Pair]],
    vocabulary: Vocabulary,
    config: TranslationConfig,
) -> tuple[PassPairs, ...]:
    """Return the pieces of the pairs of each pass.

    Raises:
        ConfigError: All pairs are too long; names the field of the configuration.
    """
    made = tuple(
        encode_pass(vocabulary, [s for s, _ in pairs], [t for _, t in pairs], config.max_pieces)
        for pairs in passes
    )
    if not any(len(one.lengths) for one in made):
        raise ConfigError(
            f"{field}: no pair is left to train on: all are empty or longer than "
            f"{config.max_pieces} pieces, the max_pieces of size; give shorter pairs or raise it, "
            "and give the command a new --output"
        )
    return made


def progress(name: str) -> Callable[[int, int, float], None]:
    """Return a function that logs the progress of training and the time left, now and then."""
    begin = said = 0.0
    first: int | None = None

    def say(step: int, steps: int, loss: float) -> None:
        nonlocal begin, said, first
        now = time.monotonic()
        if first is None:  # libraries are loaded before that, so the time until then does not count
            begin, said, first = now, now, step
        elif now - said >= _SAY_SECONDS:
            said = now
            left = (steps - step) * (now - begin) / (step - first)
            place = f"update {step:,} of {steps:,}, loss {loss:.3f}"
            LOG.info("%s: %s, %s left", name, place, shown_time(left))

    return say


def shown_time(seconds: float) -> str:
    """Return a time as text.

    >>> shown_time(75), shown_time(7300)
    ('1 min 15 s', '2 h 1 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
