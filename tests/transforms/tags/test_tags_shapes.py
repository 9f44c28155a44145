import itertools
import math
import re
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.export.unshifted_rows import unshifted
from pairweave.transforms.symbols.whitespace import shift_whitespace
from pairweave.transforms.tags.tag_config import TagConfig
from pairweave.transforms.tags.tag_counts import count_tags
from pairweave.transforms.tags.tag_measures import FEATURES
from pairweave.transforms.tags.tag_profile import TagProfile
from pairweave.transforms.tags.tags import inject_tags, symbols
from tests.check_tagged import Reading, parse_forms
from tests.makers.tag_reading import strip_tags
from tests.oracles import slow_tag_shapes, slow_tags
from tests.transforms.tags.test_tags import (
    INFINITE,
    PHRASE_FIELDS,
    crowded_pairs,
    fewest_words,
    linked_pairs,
    some_pairs,
    table_of,
)

share = st.sampled_from([0.0, 0.3, 1.0])
CLASSES = [f"{feature} {name}" for feature, names in FEATURES.items() for name in names]


@st.composite
def profiles(draw):
    """Draw a profile: any counts, but at least one tag."""
    names = draw(st.sets(st.sampled_from([*CLASSES, "nested yes", "nested no"]), max_size=20))
    names |= {draw(st.sampled_from([f"tags {n}" for n in range(1, 10)]))}
    names |= {draw(st.sampled_from([f"form {name}" for name in FEATURES["form"]]))}
    counts = tuple((name, draw(st.integers(1, 50))) for name in sorted(names))
    return TagProfile(counts, (draw(st.integers(0, 4)), 4))


@st.composite
def configs(draw):
    """Draw a configuration with forms, parts, weights or a profile."""
    shapes = {"profile": draw(profiles())}
    if draw(st.booleans()):
        names = ("self_closing_share", "damage_share", "empty_share", "split_share")
        shapes = {name: draw(share) for name in names}
    return TagConfig(
        max_tags=draw(st.integers(1, 9)),
        tag_share=draw(st.sampled_from([0.3, 0.9, 1.0])),
        nesting=draw(st.sampled_from(["proper", "free"])),
        mix=draw(st.sampled_from([1.0, 3.0, INFINITE])),
        variants=draw(st.integers(1, 3)),
        punctuation_tags=draw(st.booleans()),
        tag_numbers=draw(st.sampled_from(["in_order", "shuffled"])),
        phrase_pairs=draw(st.sampled_from(["sound", "all"])),
        seed=draw(st.integers(0, 2**63 - 1)),
        draw=draw(st.sampled_from(["uniform", "confident"]))
        if "profile" not in shapes
        else "uniform",
        **shapes,
    )


def scored(table, data):
    """Return the table with other scores."""
    phrases = table["phrases"].to_pylist()
    score = st.sampled_from([0.0, 0.25, 0.5, 0.96875, 1.0])
    changed = [[{**phrase, "score": data.draw(score)} for phrase in row] for row in phrases]
    column = pa.array(changed, schemas.PHRASE_LIST)
    return table.set_column(table.num_columns - 1, schemas.PHRASES.field("phrases"), column)


@given(st.one_of(linked_pairs(), crowded_pairs()), configs(), st.data())
def test_shaped_injection_equals_its_slow_twin(table, config, data):
    table = scored(table, data) if config.draw == "confident" else table
    rows, without = inject_tags(table, config)
    rows.validate(full=True)
    assert rows.schema.equals(schemas.TAGGED)
    expected = [
        slow_tag_shapes.rows_of(pair, config, fewest_words(pair)) for pair in table.to_pylist()
    ]
    assert rows.to_pylist() == [row for actual in expected for row in actual]
    assert without.tolist() == [not actual for actual in expected]


