"""The YAML file of a nightly refresh: a job's options, the key ``job`` and optionally ``gates``."""

import dataclasses
import functools
import importlib.metadata
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pairweave.pipelines.aligners.aligner_choice import unused_options
from pairweave.pipelines.command_line import validation
from pairweave.pipelines.command_line.command_table import COMMANDS, job_options, options_of
from pairweave.pipelines.options.base import Corpus, GraphOptions, InputOptions
from pairweave.pipelines.options.corpora import corpora_of
from pairweave.pipelines.options.corpus_options import LinkedCorpus, PairCorpus, ScoredCorpus
from pairweave.pipelines.refresh import refitting
from pairweave.pipelines.refresh.chain.hashed_reads import digest_of
from pairweave.pipelines.refresh.chain.table_names import MAIN
from pairweave.pipelines.refresh.gates import Gates, read_gates
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.inspection.look_options import LookOptions
from pairweave.transforms.option_marks import (
    NAMES_INPUT,
    NOT_AT_NIGHT,
    OF_ONE_RUN,
    UNPLANNED,
    VALUES_NOT_AT_NIGHT,
    mark_of,
    marked,
)
from pairweave.transforms.option_places import Place, Use, places_of, role_of, with_places
from pairweave.transforms.plugins.entry_points import plan_plugin
from pairweave.transforms.plugins.plugin_kind import plugins_named
from pairweave.transforms.storage import files, hashed_files
from pairweave.transforms.storage.hub_places import is_data_set
from pairweave.transforms.storage.yaml_files import read_yaml
from pairweave.transforms.units import CorpusInput

Values = dict[str, Any]

_GIVEN = {*ScoredCorpus.model_fields, *LinkedCorpus.model_fields} - PairCorpus.model_fields.keys()
"""Keys by which a corpus provides more than texts."""

_COMMIT = re.compile("[0-9a-f]{40}")


@dataclasses.dataclass(frozen=True)
class NightConfig:
    """The configuration of a nightly refresh.

    Attributes:
        path: The file.
        job: The name of the job.
        kind: The class of the job's options.
        values: The file's keys, without those of single corpora.
        own: The keys of each corpus.
        inputs: The corpora as the job would read them.
        options: The job's options with all corpora, but for its output.
        settings: The facts that determine the rows of a pair (`settings_of`).
        gates: Limits of the quality gates.
        look: Which lines are looked at for the gate ``max_findings`` (the option ``check``); None
            without that gate.
        refit_growth: Growth after which models are fitted anew (`refitting.read_growth`).
    """

    path: str
    job: str
    kind: type[GraphOptions]
    values: Values
    own: tuple[Values, ...]
    inputs: tuple[CorpusInput, ...]
    options: GraphOptions
    settings: Values
    gates: Gates
    look: str | None
    refit_growth: float | None

    @property
    def main(self) -> str:
        """Return the name of the table of the job's rows."""
        return MAIN[self.job]

    @property
    def licences(self) -> dict[str, str | None]:
        """Return the licence of each corpus."""
        around = self.values.get("licence")
        return {each["corpus"]: each.get("licence", around) for each in self.own}


def read_config(path: str, overrides: Mapping[str, Any]) -> NightConfig:
    """Read and check the YAML file of a refresh.

    Args:
        path: The file.
        overrides: Options from the command line, which take precedence.

    Raises:
        ConfigError: It cannot be used; the message names the file and the key.
    """
    document = read_yaml(path)  # errors of these calls name the file
    try:
        return _config(path, document, overrides)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def _config(path: str, document: object, overrides: Mapping[str, Any]) -> NightConfig:
    if isinstance(document, dict):
        validation.check_kind(document, path, ("job",))
    if not isinstance(document, dict) or "job" not in document:
        raise ConfigError(f"expected the options of a job and the key job: {_jobs()}")
    job = document["job"]
    if not isinstance(job, str) or job not in MAIN:
        raise ConfigError(f"job must be {_jobs()}, got {job!r}")
    kind: type[GraphOptions] = job_options(job)
    gates = read_gates(document.get("gates"))
    growth = refitting.read_growth(document.get(refitting.KEY))
    own = ("job", "gates", refitting.KEY)
    values = {key: value for key, value in document.items() if key not in own}
    _check_keys(values, kind)
    values |= {key: value for key, value in overrides.items() if key in kind.model_fields}
    options = validation.validate(kind, {**values, "output": "."}, f"pairweave {job}")
    _check_pairwise(options)
    _check_models(options)
    look = _look_of(options, gates)
    around, corpora = _corpora(values, kind)
    inputs = corpora_of(options)
    settings = settings_of(job, options)
    return NightConfig(
        path, job, kind, around, corpora, inputs, options, settings, gates, look, growth
    )


