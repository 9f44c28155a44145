"""The YAML file of a nightly refresh: a job's options, the key ``job``, perhaps ``gates``."""

import dataclasses
import hashlib
import importlib.metadata
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeGuard

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.command_line.yaml_files import read_yaml
from pairweave.pipelines.options.base import GraphOptions
from pairweave.pipelines.options.corpora import corpora_of
from pairweave.pipelines.refresh import refitting, tables
from pairweave.pipelines.refresh.gates import Gates, read_gates
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import files, hashed_files
from pairweave.transforms.units import CorpusInput

Values = dict[str, Any]

INPUT = ("input", "source_input", "target_input", "translation_input", "links")
INPUT_KEYS = (*INPUT, "score_input", "forward_links", "reverse_links", "attention", "pair_by")
"""Keys of a corpus that name its files."""

_REFUSED = {
    "output": "give --output on the command line",
    "plan_only": "give --plan_only on the command line",
    "from_run": "the pairs of a run keep the corpora of that run; give the files themselves",
    "keep_origin": "the table provenance says where each pair comes from",
    "known_pairs": "refresh sets it",
    "taken_down": "refresh sets it",
    "pharaoh": "a table has no order of lines",
    "scores": "a table has no order of lines",
    "preview": "run filter itself for a preview",
    "select_words": "it compares a pair with all others, of which a night reads a part",
    "select_share": "it compares a pair with all others, of which a night reads a part",
    "watch_model": "rows would depend on the model of the hour; give a model that stays",
    "annotate_only": "a table has kept pairs only",
}

_NO_SETTING = frozenset(
    {
        *("output", "plan_only", "engine", "wait", "workers", "attempts", "allow_empty"),
        *("known_pairs", "taken_down", "corpora", "shard_pairs", "unit_rows", "keep_origin"),
        *("memory", "max_set_aside", "accelerator", "large_model", "model_copies", "token_budget"),
        *("program_timeout", "standstill_minutes", "pharaoh", "scores", "preview"),
    }
)
"""Options that do not decide which rows a pair gives."""

_PATHS = frozenset(
    {
        *("model", "encoder", "idf", "projection", "earlier", "score_weights"),
        "score_model",
        *("glossary", "tag_profile", "program_path"),
    }
)
"""Options that are a file or a directory; others may have one behind a kind and a colon."""

_PROGRAM = "path="
"""The setting of a second aligner that names its program."""


@dataclasses.dataclass(frozen=True)
class NightConfig:
    """What a nightly refresh is to keep up to date.

    Attributes:
        path: The file.
        job: The name of the job.
        kind: The options of the job.
        values: Its keys, without those of single corpora.
        own: The keys of each corpus.
        inputs: The corpora as the job would read them.
        settings: What decides which rows a pair gives (`settings_of`).
        gates: Limits of the quality gates.
        refit_growth: When models are fitted anew (`refitting.read_growth`).
    """

    path: str
    job: str
    kind: type[GraphOptions]
    values: Values
    own: tuple[Values, ...]
    inputs: tuple[CorpusInput, ...]
    settings: Values
    gates: Gates
    refit_growth: float | None

    @property
    def main(self) -> str:
        """Return the name of the table of the job's rows."""
        return tables.MAIN[self.job]

    @property
    def licences(self) -> dict[str, str | None]:
        """Return the licence of each corpus."""
        around = self.values.get("licence")
        return {each["corpus"]: each.get("licence", around) for each in self.own}


def read_config(path: str, given: Mapping[str, Any]) -> NightConfig:
    """Read and check the YAML file of a refresh.

    Args:
        path: The file.
        given: Options from the command line, which take precedence.

    Raises:
        ConfigError: It cannot be used; the message names the file and the key.
    """
    document = read_yaml(path)  # whose errors name the file
    try:
        return _config(path, document, given)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def _config(path: str, document: object, given: Mapping[str, Any]) -> NightConfig:
    if not isinstance(document, dict) or "job" not in document:
        raise ConfigError(f"expected the options of a job and the key job: {_jobs()}")
    job = document["job"]
    if not isinstance(job, str) or job not in tables.MAIN:
        raise ConfigError(f"job must be {_jobs()}, got {job!r}")
    kind = _options_of(job)
    gates = read_gates(document.get("gates"))
    growth = refitting.read_growth(document.get(refitting.KEY))
    own = ("job", "gates", refitting.KEY)
    values = {key: value for key, value in document.items() if key not in own}
    _check_keys(values, kind)
    values |= {key: value for key, value in given.items() if key in kind.model_fields}
    options = flags.validate(kind, {**values, "output": "."}, f"pairweave {job}")
    _check_pairwise(options)
    _check_models(options)
    _check_second(getattr(options, "second_aligner", None))
    around, corpora = _corpora(values, kind)
    inputs = corpora_of(options)
    settings = settings_of(job, options)
    return NightConfig(path, job, kind, around, corpora, inputs, settings, gates, growth)


def _jobs() -> str:
    *others, last = tables.MAIN
    return f"{', '.join(others)} or {last}"


def _options_of(job: str) -> type[GraphOptions]:
    from pairweave.pipelines.cli import COMMANDS

    module, _, name = COMMANDS[job].options.partition(":")
    found: type[GraphOptions] = getattr(importlib.import_module(module), name)
    return found


