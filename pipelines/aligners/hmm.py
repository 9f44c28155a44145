"""The statistical aligner, fitted in the run or given."""

import os
from typing import TYPE_CHECKING, cast

from pairweave.pipelines.aligners.aligner_name import AlignerName
from pairweave.pipelines.aligners.job_aligner import Chosen, JobAligner, Make, Pairs
from pairweave.pipelines.options.base import (
    FitSettings,
    TrainedTokenOptions,
    WordAlignerOptions,
)
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_values import refuse_given

if TYPE_CHECKING:
    import apache_beam as beam
    import pyarrow as pa

    from pairweave.models.aligner import Aligner, AlignerReference, LoadedAligner
    from pairweave.models.hmm.hmm_reference import HmmReference
    from pairweave.pipelines.steps.aligner_run import AlignerRun
    from pairweave.transforms.shards.shard import Batches
    from pairweave.transforms.text.tokens import TokenConfig


class Hmm(JobAligner):
    """The aligner `models.hmm`."""

    name = "hmm"
    pairs = "statistical"
    translations = "statistically"
    own = tuple(sorted(TrainedTokenOptions.model_fields.keys() - WordAlignerOptions.model_fields))
    names = ("hmm",)
    has_soft_links = True

    def check(self, options: WordAlignerOptions) -> None:
        """Refuse options of fitting together with a fitted model."""
        if options.given_model is not None:
            why = (
                "{applies} to an hmm that is fitted in the run; the given --model is fitted. Leave "
                "{it} out, or leave --model out"
            )
            refuse_given(options, self.own, why)

    def find(self, options: WordAlignerOptions) -> Chosen:
        """Return the given model, if any, and the tokens that it was fitted on."""
        from pairweave.models.hmm import hmm_reference
        from pairweave.pipelines.aligners.token_choice import read_tokens

        directory, token_name = options.given_model, options.tokens
        if directory is None and options.prior_model is not None:
            prior = hmm_reference.read(options.prior_model, "--prior")
            return None, tokens_for(token_name, options.prior_model, prior.tokens, "--prior")
        if directory is None:
            return None, read_tokens(token_name or "words")
        reference = hmm_reference.named(directory)
        fitted = hmm_reference.load(reference).tokens
        return reference, tokens_for(token_name, directory, fitted, "--model")

    def fitted(self, reference: "AlignerReference | None") -> "tuple[str, HmmReference] | None":
        """Return the option that names the given model, and the model."""
        return None if reference is None else ("--model", cast("HmmReference", reference))

    def settings(self, options: WordAlignerOptions) -> dict[str, object]:
        """Return the digest of an earlier fit that a fit starts from."""
        from pairweave.models.hmm import hmm_reference

        if options.prior_model is None:
            return {}
        return {"prior": hmm_reference.read(options.prior_model, "--prior").digest}

    def find_fitted(self, options: WordAlignerOptions, directory: str) -> "AlignerReference | None":
        """Return the model that an earlier attempt of a run fitted, if it is complete."""
        from pairweave.models.hmm import hmm_reference

        return hmm_reference.find_whole(directory)

    def check_translations(self, reference: "AlignerReference | None") -> None:
        """Refuse a model fitted on pairs of two languages."""
        from pairweave.models.hmm import hmm_reference

        if reference is None:
            return
        fitted = cast("HmmReference", reference)
        about = hmm_reference.load(fitted).about
        languages = [about.get(name) for name in ("source_lang", "target_lang")]
        if languages[0] != languages[1]:
            shown = " to ".join(",".join(each or ["unknown"]) for each in languages)
            raise ConfigError(
                f"--model {fitted.directory}: was fitted from {shown}; translations are aligned "
                "with their references within one language. Leave --model out to fit one first, or "
                "fit one on translations as the source, with the target language as both languages"
            )

    def fit(
        self,
        rows: "Batches",
        run: "AlignerRun",
        pieces: "beam.pvalue.AsSingleton | None",
        after: "beam.PCollection[str] | None",
        *,
        translations: bool,
    ) -> "beam.pvalue.AsSingleton":
        """Return a model that is fitted on a sample of the rows."""
        from pairweave.pipelines.steps.hmm_fitting import fitted_model

        return fitted_model(rows, run, pieces, after, translations=translations)

    def cut(
        self, table: "pa.Table", reference: "AlignerReference", tokens: "TokenConfig | None"
    ) -> "pa.Table":
        """Cut pairs into tokens; by default into the tokens that the model was fitted on."""
        from pairweave.models.hmm import hmm_reference
        from pairweave.pipelines.steps.hmm_fitting import no_tokens
        from pairweave.transforms.text.tokens import add_tokens

        fitted = cast("HmmReference", reference)
        if fitted == hmm_reference.NO_MODEL:
            return no_tokens(table)
        return add_tokens(table, tokens or hmm_reference.load(fitted).tokens)

    def learn_here(
        self,
        options: FitSettings,
        tokens: "TokenConfig | None",
        pairs: Pairs,
    ) -> "tuple[LoadedAligner, TokenConfig]":
        """Fit a model in this process."""
        from pairweave.models.hmm.hmm import HmmConfig, fit

        table, cut = pairs(tokens)
        return fit(table, HmmConfig(decode=options.decode), os.cpu_count() or 1), cut

    def second(
        self,
        name: AlignerName,
        options: WordAlignerOptions,
        tokens: "TokenConfig",
    ) -> "HmmReference":
        """Return a fitted model as the second aligner."""
        from pairweave.models.hmm import hmm_reference

        name.require_settings()
        if name.model is None:
            raise ConfigError(
                f"{name.option} hmm: needs a fitted model, as in hmm:DIRECTORY; make one by "
                "pairweave fit, or let hmm be the first aligner, which is fitted on the input"
            )
        reference = hmm_reference.named(name.model, name.option)
        fitted = hmm_reference.load(reference).tokens
        if not _agree(tokens, fitted):
            raise ConfigError(
                f"{name.option} {name.text}: was fitted on {fitted.shown}"
                f"{_of_other_code(tokens, fitted)}, but the first aligner gets {tokens.shown}; "
                "give --tokens that both know"
            )
        return reference

    def make(self, name: AlignerName, seconds: int) -> Make:
        """Return a function that returns the fitted model, or fits one."""
        from pairweave.models.hmm import hmm_reference
        from pairweave.models.hmm.hmm import HmmConfig, fit

        name.require_settings("decode")
        if name.model is not None:
            name.require_settings()
            fitted = hmm_reference.read(name.model, name.option).model
            return lambda _gold, _training: fitted
        config = HmmConfig(decode=name.settings.get("decode", "posterior"))

        def learn(_gold: "pa.Table", training: "pa.Table") -> "Aligner":
            return fit(training, config, threads=os.cpu_count() or 1)

        return learn

    def learns(self, name: AlignerName) -> bool:
        """Return True if no fitted model is named."""
        return name.model is None


