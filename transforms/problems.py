"""Why a row cannot be kept, as a reader says it."""

import dataclasses

from pairweave.transforms.rejects import Reason

RAW_BYTES = 4096
"""Bytes of an unreadable line that are kept in the rejects."""


@dataclasses.dataclass(frozen=True, slots=True)
class Problem:
    """Why a row is rejected.

    Attributes:
        reason: The code.
        detail: Where and what, for a person.
        raw: Up to `RAW_BYTES` of what could not be made into text.
    """

    reason: Reason
    detail: str
    raw: bytes | None = None
