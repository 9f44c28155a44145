import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.links.phrase_extraction import PhraseConfig, extract_phrases
from pairweave.transforms.symbols.whitespace import shift_whitespace, unshift_whitespace
from pairweave.transforms.tags import tags
from pairweave.transforms.tags.tags import TagConfig, inject_tags, symbols
from pairweave.transforms.text.tokens import TokenConfig, add_tokens, tokenize
from pairweave.transforms.text.whole_words import spaced_word_counts, word_counts
from tests.check_tagged import parse
from tests.makers.tag_reading import parse_tags, strip_tags
from tests.makers.text_strategies import texts
from tests.oracles import slow_tags

INFINITE = float("inf")
LINK = {"probability": 1.0}
PHRASE_FIELDS = ("source_start", "source_end", "target_start", "target_end", "score")


def table_of(
    pairs, links, *, languages=("en", "fr"), tokens="words", unaligned="forbid", phrases=None
):
    """Return PHRASES rows of (source, target) pairs and links of (source, target) tokens."""
    rows = [
        {
            "id": f"{number * 0x9E3779B97F4A7C15 % 2**128:032x}",
            "corpus": "c",
            "source_lang": languages[0],
            "target_lang": languages[1],
            "file": "f",
            "line": number,
            "source": source,
            "target": target,
            "translation": None,
        }
        for number, (source, target) in enumerate(pairs, 1)
    ]
    table = add_tokens(pa.Table.from_pylist(rows, schema=schemas.PAIRS), TokenConfig(tokens))
    links = [[{"source": i, "target": j} | LINK for i, j in sorted(row)] for row in links]
    column = pa.array(links, schemas.LINK_LIST)
    table = table.append_column(schemas.SYMMETRIZED.field("links"), column)
    return extract_phrases(table, phrases or PhraseConfig(unaligned_words=unaligned))


WITCH = table_of(
    [("Mary did not slap the green witch .", "Maria no daba una bofetada a la bruja verde .")],
    [[(0, 0), (2, 1), (3, 2), (3, 3), (3, 4), (4, 6), (5, 8), (6, 7), (7, 9)]],
)


@pytest.mark.parametrize(("representation", "tag"), [("indexed", "<a_"), ("xliff", "<g id=")])
def test_tags_look_as_the_representation_says(representation, tag):
    config = TagConfig(representation=representation, mix=INFINITE, max_tags=1)
    (row,) = inject_tags(WITCH, config)[0].to_pylist()
    assert all(tag in row[side] for side in ("source", "target"))


def some_pairs(count, words=12):
    """Return pairs whose words are linked one to one, some crossing."""
    lines = [" ".join(f"w{i}x{n}" for i in range(words)) for n in range(count)]
    links = [(i, i ^ 1) for i in range(words)]
    return table_of(list(zip(lines, lines, strict=True)), [links] * count)


# The screen turns away text that holds our own tags.
untagged = texts(6).map(strip_tags).filter(lambda text: "a_0" not in text)
sentences = st.lists(
    st.one_of(st.sampled_from(["the", "été", "漢字", "שלום", "3.5", "l'eau", "<b>"]), untagged),
    min_size=4,
    max_size=8,
).map(" ".join)


@st.composite
def linked_pairs(draw):
    """Draw a PHRASES table: any texts, any links."""
    side = st.one_of(untagged, sentences, sentences)
    sides = draw(st.lists(st.tuples(side, side), min_size=1, max_size=2))
    links = []
    for source, target in sides:
        lengths = [
            len(tokenize(pa.array([text]), TokenConfig(), language)[0])
            for text, language in ((source, "en"), (target, "fr"))
        ]
        pair = st.tuples(*(st.integers(0, max(0, length - 1)) for length in lengths))
        most = 0 if 0 in lengths else 12
        diagonal = [(i, i) for i in range(min(lengths))] if draw(st.booleans()) else []
        links.append(draw(st.sets(pair, max_size=most)) | set(diagonal))
    return table_of(sides, links, unaligned=draw(st.sampled_from(["forbid", "allow"])))


