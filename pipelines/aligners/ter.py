"""Translation edit rate: aligns translations with references without a model."""

from typing import TYPE_CHECKING

from pairweave.pipelines.aligners.job_aligner import JobAligner
from pairweave.pipelines.options.base import WordAlignerOptions

if TYPE_CHECKING:
    from pairweave.pipelines.aligners.aligner_types import Chosen


class Ter(JobAligner):
    """The aligner `models.ter_aligner`."""

    name = "ter"
    translations = "by edits (no model)"

    def find(self, options: WordAlignerOptions) -> "Chosen":
        """Return the aligner itself."""
        from pairweave.models.ter_aligner import TerAligner
        from pairweave.pipelines.aligners.token_choice import known_tokens

        return TerAligner(), known_tokens(options)
