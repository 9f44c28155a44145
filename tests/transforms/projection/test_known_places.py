"""Elements that both texts have are found, and weights are learnt as by the plain twin."""

import numpy as np
import pytest

from pairweave.transforms.kernels.links import projection_spans
from pairweave.transforms.links.soft_links import SoftLinks
from pairweave.transforms.markup.markup import XLIFF, XML, parse_markup
from pairweave.transforms.projection.known_places import (
    PASSES,
    KnownPlace,
    known_places,
    learn_weights,
    place_numbers,
)
from pairweave.transforms.projection.projection_weights import MOST
from tests.oracles import slow_projection, slow_projection_learning
from tests.oracles.slow_tags import below, draw


def words(text):
    """Return what stands between white space."""
    tokens, at = [], 0
    for word in text.split():
        at = text.index(word, at)
        tokens.append((at, at + len(word)))
        at += len(word)
    return tokens


def known(source, target, syntax=XML):
    marked = parse_markup(source, syntax), parse_markup(target, syntax)
    tokens = [words(one.text) for one in marked]
    links = SoftLinks.certain((number, number) for number in range(min(map(len, tokens))))
    return known_places(*marked, *tokens, links)


def test_elements_with_the_same_name_correspond_in_their_order():
    segment = known("<b>a</b> <b>c</b><x/> <i>d</i>", "<x/>A <b>B</b> C <b>D</b>")
    assert segment.elements == (
        KnownPlace((0, 1), (False, False, False), (2, 3)),
        KnownPlace((2, 3), (False, True, False), (6, 7)),
        KnownPlace((3, 3), (True, True, False), (0, 0)),
    )


def test_elements_correspond_by_key_and_have_it_in_their_setting():
    segment = known('<g id="1">a</g> <g id="2">b</g>', '<g id="2">B</g> <g id="1">A</g>', XLIFF)
    assert segment.elements == (
        KnownPlace((0, 1), (False, False, True), (2, 3)),
        KnownPlace((2, 3), (False, False, True), (0, 1)),
    )


def test_elements_of_other_forms_or_without_a_counterpart_are_left_out():
    assert known("<b>a</b> b <b/>", "A <b/> B").elements == (
        KnownPlace((4, 4), (False, False, False), (2, 2)),
    )
    assert known("<b>a</b> <b>b</b>", "A <b>B</b>").elements == (
        KnownPlace((0, 1), (False, False, False), (2, 3)),
    )
    assert known("<b>a</b>", "A").elements == ()


@pytest.mark.parametrize(
    ("gold", "numbers"),
    [((0, 2), (0, 1)), ((2, 4), (1, 3)), ((6, 6), (5, 5)), ((1, 2), None), ((0, 7), None)],
)
def test_a_tag_within_a_word_or_past_the_text_is_at_no_place(gold, numbers):
    pair = projection_spans.prepare(*known("<b>ab</b>", "AB  CD").sides)
    assert pair.places.offsets.tolist() == [0, 2, 3, 4, 6]
    numbers = numbers and tuple(min(number, 4) for number in numbers)
    assert place_numbers(pair, KnownPlace((0, 2), (False,) * 3, gold)) == numbers


def marked_pair(seed):
    """Return the tokens, tags and links of a source and a target, drawn from a few words."""
    letters = ["a", "Bc", "d.", "(e)", "f,", "9"]
    sides = []
    for side in range(2):
        size = 1 + below(draw(seed, side), 4)
        drawn = [letters[below(draw(seed, side, number, 1), 6)] for number in range(size)]
        text = "  ".join(drawn) if not below(draw(seed, side, 2), 4) else " ".join(drawn)
        spots = sorted({at for token in words(text) for at in token})
        tags = []
        for name in "pqr":
            first, last = sorted(
                spots[below(draw(seed, side, end, ord(name)), len(spots))] for end in range(2)
            )
            if below(draw(seed, ord(name)), 3) == 0:
                tags.append((first, f"<{name}/>"))
            else:
                tags += [(first, f"<{name}>"), (last, f"</{name}>")]
        if side and not below(draw(seed, 3), 6) and len(drawn[-1]) > 1:
            tags.append((len(text) - 1, "<s/>"))  # within a token: at no place
        elif not side:
            tags.append((spots[-1], "<s/>"))
        sides.append((text, sorted(tags, key=lambda tag: tag[0])))
    return sides


def with_tags(text, tags):
    parts, last = [], 0
    for at, raw in tags:
        parts += [text[last:at], raw]
        last = at
    return "".join((*parts, text[last:]))


def segments_of(seeds):
    """Return segments for `learn_weights` and for its twin."""
    segments, twins = [], []
    for seed in seeds:
        source, target = (parse_markup(with_tags(*side), XML) for side in marked_pair(seed))
        tokens = words(source.text), words(target.text)
        pairs = [
            (one, other)
            for one in range(len(tokens[0]))
            for other in range(len(tokens[1]))
            if one == other or not below(draw(seed, one, other), 3)
        ]
        shares = [
            np.array([below(draw(seed, *pair, side), 11) / 10 for pair in pairs])
            for side in range(2)
        ]
        columns = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
        segment = known_places(source, target, *tokens, SoftLinks(*columns, *shares))
        segments.append(segment)
        sides = [
            [(int(a), int(b)) for a, b in zip(side.starts, side.ends, strict=True)]
            for side in segment.sides[:2]
        ]
        masses = np.array(segment.sides[2]).T.tolist()
        links = {(one, other): (there, back) for one, other, there, back in masses}
        twin = slow_projection.Pair(source.text, target.text, *sides, links)
        twins.append((twin, [(one.bounds, one.setting, one.gold) for one in segment.elements]))
    return segments, twins


@pytest.mark.parametrize("seeds", [range(60), range(100, 111), range(2)])
def test_weights_and_the_confidence_of_margins_are_those_of_the_plain_twin(seeds):
    segments, twins = segments_of(seeds)
    told = []
    learnt = learn_weights(segments, told.append)
    *expected, passes = slow_projection_learning.learn_weights(twins, PASSES, MOST)
    assert [learnt.spans, learnt.points, learnt.margins, learnt.shares] == expected
    assert told == [
        f"pass {number} of {PASSES}: {wrong:,} of {every:,} elements elsewhere"
        for number, wrong, every in passes
    ]


def test_no_segments_give_weights_of_nothing():
    weights = learn_weights([])
    assert not any((*weights.spans, *weights.points, *weights.margins))
    assert weights.shares == (0,)
