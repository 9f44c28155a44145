"""Settings of the statistical aligner."""

import dataclasses

from pairweave.transforms.errors import ConfigError

_RANGES = {"threshold": (1e-4, 1.0), "null_probability": (0.001, 0.999), "word_prior": (0.01, 1e4)}


@dataclasses.dataclass(frozen=True, slots=True)
class HmmConfig:
    """Settings that determine the fitted model and its links.

    Attributes:
        model1_iterations: Rounds of IBM Model 1. More than two make the links sparse too soon.
        hmm_iterations: Rounds of the HMM.
        decode: ``posterior`` makes every link that is likely enough, ``viterbi`` those of the
            likeliest path.
        threshold: Minimum posterior probability of a link, for ``posterior``.
        null_probability: Probability that a word is translated from nothing.
        word_prior: Number of occurrences that the back-off to stems and letters counts as in the
            translations of a word.
        max_vocabulary: Number of words kept on each side; rarer words are treated as unseen.
        max_translations: Number of candidates kept for each source word.
    """

    model1_iterations: int = 2
    hmm_iterations: int = 4
    decode: str = "posterior"
    threshold: float = 0.3
    null_probability: float = 0.1
    word_prior: float = 10.0
    max_vocabulary: int = 500_000
    max_translations: int = 1_000

    def __post_init__(self) -> None:
        """Check every setting."""
        for name, fewest, limit in (
            ("model1_iterations", 1, 100),
            ("hmm_iterations", 1, 100),
            ("max_vocabulary", 1, 100_000_000),
            ("max_translations", 1, 1_000_000),
        ):
            value = getattr(self, name)
            if (
                isinstance(value, bool)
                or not isinstance(value, int)
                or not fewest <= value <= limit
            ):
                raise ConfigError(
                    f"{name} must be a whole number, {fewest} to {limit}, got {value!r}"
                )
        if self.decode not in ("posterior", "viterbi"):
            raise ConfigError(f"decode must be posterior or viterbi, got {self.decode!r}")
        for name, (least, most) in _RANGES.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ConfigError(f"{name} must be a number, got {value!r}")
            if not least <= value <= most:
                raise ConfigError(f"{name} must be {least} to {most}, got {value}")
