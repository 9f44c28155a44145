import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pairweave.transforms.errors import InputError
from pairweave.transforms.metrics.sentence_metrics import evaluate_sentences
from tests.makers import runs
from tests.oracles import slow_sentence_metrics

sides = st.lists(st.integers(0, 6), max_size=3, unique=True).map(sorted)
alignments = st.lists(st.tuples(sides, sides), min_size=1, max_size=8)


@pytest.fixture
def score(tmp_path):
    def evaluate(hypothesis, gold):
        (tmp_path / "hypothesis").write_text(hypothesis)
        (tmp_path / "gold").write_text(gold)
        return evaluate_sentences(str(tmp_path / "hypothesis"), str(tmp_path / "gold")).as_dict()

    return evaluate


def test_a_case_counted_by_hand(score):
    # Gold: 0=0, 1+2=1, 3 alone. Found: 0=0 exactly, 1=1 laxly, 2 alone wrongly, 3 alone exactly.
    actual = score("[0]:[0]:0.5\n[1]:[1]:1e-3\n[2]:[]\n[3]:[]:\n", "[0]:[0]\n[1, 2]:[1]\n[3]:[]\n")
    assert (actual["beads"], actual["gold"]) == (4, 2)
    assert (actual["strict_hits"], actual["lax_hits"]) == (2, 3)
    assert (actual["strict_found"], actual["lax_found"]) == (1, 2)
    assert actual["strict_f1"] == 0.5
    assert actual["lax_f1"] == pytest.approx(2 * 0.75 / 1.75)


def _lines(alignment):
    return "".join(f"{list(source)}:{list(target)}\n" for source, target in alignment)


@given(found=alignments, gold=alignments)
def test_scores_are_those_of_the_slow_twin(found, gold):
    assume(any(source and target for source, target in gold))
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("hypothesis", "gold")]
        for path, alignment in zip(paths, (found, gold), strict=True):
            path.write_text(_lines(alignment))
        fast = evaluate_sentences(*map(str, paths)).as_dict()
    names = [
        f"{kind}_{what}" for kind in ("strict", "lax") for what in ("precision", "recall", "f1")
    ]
    assert [fast[name] for name in names] == pytest.approx(
        slow_sentence_metrics.scores(found, gold)
    )


def test_documents_are_compared_apart_and_counted_together(score):
    both = score("[0]:[0]\n\n[0]:[1]\n", "[0]:[0]\n\n\n[0]:[0]\n")
    assert (both["documents"], both["beads"], both["strict_hits"]) == (2, 2, 1)


def test_gold_files_score_one_against_themselves(shared_data):
    folder = shared_data / "sentences"
    for gold in (folder / "bleualign-dev.defr", *sorted((folder / "novels-dev").glob("*.gold"))):
        figures = evaluate_sentences(str(gold), str(gold)).as_dict()
        assert figures["strict_f1"] == figures["lax_f1"] == 1


def test_an_empty_hypothesis_finds_nothing(score):
    assert score("", "[0]:[0]\n")["strict_f1"] == 0


def test_what_is_no_bead_is_refused_with_its_line(score):
    with pytest.raises(InputError, match=r"hypothesis:2: expected sentence numbers.*not_a_bead"):
        score("[0]:[0]\n0-0\n", "[0]:[0]\n")


def test_other_numbers_of_documents_are_refused(score):
    with pytest.raises(InputError, match="document_count_mismatch"):
        score("[0]:[0]\n\n[0]:[0]\n", "[0]:[0]\n")


def test_a_gold_without_pairs_is_refused(score):
    with pytest.raises(InputError, match="no_gold_bead"):
        score("[0]:[0]\n", "[0]:[]\n")


def test_the_command_ends_with_json(tmp_path):
    (tmp_path / "beads").write_text("[0]:[0, 1]:0.7\n")
    status, out, _ = runs.run_here("evaluate", "sentences", "beads", "beads", cwd=tmp_path)
    lines = out.splitlines()
    assert status == 0
    assert json.loads(lines[-1])["strict_f1"] == 1
    assert lines[-2] == json.loads(lines[-1])["signature"]
