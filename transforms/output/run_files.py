"""Files of a run: their names, their entries in receipts and the manifest, and JSON."""

import dataclasses
import fnmatch
import hashlib
from collections.abc import Mapping
from typing import Any

import orjson

from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.storage import files, json_files

PLAN = "_plan.json"
MANIFEST = "_manifest.json"
RUN = "_run.json"
CARD = "README.md"
RECEIPTS = "_receipts"
DATA = "data"
REJECTS = "rejects"
MODELS = "models"

OWN_NAMES = (DATA, REJECTS, MODELS, CARD, "report.html", "symbols.txt", "_*")
"""Names of the files and directories that a run writes in its directory, as glob patterns."""

WRITES_ROWS = "writes_rows"
"""The entry of a plan that is false if the job writes a model and rejects, but no rows."""

Json = dict[str, Any]


def writes_rows(plan: Mapping[str, object]) -> bool:
    """Tell whether the job of a plan writes rows."""
    return bool(plan.get(WRITES_ROWS, True))


def is_run(directory: str) -> bool:
    """Tell whether a directory or URI is the output of a run, finished or not."""
    return any(files.exists(files.join(directory, name)) for name in (PLAN, MANIFEST))


def is_own(below: str) -> bool:
    """Tell whether a path, given below the directory of a run, is one that the run writes.

    >>> is_own("data/part-00000-of-00001.parquet"), is_own("_plan.json"), is_own("links.txt")
    (True, True, False)
    """
    first = below.partition("/")[0]
    return any(fnmatch.fnmatchcase(first, name) for name in OWN_NAMES)


def plan_digest(plan: Mapping[str, object]) -> str:
    """Return the hex SHA-256 of a plan."""
    return hashlib.sha256(to_json(plan)).hexdigest()


def read_json(path: str) -> Json:
    """Read a JSON object.

    Raises:
        ConfigError: It is not a JSON object.
    """
    return json_files.parse_object(files.read_bytes(path), path)


def shard_name(shard: int, shards: int) -> str:
    """Name one shard; the name is the same on every attempt.

    >>> shard_name(7, 16)
    'part-00007-of-00016.parquet'
    """
    return f"part-{shard:05d}-of-{shards:05d}.parquet"


def data_name(shard: int, shards: int) -> str:
    """Name the file of one shard's rows; its directory contains no other files.

    >>> data_name(7, 16)
    'data/part-00007-of-00016.parquet'
    """
    return f"{DATA}/{shard_name(shard, shards)}"


def rejects_name(shard: int, shards: int) -> str:
    """Name the file of one shard's rejects."""
    return f"{REJECTS}/{shard_name(shard, shards)}"


def model_directories(output: str) -> list[str]:
    """Return the directories of a run's models, including those that its plan does not name.

    `bitext` fits several aligners one after another, and its plan names only the last.
    """
    below = files.list_below(files.join(output, MODELS))
    return sorted({f"{MODELS}/{name.partition('/')[0]}" for name in below if name.count("/") == 1})


def shard_receipt_name(shard: int, shards: int) -> str:
    """Name the receipt of one shard."""
    return f"{RECEIPTS}/shard-{shard:05d}-of-{shards:05d}.json"


def unit_receipt_name(unit: int) -> str:
    """Name the receipt of one input unit."""
    return f"{RECEIPTS}/unit-{unit:05d}.json"


@dataclasses.dataclass(frozen=True)
class WriteConfig:
    """The location of a run's files, and metadata written to them.

    Attributes:
        output: The run's directory or URI.
        shards: Number of shards.
        plan: Digest of the run's plan, written to each receipt.
        signature: The signature line, written to each Parquet footer.
        recorded: Digests of models, such as the translator of sources, written to each receipt
            under their names.
        origin: Whether rows get the columns of `transforms.output.origin_columns`.
        attempt: The attempt that marks the shards it works on
            (`transforms.output.attempt_marks`); empty if it does not.
        partial: Whether other missing shards are left for later, so that nothing is committed.
    """

    output: str
    shards: int
    plan: str
    signature: str
    recorded: Mapping[str, str] = dataclasses.field(default_factory=dict)
    origin: bool = False
    attempt: str = ""
    partial: bool = False


def file_entry(name: str, data: bytes, rows: int | None = None) -> dict[str, object]:
    """Describe a written file by name, size and hash, and by number of rows if it has rows."""
    entry: dict[str, object] = {
        "name": name,
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    return entry if rows is None else {**entry, "rows": rows}


def is_inside(name: object) -> bool:
    """Tell whether a name in a manifest or receipt stays in the directory of its run.

    >>> is_inside("data/part-0.parquet"), is_inside("data/../../key"), is_inside("/key")
    (True, False, False)
    """
    return isinstance(name, str) and {"", ".", ".."}.isdisjoint(name.split("/"))


def check_names(manifest: Mapping[str, Any], path: str) -> None:
    """Check that a manifest lists only files of its own run.

    Args:
        manifest: A parsed manifest.
        path: Its path, for the message.

    Raises:
        ConfigError: It lists another file, or no list of files.
    """
    listed = manifest.get("files")
    entries = listed if isinstance(listed, list) else [None]
    names = [entry.get("name") if isinstance(entry, dict) else None for entry in entries]
    outside = [name for name in names if not is_inside(name)]
    if outside:
        raise ConfigError(
            f"{path}: lists {outside[0]!r}, which is not the name of a file of this run; was it "
            "edited? Repeat the command of the run to write it again"
        )


def check_file(output: str, entry: Mapping[str, object]) -> None:
    """Check that a described file exists, complete and unchanged.

    Raises:
        WorkerError: The file is outside the run, cannot be read, or differs.
    """
    name = str(entry["name"])
    if not is_inside(name):
        raise WorkerError(f"{name}: is not the name of a file of this run")
    path = files.join(output, name)
    try:
        data = files.read_bytes(path)
    except OSError as error:
        raise WorkerError(f"{name}: was written, but cannot be read now: {error}") from error
    digest = hashlib.sha256(data).hexdigest()
    if len(data) != entry["bytes"] or digest != entry["sha256"]:
        raise WorkerError(
            f"{name}: expected {entry['bytes']} bytes with sha256 {entry['sha256']}, "
            f"found {len(data)} bytes with {digest}"
        )


def to_json(value: object) -> bytes:
    """Encode deterministic JSON: sorted keys, two spaces, one newline at the end."""
    options = orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(value, option=options | orjson.OPT_NON_STR_KEYS)
