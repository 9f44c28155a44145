"""The neural aligner: a multilingual Transformer and a head that extracts links."""

from typing import TYPE_CHECKING, Any, cast

from pydantic import Field

from pairweave.models.encoder.encoder_config import EncoderConfig, HeadConfig
from pairweave.models.encoder.encoder_options import (
    IN_NAME,
    ComparingOptions,
    HeadOptions,
    Hosting,
)
from pairweave.pipelines.aligners.aligner_name import AlignerName
from pairweave.pipelines.aligners.job_aligner import Chosen, JobAligner, Make
from pairweave.pipelines.options.base import Options, WordAlignerOptions
from pairweave.transforms.config import pick
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_marks import ONLY_IN_RUNS, mark_of, not_at_night

if TYPE_CHECKING:
    import apache_beam as beam
    import pyarrow as pa

    from pairweave.models.aligner import AlignerReference
    from pairweave.models.encoder.hosting.encoder_reference import EncoderReference
    from pairweave.pipelines.steps.aligner_run import AlignerRun, Model
    from pairweave.transforms.shards.shard import Shards
    from pairweave.transforms.text.tokens import TokenConfig


class EncoderOptions(Hosting, ComparingOptions, HeadOptions, Options):
    """Word alignment: by an encoder."""

    watch_model: bool = Field(
        default=False,
        description="encoder: align each shard with the model that is in the directory --model "
        "when the shard begins, and record it in the shard's receipt",
        json_schema_extra={
            **ONLY_IN_RUNS,
            **not_at_night(
                "rows would depend on the model that is there at the time; give a fixed model"
            ),
        },
    )


class Encoder(JobAligner):
    """The aligner `models.encoder`."""

    name = "encoder"
    pairs = "a multilingual Transformer"
    translations = "by a Transformer"
    options = EncoderOptions
    models_from_hub = True
    own = tuple(EncoderOptions.model_fields)
    names = ("encoder",)
    packages = ("torch", "transformers")
    brings_pieces = True

    def check(self, options: WordAlignerOptions) -> None:
        """Refuse a missing model."""
        if options.given_model is None:
            raise ConfigError("--aligner encoder needs --model DIRECTORY, or --model OWNER/NAME")

    def find(self, options: WordAlignerOptions) -> Chosen:
        """Return the encoder; hash its weights without loading them."""
        from pairweave.models.encoder.hosting import encoder_reference
        from pairweave.pipelines.aligners.token_choice import known_tokens

        assert isinstance(options, EncoderOptions)
        tokens = known_tokens(options, pieces=True)
        config = pick(
            EncoderConfig,
            options,
            model=options.given_model or "",
            head=pick(HeadConfig, options),
            tokens="pieces" if tokens.kind == "pieces" else "given",
        )
        return encoder_reference.find(config, watch=options.watch_model), tokens

    def check_machine(self, reference: "AlignerReference") -> None:
        """Check that this machine can run the configured encoder."""
        from pairweave.models.encoder.hosting import encoder_reference

        encoder_reference.check_device(cast("EncoderReference", reference))

    def copies(self, options: WordAlignerOptions) -> int | None:
        """Return the number of copies that the workers of a machine share, or None."""
        if not isinstance(options, EncoderOptions):
            return None
        return options.model_copies or (1 if options.large_model else None)

    def cut(
        self, table: "pa.Table", reference: "AlignerReference", tokens: "TokenConfig | None"
    ) -> "pa.Table":
        """Cut pairs into tokens; the encoder itself cuts pairs into its own pieces."""
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
        from pairweave.models.encoder.hosting.handler import AlignShards

        return AlignShards(cast("EncoderReference", run.model), pick(Hosting, run.options))

    def in_pieces(
        self, links: "pa.Table", reference: "AlignerReference | None", tokens: "TokenConfig"
    ) -> "pa.Table":
        """If tokens are the encoder's pieces, number them as its tokenizer does."""
        from pairweave.models.encoder import pieces
        from pairweave.models.encoder.hosting import encoder_reference
        from pairweave.transforms.text.piece_numbers import in_pieces

        if tokens.kind != "pieces":
            return super().in_pieces(links, reference, tokens)
        tokenizer = encoder_reference.load_tokenizer(cast("EncoderReference", reference))
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

    def make(self, name: AlignerName, seconds: int) -> Make:
        """Return a function that loads the encoder."""
        from pairweave.models.encoder.hosting import encoder_reference

        reference = encoder_reference.find(config_of(name))
        return lambda _gold, _training: encoder_reference.load(reference)


class StartingEncoder(Encoder):
    """The encoder that the job ``finetune`` starts from."""

    name = "finetune"

    def find(self, options: WordAlignerOptions) -> Chosen:
        """Return the encoder, and the tokens that training links."""
        from pairweave.models.encoder.hosting import encoder_reference
        from pairweave.pipelines.aligners.token_choice import read_tokens

        # `FinetuneOptions` has its own options instead of inheriting this aligner's.
        own: Any = options
        config = EncoderConfig(model=own.model, layer=own.layer, revision=own.revision)
        return encoder_reference.find(config), read_tokens(own.tokens)

    def known(self, options: WordAlignerOptions) -> set[str]:
        """Return all options of the job."""
        return set(type(options).model_fields)


def config_of(name: AlignerName) -> EncoderConfig:
    """Return the settings of an encoder from its one-line name.

    Raises:
        ConfigError: No model is named, or a setting is unknown or has a wrong value.
    """
    fields = {
        field.title or option: (option, field)
        for option, field in EncoderOptions.model_fields.items()
        if mark_of(field, IN_NAME)
    }
    name.require_settings(*fields)
    if name.model is None:
        raise ConfigError(
            f"{name.option} {name.aligner}: needs a model, as in {name.aligner}:DIRECTORY:layer=8"
        )
    values: dict[str, Any] = {
        option: name.value(setting, field)
        for setting, (option, field) in fields.items()
        if setting in name.settings
    }
    of_head = {
        option: values.pop(option) for option in HeadOptions.model_fields if option in values
    }
    return EncoderConfig(model=name.model, head=HeadConfig(**of_head), **values)
