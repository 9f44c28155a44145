"""Units of work: one model of one arm with one seed, from its pairs to its scores."""

import functools
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from pairweave.models.aligner import align_all
from pairweave.models.translation.translation_decoder import too_long, translate
from pairweave.models.translation.translation_pairs import (
    PassPairs,
    Stage,
    Vocabulary,
    encode_pass,
)
from pairweave.pipelines.ablation.ablation_config import Arm
from pairweave.pipelines.ablation.ablation_files import (
    NO_LOCKS,
    digest_of,
    read_packed,
    write_packed,
)
from pairweave.pipelines.ablation.machines import (
    CHECKPOINT,
    Machine,
    encoded,
    made_with,
    progress,
)
from pairweave.pipelines.ablation.model_texts import evaluated_pairs, written_texts
from pairweave.pipelines.ablation.prepared import (
    ATTENTION,
    UNITS,
    WORK,
    Prepared,
)
from pairweave.pipelines.ablation.start_model import start_facts, start_weights
from pairweave.pipelines.ablation.task_kind import EvaluationSet
from pairweave.pipelines.ablation.tasks import task_of
from pairweave.pipelines.process.file_lock import claimed
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.links.soft_links import SOFT_THRESHOLD
from pairweave.transforms.markup.markup import INDEXED, strip_markup
from pairweave.transforms.projection.indexed_projection import project_indexed
from pairweave.transforms.storage.text_lines import read_in_step

Align = Callable[[pa.Table], pa.Table]
"""Turns TOKENS rows into LINKED rows."""

Sides = tuple[list[str], list[str]]
"""The sources and the targets of some pairs."""


def unit_path(directory: Path, arm: str, seed: int) -> Path:
    """Return the file of a finished unit."""
    return directory / UNITS / f"{arm}-{seed}.json.gz"


def facts(prepared: Prepared, arm: str) -> dict[str, Any]:
    """Return the facts in which the units of an arm must agree with the directory."""
    return {
        "aligner": prepared.arms[arm]["aligner"],
        "data": prepared.arms[arm]["data"],
        "size": prepared.ablation.model.model_dump(exclude={"checkpoint_steps"}),
        "start": start_facts(prepared),
        "tests": prepared.tests_digest,
        "vocabulary": prepared.vocabulary_digest,
    }


def check_unit(unit: dict[str, Any], prepared: Prepared, arm: str, path: Path) -> None:
    """Refuse a unit that was not made from the present content of the directory.

    Raises:
        ConfigError: The unit has another vocabulary, other data, test sets or sizes; names the
            file.
    """
    for key, value in facts(prepared, arm).items():
        if unit.get(key) != value:
            raise ConfigError(
                f"{path}: was trained with another {key} than {prepared.directory} has, so its "
                "scores cannot be compared; delete the file to train the unit again"
            )
    lines = {name: len(texts) for name, texts in unit["translations"].items()}
    if lines != {name: len(test.sources) for name, test in prepared.tests.items()}:
        raise ConfigError(
            f"{path}: translations: not a line for each segment of each test set; delete the file "
            "to train the unit again"
        )


def make_unit(prepared: Prepared, arm: str, seed: int, machine: Machine) -> bool:
    """Train a model, translate the test sets and score one unit, unless that is done.

    Returns:
        Whether the unit is finished now; False if another process is making it.

    Raises:
        ConfigError: An unfinished unit does not belong to the directory, or training diverged.
    """
    path = unit_path(prepared.directory, arm, seed)
    work = prepared.directory / WORK / f"{arm}-{seed}"
    if path.exists():
        check_unit(read_packed(path), prepared, arm, path)
        return True
    work.mkdir(parents=True, exist_ok=True)
    with claimed(work, NO_LOCKS) as is_ours:
        if not is_ours:
            return False
        if not path.exists():
            unit = _make(prepared, arm, seed, machine, work)
            path.parent.mkdir(exist_ok=True)
            write_packed(path, unit)
        shutil.rmtree(work, ignore_errors=True)
    return True


