"""External aligners: programs that the user has installed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from pairweave.models.external.external_process import identity
from pairweave.models.external.external_programs import (
    PROGRAMS,
    ExternalConfig,
    ProgramName,
    names,
)
from pairweave.pipelines.aligners.aligner_name import AlignerName
from pairweave.pipelines.aligners.encoder import EncoderOptions
from pairweave.pipelines.aligners.job_aligner import Chosen, JobAligner, Make, Pairs
from pairweave.pipelines.options.base import FitSettings, Options, WordAlignerOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_marks import PLANNED_OTHERWISE, UNPLANNED
from pairweave.transforms.option_places import PROGRAM, Use
from pairweave.transforms.output.signature_line import InFull

if TYPE_CHECKING:
    import apache_beam as beam
    import pyarrow as pa

    from pairweave.models.aligner import Aligner, AlignerReference, LoadedAligner
    from pairweave.models.external.external_reference import ExternalReference
    from pairweave.pipelines.steps.aligner_run import AlignerRun
    from pairweave.transforms.shards.shard import Batches
    from pairweave.transforms.text.tokens import TokenConfig


class ProgramOptions(Options):
    """Word alignment of two languages: by a program."""

    program: ProgramName | None = Field(
        None,
        description=f"external: which program; {' and '.join(names(way='whole corpus'))} only to "
        "be evaluated",
    )
    program_path: Annotated[str | None, PROGRAM] = Field(
        None,
        description="external: its executable, or the Python that has its package (default: as "
        "on the search path)",
        json_schema_extra=PLANNED_OTHERWISE,
    )
    program_timeout: int = Field(
        3600,
        ge=1,
        description="external: seconds that one call of the program may take",
        json_schema_extra=UNPLANNED,
    )


class External(JobAligner):
    """The aligner `models.external`."""

    name = "external"
    pairs = "a program"
    options = ProgramOptions
    own = tuple(ProgramOptions.model_fields)
    names = tuple(PROGRAMS)
    places: ClassVar[Mapping[str, Use]] = {"path": Use.PROGRAM}
    warms_up = False

    def known(self, options: WordAlignerOptions) -> set[str]:
        """Return the options that the program takes, including some of other aligners."""
        config = config_of_options(options)
        known = {"fit_pairs"} if config.about.way == "fitted" else set()
        return {*self.own, *known, *(("layer", "head") if config.about.heads else ())}

    def title(self, options: WordAlignerOptions) -> str:
        """Return the aligner's name in messages, with the program."""
        return f"--aligner external --program {config_of_options(options).program}"

    def check(self, options: WordAlignerOptions) -> None:
        """Accept all; `models.external.external_programs` checks the program's settings."""

    def find(self, options: WordAlignerOptions) -> Chosen:
        """Return the program (None if it must be trained first) and the tokens."""
        from pairweave.models.external import external_reference
        from pairweave.pipelines.aligners.token_choice import known_tokens

        config = config_of_options(options)
        if config.about.way == "whole corpus":
            raise ConfigError(
                f"--program {config.program} cannot align a corpus shard by shard: "
                f"{config.about.why_whole}; compare it by pairweave evaluate aligners, and align "
                "with another"
            )
        tokens = known_tokens(options)
        if config.about.way == "pair by pair":
            return external_reference.find(config), tokens
        identity(config)
        if options.given_model is None:
            return None, tokens
        return external_reference.find_learned(config, options.given_model), tokens

    def settings(self, options: WordAlignerOptions) -> dict[str, object]:
        """Return the program's version, and its head."""
        config = config_of_options(options)
        settings: dict[str, object] = {"program_version": InFull(identity(config))}
        if config.about.heads:
            settings["head"] = config.extraction
        return settings

    def model_name(self, options: WordAlignerOptions) -> str:
        """Return the directory of the program's trained model, relative to a run's output."""
        return f"models/{config_of_options(options).program}"

    def find_fitted(self, options: WordAlignerOptions, directory: str) -> "AlignerReference | None":
        """Return the model that the program learned in an earlier attempt of a run."""
        from pairweave.models.external import external_reference

        return external_reference.find_whole(config_of_options(options), directory)

    def fit(
        self,
        rows: "Batches",
        run: "AlignerRun",
        pieces: "beam.pvalue.AsSingleton | None",
        after: "beam.PCollection[str] | None",
        *,
        translations: bool,
    ) -> "beam.pvalue.AsSingleton":
        """Return the model that the program learns from a sample of the rows."""
        from pairweave.pipelines.steps.external_learning import trained_program

        return trained_program(rows, run, config_of_options(run.options))

    def learn_here(
        self, options: FitSettings, tokens: "TokenConfig | None", pairs: Pairs
    ) -> "tuple[LoadedAligner, TokenConfig]":
        """Refuse training: a program is trained only in a run."""
        raise ConfigError(
            f"--aligner external: use --model to give what {config_of_options(options).program} "
            "learned in an earlier run"
        )

    def second(
        self,
        name: AlignerName,
        options: WordAlignerOptions,
        tokens: "TokenConfig",
    ) -> "ExternalReference":
        """Return a program as the second aligner."""
        from pairweave.models.external import external_reference

        about = PROGRAMS[name.aligner]
        if about.way == "whole corpus":
            raise ConfigError(
                f"{name.option} {name.aligner} cannot align a corpus shard by shard: "
                f"{about.why_whole}"
            )
        assert isinstance(options, ProgramOptions)
        config = config_of(name, options.program_timeout)
        if about.way == "pair by pair":
            return external_reference.find(config)
        if name.model is None:
            raise ConfigError(
                f"{name.option} {name.aligner}: needs what it learned in an earlier run, as in "
                f"{name.aligner}:OUTPUT/models/{name.aligner}; or let it be the first aligner"
            )
        return external_reference.find_learned(config, name.model)

    def make(self, name: AlignerName, seconds: int) -> Make:
        """Return a function that trains the program."""
        from pairweave.models.external.external import ExternalAligner, find_digest, learn

        config = config_of(name, seconds)
        find_digest(config, {})

        def learned(_gold: "pa.Table", training: "pa.Table") -> "Aligner":
            return ExternalAligner(config, learn(config, training))

        return learned

    def learns(self, name: AlignerName) -> bool:
        """Return True if the program learns, before or while it aligns."""
        return PROGRAMS[name.aligner].way != "pair by pair"

    def needs_whole_corpus(self, name: AlignerName) -> bool:
        """Return True if the program learns while it aligns."""
        return PROGRAMS[name.aligner].way == "whole corpus"


def config_of_options(options: WordAlignerOptions) -> ExternalConfig:
    """Return the settings of the program.

    Raises:
        ConfigError: No program is named, or it has no such setting.
    """
    assert isinstance(options, ProgramOptions)
    assert isinstance(options, EncoderOptions)  # some programs have an encoder
    if options.program is None:
        *some, last = [name for name in PROGRAMS if name not in names(way="whole corpus")]
        raise ConfigError(f"--aligner external needs --program: {', '.join(some)} or {last}")
    return ExternalConfig(
        program=options.program,
        path=options.program_path,
        model=options.given_model,
        layer=options.layer,
        head=options.head if "head" in options.model_fields_set else None,
        timeout_seconds=options.program_timeout,
    )


def config_of(name: AlignerName, timeout_seconds: int) -> ExternalConfig:
    """Return the settings of a program from its one-line name.

    Raises:
        ConfigError: A setting is unknown or out of range.
    """
    name.require_settings("layer", "head", "path")
    layer = name.number("layer", int)
    return ExternalConfig(
        program=name.aligner,
        path=name.settings.get("path"),
        model=name.model,
        head=name.settings.get("head"),
        timeout_seconds=timeout_seconds,
        **({} if layer is None else {"layer": layer}),
    )
