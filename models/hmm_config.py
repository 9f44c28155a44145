"""Settings of the statistical aligner."""

import dataclasses

from transforms.errors import ConfigError


@dataclasses.dataclass(frozen=True, slots=True)
class HmmConfig:
    """Settings that decide the fitted model and its links.

    Attributes:
        model1_iterations: Rounds of IBM Model 1.
        hmm_iterations: Rounds of the HMM.
        decode: ``posterior`` links whatever is likely enough, ``viterbi`` the likeliest path.
        threshold: Least posterior probability of a link, for ``posterior``.
        max_vocabulary: Words kept on each side; the rarest beyond are treated as unseen.
        max_translations: Entries of the lexicon kept for one source word.
        null_probability: Chance that a word is translated from nothing.
    """

    model1_iterations: int = 5
    hmm_iterations: int = 5
    decode: str = "posterior"
    threshold: float = 0.3
    max_vocabulary: int = 1_000_000
    max_translations: int = 1_000
    null_probability: float = 0.2

    def __post_init__(self) -> None:
        """Check every setting."""
        for name, least, most in (
            ("model1_iterations", 1, 100),
            ("hmm_iterations", 1, 100),
            ("max_vocabulary", 1, 100_000_000),
            ("max_translations", 1, 1_000_000),
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise ConfigError(f"{name} must be a whole number, {least} to {most}, got {value!r}")
        if self.decode not in ("posterior", "viterbi"):
            raise ConfigError(f"decode must be posterior or viterbi, got {self.decode!r}")
        for name, above, below in (("threshold", 0.05, 1.0), ("null_probability", 0.0, 1.0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ConfigError(f"{name} must be a number, got {value!r}")
            if not above <= value < below:
                raise ConfigError(f"{name} must be at least {above} and below {below}, got {value}")
