import gzip

import pyarrow as pa
import pytest

from pairweave.transforms import schemas
from pairweave.transforms.errors import InputError
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.reading.rows import Problem
from pairweave.transforms.rejects import Reject
from pairweave.transforms.sentences.bead_lines import Bead, bead_line, read_beads
from pairweave.transforms.sentences.bead_rows import (
    DocumentName,
    LeastScores,
    PlacedBead,
    bead_rows,
    sentences_table,
)
from pairweave.transforms.sentences.document import read_document
from pairweave.transforms.units import CorpusInput, ReadLimits

ANY = LeastScores(-100.0, -100.0)


@pytest.fixture
def planned(tmp_path):
    """Return a function that plans one document pair of these bytes."""

    def plan(source, target, *, limits=None, c1_controls="keep"):
        (tmp_path / "d.en").write_bytes(source)
        (tmp_path / "d.de.gz").write_bytes(gzip.compress(target))
        corpus = CorpusInput(
            source_lang="en",
            target_lang="de",
            source_input=(str(tmp_path / "d.en"),),
            target_input=(str(tmp_path / "d.de.gz"),),
            c1_controls=c1_controls,
        )
        return make_plan([corpus], limits, documents=True)

    return plan


def read(plan, limits=None):
    (unit,) = plan.units
    return unit, read_document(unit, limits or ReadLimits())


def rows_of(unit, sides, beads, least=ANY):
    return pa.Table.from_batches(
        bead_rows(unit, DocumentName(unit.index), sides, beads, least), schemas.ROWS
    )


def test_blank_lines_part_paragraphs_and_are_not_counted(planned):
    _, (source, target) = read(planned(b"\n\none\r\ntwo\n \t\n\nthree", b"eins\n"))
    assert source.texts.to_pylist() == ["one", "two", "three"]
    assert source.lines.tolist() == [3, 4, 7]
    assert source.paragraphs.tolist() == [0, 0, 1]
    assert (target.texts.to_pylist(), target.paragraphs.tolist()) == (["eins"], [0])


def test_sides_of_other_lengths_are_one_unit(planned):
    plan = planned(b"one\ntwo\n\nthree\n", b"eins\n")
    assert len(plan.units) == 1
    assert plan.rows == 5  # at most: every line alone


def test_lines_that_are_no_text_are_sentences_with_a_reason(planned):
    limits = ReadLimits(max_line_bytes=20)
    long = b"x" * 500_000
    plan = planned(b"one\n\xff\n" + long + b"\nfour\n", b"eins\n", limits=limits)
    _, (source, _) = read(plan, limits)
    assert source.texts.to_pylist() == ["one", "", "", "four"]
    reasons = {number: problem.reason for number, problem in source.problems.items()}
    assert reasons == {1: Reject.INVALID_UTF8, 2: Reject.LINE_TOO_LONG}


@pytest.mark.parametrize(
    ("treatment", "texts", "problems"),
    [
        ("keep", ["one", "\x93two\x94"], {}),
        ("mend", ["one", "\u201ctwo\u201d", "\u2026"], {}),
        ("reject", ["one", "\x93two\x94", "\x85"], {1, 2}),
    ],
)
def test_c1_controls_are_treated_as_in_other_input(planned, treatment, texts, problems):
    text = "one\n\x93two\x94\n\x85\n".encode()
    _, sides = read(planned(text, text, c1_controls=treatment))
    for side, name in zip(sides, ("source", "target"), strict=True):
        assert side.texts.to_pylist() == texts
        assert side.problems.keys() == set(problems)
        for problem in side.problems.values():
            assert problem.reason == Reject.CONTROL_CHAR
            assert problem.detail.startswith(f"{name}: U+00")


def test_a_sentence_with_a_rejected_control_keeps_its_number(planned):
    unit, sides = read(planned("\x93a\nb\n".encode(), b"c\nd\n", c1_controls="reject"))
    beads = [PlacedBead(range(1), range(1), 0.5), PlacedBead(range(1, 2), range(1, 2), 0.5)]
    first, second = rows_of(unit, sides, beads).to_pylist()
    assert (first["stage"], first["reason"]) == ("read", "control_char")
    assert (first["source"], first["target"]) == ("\x93a", "c")
    assert second["reason"] is None


def test_an_empty_side_has_no_sentence(planned):
    _, (source, target) = read(planned(b"\n\n", b"eins\n"))
    assert (len(source), len(target)) == (0, 1)