def test_any_tag_of_a_row_may_be_split_as_its_slow_twin_splits_it():
    table = some_pairs(12, words=8)
    config = TagConfig(mix=INFINITE, split_share=0.3, variants=2)
    rows = inject_tags(table, config)[0].to_pylist()
    expected = [
        row
        for pair in table.to_pylist()
        for row in slow_tag_shapes.rows_of(pair, config, fewest_words(pair))
    ]
    assert rows == expected
    numbers = [Counter(tag["index"] for tag in row["tags"]) for row in rows]
    places = {list(actual).index(n) for actual in numbers for n in actual if actual[n] == 2}
    assert {0, 1} <= places


def require_rows_of_twin(table, config):
    """Check the rows of a table against the slow twin's, and return the numbers of their tags."""
    rows = inject_tags(table, config)[0].to_pylist()
    expected = [
        row
        for pair in table.to_pylist()
        for row in slow_tag_shapes.rows_of(pair, config, fewest_words(pair))
    ]
    assert rows == expected
    return Counter(len({tag["index"] for tag in row["tags"]}) for row in rows)


def some_scored_pairs(count, words):
    """Return pairs of which some words have no links, with scores from 0 to 1."""
    sides = [
        tuple(" ".join(f"{side}{n}x{i}" for i in range(words)) for side in "vw")
        for n in range(count)
    ]
    links = [[(i, i ^ (n % 2)) for i in range(words) if (i + n) % 5] for n in range(count)]
    table = table_of(sides, links, unaligned="allow")
    phrases = [
        [{**phrase, "score": (0.0, 0.25, 1.0)[place % 3]} for place, phrase in enumerate(row)]
        for row in table["phrases"].to_pylist()
    ]
    column = pa.array(phrases, schemas.PHRASE_LIST)
    return table.set_column(table.num_columns - 1, schemas.PHRASES.field("phrases"), column)


@pytest.mark.parametrize("nesting", ["proper", "free"])
@pytest.mark.parametrize("phrase_pairs", ["sound", "all"])
def test_several_tags_by_a_profile_are_those_of_the_slow_twin(nesting, phrase_pairs):
    counts = {name: 1 + place % 7 for place, name in enumerate(CLASSES)}
    counts |= {"tags 1": 1, "tags 3": 4, "tags 6": 9, "nested yes": 1, "nested no": 1}
    config = TagConfig(
        mix=INFINITE,
        variants=3,
        tag_share=0.6,
        nesting=nesting,
        phrase_pairs=phrase_pairs,
        profile=TagProfile(tuple(sorted(counts.items())), (1, 4)),
    )
    tags = require_rows_of_twin(some_scored_pairs(6, words=10), config)
    assert tags[1]
    assert tags[3] + tags[4] + tags[5] > 5


@pytest.mark.parametrize("nesting", ["proper", "free"])
@pytest.mark.parametrize("options", [{"draw": "confident"}, {"phrase_pairs": "sound"}, {}])
def test_several_weighted_tags_are_those_of_the_slow_twin(nesting, options):
    options = {"phrase_pairs": "all", **options}
    config = TagConfig(mix=INFINITE, variants=2, tag_share=1.0, nesting=nesting, **options)
    tags = require_rows_of_twin(some_scored_pairs(8, words=8), config)
    assert tags[1] + tags[2] > 1
    assert tags[4] + tags[5] + tags[6] > 3


def test_the_number_of_tags_does_not_depend_on_the_number_of_phrase_pairs():
    sides = [(" ".join(f"{n}w{i}" for i in range(10)),) * 2 for n in range(20)]
    table = table_of(sides, [[(0, 0), (5, 5), (9, 9)]] * 20)
    config = TagConfig(mix=INFINITE, max_tags=9, tag_share=1.0, phrase_pairs="all")
    tags = require_rows_of_twin(table, config)
    assert tags[3] > tags[1] + tags[2] > 0


