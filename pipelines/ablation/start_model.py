"""The model that all units start from, trained once in each directory."""

from pathlib import Path
from typing import Any

from pairweave.models.translation.translation_pairs import Stage, Vocabulary
from pairweave.pipelines.ablation.ablation_files import NO_LOCKS, digest_of
from pairweave.pipelines.ablation.machines import (
    CHECKPOINT,
    Machine,
    encoded,
    made_with,
    progress,
)
from pairweave.pipelines.ablation.prepared import START, Prepared
from pairweave.pipelines.process.file_lock import claimed
from pairweave.transforms.errors import ConfigError

WEIGHTS = "weights.safetensors"


def start_facts(prepared: Prepared) -> dict[str, Any] | None:
    """Return the facts that determine the training of the model; None if there is no model."""
    given = prepared.ablation.start
    if given is None or prepared.start is None:
        return None
    return {"data": prepared.start["data"], "steps": given.steps, "seed": given.seed}


def start_weights(prepared: Prepared, machine: Machine) -> Path | None:
    """Return the file of the model's weights, after training it if that is not done.

    If another process is training the model, wait for it.

    Raises:
        ConfigError: Training diverged, or the file is damaged or was trained from something else.
        WorkerError: Its state cannot be written.
    """
    from pairweave.models.translation import translation_trainer
    from pairweave.models.translation.translation_weights import read_facts, write_weights

    given, about = prepared.ablation.start, start_facts(prepared)
    if given is None:
        return None
    place = prepared.directory / START
    path, checkpoint = place / WEIGHTS, place / CHECKPOINT
    with claimed(place, NO_LOCKS, wait=True):
        config = prepared.ablation.model.changed(steps=given.steps)
        made_of = {
            "size": config.model_dump(exclude={"checkpoint_steps"}),
            "start": about,
            "vocabulary": prepared.vocabulary_digest,
        }
        made_of_digest = digest_of(made_of)
        if path.exists():
            if read_facts(path).get("made_of", made_of_digest) != made_of_digest:
                raise ConfigError(
                    f"{path}: was trained with other data, another vocabulary or another size than "
                    f"{prepared.directory} has; copy it from the machine that trained it for this "
                    "directory, or delete it to train it again"
                )
            return path
        vocabulary = Vocabulary(prepared.vocabulary)
        key = digest_of({**made_of, **made_with(machine)})
        training = translation_trainer.Training(
            config,
            vocabulary,
            (Stage(encoded("start", prepared.start_passes(), vocabulary, config), given.steps),),
            None,
            None,
            given.seed,
            machine.device,
            machine.precision,
            key,
        )
        trained = translation_trainer.train(training, checkpoint, progress("start"))
        facts = {"digest": key, "device": machine.kind, "made_of": made_of_digest}
        write_weights(path, trained.model, facts)
        checkpoint.unlink(missing_ok=True)
        return path
