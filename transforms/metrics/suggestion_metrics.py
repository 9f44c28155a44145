"""Score suggestions against gold ones, as the WeTS benchmark does (Yang et al. 2022)."""

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.installed_packages import version_of
from pairweave.transforms.metrics.sacrebleu_scores import compare_bleu, metric_of, score_bleu
from pairweave.transforms.metrics.significance import Compared, LineSums, compare, ratio
from pairweave.transforms.metrics.significance_options import Significance
from pairweave.transforms.output.signature_line import signature
from pairweave.transforms.storage.text_lines import read_text_lines, require_equal_lines
from pairweave.transforms.text.iso_languages import primary_tag


@dataclasses.dataclass(frozen=True, slots=True)
class SuggestionScores:
    """Scores of suggestions against gold ones.

    Attributes:
        lines: Suggestions.
        exact: Suggestions equal to a gold one, ignoring white space at the ends.
        bleu: Corpus BLEU (Papineni et al. 2002) as sacreBLEU computes it, 0 to 100.
        precisions: Precisions of 1-grams to 4-grams, in [0, 100].
        brevity_penalty: Factor for output that is too short, in [0, 1].
        hypothesis_tokens: Tokens of the suggestions.
        gold_tokens: Tokens of the gold; if a line has several, of the one closest in length.
        signature: sacreBLEU's line that names everything that determines BLEU (Post 2018).
    """

    lines: int
    exact: int
    bleu: float
    precisions: tuple[float, ...]
    brevity_penalty: float
    hypothesis_tokens: int
    gold_tokens: int
    signature: str

    @property
    def exact_match(self) -> float:
        """Return the share of suggestions that equal a gold one, in [0, 1]."""
        return self.exact / self.lines

    def as_dict(self) -> dict[str, Any]:
        """Return the figures, unrounded, the counts and the signature."""
        return {**dataclasses.asdict(self), "exact_match": self.exact_match}

    def render(self) -> str:
        """Return the figures as text, the signature, and on the last line everything as JSON."""
        return "\n".join([*self.shown(), json.dumps(self.as_dict())])

    def shown(self) -> list[str]:
        """Return the figures as lines for a reader."""
        return [
            f"BLEU {self.bleu:.2f}  exact match {100 * self.exact_match:.2f} %",
            f"{self.lines} suggestions, {self.exact} of them exact; "
            f"{self.hypothesis_tokens} tokens, {self.gold_tokens} in the gold",
            self.signature,
        ]


def evaluate_suggestions(
    hypothesis: str, gold: str | Sequence[str], target_lang: str
) -> SuggestionScores:
    """Compare a file of suggestions with files of gold ones, line by line.

    With several files, as in the test sets of WeTS (``.tgt1``, ``.tgt2``), a suggestion is exact if
    it equals one of the gold ones, and BLEU has several references. A line that is blank in one
    file and not in another has no reference in the former.

    The tokenizer is sacreBLEU's for the language: characters for Chinese, MeCab
    for Japanese and Korean, ``13a`` for all others.

    Args:
        hypothesis: Suggestions, one per line; ``.gz`` and ``.zst`` are read too.
        gold: Gold suggestions: a file, or several.
        target_lang: BCP 47 tag of all.

    Raises:
        ConfigError: sacreBLEU, or a package that it needs for the language, is not installed.
        InputError: A file cannot be read, is empty (``empty``), or has another number of lines
            (``line_count_mismatch``).
    """
    suggestions = read_text_lines(hypothesis, keep_returns=True)
    return _score(
        suggestions, _read_gold(gold, hypothesis, len(suggestions)), suggestion_metric(target_lang)
    )


