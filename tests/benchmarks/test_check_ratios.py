"""The comparison of measured ratios of speed with expected ones."""

import itertools
import json

import pytest

from tests.benchmarks import check_ratios
from tests.benchmarks.check_ratios import RATIOS, Step, ratio_of, too_slow

EXPECTED = {"align": 2.0, "fit": 4.0}


def test_a_slow_ratio_fails_with_its_step_and_both_ratios():
    (message,) = too_slow({"align": 1.4, "fit": 4.0}, EXPECTED, 0.25)
    assert message == (
        "align: expected a ratio of 2, measured 1.4, which is 30 % slower (at most 25 %)"
    )


@pytest.mark.parametrize("ratio", [1.5, 2.0, 9.0])
def test_a_ratio_inside_the_margin_or_better_passes(ratio):
    assert too_slow({"align": ratio}, EXPECTED, 0.25) == []


def test_a_step_without_an_expected_ratio_fails():
    (message,) = too_slow({"read": 3.0}, EXPECTED, 0.25)
    assert message.startswith("read: measured 3, no expected ratio")


def test_the_best_round_of_each_side_counts():
    ours, other = iter([10.0, 30.0, 20.0]), iter([5.0, 4.0, 6.0])
    assert ratio_of(Step("align", lambda: next(ours), lambda: next(other)), 3) == 5.0


def test_a_step_beside_a_peer_that_is_not_installed_is_left_out():
    calls = itertools.count()
    assert ratio_of(Step("align", lambda: float(next(calls)), lambda: None), 3) is None
    assert next(calls) == 0


@pytest.mark.parametrize(("speed", "code"), [(1.5, 1), (1.6, 0)])
def test_the_program_fails_past_the_margin(speed, code, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PAIRWEAVE_DATA", str(tmp_path))
    monkeypatch.setattr(check_ratios, "RATIOS", tmp_path / "ratios.json")
    check_ratios.RATIOS.write_text('{"margin": 0.2, "ratios": {"align": 2.0}}')
    step = Step("align", lambda: speed, lambda: 1.0)
    monkeypatch.setattr(check_ratios, "steps", lambda _data, _directory: [step])
    assert check_ratios.main(["--rounds", "1"]) == code
    assert ("align: expected a ratio of 2, measured 1.5" in capsys.readouterr().err) == bool(code)


def test_written_ratios_are_those_that_the_next_run_expects(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRWEAVE_DATA", str(tmp_path))
    monkeypatch.setattr(check_ratios, "RATIOS", tmp_path / "ratios.json")
    check_ratios.RATIOS.write_text('{"margin": 0.2, "ratios": {"read": 1.0}}')
    step = Step("align", lambda: 3.0, lambda: 2.0)
    monkeypatch.setattr(check_ratios, "steps", lambda _data, _directory: [step])
    assert check_ratios.main(["--rounds", "1", "--write"]) == 0
    written = json.loads(check_ratios.RATIOS.read_text())
    assert written == {"margin": 0.2, "ratios": {"read": 1.0, "align": 1.5}}


def test_the_committed_ratios_can_fail():
    known = json.loads(RATIOS.read_text())
    assert 0 < known["margin"] < 1
    assert known["ratios"]
    halved = {name: ratio / 2 for name, ratio in known["ratios"].items()}
    assert len(too_slow(halved, known["ratios"], known["margin"])) == len(halved)
