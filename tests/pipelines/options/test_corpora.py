"""What a corpus of a list takes from the options around the list, and what files imply."""

import pytest

from pairweave.pipelines.options.corpora import corpora_of
from pairweave.pipelines.options.job_options import AugmentOptions


def corpora(**given):
    return corpora_of(AugmentOptions(output="out", **given))


def test_a_corpus_s_own_options_beat_those_around_the_list():
    own = {"input": ("a.tsv",), "source_lang": "fr", "inline_tags": "strip"}
    own |= {"corpus": "own", "html_entities": "decode"}
    other = {"input": ("b.tsv",), "corpus": "other"}
    around = {"source_lang": "en", "target_lang": "de", "inline_tags": "reject"}
    one, two = corpora(corpora=[own, other], **around)
    assert (one.source_lang, one.target_lang, one.inline_tags) == ("fr", "de", "strip")
    assert one.html_entities == "decode"
    assert (two.source_lang, two.target_lang, two.inline_tags) == ("en", "de", "reject")
    assert two.html_entities != "decode"


@pytest.mark.parametrize(
    ("files", "language"),
    [
        (("a.po",), None),  # the format says English
        (("a.po", "b.po.gz"), None),
        (("a.po", "b.tsv"), "und"),
        (("a.tsv", "b.po"), "und"),
        (("a.tsv",), "und"),
    ],
)
def test_english_is_implied_only_if_every_file_is_po(files, language):
    (corpus,) = corpora(input=files)
    assert corpus.source_lang == language


def test_a_given_language_beats_the_implied_one():
    (corpus,) = corpora(input=("a.po",), source_lang="fr")
    assert corpus.source_lang == "fr"