@pytest.mark.parametrize("nesting", ["proper", "free"])
@pytest.mark.parametrize("split_share", [0.4, 1.0])
def test_tags_in_two_parts_among_others_are_those_of_the_slow_twin(nesting, split_share):
    sides = [(" ".join(f"{n}w{i}" for i in range(9)),) * 2 for n in range(25)]
    table = table_of(sides, [[]] * 25)
    phrases = []
    for pair in range(25):
        places = [slow_tags.below(slow_tags.draw(pair, step), 8) for step in range(160)]
        boxes = [
            (a, min(9, a + 1 + n // 3), b, min(9, b + 1 + m // 3))
            for a, n, b, m in zip(*[iter(places)] * 4, strict=True)
        ]
        if pair % 2:  # the last one holds both parts of a tag, and no more
            boxes = [(0, 1, 0, 1), (1, 2, 2, 3), (0, 2, 0, 3)]
        hulls = [
            tuple(
                most(ends)
                for most, ends in zip((min, max, min, max), zip(*two, strict=True), strict=True)
            )
            for two in itertools.pairwise(boxes)
        ]
        fields = [
            dict(zip(PHRASE_FIELDS, (*box, 1.0), strict=True)) for box in sorted({*boxes, *hulls})
        ]
        phrases.append(fields)
    column = pa.array(phrases, schemas.PHRASE_LIST)
    table = table.set_column(table.num_columns - 1, schemas.PHRASES.field("phrases"), column)
    options = {"nesting": nesting, "split_share": split_share, "phrase_pairs": "all"}
    config = TagConfig(mix=INFINITE, variants=2, tag_share=1.0, max_tags=4, **options)
    tags = require_rows_of_twin(table, config)
    assert tags[3] + tags[4] > 10


def test_a_few_tags_of_all_forms_are_those_of_the_slow_twin():
    table = some_pairs(8, words=6)
    shares = dict.fromkeys(("self_closing_share", "damage_share", "empty_share"), 0.4)
    config = TagConfig(mix=INFINITE, variants=2, nesting="free", **shares)
    rows = inject_tags(table, config)[0].to_pylist()
    expected = [
        row
        for pair in table.to_pylist()
        for row in slow_tag_shapes.rows_of(pair, config, fewest_words(pair))
    ]
    assert rows == expected
    forms = Counter(tag["form"] for row in rows for tag in row["tags"])
    assert set(forms) == {"pair", "self_closing", "open", "close"}


@given(st.one_of(linked_pairs(), crowded_pairs()), configs())
def test_shaped_tags_nest_and_stand_where_the_column_says(table, config):
    originals = {pair["id"]: pair for pair in table.to_pylist()}
    for row in inject_tags(table, config)[0].to_pylist():
        actual = {
            side: parse_forms(row[side], crossing=config.nesting == "free")
            for side in ("source", "target")
        }
        for side, reading in actual.items():
            assert reading.text == originals[row["id"]][side] == strip_tags(row[side])
            assert reading.elements == Reading.said(row["tags"], side)


@given(st.one_of(linked_pairs(), crowded_pairs()), configs())
def test_shaped_rows_with_shifted_white_space_are_the_shifted_text(table, config):
    straight = inject_tags(table, config)[0].to_pylist()
    shifted = inject_tags(table, config.changed(whitespace_shift=True))[0].to_pylist()
    assert [row["tags"] for row in shifted] == [row["tags"] for row in straight]
    for one, other in zip(shifted, straight, strict=True):
        for side in ("source", "target"):
            assert one[side] == shift_whitespace(other[side])
            assert str(unshifted(one, side)) == other[side]


def forms_of(rows):
    return Counter(
        "empty"
        if tag["form"] == "pair" and tag["source_start"] == tag["source_end"]
        else tag["form"]
        for row in rows.to_pylist()
        for tag in row["tags"]
    )


def test_the_shares_of_forms_are_those_that_are_asked_for():
    shares = {"self_closing_share": 0.27, "damage_share": 0.10, "empty_share": 0.2}
    rows, _ = inject_tags(some_pairs(2000, words=20), TagConfig(mix=INFINITE, **shares))
    actual = forms_of(rows)
    tags = sum(actual.values())
    expected = {
        "self_closing": 0.27,
        "open": 0.73 * 0.05,
        "close": 0.73 * 0.05,
        "empty": 0.73 * 0.9 * 0.2,
        "pair": 0.73 * 0.9 * 0.8,
    }
    for form, wanted in expected.items():
        assert abs(actual[form] - wanted * tags) < 5 * math.sqrt(tags * wanted * (1 - wanted)), form


def test_what_a_smaller_share_makes_self_closing_a_larger_one_does_too():
    table, last = some_pairs(200), set()
    config = TagConfig(mix=INFINITE, tag_numbers="shuffled")
    for part in (0.0, 0.1, 0.5, 1.0):
        rows = inject_tags(table, config.changed(self_closing_share=part))[0].to_pylist()
        now = {
            (row["id"], tag["index"], tag["source_start"])
            for row in rows
            for tag in row["tags"]
            if tag["form"] == "self_closing"
        }
        assert last <= now
        last = now
    assert len(last) == sum(len(row["tags"]) for row in rows)


def test_forms_do_not_change_which_phrases_are_tagged():
    table = some_pairs(100)
    config = TagConfig(mix=INFINITE, tag_numbers="shuffled")
    plain = inject_tags(table, config)[0].to_pylist()
    shaped = inject_tags(table, config.changed(damage_share=1.0))[0].to_pylist()
    for one, other in zip(plain, shaped, strict=True):
        assert [tag["index"] for tag in one["tags"]] == [tag["index"] for tag in other["tags"]]
        for whole, half in zip(one["tags"], other["tags"], strict=True):
            kept = "start" if half["form"] == "open" else "end"
            assert half["source_start"] == half["source_end"] == whole[f"source_{kept}"]


def test_a_tag_in_two_parts_stands_round_neighbours_on_the_other_side():
    table = some_pairs(300)
    rows, _ = inject_tags(table, TagConfig(mix=INFINITE, split_share=1.0))
    counts = count_tags(rows)
    assert counts["tags_in_two_parts"] > 200
    for row in rows.to_pylist():
        numbers = Counter(tag["index"] for tag in row["tags"])
        assert sorted(numbers.values(), reverse=True)[0] <= 2
        for number in (number for number, times in numbers.items() if times == 2):
            one, other = (tag for tag in row["tags"] if tag["index"] == number)
            same = {
                side: (one[f"{side}_start"], one[f"{side}_end"])
                == (other[f"{side}_start"], other[f"{side}_end"])
                for side in ("source", "target")
            }
            assert sorted(same.values()) == [False, True]
            for side in ("source", "target"):
                assert row[side].count(f"<a_{number}>") == (1 if same[side] else 2)


@pytest.mark.parametrize("numbers", ["in_order", "shuffled"])
def test_variants_whose_text_an_earlier_one_has_are_left_out(numbers):
    config = TagConfig(variants=30, mix=INFINITE, tag_share=1, phrase_pairs="all")
    config = config.changed(self_closing_share=1.0, tag_numbers=numbers)
    rows = inject_tags(some_pairs(20, words=4), config)[0].to_pylist()
    assert len({(row["id"], row["source"], row["target"]) for row in rows}) == len(rows) < 20 * 30


def test_parts_are_not_counted_as_tags():
    table = some_pairs(300)
    split = TagConfig(mix=INFINITE, split_share=1.0)
    counts = [
        count_tags(inject_tags(table, config)[0]) for config in (split, TagConfig(mix=INFINITE))
    ]
    assert counts[0].pop("tags_in_two_parts") > 0
    assert counts[0] == counts[1]


def test_self_closing_tags_are_among_the_symbols_where_there_can_be_any():
    assert len(symbols(TagConfig())) == 20
    assert symbols(TagConfig(damage_share=0.5)) == symbols(TagConfig())
    names = symbols(TagConfig(self_closing_share=0.1))
    assert names[:20] == symbols(TagConfig())
    assert names[20:] == [f"<a_{number}/>" for number in range(10)]


REPRESENTATIONS = [
    ("xliff", r'<(g|x|bx|ex) id="([0-9]+)"/?>|</g>'),
    ("masked", r"XLF_(OPENG|CLOSEG|X|BX|EX),[0-9]+_?"),
    ("html", r'</?[a-z]+( id="[0-9]")?>'),
    (("⟦{index}⟧", "⟦/{index}⟧", "⟦{index}/⟧"), r"⟦/?[0-9]/?⟧"),
]
FORMS = {"self_closing_share": 0.3, "damage_share": 0.2, "empty_share": 0.1, "split_share": 0.3}


@pytest.mark.parametrize(("name", "pattern"), REPRESENTATIONS)
def test_tags_in_another_representation_are_the_indexed_ones(name, pattern):
    import re

    table = some_pairs(200, words=20)
    indexed = inject_tags(table, TagConfig(mix=INFINITE, **FORMS))[0]
    config = TagConfig(mix=INFINITE, representation=name, **FORMS)
    rows = inject_tags(table, config)[0]
    for column in ("id", "variant", "kind", "tags"):
        assert rows[column].equals(indexed[column])
    known = set(symbols(config))
    for one, other in zip(rows.to_pylist(), indexed.to_pylist(), strict=True):
        for side in ("source", "target"):
            assert re.sub(pattern, "", one[side]) == strip_tags(other[side])
            tokens = [match[0] for match in re.finditer(pattern, one[side])]
            assert len(tokens) == len(re.findall(r"</?a_[0-9]/?>", other[side]))
            assert {token.rstrip("_") for token in tokens} <= known


def test_ids_of_xliff_count_from_1_left_to_right_in_the_source():
    import re

    config = TagConfig(mix=INFINITE, representation="xliff", **FORMS)
    for row in inject_tags(some_pairs(200, words=20), config)[0].to_pylist():
        ids = [int(number) for number in re.findall(r'id="([0-9]+)"', row["source"])]
        assert list(dict.fromkeys(ids)) == list(range(1, len(set(ids)) + 1))
        assert {int(n) for n in re.findall(r'id="([0-9]+)"', row["target"])} == set(ids)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"self_closing_share": 1.5}, "self_closing_share must be 0 to 1, got 1.5"),
        ({"damage_share": float("nan")}, "damage_share must be 0 to 1"),
        (
            {"representation": "raw"},
            r"representation raw needs .* \(tag_profile\); give one, or choose indexed, xliff",
        ),
        ({"representation": "xlif"}, "xlif"),
        ({"representation": ("<{index}>", "<{index}>", "x")}, "template"),
        ({"draw": "sure"}, "draw 'sure' is unknown"),
        (
            {"profile": TagProfile((("form pair", 1), ("tags 1", 1))), "split_share": 0.5},
            "give either split_share or a tag profile",
        ),
    ],
)
def test_a_wrong_shape_is_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        TagConfig(**settings)


