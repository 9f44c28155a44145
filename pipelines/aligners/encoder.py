"""The neural aligner: a multilingual Transformer and a head that extracts links."""

from typing import TYPE_CHECKING, Annotated, Any

import pydantic
from pydantic import Field

from pairweave.models.encoder.encoder_config import (
    ACCELERATOR,
    TRANSPORT_SETTINGS,
    CompareUnit,
    EncoderConfig,
    HeadConfig,
    HeadName,
    LongPairs,
    Precision,
    TransportCost,
    TransportMass,
)
from pairweave.pipelines.aligners.aligner_name import AlignerName
from pairweave.pipelines.aligners.job_aligner import JobAligner
from pairweave.pipelines.options.base import (
    TOKEN_BUDGET,
    Options,
    WordAlignerOptions,
    as_text,
)
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_facts import (
    OF_ONE_RUN,
    PLANNED_OTHERWISE,
    UNPLANNED,
    UNSAID,
    not_at_night,
)

if TYPE_CHECKING:
    import apache_beam as beam
    import pyarrow as pa

    from pairweave.models.aligner import AlignerReference
    from pairweave.models.encoder.hosting.encoder_reference import EncoderReference
    from pairweave.pipelines.aligners.job_aligner import Chosen, Make, Model
    from pairweave.pipelines.steps.aligner_run import AlignerRun
    from pairweave.transforms.shards.shard import Shards
    from pairweave.transforms.text.tokens import TokenConfig

HOSTING = ("large_model", "model_copies", "accelerator")


class EncoderOptions(Options):
    """Word alignment: by an encoder."""

    revision: str | None = Field(
        None,
        description="encoder: branch, tag or commit of a hub model (default: its newest)",
        json_schema_extra=PLANNED_OTHERWISE,
    )
    layer: int = Field(
        8, ge=-200, le=200, description="encoder: layer whose output is compared; -1 the last"
    )
    head: HeadName = Field("softmax", description="encoder: how links are found")
    head_threshold: float | None = Field(
        None,
        ge=0,
        le=1,
        description="encoder: a link's probability must exceed this, with the heads softmax "
        "(default 0.001), ot, unbalanced_ot and partial_ot (default 0.3)",
    )
    distortion: float = Field(
        0.0,
        ge=0,
        le=1,
        description="encoder: how much the similarity of words at different positions is lowered, "
        "with all heads except softmax and entmax15; 0 for no change",
    )
    cost: TransportCost = Field(
        "cosine",
        description="encoder, optimal transport heads: cost of moving mass between two vectors",
        json_schema_extra=UNSAID,
    )
    mass: TransportMass = Field(
        "uniform",
        description="encoder, optimal transport heads: weight of each vector; norm: its length",
        json_schema_extra=UNSAID,
    )
    regularization: float = Field(
        0.1,
        ge=0.005,
        le=10,
        description="encoder, optimal transport heads: weight of the entropy",
        json_schema_extra=UNSAID,
    )
    relaxation: float = Field(
        0.5,
        ge=1e-4,
        le=1e4,
        description="encoder, unbalanced_ot: cost of surplus or created mass",
        json_schema_extra=UNSAID,
    )
    moved_mass: float = Field(
        0.8,
        ge=1e-3,
        le=1,
        description="encoder, partial_ot: share of the lighter side's mass that is moved",
        json_schema_extra=UNSAID,
    )
    unit: CompareUnit = Field(
        "pieces",
        description="encoder: units that are compared: its pieces, or words (tokens), each the "
        "mean of its pieces",
    )
    precision: Precision = Field(
        "fp32", description="encoder: arithmetic; fp16 only on a GPU, int8 only on a CPU"
    )
    long_pairs: LongPairs = Field(
        "windows",
        description="encoder: for a side over its limit, encode overlapping windows, or reject the "
        "pair",
    )
    token_budget: Annotated[str, pydantic.BeforeValidator(as_text)] = Field(
        "auto",
        pattern=TOKEN_BUDGET,
        description="encoder: pieces in a batch, including padding; auto measures the device",
        json_schema_extra=OF_ONE_RUN,
    )
    large_model: bool = Field(
        default=False,
        description="encoder: the worker processes of a machine share one copy of the model",
        json_schema_extra=UNPLANNED,
    )
    model_copies: int | None = Field(
        None,
        ge=1,
        description="encoder: number of copies that the worker processes of a machine share "
        "(default: one per process)",
        json_schema_extra=UNPLANNED,
    )
    accelerator: str | None = Field(
        None,
        pattern=ACCELERATOR,
        description="encoder: accelerator to request from the runner for the alignment step only, "
        "such as 'type:nvidia-l4;count:1;install-nvidia-driver'",
        json_schema_extra=UNPLANNED,
    )
    watch_model: bool = Field(
        default=False,
        description="encoder: align each shard with the model that is in the directory --model "
        "when the shard begins, and record it in the shard's receipt",
        json_schema_extra=not_at_night(
            "rows would depend on the model of the hour; give a model that stays"
        ),
    )


