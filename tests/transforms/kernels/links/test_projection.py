"""The kernel that places elements agrees with its plain twin."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from pairweave.transforms.kernels.links import projection
from pairweave.transforms.projection import project
from tests.oracles import slow_projection

TEXTS = st.text(st.sampled_from("abcABC09 .,(\N{NO-BREAK SPACE}é漢"), max_size=14)


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


def run(source, target, source_tokens, target_tokens, links, start, end):
    pairs = np.array(list(links), np.int64).reshape(-1, 2)
    given_by = np.array(list(links.values()), np.int64).reshape(-1, 2)
    starts, ends, *_ = projection.place_elements(
        projection.TokenizedText(*project._bounds(source_tokens), project._points(source)),
        projection.TokenizedText(*project._bounds(target_tokens), project._points(target)),
        projection.LinkMasses(*(column.copy() for column in (*pairs.T, *given_by.T))),
        project._shapes(),
        np.array([start], np.int64),
        np.array([end], np.int64),
    )
    return int(starts[0]), int(ends[0])


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
        target.append(source[number])
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


@given(translations())
def test_in_translations_elements_go_where_the_plain_twin_puts_them(case):
    assert run(*case) == slow_projection.place(*case)


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
    forward, reverse = np.array(list(links.values()), np.int64).T
    gains = projection.span_gains(
        first, first + more, 4, projection.LinkMasses(*pairs.T, forward, reverse)
    )
    assert gains.tolist() == slow_projection.span_gains(first, first + more, 4, links)


@given(
    links=st.dictionaries(
        st.tuples(st.integers(0, 30), st.integers(0, 3)),
        st.tuples(*[st.sampled_from((0, 300, 940, 1_000))] * 2),
        min_size=1,
    ),
    token=st.integers(0, 31),
    weights=st.sampled_from([(100, 25), (25, 100), (100, 100)]),
)
@example(links={(at, 0): (1_000, 0) for at in range(12)}, token=12, weights=(100, 100))
def test_a_place_gains_from_words_by_their_distance_as_the_plain_twin_says(links, token, weights):
    pairs = np.array(list(links), np.int64)
    forward, reverse = np.array(list(links.values()), np.int64).T
    gains = projection.point_gains(
        token, *weights, 4, projection.LinkMasses(*pairs.T, forward, reverse)
    )
    assert gains.tolist() == slow_projection.point_gains(token, *weights, 4, links)


@given(cases())
def test_elements_go_where_the_plain_twin_puts_them(case):
    assert run(*case) == slow_projection.place(*case)


def test_a_span_takes_the_words_that_link_into_it_and_leaves_the_others():
    tokens = [(0, 1), (2, 3), (4, 5)]
    certain = (1_000, 1_000)
    turned = {(0, 2): certain, (1, 0): certain, (2, 1): certain}
    assert run("a b c", "x y z", tokens, tokens, turned, 2, 5) == (0, 3)
    # One stranger costs less than a word left out; two strangers cost as much.
    assert run("a b c", "x y z", tokens, tokens, turned, 0, 3) == (0, 5)


def test_one_word_leaves_out_what_only_the_target_claims():
    tokens = [(0, 1), (2, 3), (4, 5)]
    links = {(1, 1): (1_000, 950), (1, 2): (940, 0)}
    assert run("a b c", "x y z", tokens, tokens, links, 2, 3) == (2, 3)


def test_places_are_the_edges_of_text_and_tokens():
    offsets, before = projection.find_places(np.array([1, 3]), np.array([3, 4]), 6)
    assert list(zip(offsets.tolist(), before.tolist(), strict=True)) == [
        *((0, 0), (1, 0), (3, 1), (4, 2), (6, 2)),
    ]
