"""Translation edit rate: aligns translations with references without a model."""

from pairweave.pipelines.aligners.job_aligner import Chosen, JobAligner
from pairweave.pipelines.options.base import WordAlignerOptions


class Ter(JobAligner):
    """The aligner `models.ter_aligner`."""

    name = "ter"
    translations = "by edits (no model)"

    def find(self, options: WordAlignerOptions) -> Chosen:
        """Return the aligner itself."""
        from pairweave.models.ter_aligner import TerAligner
        from pairweave.pipelines.aligners.token_choice import known_tokens

        return TerAligner(), known_tokens(options)
