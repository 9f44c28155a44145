"""Trains a translation model for a fixed number of updates; it can resume from a checkpoint.

The loop is our own. The trainer of transformers stores its random state as a pickle, finds its
place in the data by reading all earlier batches again, and needs another library. Here an update
depends only on its number, and so do its batch (`translation_pairs.StagedBatches`) and its dropout,
whose generator gets a new seed for each update. So on a CPU, training that was killed ends with the
same weights as training that was not.
"""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pairweave.models.encoder.batching import cut_batches
from pairweave.models.finetune.finetune_checkpoint import State, read_state, write_state
from pairweave.models.translation.translation_config import (
    CURVE_STEPS,
    Precision,
    TranslationConfig,
)
from pairweave.models.translation.translation_model import new_model
from pairweave.models.translation.translation_pairs import (
    PassPairs,
    Stage,
    StagedBatches,
    Vocabulary,
    padded,
)
from pairweave.models.translation.translation_weights import load_weights
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.kernels.sampling import STEP_DROPOUT, draw

VERSION = 2
"""Increased when the same data and settings give different weights."""

_IGNORED = -100
_MAX_GRADIENT = 1.0
_BETAS = (0.9, 0.98)  # Vaswani et al. (2017, section 5.3)

Progress = Callable[[int, int, float], None]
"""Receives the number of updates made, the total number, and the loss of the last update made."""


@dataclasses.dataclass(frozen=True)
class Training:
    """The data and settings that a model is trained with.

    Attributes:
        config: The sizes and settings.
        vocabulary: The pieces.
        stages: The data, by updates; their sum is the number of updates.
        dev: Pairs whose loss is measured for the learning curve; or None.
        weights: The file of the first weights (`translation_weights`); None for random ones.
        seed: Seed of random first weights, of the order of pairs, and of dropout.
        device: The device.
        precision: The arithmetic of the layers; weights are fp32.
        key: Digest of everything that determines the weights.
    """

    config: TranslationConfig
    vocabulary: Vocabulary
    stages: tuple[Stage, ...]
    dev: PassPairs | None
    weights: Path | None
    seed: int
    device: str
    precision: Precision
    key: str


@dataclasses.dataclass(frozen=True)
class Trained:
    """A trained model.

    Attributes:
        model: The model.
        resumed_at: Number of updates in the checkpoint that training resumed from; 0 without one.
        losses: Mean training loss, and the loss on the dev pairs, of each `CURVE_STEPS` updates.
    """

    model: Any
    resumed_at: int
    losses: dict[str, list[float]]


def train(training: Training, checkpoint: Path, progress: Progress | None = None) -> Trained:
    """Train a model.

    Args:
        training: The data and settings.
        checkpoint: The file of the state; its directory exists.
        progress: Called after each update.

    Raises:
        ConfigError: There are no pairs, or training diverged.
        WorkerError: The state cannot be written.
    """
    if not all(any(len(one.lengths) for one in stage.passes) for stage in training.stages):
        raise ConfigError("no pair is left to train on: all are empty or longer than max_pieces")
    with _arithmetic(training):
        trainer = _Trainer(training, checkpoint)
        resumed_at = trainer.resume()
        trainer.run(progress)
    return Trained(trainer.model, resumed_at, trainer.state.losses)


