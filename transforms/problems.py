"""The reason for rejecting a row, as a reader reports it."""

import dataclasses

from pairweave.transforms.rejects import Reason

RAW_BYTES = 4096
"""Maximum number of bytes of an unreadable line that the rejects keep."""


@dataclasses.dataclass(frozen=True, slots=True)
class Problem:
    """The reason why a row is rejected.

    Attributes:
        reason: The code.
        detail: The place and the cause, for a person.
        raw: Up to `RAW_BYTES` of the bytes that could not be decoded.
    """

    reason: Reason
    detail: str
    raw: bytes | None = None
