"""The word aligner of a job, and the tokens that it aligns."""

import dataclasses
from collections.abc import Sequence

from pairweave.models.aligner import AlignerReference
from pairweave.models.hmm import hmm_reference
from pairweave.models.learned_languages import Learned
from pairweave.pipelines.aligners.aligner_choice import choose_aligner, unused_options
from pairweave.pipelines.aligners.aligner_registry import aligner_of
from pairweave.pipelines.aligners.token_choice import tokens_text
from pairweave.pipelines.options.base import PlannedOptions, WordAlignerOptions
from pairweave.pipelines.parts.part import Fitting, Part, Planning, Settled
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


class AlignerPart(Part[PlannedOptions, ChosenAligner]):
    """The aligner that the option ``aligner`` names, or the job's only aligner."""

    name = "aligner"
    options = WordAlignerOptions

    def check_corpora(self, options: PlannedOptions, corpora: Sequence[CorpusInput]) -> None:
        """Refuse links in the input for an aligner that does not use them."""
        aligner_of(options).check_corpora(options, corpora)

    def plan(self, options: PlannedOptions, planning: Planning) -> Settled[ChosenAligner]:
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


ALIGNER = AlignerPart()
