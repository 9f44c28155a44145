import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from pairweave.transforms.kernels.links.links import WeightedLinks
from pairweave.transforms.kernels.masks import mask_borders, mask_draws, masks
from pairweave.transforms.kernels.text import spans
from tests.makers.read_only import read_only
from tests.oracles import slow_suggestions as slow

TAGS = [-2, -1, 1, 2]


@st.composite
def sides(draw, letters="abc", most=6):
    """Return tokens, where a mask may begin, and tags as (token, signed number)."""
    tokens = draw(st.lists(st.sampled_from(letters), min_size=1, max_size=most))
    free = draw(st.lists(st.booleans(), min_size=len(tokens) - 1, max_size=len(tokens) - 1))
    places = st.tuples(st.integers(0, len(tokens) - 1), st.sampled_from(TAGS))
    tags = sorted(draw(st.lists(places, max_size=draw(st.sampled_from([0, 0, 3])))))
    return tokens, [True, *free, True], slow.partners(tags)


@st.composite
def edited(draw):
    """Return pairs as translations and references are: one is the other, edited, and linked."""
    (source, free, tags), places = draw(sides("abcdef", 7)), []
    target = []
    for number, token in enumerate(source):
        edit = draw(st.sampled_from(["keep", "keep", "keep", "replace", "delete", "insert"]))
        if edit == "insert":
            target.append("x")
        if edit != "delete":
            places.append((number, len(target)))
            target.append("y" if edit == "replace" else token)
    target = target or ["x"]
    cuts = draw(st.lists(st.sampled_from([True, True, False]), min_size=len(target) - 1,
                         max_size=len(target) - 1))  # fmt: skip
    halves = st.tuples(st.integers(0, len(target) - 1), st.sampled_from([1, 2]))
    opened = draw(st.lists(halves, max_size=2, unique_by=lambda half: half[1]))
    ends = [(draw(st.integers(at, len(target) - 1)), -number) for at, number in opened]
    target_tags = slow.partners(sorted([*opened, *ends], key=lambda tag: (tag[0], -tag[1])))
    sure = st.sampled_from([0.25, 0.5, 1.0])
    links = [(i, j, draw(sure)) for i, j in places if draw(st.integers(0, 9))]
    return (source, free, tags), (target, [True, *cuts, True], target_tags), links


@st.composite
def pairs(draw):
    source, target = draw(sides()), draw(sides())
    places = st.tuples(st.integers(0, len(source[0]) - 1), st.integers(0, len(target[0]) - 1))
    links = sorted(draw(st.sets(places, max_size=7)))
    return source, target, [(i, j, draw(st.sampled_from([0.25, 0.5, 1.0]))) for i, j in links]


def offsets_of(lists):
    return np.cumsum([0, *map(len, lists)]).astype(np.int64)


def flat_side(found):
    tokens = [tokens for tokens, _, _ in found]
    text = "".join("".join(each) for each in tokens)
    places = np.arange(len(text), dtype=np.int64)
    tags = [tag for _, _, each in found for tag in each]
    cut_tokens = masks.CutTokens(
        np.frombuffer(text.encode(), np.uint8),
        offsets_of(tokens),
        places,
        places + 1,
        np.array([free for _, cuts, _ in found for free in cuts], np.bool_),
    )
    held_tags = masks.TokenTags(
        offsets_of([each for _, _, each in found]),
        np.array([token for token, _ in tags], np.int64),
        np.array([-1 if other is None else other for _, other in tags], np.int64),
    )
    return cut_tokens, held_tags


def find(found, most=100, share=1.0, deletions=1):
    links = [links for _, _, links in found]
    columns = [
        np.array([link[place] for each in links for link in each], kind)
        for place, kind in enumerate((np.int16, np.int16, np.float32))
    ]
    for column in columns:
        column.flags.writeable = False  # like Arrow's
    weighted = WeightedLinks(offsets_of(links), *columns)
    translation, tags = flat_side([source for source, _, _ in found])
    reference, target_tags = flat_side([target for _, target, _ in found])
    return masks.find_regions(
        weighted,
        translation,
        reference,
        tags,
        target_tags,
        most,
        share,
        deletions,
    )


LIMITS = {
    "most": st.sampled_from([2, 4, 100]),
    "share": st.sampled_from([0.3, 0.5, 1.0]),
    "deletions": st.booleans(),
}


