"""Data sets of the Hugging Face hub as input: the files of a split, fetched at a fixed commit.

A place such as ``hf://OWNER/NAME/CONFIG?split=train`` names a split of a configuration of a data
set. The library `datasets` says which files that split consists of, by the data set's card or by
the names of its files. They are fetched into the hub's cache on this machine and read like any
other file, without running code of the data set. The commit is part of a file's name, so that plan,
manifest and rows say exactly what was read. Jobs read the files instead of the library's rows,
because files have hashes and can be divided into units, and workers need neither the library nor a
network.
"""

import dataclasses
import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.storage.byte_streams import (
    COMPRESSED_CHUNK_BYTES,
    COMPRESSIONS,
    decompress,
    stored_chunks,
)
from pairweave.transforms.storage.hub_places import SCHEME, DataSetPlace
from pairweave.transforms.units import CorpusInput, ReadLimits

_FORMATS = {
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
}
"""The format of a data set's file, by its suffix."""

_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab"}


@dataclasses.dataclass(frozen=True, slots=True)
class DataSetFile:
    """A file of a data set, on this machine.

    Attributes:
        path: Its path in the cache of the hub.
        name: Its URL, with its commit.
        format: Its format, by its suffix.
        compression: As in `byte_streams.COMPRESSIONS`, or ``none``.
        format_options: Options of its format that the data set's card gives.
    """

    path: str
    name: str
    format: str
    compression: str
    format_options: Mapping[str, Any]


def data_set_files(place: DataSetPlace) -> list[DataSetFile]:
    """Fetch the files of a split, and return them in its order.

    Raises:
        ConfigError: The library `datasets` is not installed.
        InputError: The hub cannot be reached, or has no such data set, revision, configuration or
            split (``no_match``), or its files are not of a format that jobs read
            (``unsupported_format``).
    """
    try:
        import datasets
        import huggingface_hub
    except ImportError as error:
        raise ConfigError(
            f"{place.text}: data sets of the hub need the package datasets; run: pip install "
            "'pairweave[hub]'"
        ) from error
    endpoint = huggingface_hub.constants.ENDPOINT
    try:
        facts = huggingface_hub.HfApi().dataset_info(place.repository, revision=place.revision)
        builder = datasets.load_dataset_builder(
            f"{SCHEME}datasets/{place.repository}", name=place.config, revision=facts.sha
        )
    except Exception as error:
        raise _refusal(place, endpoint, error) from error
    named = _files_of_split(place, builder.config.data_files)
    root = f"{SCHEME}datasets/{place.repository}@{facts.sha}/"
    options = _csv_options(place, builder.config)
    files = [_file(place, url, options) for url in named]
    paths = [_fetched(place, endpoint, url.removeprefix(root), facts.sha) for url in named]
    return [dataclasses.replace(file, path=path) for file, path in zip(files, paths, strict=True)]


def check_first_row(file: DataSetFile, corpus: CorpusInput) -> None:
    """Check that the first row of a file of JSON lines has the fields to read.

    Parquet and CSV have their fields in schemas and headers.

    Raises:
        InputError: A field is missing (``missing_column``; names the existing fields), or the file
            is not JSON lines (``unsupported_format``).
    """
    if file.format != "jsonl":
        return
    head = _first_line(file)
    if head.startswith(b"["):
        raise InputError(
            "unsupported_format",
            file.name,
            "is one array of JSON, not a row in each line; load it with datasets, write it with "
            "to_parquet, and give that file with --input",
        )
    try:
        row = orjson.loads(head)
    except orjson.JSONDecodeError:
        return  # the reader reports each such line
    if not isinstance(row, dict):
        return
    default = corpus.source_field is None and corpus.target_field is None
    wanted = [corpus.source_field or "source", corpus.target_field or "target"]
    texts, inside = row, ""
    if default and not row.keys() & {*wanted} and isinstance(row.get("translation"), dict):
        wanted = [corpus.source_lang or "und", corpus.target_lang or "und"]
        texts, inside = row["translation"], "translation."
    missing = [f"{inside}{name}" for name in wanted if name not in texts]
    if missing:
        there = ", ".join(f"{inside}{name}" for name in texts) or "nothing"
        kind = "lang" if inside else "field"
        raise InputError(
            "missing_column",
            file.name,
            f"its first row has no {', '.join(missing)}; it has {there}. Name two "
            f"of these with --source_{kind} and --target_{kind}",
        )


def _first_line(file: DataSetFile) -> bytes:
    """Return the first line of a file that is not blank; empty if all lines are blank."""
    stored = stored_chunks(file.path, 0, None, COMPRESSED_CHUNK_BYTES)
    text = b""
    for chunk in decompress(stored, file.compression, file.name, ReadLimits()):
        text = (text + chunk).lstrip()
        if b"\n" in text:
            break
    return text.partition(b"\n")[0]


