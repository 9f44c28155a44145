"""Finished runs as input: their rows keep their corpus, file and line."""

import posixpath
from collections.abc import Mapping
from typing import Any

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.output import run_files
from pairweave.transforms.output.documents.manifest_model import read_manifest
from pairweave.transforms.output.run_files import DATA
from pairweave.transforms.planning.locate import LocatedFile
from pairweave.transforms.storage import files
from pairweave.transforms.units import CorpusInput, EarlierRun

JOBS = ("bitext", "filter", "align")
"""The jobs whose rows are pairs as they were read, with their corpus, file and line."""


def input_of_run(
    directory: str, source_lang: str | None, target_lang: str | None, settings: Mapping[str, Any]
) -> CorpusInput:
    """Return the input of a corpus whose pairs are the rows of a finished run.

    Args:
        directory: The run's ``--output``.
        source_lang: The required language of its sources; None for any.
        target_lang: The required language of its targets; None for any.
        settings: The settings for reading its texts, by the names of `CorpusInput`.

    Raises:
        ConfigError: There is no finished run of such a job, its rows include pairs that are not
            kept, or they are in other languages.
    """
    manifest = _manifest(directory)
    shards = {
        entry["name"]: entry["sha256"]
        for entry in manifest["files"]
        if entry["name"].startswith(f"{DATA}/")
    }
    kept = {name: corpus for name, corpus in manifest["corpora"].items() if corpus["kept"]}
    if not kept:
        raise ConfigError(f"{directory}: the run kept no pair that another could read")
    source, target = _languages(directory, kept, source_lang, target_lang)
    base = files.absolute(directory)
    return CorpusInput(
        **{
            **settings,
            "input": tuple(files.join(base, name) for name in sorted(shards)),
            "source_lang": source,
            "target_lang": target,
            "run": EarlierRun(
                corpora=tuple((name, kept[name]["licence"]) for name in sorted(kept)),
                hashes={posixpath.basename(name): sha256 for name, sha256 in shards.items()},
            ),
        }
    )


def _manifest(directory: str) -> dict[str, Any]:
    path = files.join(directory, run_files.MANIFEST)
    if not files.exists(path):
        raise ConfigError(
            f"{directory}: no {run_files.MANIFEST}, so there is no finished run to read pairs "
            "from; finish it, or give the --output of one"
        )
    manifest = read_manifest(path)
    job = manifest["job"]
    if job not in JOBS:
        raise ConfigError(
            f"{directory}: a run of {job} has no pairs for another job to read; give a run of "
            f"{', '.join(JOBS[:-1])} or {JOBS[-1]}"
        )
    run_files.check_names(manifest, path)
    if manifest["configuration"].get("annotate_only"):
        raise ConfigError(
            f"{directory}: with --annotate_only its rows include pairs that are not to be kept; "
            "run filter without it"
        )
    return manifest


def _languages(
    directory: str, kept: Mapping[str, Any], source_lang: str | None, target_lang: str | None
) -> tuple[str, str]:
    """Return the languages of all pairs, which are part of their ids."""
    pairs = {(each["source_lang"], each["target_lang"]) for each in kept.values()}
    if len(pairs) > 1:
        listed = ", ".join(sorted("-".join(pair) for pair in pairs))
        raise ConfigError(
            f"{directory}: its pairs are in several languages ({listed}), and those of one corpus "
            "are in two; run the earlier job once for each pair of languages"
        )
    ((source, target),) = pairs
    for name, given, own in (
        ("source_lang", source_lang, source),
        ("target_lang", target_lang, target),
    ):
        if given is not None and given != own:
            raise ConfigError(
                f"{directory}: its pairs have {name} {own}, not {given}; leave {name} out: pairs "
                "of a run keep their languages"
            )
    return source, target


def check_shard(file: LocatedFile, sha256: str, run: EarlierRun) -> None:
    """Check that a file is the shard that its run's manifest describes.

    Raises:
        InputError: It is another file (``unreadable``).
    """
    if run.hashes.get(posixpath.basename(file.path)) != sha256:
        raise InputError(
            "unreadable",
            file.name,
            f"is not the shard that {run_files.MANIFEST} of its run describes; repeat that run's "
            "command to make it again",
        )
