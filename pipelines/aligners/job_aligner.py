"""What a job asks of an aligner, from its options to the step that aligns shards.

A module of this folder declares one aligner, and is imported before any option is read: what takes
long to import (Beam, Arrow, kernels, torch) is imported where it is used.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeAlias, cast

from pairweave.pipelines.aligners.aligner_name import AlignerName
from pairweave.pipelines.options.base import AlignedOptions, FitSettings, Options
from pairweave.transforms.errors import ConfigError
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
    from pairweave.pipelines.run.run import Run
    from pairweave.transforms.shards.shard import Batches, Shards
    from pairweave.transforms.text.tokens import TokenConfig

    Chosen: TypeAlias = tuple[AlignerReference | None, TokenConfig | None]
    Model: TypeAlias = AlignerReference | beam.pvalue.AsSingleton
    Make: TypeAlias = Callable[[pa.Table, pa.Table], Aligner]
    Pairs: TypeAlias = Callable[[TokenConfig | None], tuple[pa.Table, TokenConfig]]


class JobAligner:
    """An aligner of jobs and commands; what a subclass leaves out, it does not have or need.

    Attributes:
        name: What ``--aligner`` calls it.
        pairs: What the help says of it where two languages are aligned; None where it cannot.
        translations: Likewise where translations are aligned with references, in one language.
        options: Its options beside those of every aligner; None for no others.
        own: Options that mean nothing to other aligners.
        place: Those of them that change no byte.
        of_workers: Those of them that mean nothing to a command, which has no workers.
        names: What it is called where it is named on one line (`aligner_name`).
        packages: Distributions that run it.
        brings_pieces: Whether it cuts text by itself (``--tokens pieces``).
        takes_links: Whether its links come with the input.
        believes: Whether it tells how likely links are that it does not make.
        may_be_second: Whether it can be named by ``--second_aligner``.
        warms_up: Whether its first pairs in a process take longer than others.
    """

    name: ClassVar[str]
    pairs: ClassVar[str | None] = None
    translations: ClassVar[str | None] = None
    options: ClassVar[type[Options] | None] = None
    own: ClassVar[tuple[str, ...]] = ()
    place: ClassVar[tuple[str, ...]] = ()
    of_workers: ClassVar[tuple[str, ...]] = ()
    names: ClassVar[tuple[str, ...]] = ()
    packages: ClassVar[tuple[str, ...]] = ()
    brings_pieces: ClassVar[bool] = False
    takes_links: ClassVar[bool] = False
    believes: ClassVar[bool] = False
    may_be_second: ClassVar[bool] = True
    warms_up: ClassVar[bool] = True

    # From options to a plan.

    def find(self, options: AlignedOptions) -> "Chosen":
        """Return the aligner, None if it is fitted in the run; and how text is cut.

        Tokens are None if the run trains a SentencePiece model first.

        Raises:
            ConfigError: There is no such model, or options do not fit it.
        """
        raise NotImplementedError

    def known(self, options: AlignedOptions) -> set[str]:
        """Return the options that mean something to it, of those of all aligners."""
        return set(self.own)

    def title(self, options: AlignedOptions) -> str:
        """Return how messages name it."""
        return f"--aligner {self.name}"

    def check(self, options: AlignedOptions) -> None:
        """Refuse options that do not go together.

        Raises:
            ConfigError: Names them.
        """
        if options.given_model is not None:
            raise ConfigError(
                f"--aligner {self.name} has no model; leave --model out, or give --aligner hmm"
            )

    def check_corpora(self, options: AlignedOptions, corpora: Sequence[CorpusInput]) -> None:
        """Check what the corpora bring beside texts.

        Raises:
            ConfigError: A corpus brings links, which the aligner does not look at.
        """
        for corpus in corpora:
            if corpus.given_links:
                label = f"corpus {corpus.name}: " if corpus.name else ""
                raise ConfigError(
                    f"{label}--{corpus.given_links[0]}: only --aligner given takes links from the "
                    "input; give that (align, augment and suggest have it), or leave it out"
                )

    def of_plan(self, reference: "AlignerReference", plan: Plan) -> "AlignerReference":
        """Return the aligner with what it needs of the planned input."""
        return reference

    def settings(self, options: AlignedOptions) -> dict[str, object]:
        """Return what a plan says of it beside its options and its digest."""
        return {}

    def unread(self, reference: "AlignerReference | None") -> set[str]:
        """Return options of its own that mean nothing for the input at hand."""
        return set()

    # A run.

    def model_name(self, options: AlignedOptions) -> str:
        """Return where an aligner that a run fits goes, under its output."""
        return f"models/{self.name}"

    def find_fitted(self, options: AlignedOptions, directory: str) -> "AlignerReference | None":
        """Return what an earlier attempt of a run fitted, if it can be used as it lies."""
        return None

    def check_machine(self, reference: "AlignerReference") -> None:
        """Check that this machine can run it as it is configured.

        Raises:
            ConfigError: It cannot.
        """

    def check_translations(self, reference: "AlignerReference | None") -> None:
        """Check that a given model is for two texts of one language.

        Raises:
            ConfigError: It is not.
        """

    def copies(self, options: AlignedOptions) -> int | None:
        """Return how many copies the workers of a machine share, if they do."""
        return None

    # The steps of a graph.

    def model(
        self,
        rows: "Batches",
        run: "Run",
        pieces: "beam.pvalue.AsSingleton | None" = None,
        after: "beam.PCollection[str] | None" = None,
        *,
        translations: bool = False,
    ) -> "Model":
        """Return the given aligner, what an earlier attempt fitted, or what is fitted now.

        Args:
            rows: Screened rows.
            run: The run.
            pieces: The SentencePiece model that the run trains, if it does.
            after: Receipts that must be there before anything is fitted.
            translations: Whether it aligns translations with targets, not sources with targets.
        """
        given = run.model or self.find_fitted(run.options, run.model_directory)
        return given or self.fit(rows, run, pieces, after, translations=translations)

    def fit(
        self,
        rows: "Batches",
        run: "Run",
        pieces: "beam.pvalue.AsSingleton | None",
        after: "beam.PCollection[str] | None",
        *,
        translations: bool,
    ) -> "beam.pvalue.AsSingleton":
        """Return one that is fitted on a sample of the rows, if `find` can return none.

        Args:
            rows: As for `model`, and so are the others.
            run: The run.
            pieces: The SentencePiece model that the run trains, if it does.
            after: Receipts that must be there before anything is fitted.
            translations: Whether it aligns translations with targets.
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

        assert tokens is not None  # only what is fitted may train its own
        return add_tokens(table, tokens)

    def step(
        self,
        run: "Run",
        model: "Model",
        *,
        translations: bool = False,
    ) -> "beam.PTransform[Shards, Shards]":
        """Return the step that aligns the tokens of shards."""
        from pairweave.pipelines.steps.aligning import AlignTables

        return AlignTables(cast("LoadableReference | beam.pvalue.AsSingleton", model))

    def in_pieces(
        self,
        links: "pa.Table",
        reference: "AlignerReference | None",
        tokens: "TokenConfig",
    ) -> "pa.Table":
        """Turn a job's tokens into those that their tokenizer counts.

        Raises:
            WorkerError: The tokenizer is no longer the one that cut the text.
        """
        from pairweave.transforms.text.piece_numbers import in_pieces, number_sides

        if tokens.kind != "sentencepiece":
            return links
        return in_pieces(links, *number_sides(links, tokens))

    # Commands, which have one process and no plan.

    def load_here(self, reference: "AlignerReference", threads: int) -> "LoadedAligner":
        """Load the given aligner into this process, which may work on so many batches at once."""
        # An aligner that needs more than tokens comes to a command in a way of its own.
        return cast("LoadableReference", reference.with_threads(threads)).load()

    def learn_here(
        self,
        options: FitSettings,
        tokens: "TokenConfig | None",
        pairs: "Pairs",
    ) -> "tuple[LoadedAligner, TokenConfig]":
        """Fit one in this process.

        Args:
            options: The command's options.
            tokens: How text is cut; None for pieces of a model that is trained first.
            pairs: Returns the pairs to fit on, cut into tokens, and how they were cut.
        """
        raise NotImplementedError

    def each(self, name: AlignerName) -> Iterator[AlignerName]:
        """Yield the aligners that a name stands for."""
        yield name

    def second(
        self, name: AlignerName, options: AlignedOptions, tokens: "TokenConfig"
    ) -> "LoadableReference":
        """Return it as the second aligner of a job.

        Raises:
            ConfigError: It is not there, lacks its model, does not fit the tokens, or cannot align
                shards one by one.
        """
        raise NotImplementedError

    def make(self, name: AlignerName, seconds: int) -> "Make":
        """Return what makes it ready for ``evaluate aligners``, which may be to let it learn.

        The function takes the pairs of the gold set, and those with the training text behind them.

        Args:
            name: How it was named.
            seconds: How long one call of a program may take.

        Raises:
            ConfigError: It is not there, or a setting is not one of its own.
        """
        raise NotImplementedError

    def learns(self, name: AlignerName) -> bool:
        """Tell whether it learns from the text that ``evaluate aligners`` is given."""
        return False

    def needs_whole_corpus(self, name: AlignerName) -> bool:
        """Tell whether its links for a pair depend on all pairs that it is given with it."""
        return False

    def facts(self, name: AlignerName) -> dict[str, object]:
        """Return what a signature says of it beside its digest."""
        return {}
