"""The directory of an ablation: vocabulary, test sets and the pairs of each arm, made once.

Every machine that has the directory can then train any unit, without the files that the
configuration names.
"""

import dataclasses
import gzip
import hashlib
import zlib
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from pairweave.models.hmm.hmm import HmmModel
from pairweave.models.subwords.symbol_pieces import extend_sentencepiece
from pairweave.models.subwords.symbol_training import train_with_symbols
from pairweave.pipelines.ablation import fitted_projection
from pairweave.pipelines.ablation.ablation_config import Ablation, Arm, ProjectedTags
from pairweave.pipelines.ablation.ablation_files import (
    ARM_ADVICE,
    PLAN_ADVICE,
    ArmAbout,
    FinishedUnit,
)
from pairweave.pipelines.ablation.arm_data import Pair, plain, read_arm, run_directories
from pairweave.pipelines.ablation.claims import claimed
from pairweave.pipelines.ablation.evaluation_sets import (
    EvaluationSet,
    known_sources,
    read_test,
    refuse_seen,
    without_tests,
)
from pairweave.pipelines.process import terminal
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.indexed_tag import INDICES
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.rejects import Stage
from pairweave.transforms.storage import files, json_files
from pairweave.transforms.storage.text_lines import read_in_step
from pairweave.transforms.symbols.representations import symbols

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
        tests: The test sets; the set of the learning curve is apart.
        dev: The set of the learning curve.
        arms: What `about.json` says of each arm that is prepared.
        start: What it says of the data of the model from which all units go on; None without one.
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

    def passes(self, arm: str) -> list[list[Pair]]:
        """Return the pairs of each pass over an arm's data.

        Raises:
            ConfigError: A file is not the one that was prepared.
        """
        return _read_passes(self.directory / ARMS / arm, self.arms[arm])

    def start_passes(self) -> list[list[Pair]]:
        """Return the pairs of each pass over the data of the model from which all units go on.

        Raises:
            ConfigError: A file is not the one that was prepared.
        """
        assert self.start is not None
        return _read_passes(self.directory / START, self.start)

    def aligner(self, arm: str) -> HmmModel:
        """Return the aligner that puts the tags of an arm's translations back."""
        place = self.directory / ARMS / arm / _ALIGNER
        model = HmmModel.from_files({one.name: one.read_bytes() for one in place.iterdir()})
        if model.digest != self.arms[arm]["aligner"]:
            raise ConfigError(f"{place}: is not the aligner that was prepared; {ARM_ADVICE}")
        return model


def _read_passes(place: Path, about: dict[str, Any]) -> list[list[Pair]]:
    passes = []
    for name in about["passes"]:
        try:
            table = pq.read_table(place / name, columns=["source", "target"])
        except (OSError, pa.ArrowException) as error:
            raise ConfigError(f"{place / name}: cannot be read ({error}); {ARM_ADVICE}") from error
        sides = (table.column(side).to_pylist() for side in ("source", "target"))
        passes.append(list(zip(*sides, strict=True)))
    if _pairs_digest(passes) != about["data"]:
        raise ConfigError(f"{place}: its pairs are not those that were prepared; {ARM_ADVICE}")
    return passes


