"""Scores of phrase pairs by an encoder's probabilities, from the command line."""

import pyarrow.parquet as pq
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

from tests import check_tagged  # noqa: E402
from tests.makers import corpora, runs  # noqa: E402
from tests.makers.encoders import write_bert  # noqa: E402

PAIRS = 60


def test_an_encoder_gives_scores_too(tmp_path):
    corpora.write_corpus(tmp_path, PAIRS)
    sides = list(zip(*map(corpora.sentence, range(PAIRS)), strict=True))
    write_bert(tmp_path / "bert", [*sides[0], *sides[1]], layers=2, max_position_embeddings=64)
    command = (
        *("augment", "--source_input", "corpus.en", "--target_input", "corpus.de"),
        *("--source_lang", "en", "--target_lang", "de", "--aligner", "encoder"),
        *("--model", "bert", "--layer", "2", "--mix", "inf", "--workers", "1"),
    )
    actual = {}
    for name, more in (("all", ()), ("sure", ("--min_confidence", "0.2"))):
        runs.run_well_here(*command, *more, "--output", name, cwd=tmp_path)
        rows = pq.read_table(tmp_path / name / "data" / "part-00000-of-00001.parquet").to_pylist()
        for row in rows:
            check_tagged.check_row(row, check_tagged.Counter(), crossing=False)
        actual[name] = {row["id"]: row["tags"] for row in rows}
    assert 0 < len(actual["sure"]) <= len(actual["all"])
    assert actual["sure"] != actual["all"]