@given(found=st.lists(edited(), min_size=1, max_size=3), **LIMITS)
def test_regions_of_edited_texts_are_those_of_the_slow_twin(found, most, share, deletions):
    compare_regions(found, most, share, deletions=deletions)


@given(found=st.lists(pairs(), min_size=1, max_size=3), **LIMITS)
def test_regions_are_those_of_the_slow_twin(found, most, share, deletions):
    compare_regions(found, most, share, deletions=deletions)


def compare_regions(found, most, share, *, deletions):
    pair, regions, confidence, parted, verdict, placeholders = find(
        found, most, share, int(deletions)
    )
    made = [
        (number, tuple(region), sure, bad)
        for number, region, sure, bad in zip(
            pair.tolist(), regions.T.tolist(), confidence.tolist(), parted.tolist(), strict=True
        )
    ]
    expected = []
    for number, (source, target, links) in enumerate(found):
        said = slow.judge(
            source[0], target[0], links, source[1], target[1], most, share, deletions=deletions
        )
        assert (verdict[number], placeholders[number]) == said
        if said[0] == masks.JUDGED_GOOD:
            expected += [
                (number, *rest)
                for rest in slow.regions_of(
                    source[0],
                    target[0],
                    links,
                    source[1],
                    target[1],
                    source[2],
                    target[2],
                    deletions=deletions,
                )
            ]
    assert made == expected


def plain(source, target, links):
    return (
        (list(source), [True] * (len(source) + 1), []),
        (list(target), [True] * (len(target) + 1), []),
        [(i, j, 1.0) for i, j in links],
    )


@pytest.mark.parametrize(
    ("source", "target", "links", "regions", "placeholders"),
    [
        ("abc", "abc", [(0, 0), (1, 1), (2, 2)], [], 0),
        ("axc", "abc", [(0, 0), (1, 1), (2, 2)], [(1, 2, 1, 2)], 1),
        ("ac", "abc", [(0, 0), (1, 2)], [(1, 1, 1, 2)], 1),
        ("bc", "abc", [(0, 1), (1, 2)], [(0, 0, 0, 1)], 1),
        ("ab", "abc", [(0, 0), (1, 1)], [(2, 2, 2, 3)], 1),
        ("abc", "ac", [(0, 0), (2, 1)], [(1, 2, 1, 1)], 1),
        ("axyd", "abcd", [(0, 0), (1, 1), (2, 2), (3, 3)], [(1, 3, 1, 3)], 2),
        ("axd", "abcd", [(0, 0), (1, 1), (2, 3)], [(1, 2, 1, 3)], 2),
        ("axbyc", "aubvc", [(i, i) for i in range(5)], [(1, 2, 1, 2), (3, 4, 3, 4)], 2),
        ("acb", "abc", [(0, 0), (1, 2), (2, 1)], [(1, 3, 1, 3)], 2),
        ("axc", "abbc", [(0, 0), (1, 1), (1, 2), (2, 3)], [(1, 2, 1, 3)], 1),
        ("axyc", "abc", [(0, 0), (1, 1), (2, 1), (3, 2)], [(1, 3, 1, 2)], 2),
        ("ab", "ab", [], [(0, 2, 0, 2)], 3),
    ],
    ids=[
        "keep",
        "replacement",
        "insertion",
        "insertion before the first link",
        "insertion behind the last link",
        "deletion",
        "adjacent replacements are joined",
        "a replacement and the insertion beside it are joined",
        "what a kept token parts stays apart",
        "crossing links make one unit",
        "one to many",
        "many to one",
        "nothing linked",
    ],
)
def test_each_rule_of_the_alignment(source, target, links, regions, placeholders):
    _, actual, *_, counted = find([plain(source, target, links)])
    assert [tuple(region) for region in actual.T.tolist()] == regions
    assert counted.tolist() == [placeholders]


TAGGED = slow.partners([(1, 1), (3, -1)])