@st.composite
def crowded_pairs(draw):
    """Draw a PHRASES table of many phrase pairs, whatever their links, that often touch."""
    spaces = st.sampled_from(["", "", " ", "\u3000 "])
    letter = st.sampled_from("漢字文書語言")
    side = st.lists(st.tuples(letter, spaces).map("".join), min_size=8, max_size=14).map("".join)
    sides = draw(st.lists(st.tuples(side, side), min_size=1, max_size=2))
    table = table_of(sides, [[]] * len(sides), languages=("zh", "ja"))
    edge = st.tuples(st.integers(0, 7), st.integers(1, 4))
    phrases = []
    for _ in sides:
        edges = draw(st.sets(st.tuples(edge, edge), max_size=40))
        boxes = {(a, min(8, a + n), b, min(8, b + m)) for (a, n), (b, m) in edges}
        scored = [(*box, 1.0) for box in sorted(boxes)]
        phrases.append([dict(zip(PHRASE_FIELDS, box, strict=True)) for box in scored])
    column = pa.array(phrases, schemas.PHRASE_LIST)
    return table.set_column(table.num_columns - 1, schemas.PHRASES.field("phrases"), column)


configs = st.builds(
    TagConfig,
    phrase_pairs=st.just("all"),
    max_tags=st.integers(1, 9),
    tag_share=st.sampled_from([0.3, 0.9, 1.0]),
    nesting=st.sampled_from(["proper", "free"]),
    mix=st.sampled_from([0.0, 0.5, 1.0, 3.0, INFINITE]),
    variants=st.integers(1, 4),
    punctuation_tags=st.booleans(),
    tag_numbers=st.sampled_from(["in_order", "shuffled"]),
    seed=st.integers(0, 2**63 - 1),
)


def fewest_words(pair, kind="words"):
    """Return the words of the side with fewer, by which the number of tags is limited."""
    counts = []
    for side in ("source", "target"):
        text = pa.array([pair[side]])
        if kind == "whitespace":
            counts.append(int(spaced_word_counts(text)[0]))
        else:
            counts.append(int(word_counts(text, pair[f"{side}_lang"])[0]))
    return min(counts)


def test_a_compound_counts_as_one_word():
    pair = {"source": "a b-c d-e-f", "target": "l'a d'e qu'on y", "source_lang": "en"}
    assert fewest_words({**pair, "target_lang": "fr"}) == 3
    assert fewest_words({**pair, "source": "長い語", "target": "g h", "target_lang": "fr"}) == 2


@given(st.one_of(linked_pairs(), crowded_pairs()), configs)
def test_injection_equals_its_slow_twin(table, config):
    rows, without = inject_tags(table, config)
    assert rows.schema.equals(schemas.TAGGED)
    rows.validate(full=True)
    expected = [slow_tags.rows_of(pair, config, fewest_words(pair)) for pair in table.to_pylist()]
    assert rows.to_pylist() == [row for actual in expected for row in actual]
    assert without.tolist() == [not actual for actual in expected]


@given(linked_pairs(), configs, st.booleans())
def test_a_row_without_its_tags_is_the_original(table, config, shift):
    config = config.changed(whitespace_shift=shift)
    originals = {pair["id"]: pair for pair in table.to_pylist()}
    for row in inject_tags(table, config)[0].to_pylist():
        for side in ("source", "target"):
            text = unshift_whitespace(row[side]) if shift else row[side]
            assert strip_tags(text) == originals[row["id"]][side]
            assert len(text) == len(originals[row["id"]][side]) + 11 * len(row["tags"])


@given(crowded_pairs(), configs)
def test_tags_of_a_crowded_text_nest_and_stand_where_the_column_says(table, config):
    for row in inject_tags(table, config)[0].to_pylist():
        for side in ("source", "target"):
            _, spans = parse(row[side], crossing=config.nesting == "free")
            assert spans == {
                tag["index"]: (tag[f"{side}_start"], tag[f"{side}_end"]) for tag in row["tags"]
            }


