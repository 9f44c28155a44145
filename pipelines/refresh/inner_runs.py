"""The job's run on the new files of a night, in a directory of its own below ``_runs``.

The name of the directory is a hash of the run's input, of the pairs that the table had, and of the
settings. A night that was killed therefore finds its receipts and shards again. A night that was
overtaken by another night finds its finished run and uses the pairs that are still new.
"""

import contextlib
import dataclasses
import io
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pairweave.pipelines.aligners.hmm import Hmm
from pairweave.pipelines.command_line import validation
from pairweave.pipelines.command_line.command_table import job_of
from pairweave.pipelines.options.base import GraphOptions
from pairweave.pipelines.options.corpora import corpora_of
from pairweave.pipelines.refresh.assembly import Source
from pairweave.pipelines.refresh.chain import inner_notes, kept_models
from pairweave.pipelines.refresh.chain.hashed_reads import digest_of
from pairweave.pipelines.refresh.chain.inner_notes import ABOUT, KNOWN, RUN, RUNS, TAKEN, Note
from pairweave.pipelines.refresh.file_ledger import NightInputs
from pairweave.pipelines.refresh.night_config import NightConfig, Values, input_files, input_keys
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.known_pairs import IdSet, Tombstones
from pairweave.transforms.option_marks import OF_COMMAND, marked
from pairweave.transforms.output import run_files
from pairweave.transforms.output.documents.manifest_model import read_manifest
from pairweave.transforms.output.documents.plan_model import PlanDocument, read_plan
from pairweave.transforms.output.run_files import to_json
from pairweave.transforms.planning.locate import locate, option_of
from pairweave.transforms.storage import files
from pairweave.transforms.units import CorpusInput

OPTIONS = "options.yaml"
"""Options of a job that `launches` has prepared; `vacuum` keeps such a job's files for a while."""

Launch = dict[str, str]
"""A job to start: its name (``job``) and its options ``config`` and ``output``."""

_LEADS = ("pairs", "source")
"""Roles of the first file of each entry in a plan."""


@dataclasses.dataclass(frozen=True)
class InnerRun:
    """A run on the new files of one pair of languages.

    Attributes:
        directory: Its directory; the run itself is in its subdirectory `RUN`.
        keys: Keys of the entries that it reads, in order.
    """

    directory: str
    keys: tuple[str, ...]

    @property
    def run(self) -> str:
        """Return the directory of the run itself."""
        return files.join(self.directory, RUN)

    @property
    def is_finished(self) -> bool:
        """Tell whether its manifest exists."""
        return files.exists(files.join(self.run, run_files.MANIFEST))


@dataclasses.dataclass(frozen=True)
class Request:
    """The new files that a night must have read, and the settings for reading them.

    Attributes:
        config: The configuration.
        inputs: The input files of tonight.
        languages: The pair of languages.
        keys: Keys of the new entries in these languages.
        known: Ids of the pairs that the table has.
        stones: The tombstones.
        model: The option that takes the table's model for these languages, and the model's
            directory; None if there is no such model.
    """

    config: NightConfig
    inputs: NightInputs
    languages: tuple[str, str]
    keys: tuple[str, ...]
    known: IdSet
    stones: Tombstones
    model: tuple[str, str] | None

    @property
    def pair(self) -> str:
        """Return the pair of languages as it is written, such as ``en-de``."""
        return "-".join(self.languages)

    @property
    def facts(self) -> dict[str, Any]:
        """Return what determines the rows of a run, except its files and the table's pairs."""
        return {
            "settings": self.config.settings,
            "languages": list(self.languages),
            "model": None if self.model is None else self.model[1].rpartition("/")[2],
            "taken_down": digest_of(self.stones.to_bytes()),
            "look": self.config.look,
        }


def find_or_run(
    table: str, request: Request, extra: Sequence[str], *, fresh: bool, may_start: bool
) -> InnerRun:
    """Return a finished run that read all new entries; start one if there is none.

    Args:
        table: Directory of all tables.
        request: The files to read.
        extra: The user's Beam options.
        fresh: Whether the run of another night must not be used.
        may_start: Whether a job may be started.

    Raises:
        WorkerError: There is no such run, and no job may be started; or the job failed.
    """
    if not fresh:
        earlier = _finished(table, request)
        if earlier is not None:
            return earlier
    if not may_start:
        raise not_prepared(table)
    inner = _prepared(table, request)
    _start(inner, request, extra)
    return inner


def not_prepared(table: str) -> WorkerError:
    """Return the error for a night that needs a job but must not start one."""
    return WorkerError(
        f"{table}: a job is still to be started, because one that was prepared is not finished or "
        "no longer fits this night, so nothing was committed: run the command with --launches again"
    )


