"""Fine-tuning an encoder on sentence pairs, so that its vectors align words better.

The objectives are those of awesome-align (Dou and Neubig 2021). The result is a directory that
`models.encoder.encoder.load_encoder` and transformers can load.
"""

import contextlib
import dataclasses
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from safetensors import SafetensorError

from pairweave.models.finetune.finetune_checkpoint import (
    CHECKPOINT,
    State,
    read_state,
    sync_and_rename,
    write_state,
)
from pairweave.models.finetune.finetune_config import FinetuneConfig
from pairweave.models.finetune.finetune_losses import Losses
from pairweave.models.finetune.finetune_model import Loaded, Trainee, load_trainee
from pairweave.models.finetune.finetune_pairs import TrainingPairs, prepare_pairs, updates_of_epoch
from pairweave.models.weights.transformers_weights import quiet
from pairweave.transforms.errors import ConfigError, worker_error
from pairweave.transforms.kernels.sampling import STEP_DROPOUT, draw
from pairweave.transforms.storage import disk_files

VERSION = 1
"""Increased when the same model, pairs and settings produce different weights."""

CONFIG, WEIGHTS = "config.json", "model.safetensors"

Progress = Callable[[int, int, dict[str, float]], None]
"""Receives the number of updates done, their total, and the losses of the last one."""


@dataclasses.dataclass(frozen=True)
class Finetuned:
    """The result of training.

    Attributes:
        updates: Updates made, including those before a resumption.
        resumed_at: Updates that the resumed state already had.
        losses: Loss of each objective, by update ``[update]``.
        pairs: Pairs trained on.
        rejected: Reason and detail of each rejected pair, by row of the table.
        files: Names of the model's files.
    """

    updates: int
    resumed_at: int
    losses: dict[str, list[float]]
    pairs: int
    rejected: dict[int, tuple[str, str]]
    files: tuple[str, ...]


def train(
    model: str | Path,
    table: pa.Table,
    config: FinetuneConfig,
    output: str | Path,
    *,
    revision: str | None = None,
    progress: Progress | None = None,
) -> Finetuned:
    """Fine-tune an encoder and write it.

    Training resumes from a state that the same call saved in ``output``. On a CPU, the same call
    produces the same bytes, interrupted or not.

    Args:
        model: A directory or a hub name.
        table: Pairs with token offsets (`transforms.schemas.TOKENS`).
        config: The settings.
        output: A local directory; created if missing.
        revision: Branch, tag or commit of a hub model.
        progress: Called after each update.

    Returns:
        The result of training.

    Raises:
        ConfigError: The model cannot be trained with these settings, no pair is left, or training
            diverged.
        FullError: There is no room for a file.
        WorkerError: A file cannot be written for another reason.
    """
    directory = Path(output)
    directory.mkdir(parents=True, exist_ok=True)
    with _arithmetic(config):
        loaded = load_trainee(str(model), revision, config)
        pairs, rejected = prepare_pairs(table, loaded.encoder, config)
        config.require_pairs(len(pairs), _left_out(rejected))
        trainer = _Trainer(loaded, pairs, config, directory)
        resumed_at = trainer.resume()
        trainer.run(progress)
        names = _save(loaded, directory)
    (directory / CHECKPOINT).unlink(missing_ok=True)
    state = trainer.state
    return Finetuned(state.updates, resumed_at, state.losses, len(pairs), rejected, names)


