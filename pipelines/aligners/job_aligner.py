"""The interface between jobs and aligners, from options to the step that aligns shards.

Each aligner has a module in this folder, which is imported before any option is read: imports that
take long (Beam, Arrow, kernels, torch) are therefore inside functions.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeAlias, cast

from pairweave.pipelines.aligners.aligner_name import AlignerName
from pairweave.pipelines.options.base import FitSettings, Options, WordAlignerOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_places import Use
from pairweave.transforms.units import CorpusInput, Plan

if TYPE_CHECKING:
    import apache_beam as beam
    import pyarrow as pa

    from pairweave.models.aligner import (
        Aligner,
        AlignerReference,
        LoadableReference,
        LoadedAligner,
    )
    from pairweave.models.hmm.hmm_reference import HmmReference
    from pairweave.pipelines.steps.aligner_run import AlignerRun, Model
    from pairweave.transforms.shards.shard import Batches, Shards
    from pairweave.transforms.text.tokens import TokenConfig

# In quotes, since their libraries take long to import.
Chosen: TypeAlias = "tuple[AlignerReference | None, TokenConfig | None]"
"""An aligner, None if the run fits it; and the tokens, None if the run learns them first."""

Make: TypeAlias = "Callable[[pa.Table, pa.Table], Aligner]"
"""Makes an aligner."""

Pairs: TypeAlias = "Callable[[TokenConfig | None], tuple[pa.Table, TokenConfig]]"
"""Reads pairs and cuts them into tokens."""


class JobAligner:
    """An aligner of jobs and commands; defaults are for features that it does not have.

    Attributes:
        name: Its name in ``--aligner``.
        pairs: Its help text for aligning two languages; None if it cannot.
        translations: Its help text for aligning translations with references, in one language.
        options: Its options besides those of every aligner; None if it has none.
        own: Options that other aligners do not have.
        names: Its names in one-line names (`aligner_name`).
        places: Settings of these names that name a place, each with the kind of place.
        packages: Distributions that it needs.
        brings_pieces: Whether it cuts text itself (``--tokens pieces``).
        has_soft_links: Whether it also gives probabilities of links that it does not make.
        may_be_second: Whether ``--second_aligner`` can name it.
        models_from_hub: Whether its model may have a name on a hub, from which a run downloads it.
        warms_up: Whether its first pairs in a process take longer than others.
    """

    name: ClassVar[str]
    pairs: ClassVar[str | None] = None
    translations: ClassVar[str | None] = None
    options: ClassVar[type[Options] | None] = None
    own: ClassVar[tuple[str, ...]] = ()
    names: ClassVar[tuple[str, ...]] = ()
    places: ClassVar[Mapping[str, Use]] = {}
    packages: ClassVar[tuple[str, ...]] = ()
    brings_pieces: ClassVar[bool] = False
    has_soft_links: ClassVar[bool] = False
    may_be_second: ClassVar[bool] = True
    models_from_hub: ClassVar[bool] = False
    warms_up: ClassVar[bool] = True

    @property
    def can_fit(self) -> bool:
        """Tell whether a run can fit it."""
        return type(self).fit is not JobAligner.fit

    # From options to a plan.

    def find(self, options: WordAlignerOptions) -> Chosen:
        """Return the aligner (None if the run fits it) and the tokens.

        Tokens are None if the run trains a SentencePiece model first.

        Raises:
            ConfigError: There is no such model, or options do not fit it.
        """
        raise NotImplementedError

    def known(self, options: WordAlignerOptions) -> set[str]:
        """Return the options of aligners that it uses."""
        return set(self.own)

    def title(self, options: WordAlignerOptions) -> str:
        """Return its name in messages."""
        return f"--aligner {self.name}"

    def check(self, options: WordAlignerOptions) -> None:
        """Refuse options that exclude each other."""
        if options.given_model is not None:
            raise ConfigError(
                f"--aligner {self.name} has no model; leave --model out, or give --aligner hmm"
            )

    def check_corpora(self, options: WordAlignerOptions, corpora: Sequence[CorpusInput]) -> None:
        """Check the corpora for data other than texts.

        Raises:
            ConfigError: A corpus has links, which the aligner does not use.
        """
        for corpus in corpora:
            if corpus.given_links:
                label = f"corpus {corpus.name}: " if corpus.name else ""
                raise ConfigError(
                    f"{label}--{corpus.given_links[0]}: only --aligner given takes links from the "
                    "input; give that, or leave it out"
                )

    def of_plan(self, reference: "AlignerReference", plan: Plan) -> "AlignerReference":
        """Return the aligner, with the data that it needs from the plan."""
        return reference

    def settings(self, options: WordAlignerOptions) -> dict[str, object]:
        """Return the aligner's entries in a plan, other than its options and digest."""
        return {}

    def fitted(self, reference: "AlignerReference | None") -> "tuple[str, HmmReference] | None":
        """Return the option that names the given hmm, and the hmm; None if none is given."""
        return None

    def unread(self, reference: "AlignerReference | None") -> set[str]:
        """Return the aligner's own options that do not apply to the run's input."""
        return set()

    # A run.

    def model_name(self, options: WordAlignerOptions) -> str:
        """Return the directory of an aligner that a run fits, relative to the run's output."""
        return f"models/{self.name}"

    def find_fitted(self, options: WordAlignerOptions, directory: str) -> "AlignerReference | None":
        """Return the aligner that an earlier attempt of a run fitted, if it is complete."""
        return None

    def check_machine(self, reference: "AlignerReference") -> None:
        """Check that this machine can run the aligner with its settings."""

    def check_translations(self, reference: "AlignerReference | None") -> None:
        """Check that a given model is for two texts in one language."""

    def needed(self, options: WordAlignerOptions) -> tuple[str, ...]:
        """Return the distributions that it needs."""
        return self.packages

    def copies(self, options: WordAlignerOptions) -> int | None:
        """Return the number of copies that the workers of a machine share, None if they do not."""
        return None

    # The steps of a graph.

    def model(
        self,
        rows: "Batches",
        run: "AlignerRun",
        pieces: "beam.pvalue.AsSingleton | None" = None,
        after: "beam.PCollection[str] | None" = None,
        *,
        translations: bool = False,
    ) -> "Model":
        """Return the given aligner, the one that an earlier attempt fitted, or a newly fitted one.

        Args:
            rows: Screened rows.
            run: The run.
            pieces: The SentencePiece model that the run trains, if any.
            after: Receipts that must exist before anything is fitted.
            translations: Whether it aligns translations, instead of sources, with targets.
        """
        reference = run.model or self.find_fitted(run.options, run.model_directory)
        return reference or self.fit(rows, run, pieces, after, translations=translations)

    def fit(
        self,
        rows: "Batches",
        run: "AlignerRun",
        pieces: "beam.pvalue.AsSingleton | None",
        after: "beam.PCollection[str] | None",
        *,
        translations: bool,
    ) -> "beam.pvalue.AsSingleton":
        """Return an aligner fitted on a sample of the rows, if `find` can return none.

        The arguments are those of `model`.
        """
        raise NotImplementedError

    def cut(
        self,
        table: "pa.Table",
        reference: "AlignerReference",
        tokens: "TokenConfig | None",
    ) -> "pa.Table":
        """Cut a shard's pairs into tokens."""
        from pairweave.transforms.text.tokens import add_tokens

        assert tokens is not None  # only a fitted aligner may train a SentencePiece model
        return add_tokens(table, tokens)

    def step(
        self,
        run: "AlignerRun",
        model: "Model",
        *,
        translations: bool = False,
    ) -> "beam.PTransform[Shards, Shards]":
        """Return the step that aligns the tokens of shards."""
        from pairweave.pipelines.steps.aligning import align_table
        from pairweave.pipelines.steps.steps import MapWholeShards

        return MapWholeShards(align_table, reference=model)

    def in_pieces(
        self,
        links: "pa.Table",
        reference: "AlignerReference | None",
        tokens: "TokenConfig",
    ) -> "pa.Table":
        """Renumber the tokens of links as their tokenizer numbers them.

        Raises:
            WorkerError: The tokenizer is not the one that cut the text.
        """
        from pairweave.transforms.text.piece_numbers import in_pieces, number_sides

        if tokens.kind != "sentencepiece":
            return links
        return in_pieces(links, *number_sides(links, tokens))

    # Commands, which have one process and no plan.

    def load_here(self, reference: "AlignerReference", threads: int) -> "LoadedAligner":
        """Load the given aligner into this process, to align up to ``threads`` batches at once."""
        # Aligners that need more than tokens override this.
        return cast("LoadableReference", reference.with_threads(threads)).load()

    def learn_here(
        self,
        options: FitSettings,
        tokens: "TokenConfig | None",
        pairs: Pairs,
    ) -> "tuple[LoadedAligner, TokenConfig]":
        """Fit an aligner in this process.

        Args:
            options: The command's options.
            tokens: How text is cut; None for the pieces of a model that is trained first.
            pairs: Returns the pairs to fit on, cut into tokens, and these tokens.
        """
        raise NotImplementedError

    def each(self, name: AlignerName) -> Iterator[AlignerName]:
        """Yield the aligners that a name selects."""
        yield name

    def second(
        self, name: AlignerName, options: WordAlignerOptions, tokens: "TokenConfig"
    ) -> "LoadableReference":
        """Return the aligner as the second aligner of a job.

        Raises:
            ConfigError: It is not installed, lacks its model, cannot use the tokens, or cannot
                align shards one by one.
        """
        raise NotImplementedError

    def make(self, name: AlignerName, seconds: int) -> Make:
        """Return a function that prepares, or trains, the aligner for ``evaluate aligners``.

        The function takes the pairs of the gold set; and the same pairs followed by the training
        text.

        Args:
            name: Its name.
            seconds: Time limit of one call of a program.

        Raises:
            ConfigError: It is not installed, or a setting is unknown.
        """
        raise NotImplementedError

    def learns(self, name: AlignerName) -> bool:
        """Return True if the aligner learns from the text given to ``evaluate aligners``."""
        return False

    def needs_whole_corpus(self, name: AlignerName) -> bool:
        """Return True if its links for a pair depend on the other pairs of the corpus."""
        return False

    def facts(self, name: AlignerName) -> dict[str, object]:
        """Return the aligner's entries in a signature, other than its digest."""
        return {}
