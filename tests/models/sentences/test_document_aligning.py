"""Sentences that are too long to be aligned by their words."""

import json

import pytest

from pairweave.models.hmm import hmm_reference
from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.sentences import sentence_aligner
from pairweave.models.sentences.document_aligning import aligned_rows, found_pairs
from pairweave.models.sentences.document_reading import DocumentSettings, read_sides, words_of
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.sentences.bead_lines import read_beads
from pairweave.transforms.sentences.bead_rows import LeastScores
from pairweave.transforms.text.tokens import TokenConfig
from pairweave.transforms.units import CorpusInput, ReadLimits
from tests.makers.corpora import sentence
from tests.makers.documents import document_unit
from tests.makers.hmm_corpora import plain_table

SETTINGS = DocumentSettings(ReadLimits(), TokenConfig(), 1_000)
LONG = 3
"""The number of the long sentence."""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Return a saved aligner."""
    fitted = fit(plain_table([sentence(number) for number in range(100)]), HmmConfig())
    directory = str(tmp_path_factory.mktemp("model"))
    return hmm_reference.save(directory, hmm_reference.pack(fitted, TokenConfig(), {}))


@pytest.fixture
def unit(tmp_path):
    """Return a document pair whose source has one line of half a million words."""
    english, german = map(list, zip(*map(sentence, range(10)), strict=True))
    english[LONG] = "a " * 500_000
    return document_unit(tmp_path, {"en": english, "de": german})


def test_a_sentence_over_the_limit_has_a_reason(unit):
    sides = read_sides(unit, SETTINGS)
    problem = sides[0].problems.pop(LONG)
    assert (problem.reason, problem.detail) == ("too_long", "500000 tokens > 1000")
    assert not sides[0].problems
    assert not sides[1].problems


@pytest.mark.parametrize(("words", "is_long"), [(1_000, False), (1_001, True)])
def test_the_limit_is_the_longest_sentence_that_is_kept(tmp_path, words, is_long):
    german = [sentence(number)[1] for number in range(10)]
    unit = document_unit(tmp_path, {"en": ["a " * words], "de": german})
    sides = read_sides(unit, SETTINGS)
    assert bool(sides[0].problems) is is_long
    assert words_of(unit, sides, TokenConfig()).source.offsets[-1] == (0 if is_long else words)


def test_a_long_sentence_keeps_its_number_and_is_rejected_for_its_length(unit, tmp_path, model):
    (batch,) = aligned_rows(
        unit,
        model,
        settings=SETTINGS,
        least=LeastScores(-100.0, -100.0),
        output=str(tmp_path / "out"),
        plan="p",
        first={0: 0},
    )
    rows = batch.to_pylist()
    (long,) = [row for row in rows if row["reason"] == "too_long"]
    assert long["stage"] == "screen"
    (path,) = (tmp_path / "out/_receipts").glob("beads-*")
    (beads,) = read_beads(str(path))
    assert [number for bead in beads for number in bead.source] == list(range(10))
    kept = {row["source"]: row["target"] for row in rows if row["reason"] is None}
    pairs = dict(map(sentence, range(10)))
    assert kept.items() <= pairs.items()
    assert len(kept) >= 7


def test_a_document_of_a_table_that_cannot_be_compared_is_a_rejected_row(
    tmp_path, model, monkeypatch
):
    pairs = [sentence(number) for number in range(8)]
    sides = [
        ["\n".join(pair[side] for pair in row) for side in (0, 1)] for row in (pairs[:6], pairs[6:])
    ]
    lines = [json.dumps({"source": source, "target": target}) for source, target in sides]
    (tmp_path / "d.jsonl").write_text("".join(f"{line}\n" for line in lines))
    corpus = CorpusInput(
        source_lang="en",
        target_lang="de",
        input=(str(tmp_path / "d.jsonl"),),
        documents=True,
        source_field="source",
        target_field="target",
    )
    (unit,) = make_plan([corpus], documents=True).units
    monkeypatch.setattr(sentence_aligner, "PRODUCTS", 1_500)  # 2 sentences have 500, 6 have 5,000
    actual = list(found_pairs(unit, model, settings=SETTINGS))
    assert 1 not in {row["line"] for batch in actual for row in batch.to_pylist()}
    long, short = aligned_rows(
        unit,
        model,
        settings=SETTINGS,
        least=LeastScores(-9, -9),
        output=str(tmp_path / "out"),
        plan="0" * 64,
        first={unit.index: 0},
    )
    (row,) = long.to_pylist()
    assert (row["line"], row["reason"]) == (1, "document_too_long")
    assert "its sentences have too many words" in row["detail"]
    assert short.column("reason").null_count == short.num_rows == 2
