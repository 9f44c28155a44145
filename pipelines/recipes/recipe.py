"""Read a recipe: all its steps with their options, checked before anything runs."""

import contextlib
import dataclasses
import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pairweave.pipelines.command_line import mistaken_paths, outputs, validation
from pairweave.pipelines.command_line.command_table import COMMANDS, job_of, job_options
from pairweave.pipelines.options.base import (
    SET_ELSEWHERE,
    InputOptions,
    Options,
    PlannedOptions,
)
from pairweave.pipelines.options.corpus_options import (
    ScoredCorpus,
    TranslatedCorpus,
)
from pairweave.pipelines.recipes import agreement, rejected_share
from pairweave.pipelines.recipes.references import Reference, Values, listed, put_paths
from pairweave.pipelines.recipes.step import Step
from pairweave.pipelines.recipes.step_checks import check_step, written_files
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.formats.registry import FormatOptions
from pairweave.transforms.option_marks import AGREES, GIVES_PAIRS, SHAPES_TEXT, marked
from pairweave.transforms.option_places import is_list_of_blocks
from pairweave.transforms.storage import files
from pairweave.transforms.storage.yaml_files import read_yaml

MAX_ROUNDS = 10

MAX_NAME = 200
"""Maximum length of a step's name, in characters: file systems limit names to 255 bytes, which must
also contain the number of a round and the additions of temporary names."""

_JOBS_FOLDER = "pairweave.pipelines.jobs."
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")

_OF_PAIRS = (ScoredCorpus, TranslatedCorpus)
"""Classes that together have all options that name files of pairs."""

_CORPORA = frozenset(
    name for name, field in InputOptions.model_fields.items() if is_list_of_blocks(field)
)

_INPUT = _CORPORA.union(*(marked(kind, GIVES_PAIRS) for kind in _OF_PAIRS))
"""Keys that name the input."""

_ABOUT_INPUT = _CORPORA.union(*(kind.model_fields for kind in _OF_PAIRS)).difference(
    FormatOptions.model_fields, *(marked(kind, AGREES, SHAPES_TEXT) for kind in _OF_PAIRS)
)
"""Keys that describe the input: a step with its own input inherits none of them."""


@dataclasses.dataclass(frozen=True)
class _Draft:
    """A step whose values are not checked yet.

    Attributes:
        name: Its name in the file, without the number of a round.
        job: The name of the job.
        values: Its own keys except ``name``, ``job`` and ``max_rejected``.
        most: The value of ``max_rejected``, if given.
    """

    name: str
    job: str
    values: Values
    most: float | None = None


def jobs() -> tuple[str, ...]:
    """Return the names of the jobs that a step can run."""
    return tuple(
        name for name, command in COMMANDS.items() if command.module.startswith(_JOBS_FOLDER)
    )


def read_recipe(
    path: str, output: str, overrides: Mapping[str, Any], most: float | None = None
) -> tuple[Step, ...]:
    """Read a recipe and check the options of all steps.

    Args:
        path: The YAML file.
        output: The directory that contains one directory for each step.
        overrides: Options from the command line, which take precedence in every step that has them.
        most: ``max_rejected`` from the command line, which also takes precedence.

    Returns:
        The steps in order; those of a repeated block occur once for each round.

    Raises:
        ConfigError: The recipe cannot be run; the message names the file, the step and the key.
    """
    document = read_yaml(path)  # errors of this call name the file
    try:
        return _Reader(_checked(document, path), output, overrides, most).steps()
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def _checked(value: object, path: str) -> Values:
    if isinstance(value, dict):
        validation.check_kind(value, path, ("steps",))
    if not isinstance(value, dict) or not isinstance(value.get("steps"), list):
        raise ConfigError("expected a map with a list of steps; see pairweave run --help")
    if not value["steps"]:
        raise ConfigError("steps: the list is empty; give at least one job")
    return value