def prepare(ablation: Ablation, directory: Path, only: Collection[str] | None = None) -> Prepared:
    """Prepare a directory, or what is missing in it.

    Arms and seeds can be added to the configuration of a directory; nothing else can change.

    Args:
        ablation: The configuration.
        directory: The directory.
        only: The arms that are needed; None for all. The baseline and arms with finished units,
            which a table needs, are prepared in any case.

    Raises:
        ConfigError: The directory is of another configuration, a file cannot be used, or segments
            of a test set are in the training data of a model or an aligner.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with claimed(directory, wait=True):
        tests, dev = _read_tests(ablation)
        plan = _plan(ablation, tests, dev)
        _claim(directory / PLAN, plan)
        known = known_sources([*tests.values(), *([dev] if dev else [])])
        arms = {}
        # The baseline first: a mistake in it is told before the other arms are made.
        first = [ablation.baseline, *(name for name in ablation.arms if name != ablation.baseline)]
        for name in first:
            if only is None or name in only or name == first[0] or _has_units(directory, name):
                arms[name] = _prepare_data(name, ablation.arms[name], ablation, directory, known)
        start, text = None, directory / ARMS / ablation.baseline / arms[first[0]]["passes"][0]
        if ablation.start is not None:
            recipe = Arm(data=ablation.start.data)
            start = _prepare_data(None, recipe, ablation, directory, known)
            text = directory / START / start["passes"][0]
        vocabulary = _vocabulary(ablation, directory / VOCABULARY, text)
        return Prepared(directory, ablation, vocabulary, tests, dev, arms, start)


def _has_units(directory: Path, arm: str) -> bool:
    return any(directory.joinpath(UNITS).glob(f"{arm}-*.json.gz"))


def _read_tests(ablation: Ablation) -> tuple[dict[str, EvaluationSet], EvaluationSet | None]:
    tests = {
        name: read_test(name, given, f"tests.{name}") for name, given in ablation.tests.items()
    }
    return tests, None if ablation.dev is None else read_test("dev", ablation.dev, "dev")


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
        "start": None if ablation.start is None else ablation.start.model_dump(include=_START),
        "overlap": ablation.overlap,
        "tests": {name: digest_of(_as_json(test)) for name, test in sets.items()},
    }


_START = {"steps", "seed"}


def _claim(path: Path, plan: dict[str, Any]) -> None:
    """Write the plan of a new directory, or compare that of an old one."""
    data = orjson.dumps(plan, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
    if not path.exists():
        files.write_bytes(str(path), data + b"\n")
    before = json_files.parse_object(path.read_bytes(), str(path), PLAN_ADVICE)
    for key, value in orjson.loads(data).items():
        if before.get(key) != value:
            raise ConfigError(
                f"{path}: the directory belongs to an ablation with another {key}; {_ANOTHER}"
            )


def _prepare_data(
    name: str | None, arm: Arm, ablation: Ablation, directory: Path, known: dict[str, str]
) -> dict[str, Any]:
    """Write the pairs of an arm, unless that is done, and return what its `about.json` says.

    Args:
        name: Its name; None for the model from which all units go on.
        arm: Its recipe.
        ablation: The configuration.
        directory: The directory of the ablation.
        known: The sources of the test sets, and the set that each is in.
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
                f"{field}: {place} was prepared by another recipe; {_ANOTHER}, or name the arm "
                "otherwise"
            )
        return about
    runs = str(directory / RUNS)
    made = read_arm(field, arm, ablation, runs)
    before = len(made.passes[0])
    if ablation.overlap == "leave_out":
        made.passes = [without_tests(pairs, known) for pairs in made.passes]
        made.left_out["of the test sets"] = before - len(made.passes[0])
    else:
        sources = (source for pairs in made.passes for source, _ in pairs)
        refuse_seen(sources, known, f"the training data of {field}", _REMEDY)
    if not all(made.passes):
        raise ConfigError(f"{field}: no pair is left to train on")
    _refuse_fitted(arm, ablation, runs, known)
    place.mkdir(parents=True, exist_ok=True)
    names = [f"pass-{number}.parquet" for number in range(len(made.passes))]
    for one, pairs in zip(names, made.passes, strict=True):
        sides = zip(("source", "target"), zip(*pairs, strict=True), strict=True)
        table = pa.table({side: pa.array(texts, pa.string()) for side, texts in sides})
        pq.write_table(table, place / one, compression="zstd")
    aligner = None
    if arm.project is not None and arm.project.aligner == "hmm":
        aligner = _fit(field, arm.project, ablation, made.passes, known, place)
    about = {
        "recipe": recipe,
        "passes": names,
        "pairs": [len(pairs) for pairs in made.passes],
        "left_out": {reason: count for reason, count in made.left_out.items() if count},
        "data": _pairs_digest(made.passes),
        "aligner": aligner,
    }
    files.write_bytes(str(path), orjson.dumps(about, option=orjson.OPT_INDENT_2))
    said = f"{field}: {before:,} pairs"
    out = ", ".join(f"{count:,} {reason}" for reason, count in about["left_out"].items())
    terminal.note(f"{said}; left out: {out}" if out else said)
    return about


