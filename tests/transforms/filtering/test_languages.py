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


def test_what_is_no_language_is_no_answer(monkeypatch):
    """CLD2 names scripts that it knows no language of, text of none, and jokes."""
    answers = iter(["xx-Cans", "un", "xxx", "zzp", "fr"])

    class Detector:
        error = ValueError

        @staticmethod
        def detect(_text):
            return True, 9, (("", next(answers), 99, 1.0),)

    monkeypatch.setitem(sys.modules, "pycld2", Detector)
    assert languages.detect(pa.array(["x"] * 5)) == [None, None, None, None, "fr"]


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
        ("en", "eng", False),
        ("de", "deu-Latn-DE", False),
        ("de", "ger", False),
        ("fr", "eng", True),
        ("iw", "heb", False),
        ("ar", "arz", False),
        ("ar", "apc", False),
        ("fr", "arz", True),
        ("zh", "yue", False),
        ("zh-Hant", "wuu", False),
        ("zh-Hant", "lzh", False),
        ("az", "azj", False),
        ("no", "nno", False),
        ("hr", "srp", False),
        ("sr-ME", "cnr", False),
        ("de", "gsw", False),  # CLD2 knows no Swiss German
        ("pl", "szl", False),
        ("hi", "sat", False),
        ("en", "enm", False),
    ],
)
def test_languages_are_compared_by_all_their_codes(found, expected, wrong):
    pytest.importorskip("pycld2")
    assert languages.other([found], [expected]).tolist() == [wrong]