def late(table: str, requests: Sequence[Request]) -> set[str]:
    """Return the keys of new entries that came after the runs of a night were prepared.

    Raises:
        WorkerError: A run that was prepared for a new entry is not finished or no longer matches.
    """
    keys: set[str] = set()
    for request in requests:
        if _finished(table, request) is None:
            wanted = set(request.keys)
            parts = [
                set(inner.keys)
                for inner, note in _runs(table)
                if _same(note, request) and wanted.issuperset(inner.keys) and inner.is_finished
            ]
            keys |= wanted - max(parts, key=len, default=set())
    if not keys.isdisjoint(key for inner, _ in _runs(table) for key in inner.keys):
        raise not_prepared(table)
    return keys


def launches(table: str, requests: Sequence[Request]) -> list[Launch]:
    """Return the jobs that a scheduler must start: runs that a night needs and that are unfinished.

    Also write the files that they need, including their options.

    Args:
        table: Directory of all tables.
        requests: The files that the night must read.
    """
    jobs: list[Launch] = []
    for request in requests:
        if _finished(table, request) is not None:
            continue
        inner = _prepared(table, request)
        of_command = marked(request.config.kind, OF_COMMAND)  # the scheduler sets these options
        values = {k: v for k, v in _values(inner, request).items() if k not in of_command}
        output = values.pop("output")
        config = files.join(inner.directory, OPTIONS)
        files.write_bytes(config, to_json(values))  # JSON is YAML
        jobs.append({"job": request.config.job, "config": config, "output": output})
    return jobs


def _prepared(table: str, request: Request) -> InnerRun:
    """Write the files that a run needs, and return the run without starting it.

    Raises:
        ConfigError: The corpora of the configuration do not fit together.
    """
    for part in job_of(request.config.job).parts:
        part.check_corpora(request.config.options, request.config.inputs)
    entries = [request.inputs.entries[key] for key in request.keys]
    known, stones = request.known.to_bytes(), request.stones.to_bytes()
    nowhere = InnerRun(files.join(table, RUNS, "new"), request.keys)
    note = Note.model_validate(
        {
            **request.facts,
            "files": [[entry.key, *entry.names] for entry in entries],
            "known": digest_of(known),
            "order": _in_plan_order(nowhere, request),
        }
    )
    return InnerRun(inner_notes.write(table, note, known, stones), request.keys)


def _finished(table: str, request: Request) -> InnerRun | None:
    """Return a finished run that has read all new entries, and perhaps others; None if none."""
    for inner, note in _runs(table):
        if _same(note, request) and _reads(inner, request) and inner.is_finished:
            return inner
    return None


def _runs(table: str) -> Iterator[tuple[InnerRun, Note]]:
    """Yield all prepared runs, finished or not, each with its note."""
    for directory, note in inner_notes.read_all(table):
        yield InnerRun(directory, note.keys), note


def _same(note: Note, request: Request) -> bool:
    return to_json(note.facts) == to_json(request.facts)


def _reads(inner: InnerRun, request: Request) -> bool:
    """Tell whether a run read all that is needed and fitted no model to other files.

    A run with further files may have been refused by a gate: a model that learned from them must
    not be kept.
    """
    wanted, read = set(request.keys), set(inner.keys)
    return wanted == read or (wanted < read and not kept_models.fitted_in(inner.run))


def _start(inner: InnerRun, request: Request, extra: Sequence[str]) -> None:
    config = request.config
    options = _options(inner, request)
    with contextlib.redirect_stdout(io.StringIO()):  # the plan names files that are deleted later
        status = job_of(config.job).start(options, extra)
    if status or not inner.is_finished:
        raise WorkerError(f"{inner.run}: the job ended without a manifest")


def _options(inner: InnerRun, request: Request) -> GraphOptions:
    config = request.config
    return validation.validate(config.kind, _values(inner, request), f"pairweave {config.job}")


def _values(inner: InnerRun, request: Request) -> Values:
    """Return the job's YAML keys for the new entries alone."""
    config = request.config
    values = {key: value for key, value in config.values.items() if key not in input_keys()}
    values |= {
        "output": inner.run,
        "known_pairs": files.join(inner.directory, KNOWN),
        "corpora": list(_corpora(request)),
        "allow_empty": True,
    }
    if len(request.stones):
        values["taken_down"] = files.join(inner.directory, TAKEN)
    if "keep_origin" in config.kind.model_fields:
        values["keep_origin"] = True
    if request.model is not None:
        option, path = request.model
        values = {key: value for key, value in values.items() if key not in Hmm.own}
        if values.get("tokens") == "sentencepiece":
            del values["tokens"]
        values[option] = path
    return values


def _corpora(request: Request) -> list[Values]:
    """Return the YAML keys of the corpora, with the paths of the new entries as their input."""
    new = _files_by_corpus(request.inputs, request.keys)
    corpora = []
    for corpus in request.config.own:
        if corpus["corpus"] in new:
            own = {key: value for key, value in corpus.items() if key not in input_keys()}
            corpora.append({**own, **new[corpus["corpus"]]})
    return corpora


def _files_by_corpus(
    inputs: NightInputs, keys: Sequence[str]
) -> dict[str | None, dict[str, list[str]]]:
    """Return the paths of entries, by corpus and by the option that names such files."""
    paths: dict[str | None, dict[str, list[str]]] = {}
    for key in keys:
        group = inputs.groups[key]
        own = paths.setdefault(group.corpus.name, {})
        for file in group.files:
            own.setdefault(option_of(file.role), []).append(file.path)
    return paths


