"""Choose the aligner and the tokens of a job from its options."""

from pairweave.pipelines.aligners.aligner_registry import ALIGNERS, aligner_of
from pairweave.pipelines.aligners.job_aligner import Chosen
from pairweave.pipelines.options.base import WordAlignerOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_values import dashed


def choose_aligner(options: WordAlignerOptions) -> Chosen:
    """Return the given model and the tokens; each is None if the run makes it first.

    Raises:
        ConfigError: There is no such model, or options do not suit the aligner.
    """
    check_tokens(options)
    check_options(options)
    return aligner_of(options).find(options)


def unused_options(options: WordAlignerOptions) -> set[str]:
    """Return the aligner options that the job's aligner does not use.

    An option of another step of the job may have the same name as an aligner option.
    """
    there = [each for each in ALIGNERS if each.options is None or isinstance(options, each.options)]
    return {name for each in there for name in each.own} - aligner_of(options).known(options)


def check_options(options: WordAlignerOptions) -> None:
    """Refuse options of other aligners, and options that exclude each other."""
    aligner = aligner_of(options)
    foreign = sorted(unused_options(options) & options.model_fields_set)
    if foreign:
        other = next((each.name for each in ALIGNERS if {*foreign} <= {*each.own}), None)
        raise ConfigError(
            f"{aligner.title(options)} does not take {dashed(foreign)}; leave "
            f"{'it' if len(foreign) == 1 else 'them'} out"
            + (f", or give --aligner {other}" if other else "")
        )
    aligner.check(options)


def check_tokens(options: WordAlignerOptions) -> None:
    """Refuse an encoder's pieces for an aligner without an encoder."""
    aligner = aligner_of(options)
    if options.tokens == "pieces" and not aligner.brings_pieces:
        raise ConfigError(
            f"--tokens pieces: these are the pieces of an encoder, but --aligner {aligner.name} "
            "has none; give --aligner encoder, or sentencepiece for subwords of your own"
        )
    vocabulary = "vocabulary" in aligner.own and "vocabulary" in options.model_fields_set
    if vocabulary and options.tokens != "sentencepiece":
        raise ConfigError(
            "--vocabulary applies to a SentencePiece model that the run trains; give --tokens "
            "sentencepiece as well, or leave it out"
        )