class _Trainer:
    """The loop over updates, and its state."""

    def __init__(
        self, loaded: Loaded, pairs: TrainingPairs, config: FinetuneConfig, directory: Path
    ) -> None:
        self._trainee, self._device = loaded.trainee, loaded.encoder.device
        self._pairs, self._config, self._directory = pairs, config, directory
        self._losses = Losses(loaded, pairs, config)
        self._optimizer = _optimizer(loaded.trainee, config)
        self._epoch_updates = -(-len(pairs) // config.batch_pairs)
        self._updates = config.steps or config.epochs * self._epoch_updates
        self._key = _key(loaded, pairs, config)
        self.state = State(self._key, 0, {name: [] for name in config.objectives})

    def resume(self) -> int:
        """Restore a saved state, if there is one, and return the number of its updates."""
        path = self._directory / CHECKPOINT
        saved = read_state(path, self._key, self._trainee, self._optimizer)
        if saved is not None:
            self.state = saved
        return self.state.updates

    def run(self, progress: Progress | None) -> None:
        """Make the remaining updates."""
        self._trainee.train()
        epoch, order = -1, list[np.ndarray]()
        for update in range(self.state.updates, self._updates):
            if update // self._epoch_updates != epoch:
                epoch = update // self._epoch_updates
                order = updates_of_epoch(self._pairs, self._config, epoch)
            losses = self._update(update, order[update % self._epoch_updates], epoch)
            for name, loss in losses.items():
                self.state.losses[name].append(loss)
            self.state.updates = update + 1
            if progress is not None:
                progress(update + 1, self._updates, losses)
            if (update + 1) % self._config.checkpoint_steps == 0 and update + 1 < self._updates:
                path = self._directory / CHECKPOINT
                write_state(path, self.state, self._trainee, self._optimizer)

    def _update(self, update: int, chosen: np.ndarray, epoch: int) -> dict[str, float]:
        """Make one update; its draws depend only on its number."""
        config = self._config
        bits = draw(np.uint64(config.seed), np.uint64(update), STEP_DROPOUT, np.uint64(0))
        torch.manual_seed(int(bits) >> 1)
        for group in self._optimizer.param_groups:
            group["lr"] = config.rate(update, self._updates)
        self._optimizer.zero_grad(set_to_none=True)
        losses = self._losses.add_gradients(chosen, epoch)
        norm = torch.nn.utils.clip_grad_norm_(self._trainee.parameters(), config.max_gradient)
        if not torch.isfinite(norm):
            raise ConfigError(
                f"step {update + 1}: the gradient is not finite (losses {losses}); lower "
                "learning_rate, raise warmup_steps, or use precision fp32"
            )
        self._optimizer.step()
        return losses


def _left_out(rejected: dict[int, tuple[str, str]]) -> str:
    """Return the number of rejected pairs and the reason of the first, for a message."""
    if not rejected:
        return ""
    return f"; {len(rejected)} left out, the first because: {next(iter(rejected.values()))[1]}"


def _optimizer(trainee: Trainee, config: FinetuneConfig) -> torch.optim.AdamW:
    """Return AdamW, without weight decay on vectors (biases and norms)."""
    named = [(name, weight) for name, weight in trainee.named_parameters() if weight.requires_grad]
    groups = [
        {"params": [w for _, w in named if w.dim() > 1], "weight_decay": config.weight_decay},
        {"params": [w for _, w in named if w.dim() <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=config.learning_rate, eps=1e-8)


def _key(loaded: Loaded, pairs: TrainingPairs, config: FinetuneConfig) -> str:
    """Return a digest of everything that determines the weights."""
    named = {
        "version": VERSION,
        "config": {**config.model_dump(), "checkpoint_steps": None},
        "device": loaded.encoder.device.type,
        "encoder": loaded.encoder.digest,
        "pairs": pairs.digest,
        "torch": torch.__version__,
    }
    return hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()


@contextlib.contextmanager
def _arithmetic(config: FinetuneConfig) -> Iterator[None]:
    """Set the threads and leave the caller's random generators unchanged."""
    threads = torch.get_num_threads()
    torch.set_num_threads(config.threads)
    try:
        with torch.random.fork_rng():
            yield
    finally:
        torch.set_num_threads(threads)


def _save(loaded: Loaded, directory: Path) -> tuple[str, ...]:
    """Write the model in the layout of transformers, with the tokenizer's files unchanged."""
    whole: Any = loaded.trainee.whole
    for left in directory.iterdir():
        if left.is_dir() and disk_files.is_dead(left):
            shutil.rmtree(left, ignore_errors=True)
    staging = directory / disk_files.name_for("model")
    try:
        staging.mkdir()
        whole.eval().to("cpu")
        whole.config.name_or_path = ""
        with quiet():
            whole.save_pretrained(staging, max_shard_size="1TB")
        # save_pretrained makes weights readable only by their owner; use the settings' mode.
        (staging / WEIGHTS).chmod((staging / CONFIG).stat().st_mode)
        names = {CONFIG, WEIGHTS}
        for path in loaded.files.others:
            if path.name not in names and not path.name.endswith(".safetensors.index.json"):
                (staging / path.name).write_bytes(path.read_bytes())
                names.add(path.name)
        for name in sorted(names):
            sync_and_rename(staging / name, directory / name)
        shutil.rmtree(staging)
    except (OSError, SafetensorError) as error:
        raise worker_error(f"{directory}: the model cannot be written: {error}") from error
    return tuple(sorted(names))