def _look_of(options: GraphOptions, gates: Gates) -> str | None:
    """Return which lines are looked at for a gate; None if no gate asks.

    Raises:
        ConfigError: A gate asks for findings, and nothing is looked at.
    """
    if not gates.max_findings:
        return None
    look = options.check if isinstance(options, LookOptions) else "none"
    if look == "none":
        raise ConfigError(
            "gates.max_findings: limits what a look at the new files finds, and check: none looks "
            "at none of them; give check: sample or check: all, or leave max_findings out"
        )
    return look


def _jobs() -> str:
    *others, last = MAIN
    return f"{', '.join(others)} or {last}"


@functools.cache
def input_files() -> frozenset[str]:
    """Return the corpus options of all jobs that name files."""
    return frozenset(
        name
        for kind in _corpus_kinds()
        for name, field in kind.model_fields.items()
        if (role := role_of(field)) is not None and role.use is Use.FILES
    )


@functools.cache
def input_keys() -> frozenset[str]:
    """Return the corpus options that name files or say which of them belong together."""
    return input_files().union(*(marked(kind, NAMES_INPUT) for kind in _corpus_kinds()))


def gives_more(corpus: CorpusInput) -> bool:
    """Tell whether a corpus gives scores, links or tags of the rows besides texts."""
    return corpus.inline_tags == "index" or any(getattr(corpus, key) for key in _GIVEN)


def _corpus_kinds() -> list[type[Corpus]]:
    kinds = [options_of(name) for name in COMMANDS]
    return [kind.corpus_kind() for kind in kinds if kind and issubclass(kind, InputOptions)]


def _check_keys(values: Values, kind: type[GraphOptions]) -> None:
    validation.check_keys(values, list(kind.model_fields))
    corpora = values.get("corpora")
    entries = (
        [entry for entry in corpora if isinstance(entry, dict)] if isinstance(corpora, list) else []
    )
    for part in (values, *entries):
        for name, field in kind.model_fields.items():
            why = mark_of(field, NOT_AT_NIGHT)
            if why is not None and name in part:
                raise ConfigError(f"{name}: {why}; leave it out")


def _check_pairwise(options: GraphOptions) -> None:
    """Refuse options for which the rows of a pair depend on other pairs."""
    for name, field in type(options).model_fields.items():
        why, value = mark_of(field, VALUES_NOT_AT_NIGHT), getattr(options, name)
        if isinstance(why, dict) and value in why:
            raise ConfigError(f"{name}: {value}: {why[value]}")
    for place in places_of(options):
        if place.use is Use.FILES and is_data_set(place.path):
            raise ConfigError(
                f"{place.option}: {place.path}: a night finds new files by their names and sizes, "
                "which a data set of the hub has only once it is fetched; fetch it (hf download) "
                "and give its files"
            )


def _check_models(options: GraphOptions) -> None:
    """Refuse models whose content cannot be compared from night to night.

    Raises:
        ConfigError: A model is in a store, or on the hub without a commit.
    """
    unused = unused_options(options)
    for place in places_of(options):
        if place.use is not Use.MODEL:
            continue
        # The name of a second aligner contains a model, but no option gives that model's commit.
        own, shown = place.role.revision, f"{place.option}: {place.value}"
        inside = "" if own is not None or not place.role.on_hub else f"{place.path} "
        if files.is_uri(place.path):
            raise ConfigError(
                f"{shown}: {inside or 'it '}may change between nights without a trace; give a copy "
                "of it on a disk"
            )
        if not place.on_hub or own in unused or Path(place.path).expanduser().exists():
            continue
        if own is None:
            raise ConfigError(
                f"{shown}: {inside}may change between nights without a trace; give the directory "
                "of a copy on a disk"
            )
        if not _COMMIT.fullmatch(getattr(options, own) or ""):
            raise ConfigError(
                f"{shown}: there is no such directory, and a hub model may change between nights; "
                f"give its commit, {own}: 40 hexadecimal digits"
            )


