"""Fragments translated by a job's translator instead of the aligner's own lexicon."""

import numpy as np
import pytest

from pairweave.models.hmm import hmm_reference
from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.translators import translator_reference
from pairweave.models.translators.translator import Rejection, TranslatorConfig
from pairweave.models.translators.translator_reference import TranslatorReference
from pairweave.pipelines.jobs import augment
from pairweave.pipelines.steps import fragment_finding
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.tags.fragments import FragmentConfig, find_fragments
from pairweave.transforms.tags.text_fragments import TextFragments
from pairweave.transforms.text.tokens import TokenConfig
from tests.transforms.tags.test_fragments import BLANKS, boxes_of, table_of

PAIRS = [("a big house", "une grande maison"), ("the old house", "la vieille maison")] * 4
KNOWN = {"house": "maison", "old": "vieille", "a": None}


@pytest.fixture
def aligner(tmp_path):
    model = fit(table_of(PAIRS), HmmConfig(hmm_iterations=1))
    return hmm_reference.save(
        str(tmp_path / "model"), hmm_reference.pack(model, BLANKS, {"pairs": len(PAIRS)})
    )


def test_a_jobs_translator_translates_fragments(aligner, monkeypatch):
    asked = []

    def translate(reference, texts, source_lang, target_lang):
        asked.extend((text, source_lang, target_lang) for text in texts)
        assert reference.digest == "d"
        made = [KNOWN.get(text, "") for text in texts]
        return [text if text is not None else Rejection("too_long", "") for text in made]

    monkeypatch.setattr(translator_reference, "translate", translate)
    config = TranslatorConfig(backend="ctranslate2", model="m")
    made = fragment_finding.translator_of(aligner, TranslatorReference(config, "d"))
    actual = find_fragments(table_of(PAIRS[:2]), made, FragmentConfig(max_words=1, share=1.0))
    assert boxes_of(actual) == [[(2, 3, 2, 3)], [(1, 2, 1, 2), (2, 3, 2, 3)]]
    assert ("house", "en", "fr") in asked


def test_a_mark_that_only_the_translation_ends_with_can_be_left_out():
    made = {"house": "maison.", "house.": "maison.", "x": ".", "y": "", "z": None, "water": "l'eau"}
    translator = TextFragments(lambda texts, *_: [made[text] for text in texts], TokenConfig())
    offsets, word_offsets, _ = translator.translate([*made], "en", "fr")
    assert np.diff(offsets).tolist() == [2, 1, 1, 0, 0, 1]
    assert np.diff(word_offsets).tolist() == [2, 1, 2, 1, 2]


def test_a_translator_is_refused_where_nothing_is_translated(tmp_path, monkeypatch):
    (tmp_path / "s").write_text("a\n")
    (tmp_path / "t").write_text("b\n")
    reference = TranslatorReference(TranslatorConfig(backend="ctranslate2", model="m"), "d")
    monkeypatch.setattr(translator_reference, "find", lambda *_: reference)
    words = ["--source_input", str(tmp_path / "s"), "--target_input", str(tmp_path / "t")]
    words += ["--translator", "ctranslate2:m", "--output", str(tmp_path / "out")]
    with pytest.raises(ConfigError, match="give --method fragment as well"):
        augment.main("augment", words)
    assert not (tmp_path / "out").exists()
