"""The progress of the alignment of a long document, as lines in the log."""

import functools
import logging
import time

from pairweave.transforms.kernels.sentences.beads import Told

PROGRESS_SECONDS = 10.0
"""Time between progress messages of an alignment, as for a fit (`models.hmm.training`)."""

_LOG = logging.getLogger("pairweave")


class DocumentProgress:
    """Logs the progress of a document's alignment from time to time; nothing for a short one."""

    def __init__(self, document: str, sentences: int) -> None:
        """Start the clock.

        Args:
            document: The document's name in messages.
            sentences: Number of its source sentences.
        """
        self._document = document
        self._sentences = sentences
        self._steps: set[str] = set()
        self._last_message = time.monotonic()

    def of(self, step: str) -> Told:
        """Return the function that a step calls after each block of rows.

        Args:
            step: The name of the step, such as "pass 1 of 2, comparing lengths". A step is
                repeated when a wider band is searched.
        """
        again = ", again in a wider band" if step in self._steps else ""
        self._steps.add(step)
        return functools.partial(self._tell, step + again)

    def _tell(self, step: str, done: int, rows: int) -> None:
        now = time.monotonic()
        if done < rows and now - self._last_message > PROGRESS_SECONDS:
            self._last_message = now
            _LOG.info(
                "aligning %s (%s sentences): %s: %d %% done",
                self._document,
                f"{self._sentences:,}",
                step,
                100 * done // rows,
            )
