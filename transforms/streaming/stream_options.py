"""Options of a stream of rows with new tags in every epoch."""

from pydantic import Field

from pairweave.transforms.config import Config, Seed


class StreamConfig(Config):
    """Epochs, their order, and the share of each run; the seed is that of the order."""

    seed: Seed = 1
    epochs: int = Field(1, ge=1, description="number of epochs; each has tags of its own")
    shuffle: bool = Field(
        default=True, description="rows in random order, a different one in every epoch"
    )
    window: int = Field(
        16_384, ge=1, description="number of pairs whose rows are in memory and mixed together"
    )
    weights: tuple[float, ...] = Field(
        (), description="weight of each run in the mix (default its number of pairs)"
    )
    temperature: float = Field(
        1.0,
        gt=0,
        description="each run's share of the mix is its weight ** (1 / temperature): over 1, small "
        "runs get more than their weight",
    )
    cache_mib: int = Field(
        1024,
        ge=0,
        description="MiB of pairs to keep in memory for the next epoch; one shard of each run is "
        "always kept",
    )
