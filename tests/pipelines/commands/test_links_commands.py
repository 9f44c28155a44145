"""The commands on Pharaoh files print what the algorithms say of each line."""

import pytest

from tests.makers import runs


@pytest.fixture
def directory(tmp_path):
    texts = {
        "forward": "0-0 1-1 1-2\n0-1\n",
        "reverse": "0-0 1-1 2-2\n1-0\n",
        "links": "0-0 2-1\n",
        "en": "a b c d\n",
        "de": "x y z\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("heuristic", "lines"),
    [
        ("intersection", ["0-0 1-1", ""]),
        ("union", ["0-0 1-1 1-2 2-2", "0-1 1-0"]),
    ],
)
def test_both_directions_are_combined(directory, heuristic, lines):
    words = ("symmetrize", "forward", "reverse", "--heuristic", heuristic)
    assert runs.run_well_here(*words, cwd=directory).splitlines() == lines


def phrases(directory, *words):
    """Return the phrase pairs of the one line, as words of the source and of the target."""
    (line,) = runs.run_well_here("phrases", "links", *words, cwd=directory).splitlines()
    return set(line.split())


def test_the_options_decide_which_phrase_pairs_there_are(directory):
    texts = ("--source_text", "en", "--target_text", "de")
    assert phrases(directory) == {"0-0:0-0", "2-2:1-1"}
    free = phrases(directory, "--unaligned_words", "allow", *texts)
    assert free >= {"0-0:0-0", "0-1:0-0", "0-2:0-1", "2-3:1-1", "0-3:0-2"}
    assert len(free) == 14
    short = phrases(directory, "--unaligned_words", "allow", *texts, "--max_words", 1)
    assert short == {"0-0:0-0", "2-2:1-1", "2-2:1-2"}  # adjacent words do not count
