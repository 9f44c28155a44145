"""Real text that several benchmarks read."""

import gzip

import pytest

from tests.makers.hmm_corpora import translated_lines


@pytest.fixture(scope="module")
def text(shared_data):
    """Return a function that reads the lines of a parallel corpus's file by its name.

    Without the lines of ``newstest.en-fr`` that are no translations.
    """

    def read(name):
        with gzip.open(shared_data / "parallel" / f"{name}.gz", "rt", encoding="utf-8") as file:
            return translated_lines(name.rpartition(".")[0], file.read().split("\n")[:-1])

    return read


@pytest.fixture(scope="module")
def german(text, shared_data):
    """Return a function that gives rows for `damage` from lines of newstest and of multi30k."""
    english = text("newstest.en-de.en")
    french = dict(zip(text("newstest.en-fr.en"), text("newstest.en-fr.fr"), strict=True))
    machine = {}
    for year in ("16", "17", "18"):
        names = (f"wmt{year}.src", f"wmt{year}.mt.bergamot-tiny")
        paths = (shared_data / "triples" / "en-de" / f"{name}.gz" for name in names)
        sides = (gzip.decompress(path.read_bytes()).decode().split("\n") for path in paths)
        machine |= dict(zip(*(side[:-1] for side in sides), strict=True))
    news = [
        (source, target, french.get(source), machine.get(source))
        for source, target in zip(english, text("newstest.en-de.de"), strict=True)
    ]
    captions = [
        (*row, None)
        for row in zip(*(text(f"multi30k.{lang}") for lang in ("en", "de", "fr")), strict=True)
    ]
    return lambda parts: [
        *(row for part in parts[0] for row in news[slice(*part)]),
        *captions[slice(*parts[1])],
    ]
