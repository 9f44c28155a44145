"""The files that GIZA++ reads."""

from pairweave.models.external.external_corpus import numbered, sentences_text, vocabulary_text


def test_words_are_numbered_from_2_by_first_appearance():
    assert numbered(["a b a", "c a"]) == [[2, 3, 2], [4, 2]]


def test_a_vocabulary_counts_each_word():
    assert vocabulary_text([[2, 3, 2], [4, 2]]) == "2 w2 3\n3 w3 1\n4 w4 1\n"


def test_a_pair_of_sentences_is_three_lines():
    assert sentences_text([[2, 3], [4]], [[5], [6, 7]]) == "1\n2 3\n5\n1\n4\n6 7\n"