@given(linked_pairs(), configs)
def test_tags_nest_stay_under_the_share_and_hold_whole_phrases(table, config):
    config = config.changed(mix=INFINITE)
    pairs = {pair["id"]: pair for pair in table.to_pylist()}
    for row in inject_tags(table, config)[0].to_pylist():
        pair = pairs[row["id"]]
        assert 1 <= len(row["tags"]) <= config.max_tags
        assert len(row["tags"]) < config.tag_share * fewest_words(pair)
        indices = [tag["index"] for tag in row["tags"]]
        assert len(set(indices)) == len(indices)
        assert set(indices) <= set(range(10))
        for side in ("source", "target"):
            plain, spans = parse(row[side], crossing=config.nesting == "free")
            assert plain == pair[side]
            assert spans == {
                tag["index"]: (tag[f"{side}_start"], tag[f"{side}_end"]) for tag in row["tags"]
            }
        for tag in row["tags"]:
            holds = [
                [
                    tag[f"{side}_start"] <= pair[f"{side}_tokens"][link[side]]["start"]
                    and pair[f"{side}_tokens"][link[side]]["end"] <= tag[f"{side}_end"]
                    for link in pair["links"]
                ]
                for side in ("source", "target")
            ]
            assert holds[0] == holds[1]
            assert any(holds[0])


@given(st.one_of(linked_pairs(), crowded_pairs()), configs)
def test_shifted_rows_are_the_shifted_text(table, config):
    straight = inject_tags(table, config)[0].to_pylist()
    shifted = inject_tags(table, config.changed(whitespace_shift=True))[0].to_pylist()
    assert [row["tags"] for row in shifted] == [row["tags"] for row in straight]
    for one, other in zip(shifted, straight, strict=True):
        for side in ("source", "target"):
            assert one[side] == shift_whitespace(other[side])
            assert unshift_whitespace(one[side]) == other[side]


def test_much_white_space_of_several_kinds_is_moved_as_it_is():
    text = "a \u3000\u2003 \u2009\u3000b c"
    table = table_of([(text, text)], [[(1, 1)]])
    config = TagConfig(mix=INFINITE, max_tags=1, tag_share=1.0, phrase_pairs="all")
    (row,) = inject_tags(table, config.changed(whitespace_shift=True))[0].to_pylist()
    assert row["source"] == row["target"] == text.replace("a ", "a<a_0> ").replace("b", "b</a_0>")


@given(linked_pairs(), configs, st.data())
def test_rows_do_not_depend_on_the_other_pairs(table, config, data):
    whole, without = inject_tags(table, config)
    place = data.draw(st.integers(0, table.num_rows))
    parts = [inject_tags(table[:place], config), inject_tags(table[place:], config)]
    assert pa.concat_tables([part for part, _ in parts]).to_pylist() == whole.to_pylist()
    assert np.array_equal(np.concatenate([mask for _, mask in parts]), without)
    chunked = pa.concat_tables([table[:place], table[place:]])
    assert inject_tags(chunked, config)[0].to_pylist() == whole.to_pylist()


def test_the_tagged_pair_of_the_paper_by_hand():
    row = inject_tags(WITCH, TagConfig(seed=3))[0].to_pylist()[1]
    assert (row["kind"], row["variant"]) == ("tagged", 1)
    (tag,) = row["tags"]  # 7 words of English: 30 % is 2.1, so 1 or 2 tags
    start, end = tag["source_start"], tag["source_end"]
    english = "Mary did not slap the green witch ."
    opening, closing = f"<a_{tag['index']}>", f"</a_{tag['index']}>"
    assert row["source"] == english[:start] + opening + english[start:end] + closing + english[end:]


def test_the_number_of_tags_is_uniform_below_the_share():
    rows, _ = inject_tags(some_pairs(3000, words=20), TagConfig(mix=INFINITE))
    counts = Counter(len(row) for row in rows["tags"].to_pylist())
    assert set(counts) == {1, 2, 3, 4, 5}  # 30 % of 20 words is 6, which is not below 6
    assert all(abs(count - 600) < 5 * math.sqrt(600) for count in counts.values())


