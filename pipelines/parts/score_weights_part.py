"""The weights of the default score of ``filter``."""

from pairweave.pipelines.job_options.filter_options import GIVEN, FilterJobOptions
from pairweave.pipelines.parts.part import Part, Planning, Settled
from pairweave.transforms.filtering.score import Weights, read_weights


class ScoreWeightsPart(Part[FilterJobOptions, Weights | None]):
    """The weights; None if an encoder scores the pairs or they come with their scores."""

    name = "score_weights"
    options = FilterJobOptions

    def plan(self, options: FilterJobOptions, planning: Planning) -> Settled[Weights | None]:
        """Read the weights, or record that scores are given."""
        if options.scores_are_given:
            return Settled(None, settings={"scorer": GIVEN})
        if not options.aligns:
            return Settled(None)
        weights = read_weights(options.score_weights)
        return Settled(weights, settings={"score_weights": weights.digest})


SCORE_WEIGHTS = ScoreWeightsPart()
