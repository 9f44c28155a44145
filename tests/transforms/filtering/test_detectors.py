"""Language detectors say what their own libraries say, where the answer counts."""

import hashlib
import sys

import numpy as np
import pytest

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.filtering import detectors
from pairweave.transforms.filtering.detectors import detect
from pairweave.transforms.filtering.rule_options import RuleOptions
from pairweave.transforms.filtering.rules import rule_config
from pairweave.transforms.storage import object_stores
from tests.makers import stores
from tests.makers.fasttext_model import write_model

TEXTS = (
    "This is a sentence in the English language about nothing at all.",
    "Dies ist ein Satz in deutscher Sprache, in dem es um nichts geht.",
    "Ceci est une phrase en français qui ne parle de rien du tout.",
    "Это предложение написано на русском языке.",
    "これは日本語の文章です。",
    "ok",
    "12:30",
    "",
    "C1 \x93quoted\x94 text is refused by CLD2, but it is English all the same.",
)


@pytest.fixture(autouse=True)
def _fresh():
    detectors.load.cache_clear()
    yield
    detectors.load.cache_clear()


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("cld2", "pycld2"),
        ("langid", "py3langid.langid"),
        ("lingua", "lingua"),
        ("fasttext:model.bin", "fasttext"),
    ],
)
def test_a_detector_that_is_not_there_is_named_with_its_extra(monkeypatch, name, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ConfigError, match=r"pip install 'pairweave\[lang\]'"):
        detect(["x"], name)


def test_cld2_answers_as_its_library_where_that_is_sure():
    cld2 = pytest.importorskip("pycld2")
    expected = []
    for text in TEXTS[:-1]:
        reliable, _, details = cld2.detect(text)
        expected.append(details[0][1] if reliable and details[0][1] != "un" else None)
    assert detect(TEXTS, "cld2") == [*expected, "en"]
    assert expected[:6] == ["en", "de", "fr", "ru", "ja", None]


def test_langid_answers_as_its_library_where_that_is_probable():
    langid = pytest.importorskip("py3langid.langid")
    own = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
    expected = [own.classify(text) for text in TEXTS]
    assert detect(TEXTS, "langid") == [
        code if share >= detectors.MIN_PROBABILITY else None for code, share in expected
    ]
    assert detect(TEXTS, "langid")[:5] == ["en", "de", "fr", "ru", "ja"]
    assert None in detect(TEXTS, "langid")


@pytest.mark.slow
def test_lingua_answers_as_its_library_where_that_is_ahead():
    lingua = pytest.importorskip("lingua")
    own = lingua.LanguageDetectorBuilder.from_all_languages().build()
    expected = []
    for text in TEXTS:
        first, second = own.compute_language_confidence_values(text)[:2]
        ahead = first.value - second.value >= detectors.MIN_LEAD
        expected.append(first.language.iso_code_639_1.name.lower() if ahead else None)
    assert detect(TEXTS, "lingua") == expected
    assert expected[:5] == ["en", "de", "fr", "ru", "ja"]
    assert len(detectors.load("lingua").named) == 75


@pytest.fixture
def model(tmp_path):
    """Return a model that knows two words, one of each language, and one of both."""
    words = {"the": [3.0, 0.0], "der": [0.0, 3.0], "in": [1.0, 1.0]}
    labels = {"__label__en": [1.0, 0.0], "__label__deu_Latn": [0.0, 1.0]}
    write_model(tmp_path / "lid.bin", words, labels)
    return tmp_path / "lid.bin"


def test_fasttext_answers_as_its_library_and_as_its_softmax(model):
    fasttext = pytest.importorskip("fasttext")
    texts = ["the", "der\tder", "the der der", "in", "", "unknown words"]
    name = f"fasttext:{model}"
    assert detect(texts, name)[:3] == ["en", "deu-Latn", "deu-Latn"]
    own = fasttext.load_model(str(model))
    for text, actual in zip(texts, detect(texts, name), strict=True):
        labels, shares = own.predict(" ".join(text.split()))
        sure = bool(labels) and shares[0] >= detectors.MIN_PROBABILITY
        expected = labels[0].removeprefix("__label__").replace("_", "-") if sure else None
        assert actual == expected
    _, shares = own.predict("the", 2)
    mean = np.array([3.0, 0.0]) / 2  # with the vector of the end of the line, which is 0
    np.testing.assert_allclose(shares, np.exp(mean) / np.exp(mean).sum(), atol=1e-3)
    assert detectors.load(name).named == {"en", "deu-Latn"}


@pytest.mark.parametrize("data", [b"", b"no model", None])
def test_a_file_that_is_no_model_is_refused(tmp_path, data):
    pytest.importorskip("fasttext")
    path = tmp_path / "lid.bin"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ConfigError, match="give a"):
        detectors.load(f"fasttext:{path}")


def test_a_model_that_was_replaced_since_the_plan_is_refused(model, monkeypatch):
    pytest.importorskip("fasttext")
    monkeypatch.chdir(model.parent)
    options = RuleOptions(detector="fasttext:lid.bin")

    def planned():
        digest = hashlib.sha256(model.read_bytes()).hexdigest()
        return rule_config(options, f"fasttext:{digest}").detector

    first = planned()
    assert detect(["the", "der"], first) == ["en", "deu-Latn"]
    labels = {"__label__fr": [1.0, 0.0], "__label__de": [0.0, 1.0]}
    write_model(model, {"the": [3.0, 0.0], "der": [0.0, 3.0]}, labels)
    assert detect(["the", "der"], planned()) == ["fr", "de"]
    detectors.load.cache_clear()
    with pytest.raises(
        ConfigError, match=r"lid.bin: the file has changed since the run was planned"
    ):
        detect(["the"], first)


@pytest.mark.slow
def test_a_model_is_read_from_a_store(model):
    pytest.importorskip("fasttext")
    with stores.running("s3") as store:
        object_stores.use_beam_flags([])
        store.put("lid.bin", model.read_bytes())
        try:
            assert detect(["the"], f"fasttext:s3://{stores.BUCKET}/lid.bin") == ["en"]
        finally:
            object_stores.use_beam_flags([])


def test_what_is_no_language_is_no_answer(monkeypatch):
    """CLD2 names scripts that it knows no language of, text of none, and jokes."""
    answers = iter(["xx-Cans", "un", "xxx", "zzp", "fr"])

    class Library:
        error = ValueError
        DETECTED_LANGUAGES = ("FRENCH", "X")
        LANGUAGES = (("FRENCH", "fr"), ("X", "xxx"))

        @staticmethod
        def detect(_text):
            return True, 9, (("", next(answers), 99, 1.0),)

    monkeypatch.setitem(sys.modules, "pycld2", Library)
    assert detect(["x"] * 5, "cld2") == [None, None, None, None, "fr"]
    assert detectors.load("cld2").named == {"fr"}