def _refusal(place: DataSetPlace, endpoint: str, error: Exception) -> InputError:
    """Return the error for a data set that the hub or its library refuses."""
    import huggingface_hub.errors as hub

    said = " ".join(str(error).split())
    if isinstance(error, hub.GatedRepoError):
        what = (
            f"is a data set whose terms must be accepted first, on {endpoint}/datasets/"
            f"{place.repository}; then log in (hf auth login)"
        )
    elif isinstance(error, hub.RepositoryNotFoundError):
        what = (
            f"{endpoint} has no data set {place.repository}, or it is private; check the name, or "
            "log in (hf auth login)"
        )
    elif isinstance(error, hub.RevisionNotFoundError):
        what = f"the data set {place.repository} has no revision {place.revision}"
    elif isinstance(error, ValueError):
        what = _config_refusal(place, said)
    else:
        what = (
            f"cannot be looked up at {endpoint}: {said or type(error).__name__}; the hub is needed "
            "to find the files of a data set. Without a network, fetch them elsewhere and give "
            "them with --input"
        )
    return InputError("no_match", place.text, what)


_LISTED = re.compile(r"(?:available configs|Available): \[(.*?)\]")


def _config_refusal(place: DataSetPlace, said: str) -> str:
    """Return a message with the data set's configurations, or with the error of `datasets`."""
    listed = _LISTED.search(said)
    if listed is None:
        return f"the library datasets cannot read it: {said}"
    names = listed[1].replace("'", "").split(", ")
    if place.config is not None:
        return f"has no configuration {place.config}; it has {', '.join(names)}"
    example = f"{SCHEME}{place.repository}/{names[0]}"
    return f"has several configurations: {', '.join(names)}; name one, as in {example}"


def _files_of_split(
    place: DataSetPlace, splits: Mapping[str, Sequence[object]] | None
) -> list[str]:
    """Return the URLs of the files of the place's split.

    Raises:
        InputError: The data set has no such split, or has several but none is named (``no_match``).
    """
    named = {str(name): [str(url) for url in urls] for name, urls in (splits or {}).items()}
    if place.split is not None and place.split in named:
        return named[place.split]
    if place.split is None and len(named) == 1:
        return next(iter(named.values()))
    listed = ", ".join(named) or "none"
    if place.split is None:
        example = f"{place.text}?split={next(iter(named), 'train')}"
        what = f"has several splits: {listed}; name one, as in {example}"
    else:
        what = f"has no split {place.split}; it has {listed}"
    raise InputError("no_match", place.text, what)


def _csv_options(place: DataSetPlace, config: object) -> dict[str, Any]:
    """Return the options of CSV that the data set's card gives.

    Raises:
        InputError: The card names a delimiter that is not supported (``unsupported_format``).
    """
    delimiter = getattr(config, "delimiter", None) or getattr(config, "sep", None) or ","
    if delimiter not in _DELIMITERS:
        raise InputError(
            "unsupported_format",
            place.text,
            f"its CSV has the delimiter {delimiter!r}; expected a comma, a semicolon or a tab",
        )
    named = _DELIMITERS[delimiter]
    return {} if named == "comma" else {"csv_delimiter": named}


def _file(place: DataSetPlace, url: str, options: Mapping[str, Any]) -> DataSetFile:
    """Return a file that is not fetched yet.

    Raises:
        InputError: Jobs cannot read its format (``unsupported_format``).
    """
    stem, ending = posixpath.splitext(url)
    compression = COMPRESSIONS.get(ending.lower(), "none")
    if compression != "none":
        ending = posixpath.splitext(stem)[1]
    form = _FORMATS.get(ending.lower())
    if form is None or (form == "parquet" and compression != "none"):
        raise InputError(
            "unsupported_format",
            place.text,
            f"its file {url} is in a format that is not read; expected {', '.join(_FORMATS)}. Load "
            "it with datasets, write it with to_parquet, and give that file with --input",
        )
    return DataSetFile("", url, form, compression, options if form == "csv" else {})


def _fetched(place: DataSetPlace, endpoint: str, name: str, commit: str) -> str:
    """Fetch a file into the hub's cache, unless it is there; return its path.

    Raises:
        InputError: It cannot be fetched (``unreadable``).
    """
    import huggingface_hub

    try:
        return str(
            huggingface_hub.hf_hub_download(
                place.repository, name, repo_type="dataset", revision=commit
            )
        )
    except Exception as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise InputError(
            "unreadable",
            place.text,
            f"its file {name} cannot be fetched from {endpoint}: {said}; run the command again, "
            "which goes on with what is there",
        ) from error
