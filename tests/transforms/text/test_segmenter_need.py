"""When the words of a corpus need a dictionary."""

import pyarrow as pa
import pytest

from pairweave.transforms.text.segmenter import needs_segmenter


@pytest.mark.parametrize(
    ("spaced", "unspaced", "needed"),
    [(0, 0, False), (9, 0, False), (0, 1, True), (99, 1, True), (100, 1, False)],
)
def test_one_text_in_a_hundred_without_spaces_needs_a_segmenter(spaced, unspaced, needed):
    texts = pa.array(["plain"] * spaced + ["漢字"] * unspaced, pa.string())
    assert needs_segmenter(texts) is needed
