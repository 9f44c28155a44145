import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given

from pairweave.transforms.errors import InputError
from pairweave.transforms.metrics.link_metrics import evaluate_links
from pairweave.transforms.storage import text_lines
from tests.makers import runs
from tests.makers.links import link_sets


@pytest.fixture
def score(tmp_path):
    def evaluate(hypothesis, gold, *, one_based=False):
        (tmp_path / "hypothesis").write_text(hypothesis)
        (tmp_path / "gold").write_text(gold)
        return evaluate_links(tmp_path / "hypothesis", tmp_path / "gold", one_based)

    return evaluate


@pytest.mark.parametrize(("languages", "aer"), [("enfr", 4.07), ("roen", 20.75)])
def test_published_error_rates_come_out(shared_data, languages, aer):
    scores = evaluate_links(
        shared_data / "align" / f"{languages}.mbert-awesome-align",
        shared_data / "align" / f"{languages}.gold",
        one_based=True,
    )
    assert round(100 * scores.aer, 2) == aer


def test_a_case_counted_by_hand(score):
    # Pair 1: 0-0 is sure, 1-2 possible, 2-2 wrong. Pair 2: one sure link, not found.
    scores = score("0-0 1-2 2-2\n\n", "0-0 1-1 1p2\n3-3\n")
    assert (scores.pairs, scores.links, scores.sure, scores.possible) == (2, 3, 3, 4)
    assert (scores.sure_hits, scores.possible_hits) == (1, 2)
    assert scores.precision == 2 / 3
    assert scores.recall == 1 / 3
    assert scores.f1 == pytest.approx(4 / 9)
    assert scores.aer == 1 - 3 / 6


def test_a_one_based_gold_is_shifted(score):
    assert score("0-1\n", "1-2\n", one_based=True).aer == 0
    assert score("0-1\n", "1-2\n").aer == 1


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_figures_and_places_are_the_same_in_blocks_of_any_size(score, monkeypatch, size):
    monkeypatch.setattr(text_lines, "BLOCK_BYTES", size)
    scores = score(
        "0-0 1-2 2-2\n\n5-5 300-2\n2-2\n1-0\n", "0-0 1-1 1p2\n3-3\n5p5 300-2\n1-1\n0-256\n"
    )
    assert (scores.pairs, scores.links, scores.sure, scores.possible) == (5, 7, 6, 8)
    assert (scores.sure_hits, scores.possible_hits) == (2, 4)
    assert score("0-0\n1-1\n2-2\n", "0-0\n1-1\n2-2\n").warning is None
    with pytest.raises(InputError, match="gold:3: links 0 and 3"):
        score("0-0\n0-0\n0-0\n", "1-1 2-2\n\n0p3 1-1\n", one_based=True)


def test_a_link_given_twice_counts_once(score):
    assert score("0-0 0-0\n", "0-0 0-0 0p0\n") == score("0-0\n", "0-0\n")


def test_a_hypothesis_without_links_is_all_wrong(score):
    scores = score("\n", "0-0\n")
    assert (scores.precision, scores.recall, scores.f1, scores.aer) == (0, 0, 0, 1)


@given(sure=link_sets.filter(bool), others=link_sets, found=link_sets)
def test_the_error_rate_is_that_of_nltk(sure, others, found):
    gold = [*(f"{i}-{j}" for i, j in sure), *(f"{i}p{j}" for i, j in others)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "hypothesis").write_text(" ".join(f"{i}-{j}" for i, j in found) + "\n")
        (path / "gold").write_text(" ".join(gold) + "\n")
        scores = evaluate_links(path / "hypothesis", path / "gold", one_based=False)
    # Not at the top: it loads SciPy's statistics, which takes a second.
    from nltk.translate.metrics import alignment_error_rate

    assert scores.aer == pytest.approx(alignment_error_rate(sure, found, sure | others))


def test_unequal_line_counts_are_refused(score):
    with pytest.raises(InputError, match=r"has 1 line, but .* has 2;.*line_count_mismatch"):
        score("0-0\n", "0-0\n1-1\n")


def test_a_zero_in_a_one_based_file_is_refused(score):
    with pytest.raises(InputError, match=r"gold:2: links 0 and 3, .*zero_in_one_based"):
        score("0-0\n0-0\n", "1-1\n1-1 0p3\n", one_based=True)


def test_gold_without_sure_links_is_refused(score):
    with pytest.raises(InputError, match="no_sure_link"):
        score("0-0\n", "0p0\n")


def test_possible_links_may_stand_in_the_gold_only(score):
    with pytest.raises(InputError, match="hypothesis:1: '0p0' is not a link; expected i-j "):
        score("0p0\n", "0-0\n")
    with pytest.raises(InputError, match="gold:1: '0x0' is not a link; expected i-j or ipj "):
        score("0-0\n", "0x0\n")


def test_the_last_line_is_json(score):
    scores = score("0-0 1-2 2-2\n", "1-1 2p3\n", one_based=True)
    shown = scores.render().splitlines()
    assert shown[0].startswith("AER 25.00 %  precision 66.67 %  recall 100.00 %  F1 80.00 %")
    assert json.loads(shown[-1]) == scores.as_dict()
    assert shown[-2] == scores.signature == scores.as_dict()["signature"]
    assert scores.signature.startswith(
        "average:micro|gold:one-based|metrics:aer,precision,recall,f1"
    )


def test_a_gold_without_a_word_0_that_is_read_from_0_gets_a_warning(score):
    assert "give --one_based" in score("0-0\n0-1\n", "1-1\n1-2 1p3\n").warning
    assert score("0-0\n0-1\n", "1-1\n1-2 1p3\n", one_based=True).warning is None


@pytest.mark.parametrize("gold", ["0-1\n", "1-0\n", "1-1 0p1\n", "1-1 1p0\n"])
def test_a_word_0_on_one_side_of_one_link_is_enough_for_no_warning(score, gold):
    assert score("0-0\n", gold).warning is None


def test_evaluate_links_warns_on_stderr_and_prints_the_same_figures(tmp_path):
    (tmp_path / "found").write_text("0-0 1-1\n")
    (tmp_path / "gold").write_text("1-1 2-2\n")
    command = ("evaluate", "links", "found", "gold")
    status, out, err = runs.run_here(*command, cwd=tmp_path)
    assert (status, out.splitlines()[0][:11]) == (0, "AER 50.00 %")
    assert err.startswith("warning: gold: the gold has no word 0 on either side")
    assert err.count("\n") == 1
    assert runs.run_here(*command, "--one_based", cwd=tmp_path)[2] == ""