def compare_suggestions(
    hypothesis: str,
    gold: str | Sequence[str],
    target_lang: str,
    baseline: str,
    config: Significance,
) -> Compared[SuggestionScores]:
    """Compare suggestions with gold ones, and with those of another system.

    Args:
        hypothesis: As for `evaluate_suggestions`.
        gold: As for `evaluate_suggestions`.
        target_lang: As for `evaluate_suggestions`.
        baseline: Suggestions of the other system.
        config: How significance is tested.

    Raises:
        ConfigError: See `evaluate_suggestions`.
        InputError: See `evaluate_suggestions`.
    """
    suggestions, other = (
        read_text_lines(path, keep_returns=True) for path in (hypothesis, baseline)
    )
    golds = _read_gold(gold, hypothesis, len(suggestions))
    require_equal_lines([baseline, hypothesis], [len(other), len(suggestions)])
    metric = suggestion_metric(target_lang)
    settings = {"metric": "exact_match", "nrefs": len(golds), **config.settings}
    ours, theirs = (LineSums(exact_sums(each, golds), ratio) for each in (suggestions, other))
    exact = compare(ours, theirs, config)
    tested = {
        "BLEU": compare_bleu(metric, suggestions, other, golds, config),
        "exact match": dataclasses.replace(exact, signature=signature(settings, version_of())),
    }
    scores = _score(suggestions, golds, metric)
    return Compared[SuggestionScores](
        scores, _score(other, golds, metric), baseline, tested, config
    )


def _read_gold(
    gold: str | Sequence[str], hypothesis: str, lines: int
) -> list[list[str | None]]:  # fmt: skip
    """Return gold suggestions ``[file][line]``; None for a blank line if another file has text."""
    paths = [gold] if isinstance(gold, str) else list(gold)
    golds = [read_text_lines(path, keep_returns=True) for path in paths]
    require_equal_lines([hypothesis, *paths], [lines, *map(len, golds)])
    if not lines:
        raise InputError("empty", hypothesis, "has no line")
    filled = [any(text.strip() for text in texts) for texts in zip(*golds, strict=True)]
    return [
        [
            None if full and not text.strip() else text
            for text, full in zip(one, filled, strict=True)
        ]
        for one in golds
    ]


def exact_suggestions(
    suggestions: Sequence[str], golds: Sequence[Sequence[str | None]]
) -> np.ndarray:
    """Flag suggestions equal to a gold one, ignoring white space at the ends, bool ``[line]``."""
    return np.array(
        [
            any(gold is not None and gold.strip() == suggestion.strip() for gold in texts)
            for suggestion, texts in zip(suggestions, zip(*golds, strict=True), strict=True)
        ],
        np.bool_,
    )


def exact_sums(suggestions: Sequence[str], golds: Sequence[Sequence[str | None]]) -> np.ndarray:
    """Return what each suggestion adds to the two sums of exact match, float64 ``[line, 2]``."""
    exact = exact_suggestions(suggestions, golds).astype(np.float64)
    return np.stack([exact, np.ones_like(exact)], axis=1)


def _score(
    suggestions: Sequence[str],
    golds: Sequence[Sequence[str | None]],
    metric: Any,  # noqa: ANN401 - a sacrebleu.metrics.BLEU
) -> SuggestionScores:
    bleu = score_bleu(metric, suggestions, golds)
    return SuggestionScores(
        lines=len(suggestions),
        exact=int(np.count_nonzero(exact_suggestions(suggestions, golds))),
        bleu=bleu.score,
        precisions=bleu.precisions,
        brevity_penalty=bleu.brevity_penalty,
        hypothesis_tokens=bleu.hypothesis_tokens,
        gold_tokens=bleu.reference_tokens,
        signature=bleu.signature,
    )


def suggestion_metric(target_lang: str, *, effective_order: bool = False) -> Any:  # noqa: ANN401
    """Return the ``sacrebleu.metrics.BLEU`` of suggestions in a language (BCP 47).

    Args:
        target_lang: The language.
        effective_order: Whether n-grams longer than all outputs are left out, as for one line.

    Raises:
        ConfigError: A package that it needs for the language is not installed.
    """
    try:
        return metric_of(trg_lang=primary_tag(target_lang), effective_order=effective_order)
    except (ImportError, RuntimeError) as error:
        raise ConfigError(f"--target_lang {target_lang}: {error}") from error
