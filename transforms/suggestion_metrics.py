"""Suggestions against gold suggestions, as the benchmark does (Yang et al. 2022, WeTS)."""

import dataclasses
import json
from typing import Any

from transforms.errors import ConfigError, InputError
from transforms.text_lines import read_text_lines


@dataclasses.dataclass(frozen=True, slots=True)
class SuggestionScores:
    """How suggestions compare with gold ones.

    Attributes:
        lines: Suggestions.
        exact: Suggestions that are the gold one, white space at the ends aside.
        bleu: Corpus BLEU (Papineni et al. 2002) as sacreBLEU computes it, 0 to 100.
        precisions: Of 1-grams to 4-grams, 0 to 100.
        brevity_penalty: What too little text costs, in [0, 1].
        hypothesis_tokens: Tokens of the suggestions.
        gold_tokens: Tokens of the gold.
        signature: sacreBLEU's line that names all that decides BLEU (Post 2018).
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
        """Return the share of suggestions that are the gold one, in [0, 1]."""
        return self.exact / self.lines

    def as_dict(self) -> dict[str, Any]:
        """Return the figures, unrounded, the counts and the signature."""
        return {**dataclasses.asdict(self), "exact_match": self.exact_match}

    def render(self) -> str:
        """Return the figures for a reader, the signature, and on the last line all as JSON."""
        return "\n".join(
            [
                f"BLEU {self.bleu:.2f}  exact match {100 * self.exact_match:.2f} %",
                f"{self.lines} suggestions, {self.exact} of them exact; "
                f"{self.hypothesis_tokens} tokens, {self.gold_tokens} in the gold",
                self.signature,
                json.dumps(self.as_dict()),
            ]
        )


def evaluate_suggestions(hypothesis: str, gold: str, target_lang: str) -> SuggestionScores:
    """Compare a file of suggestions with a file of gold ones, line by line.

    The tokenizer is the one that sacreBLEU takes for the language: characters for Chinese, MeCab
    for Japanese and Korean, ``13a`` for all others.

    Args:
        hypothesis: Suggestions, one a line; ``.gz`` and ``.zst`` are read too.
        gold: Gold suggestions.
        target_lang: BCP 47 tag of both.

    Raises:
        ConfigError: sacreBLEU, or what it needs for the language, is not installed.
        InputError: A file cannot be read, is empty (``empty``), or has another number of lines
            (``line_count_mismatch``).
    """
    found, wanted = list(read_text_lines(hypothesis)), list(read_text_lines(gold))
    if len(found) != len(wanted):
        raise InputError(
            "line_count_mismatch",
            hypothesis,
            f"has {len(found)} lines, but {gold} has {len(wanted)}",
        )
    if not found:
        raise InputError("empty", hypothesis, "has no line")
    metric = _metric(target_lang)
    score = metric.corpus_score(found, [wanted])
    exact = sum(one.strip() == other.strip() for one, other in zip(found, wanted, strict=True))
    return SuggestionScores(
        lines=len(found),
        exact=exact,
        bleu=score.score,
        precisions=tuple(score.precisions),
        brevity_penalty=score.bp,
        hypothesis_tokens=score.sys_len,
        gold_tokens=score.ref_len,
        signature=str(metric.get_signature()),
    )


def _metric(target_lang: str) -> Any:  # noqa: ANN401 - a sacrebleu.metrics.BLEU
    try:
        from sacrebleu.metrics import BLEU
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"evaluate suggestions needs {error.name}, which is not installed; "
            "install it with: pip install 'pairweave[evaluate]'"
        ) from error
    language = target_lang.partition("-")[0].lower()
    try:
        return BLEU(trg_lang=language)
    except (ImportError, RuntimeError) as error:
        raise ConfigError(f"--target_lang {target_lang}: {error}") from error
