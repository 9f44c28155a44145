"""The word aligners of a job, and the tokens that they align.

The second one has a one-line name with its settings: ``hmm:DIRECTORY``,
``encoder:DIRECTORY:layer=8``, ``simalign:DIRECTORY:path=PYTHON``. It gets the tokens of the first.
"""

import dataclasses
from collections.abc import Sequence

from pairweave.models.aligner import AlignerReference, LoadableReference
from pairweave.models.hmm import hmm_reference
from pairweave.models.learned_languages import Learned
from pairweave.pipelines.aligners.aligner_choice import choose_aligner, unused_options
from pairweave.pipelines.aligners.aligner_options import AlignerOptions
from pairweave.pipelines.aligners.aligner_registry import NAMED, aligner_of, read_name
from pairweave.pipelines.aligners.token_choice import tokens_text
from pairweave.pipelines.options.base import PlannedOptions
from pairweave.pipelines.parts.part import Fitting, Part, Planning, Settled
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_values import refuse_given
from pairweave.transforms.text.tokens import TokenConfig
from pairweave.transforms.units import CorpusInput


@dataclasses.dataclass(frozen=True)
class ChosenAligner:
    """The aligner of a job.

    Attributes:
        reference: The given model; None if one is fitted first.
        tokens: How text is cut; None if a SentencePiece model is trained first.
    """

    reference: AlignerReference | None
    tokens: TokenConfig | None

    def with_threads(self, threads: int) -> "ChosenAligner":
        """Return a copy whose model processes up to ``threads`` batches at once."""
        if self.reference is None:
            return self
        return dataclasses.replace(self, reference=self.reference.with_threads(threads))


def _check_aligner_corpora(options: PlannedOptions, corpora: Sequence[CorpusInput]) -> None:
    """Refuse links in the input for an aligner that does not use them."""
    aligner_of(options).check_corpora(options, corpora)


def _plan_aligner(options: PlannedOptions, planning: Planning) -> Settled[ChosenAligner]:
    """Find the given model, if any, and the tokens."""
    aligner = aligner_of(options)
    reference, tokens = choose_aligner(options)
    if reference is not None:
        reference = aligner.of_plan(reference, planning.plan)
    learned: tuple[Learned, ...] = ()
    fitted = aligner.fitted(reference)
    if fitted is not None:
        option, hmm = fitted
        about = hmm_reference.load(hmm).about
        learned = (Learned(option, hmm.directory, "a model", about),)
    prior = options.prior_model
    if prior is not None:
        about = hmm_reference.read(prior, "--prior").about
        kind = "an earlier fit"
        learned += (Learned("--prior", prior, kind, about, refused=True, either_way=True),)
    fitting = None
    if reference is None and options.aligns:
        fitting = Fitting(
            aligner.model_name(options),
            getattr(options, "fit_pairs", 0),
            lambda directory: aligner.find_fitted(options, directory),
        )
    tokenizer = None if tokens is None else tokens.plugin
    return Settled(
        ChosenAligner(reference, tokens),
        settings={
            "model": reference.digest if reference else None,
            "tokens": tokens_text(tokens),
            **({} if tokenizer is None else {"tokenizer_plugin": tokenizer.facts}),
            **aligner.settings(options),
        },
        left_out=frozenset(unused_options(options) | aligner.unread(reference)),
        models=() if reference is None else (reference,),
        packages=(
            *aligner.needed(options),
            *(() if tokenizer is None else (tokenizer.distribution,)),
        ),
        copies=aligner.copies(options),
        learned=learned,
        fitting=fitting,
    )


ALIGNER = Part("aligner", _plan_aligner, check_corpora=_check_aligner_corpora)
"""The aligner that the option ``aligner`` names, or the job's only aligner."""


_SECOND = "--second_aligner"


def _plan_second_aligner(
    options: AlignerOptions, planning: Planning
) -> Settled[LoadableReference | None]:
    """Find the aligner.

    Raises:
        ConfigError: It is not installed, lacks its model, does not fit the tokens, or cannot
            align shards one by one.
    """
    if options.second_aligner is None:
        refuse_given(options, ["combine"], "joins the links of two aligners; give --second_aligner")
        return Settled(None)
    name = read_name(options.second_aligner, _SECOND)
    tokens = planning.result_of(ALIGNER).tokens
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


SECOND_ALIGNER = Part("second_aligner", _plan_second_aligner)
"""The aligner whose links are combined with those of the first; None if there is none."""
