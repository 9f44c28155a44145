import hashlib
import json
from pathlib import Path

import pytest

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.text import moses_words
from pairweave.transforms.text.moses_words import MosesWords

GOLDEN = Path(__file__).parents[2] / "golden" / "lxm" / "words.json"


@pytest.fixture(scope="module", autouse=True)
def _extra():
    pytest.importorskip("sacremoses", reason="needs the extra `evaluate`")


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("fr", "C'est M. Dupont, l'ami.", "C' est M. Dupont , l' ami ."),
        ("en", "It's Mr. Smith's, No. 5 of No. Ten.", "It 's Mr. Smith 's , No. 5 of No . Ten ."),
        ("de", "Geht's so?", "Geht ' s so ?"),
        ("fi", "EU:n osuus: 20:een", "EU:n osuus : 20:een"),
        ("fr", "un .csv, des .ics.", "un .csv , des .ics ."),
        ("fr", "5,3 kg... et 7,", "5,3 kg ... et 7 ,"),
        ("fr", "a,b,,c", "a , b , , c"),
        ("en", "of the U.S. Army. end", "of the U.S. Army. end"),
        ("de", "so 'was.'", "so ' was . '"),
        ("de", "ein.'", "ein . '"),
        ("fr", "x\u00a0: y\x1fz\tb", "x : yz b"),
        ("fr", "  \t ", ""),
        ("fr", "", ""),
        ("fr", "a . b", "a . b"),
    ],
)
def test_words_are_those_of_the_script(language, text, words):
    assert MosesWords(language)(text) == words


def test_a_stretch_of_odd_blanks_alone_is_a_word():
    words = MosesWords("fr")
    assert len(words("\u00a0").split()) == 1
    assert words("\u00a0 \u202f").split() == [words("\u00a0"), words("\u202f")]
    assert words("\u00a0") != words("\u202f")


@pytest.mark.parametrize("language", ["fr", "en", "de", "hu", "fi", "nl"])
def test_words_of_real_text_are_those_of_the_script(shared_data, language):
    texts = []
    if language in ("fr", "en"):
        texts += _online_help(shared_data, language)
    if language in ("fr", "en", "de", "hu"):
        for name in ("eurlex", "glossary"):
            lines = (shared_data / "tagged" / f"{name}-dev.{language}").read_text("utf-8")
            texts += lines.split("\n")[:-1]
    else:
        texts += _online_help(shared_data, "en")
    words = MosesWords(language)
    digest = hashlib.sha256("\n".join(map(words, texts)).encode()).hexdigest()
    assert digest == json.loads(GOLDEN.read_text())[language]


def _online_help(shared_data, language):
    document = json.loads((shared_data / "xml" / f"enfr.{language}.json").read_text("utf-8"))
    return list(document["text"].values())


def test_a_missing_package_is_named(monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(moses_words.importlib, "import_module", absent)
    with pytest.raises(ConfigError, match=r"sacremoses.*evaluate"):
        MosesWords("a language nobody asked for yet")
