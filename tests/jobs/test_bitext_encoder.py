import json

import pyarrow.parquet as pq
import pytest

pytest.importorskip("torch", reason="needs the extra `neural`")

from pairweave.transforms.sentences.bead_lines import read_beads
from tests.makers import runs
from tests.makers.corpora import sentence
from tests.makers.documents import write_documents
from tests.makers.encoders import write_bert

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with two document pairs, and a small encoder with random weights."""
    made = tmp_path_factory.mktemp("documents")
    write_documents(made, (30, 20))
    write_bert(made / "encoder", [text for n in range(200) for text in sentence(n)], layers=2)
    return made


def run(directory, output, *arguments):
    runs.run_well(
        *("bitext", "--source_input", "[0-9].en", "--target_input", "[0-9].de", "--source_lang"),
        *("en", "--target_lang", "de", "--encoder", "encoder", "--output", output, "--beads"),
        *(output.with_suffix(".beads"), "--allow_empty", *arguments),
        cwd=directory,
    )
    return read_beads(str(output.with_suffix(".beads")))


def sentences_of(directory, number, name):
    return [line for line in (directory / f"{number}.{name}").read_text().splitlines() if line]


@pytest.mark.parametrize(
    ("scorer", "similarity"), [("encoder", None), ("both", None), ("both", "yisi2")]
)
def test_every_sentence_is_in_one_bead(directory, tmp_path, scorer, similarity):
    given = () if similarity is None else ("--similarity", similarity)
    actual = run(directory, tmp_path / "out", "--scorer", scorer, "--workers", "1", *given)
    for number, beads in enumerate(actual):
        for side, name in enumerate(("en", "de")):
            used = [sentence for bead in beads for sentence in bead[side]]
            assert used == list(range(len(sentences_of(directory, number, name))))
    plan = json.loads((tmp_path / "out/_plan.json").read_text())
    settings = plan["configuration"]
    assert (settings["scorer"], settings["layer"], len(settings["encoder"])) == (scorer, 2, 64)
    assert settings.get("similarity") == similarity
    assert bool(plan["models"]) is (scorer == "both")
    assert (tmp_path / "out/models").exists() is (scorer == "both")


@pytest.mark.parametrize("similarity", ["sentences", "yisi2"])
def test_a_text_is_aligned_with_itself(directory, tmp_path, similarity):
    """Random weights know no translations, but each sentence is most like itself."""
    for number in range(2):
        text = (directory / f"{number}.en").read_text()
        for name in ("en", "de"):
            (tmp_path / f"{number}.{name}").write_text(text)
    arguments = ("--scorer", "encoder", "--encoder", directory / "encoder", "--layer", "0")
    given = ("--similarity", similarity, "--workers", "2")
    actual = run(tmp_path, tmp_path / "out", *arguments, *given)
    for number, beads in enumerate(actual):
        count = len(sentences_of(tmp_path, number, "en"))
        assert [(bead.source, bead.target) for bead in beads] == [
            ((place,), (place,)) for place in range(count)
        ]
    rows = [
        row for path in (tmp_path / "out/data").iterdir() for row in pq.read_table(path).to_pylist()
    ]
    assert rows
    assert all(-0.01 < row["score"] <= 0 for row in rows)