def _make(prepared: Prepared, arm: str, seed: int, machine: Machine, work: Path) -> dict[str, Any]:
    from pairweave.models.translation import translation_trainer
    from pairweave.models.translation.own_attention import OwnAttention
    from pairweave.models.translation.translation_model import convert
    from pairweave.models.translation.translation_weights import weights_digest

    begin = time.monotonic()
    config, vocabulary = prepared.ablation.model, Vocabulary(prepared.vocabulary)
    # What can be refused is refused before minutes of training.
    encoder, hmm = prepared.encoder(arm), prepared.hmm(arm)
    _check_lengths(prepared, arm, vocabulary)
    attended = _attended_pairs(prepared, vocabulary)
    dev = _dev_pairs(prepared, arm, vocabulary)
    stages = tuple(
        Stage(encoded(f"arms.{arm}", prepared.passes(arm, number), vocabulary, config), steps)
        for number, steps in enumerate(prepared.ablation.arms[arm].steps(config.steps))
    )
    weights = start_weights(prepared, machine)
    made_of = {
        **facts(prepared, arm),
        "arm": arm,
        "seed": seed,
        "start_weights": None if weights is None else weights_digest(weights),
        **made_with(machine),
    }
    _refuse_other_kind(prepared, made_of)
    training = translation_trainer.Training(
        config,
        vocabulary,
        stages,
        dev,
        weights,
        seed,
        machine.device,
        machine.precision,
        digest_of(made_of),
    )
    trained = translation_trainer.train(training, work / CHECKPOINT, progress(f"{arm}/{seed}"))
    shutil.rmtree(work / "model", ignore_errors=True)
    convert(trained.model, vocabulary, work / "model")

    def translated(texts: Sequence[str]) -> list[str]:
        return translate(work / "model" / "ctranslate2", vocabulary, texts, config, machine.device)

    own = OwnAttention(trained.model.to(machine.device), vocabulary, prepared.vocabulary_path)
    align: Align | None = None
    given = prepared.ablation.arms[arm].project
    if encoder is not None:
        align = functools.partial(align_all, encoder.load())
    elif hmm is not None:
        align = hmm.with_soft_links(SOFT_THRESHOLD).align
    elif given is not None:
        align = own.aligner(given.method, given.layer, work)
    translations = {
        name: _translate(prepared, arm, test, translated, align)
        for name, test in prepared.tests.items()
    }
    own.write_sets(attended, prepared.directory / ATTENTION / f"{arm}-{seed}")
    return {
        **made_of,
        "scores": scores(prepared, translations),
        "translations": translations,
        "losses": trained.losses,
        "pairs": [len(one.sources) for stage in stages for one in stage.passes],
        "too_long": [one.left_out for stage in stages for one in stage.passes],
        "run": {
            "seconds": round(time.monotonic() - begin, 1),
            "resumed_at": trained.resumed_at,
        },
    }


def _refuse_other_kind(prepared: Prepared, made_of: dict[str, Any]) -> None:
    """Check before the training that a unit can be compared with one that is finished.

    Args:
        prepared: The directory.
        made_of: The facts of the unit.

    Raises:
        ConfigError: They start from other weights, or are of two versions or kinds of device.
    """
    paths = (unit_path(prepared.directory, *one) for one in prepared.ablation.units())
    path = next((path for path in paths if path.exists()), None)
    if path is None:
        return
    first = read_packed(path)
    for key, fact, remedy in (
        ("device", "on another kind of device", "train all units of a table on one kind"),
        ("start_weights", "from another start model", "copy start/ with the directory"),
        ("version", "by another version of pairweave", "delete the file to train it again"),
    ):
        if first.get(key) != made_of[key]:
            raise ConfigError(
                f"{path}: was trained {fact} than {made_of['arm']}/{made_of['seed']} would be "
                f"({first.get(key)}, and now {made_of[key]}), so they could not be compared; "
                f"{remedy}"
            )