class _Trainer:
    def __init__(self, training: Training, checkpoint: Path) -> None:
        self._training, self._checkpoint = training, checkpoint
        config = training.config
        model = new_model(config, training.vocabulary, training.seed)
        if training.weights is not None:
            load_weights(training.weights, model)
        self.model = model.to(training.device)
        self._optimizer = torch.optim.Adam(
            self.model.parameters(), lr=config.learning_rate, betas=_BETAS, eps=1e-9
        )
        self._batches = StagedBatches(training.stages, config.batch_tokens, training.seed)
        self.state = State(training.key, 0, {"train": [], "dev": []})
        self._recent: list[float] = []

    def resume(self) -> int:
        """Restore a saved state, if there is one, and return the number of its updates."""
        saved = read_state(self._checkpoint, self._training.key, self.model, self._optimizer)
        if saved is not None:
            self.state = saved
            self._recent = saved.losses.pop("recent", [])
        return self.state.updates

    def run(self, progress: Progress | None) -> None:
        """Make the remaining updates."""
        config, state = self._training.config, self.state
        for step in range(state.updates, config.steps):
            self._recent.append(self._update(step))
            state.updates = step + 1
            if len(self._recent) == CURVE_STEPS or step + 1 == config.steps:
                state.losses["train"].append(float(np.mean(self._recent)))
                self._recent = []
                if self._training.dev is not None:
                    state.losses["dev"].append(self._dev_loss(self._training.dev))
            if progress is not None:
                progress(step + 1, config.steps, self._last)
            if (step + 1) % config.checkpoint_steps == 0 and step + 1 < config.steps:
                losses = {**state.losses, "recent": self._recent}
                saved = State(state.key, state.updates, losses)
                write_state(self._checkpoint, saved, self.model, self._optimizer)

    def _update(self, step: int) -> float:
        """Make one update, which depends only on its number; return its loss."""
        training, config = self._training, self._training.config
        bits = draw(np.uint64(training.seed), np.uint64(step), STEP_DROPOUT, np.uint64(0))
        torch.manual_seed(int(bits) >> 1)
        for group in self._optimizer.param_groups:
            group["lr"] = config.rate(step)
        self.model.train()
        self._optimizer.zero_grad(set_to_none=True)
        pairs, rows = self._batches.batch(step)
        loss = self._loss(pairs, rows, config.label_smoothing)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), _MAX_GRADIENT)
        if not torch.isfinite(norm):
            raise ConfigError(
                f"step {step + 1}: the gradient is not finite; lower learning_rate or raise "
                "warmup_steps"
            )
        self._optimizer.step()
        self._last = float(loss.detach())
        return self._last

    def _loss(self, pairs: PassPairs, rows: np.ndarray, smoothing: float) -> torch.Tensor:
        """Return the mean loss of the target pieces of some pairs."""
        training = self._training
        padding, device = training.vocabulary.padding, training.device
        sources = torch.from_numpy(padded([pairs.sources[row] for row in rows], padding))
        targets = torch.from_numpy(padded([pairs.targets[row] for row in rows], padding))
        sources, targets = sources.to(device), targets.to(device)
        start = torch.full((len(rows), 1), padding, device=device)
        decoder_input = torch.cat([start, targets[:, :-1]], dim=1)
        with torch.autocast(
            torch.device(device).type, torch.bfloat16, enabled=training.precision == "bf16"
        ):
            scores = self.model(
                input_ids=sources,
                attention_mask=(sources != padding).long(),
                decoder_input_ids=decoder_input,
                use_cache=False,
            ).logits
        wanted = targets.masked_fill(targets == padding, _IGNORED)
        # Padding, which is last, is never generated. It also begins each translation, with a vector
        # of zeros that CTranslate2 takes for granted, and that training must therefore not move.
        return torch.nn.functional.cross_entropy(
            scores[..., :padding].float().flatten(0, 1),
            wanted.flatten(),
            ignore_index=_IGNORED,
            label_smoothing=smoothing,
        )

    def _dev_loss(self, dev: PassPairs) -> float:
        """Return the mean loss of the dev pairs' pieces, without smoothing and dropout."""
        self.model.eval()
        total, pieces = 0.0, 0
        for batch in cut_batches(dev.lengths, self._training.config.batch_tokens):
            count = sum(len(dev.targets[row]) for row in batch.members)
            with torch.no_grad():
                total += float(self._loss(dev, batch.members, 0.0)) * count
            pieces += count
        return total / max(1, pieces)


@contextlib.contextmanager
def _arithmetic(training: Training) -> Iterator[None]:
    """Set the threads and leave the caller's random generators unchanged."""
    threads = torch.get_num_threads()
    torch.set_num_threads(training.config.threads)
    try:
        with torch.random.fork_rng():
            yield
    finally:
        torch.set_num_threads(threads)
