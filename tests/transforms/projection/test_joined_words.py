"""Words of a translation that no tag may split, whatever the tokens of the links are."""

import numpy as np
import pytest

from pairweave.transforms.links.soft_links import SoftLinks
from pairweave.transforms.markup.markup import parse_markup
from pairweave.transforms.projection.joined_words import join_words, splits_word
from pairweave.transforms.projection.project import lay_out, project_tags


def test_a_word_has_the_links_of_its_characters_and_no_tag_inside():
    source = parse_markup("Open the <b>app</b>")
    cut, tokens = [(0, 4), (5, 8), (9, 12)], [(0, 1), (1, 2), (2, 3), (3, 4), (4, 6)]
    links = SoftLinks.certain([(0, 4), (2, 0)])  # the app is linked to its first character alone
    assert str(project_tags(source, "アプリを開く", cut, tokens, links)) == "<b>ア</b>プリを開く"
    words, joined = join_words(tokens, links, [(0, 3)])
    assert words == [(0, 3), (3, 4), (4, 6)]
    assert list(zip(joined.source.tolist(), joined.target.tolist(), strict=True)) == [
        (0, 2),
        (2, 0),
    ]
    _, _, masses, _ = lay_out(source, "アプリを開く", cut, words, joined)
    # The kernels are compiled for this layout alone.
    assert all(column.flags.c_contiguous for column in masses)
    made = project_tags(source, "アプリを開く", cut, words, joined)
    assert str(made) == "<b>アプリ</b>を開く"


def test_links_of_joined_tokens_have_the_greatest_probabilities():
    ends, forward, reverse = [(0, 0), (0, 1), (1, 2)], [0.2, 0.5, 0.1], [0.4, 0.1, 0.3]
    certain = SoftLinks.certain(ends)
    links = SoftLinks(certain.source, certain.target, np.array(forward), np.array(reverse))
    _, joined = join_words([(0, 1), (1, 2), (2, 3)], links, [(0, 2)])
    assert (joined.forward.tolist(), joined.reverse.tolist()) == ([0.5, 0.1], [0.4, 0.3])


def test_tokens_without_words_are_the_same_objects():
    tokens, links = [(0, 1), (1, 2)], SoftLinks.certain([(0, 0)])
    assert join_words(tokens, links, []) == (tokens, links)


@pytest.mark.parametrize(
    ("text", "splits"), [("<x/>ab cd<x/>", False), ("ab<x/> cd", False), ("a<x/>b cd", True)]
)
def test_a_tag_inside_a_word_of_the_source_splits_it(text, splits):
    assert splits_word(parse_markup(text), [(0, 2), (3, 5)]) == splits