@pytest.mark.parametrize(("source_tags", "target_tags"), [(TAGGED, []), ([], TAGGED)])
def test_a_mask_grows_over_kept_words_to_hold_both_halves_of_a_tag(source_tags, target_tags):
    everywhere = [True] * 6
    sides = (list("axcde"), everywhere, source_tags), (list("abcde"), everywhere, target_tags)
    actual = find([(*sides, [(i, i, 1.0) for i in range(5)])])
    assert actual[1].T.tolist() == [[1, 4, 1, 4]]
    assert actual[3].tolist() == [False]


def test_deletions_are_left_where_they_are_not_wanted():
    alone = plain("abc", "ac", [(0, 0), (2, 1)])
    beside = plain("abxc", "ayc", [(0, 0), (2, 1), (3, 2)])
    assert find([alone], deletions=0)[4].tolist() == [masks.JUDGED_SAME]
    assert find([beside], deletions=0)[1].T.tolist() == [[1, 3, 1, 2]]


@pytest.mark.parametrize(
    ("most", "share", "verdict"),
    [
        (2, 1.0, masks.JUDGED_GOOD),
        (1, 1.0, masks.JUDGED_BAD),
        (9, 0.5, masks.JUDGED_GOOD),
        (9, 0.49, masks.JUDGED_BAD),
    ],
)
def test_quality_is_judged_by_count_and_by_share(most, share, verdict):
    pair = plain("axby", "aubv", [(i, i) for i in range(4)])
    assert find([pair], most, share)[4].tolist() == [verdict]


@st.composite
def spaced(draw, letters="xyz"):
    """Return a text of one-letter tokens with or without blanks, and its tokens."""
    tokens = draw(st.lists(st.sampled_from(letters), min_size=1, max_size=5))
    gaps = draw(st.lists(st.sampled_from(["", " ", "\u3000 "]), min_size=6, max_size=6))
    text, starts = gaps[5][:1], []
    for token, gap in zip(tokens, gaps, strict=False):
        starts.append(len(text))
        text += token + gap
    return text, np.array(starts, np.int32)


@st.composite
def bordered(draw):
    """Return two spaced texts and a region with a kept neighbour on both sides or on neither."""
    (text, starts), (other, other_starts) = draw(spaced()), draw(spaced("abc"))
    has_left = draw(st.booleans()) and len(starts) > 1 and len(other_starts) > 1
    has_right = draw(st.booleans()) and len(starts) > 1 and len(other_starts) > 1
    region = []
    for size in (len(starts), len(other_starts)):
        low = draw(st.integers(1, size - has_right)) if has_left else 0
        high = draw(st.integers(low, size - 1)) if has_right else size
        region += [low, high]
    assume(region[0] < region[1] or region[2] < region[3])
    return (text, starts), (other, other_starts), region


def borders_of(region, starts, other_starts):
    """Return the borders and the operation of a region of one-letter tokens."""
    return mask_borders.find_borders(
        np.zeros(1, np.int64),
        np.array(region, np.int64).reshape(4, 1),
        *(
            column
            for places in (starts, other_starts)
            for column in (
                np.array([0, len(places)]),
                read_only(places, np.int32),
                read_only(np.add(places, 1), np.int32),
            )
        ),
    )


@given(case=bordered())
def test_a_filled_mask_reads_as_the_reference_does_between_its_neighbours(case):
    (text, starts), (other, other_starts), (low, high, target_low, target_high) = case
    region = low, high, target_low, target_high
    actual, operation = borders_of(region, starts, other_starts)
    start, end, target_start, target_end = actual[:, 0].tolist()
    assert 0 <= start <= end <= len(text)
    assert 0 <= target_start <= target_end <= len(other)
    # The mask covers the region's tokens and no other; so does the suggestion.
    assert [t for t in range(len(starts)) if start <= starts[t] < end] == list(range(low, high))
    covered = [t for t in range(len(other_starts)) if target_start <= other_starts[t] < target_end]
    assert covered == list(range(target_low, target_high))
    filled = text[:start] + other[target_start:target_end] + text[end:]
    # Between the neighbours there are the reference's tokens, and blanks where it has blanks.
    left = 0 if low == 0 or target_low == 0 else starts[low - 1]
    right = len(text)
    if high < len(starts) and target_high < len(other_starts):
        right = starts[high] + 1
    shown = filled[left : len(filled) - (len(text) - right)]
    other_left = 0 if low == 0 or target_low == 0 else other_starts[target_low - 1]
    other_right = len(other)
    if high < len(starts) and target_high < len(other_starts):
        other_right = other_starts[target_high] + 1
    wanted = other[other_left:other_right]
    if left or right < len(text):
        shape = "".join("_" if c in " \u3000" else "a" for c in shown.strip())
        assert squeezed(shape) == squeezed(
            "".join("_" if c in " \u3000" else "a" for c in wanted.strip())
        )
    names = {0: start < end and target_start < target_end, 1: start == end, 2: True}
    assert names[operation[0]]
    assert (operation[0] == mask_borders.DELETE) == (target_start == target_end)
    assert (operation[0] == mask_borders.INSERT) == (start == end and target_start < target_end)


