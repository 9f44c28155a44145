"""What ``suggest`` has: the golden set of its random masks, the two models of its scores."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from pairweave.models.translators import translator_reference
from pairweave.models.translators.translator import TranslatorConfig, parse_translator
from pairweave.models.translators.translator_reference import TranslatorReference
from pairweave.pipelines.job_options.suggest_options import SuggestOptions
from pairweave.pipelines.parts.part import Part, Planning, Settled, files_facts
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_values import refuse_given
from pairweave.transforms.suggestions.span_lengths import Histograms, from_json, read_golden
from pairweave.transforms.units import CorpusInput


@dataclasses.dataclass(frozen=True)
class PairScorer:
    """Scores targets given their sources, and sources given their targets.

    Attributes:
        forward: The model from source to target.
        reverse: The model from target to source.
    """

    forward: TranslatorReference
    reverse: TranslatorReference

    def with_threads(self, threads: int) -> "PairScorer":
        """Return a copy whose models process up to ``threads`` batches at once."""
        return PairScorer(self.forward.with_threads(threads), self.reverse.with_threads(threads))

    def __call__(
        self, sources: Sequence[str], targets: Sequence[str], source_lang: str, target_lang: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return mean log-probabilities; see `transforms.suggestions.suggestion_scores.Scorer`."""
        score = translator_reference.score
        return (
            score(self.forward, sources, targets, source_lang, target_lang),
            score(self.reverse, targets, sources, target_lang, source_lang),
        )


def _check_limits(options: SuggestOptions, corpora: Sequence[CorpusInput]) -> None:
    """Refuse limits of scores if nothing is scored, unless a table has other corpora too."""
    scored = options.scorer is not None or any(each.score_field for each in corpora)
    if not scored and not options.reads_part_of_table:
        why = "without --scorer and --reverse_scorer, or --score_field, nothing is scored"
        refuse_given(options, ["max_score", "min_score"], why)


def _plan_pair_scorer(options: SuggestOptions, planning: Planning) -> Settled[PairScorer | None]:
    """Find both models.

    Raises:
        ConfigError: One model is given without the other, a model does not exist or lacks a
            language of the input, or the input has scores as well.
    """
    units = planning.plan.units
    columns = [unit.columns for unit in units]
    input_has_scores = any(each is not None and each.score is not None for each in columns)
    if (options.scorer is None) != (options.reverse_scorer is None):
        raise ConfigError("--scorer and --reverse_scorer must be given together")
    if options.scorer is None or options.reverse_scorer is None:
        return Settled(None)
    if input_has_scores:
        raise ConfigError("--score_field and --scorer fill the same column; leave one of them out")
    languages = sorted({(unit.source_lang, unit.target_lang) for unit in units})
    forward = _find(options.scorer, languages)
    reverse = _find(options.reverse_scorer, [(target, source) for source, target in languages])
    models = (forward, reverse)
    return Settled(
        PairScorer(forward, reverse),
        settings={"scorer": forward.digest, "reverse_scorer": reverse.digest},
        models=models,
        packages=tuple(name for each in models for name in translator_reference.packages(each)),
    )


PAIR_SCORER = Part("pair_scorer", _plan_pair_scorer, check_corpora=_check_limits)
"""The models that score examples; None if none are given."""


def _find(text: str, languages: Sequence[tuple[str, str]]) -> TranslatorReference:
    backend, model = parse_translator(text)
    return translator_reference.find(TranslatorConfig(backend=backend, model=model), languages)


def _plan_golden(options: SuggestOptions, planning: Planning) -> Settled[Histograms | None]:
    """Read the golden set.

    Raises:
        ConfigError: It cannot be read.
    """
    named = {"fit_lengths": files_facts(options.fit_lengths)}
    if not options.fit_lengths:
        return Settled(None, settings=named)
    facts = read_golden(options.fit_lengths, options.target_lang).as_json()
    return Settled(from_json(facts), settings=named, facts={"golden": facts})


GOLDEN = Part("golden", _plan_golden)
"""Statistics of the golden set; None if none is given."""
