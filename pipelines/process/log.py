"""The log of the program, and times as its files and records write them."""

import logging
import time

LOG = logging.getLogger("pairweave")


def utc(seconds: float | None = None) -> str:
    """Return a time in UTC (ISO 8601), in seconds since the epoch; by default the present.

    >>> utc(0.0)
    '1970-01-01T00:00:00Z'
    """
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
