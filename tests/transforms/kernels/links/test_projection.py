"""The kernel that places elements agrees with its plain twin."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pairweave.transforms.kernels.links import projection, projection_points, projection_spans
from pairweave.transforms.kernels.links.projection_choice import TOGETHER, choose_together
from pairweave.transforms.kernels.links.projection_evidence import (
    SPAN_EVIDENCE,
    find_places,
    look_around,
    same_run,
)
from pairweave.transforms.kernels.links.projection_points import POINT_EVIDENCE
from pairweave.transforms.projection import project
from pairweave.transforms.projection.characters import characters
from pairweave.transforms.projection.projection_weights import SPAN_NAMES, shipped_weights
from tests.oracles import slow_projection
from tests.oracles.slow_tags import below, draw

SETTINGS = st.tuples(st.booleans(), st.booleans(), st.booleans())

TEXTS = st.text(
    st.sampled_from('abcABC09 .,()"-…/\N{NO-BREAK SPACE}é漢Ａ를をน\u0940\u200c\u200f؟'), max_size=14
)


def cut(text, bounds):
    """Return tokens: what stands between white space, cut at the bounds too."""
    tokens, start = [], None
    for at in range(len(text) + 1):
        ends = at == len(text) or text[at].isspace()
        if start is not None and (ends or at in bounds):
            tokens.append((start, at))
            start = None
        if not ends and start is None:
            start = at
    return tokens


@st.composite
def cases(draw):
    source, target = draw(TEXTS), draw(TEXTS)
    start, end = sorted(draw(st.tuples(*[st.integers(0, len(source))] * 2)))
    more = draw(st.sets(st.integers(0, 14)))
    source_tokens, target_tokens = cut(source, {start, end, *more}), cut(target, more)
    links = {}
    if source_tokens and target_tokens:
        ends = [st.integers(0, len(side) - 1) for side in (source_tokens, target_tokens)]
        given_by = st.sampled_from((0, 60, 300, 500, 1_000))
        links = draw(st.dictionaries(st.tuples(*ends), st.tuples(given_by, given_by), max_size=12))
    return source, target, source_tokens, target_tokens, links, start, end


def arrays(source, target, source_tokens, target_tokens, links):
    pairs = np.array(list(links), np.int64).reshape(-1, 2)
    given_by = np.array(list(links.values()), np.int64).reshape(-1, 2)
    return (
        projection.TokenizedText(*project._bounds(source_tokens), project._points(source)),
        projection.TokenizedText(*project._bounds(target_tokens), project._points(target)),
        projection.LinkMasses(*(column.copy() for column in (*pairs.T, *given_by.T))),
        characters(),
    )


def found_by_kernel(case, weights, setting=(False, False, False)):
    *pair, start, end = case
    prepared = projection_spans.prepare(*arrays(*pair))
    opening, closing, scores = projection.find_candidates(prepared, start, end, setting, weights)
    offsets = prepared.places.offsets
    return list(
        zip(scores.tolist(), offsets[opening].tolist(), offsets[closing].tolist(), strict=True)
    )


def test_each_evidence_of_a_span_has_a_largest_value():
    assert len(projection_spans.MAX_EVIDENCE) == len(SPAN_EVIDENCE)


def named(weights):
    return (
        dict(zip(SPAN_NAMES, weights.spans.tolist(), strict=True)),
        dict(zip(POINT_EVIDENCE, weights.points.tolist(), strict=True)),
    )


@st.composite
def any_weights(draw):
    """Return the shipped weights, or any."""
    if draw(st.booleans()):
        return shipped_weights().arrays()
    sizes = len(SPAN_NAMES), len(POINT_EVIDENCE)
    seed = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    return projection.Weights(*(seed.integers(-300, 300, size) for size in sizes))


@st.composite
def translations(draw):
    """Return cases as texts have them: the target is the source, edited, and words are linked."""
    source = draw(
        st.lists(st.sampled_from(["a", "Bc", "d9", "É", ",", "."]), min_size=1, max_size=6)
    )
    order = draw(st.permutations(range(len(source))) | st.just(list(range(len(source)))))
    kept = [number for number in order if draw(st.integers(0, 5))]
    target, pairs = [], []
    for number in kept:
        if not draw(st.integers(0, 4)):
            target.append("neu")  # a word that nothing is linked to, or a rare word that claims all
            pairs.append((draw(st.integers(0, len(source) - 1)), len(target) - 1))
        pairs.append((number, len(target)))
        in_brackets = not draw(st.integers(0, 4))
        target.append(f"({source[number]})" if in_brackets else source[number])
    gap = draw(st.sampled_from([" ", "\N{NO-BREAK SPACE}"]))
    texts = gap.join(source), gap.join(target)
    tokens = [cut(text, ()) for text in texts]
    first = draw(st.integers(0, len(source) - 1))
    last = draw(st.integers(first, len(source) - 1) | st.just(first))
    given_by = st.sampled_from((0, 300, 900, 1_000))
    links = {pair: draw(st.tuples(given_by, given_by)) for pair in pairs if draw(st.integers(0, 5))}
    start, end = tokens[0][first][0], tokens[0][last][1]
    if not draw(st.integers(0, 3)):
        end = start
    return *texts, *tokens, links, start, end


def check_against_twin(case, weights, setting):
    *pair, start, end = case
    twin = slow_projection.Pair(*pair)
    slow = slow_projection.candidates(twin, start, end, setting, *named(weights))
    assert found_by_kernel(case, weights, setting) == slow[: projection.CANDIDATES]


@example(
    case=(
        *("a Bc", "a neu (Bc)", [(0, 1), (2, 4)], [(0, 1), (2, 5), (6, 10)]),
        *({(1, 1): (900, 900), (1, 2): (1_000, 1_000)}, 2, 4),
    ),
    weights=shipped_weights().arrays(),
    setting=(False, False, False),
)
@given(translations(), any_weights(), SETTINGS)
def test_in_translations_the_candidates_are_those_of_the_plain_twin(case, weights, setting):
    check_against_twin(case, weights, setting)


@example(
    case=("0000 000", "0000 0 0", [(0, 4), (5, 8)], [(0, 4), (5, 6), (7, 8)], {}, 4, 5),
    weights=projection.Weights(np.zeros(len(SPAN_NAMES), int), np.zeros(len(POINT_EVIDENCE), int)),
    setting=(False, False, False),
)
@given(cases(), any_weights(), SETTINGS)
def test_in_any_texts_the_candidates_are_those_of_the_plain_twin(case, weights, setting):
    check_against_twin(case, weights, setting)


MARKED_TEXTS = [
    ("l'eau «est» (a b), c...", "a 'water' (it's) (a, b)... d!"),
    ("詳細は設定を参照", "see は設定 をを参照 を のX"),
    ("x の 設定 で y", "の設定を x でZ は、"),
    ("Save Save it (Save)", "Das (Save) Save Save it"),
    ("aa a aa", "aaa aa aaaa a"),
    ("a ] b ) c (", "(( a ) ] b) c ["),
    ("3.5 x+y -- no.", "No -- 3,5: x + y. So?"),
    ("\N{LEFT DOUBLE QUOTATION MARK}a b\N{RIGHT DOUBLE QUOTATION MARK} - c", "'a' b \"c\" -- a b"),
    ("b c d e f g h i j k l m n", "b n m l k j i h g f e d c"),
    ("a  b . c", "A   b.  C  a"),
    ("는 파일을 열다", "open 는 파일을 열다 에서는요"),
    ("Ab, Cd: ef", "ef: AB cd Ab,"),
]


def some_weights(seed):
    """Return weights of any evidence, of which none is 0."""
    return projection.Weights(
        *(
            np.array([below(draw(seed, kind, name), 600) - 299 or 1 for name in range(size)])
            for kind, size in enumerate((len(SPAN_NAMES), len(POINT_EVIDENCE)))
        )
    )


@pytest.mark.parametrize(("source", "target"), MARKED_TEXTS)
def test_in_texts_with_marks_and_particles_the_candidates_are_those_of_the_plain_twin(
    source, target
):
    borders = {match.start() for match in re.finditer(r"\b", source)}  # beside marks, too
    tokens = [cut(source, borders), cut(target, ())]
    places = [(i, j) for i in range(len(tokens[0])) for j in range(len(tokens[1]))]
    links = {
        place: (below(draw(number, 1), 1_001), below(draw(number, 2), 1_001))
        for number, place in enumerate(places)
        if place[0] == place[1] or not below(draw(number), 5)
    }
    for first in range(len(tokens[0])):
        start = tokens[0][first][0]
        last = min(first + below(draw(first, 3), 3), len(tokens[0]) - 1)
        behind = tokens[0][last][1]
        bounds = [
            (start, start),
            (start, behind),
            (start - (source[start - 1 : start] == " "), behind),
        ]
        for seed, (start, end) in enumerate(bounds if len(tokens[0]) < 11 else bounds[:1], first):
            case = source, target, *tokens, links, start, end
            setting = bool(seed & 1), bool(seed & 2), bool(seed & 4)
            check_against_twin(case, some_weights(seed), setting)


@st.composite
def crowds(draw):
    """Return candidates of several elements, best first, and what each is to each other."""
    elements = draw(st.integers(1, 4))
    options = []
    for _ in range(elements):
        spans = draw(
            st.lists(
                st.tuples(st.integers(-50, 50), st.integers(0, 6), st.integers(0, 6)).map(
                    lambda one: (one[0] * TOGETHER // 20, min(one[1:]), max(one[1:]))
                ),
                min_size=1,
                max_size=4,
            )
        )
        options.append(sorted(spans, reverse=True))
    relations = [[0] * elements for _ in range(elements)]
    turned = {0: 0, 1: 2, 2: 1, 3: 3}
    for one in range(elements):
        for other in range(one):
            relations[one][other] = draw(st.integers(0, 3))
            relations[other][one] = turned[relations[one][other]]
    ends = st.tuples(st.integers(0, 3), st.integers(0, 3)).map(sorted)
    bounds = draw(st.lists(ends, min_size=elements, max_size=elements))
    return options, relations, bounds


@given(crowds())
def test_together_elements_get_the_largest_sum_that_nests_and_meets_as_in_the_source(crowd):
    options, relations, bounds = crowd
    most = max(map(len, options))
    table = np.zeros((3, len(options), most), np.int64)
    for element, spans in enumerate(options):
        table[:, element, : len(spans)] = np.array(spans).T
    scores, starts, ends = table
    counts = np.array([len(spans) for spans in options])
    chosen, whole = choose_together(
        starts, ends, scores, counts, np.array(relations, np.int8), np.array(bounds)
    )
    expected = slow_projection.most_together(options, relations, bounds, TOGETHER)
    assert whole == (expected is not None)
    if whole:
        choice = [spans[number] for spans, number in zip(options, chosen, strict=True)]
        options = [[one] for one in choice]
        assert slow_projection.most_together(options, relations, bounds, TOGETHER) == expected


def test_a_search_that_is_cut_short_still_nests_what_it_can():
    elements = 40
    starts = np.tile(np.arange(12), (elements, 1))
    relations = np.where(np.eye(elements, dtype=bool), 0, 3).astype(np.int8)
    scores = np.tile(np.arange(12)[::-1], (elements, 1))
    counts = np.full(elements, 12)
    bounds = np.stack([np.arange(elements), np.arange(elements) + 1], axis=1) * 2
    chosen, whole = choose_together(starts, starts + 1, scores, counts, relations, bounds)
    assert not whole
    assert set(chosen.tolist()) == set(range(12))


@given(
    links=st.dictionaries(
        st.tuples(st.integers(0, 2), st.integers(0, 3)),
        st.tuples(*[st.sampled_from((0, 300, 940, 1_000))] * 2),
        min_size=2,
    ),
    first=st.integers(0, 2),
    more=st.integers(1, 3),
)
def test_a_words_gain_is_that_of_the_plain_twin(links, first, more):
    pairs = np.array(list(links), np.int64)
    forward, reverse = np.array(list(links.values()), np.int64).T.copy()
    gains = projection.span_gains(
        first, first + more, 4, projection.LinkMasses(*pairs.T.copy(), forward, reverse)
    )
    assert gains.tolist() == slow_projection.span_gains(first, first + more, 4, links)


def test_a_span_takes_the_words_that_link_into_it_and_leaves_the_others():
    tokens = [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)]
    certain = (1_000, 1_000)
    turned = dict.fromkeys(enumerate((0, 3, 2, 1, 4)), certain)
    case = "a b c d e", "v w x y z", tokens, tokens, turned, 2, 5
    assert found_by_kernel(case, shipped_weights().arrays())[0][1:] == (4, 7)


def test_one_word_leaves_out_what_only_the_target_claims():
    tokens = [(0, 1), (2, 3), (4, 5)]
    links = {(1, 1): (1_000, 950), (1, 2): (940, 0)}
    case = "a b c", "x y z", tokens, tokens, links, 2, 3
    assert found_by_kernel(case, shipped_weights().arrays())[0][1:] == (2, 3)


@pytest.mark.parametrize(
    ("text", "at", "stray"),
    [
        ("자세한 내용은 를 봅니다", 8, True),
        ("에서는 봅니다", 0, True),
        ("자세한 내용은 를 봅니다", 9, False),  # behind it
        ("내용은 봅니다", 2, False),  # its noun is there
        ("내용 은행", 3, False),  # the beginning of a word
        ("내용 에서는요", 3, False),
        ("내용 이", 3, False),  # a word, too
        ("내용 ", 3, False),
    ],
)
def test_a_particle_is_stray_where_its_noun_is_missing(text, at, stray):
    points = project._points(text)
    assert projection_points.is_stray_particle(points, characters().shapes, at) is stray
    assert slow_projection.stray_particle(text, at) is stray


@settings(max_examples=200)
@given(st.text(st.sampled_from("ををははのい設x、 "), max_size=4))
def test_japanese_particles_are_stray_where_they_are_by_the_plain_twin(text):
    points, shapes = project._points(text), characters().shapes
    for at in range(len(text) + 1):
        stray = projection_points.is_stray_japanese(points, shapes, at)
        assert stray == slow_projection.stray_japanese(text, at)


def test_a_tag_without_words_goes_before_a_particle_without_its_noun():
    source, target = "See for more.", "자세한 내용은 를 봅니다."
    tokens = cut(source, {4}), cut(target, ())
    links = {(0, 3): (1_000, 1_000), (2, 0): (1_000, 1_000)}
    case = source, target, *tokens, links, 4, 4
    assert found_by_kernel(case, shipped_weights().arrays())[0][1:] == (8, 8)


def test_a_tag_between_two_spaces_stays_there_before_a_particle():
    source, target = "Click    to add.", "ボタン  をクリックする。"
    tokens = cut(source, {7}), cut(target, ())
    case = source, target, *tokens, {(0, 2): (1_000, 1_000)}, 7, 7
    assert found_by_kernel(case, shipped_weights().arrays())[0][1:] == (4, 4)


def test_places_are_the_edges_of_text_and_tokens():
    offsets, before = find_places(np.array([1, 3]), np.array([3, 4]), 5)
    assert list(zip(offsets.tolist(), before.tolist(), strict=True)) == [
        *((0, 0), (1, 0), (3, 1), (4, 2), (5, 2)),
    ]


def test_a_tag_has_as_many_spaces_on_both_sides_as_in_the_source():
    source, target = "One.   two", "Eins.   zwei"
    tokens = [(0, 3), (3, 4), (7, 10)], [(0, 4), (4, 5), (8, 12)]
    links = {(word, word): (1_000, 1_000) for word in range(3)}
    for spaces in range(4):
        case = source, target, *tokens, links, 4 + spaces, 10
        assert found_by_kernel(case, shipped_weights().arrays())[0][1:] == (5 + spaces, 12)
    for spaces in (1, 2):
        case = source, target, *tokens, links, 4 + spaces, 4 + spaces
        assert found_by_kernel(case, shipped_weights().arrays())[0][1:] == (5 + spaces, 5 + spaces)


@pytest.mark.parametrize(
    "mark", ["\u200e", "\u200f", "\u061c", "\u200d", "\u2060", "\ufe0f", "\u00ad"]
)
@pytest.mark.parametrize("text", ["a.", "a b", "a", "", " .", "a -b"])
def test_an_invisible_mark_is_no_neighbour(text, mark):
    shapes = characters().shapes
    places = np.arange(len(text) + 1)
    expected = look_around(project._points(text), shapes, places)
    marked = project._points("".join(f"{mark}{char}" for char in text) + mark)
    for beside in (0, 1):
        actual = look_around(marked, shapes, 2 * places + beside)
        assert actual.tolist() == expected.tolist()


@pytest.mark.parametrize("spaces", [0, 1, 2, 3])
def test_only_two_spaces_or_more_are_a_run(spaces):
    points, shapes = project._points(f"a{' ' * spaces}b"), characters().shapes
    left, right = look_around(points, shapes, np.arange(1, spaces + 2))
    for one in range(spaces + 1):
        for other in range(spaces + 1):
            same = same_run(tuple(left[one]), tuple(right[one]), left[other], right[other])
            assert same == (spaces > 1 and one == other)
            views = [
                [(None, None, None, view) for view in (at, spaces - at)] for at in (one, other)
            ]
            assert slow_projection.same_run(*views) is same


def test_in_a_long_run_of_spaces_there_are_eight_places_and_its_end():
    offsets, before = find_places(np.array([0, 21]), np.array([1, 22]), 22)
    assert list(zip(offsets.tolist(), before.tolist(), strict=True)) == [
        *((0, 0), *((at, 1) for at in range(1, 10)), (21, 1), (22, 2)),
    ]


def test_between_two_spaces_there_is_a_place():
    offsets, before = find_places(np.array([0, 3]), np.array([1, 4]), 4)
    assert list(zip(offsets.tolist(), before.tolist(), strict=True)) == [
        *((0, 0), (1, 1), (2, 1), (3, 1), (4, 2)),
    ]


@example(wanted="ab", before="ab", after="c", target="cabab")
@example(wanted="aa", before="aa", after="", target="aaaa")
@example(wanted="aaa", before="aaa", after="", target="baaaaaa")
@example(wanted="ab", before="", after="", target="abab")
@example(wanted="aa", before="", after="a", target="aa")
@example(wanted="aa", before="a", after="", target="aa")
@example(wanted="aa", before="aa", after="", target="aabaa")
@given(
    wanted=st.text("ab", max_size=2),
    before=st.text("abc", max_size=6),
    after=st.text("abc", max_size=6),
    target=st.text("abc", max_size=12),
)
def test_equal_strings_correspond_in_order_if_both_texts_have_them_equally_often(
    wanted, before, after, target
):
    source = before + wanted + after
    strings = [
        np.array([ord(char) for char in text], np.uint32) for text in (wanted, source, target)
    ]
    own, there = (slow_projection.occurrences(wanted, text) for text in (source, target))
    place = len(before)
    expected = -1
    if len(own) == len(there) and place in own:
        expected = there[own.index(place)]
    actual = projection_spans.find_counterpart(strings[0], strings[1], place, strings[2])
    assert actual == expected


@st.composite
def several_elements(draw):
    """Return a pair with the bounds of two or three elements, and what each is to each other."""
    *pair, _, _ = draw(translations())
    edges = sorted({at for token in pair[2] for at in token})
    bounds = [
        sorted(draw(st.tuples(st.sampled_from(edges), st.sampled_from(edges))))
        for _ in range(draw(st.integers(2, 3)))
    ]
    keyed = draw(st.lists(st.booleans(), min_size=len(bounds), max_size=len(bounds)))
    relations = np.zeros((len(bounds), len(bounds)), np.int8)
    for one, other in itertools.combinations(range(len(bounds)), 2):
        relations[one, other] = draw(st.integers(0, 3))
        relations[other, one] = (0, 2, 1, 3)[relations[one, other]]
    return pair, bounds, keyed, relations


def check_elements(pair, bounds, keyed, relations, weights):
    """Compare the places of several elements with the best ones of the plain twin."""
    starts, ends = np.array(bounds, np.int64).T.copy()
    elements = projection.Elements(starts, ends, np.array(keyed), relations)
    new_starts, new_ends, margins, whole = projection.place_elements(
        *arrays(*pair), elements, weights
    )
    twin = slow_projection.Pair(*pair)
    options, chosen = [], []
    for number, (start, end) in enumerate(bounds):
        others = {at for other, both in enumerate(bounds) if other != number for at in both}
        setting = start in others, end in others, keyed[number]
        ordered = slow_projection.candidates(twin, start, end, setting, *named(weights))
        scores = {(a, b): worth for worth, a, b in ordered[: projection.CANDIDATES]}
        place = int(new_starts[number]), int(new_ends[number])
        worth = scores[place]
        options.append([(score, *span) for span, score in scores.items()])
        chosen.append([(worth, *place)])
        rivals = [score for span, score in scores.items() if span != place]
        assert margins[number] == (worth - max(rivals) if rivals else projection.CERTAIN)
    best = slow_projection.most_together(options, relations, bounds, TOGETHER)
    assert whole == (best is not None)
    if whole:
        assert slow_projection.most_together(chosen, relations, bounds, TOGETHER) == best


@given(several_elements(), any_weights())
def test_several_elements_are_placed_as_by_the_plain_twin(case, weights):
    check_elements(*case, weights)


@pytest.mark.parametrize("seed", range(12))
def test_what_surrounds_an_element_and_its_key_are_those_of_the_plain_twin(seed):
    source, target = "a b  c d", "A  b c,  D e"
    tokens = [cut(text, ()) for text in (source, target)]
    links = {(number, number): (900, 800) for number in range(4)}
    edges = sorted({at for token in tokens[0] for at in token})
    bounds = [
        sorted(edges[below(draw(seed, number, side), len(edges))] for side in range(2))
        for number in range(3)
    ]
    bounds[1][seed % 2] = bounds[0][seed // 2 % 2]
    bounds[1].sort()
    keyed = [bool(below(draw(seed, 9, number), 2)) for number in range(3)]
    free = np.zeros((3, 3), np.int8)
    check_elements((source, target, *tokens, links), bounds, keyed, free, some_weights(seed))


def test_another_tag_at_either_end_of_an_element_is_part_of_its_setting():
    spans = list(itertools.combinations_with_replacement(range(3), 2))
    for bounds in itertools.product(spans, repeat=3):
        starts, ends = np.array(bounds).T.copy()
        keyed = starts == 0
        for number, (start, end) in enumerate(bounds):
            others = {at for other, both in enumerate(bounds) if other != number for at in both}
            setting = projection.setting_of(starts, ends, keyed, number)
            assert setting == (start in others, end in others, start == 0)


def weights_of(**points):
    """Return weights of which only some, of tags without words, are not 0."""
    return projection.Weights(
        np.zeros(len(SPAN_NAMES), np.int64),
        np.array([points.get(name, 0) for name in POINT_EVIDENCE]),
    )


@pytest.mark.parametrize("setting", itertools.product((False, True), repeat=3))
@pytest.mark.parametrize("points", [{}, {"gap": 1}, {"unkeyed_gap": -1}])
def test_without_words_ends_that_score_alike_are_those_of_the_plain_twin(points, setting):
    source, target = "a   b", "a b  c , d   e"
    tokens = cut(source, ()), cut(target, ())
    for start, end in itertools.combinations(range(1, 5), 2):
        check_against_twin((source, target, *tokens, {}, start, end), weights_of(**points), setting)


def test_an_element_without_words_whose_ends_would_be_exchanged_gets_one_place():
    source, target = "a  b", "a    bcde"
    tokens = cut(source, ()), cut(target, {6, 7, 8})
    case = source, target, *tokens, {}, 1, 3
    weights = weights_of(left_same_class=1)
    assert found_by_kernel(case, weights) == [(50, 9, 9)]
    check_against_twin(case, weights, (False, False, False))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ('"x" b', '"y" (x) b'),  # in brackets, but the element has quotation marks
        ("a\u00abb c'd", "a'b c\u00ab d"),  # within a word, only an apostrophe is a part of it
        ("a  b c", "b  a  c"),
        ("(a) b) c", "b) (a (c"),
        ("'a b' c", "'a' b 'c"),
        ("a-b - c", "a - b-c"),
        ("a b.. c", "((((((a ,,,,,,b ......c"),
    ],
)
def test_all_spans_of_a_short_text_have_the_candidates_of_the_plain_twin(source, target):
    tokens = cut(source, {match.start() for match in re.finditer(r"\b", source)}), cut(target, ())
    links = {(number, number): (700, 600) for number in range(min(map(len, tokens)))}
    edges = sorted({at for token in tokens[0] for at in token})
    for seed, (start, end) in enumerate(itertools.combinations(edges, 2)):
        setting = bool(seed & 1), bool(seed & 2), bool(seed & 4)
        check_against_twin(
            (source, target, *tokens, links, start, end), some_weights(seed), setting
        )


def test_of_spans_that_score_alike_the_first_ones_are_kept():
    source, target = "a b", "a b c d e f"
    case = source, target, cut(source, ()), cut(target, ()), {}, 0, 1
    spans = np.zeros(len(SPAN_NAMES), np.int64)
    spans[SPAN_NAMES.index("whole_everything")] = 1
    weights = projection.Weights(spans, weights_of().points)
    assert found_by_kernel(case, weights)[0] == (0, 0, 1)
    check_against_twin(case, weights, (False, False, False))


def test_a_late_span_is_found_by_its_equal_text_among_longer_ones():
    source, target = "abcdefghijk y", "x x x x x x x abcdefghijk"
    case = source, target, cut(source, ()), cut(target, ()), {}, 0, 11
    spans = np.zeros(len(SPAN_NAMES), np.int64)
    spans[[SPAN_NAMES.index(name) for name in ("tokens", "whole_equal_length")]] = 1
    weights = projection.Weights(spans, weights_of().points)
    assert found_by_kernel(case, weights)[0] == (110, 14, 25)
    check_against_twin(case, weights, (False, False, False))


@pytest.mark.parametrize("target", ["a設b", "設aの", "กab", "éЖ漢"])
def test_places_between_letters_of_any_scripts_score_as_by_the_plain_twin(target):
    source = "a b c"
    tokens = cut(source, ()), cut(target, range(len(target)))
    links = {
        (one, other): (below(draw(one, other), 1_001), below(draw(one, other, 1), 500))
        for one in range(3)
        for other in range(len(target))
    }
    for seed in range(6):
        start, end = ((0, 1), (0, 3), (2, 5))[seed % 3]
        case = source, target, *tokens, links, start, end
        check_against_twin(case, some_weights(seed), (False, False, False))
