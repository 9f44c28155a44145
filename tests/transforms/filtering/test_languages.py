"""A text is in the wrong language where the tags of both languages say so."""

import pytest

from pairweave.transforms.filtering import languages


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
        ("pt", "pt_BR", False),
        ("de", "pt_BR", True),  # not a language that the detector does not know
        ("pt_PT", "pt-BR", False),
        ("zh_Hant", "deu_DE", True),
    ],
)
def test_languages_are_compared_by_all_their_codes(found, expected, wrong):
    pytest.importorskip("pycld2")
    assert languages.other([found], [expected], "cld2").tolist() == [wrong]


@pytest.mark.parametrize(
    ("found", "expected", "wrong"),
    [
        ("de", "deu", False),
        ("nn", "no", False),
        ("hr", "bs", False),
        ("fr", "khm", True),
        ("de", "gsw", False),
    ],
)
def test_py3langid_judges_the_languages_that_it_can_name(found, expected, wrong):
    pytest.importorskip("py3langid")
    assert languages.other([found], [expected], "langid").tolist() == [wrong]