def _refuse_fitted(arm: Arm, ablation: Ablation, runs: str, known: dict[str, str]) -> None:
    """Refuse runs whose aligner was fitted on segments of a test set.

    A run's aligner is fitted on pairs that pass the screen: those that the run keeps, and those
    that a later step rejects. Leaving them out of the training data comes too late for it.
    """
    for directory in run_directories(arm, ablation, runs):
        run = FinishedRun.open(directory)
        for shard, name in enumerate(run.names):
            rejects = run.table(run.rejects_name(shard), ["stage", "source"])
            both = zip(*(rejects.column(x).to_pylist() for x in ("stage", "source")), strict=True)
            fitted = [source for stage, source in both if stage not in _UNFITTED and source]
            kept = run.table(name, ["source"]).column("source").to_pylist()
            where = f"the pairs of {directory}, on which its aligner is fitted"
            refuse_seen([*kept, *fitted], known, where, _EXCLUDE)


_UNFITTED = frozenset(map(str, (Stage.READ, Stage.SCREEN)))


def _fit(
    field: str,
    given: ProjectedTags,
    ablation: Ablation,
    passes: Sequence[Sequence[Pair]],
    known: dict[str, str],
    place: Path,
) -> str:
    """Fit the aligner that puts tags back, write it, and return its digest."""
    pairs: Iterable[Pair] = passes[0]
    if given.fit_source is not None and given.fit_target is not None:
        lines = read_in_step(given.fit_source, given.fit_target)
        pairs = [(one.text, other.text) for one, other in lines]
        refuse_seen(
            (source for source, _ in pairs),
            known,
            f"the fit of the aligner of {field} ({given.fit_source})",
            "leave them out of the file",
        )
    texts = dict.fromkeys((plain(source), plain(target)) for source, target in pairs)
    model = fitted_projection.fit_aligner(
        [pair for pair in texts if all(pair)], (ablation.source_lang, ablation.target_lang)
    )
    for one, data in model.to_files().items():
        files.write_bytes(str(place / _ALIGNER / one), data)
    return model.digest


def _vocabulary(ablation: Ablation, path: Path, text: Path) -> bytes:
    """Return the vocabulary of all models: of the pairs in a file, or a model that is given."""
    if path.exists():
        return path.read_bytes()
    listed = symbols("indexed", INDICES)
    if isinstance(ablation.vocabulary, str):
        try:
            model = extend_sentencepiece(files.read_bytes(ablation.vocabulary), listed)
        except OSError as error:
            raise ConfigError(
                f"vocabulary: {ablation.vocabulary}: cannot be read: {error.strerror}"
            ) from error
    else:
        table = pq.read_table(text)
        sides = [table.column(side).to_pylist() for side in ("source", "target")]
        texts = dict.fromkeys(plain(text) for side in sides for text in side)
        model = train_with_symbols(texts, listed, ablation.vocabulary, "unigram")
    files.write_bytes(str(path), model)
    return model


def _as_json(test: EvaluationSet) -> dict[str, Any]:
    return {"sources": test.sources, "references": test.references}


def _pairs_digest(passes: Sequence[Sequence[Pair]]) -> str:
    digest = hashlib.sha256()
    for pairs in passes:
        digest.update(b"\x1d")
        for pair in pairs:
            digest.update("\x1f".join(pair).encode() + b"\x1e")
    return digest.hexdigest()


def digest_of(value: object) -> str:
    """Return the hex SHA-256 of a JSON value."""
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()


def write_packed(path: Path, value: object) -> None:
    """Write a JSON value, compressed; the same value gives the same bytes."""
    data = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    files.write_bytes(str(path), gzip.compress(data, 9, mtime=0))


def read_packed(path: Path) -> dict[str, Any]:
    """Read a unit that `write_packed` wrote.

    Raises:
        ConfigError: It is damaged; names the field.
    """
    try:
        data = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise ConfigError(f"{path}: is damaged ({error}); {FinishedUnit.ADVICE}") from error
    value = json_files.parse_object(data, str(path), FinishedUnit.ADVICE)
    json_files.check(value, str(path), FinishedUnit)
    return value