class _Reader:
    """Makes the steps of one recipe."""

    def __init__(
        self, document: Values, output: str, overrides: Mapping[str, Any], most: float | None
    ) -> None:
        self._output, self._overrides, self._most = output, overrides, most
        self._blocks = list(_blocks(document["steps"]))
        shared, self._shared_most = _most_of(document)
        self._shared = {key: value for key, value in shared.items() if key != "steps"}
        drafts = [draft for _, block in self._blocks for draft in block]
        self._check_shared({draft.job for draft in drafts})
        names = [draft.name for draft in drafts]
        for name in names:
            if names.count(name) > 1:
                raise ConfigError(f"two steps are named {name}; give each its own name")
        self._made: dict[str, Step] = {}
        self._latest: dict[str, Step] = {}
        self._written: dict[str, str] = {}

    def _check_shared(self, used: set[str]) -> None:
        known = sorted({name for job in used for name in job_options(job).model_fields})
        for key in SET_ELSEWHERE:
            if key in self._shared:
                raise ConfigError(f"{key}: {_refused_key(key)}")
        validation.check_keys(self._shared, known)

    def steps(self) -> tuple[Step, ...]:
        """Return the steps of all rounds."""
        for rounds, block in self._blocks:
            for number in range(1, (rounds or 1) + 1):
                for place, draft in enumerate(block):
                    name = draft.name if rounds is None else f"{draft.name}-{number}"
                    if name in self._made:
                        raise ConfigError(f"step {name}: another step has the same directory")
                    ahead = {later.name for later in block[place:]} if rounds is not None else set()
                    with _named(name):
                        step = self._step(name, draft, ahead, number)
                    self._made[name] = self._latest[draft.name] = step
        self._check_folders()
        return tuple(self._made.values())

    def _step(self, name: str, draft: _Draft, ahead: set[str], number: int) -> Step:
        model: type[PlannedOptions] = job_options(draft.job)
        validation.check_keys(draft.values, list(model.model_fields))
        values = {**self._inherited(draft, model), **draft.values}
        values |= {
            key: value for key, value in self._overrides.items() if key in model.model_fields
        }
        find = functools.partial(self._find, ahead=ahead, number=number)
        values, reads = put_paths(model, values, find)
        sources = [self._made[step] for step in _sources(values, self._made)]
        values = {**agreement.inherited(draft.job, sources), **values}
        values["output"] = files.join(self._output, name)
        options = validation.validate(model, values, f"pairweave {draft.job}")
        mistaken_paths.check(options)
        outputs.check(options)
        check_step(options, [step.options.output for step in self._made.values()])
        self._check_written(name, options)
        job_of(draft.job).check(options)
        agreement.check(draft.job, options, sources, [self._made[step] for step in reads])
        limits = (self._most, draft.most, self._shared_most, rejected_share.DEFAULT)
        most = next(limit for limit in limits if limit is not None)
        return Step(name, draft.job, options, reads, most)

    def _check_written(self, name: str, options: PlannedOptions) -> None:
        """Refuse a file that another step, or the same one of another round, writes too."""
        for path in written_files(options):
            other = self._written.setdefault(path, name)
            if other != name:
                raise ConfigError(f"{path}: the step {other} writes this file too; name another")

    def _check_folders(self) -> None:
        """Refuse a file in the directory of another step."""
        for path, name in self._written.items():
            for other, step in self._made.items():
                inside = path.startswith(files.absolute(step.options.output).rstrip("/") + "/")
                if inside and other != name:
                    raise ConfigError(
                        f"step {name}: {path}: is in the directory of the step {other}; name a "
                        "file outside it"
                    )

    def _find(self, reference: Reference, *, ahead: set[str], number: int) -> Step:
        """Return the step that a reference means.

        Args:
            reference: The reference, as in the file.
            ahead: The steps of a repeated block that come later in each round, including this one.
            number: The number of the round, from 1.
        """
        validation.check_keys(reference, ("from", "first"))
        for key, value in reference.items():
            if not isinstance(value, str):
                raise ConfigError(f"{key}: expected the name of one step, got {value!r}")
        name = str(reference["from"])
        if name not in ahead:
            if "first" in reference:
                raise ConfigError(
                    f"first: applies only if from names a later step of a repeated block; "
                    f"{name} does not"
                )
        elif "first" not in reference:
            raise ConfigError(
                f"from: {name} comes later in the repeated block, so it does not exist yet in the "
                f"first round; name the step to begin with, as in {{from: {name}, first: STEP}}"
            )
        elif number == 1:
            name = str(reference["first"])
        if name not in self._latest:
            there = ", ".join(self._latest) or "none"
            raise ConfigError(f"no earlier step is named {name}; those before it: {there}")
        return self._latest[name]

    def _inherited(self, draft: _Draft, model: type[Options]) -> Values:
        """Return the shared keys that a step inherits."""
        left_out = set(draft.values)
        if not draft.values.keys().isdisjoint(_INPUT):
            left_out |= _ABOUT_INPUT
        return {
            key: value
            for key, value in self._shared.items()
            if key in model.model_fields and key not in left_out
        }


