"""BLEU as sacreBLEU computes and tests it (Post 2018)."""

import contextlib
import dataclasses
import importlib
import os
from collections.abc import Iterator, Sequence
from typing import Any

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.significance import Significance, Tested

TOKENIZERS = ("13a", "intl", "char", "zh")
_SEED = "SACREBLEU_SEED"
References = Sequence[Sequence[str | None]]


@dataclasses.dataclass(frozen=True, slots=True)
class SacreBleu:
    """BLEU of a system.

    Attributes:
        score: In [0, 100].
        precisions: Of 1-grams to 4-grams, 0 to 100.
        brevity_penalty: What too little text costs, in [0, 1].
        hypothesis_tokens: Tokens of the outputs.
        reference_tokens: Tokens of the references; of several, of the one next in length.
        signature: sacreBLEU's line that names all that decides the score.
    """

    score: float
    precisions: tuple[float, ...]
    brevity_penalty: float
    hypothesis_tokens: int
    reference_tokens: int
    signature: str


def require_sacrebleu(what: str) -> Any:  # noqa: ANN401 - the module sacrebleu.metrics
    """Return sacreBLEU's metrics.

    Args:
        what: What needs them, for the message.

    Raises:
        ConfigError: It is not installed.
    """
    try:
        return importlib.import_module("sacrebleu.metrics")
    except ImportError as error:
        raise ConfigError(
            f"{what} needs {error.name}, which is not installed; "
            "install it with: pip install 'pairweave[evaluate]'"
        ) from error


def score_bleu(metric: Any, outputs: Sequence[str], references: References) -> SacreBleu:  # noqa: ANN401
    """Return BLEU of outputs.

    Args:
        metric: A ``sacrebleu.metrics.BLEU``.
        outputs: Outputs ``[line]``.
        references: What is right ``[reference][line]``; None where a line has no such reference.
    """
    found = metric.corpus_score(outputs, references)
    return SacreBleu(
        found.score,
        tuple(found.precisions),
        found.bp,
        found.sys_len,
        found.ref_len,
        str(metric.get_signature()),
    )


def compare_bleu(
    metric: Any,  # noqa: ANN401
    outputs: Sequence[str],
    baseline: Sequence[str],
    references: References,
    config: Significance,
) -> Tested:
    """Test BLEU of two systems by sacreBLEU's own tests.

    Only where both have the same BLEU the result is ours: it is no sign of a difference.

    Args:
        metric: A ``sacrebleu.metrics.BLEU``.
        outputs: Outputs ``[line]``.
        baseline: Those of the other system.
        references: What is right ``[reference][line]``.
        config: How the tests draw.
    """
    from sacrebleu.significance import PairedTest

    systems = [("baseline", baseline), ("output", outputs)]
    found, signatures = {}, {}
    with _seeded(config.seed):
        for kind, samples in (("bs", config.resamples), ("ar", config.trials)):
            test = PairedTest(systems, {"BLEU": metric}, references, kind, samples)
            lines, scores = test()
            found[kind], signatures[kind] = scores["BLEU"], lines["BLEU"]
    other, one = found["bs"]
    equal = one.score == other.score
    signature = signatures["ar"]
    signature.update("bs", config.resamples)
    return Tested(
        one.score,
        other.score,
        float(one.mean),
        float(one.ci),
        float(other.mean),
        float(other.ci),
        1.0 if equal else one.p_value,
        1.0 if equal else found["ar"][1].p_value,
        str(signature),
    )


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Set sacreBLEU's seed, which it takes from the environment alone."""
    before = os.environ.get(_SEED)
    os.environ[_SEED] = str(seed)
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SEED]
        else:
            os.environ[_SEED] = before
