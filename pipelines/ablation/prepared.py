"""The directory of an ablation: vocabulary, test sets and the pairs of each arm, made once.

Every machine that has the directory can then train any unit, without the files that the
configuration names.
"""

import dataclasses
import hashlib
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from pairweave.models.encoder.hosting.encoder_reference import EncoderReference
from pairweave.models.hmm.hmm import HmmModel
from pairweave.pipelines.ablation import tag_projection
from pairweave.pipelines.ablation.ablation_config import Ablation, Arm, DataItem
from pairweave.pipelines.ablation.ablation_files import (
    ARM_ADVICE,
    NO_LOCKS,
    PLAN_ADVICE,
    ArmAbout,
    digest_of,
)
from pairweave.pipelines.ablation.arm_data import (
    ArmPairs,
    first_pairs,
    passes_of_stages,
    read_stage,
    run_directories,
    stage_facts,
)
from pairweave.pipelines.ablation.model_texts import training_pairs
from pairweave.pipelines.ablation.shared_vocabulary import check_given, shared_vocabulary
from pairweave.pipelines.ablation.task_kind import (
    EvaluationSet,
    Pair,
    known_sources,
    plain,
    read_test,
    refuse_seen,
)
from pairweave.pipelines.ablation.tasks import task_of
from pairweave.pipelines.process import terminal
from pairweave.pipelines.process.file_lock import claimed
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.output.run_files import to_json
from pairweave.transforms.projection.indexed_projection import choose_projection_segmenter
from pairweave.transforms.rejects import Stage
from pairweave.transforms.storage import files, json_files
from pairweave.transforms.storage.disk_files import make_directories

FORMAT = 1

PLAN, VOCABULARY = "_ablation.json", "vocabulary.spm"
ARMS, RUNS, START, UNITS, WORK = "arms", "runs", "start", "units", "work"
ATTENTION = "attention"

_ABOUT, _ALIGNER = "about.json", "aligner"
_ANOTHER = "give another --output, or undo the change"
_EXCLUDE = "leave them out with --exclude of the job, which reads sentences without tags"
_REMEDY = f"{_EXCLUDE}, or set overlap: leave_out for pairs from files"


@dataclasses.dataclass(frozen=True)
class Prepared:
    """A prepared directory.

    Attributes:
        directory: Where it is.
        ablation: The configuration.
        vocabulary: The SentencePiece model.
        tests: The test sets, without the set of the learning curve.
        dev: The set of the learning curve.
        arms: The content of `about.json` of each prepared arm.
        start: The same for the model that all units start from; None if there is no such model.
    """

    directory: Path
    ablation: Ablation
    vocabulary: bytes
    tests: dict[str, EvaluationSet]
    dev: EvaluationSet | None
    arms: dict[str, dict[str, Any]]
    start: dict[str, Any] | None

    @property
    def vocabulary_path(self) -> Path:
        """Return the file of the vocabulary."""
        return self.directory / VOCABULARY

    @property
    def vocabulary_digest(self) -> str:
        """Return the hex SHA-256 of the vocabulary."""
        return hashlib.sha256(self.vocabulary).hexdigest()

    @property
    def tests_digest(self) -> str:
        """Return a digest of the test sets."""
        return digest_of({name: _as_json(test) for name, test in self.tests.items()})

    def passes(self, arm: str, stage: int = 0) -> list[list[Pair]]:
        """Return the pairs of each pass over an arm's data in a stage.

        Raises:
            ConfigError: A file is not the one that was prepared.
        """
        about = self.arms[arm]
        passes = _read_passes(self.directory / ARMS / arm, about)
        counts = passes_of_stages(about)
        begin = sum(counts[:stage])
        return passes[begin : begin + counts[stage]]

    def start_passes(self) -> list[list[Pair]]:
        """Return the pairs of each pass over the data of the model that all units start from.

        Raises:
            ConfigError: A file is not the one that was prepared.
        """
        assert self.start is not None
        return _read_passes(self.directory / START, self.start)

    def hmm(self, arm: str) -> HmmModel | None:
        """Return the fitted aligner that puts the tags of an arm's translations back, or None.

        Raises:
            ConfigError: It is damaged, or differs from the prepared one.
        """
        given = self.ablation.arms[arm].project
        if given is None or given.aligner != "hmm":
            return None
        place = self.directory / ARMS / arm / _ALIGNER
        try:
            model = HmmModel.from_files({one.name: one.read_bytes() for one in place.iterdir()})
        except OSError as error:
            raise ConfigError(
                f"{error.filename or place}: cannot be read: {error.strerror}; {ARM_ADVICE}"
            ) from error
        except ConfigError as error:
            raise ConfigError(f"{place}: {error}; {ARM_ADVICE}") from error
        self._check_aligner(arm, model.digest, place)
        return model

    def encoder(self, arm: str) -> EncoderReference | None:
        """Return the encoder that puts the tags of an arm's translations back, or None.

        Raises:
            ConfigError: The encoder cannot be used here, or differs from the prepared one.
        """
        given = self.ablation.arms[arm].project
        if given is None or given.encoder is None:
            return None
        reference = tag_projection.find_encoder(given.encoder, f"arms.{arm}.project.aligner")
        self._check_aligner(arm, reference.digest, given.encoder)
        return reference

    def _check_aligner(self, arm: str, digest: str | None, name: object) -> None:
        """Check that an aligner has the digest with which an arm was prepared."""
        if digest != self.arms[arm]["aligner"]:
            raise ConfigError(f"{name}: is not the aligner that was prepared; {ARM_ADVICE}")


