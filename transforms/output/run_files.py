"""The files that describe a run: their names, and reading them."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

import orjson

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output.file_entries import to_json
from pairweave.transforms.storage import files

PLAN = "_plan.json"
MANIFEST = "_manifest.json"
RUN = "_run.json"
CARD = "README.md"

FIT = "fit"
"""The job that writes a model and rejects, but no rows."""

Json = dict[str, Any]

OLD_SHARD = re.compile(r"part-[0-9]{5,}-of-[0-9]{5,}\.parquet")
"""A shard beside the manifest, where earlier versions wrote it instead of to ``data/``."""


def plan_digest(plan: Mapping[str, object]) -> str:
    """Return the hex SHA-256 of a plan."""
    return hashlib.sha256(to_json(plan)).hexdigest()


def read_json(path: str) -> Json:
    """Read a JSON object.

    Raises:
        ConfigError: It is not a JSON object.
    """
    try:
        value = orjson.loads(files.read_bytes(path))
    except orjson.JSONDecodeError as error:
        raise ConfigError(f"{path}: not JSON ({error}); was it edited?") from error
    if not isinstance(value, dict):
        raise ConfigError(f"{path}: expected a JSON object")
    return value