def _attended_pairs(prepared: Prepared, vocabulary: Vocabulary) -> dict[str, Sides]:
    """Return the sources and targets for which the model's attention is written, by set.

    Raises:
        ConfigError: A side has more pieces than the model has positions.
        InputError: A file cannot be read.
    """
    config, sets = prepared.ablation.model, {}
    for name, given in prepared.ablation.attention.items():
        pairs = [[line.text for line in both] for both in read_in_step(given.source, given.target)]
        sides = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        for path, texts in zip((given.source, given.target), sides, strict=True):
            found = too_long(vocabulary, texts, config)
            if found is not None:
                raise ConfigError(
                    f"attention.{name}: {path} line {found[0] + 1} has {found[1]} pieces, and the "
                    f"attention of the models covers at most {config.positions}; leave the line "
                    "out of both files"
                )
        sets[name] = sides
    return sets


def _dev_pairs(prepared: Prepared, arm: str, vocabulary: Vocabulary) -> PassPairs | None:
    """Return the pairs of the learning curve, without tags for an arm that never sees any.

    Raises:
        ConfigError: All segments are too long to train on, so none would have a loss.
    """
    if prepared.dev is None:
        return None
    recipe = prepared.ablation.arms[arm]
    sides = [list(side) for side in zip(*evaluated_pairs(recipe, prepared.dev), strict=True)]
    if recipe.project is not None:
        sides = [[strip_markup(text, INDEXED) for text in side] for side in sides]
    most = prepared.ablation.model.max_pieces
    pairs = encode_pass(vocabulary, sides[0], sides[1], most)
    if not len(pairs.lengths):
        raise ConfigError(
            f"dev: no segment has a loss to measure: all are empty or longer than {most} pieces, "
            "the max_pieces of size; give shorter segments and the command a new --output"
        )
    return pairs


def _translate(
    prepared: Prepared,
    arm: str,
    test: EvaluationSet,
    translated: Callable[[Sequence[str]], list[str]],
    align: Align | None,
) -> list[str]:
    """Return the outputs for a test set, with tags; `align` links the words to place tags."""
    recipe = prepared.ablation.arms[arm]
    outputs = translated(_sources(recipe, test))
    if recipe.project is None or align is None:
        return written_texts(recipe, outputs)
    ablation = prepared.ablation
    # Such a model never sees tags, so text that looks like a tag is not one.
    texts = [strip_markup(text, INDEXED) for text in outputs]
    languages = (ablation.source_lang, ablation.target_lang)
    return project_indexed(align, test.sources, texts, languages, recipe.project.rules)


def _sources(recipe: Arm, test: EvaluationSet) -> list[str]:
    """Return what the models of an arm read of a test set."""
    if recipe.project is not None:
        return [strip_markup(source, INDEXED) for source in test.sources]
    return [text for text, _ in evaluated_pairs(recipe, test)]


def _check_lengths(prepared: Prepared, arm: str, vocabulary: Vocabulary) -> None:
    """Check before the training that its model can read every segment of the test sets.

    Raises:
        ConfigError: A segment has more pieces than the model has positions.
    """
    config = prepared.ablation.model
    for name, test in prepared.tests.items():
        found = too_long(vocabulary, _sources(prepared.ablation.arms[arm], test), config)
        if found is not None:
            raise ConfigError(
                f"tests.{name}: segment {found[0] + 1} has {found[1]} pieces, and the models of "
                f"arms.{arm} read at most {config.positions}; shorten it or leave it out, or raise "
                "max_pieces of size, and give the command a new --output"
            )


def scores(prepared: Prepared, translations: dict[str, list[str]]) -> list[dict[str, Any]]:
    """Return the value of each metric on each test set."""
    rows = []
    for name, test in prepared.tests.items():
        measured = task_of(prepared.ablation).measure(prepared.ablation, test, translations[name])
        rows += [
            {"test": name, "metric": metric, "value": one.value, "signature": one.signature}
            for metric, one in measured.items()
        ]
    return rows