def _sources(values: Values, steps: Mapping[str, Step]) -> list[str]:
    """Return the names of the steps whose pairs a step reads, given its keys with paths."""
    corpora = [corpus for corpus in values.get("corpora") or () if isinstance(corpus, dict)]
    runs = {run for corpus in (values, *corpora) for run in listed(corpus.get("from_run"))}
    return [name for name, step in steps.items() if step.options.output in runs]


def _most_of(values: Values) -> tuple[Values, float | None]:
    """Split the key ``max_rejected`` off the keys of a recipe or step.

    Raises:
        ConfigError: It is not a share.
    """
    rest = {key: value for key, value in values.items() if key != rejected_share.KEY}
    most = values.get(rejected_share.KEY)
    if rejected_share.KEY not in values:
        return rest, None
    if isinstance(most, bool) or not isinstance(most, int | float) or not 0 <= most <= 1:
        raise ConfigError(
            f"{rejected_share.KEY}: expected a share from 0 to 1, such as 0.8, got {most!r}"
        )
    return rest, float(most)


@contextlib.contextmanager
def _named(name: str) -> Iterator[None]:
    """Prefix the message of an error with the name of the step."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(f"step {name}: {error}") from error


def _blocks(entries: Sequence[object]) -> Iterator[tuple[int | None, list[_Draft]]]:
    """Yield single steps, and blocks of steps with the number of their rounds."""
    for place, entry in enumerate(entries, 1):
        label = f"steps, entry {place}"
        if not isinstance(entry, dict):
            raise ConfigError(f"{label}: expected a map with the key job, found {entry!r}")
        if "iterations" in entry and "job" not in entry:
            yield (
                _rounds(label, entry),
                [
                    _draft(f"{label}, entry {inner}", inner_entry)
                    for inner, inner_entry in enumerate(_inner(label, entry), 1)
                ],
            )
        else:
            yield None, [_draft(label, entry)]


def _rounds(label: str, entry: Values) -> int:
    rounds = entry["iterations"]
    if type(rounds) is not int or not 1 <= rounds <= MAX_ROUNDS:
        raise ConfigError(
            f"{label}: iterations must be a whole number from 1 to {MAX_ROUNDS}, got {rounds!r}"
        )
    return rounds


def _inner(label: str, entry: Values) -> list[object]:
    flags_of_block = sorted(str(key) for key in entry.keys() - {"iterations", "steps"})
    if flags_of_block:
        raise ConfigError(
            f"{label}: {flags_of_block[0]}: a repeated block has iterations and steps only; give "
            "it in its steps, or at the top of the file for all of them"
        )
    inner = entry.get("steps")
    if not isinstance(inner, list) or not inner:
        raise ConfigError(f"{label}: steps: expected the list of steps to repeat")
    return inner


def _draft(label: str, entry: object) -> _Draft:
    if not isinstance(entry, dict) or "job" not in entry:
        raise ConfigError(f"{label}: expected a map with the key job, one of {', '.join(jobs())}")
    job = entry["job"]
    if job not in jobs():
        raise ConfigError(f"{label}: job must be one of {', '.join(jobs())}, got {job!r}")
    name = entry.get("name", job)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigError(
            f"{label}: name must consist of letters, digits, dots, dashes and underscores, as it "
            f"names a directory; got {name!r}"
        )
    if len(name) > MAX_NAME:
        raise ConfigError(
            f"{label}: name has {len(name)} characters; give one with at most {MAX_NAME}, as it "
            "names a directory"
        )
    values = {key: value for key, value in entry.items() if key not in ("name", "job")}
    for key in SET_ELSEWHERE:
        if key in values:
            raise ConfigError(f"step {name}: {key}: {_refused_key(key)}")
    with _named(name):
        return _Draft(name, job, *_most_of(values))


def _refused_key(key: str) -> str:
    if key == "output":
        return "each step writes to a directory of its name; give --output DIR on the command line"
    return "of the command line alone; leave it out"
