"""The product of a fitted hmm and an encoder."""

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, cast

from pydantic import Field

from pairweave.models.encoder.encoder_options import ComparingOptions, HeadOptions
from pairweave.pipelines.aligners.aligner_name import AlignerName
from pairweave.pipelines.aligners.encoder import Encoder, config_of
from pairweave.pipelines.aligners.hmm import Hmm, tokens_for
from pairweave.pipelines.aligners.job_aligner import Chosen, JobAligner, Make
from pairweave.pipelines.options.base import Options, WordAlignerOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_marks import PLANNED_OTHERWISE
from pairweave.transforms.option_places import MODEL, Use

if TYPE_CHECKING:
    import pyarrow as pa

    from pairweave.models.aligner import Aligner, AlignerReference
    from pairweave.models.encoder.hosting.encoder_reference import EncoderReference
    from pairweave.models.hmm.hmm import HmmModel
    from pairweave.models.hmm.hmm_reference import HmmReference
    from pairweave.models.product_aligner import ProductReference
    from pairweave.transforms.text.tokens import TokenConfig

_HMM = "hmm"
_FIT = "make one with: pairweave fit --output MODEL_DIR"


class ProductOptions(Options):
    """Word alignment of two languages: by an encoder and a fitted hmm."""

    hmm_model: Annotated[str | None, MODEL] = Field(
        None,
        min_length=1,
        description="product: directory of the fitted hmm; --model is its encoder",
        json_schema_extra=PLANNED_OTHERWISE,
    )


class Product(JobAligner):
    """The aligner `models.product_aligner`."""

    name = "product"
    pairs = "the product of both"
    options = ProductOptions
    models_from_hub = True
    own = tuple(ProductOptions.model_fields)
    names = ("product",)
    places: ClassVar[Mapping[str, Use]] = {_HMM: Use.MODEL}
    packages = Encoder.packages
    has_soft_links = True

    def known(self, options: WordAlignerOptions) -> set[str]:
        """Return the options that the aligner uses, including those of its encoder."""
        kinds = (ComparingOptions, HeadOptions)
        return {*self.own, *(name for kind in kinds for name in kind.model_fields)}

    def check(self, options: WordAlignerOptions) -> None:
        """Refuse options without an hmm or without an encoder."""
        if options.given_model is None:
            raise ConfigError(
                "--aligner product needs its encoder: --model DIRECTORY, or --model OWNER/NAME"
            )
        if _hmm_of(options) is None:
            raise ConfigError(
                f"--aligner product needs a fitted hmm: --hmm_model DIRECTORY; {_FIT}"
            )

    def find(self, options: WordAlignerOptions) -> Chosen:
        """Return both members, and the tokens that the hmm was fitted on."""
        from pairweave.models.hmm import hmm_reference
        from pairweave.models.product_aligner import ProductReference

        directory = _hmm_of(options) or ""
        hmm = hmm_reference.named(directory, "--hmm_model")
        fitted = hmm_reference.load(hmm).tokens
        tokens = tokens_for(options.tokens, directory, fitted, "--hmm_model")
        encoder, _ = Encoder().find(options)
        return ProductReference(hmm, cast("EncoderReference", encoder)), tokens

    def fitted(self, reference: "AlignerReference | None") -> "tuple[str, HmmReference] | None":
        """Return the option that names the hmm, and the hmm."""
        return "--hmm_model", cast("ProductReference", reference).hmm

    def check_machine(self, reference: "AlignerReference") -> None:
        """Check that this machine can run the encoder."""
        Encoder().check_machine(cast("ProductReference", reference).encoder)

    def second(
        self, name: AlignerName, options: WordAlignerOptions, tokens: "TokenConfig"
    ) -> "ProductReference":
        """Return both members as the second aligner."""
        from pairweave.models.product_aligner import ProductReference

        own, rest = _members(name)
        if own.model is None:
            raise ConfigError(
                f"{name.option} {name.text}: needs a fitted hmm, as in "
                f"product:ENCODER:hmm=DIRECTORY; {_FIT}"
            )
        encoder = Encoder().second(rest, options, tokens)
        return ProductReference(Hmm().second(own, options, tokens), encoder)

    def make(self, name: AlignerName, seconds: int) -> Make:
        """Return a function that loads both members, and fits the hmm if none is named."""
        from pairweave.models.encoder.hosting import encoder_reference
        from pairweave.models.product_aligner import ProductAligner, digest_of

        own, rest = _members(name)
        reference = encoder_reference.find(config_of(rest))
        hmm = Hmm().make(own, seconds)

        def load(gold: "pa.Table", training: "pa.Table") -> "Aligner":
            encoder = encoder_reference.load(reference)
            fitted = cast("HmmModel", hmm(gold, training))
            return ProductAligner(fitted, encoder, digest_of(fitted.digest, encoder.digest))

        return load

    def learns(self, name: AlignerName) -> bool:
        """Return True if no fitted hmm is named."""
        return _HMM not in name.settings


def _members(name: AlignerName) -> tuple[AlignerName, AlignerName]:
    """Return the one-line names of the hmm and of the encoder."""
    rest = {setting: value for setting, value in name.settings.items() if setting != _HMM}
    hmm = dataclasses.replace(name, model=name.settings.get(_HMM), settings={})
    return hmm, dataclasses.replace(name, settings=rest)


def _hmm_of(options: WordAlignerOptions) -> str | None:
    assert isinstance(options, ProductOptions)
    return options.hmm_model