def _read_passes(place: Path, about: dict[str, Any]) -> list[list[Pair]]:
    passes = []
    for name in about["passes"]:
        try:
            table = pq.read_table(place / name, columns=["source", "target"])
        except (OSError, pa.ArrowException) as error:
            raise ConfigError(f"{place / name}: cannot be read ({error}); {ARM_ADVICE}") from error
        sides = (table.column(side).to_pylist() for side in ("source", "target"))
        passes.append(list(zip(*sides, strict=True)))
    if _data_digest(passes, about.get("stages")) != about["data"]:
        raise ConfigError(f"{place}: its pairs are not those that were prepared; {ARM_ADVICE}")
    return passes


def prepare(ablation: Ablation, directory: Path, only: Collection[str] | None = None) -> Prepared:
    """Prepare a directory, or the parts of it that are still missing.

    Arms and seeds can be added to the configuration of a directory; nothing else can change.

    Args:
        ablation: The configuration.
        directory: The directory.
        only: The arms that are needed; None for all. The baseline and arms with finished units,
            which a table needs, are prepared in any case.

    Raises:
        ConfigError: The directory was prepared for another configuration, a file cannot be used, or
            segments of a test set are in the training data of a model or an aligner.
    """
    make_directories(directory)
    with claimed(directory, NO_LOCKS, wait=True):
        tests, dev = _read_tests(ablation)
        plan = _plan(ablation, tests, dev)
        if not (directory / VOCABULARY).exists():
            check_given(ablation)
        _claim(directory / PLAN, plan)
        known = known_sources([*tests.values(), *([dev] if dev else [])], task_of(ablation))
        arms = {}
        # The baseline first: a mistake in it is reported before the other arms are made.
        first = [ablation.baseline, *(name for name in ablation.arms if name != ablation.baseline)]
        for name in first:
            if only is None or name in only or name == first[0] or _has_units(directory, name):
                arms[name] = _prepare_data(name, ablation.arms[name], ablation, directory, known)
        start, text = None, directory / ARMS / ablation.baseline / arms[first[0]]["passes"][0]
        if ablation.start is not None:
            recipe = Arm(data=ablation.start.data)
            start = _prepare_data(None, recipe, ablation, directory, known)
            text = directory / START / start["passes"][0]
        vocabulary = shared_vocabulary(ablation, directory / VOCABULARY, text)
        return Prepared(directory, ablation, vocabulary, tests, dev, arms, start)


