"""When the words of a corpus need a dictionary."""

import pyarrow as pa
import pytest

from pairweave.transforms.text.segmenter import is_unspaced, needs_segmenter


@pytest.mark.parametrize(
    ("spaced", "unspaced", "needed"),
    [(0, 0, False), (9, 0, False), (0, 1, True), (99, 1, True), (100, 1, False)],
)
def test_one_text_in_a_hundred_without_spaces_needs_a_segmenter(spaced, unspaced, needed):
    texts = pa.array(["plain"] * spaced + ["漢字"] * unspaced, pa.string())
    assert needs_segmenter(texts) is needed


@pytest.mark.parametrize(
    "language", ["zho", "chi-TW", "cmn", "jpn", "tha", "lao", "khm", "mya", "bur"]
)
def test_a_code_of_three_letters_needs_a_segmenter_too(language):
    assert is_unspaced(language)
    assert not is_unspaced("deu")