def test_a_document_that_is_too_long_is_refused(planned):
    with pytest.raises(InputError, match=r"d\.en: has 200001 lines.*document_too_long"):
        planned(b"\n" * 200_001, b"eins\n")


def test_a_bead_becomes_a_pair_at_the_place_of_its_first_sentence(planned):
    unit, sides = read(planned(b"a\n\none\ntwo\n", b"b\neins zwei\n"))
    beads = [PlacedBead(range(1), range(1), 0.5), PlacedBead(range(1, 3), range(1, 2), 0.25)]
    rows = rows_of(unit, sides, beads)
    assert rows.column("reason").null_count == 2
    table = sentences_table(rows)
    assert table.schema == schemas.SENTENCES
    (_, row) = table.to_pylist()
    assert (row["source"], row["target"]) == ("one two", "eins zwei")
    assert (row["bead"], row["score"], row["document"]) == ("2-1", 0.25, 0)
    assert (row["source_sentences"], row["target_sentences"]) == ([1, 2], [1])
    assert (row["file"], row["line"]) == ("d.en", 3)


@pytest.mark.parametrize(
    ("score", "least", "reason"),
    [
        (-0.5, LeastScores(-0.5, -9), None),
        (-0.51, LeastScores(-0.5, -9), "low_score"),
        (-0.5, LeastScores(-9, -0.5), None),
        (-0.51, LeastScores(-9, -0.5), "unrelated_document"),
    ],
)
def test_low_scores_are_rejected(planned, score, least, reason):
    unit, sides = read(planned(b"one\n", b"eins\n"))
    (row,) = rows_of(unit, sides, [PlacedBead(range(1), range(1), score)], least).to_pylist()
    assert row["reason"] == reason
    assert row["stage"] == (reason and "align")


def test_sentences_alone_are_rejected_where_they_stand(planned):
    unit, sides = read(planned(b"one\n", b"\neins\n"))
    beads = [PlacedBead(range(1), range(0), 0.0), PlacedBead(range(1, 1), range(1), 0.0)]
    one, other = rows_of(unit, sides, beads).to_pylist()
    assert one["reason"] == other["reason"] == "unaligned"
    assert (one["file"], one["line"], one["target"]) == ("d.en", 1, None)
    assert (other["file"], other["line"], other["target"]) == ("d.de.gz", 2, "eins")
    assert one["id"] is other["id"] is None


def test_a_bead_with_a_line_that_is_no_text_is_rejected_for_that(planned):
    unit, sides = read(planned(b"one\n\xff\n", b"eins\n"))
    (row,) = rows_of(unit, sides, [PlacedBead(range(2), range(1), 0.5)]).to_pylist()
    assert (row["stage"], row["reason"]) == ("read", "invalid_utf8")
    assert row["raw"] == b"\xff"
    assert isinstance(sides[0].problems[1], Problem)


@pytest.mark.parametrize("number", ["9" * 10, "9" * 5_000, "²", "٣"])
def test_a_number_that_no_sentence_has_is_no_bead(tmp_path, number):
    path = tmp_path / "beads"
    path.write_text(f"[0]:[0]\n[{number}]:[1]\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"beads:2: expected sentence numbers.*not_a_bead"):
        read_beads(str(path))


def test_lines_of_beads_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "beads"
    lines = [bead_line(range(2), range(2, 3), -0.25), bead_line(range(2, 2), range(3, 4), 0.0)]
    path.write_text("\n".join(lines) + "\n\n" + lines[0] + "\n")
    first = Bead((0, 1), (2,))
    assert read_beads(str(path)) == [[first, Bead((), (3,))], [first]]


def test_unaligned_sentences_do_not_count_in_the_score_of_a_document(planned):
    unit, sides = read(planned(b"one\ntwo\nthree\nfour\n", b"eins\n"))
    # One pair of -0.6; with three unaligned sentences of 0, the mean would be -0.15.
    beads = [
        PlacedBead(range(1), range(1), -0.6),
        *(PlacedBead(range(at, at + 1), range(1, 1), 0.0) for at in range(1, 4)),
    ]
    rows = rows_of(unit, sides, beads, LeastScores(-9, -0.5)).to_pylist()
    assert [row["reason"] for row in rows] == ["unrelated_document", *["unaligned"] * 3]
    assert rows[0]["detail"].startswith("the document scores -0.600,")