def _has_units(directory: Path, arm: str) -> bool:
    names = (path.name for path in directory.joinpath(UNITS).glob("*.json.gz"))
    return any(re.fullmatch(rf"{re.escape(arm)}-\d+\.json\.gz", name) for name in names)


def _read_tests(ablation: Ablation) -> tuple[dict[str, EvaluationSet], EvaluationSet | None]:
    task = task_of(ablation)
    tests = {
        name: read_test(name, given, f"tests.{name}", task)
        for name, given in ablation.tests.items()
    }
    dev = None if ablation.dev is None else read_test("dev", ablation.dev, "dev", task)
    return tests, dev


def _plan(
    ablation: Ablation, tests: dict[str, EvaluationSet], dev: EvaluationSet | None
) -> dict[str, Any]:
    model = ablation.model.model_dump(exclude={"checkpoint_steps"})
    sets = {**tests, **({} if dev is None else {"dev": dev})}
    return {
        "format": FORMAT,
        "languages": [ablation.source_lang, ablation.target_lang],
        "size": model,
        "vocabulary": ablation.vocabulary,
        "text_of_vocabulary": ablation.baseline if ablation.start is None else "start",
        "start": None if ablation.start is None else ablation.start.model_dump(exclude={"data"}),
        "overlap": ablation.overlap,
        "tests": {name: digest_of(_as_json(test)) for name, test in sets.items()},
        **({} if ablation.task == "translation" else {"task": ablation.task}),
    }


def _claim(path: Path, plan: dict[str, Any]) -> None:
    """Write the plan of a new directory, or compare the plan of an existing directory."""
    data = to_json(plan)
    if not path.exists():
        files.write_bytes(str(path), data)
    before = json_files.parse_object(path.read_bytes(), str(path), PLAN_ADVICE)
    now = orjson.loads(data)
    for key in {**now, **before}:
        if before.get(key) != now.get(key):
            raise ConfigError(
                f"{path}: the directory belongs to an ablation with another {key}; {_ANOTHER}"
            )


def _prepare_data(
    name: str | None, arm: Arm, ablation: Ablation, directory: Path, known: dict[str, str]
) -> dict[str, Any]:
    """Write the pairs of an arm, unless that is done, and return the content of its `about.json`.

    Args:
        name: The arm's name; None for the model that all units start from.
        arm: The arm's recipe.
        ablation: The configuration.
        directory: The directory of the ablation.
        known: The test set of each source (`task_kind.known_sources`).
    """
    field, place = "start", directory / START
    if name is not None:
        field, place = f"arms.{name}", directory / ARMS / name
    recipe = arm.model_dump(mode="json", exclude_defaults=True)
    path = place / _ABOUT
    if path.exists():
        about = json_files.read_checked(str(path), ArmAbout)
        if about["recipe"] != recipe:
            raise ConfigError(
                f"{field}: {place} was prepared by another recipe; {_ANOTHER}, or give the arm "
                "another name"
            )
        return about
    runs = str(directory / RUNS)
    stages = [
        _read(f"{field}{later}", data, arm, ablation, runs, known) for later, data in arm.stages()
    ]
    _refuse_fitted(arm, ablation, runs, known)
    passes = [pairs for stage in stages for pairs in stage.passes]
    place.mkdir(parents=True, exist_ok=True)
    names = [f"pass-{number}.parquet" for number in range(len(passes))]
    for one, pairs in zip(names, passes, strict=True):
        sides = zip(("source", "target"), zip(*pairs, strict=True), strict=True)
        table = pa.table({side: pa.array(texts, pa.string()) for side, texts in sides})
        with files.open_write(str(place / one)) as file:
            pq.write_table(table, file, compression="zstd")
    aligner = None
    if arm.project is not None:
        choose_projection_segmenter(ablation.target_lang)
    if arm.project is not None and arm.project.encoder is not None:
        place_of_name = f"{field}.project.aligner"
        aligner = tag_projection.find_encoder(arm.project.encoder, place_of_name).digest
    elif arm.project is not None and arm.project.aligner == "hmm":
        pairs = [pair for stage in stages for pair in stage.passes[0]]
        model = tag_projection.fit_arm(field, arm.project, ablation, pairs, known)
        for one, data in model.to_files().items():
            files.write_bytes(str(place / _ALIGNER / one), data)
        aligner = model.digest
    facts = stage_facts(arm, ablation, stages)
    left_out = sum((stage.left_out for stage in stages), Counter[str]())
    about = {
        "recipe": recipe,
        "passes": names,
        "pairs": [len(pairs) for pairs in passes],
        "left_out": dict(left_out),
        "data": _data_digest(passes, facts),
        "aligner": aligner,
    }
    if facts is not None:
        about["stages"] = facts
    files.write_bytes(str(path), orjson.dumps(about, option=orjson.OPT_INDENT_2))
    said = f"{field}: {', then '.join(f'{count:,}' for count in first_pairs(about))} pairs"
    out = ", ".join(f"{count:,} {reason}" for reason, count in left_out.items())
    terminal.note(f"{said}; left out: {out}" if out else said)
    return about


