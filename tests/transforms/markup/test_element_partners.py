"""Matching the elements of two texts, compared with a search of all of them for each."""

from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.markup import pair_markup, tag_table
from pairweave.transforms.markup.element_partners import EQUAL, find_partners
from pairweave.transforms.markup.markup import Form

forms = st.sampled_from([Form.PAIR, Form.OPEN])
identified = st.tuples(forms, st.sampled_from("gx"), st.sampled_from(["", "1", "2"]))
entries = st.builds(
    tag_table.Entry,
    forms,
    st.sampled_from(["g", "x", tag_table.LITERAL]),
    st.sampled_from("12"),
    st.none(),
)


def slow_partners(ours, theirs, rules):
    """Compare each of ours with all of theirs that are free."""
    partners, free = {}, dict(enumerate(theirs))
    for are_same in rules:
        for place, facts in enumerate(ours):
            if place in partners:
                continue
            partner = next((other for other, its in free.items() if are_same(facts, its)), None)
            if partner is not None:
                partners[place] = partner
                del free[partner]
    return partners


def are_equal(one, other):
    return one == other


def are_alike(one, other):
    return one[:2] == other[:2] and not (one[2] and other[2])


def have_the_same_name(one, other):
    return one.name != tag_table.LITERAL and (one.form, one.name) == (other.form, other.name)


@given(st.lists(identified, max_size=12), st.lists(identified, max_size=12))
def test_partners_by_identifier_or_without_one(ours, theirs):
    rules = pair_markup.PARTNER_RULES
    wanted = slow_partners(ours, theirs, [are_equal, are_alike])
    assert list(find_partners(ours, theirs, rules).items()) == list(wanted.items())


@given(st.lists(entries, max_size=12), st.lists(entries, max_size=12))
def test_partners_by_characters_or_name(ours, theirs):
    rules = tag_table.PARTNER_RULES
    wanted = slow_partners(ours, theirs, [are_equal, have_the_same_name])
    assert list(find_partners(ours, theirs, rules).items()) == list(wanted.items())


def test_an_element_takes_the_first_that_is_free():
    assert find_partners("aab", "baba", [EQUAL]) == {0: 1, 1: 3, 2: 0}
