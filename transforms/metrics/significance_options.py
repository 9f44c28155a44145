"""Options of significance tests (`transforms.metrics.significance`)."""

from pydantic import Field

from pairweave.transforms.config import Config


class Significance(Config):
    """Draws of the tests; each test restarts NumPy's default generator."""

    resamples: int = Field(
        1000, ge=1, le=1_000_000, description="number of samples of the bootstrap"
    )
    trials: int = Field(
        10_000, ge=1, le=10_000_000, description="number of trials of the randomization"
    )
    seed: int = Field(
        12345, ge=1, lt=1 << 32, description="seed of both tests; the default is sacreBLEU's"
    )

    @property
    def settings(self) -> dict[str, object]:
        """Return the settings of the tests for a signature, by sacreBLEU's names."""
        return {"bs": self.resamples, "ar": self.trials, "seed": self.seed}