def borders_by_twin(starts, other_starts, region):
    """Return the borders of a region of one-letter tokens, as `find_borders` describes them."""
    low, high, target_low, target_high = region
    (left, start, end, right), (other_left, begin, stop, other_right) = (
        (
            tokens[first - 1] + 1 if first else None,
            tokens[first] if first < behind else None,
            tokens[behind - 1] + 1 if first < behind else None,
            tokens[behind] if behind < len(tokens) else None,
        )
        for tokens, first, behind in (
            (starts.tolist(), low, high),
            (other_starts.tolist(), target_low, target_high),
        )
    )
    if left is None or other_left is None:
        left = other_left = None
    if right is None or other_right is None:
        right = other_right = None
    if start is not None and begin is not None:
        if left is not None and (left < start) != (other_left < begin):
            start, begin = left, other_left
        if right is not None and (end < right) != (stop < other_right):
            end, stop = right, other_right
        return [start, end, begin, stop]
    if start is not None:
        one = borders_by_twin(other_starts, starts, [target_low, target_high, low, high])
        return [*one[2:], *one[:2]]
    if left is None:
        place = 0 if right is None else right
        return [place, place, begin, stop if right is None else other_right]
    if right is None or (left < right) == (stop < other_right):
        return [left, left, other_left, stop]
    if (left < right) == (other_left < begin):
        return [right, right, begin, other_right]
    return [left, right, other_left, other_right]


@example(
    case=(("ab", np.array([0, 1], np.int32)), ("a b", np.array([0, 2], np.int32)), [0, 1, 0, 1])
)
@example(case=(("ab", np.array([0, 1])), ("a x b", np.array([0, 2, 4])), [1, 1, 1, 2]))
@example(case=(("a b", np.array([0, 2])), ("axb", np.array([0, 1, 2])), [1, 1, 1, 2]))
@settings(max_examples=300)
@given(case=bordered())
def test_the_borders_of_a_mask_are_those_of_the_slow_twin(case):
    (_, starts), (_, other_starts), region = case
    actual, _ = borders_of(region, starts, other_starts)
    assert actual[:, 0].tolist() == borders_by_twin(starts, other_starts, region)


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9) | st.just(None)), max_size=6),
    st.integers(0, 9),
    st.integers(1, 10),
    st.integers(0, 2),
)
def test_a_range_is_extended_to_whole_tags_as_by_the_slow_twin(tags, start, end, before):
    assume(start < end)
    halves = []
    for token, other in tags:
        halves += [(token, other)] if other is None else [(token, other), (other, token)]
    padding = [(start, 9)] * before  # tags of other texts
    columns = np.array(
        [(a, -1 if b is None else b) for a, b in (*padding, *halves, *padding)], np.int64
    ).reshape(-1, 2)
    actual = masks.close_tags(
        columns[:, 0].copy(), columns[:, 1].copy(), before, before + len(halves), start, end
    )
    expected = slow.closed(halves, start, end)
    assert actual[1] == masks.BROKEN if expected is None else actual == expected


def test_a_mask_at_the_edge_of_a_text_leaves_the_white_space_outside_it():
    actual, operations = borders_of([0, 1, 0, 1], [1], [0])  # of " x " and "y"
    assert actual[:, 0].tolist() == [1, 2, 0, 1]
    assert operations.tolist() == [mask_borders.REPLACE]


def squeezed(shape):
    while "__" in shape:
        shape = shape.replace("__", "_")
    return shape


