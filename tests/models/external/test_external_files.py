"""The files that external programs read, and reading their answers."""

import dataclasses

import pytest

from pairweave.models.external import external_programs
from pairweave.models.external.external import ExternalAligner, learn
from pairweave.models.external.external_files import (
    fast_align_settings,
    numbered,
    read_simalign,
    read_viterbi,
    sentences_text,
    vocabulary_text,
)
from pairweave.models.external.external_programs import Call, ExternalConfig, Program
from pairweave.transforms.errors import ConfigError, WorkerError
from tests.makers.fake_programs import write_program
from tests.makers.token_tables import links_of, token_table

RATIO, TENSION = b"expected target length = source length * 1.25\n", b"final tension: 4.5\n"


def test_words_are_numbered_from_2_by_first_appearance():
    assert numbered(["a b a", "c a"]) == [[2, 3, 2], [4, 2]]


def test_a_vocabulary_counts_each_word():
    assert vocabulary_text([[2, 3, 2], [4, 2]]) == "2 w2 3\n3 w3 1\n4 w4 1\n"


def test_a_pair_of_sentences_is_three_lines():
    assert sentences_text([[2, 3], [4]], [[5], [6, 7]]) == "1\n2 3\n5\n1\n4\n6 7\n"


@pytest.mark.parametrize("line", [b"w2 ({ 1 })", b"NULL ({ }) w2 ({ 1", b""])
def test_viterbi_links_of_another_form_are_an_error(line):
    with pytest.raises(WorkerError, match=r"expected 'NULL \(\{ \}\) word"):
        read_viterbi(b"#\n2\n" + line + b"\n")


def test_settings_are_those_that_fast_align_printed_last_in_any_order():
    expected = {"length_ratio": "1.25", "tension": "4.5"}
    assert fast_align_settings(b"final tension: 3\n" + RATIO + TENSION) == expected
    assert fast_align_settings(TENSION + RATIO) == expected


def test_a_pair_that_is_too_long_is_given_up_with_both_numbers():
    assert read_simalign(b"0-0 1-1\n\n! 600 510\n") == (
        b"0-0 1-1\n\n\n",
        {2: ("too_long_for_encoder", "600 pieces; the encoder's limit is 510")},
    )


@pytest.mark.parametrize("line", [b"!", b"! 600", b"! 600 510 1"])
def test_an_answer_of_another_form_is_an_error(line):
    with pytest.raises(WorkerError, match="expected links or '! pieces room', found"):
        read_simalign(line + b"\n0-0\n")


DIAGONAL = """
import sys
if sys.argv[1] == "train":
    print("strength 7", file=sys.stderr)
    open("weights", "w").write(open("text").read())
else:
    assert sys.argv[1:] == ["align", "7"] and open("weights").read() == "a b ||| c d\\n"
    for line in sys.stdin:
        print("0-0")
"""


def test_one_entry_of_the_table_is_all_that_another_program_needs(tmp_path, monkeypatch):
    entry = Program(
        executable="diagonal",
        install="build it",
        learn=(
            Call(
                "{program} train",
                answers=("weights",),
                printed=lambda said: {"strength": said.split()[-1].decode()},
            ),
        ),
        align=(Call("{program} align {weights[strength]}", answers=("-",), stdin="text"),),
    )
    monkeypatch.setitem(external_programs.PROGRAMS, "diagonal", entry)
    config = ExternalConfig("diagonal", write_program(tmp_path / "diagonal", DIAGONAL))
    table = token_table([("a b", "c d")])
    learned = learn(config, table)
    assert learned["settings.json"] == b'{"weights": {"strength": "7"}}'
    linked = ExternalAligner(config, learned).align(table)
    assert links_of(linked) == links_of(linked, "reverse") == [{(0, 0)}]
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(ConfigError, match="no diagonal on the search path; build it, or give"):
        ExternalAligner(dataclasses.replace(config, path=None))
