"""The golden set that the random masks of ``suggest`` follow."""

from pairweave.pipelines.job_options.suggest_options import SuggestOptions
from pairweave.pipelines.parts.file_facts import files_facts
from pairweave.pipelines.parts.part import Part, Planning, Settled
from pairweave.transforms.suggestions.span_lengths import Histograms, from_json, read_golden


class GoldenPart(Part[SuggestOptions, Histograms | None]):
    """Statistics of the golden set; None if none is given."""

    name = "golden"
    options = SuggestOptions

    def plan(self, options: SuggestOptions, planning: Planning) -> Settled[Histograms | None]:
        """Read the golden set.

        Raises:
            ConfigError: It cannot be read.
        """
        named = {"fit_lengths": files_facts(options.fit_lengths)}
        if not options.fit_lengths:
            return Settled(None, settings=named)
        facts = read_golden(options.fit_lengths, options.target_lang).as_json()
        return Settled(from_json(facts), settings=named, facts={"golden": facts})


GOLDEN = GoldenPart()