def test_every_number_and_without_judgement_every_phrase_pair_is_as_likely():
    links = [(0, 1), (1, 0), (2, 2), (3, 3)]
    table = table_of([("a b c d", "e f g h")] * 2000, [links] * 2000)
    config = TagConfig(mix=INFINITE, tag_share=0.4, phrase_pairs="all", tag_numbers="shuffled")
    rows, _ = inject_tags(table, config)
    drawn = [tag for (tag,) in rows["tags"].to_pylist()]
    spans = Counter((tag["source_start"] // 2, tag["source_end"] // 2 + 1) for tag in drawn)
    phrases = table["phrases"][0].as_py()
    assert spans.keys() == {(box["source_start"], box["source_end"]) for box in phrases}
    numbers = Counter(tag["index"] for tag in drawn)
    assert numbers.keys() == set(range(10))
    for counts in (spans, numbers):
        mean = 2000 / len(counts)
        assert all(abs(count - mean) < 5 * math.sqrt(mean) for count in counts.values())


@pytest.mark.parametrize(
    ("mix", "variants", "plain", "tagged"),
    [
        (0, 1, 1, 0),
        (0.1, 1, 1, 0.1),
        (1, 1, 1, 1),
        (1, 4, 1, 0.25),
        (4, 2, 0.5, 1),
        (INFINITE, 3, 0, 1),
    ],
)
def test_the_mix_is_tagged_rows_to_plain_rows(mix, variants, plain, tagged):
    pairs = 2000
    rows, without = inject_tags(some_pairs(pairs), TagConfig(mix=mix, variants=variants))
    kinds = Counter(rows["kind"].to_pylist())
    for actual, share in ((kinds["plain"], plain), (kinds["tagged"] / variants, tagged)):
        assert abs(actual - share * pairs) <= 5 * math.sqrt(pairs * share * (1 - share))
    assert not without.any()


def test_a_larger_mix_holds_the_tagged_rows_of_a_smaller_one():
    table = some_pairs(500)
    last = set()
    for mix in (0.0, 0.05, 0.1, 0.5, 1.0, 2.0, INFINITE):
        rows = inject_tags(table, TagConfig(mix=mix))[0].to_pylist()
        tagged = {(row["id"], row["source"]) for row in rows if row["kind"] == "tagged"}
        assert last <= tagged
        last = tagged
    assert len(last) == 500


def test_more_variants_hold_the_rows_of_fewer_and_all_differ():
    table = some_pairs(200)
    few = inject_tags(table, TagConfig(mix=INFINITE, variants=2))[0].to_pylist()
    many = inject_tags(table, TagConfig(mix=INFINITE, variants=5))[0].to_pylist()
    assert [row for row in many if row["variant"] <= 2] == few
    assert [row["variant"] for row in many] == [1, 2, 3, 4, 5] * 200
    spans = [
        (row["id"], *sorted((tag["source_start"], tag["source_end"]) for tag in row["tags"]))
        for row in many
    ]
    assert len(set(spans)) == len(many)


def test_variants_of_a_pair_with_one_phrase_pair_differ_in_number_or_are_left_out():
    table = table_of([("a b c d", "e f g h")], [[(0, 0)]])
    config = TagConfig(mix=INFINITE, variants=40, tag_numbers="shuffled")
    rows = inject_tags(table, config)[0].to_pylist()
    assert rows[0]["variant"] == 1
    assert 5 < len(rows) <= 10
    assert len({row["source"] for row in rows}) == len(rows)
    rows = inject_tags(table, config.changed(tag_numbers="in_order"))[0].to_pylist()
    assert [row["source"] for row in rows] == ["<a_0>a</a_0> b c d"]


def test_a_pair_without_phrase_pair_or_room_is_plain_or_nothing():
    table = table_of(
        [("a b c d", "e f g h"), ("a b", "c d"), ("a b c d", "e f g h")],
        [[], [(0, 0)], [(0, 0), (3, 3)]],
    )
    rows, without = inject_tags(table, TagConfig())
    assert [row["variant"] for row in rows.to_pylist()] == [0, 0, 0, 1]
    assert not without.any()
    rows, without = inject_tags(table, TagConfig(mix=INFINITE))
    assert rows.num_rows == 1
    assert without.tolist() == [True, True, False]


def test_words_of_tokenised_text_are_counted_by_white_space():
    pairs = [("長語名前山 川", "a b c d e f")]
    table = table_of(pairs, [[(0, 0), (1, 1)]], tokens="whitespace")
    assert inject_tags(table, TagConfig(words="whitespace"))[0].num_rows == 1
    assert inject_tags(table, TagConfig())[0].num_rows == 2


DOTTED = table_of(
    [("Stop , now .", "Halt , nun .")] * 400, [[(word, word) for word in range(4)]] * 400
)


def spans_of(rows, table, side):
    """Return the texts that the tags of rows stand round on a side."""
    texts = dict(zip(table["id"].to_pylist(), table[side].to_pylist(), strict=True))
    return {
        texts[row["id"]][tag[f"{side}_start"] : tag[f"{side}_end"]]
        for row in rows.to_pylist()
        for tag in row["tags"]
    }


@pytest.mark.parametrize("draw", ["uniform", "confident"])
def test_a_tag_holds_a_letter_or_digit_on_both_sides(draw):
    config = TagConfig(mix=INFINITE, tag_share=0.9, draw=draw)
    for side in ("source", "target"):
        spans = spans_of(inject_tags(DOTTED, config)[0], DOTTED, side)
        assert {",", "."}.isdisjoint(spans)
        assert len(spans) == 8
        old = inject_tags(DOTTED, config.changed(punctuation_tags=True))[0]
        assert {",", "."} <= spans_of(old, DOTTED, side)


def test_a_word_linked_to_a_mark_is_no_place_for_a_tag():
    table = table_of([("a b c d e", "f ! g h i")], [[(1, 1)]])
    assert inject_tags(table, TagConfig(mix=INFINITE))[1].tolist() == [True]
    turned = table_of([("f ! g h i", "a b c d e")], [[(1, 1)]])
    assert inject_tags(turned, TagConfig(mix=INFINITE))[1].tolist() == [True]
    config = TagConfig(mix=INFINITE, punctuation_tags=True, phrase_pairs="all")
    rows, _ = inject_tags(turned, config)
    assert [len(row) for row in rows["tags"].to_pylist()] == [1]


def test_a_slice_of_a_table_has_the_same_tags():
    lines = [" ".join(f"w{n}x{i}" if (n + i) % 3 else "," for i in range(5 + n)) for n in range(6)]
    table = table_of([(line, line) for line in lines], [[(i, i) for i in range(5)]] * 6)
    for options in ({}, {"take_all": True}):
        config = TagConfig(mix=INFINITE, phrase_pairs="all", variants=3, **options)
        if options:  # at most as many phrase pairs as a row can have tags
            table = table_of([(line, line) for line in lines], [[(0, 0), (2, 2), (4, 4)]] * 6)
        rows = inject_tags(table, config)[0].to_pylist()
        parts = [inject_tags(part, config)[0].to_pylist() for part in (table[:2], table[2:4])]
        assert rows[: len(parts[0])] == parts[0]
        assert rows[len(parts[0]) : len(parts[0]) + len(parts[1])] == parts[1]
        assert len(parts[1]) > 1


def test_another_seed_gives_other_tags():
    one, other = (inject_tags(some_pairs(50), TagConfig(seed=seed))[0] for seed in (1, 2))
    assert not one["source"].equals(other["source"])


def test_rows_made_in_parts_are_the_same(monkeypatch):
    table, config = some_pairs(7), TagConfig(variants=2, mix=2)
    whole, without = inject_tags(table, config)
    monkeypatch.setattr(tags, "_MAX_ROWS", 7)
    parts, mask = inject_tags(table, config)
    assert parts["source"].num_chunks == 4
    assert parts.to_pylist() == whole.to_pylist()
    assert np.array_equal(mask, without)


@pytest.mark.parametrize("shapes", [{}, {"self_closing_share": 0.3, "empty_share": 0.2}])
def test_white_space_is_shifted_as_in_a_single_text(shapes):
    straight, shifted = (
        inject_tags(
            some_pairs(100),
            TagConfig(
                mix=INFINITE, tag_share=1, phrase_pairs="all", whitespace_shift=shift, **shapes
            ),
        )[0]
        for shift in (False, True)
    )
    for side in ("source", "target"):
        texts = straight[side].to_pylist()
        assert shifted[side].to_pylist() == list(map(shift_whitespace, texts))
    assert any(text.startswith(("<a_0><a_1>", "<a_1><a_0>")) for text in texts)


def test_an_empty_table_gives_an_empty_one():
    rows, without = inject_tags(schemas.PHRASES.empty_table(), TagConfig())
    assert rows.schema.equals(schemas.TAGGED)
    assert (rows.num_rows, len(without)) == (0, 0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_tags": 10}, "max_tags must be 1 to 9, got 10"),
        ({"tag_share": 0}, "tag_share must be over 0"),
        ({"nesting": "propre"}, "did you mean 'proper'"),
        ({"mix": -1}, "mix must be 0 or more"),
        ({"mix": float("nan")}, "mix must be 0 or more"),
        ({"variants": 0}, "variants must be 1 to 100"),
        ({"words": "pieces"}, "words 'pieces' is unknown"),
        ({"seed": -1}, "seed must be 0 to"),
    ],
)
def test_a_wrong_configuration_is_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        TagConfig(**settings)


def test_real_pairs_are_tagged_and_stripped(shared_data):
    lines = (shared_data / "align" / "enfr.src-tgt").read_text().split("\n")[:-1]
    links = (shared_data / "align" / "enfr.mbert-awesome-align").read_text().split("\n")[:-1]
    pairs = [tuple(line.split(" ||| ")) for line in lines]
    links = [[tuple(map(int, link.split("-"))) for link in line.split()] for line in links]
    table = table_of(pairs, links, tokens="whitespace")
    config = TagConfig(mix=INFINITE, words="whitespace", phrase_pairs="all")
    rows, without = inject_tags(table, config)
    originals = {row["id"]: row for row in table.to_pylist()}
    assert without.sum() < 40
    for row in rows.to_pylist():
        original = originals[row["id"]]
        few = fewest_words(original, "whitespace")
        assert len(row["tags"]) < 0.3 * few
        spans = []
        for side in ("source", "target"):
            plain, parsed = parse_tags(row[side])
            assert plain == original[side]
            spans.append({tag.number: (tag.start, tag.end) for tag in parsed})
        assert spans[0].keys() == spans[1].keys()
        slow = slow_tags.rows_of(original, config, few)
        assert row in slow


@pytest.mark.parametrize("variants", [1, 2, 5])
@pytest.mark.parametrize("mix", [0.5, 1, 3, 8])
def test_tagged_rows_outnumber_plain_ones_by_the_mix(variants, mix):
    config = TagConfig(variants=variants, mix=mix)
    assert config.tagged_share * variants / config.plain_share == pytest.approx(mix)
    assert max(config.tagged_share, config.plain_share) == 1


def test_symbols_are_all_tags():
    names = symbols(TagConfig(max_tags=1))
    assert names[:2] == ["<a_0>", "<a_1>"]
    assert names[-1] == "</a_9>"
    assert len(set(names)) == 20


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<a_1>x", "<a_1> is never closed"),
        ("x</a_1>", "</a_1> closes what is not open"),
        ("<a_1><a_1>x</a_1></a_1>", "<a_1> stands twice"),
        ("<a_1>x</a_1><a_1>y</a_1>", "<a_1> stands twice"),
    ],
)
def test_text_with_broken_tags_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        parse_tags(text)


def test_crossing_tags_are_parsed():
    plain, parsed = parse_tags("<a_1>x <a_2>y</a_1> é</a_2>")
    assert plain == "x y é"
    assert parsed == [(1, 0, 3), (2, 2, 5)]