CONFIGS = st.fixed_dictionaries(
    {
        "start_probability": st.sampled_from([0.15, 0.6, 1.0]),
        "lengths": st.sampled_from([[1.0, 2.0, 3.0], [0.0, 1.0], [1.0, 1.5, 1.75, 1.875]]),
        "positions": st.sampled_from([[], list(range(1, 21)), [0.0] * 19 + [4.0]]),
        "numbers": st.sampled_from([[1.0], [1.0, 2.0, 5.0]]),
        "variants": st.integers(1, 3),
        "max_share": st.sampled_from([0.3, 0.5, 1.0]),
    }
)


@given(
    found=st.lists(sides(most=9), min_size=1, max_size=3),
    keys=st.lists(st.integers(0, 2**64 - 1), min_size=3, max_size=3),
    seed=st.integers(0, 2**63 - 1),
    config=CONFIGS,
)
def test_drawn_masks_are_those_of_the_slow_twin(found, keys, seed, config):
    require_draws_of_twin(found, keys, seed, config)


@pytest.mark.parametrize("positions", [[], list(range(1, 21))])
def test_draws_that_become_the_same_mask_are_those_of_the_slow_twin(positions):
    """Few borders are free, so that several draws are extended to one mask, or to half a tag."""
    free = [True, False, False, True, False, True, True, False, False, True]
    side = list("abcdefghi"), free, slow.partners([(7, 1)])
    config = {
        "start_probability": 1.0,
        "lengths": [1.0, 2.0, 3.0],
        "positions": positions,
        "numbers": [0.0, 0.0, 0.0, 1.0],
        "variants": 4,
        "max_share": 0.5,
    }
    require_draws_of_twin([side] * 60, range(60), 1, config)


def test_the_longest_mask_is_the_share_of_the_tokens_as_it_is_written():
    side = ["a"] * 100, [True] * 101, []
    config = {
        "start_probability": 1.0,
        "lengths": [0.0] * 28 + [1.0],
        "positions": [],
        "numbers": [],
        "variants": 1,
        "max_share": 0.29,  # of 100 in binary: a little less than 29
    }
    assert require_draws_of_twin([side] * 3, range(3), 1, config)


def require_draws_of_twin(found, keys, seed, config):
    """Check the masks of texts against the slow twin's, and return them."""
    if not config["positions"]:
        config = {**config, "numbers": []}
    pair, variant, first, last = mask_draws.draw_masks(
        np.uint64(seed),
        np.array(keys[: len(found)], np.uint64),
        np.ones(len(found), np.bool_),
        *flat_side(found),
        mask_draws.Distributions(
            config["start_probability"],
            *(np.array(config[name], np.float64) for name in ("lengths", "positions", "numbers")),
            config["variants"],
        ),
        config["max_share"],
    )
    made = [
        (p, v, None if b == masks.BROKEN else (a, b))
        for p, v, a, b in zip(
            pair.tolist(), variant.tolist(), first.tolist(), last.tolist(), strict=True
        )
    ]
    expected = [
        (number, *mask)
        for number, (_, free, closing) in enumerate(found)
        for mask in slow.drawn(seed, keys[number], free, closing, config)
    ]
    assert made == expected
    return made


@given(
    texts=st.lists(st.text(alphabet="aé漢𝄞 ", max_size=8), min_size=1, max_size=4),
    data=st.data(),
)
def test_masks_and_slices_are_cut_at_code_points(texts, data):
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=5))
    starts = [data.draw(st.integers(0, len(texts[row]))) for row in rows]
    ends = [data.draw(st.integers(s, len(texts[row]))) for s, row in zip(starts, rows, strict=True)]
    encoded = [text.encode() for text in texts]
    arguments = (
        np.frombuffer(b"".join(encoded), np.uint8),
        offsets_of(encoded),
        np.array(rows, np.int64),
        np.array(starts, np.int64),
        np.array(ends, np.int64),
    )
    masked, masked_offsets = spans.splice(*arguments, np.frombuffer(b"<M>", np.uint8))
    cut, cut_offsets = spans.slices(*arguments)
    for row, text in enumerate(rows):
        start, end = starts[row], ends[row]
        actual = masked[masked_offsets[row] : masked_offsets[row + 1]].tobytes().decode()
        assert actual == texts[text][:start] + "<M>" + texts[text][end:]
        actual = cut[cut_offsets[row] : cut_offsets[row + 1]].tobytes().decode()
        assert actual == texts[text][start:end]
