import sys

import pyarrow as pa
import pytest

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.filtering import languages


def test_a_detector_that_is_not_there_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pycld2", None)
    with pytest.raises(ConfigError, match=r"pip install 'pairweave\[lang\]'"):
        languages.detect(pa.array(["x"]))


def test_answers_are_those_of_the_library_where_it_is_sure():
    cld2 = pytest.importorskip("pycld2")
    texts = [
        "This is a sentence in the English language about nothing at all.",
        "Dies ist ein Satz in deutscher Sprache, in dem es um nichts geht.",
        "ok",
        "C1 \x93quoted\x94 text is refused by the library, but it is English all the same.",
    ]
    found = languages.detect(pa.array(texts))
    assert found == ["en", "de", None, "en"]
    assert cld2.detect(texts[1])[2][0][1] == "de"


@pytest.mark.parametrize(
    ("found", "expected", "wrong"),
    [
        ("en", "en-GB", False),
        ("de", "en", True),
        (None, "en", False),
        ("iw", "he", False),
        ("nn", "nb", False),
        ("zh-Hant", "zh", False),
        ("de", "und", False),
    ],
)
def test_languages_are_compared_by_their_first_subtag(found, expected, wrong):
    assert languages.other([found], [expected]).tolist() == [wrong]
