"""The projection rules of Hanneman and Dinu (2020), one test per rule."""

from pairweave.transforms.links.soft_links import SoftLinks
from pairweave.transforms.markup.markup import XLIFF, parse_markup
from pairweave.transforms.projection.hanneman_dinu import place_closing, place_opening, place_pair
from pairweave.transforms.projection.project import project_tags

TARGET = [(0, 1), (2, 3), (4, 5), (6, 7)]


def projected(source, links, target="w x y z"):
    marked = parse_markup(source, XLIFF)
    sides = (
        [(at, at + 1) for at, char in enumerate(text) if char != " "]
        for text in (marked.text, target)
    )
    return str(project_tags(marked, target, *sides, SoftLinks.certain(links), "paper"))


def test_rule_1_a_pair_goes_round_all_that_its_tokens_are_linked_to():
    assert place_pair(range(2), [[1], [3, 1], [0]], TARGET) == (2, 7)
    assert projected('<g id="1">a b</g> c', [(0, 1), (1, 3), (2, 2)]) == 'w <g id="1">x y z</g>'


def test_rule_2_a_self_closing_tag_goes_before_the_first_token_of_the_next_one():
    assert place_opening(1, [[0], [3, 2]], TARGET) == 4
    assert projected('a<x id="1"/> b', [(0, 0), (1, 2), (1, 3)]) == 'w x <x id="1"/>y z'


def test_rule_3_tags_at_the_edges_go_to_the_edges():
    links = [(0, 3), (1, 0)]
    assert projected('<x id="1"/>a b<x id="2"/>', links) == '<x id="1"/>w x y z<x id="2"/>'
    assert projected('<g id="1"></g>a b<g id="2"></g>', links) == (
        '<g id="1"></g>w x y z<g id="2"></g>'
    )


def test_rule_4_a_token_without_links_leaves_it_to_the_next():
    assert projected('a <x id="1"/>b c', [(0, 0), (2, 2)]) == 'w x <x id="1"/>y z'
    assert projected('a <x id="1"/>b c', [(0, 0)]) == 'w x y z<x id="1"/>'


def test_rule_5_a_pair_without_tokens_or_links_goes_where_an_empty_tag_would():
    links = [(0, 0), (2, 2)]
    assert place_pair(range(1, 2), [[0], [], [2]], TARGET) is None
    assert projected('a <g id="1">b</g> c', links) == 'w x <g id="1"></g>y z'
    assert projected('a <g id="1"></g>b c', links) == 'w x <g id="1"></g>y z'


def test_rule_6_half_pairs_look_their_own_way():
    links = [(0, 0), (1, 2), (2, 3)]
    assert projected('a <g id="1">b c', links) == 'w x <g id="1">y z'
    assert projected("a b</g> c", links) == "w x y</g> z"
    assert place_closing(2, [[0], [], [3]], TARGET) == 1
    assert place_closing(1, [[], [], [3]], TARGET) == 0


def test_rule_7_each_pair_of_malformed_nesting_goes_by_its_own_tokens():
    links = [(0, 0), (1, 1), (2, 2)]
    assert projected('<bx id="1"/>a <g id="2">b<ex id="1"/> c</g>', links) == (
        '<bx id="1"/>w <g id="2">x<ex id="1"/> y</g> z'
    )


def test_probabilities_of_links_do_not_matter():
    links = SoftLinks.certain([(0, 1)])
    marked = parse_markup('<g id="1">a</g> b', XLIFF)
    weak = SoftLinks(links.source, links.target, links.forward * 0.1, links.reverse * 0)
    tokens = [(0, 1), (2, 3)]
    assert str(project_tags(marked, "x y", tokens, tokens, weak, "paper")) == 'x <g id="1">y</g>'