class Encoder(JobAligner):
    """The aligner `models.encoder`."""

    name = "encoder"
    pairs = "a multilingual Transformer"
    translations = "by a Transformer"
    options = EncoderOptions
    models_from_hub = True
    own = tuple(EncoderOptions.model_fields)
    of_workers = ("watch_model", *HOSTING)
    names = ("encoder",)
    packages = ("torch", "transformers")
    brings_pieces = True

    def check(self, options: WordAlignerOptions) -> None:
        """Refuse a missing model."""
        if options.given_model is None:
            raise ConfigError("--aligner encoder needs --model DIRECTORY, or --model OWNER/NAME")

    def find(self, options: WordAlignerOptions) -> "Chosen":
        """Return the encoder; its weights are hashed, not loaded."""
        from pairweave.models.encoder.hosting import encoder_reference
        from pairweave.pipelines.aligners.token_choice import known_tokens

        assert isinstance(options, EncoderOptions)
        tokens = known_tokens(options, pieces=True)
        budget = options.token_budget
        config = EncoderConfig(
            model=options.given_model or "",
            layer=options.layer,
            head=HeadConfig(
                options.head,
                threshold=options.head_threshold,
                distortion=options.distortion,
                **{name: getattr(options, name) for name in TRANSPORT_SETTINGS},
            ),
            unit=options.unit,
            precision=options.precision,
            long_pairs=options.long_pairs,
            token_budget=budget if budget == "auto" else int(budget),
            revision=options.revision,
            tokens="pieces" if tokens.kind == "pieces" else "given",
        )
        return encoder_reference.find(config, watch=options.watch_model), tokens

    def check_machine(self, reference: "AlignerReference") -> None:
        """Check that this machine can run the configured encoder."""
        from pairweave.models.encoder.hosting import encoder_reference

        encoder_reference.check_device(_encoder(reference))

    def copies(self, options: WordAlignerOptions) -> int | None:
        """Return the number of copies that the workers of a machine share, if they do."""
        if not isinstance(options, EncoderOptions):
            return None
        return options.model_copies or (1 if options.large_model else None)

    def cut(
        self, table: "pa.Table", reference: "AlignerReference", tokens: "TokenConfig | None"
    ) -> "pa.Table":
        """Cut pairs into tokens, unless tokens are the encoder's pieces, which it cuts itself."""
        if tokens is not None and tokens.kind == "pieces":
            return table
        return super().cut(table, reference, tokens)

    def step(
        self,
        run: "AlignerRun",
        model: "Model",
        *,
        translations: bool = False,
    ) -> "beam.PTransform[Shards, Shards]":
        """Return the step that aligns with the encoder."""
        # Importing Beam's inference, and with it torch, takes seconds; other aligners skip it.
        from pairweave.models.encoder.hosting.handler import AlignShards, Hosting

        assert run.model is not None
        hosting = Hosting(**{name: getattr(run.options, name) for name in HOSTING})
        return AlignShards(_encoder(run.model), hosting)

    def in_pieces(
        self, links: "pa.Table", reference: "AlignerReference | None", tokens: "TokenConfig"
    ) -> "pa.Table":
        """Renumber tokens as the encoder's tokenizer does, if they are its pieces."""
        from pairweave.models.encoder import pieces
        from pairweave.models.encoder.hosting import encoder_reference
        from pairweave.transforms.text.piece_numbers import in_pieces

        if tokens.kind != "pieces":
            return super().in_pieces(links, reference, tokens)
        tokenizer = encoder_reference.load_tokenizer(_encoder(reference))
        return in_pieces(links, *pieces.number_sides(links, tokenizer))

    def second(
        self,
        name: AlignerName,
        options: WordAlignerOptions,
        tokens: "TokenConfig",
    ) -> "EncoderReference":
        """Return the encoder as the second aligner."""
        from pairweave.models.encoder.hosting import encoder_reference

        return encoder_reference.find(config_of(name))

    def make(self, name: AlignerName, seconds: int) -> "Make":
        """Return a function that loads the encoder."""
        from pairweave.models.encoder.hosting import encoder_reference

        reference = encoder_reference.find(config_of(name))
        return lambda _gold, _training: encoder_reference.load(reference)


class StartingEncoder(Encoder):
    """The encoder that the job ``finetune`` starts from."""

    name = "finetune"

    def find(self, options: WordAlignerOptions) -> "Chosen":
        """Return the encoder, and the tokens that training links."""
        from pairweave.models.encoder.hosting import encoder_reference
        from pairweave.pipelines.aligners.token_choice import read_tokens

        given: Any = options  # `FinetuneOptions`, in which this aligner's options are others
        config = EncoderConfig(given.model, layer=given.layer, revision=given.revision)
        return encoder_reference.find(config), read_tokens(given.tokens)

    def known(self, options: WordAlignerOptions) -> set[str]:
        """Return all options of the job."""
        return set(type(options).model_fields)


def config_of(name: AlignerName) -> EncoderConfig:
    """Return the settings of an encoder from its one-line name.

    Raises:
        ConfigError: No model is named, or a setting is unknown or has a wrong value.
    """
    of_head = ("threshold", "distortion", *TRANSPORT_SETTINGS)
    name.require_settings("layer", "head", *of_head, "unit", "precision")
    if name.model is None:
        raise ConfigError(f"{name.option} encoder: needs a model, as in encoder:DIRECTORY:layer=8")
    own: dict[str, Any] = {
        setting: name.settings[setting]
        if setting in ("cost", "mass")
        else name.number(setting, float)
        for setting in of_head
        if setting in name.settings
    }
    return EncoderConfig(
        name.model,
        layer=name.layer,
        head=HeadConfig(name.settings.get("head", "softmax"), **own),
        unit=name.settings.get("unit", "pieces"),
        precision=name.settings.get("precision", "fp32"),
    )


def _encoder(reference: "AlignerReference | None") -> "EncoderReference":
    from pairweave.models.encoder.hosting.encoder_reference import EncoderReference

    assert isinstance(reference, EncoderReference)
    return reference