def _corpora(values: Values, kind: type[GraphOptions]) -> tuple[Values, tuple[Values, ...]]:
    """Return the keys outside the corpora, and those of each corpus.

    Raises:
        ConfigError: There is no corpus, or one has no name.
    """
    own = kind.corpus_kind().model_fields
    if "corpora" in values and not values["corpora"]:
        raise ConfigError(
            "corpora: expected at least one corpus, got none; write a list of maps, each with a "
            "corpus name and its files"
        )
    if values.get("corpora"):
        around = {key: value for key, value in values.items() if key != "corpora"}
        corpora = tuple(dict(corpus) for corpus in values["corpora"])
    else:
        around = {key: value for key, value in values.items() if key not in own}
        corpora = ({key: value for key, value in values.items() if key in own},)
    for corpus in corpora:
        if not corpus.get("corpus"):
            raise ConfigError(
                "every corpus needs a name (corpus: ...), by which its pairs can be withdrawn"
            )
    return around, corpora


def settings_of(job: str, options: GraphOptions) -> Values:
    """Return the facts that determine a pair's rows: options, contents of files, releases, plugins.

    Options that have their default are left out, and paths are replaced by digests, so that a file
    may move.
    """
    kind = type(options)
    left_out = {"corpora", *options.corpus_kind().model_fields}
    left_out |= marked(kind, UNPLANNED, OF_ONE_RUN, NOT_AT_NIGHT)
    set_options = options.model_dump(mode="json", exclude=left_out, exclude_defaults=True)
    portable = with_places(kind, set_options, digest_at)
    for name, value in set_options.items():
        role = role_of(kind.model_fields[name])
        if role is not None and role.use is Use.FILES:
            portable[name] = [_content(path) for pattern in value for path in files.match(pattern)]
    for option, plugin_kind, name in plugins_named(options):
        plugin, _ = plan_plugin(plugin_kind, name, f"--{option}")
        version = f"{plugin.distribution} {plugin.version}, code {plugin.sha256}"
        portable[f"{plugin_kind.noun} {name}"] = version
    return {"job": job, "release": importlib.metadata.version("pairweave"), "options": portable}


def digest_at(place: Place) -> str:
    """Return the digest of a place's content; the place itself if nothing is there on a disk."""
    path = place.path
    return _content(path) if files.is_uri(path) or Path(path).exists() else path


def _content(path: str) -> str:
    """Return a digest of a file, or of a directory and its files."""
    if not files.is_uri(path) and Path(path).is_dir():
        about = Path(path, hashed_files.ABOUT)
        paths = (
            [about] if about.is_file() else sorted(p for p in Path(path).rglob("*") if p.is_file())
        )
        lines = "".join(f"{each.relative_to(path)} {sha256_of(str(each))}\n" for each in paths)
        return digest_of(lines.encode())
    return sha256_of(path)


def sha256_of(path: str) -> str:
    """Return the hex SHA-256 of a file.

    Raises:
        ConfigError: It cannot be read.
    """
    try:
        return files.sha256_of(path)
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be read ({error}), so it cannot be compared with that of the nights "
            "before; give a file, or a copy of a directory on a disk"
        ) from error


def differences(old: Values, new: Values) -> list[str]:
    """Return the differences between the settings of a table and those of tonight, in words."""
    lines = [
        f"{key} was {old[key]}, is now {new[key]}"
        for key in ("job", "release")
        if old[key] != new[key]
    ]
    for key in sorted({*old["options"], *new["options"]}):
        before, after = old["options"].get(key), new["options"].get(key)
        if before != after:
            lines.append(f"{key} was {_short(before)}, is now {_short(after)}")
    return lines


def _short(value: object) -> str:
    text = "the default" if value is None else str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
