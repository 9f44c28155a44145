"""The second aligner of a job.

It has a one-line name with its settings: ``hmm:DIRECTORY``, ``encoder:DIRECTORY:layer=8``,
``simalign:DIRECTORY:path=PYTHON``. It gets the same tokens as the first.
"""

from pairweave.models.aligner import LoadableReference
from pairweave.pipelines.aligners.aligner_options import AlignerOptions
from pairweave.pipelines.aligners.aligner_registry import NAMED, read_name
from pairweave.pipelines.parts.aligner_part import ALIGNER
from pairweave.pipelines.parts.part import Part, Planning, Settled
from pairweave.transforms.errors import ConfigError

_SECOND = "--second_aligner"


class SecondAlignerPart(Part[AlignerOptions, LoadableReference | None]):
    """The aligner whose links are combined with those of the first; None if there is none."""

    name = "second_aligner"
    options = AlignerOptions

    def plan(
        self, options: AlignerOptions, planning: Planning
    ) -> Settled[LoadableReference | None]:
        """Find the aligner.

        Raises:
            ConfigError: It is not installed, lacks its model, does not fit the tokens, or cannot
                align shards one by one.
        """
        if options.second_aligner is None:
            if "combine" in options.model_fields_set:
                raise ConfigError(
                    "--combine joins the links of two aligners; give --second_aligner"
                )
            return Settled(None)
        name = read_name(options.second_aligner, _SECOND)
        tokens = planning.need(ALIGNER).tokens
        if tokens is None or tokens.kind == "pieces":
            raise ConfigError(
                f"{_SECOND} gets the tokens of the first aligner, so these must be words, "
                "whitespace or sentencepiece:MODEL, not pieces of one aligner"
            )
        reference = NAMED[name.aligner].second(name, options, tokens)
        own = {key: value for key, value in name.settings.items() if key != "path"}
        text = " ".join([name.aligner, *(f"{key}={own[key]}" for key in sorted(own))])
        return Settled(
            reference,
            settings={
                "second_aligner": text,
                "second_model": reference.digest,
                "combine": options.combine,
            },
            models=(reference,),
        )


SECOND_ALIGNER = SecondAlignerPart()
