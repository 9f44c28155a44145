"""Real text that several benchmarks read."""

import gzip

import pytest


@pytest.fixture(scope="module")
def text(shared_data):
    def read(name):
        with gzip.open(shared_data / "parallel" / f"{name}.gz", "rt", encoding="utf-8") as file:
            return file.read().split("\n")[:-1]

    return read


@pytest.fixture(scope="module")
def german(text):
    """Return a function that gives lines of newstest and of multi30k with a French sentence."""
    news = list(
        zip(
            text("newstest.en-de.en"),
            text("newstest.en-de.de"),
            (text("newstest.en-fr.fr") * 2)[: len(text("newstest.en-de.en"))],
            strict=True,
        )
    )
    captions = list(zip(*(text(f"multi30k.{lang}") for lang in ("en", "de", "fr")), strict=True))
    return lambda parts: [*news[slice(*parts[0])], *captions[slice(*parts[1])]]