def _check_keys(values: Values, kind: type[GraphOptions]) -> None:
    flags.check_keys(values, list(kind.model_fields))
    corpora = values.get("corpora")
    entries = [entry for entry in corpora if isinstance(entry, dict)] if _is_list(corpora) else []
    for part in (values, *entries):
        for key, why in _REFUSED.items():
            if key in part:
                raise ConfigError(f"{key}: {why}; leave it out")


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def _check_pairwise(options: GraphOptions) -> None:
    """Refuse options for which the rows of a pair depend on other pairs.

    Raises:
        ConfigError: One is set.
    """
    if getattr(options, "duplicates", "exact") != "exact":
        raise ConfigError(
            f"duplicates: {options.duplicates}: a pair would depend on pairs of other nights; "  # type: ignore[attr-defined]
            "give duplicates: exact"
        )
    if getattr(options, "scorer", None) == "margin":
        raise ConfigError("scorer: margin compares a pair with all others; give another scorer")


def _check_models(options: GraphOptions) -> None:
    """Refuse models whose content cannot be compared with that of the nights before.

    Raises:
        ConfigError: One is in a store, or on the hub without the commit.
    """
    for name in ("model", "encoder", "translator", "scorer", "reverse_scorer"):
        value = getattr(options, name, None)
        if not isinstance(value, str):
            continue
        if "://" in value:
            raise ConfigError(
                f"{name}: {value}: it may change between nights without a trace; give a copy of "
                "it on a disk"
            )
        is_encoder = name == "encoder" or getattr(options, "aligner", None) == "encoder"
        if value.startswith("transformers:"):
            key, place = "translator_revision", value.partition(":")[2]
        elif name in ("model", "encoder") and is_encoder:
            key, place = "revision", value
        else:
            continue
        commit = getattr(options, key, None) or ""
        if not Path(place).expanduser().exists() and not re.fullmatch("[0-9a-f]{40}", commit):
            raise ConfigError(
                f"{name}: {value}: there is no such directory, and a hub model may change between "
                f"nights; give its commit, {key}: 40 hexadecimal digits"
            )


def _check_second(value: str | None) -> None:
    """Refuse a second aligner whose model cannot be compared with that of the nights before.

    Raises:
        ConfigError: It is in a store or on the hub: its one-line name has no place for a commit.
    """
    if value is None:
        return
    from pairweave.pipelines.aligners.aligner_registry import read_name

    name = read_name(value, "second_aligner")
    is_hub = name.aligner == "encoder" and not Path(name.model or ".").expanduser().exists()
    if name.model is not None and ("://" in name.model or is_hub):
        raise ConfigError(
            f"second_aligner: {value}: {name.model} may change between nights without a trace; "
            "give the directory of a copy on a disk"
        )


def _corpora(values: Values, kind: type[GraphOptions]) -> tuple[Values, tuple[Values, ...]]:
    """Return the keys around the corpora, and those of each corpus.

    Raises:
        ConfigError: A corpus has no name.
    """
    own = kind.corpus_kind().model_fields
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
    """Return what decides which rows a pair gives: options, contents of files, the release.

    Options with their defaults are left out, and paths are replaced by digests, so that a file may
    move.
    """
    left_out = set(_NO_SETTING) | options.corpus_kind().model_fields.keys()
    given = options.model_dump(mode="json", exclude=left_out, exclude_defaults=True)
    named = options.named_files()
    made = {
        name: [_content(path) for pattern in named[name] for path in files.match(pattern)]
        if name in named
        else _with_digests(name, value)
        for name, value in given.items()
    }
    return {"job": job, "release": importlib.metadata.version("pairweave"), "options": made}


def _with_digests(name: str, value: Any) -> Any:  # noqa: ANN401 - the value of any option
    """Replace a path, also behind a kind and a colon, by the digest of what is there."""
    if isinstance(value, list):
        return [_with_digests(name, each) for each in value]
    if isinstance(value, dict):
        return {key: _with_digests(key, each) for key, each in value.items()}
    if not isinstance(value, str) or not value:
        return value
    if name in _PATHS:
        return _content(value) if files.is_uri(value) or Path(value).exists() else value
    words = value.split(":")
    if len(words) > 1 and "//" not in value and Path(words[1]).exists():
        words[1] = _content(words[1])
    for place, word in enumerate(words):
        path = word.removeprefix(_PROGRAM)
        if path != word and Path(path).exists():  # a program of `second_aligner`
            words[place] = f"{_PROGRAM}{_content(path)}"
    return ":".join(words)


def _content(path: str) -> str:
    """Return a digest of a file, or of a directory and its files."""
    if not files.is_uri(path) and Path(path).is_dir():
        about = Path(path, hashed_files.ABOUT)
        found = (
            [about] if about.is_file() else sorted(p for p in Path(path).rglob("*") if p.is_file())
        )
        lines = "".join(f"{each.relative_to(path)} {sha256_of(str(each))}\n" for each in found)
        return hashlib.sha256(lines.encode()).hexdigest()
    return sha256_of(path)


def sha256_of(path: str) -> str:
    """Return the hex SHA-256 of a file, read piece by piece.

    Raises:
        ConfigError: It cannot be read.
    """
    try:
        opened = files.open_read(path)
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be read ({error}), so it cannot be compared with that of the nights "
            "before; give a file, or a copy of a directory on a disk"
        ) from error
    with opened as file:
        return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def differences(old: Values, new: Values) -> list[str]:
    """Return what differs between the settings of a table and those of tonight, in words."""
    found = [
        f"{key} was {old[key]}, is now {new[key]}"
        for key in ("job", "release")
        if old[key] != new[key]
    ]
    for key in sorted({*old["options"], *new["options"]}):
        before, after = old["options"].get(key), new["options"].get(key)
        if before != after:
            found.append(f"{key} was {_short(before)}, is now {_short(after)}")
    return found


def _short(value: object) -> str:
    text = "the default" if value is None else str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