_ID = r'id="([0-9]+)"'


def test_xliff_ids_are_drawn_from_1_to_the_largest():
    table = some_pairs(300)
    config = TagConfig(mix=INFINITE, tag_share=0.9, representation="xliff")
    drawn = inject_tags(table, config.changed(max_id=20))[0].to_pylist()
    counted = inject_tags(table, config)[0].to_pylist()
    ids = [list(dict.fromkeys(re.findall(_ID, row["source"]))) for row in drawn]
    actual = Counter(itertools.chain(*ids))
    assert set(actual) == {str(number) for number in range(1, 21)}
    assert all(len(set(row)) == len(row) for row in ids)
    for one, other, row in zip(drawn, counted, ids, strict=True):
        for side in ("source", "target"):
            (said, texts), (numbers, others) = (
                (re.findall(_ID, text), re.sub(_ID, "", text)) for text in (one[side], other[side])
            )
            assert texts == others
            assert said == [row[int(number) - 1] for number in numbers]
    listed = symbols(config.changed(max_id=20))
    assert '<g id="20">' in listed
    assert '<g id="21">' not in listed
    alone = inject_tags(table[7:9], config.changed(max_id=20))[0].to_pylist()
    assert all(row in drawn for row in alone)


def test_ids_are_drawn_for_xliff_alone():
    with pytest.raises(ConfigError, match="max_id applies to"):
        TagConfig(max_id=20)
    with pytest.raises(ConfigError, match="max_id must be 10 to 10000"):
        TagConfig(representation="xliff", max_id=5)
