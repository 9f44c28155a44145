"""The glossary whose terms ``augment --method glossary`` tags."""

from pairweave.pipelines.job_options.pair_options import AugmentOptions
from pairweave.pipelines.parts.part import Part, Planning, Settled
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.tags.glossary import Glossary, read_glossary
from pairweave.transforms.tags.injection_options import MethodOptions
from pairweave.transforms.text.stemming import stemmer_name

_OF_GLOSSARY = MethodOptions.model_fields.keys() - {"method"}


class GlossaryPart(Part[AugmentOptions, Glossary | None]):
    """The glossary; None for another method."""

    name = "glossary"
    options = MethodOptions

    def plan(self, options: AugmentOptions, planning: Planning) -> Settled[Glossary | None]:
        """Read the glossary.

        Raises:
            ConfigError: It is missing, superfluous, or cannot be read.
        """
        if options.method != "glossary":
            for name in sorted(options.model_fields_set & _OF_GLOSSARY):
                raise ConfigError(
                    f"--{name} applies only to tags around terms; give --method glossary as well"
                )
            return Settled(None)
        if options.glossary is None:
            raise ConfigError(
                "--method glossary needs --glossary FILE, with SOURCE TAB TARGET on each line"
            )
        glossary = read_glossary(
            options.glossary, options.glossary_match, punctuation=options.punctuation_tags
        )
        stemmer = {"stemmer": stemmer_name()} if glossary.match == "stem" else {}
        return Settled(
            glossary,
            settings={
                "glossary": glossary.digest,
                "glossary_match": glossary.match,
                **stemmer,
            },
        )


GLOSSARY = GlossaryPart()
