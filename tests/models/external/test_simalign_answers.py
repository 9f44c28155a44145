"""Reading the output of SimAlign's program: links, or a rejected pair."""

import types
from pathlib import Path

import numpy as np
import pytest

from pairweave.models.external import external_encoders
from pairweave.models.external.external_encoders import SimAlign
from pairweave.models.external.external_text import Text
from pairweave.transforms.errors import WorkerError

TEXT = Text(["a b", "c"], ["d e", "f"], np.array([0, 1]))


@pytest.fixture
def answer_with(monkeypatch):
    """Return a function that aligns `TEXT` with a program that writes the lines given."""
    config = types.SimpleNamespace(
        model_path=lambda: Path("model"), layer=8, extraction="itermax", timeout_seconds=9
    )
    monkeypatch.setattr(external_encoders, "find_program", lambda _: "python")
    calls = []

    def align(*lines):
        def run(name, command, seconds, directory):
            calls.append((name, command[:2], command[3:], seconds))
            calls.append((directory / "text").read_text())
            (directory / "links").write_text("".join(f"{line}\n" for line in lines))

        monkeypatch.setattr(external_encoders, "run", run)
        return SimAlign(config).align(TEXT, {})

    align.calls = calls
    return align


def test_the_program_gets_the_text_and_the_settings(answer_with):
    answer_with("0-0", "")
    call, text = answer_with.calls
    assert call == ("simalign", ("python", "-c"), ("model", "8", "i", "text", "links"), 9)
    assert text == "a b ||| d e\nc ||| f\n"


def test_links_are_those_of_both_directions(answer_with):
    found = answer_with("0-0 1-1", "0-0")
    assert found.forward == found.reverse == b"0-0 1-1\n0-0\n"
    assert found.given_up == {}


def test_a_pair_that_is_too_long_is_given_up_with_both_numbers(answer_with):
    found = answer_with("0-0", "! 600 510")
    assert found.forward == found.reverse == b"0-0\n\n"
    detail = "600 pieces; the encoder's limit is 510"
    assert found.given_up == {1: ("too_long_for_encoder", detail)}


@pytest.mark.parametrize("line", ["!", "! 600", "! 600 510 1"])
def test_an_answer_of_another_form_is_an_error(answer_with, line):
    with pytest.raises(WorkerError, match="expected links or '! pieces room', found"):
        answer_with(line, "0-0")


def test_without_text_no_program_runs(answer_with):
    empty = Text([], [], np.empty(0, np.int64))
    answer_with("0-0", "0-0")
    answer_with.calls.clear()
    found = SimAlign(types.SimpleNamespace()).align(empty, {})
    assert (found.forward, found.reverse, answer_with.calls) == (b"", b"", [])