def _read(
    field: str,
    data: Sequence[DataItem],
    arm: Arm,
    ablation: Ablation,
    runs: str,
    known: dict[str, str],
) -> ArmPairs:
    """Return the pairs of a stage, without the pairs whose source is in a test set."""
    made, task = read_stage(field, data, ablation, runs), task_of(ablation)
    before = len(made.passes[0])
    if ablation.overlap == "leave_out":
        made.passes = [
            [pair for pair in pairs if task.sentence(pair[0]) not in known] for pairs in made.passes
        ]
        made.left_out["of the test sets"] = before - len(made.passes[0])
    else:
        sentences = (task.sentence(text) for pairs in made.passes for text, _ in pairs)
        refuse_seen(sentences, known, f"the training data of {field}", _REMEDY)
    if not all(made.passes):
        raise ConfigError(f"{field}: no pair is left to train on")
    made.passes = [training_pairs(arm, pairs) for pairs in made.passes]
    return made


def _refuse_fitted(arm: Arm, ablation: Ablation, runs: str, known: dict[str, str]) -> None:
    """Refuse runs whose aligner was fitted on segments of a test set.

    A run's aligner is fitted on all pairs that pass the screen, including pairs that a later step
    rejects. It has seen these segments even if they are left out of the training data afterwards.
    Suggestions are made without fitting if their aligner is ``ter`` or none is used.
    """
    for directory in run_directories(arm, ablation, runs):
        run = FinishedRun.open(directory)
        if run.job == "suggest" and not _fits_aligner(run.settings):
            continue
        for shard, name in enumerate(run.names):
            rejects = run.table(run.rejects_name(shard), ["stage", "source"])
            both = zip(*(rejects.column(x).to_pylist() for x in ("stage", "source")), strict=True)
            fitted = [source for stage, source in both if stage not in _UNFITTED and source]
            kept = run.table(name, ["source"]).column("source").to_pylist()
            where = f"the pairs of {directory}, on which its aligner is fitted"
            refuse_seen(map(plain, [*kept, *fitted]), known, where, _EXCLUDE)


def _fits_aligner(settings: Mapping[str, Any]) -> bool:
    """Tell whether a run of suggest with these settings fits an aligner."""
    return "alignment" in settings["methods"] and settings["aligner"] != "ter"


_UNFITTED = frozenset(map(str, (Stage.READ, Stage.SCREEN)))


def _as_json(test: EvaluationSet) -> dict[str, Any]:
    value: dict[str, Any] = {"sources": test.sources, "references": test.references}
    return {**value, "others": test.others} if test.others else value


def _pairs_digest(passes: Sequence[Sequence[Pair]]) -> str:
    digest = hashlib.sha256()
    for pairs in passes:
        digest.update(b"\x1d")
        for pair in pairs:
            digest.update("\x1f".join(pair).encode() + b"\x1e")
    return digest.hexdigest()


def _data_digest(passes: Sequence[Sequence[Pair]], stages: list[dict[str, int]] | None) -> str:
    """Return the digest of the pairs of all stages, and of their passes and updates."""
    digest = _pairs_digest(passes)
    return digest if stages is None else digest_of([digest, stages])