def arriving(tonight: NightInputs) -> list[CorpusInput]:
    """Return the corpora of a night with their new files alone."""
    groups = [tonight.groups[key] for key in tonight.new]
    corpora = {group.corpus.name: group.corpus for group in groups}
    absent: dict[str, Any] = dict.fromkeys(input_files(), ())
    return [
        dataclasses.replace(corpora[name], **absent | {k: tuple(v) for k, v in paths.items()})
        for name, paths in _files_by_corpus(tonight, tonight.new).items()
    ]


def source_of(inner: InnerRun, request: Request) -> Source:
    """Return a finished run as the source of a night's files.

    Its plan names each file as it was named then, in the order of the keys in its note.

    Raises:
        ConfigError: The run's given files have changed since, or its plan is damaged.
        WorkerError: The run read contents that differ from the ledger's.
    """
    path = files.join(inner.run, run_files.PLAN)
    plan = read_plan(path)
    leads = [entry for entry in plan["inputs"] if entry["role"] in _LEADS]
    note = inner_notes.read(inner.directory)
    inner_notes.require_inputs(inner.directory, note)
    keys = note.order
    if len(leads) != len(keys) or plan["inputs"][:1] != leads[:1]:
        raise ConfigError(
            f"{path}: inputs: expected {len(keys)} files or pairs of files, as the note of the run "
            f"has, found {len(leads)}; {PlanDocument.ADVICE}"
        )
    contents = {
        (str(lead["corpus"]), str(lead["name"])): key for lead, key in zip(leads, keys, strict=True)
    }
    _check_contents(inner, plan["inputs"], keys, request)
    rows = {key: int(lead["rows"]) for lead, key in zip(leads, keys, strict=True)}
    return Source(inner.run, contents, {key: rows[key] for key in keys if key in request.keys})


def _check_contents(
    inner: InnerRun, inputs: Sequence[Mapping[str, Any]], keys: Sequence[str], request: Request
) -> None:
    """Check by hashes that a run read the same contents as the ledger has.

    Raises:
        WorkerError: A file changed in between, for example during its upload. The run is deleted.
    """
    for key, group in zip(keys, _groups(inputs), strict=True):
        if key not in request.keys:
            continue
        expected = [file.sha256 for file in request.inputs.entries[key].files]
        if [file["sha256"] for file in group] != expected:
            delete(inner)
            names = " ".join(str(file["name"]) for file in group)
            raise WorkerError(
                f"{names}: changed while the night was made, "
                "so nothing was committed. Is it still being written? Run the same command again "
                "when it is complete; or with --full_check, if it changed before and kept its size "
                "and time"
            )


def _groups(inputs: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Divide the files of a plan into those that are read together."""
    groups: list[list[Mapping[str, Any]]] = []
    for entry in inputs:
        if entry["role"] in _LEADS:
            groups.append([])
        groups[-1].append(entry)
    return groups


def _in_plan_order(inner: InnerRun, request: Request) -> list[str]:
    """Return the keys of a run's entries in the order of its plan, corpus by corpus."""
    paths = {
        tuple(file.path for file in request.inputs.groups[key].files): key for key in inner.keys
    }
    groups = locate(corpora_of(_options(inner, request)))
    return [paths[tuple(file.path for file in group.files)] for group in groups]


def delete(inner: InnerRun) -> None:
    """Delete a run whose rows are committed, its note first."""
    files.delete(files.join(inner.directory, ABOUT))
    if not files.is_uri(inner.directory):
        shutil.rmtree(inner.directory, ignore_errors=True)
        return
    with contextlib.suppress(OSError):  # `vacuum` deletes the rest
        for name in files.list_below(inner.directory):
            files.delete(files.join(inner.directory, name))


def manifest_of(inner: InnerRun) -> dict[str, Any]:
    """Return the manifest of a finished run.

    Raises:
        ConfigError: The manifest is damaged.
    """
    return read_manifest(files.join(inner.run, run_files.MANIFEST))


def findings_of(inner: InnerRun, request: Request) -> Counter[str]:
    """Return the lines with each kind of findings of a finished run, without its unwanted files.

    Raises:
        ConfigError: The manifest, the plan or the note of the run is damaged.
    """
    plan = read_plan(files.join(inner.run, run_files.PLAN))
    wanted: set[str] = set()
    unwanted: set[str] = set()
    keys = inner_notes.read(inner.directory).order
    for key, group in zip(keys, _groups(plan["inputs"]), strict=True):
        (wanted if key in request.keys else unwanted).update(str(file["name"]) for file in group)
    lines: Counter[str] = Counter()
    for finding in manifest_of(inner).get("look", {}).get("findings", ()):
        if finding["file"] in wanted or finding["file"] not in unwanted:
            lines[finding["kind"]] += finding["count"]
    return lines