def tokens_for(
    token_name: str | None, directory: str, fitted: "TokenConfig", option: str
) -> "TokenConfig":
    """Return the tokens of a job that aligns by a fitted model.

    Args:
        token_name: The option ``tokens``; None for those of the model.
        directory: The model's directory, for messages.
        fitted: The tokens that the model was fitted on.
        option: The option that names the directory.

    Raises:
        ConfigError: The option names other tokens; or it names none, but the model needs a
            tokenizer of another package; or a SentencePiece model cannot be read.
    """
    from pairweave.pipelines.aligners.token_choice import read_tokens

    if token_name is None and fitted.plugin is not None:
        # The plan and the workers of Dataflow need the name of the tokenizer.
        raise ConfigError(
            f"{option} {directory}: was fitted on tokens of {fitted.shown}, a tokenizer of another "
            f"package; give --tokens {fitted.plugin.name} as well"
        )
    tokens = fitted if token_name is None else read_tokens(token_name)
    if tokens is None or not _agree(tokens, fitted):
        raise ConfigError(
            f"--tokens {token_name}: the model in {directory} was fitted on "
            f"{fitted.shown}{_of_other_code(tokens, fitted)}; leave --tokens out, or fit a model "
            f"on {token_name}"
        )
    return tokens


def _agree(tokens: "TokenConfig", fitted: "TokenConfig") -> bool:
    """Return True if a model fitted on one kind of tokens can align the other.

    Words from segmentation and words between blanks are compatible.
    """
    return tokens == fitted or (_are_words(tokens) and _are_words(fitted))


def _are_words(tokens: "TokenConfig") -> bool:
    return tokens.model is None and tokens.plugin is None


def _of_other_code(tokens: "TokenConfig | None", fitted: "TokenConfig") -> str:
    """Return a clause if the model's tokenizer has the same name but other code, or ""."""
    here = None if tokens is None else tokens.plugin
    there = fitted.plugin
    if here is None or there is None or here.name != there.name:
        return ""
    return f" with code {there.sha256[:12]}, which is {here.sha256[:12]} here"
