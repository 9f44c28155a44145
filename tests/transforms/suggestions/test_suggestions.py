import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.ids import pair_keys
from pairweave.transforms.kernels import sampling
from pairweave.transforms.rejects import Reject
from pairweave.transforms.suggestions import suggestion_filters, suggestions
from pairweave.transforms.suggestions.suggestion_options import (
    AlignedConfig,
    FilterConfig,
    HintConfig,
    RandomConfig,
)
from pairweave.transforms.suggestions.suggestions import SuggestionConfig, make_suggestions
from tests.makers.suggesting import LOOSE, MASK, WIDE, aligned, compared

# Zhu et al., figure 2. The translation, whose placeholder the figure shows, is ours.
FIGURE_2 = (
    "I like white cats and black puppies.",
    "我喜欢白色的猫和黑色的小狗。",
    "我喜欢洁净猫和黑色的小狗。",
    # Characters are words: two are replaced, and one of the reference has no link.
    [*((i, i) for i in range(5)), *((i, i + 1) for i in range(5, 13))],
)


def test_the_pseudo_data_of_figure_2():
    actual = aligned(FIGURE_2, lang="zh")
    assert actual == [("replace", "我喜欢<MASK_REP>猫和黑色的小狗。", "白色的")]


def test_the_parallel_sentence_data_of_figure_2():
    made = make_suggestions(compared(FIGURE_2, lang="zh"), SuggestionConfig(("parallel",)))
    (row,) = made.rows.to_pylist()
    assert (row["masked"], row["suggestion"]) == (MASK, "我喜欢白色的猫和黑色的小狗。")
    assert (row["start"], row["end"]) == (0, 14)
    # A whole sentence has no length and no place among the masks of spans.
    assert made.words.tolist() == [-1]
    assert made.histograms == {}


def test_a_random_mask_lies_on_the_reference_as_in_figure_1():
    config = SuggestionConfig(("random",), random=RandomConfig(1.0, variants=14), filters=LOOSE)
    rows = make_suggestions(compared(FIGURE_2, lang="zh"), config).rows.to_pylist()
    reference = FIGURE_2[1]
    assert len({row["start"] for row in rows}) == len(rows) == 14
    for row in rows:
        assert row["masked"] == reference[: row["start"]] + MASK + reference[row["end"] :]
        assert row["suggestion"] == reference[row["start"] : row["end"]]


@pytest.mark.parametrize(
    ("lang", "row", "expected"),
    [
        (
            "zh",
            ("s", "他昨天去了北京", "他去了上海", [(0, 0), (1, 3), (2, 4), (3, 5), (4, 6)]),
            [("insert", "他<MASK_REP>去了上海", "昨天"), ("replace", "他去了<MASK_REP>", "北京")],
        ),
        (
            "de",
            ("s", "das rote Haus", "das Haus", [(0, 0), (1, 2)]),
            [("insert", "das<MASK_REP> Haus", " rote")],
        ),
        (
            "de",
            ("s", "Haus am See", "am See", [(0, 1), (1, 2)]),
            [("insert", "<MASK_REP>am See", "Haus ")],
        ),
        (
            "de",
            ("s", "das ist gut gemacht.", "das ist gut.", [(0, 0), (1, 1), (2, 2), (3, 4)]),
            [("insert", "das ist gut<MASK_REP>.", " gemacht")],
        ),
        (
            "de",
            ("s", "er ging, und sie", "er ging und sie", [(0, 0), (1, 1), (2, 3), (3, 4)]),
            [("insert", "er ging<MASK_REP> und sie", ",")],
        ),
        (
            "de",
            ("s", "ja, gut", "ja - gut", "diagonal"),
            [("replace", "ja<MASK_REP> gut", ",")],
        ),
        (
            "de",
            (
                "s",
                "Ein Kind sah den Hund",
                "Der Hund sah das Kind",
                [(0, 3), (1, 4), (2, 2), (3, 0), (4, 1)],
            ),
            [("replace", "<MASK_REP>", "Ein Kind sah den Hund")],
        ),
        (
            "de",
            (
                "s",
                "wir gehen heute Abend aus",
                "wir gehen heute aus",
                [(0, 0), (1, 1), (2, 2), (2, 3), (3, 4)],
            ),
            [("replace", "wir gehen <MASK_REP> aus", "heute Abend")],
        ),
        (
            "ar",
            ("s", "ذهبت إلى البيت مساء", "ذهبت نحو البيت", [(0, 0), (1, 1), (2, 2)]),
            [
                ("replace", "ذهبت <MASK_REP> البيت", "إلى"),
                ("insert", "ذهبت نحو البيت<MASK_REP>", " مساء"),
            ],
        ),
    ],
    ids=[
        "Chinese: insertion and replacement",
        "German: an insertion brings the blank before it",
        "German: at the start it brings the blank behind it",
        "German: before a full stop",
        "German: a comma brings no blank",
        "German: the blank before a dash goes with it",
        "German: crossing links make one unit",
        "German: one word to two",
        "Arabic: replacement and insertion",
    ],
)
def test_cases_of_our_own(lang, row, expected):
    assert aligned(row, lang=lang) == expected


@pytest.mark.parametrize(
    ("reference", "translation", "links", "expected"),
    [
        ("das Haus", "das alte Haus", [(0, 0), (2, 1)], ("das<MASK_REP> Haus", "")),
        ("gut.", "gut so.", [(0, 0), (2, 1)], ("gut<MASK_REP>.", "")),
        ("Haus am See", "Ein Haus am See", [(1, 0), (2, 1), (3, 2)], ("<MASK_REP>Haus am See", "")),
        ("das Haus", "das Haus hier", [(0, 0), (1, 1)], ("das Haus<MASK_REP>", "")),
    ],
)
def test_a_deletion_takes_one_blank_with_it(reference, translation, links, expected):
    row = ("s", reference, translation, links)
    assert aligned(row, deletions=True) == [("delete", *expected)]
    assert aligned(row) == []


def test_each_placeholder_gives_an_example_with_the_others_filled_in():
    row = ("s", "a x c y e", "a b c d e", "diagonal")
    assert aligned(row) == [
        ("replace", "a <MASK_REP> c d e", "x"),
        ("replace", "a b c <MASK_REP> e", "y"),
    ]


@pytest.mark.parametrize(
    ("reference", "translation", "expected"),
    [
        # The mask would begin inside a tag pair: it grows over the pair, on both sides.
        ("a <a_0>x y</a_0> b", "a <a_0>x z</a_0> b", [("a <MASK_REP> b", "<a_0>x y</a_0>")]),
        ("a <a_0>x</a_0> b", "a <a_0>z</a_0> b", [("a <a_0><MASK_REP></a_0> b", "x")]),
        ("a <b>x y</b> b", "a <b>x z</b> b", [("a <MASK_REP> b", "<b>x y</b>")]),
        ("a <b>x</b> b", "a <b>z</b> b", [("a <b><MASK_REP></b> b", "x")]),
        ("a <i id='1'>x</i> b", "a <i id='1'>z</i> b", [("a <i id='1'><MASK_REP></i> b", "x")]),
    ],
)
def test_a_mask_keeps_tags_whole(reference, translation, expected):
    # Where the closing tag is not linked, it would be masked with the word before it.
    links = [(0, 0), (1, 1), (2, 2), (5, 5)] if "y" in reference else "diagonal"
    actual = aligned(("s", reference, translation, links))
    assert [row[1:] for row in actual] == expected


def test_a_mask_that_would_part_a_tag_without_its_other_half_is_dropped():
    row = ("s", "a x b", "a <a_0> b", "diagonal")
    made = make_suggestions(
        compared(row), SuggestionConfig(("alignment",), aligned=WIDE, filters=LOOSE)
    )
    assert made.rows.num_rows == 0
    assert made.counts["alignment_masks_dropped_splits_a_tag"] == 1
    assert made.reasons.tolist() == [Reject.FILTERED]
    assert made.details.tolist() == ["alignment: splits a tag 1"]


@pytest.mark.parametrize("names", [("a_1", "a_0"), ("b", "i"), ("b", "b")])
def test_random_masks_keep_tags_whole(names):
    outer, inner = names
    text = f"eins <{outer}>zwei <{inner}>drei</{inner}></{outer}> <br> vier fünf"
    table = compared(*((f"s{n}", text, None, []) for n in range(50)))
    config = SuggestionConfig(("random",), random=RandomConfig(1.0, variants=9), filters=LOOSE)
    rows = make_suggestions(table, config).rows.to_pylist()
    actual = {row["suggestion"] for row in rows}
    assert f"<{inner}>drei</{inner}>" in actual
    for suggestion in actual:
        for name in names:
            assert suggestion.count(f"<{name}>") == suggestion.count(f"</{name}>")


@pytest.mark.parametrize(
    ("reference", "links"),
    [
        ("a <b> b", "diagonal"),
        ("a <a_0></a_0> b", [(0, 0), (1, 1), (1, 2), (2, 3)]),
    ],
)
def test_a_tag_alone_is_no_suggestion(reference, links):
    rows = [("s", "a x b", "a c b", "diagonal"), ("s", reference, "a c b", links)]
    made = make_suggestions(compared(*rows), SuggestionConfig(("alignment",), aligned=WIDE))
    assert made.rows["suggestion"].to_pylist() == ["x"]
    assert made.details.tolist() == [None, "alignment: punctuation only 1"]


@pytest.mark.parametrize(
    ("row", "methods", "reason"),
    [
        (("s", "a b", None, []), ("alignment",), Reject.NO_TRANSLATION),
        (("s", "a b", "a b", "diagonal"), ("alignment",), Reject.SAME_TRANSLATION),
        (("s", "a b c", "x y z", "diagonal"), ("alignment",), Reject.TOO_MANY_PLACEHOLDERS),
        (("s", "a , c d", "a ; c d", "diagonal"), ("alignment",), Reject.FILTERED),
        (("s", "a b", None, []), ("alignment", "parallel"), None),
        (("s", "a b", "a b", "diagonal"), ("alignment", "random"), None),
    ],
)
def test_a_pair_is_rejected_only_if_no_row_comes_out(row, methods, reason):
    config = SuggestionConfig(methods, random=RandomConfig(1.0))
    made = make_suggestions(compared(row), config)
    assert made.reasons.tolist() == [reason]
    assert (made.rows.num_rows == 0) == (reason is not None)


def test_judgements_of_translations_are_counted():
    table = compared(
        ("s1", "a b", "a b", "diagonal"),
        ("s2", "a b c", "x y z", "diagonal"),
        ("s3", "a b c d e", "a x c y e", "diagonal"),
        ("s4", "a b c d", "a b c x", "diagonal"),
        ("s5", "a b", None, []),
    )
    made = make_suggestions(table, SuggestionConfig(("alignment",)))
    assert (made.reasons[1], made.details[1]) == (Reject.TOO_MANY_PLACEHOLDERS, "3 placeholders")
    counts = made.counts
    assert counts["triples"] == 4
    assert counts["triples_without_differences"] == 1
    assert counts["triples_over_placeholder_limit"] == 1
    assert counts["kept_triples"] == 2
    assert counts["placeholders"] == counts["joined_placeholders"] == 3


def test_a_sentence_in_which_no_token_begins_a_span_has_no_random_mask():
    table = compared(*((f"s{n}", "eins zwei", None, []) for n in range(400)))
    made = make_suggestions(table, SuggestionConfig(("random",)))
    share = np.mean(made.reasons == Reject.NO_MASK)
    assert abs(share - 0.85**2) < 0.06


def test_tokens_begin_spans_with_the_probability_of_appendix_b():
    words = " ".join(f"w{n}" for n in range(20))
    table = compared(*((f"s{n}", words, None, []) for n in range(300)))
    config = SuggestionConfig(("random",), random=RandomConfig(variants=20))
    rows = make_suggestions(table, config).rows
    assert abs(rows.num_rows / (300 * 20) - 0.15) < 0.015
    lengths = [len(text.split()) for text in rows["suggestion"].to_pylist()]
    assert 2.2 < np.mean(lengths) < 3.0  # a geometric mean of 3, cut off at the sentence's end


def test_uniform_lengths_are_equally_likely():
    words = " ".join(f"w{n}" for n in range(20))
    table = compared(*((f"s{n}", words, None, []) for n in range(900)))
    random = RandomConfig(1.0, lengths="uniform", max_mask_words=3, variants=1)
    rows = make_suggestions(table, SuggestionConfig(("random",), random=random)).rows
    lengths = Counter(len(text.split()) for text in rows["suggestion"].to_pylist())
    assert lengths.keys() == {1, 2, 3}
    assert all(abs(number - 300) < 60 for number in lengths.values())


def test_a_larger_probability_or_number_keeps_the_masks_that_there_were():
    words = " ".join(f"w{n}" for n in range(12))
    table = compared(*((f"s{n}", words, None, []) for n in range(40)))

    def spans(probability, variants):
        config = SuggestionConfig(("random",), random=RandomConfig(probability, variants=variants))
        rows = make_suggestions(table, config).rows.to_pylist()
        return {(row["id"], row["start"], row["end"]) for row in rows}

    assert spans(0.15, 3) < spans(0.15, 12) < spans(0.5, 12)


def many(count):
    return compared(
        *((f"s{n}", f"a b c d e{n}", f"a x c y e{n}", "diagonal") for n in range(count))
    )


@pytest.mark.parametrize("mix", [0, 0.1, 0.5, 2, math.inf])
def test_whole_sentences_come_in_the_ratio_asked_for(mix):
    config = SuggestionConfig(("alignment", "parallel"), mix=mix, filters=LOOSE)
    made = make_suggestions(many(600), config)
    whole, others = (made.counts[f"{method}_examples"] for method in ("parallel", "alignment"))
    if mix in (0, math.inf):
        assert (whole if mix == 0 else others) == 0
    else:
        # Two spans a pair; a pair has one whole sentence at most.
        assert abs(whole / others - min(mix, 1.0)) < 0.12
    assert not any(made.reasons)


def test_masks_that_are_filtered_have_no_whole_sentences():
    row = ("a X c Y Z V g", "a b c d e f g", "diagonal")
    table = compared(*((f"s{n}", *row) for n in range(2000)))
    filters = FilterConfig(max_suggestion_words=2)
    config = SuggestionConfig(("alignment", "parallel"), mix=0.4, filters=filters, aligned=WIDE)
    counts = make_suggestions(table, config).counts
    assert (
        counts["alignment_examples"] == counts["alignment_masks_dropped_suggestion_length"] == 2000
    )
    assert abs(counts["parallel_examples"] / 2000 - 0.4) < 0.03


@pytest.mark.parametrize("mix", [0, 0.4, 1, 2])
def test_the_filters_look_at_all_masks_once(monkeypatch, mix):
    looks = []

    def first_rules(examples, config):
        looks.append(len(examples.masks))
        return suggestion_filters.first_rules(examples, config)

    monkeypatch.setattr(suggestions, "first_rules", first_rules)
    config = SuggestionConfig(("alignment", "parallel"), mix=mix, filters=LOOSE)
    assert make_suggestions(many(30), config).rows.num_rows
    assert len(looks) == 1


def test_a_smaller_mix_is_inside_a_larger_one():
    def wholes(mix):
        config = SuggestionConfig(("alignment", "parallel"), mix=mix, filters=LOOSE)
        rows = make_suggestions(many(300), config).rows.to_pylist()
        return {row["id"] for row in rows if row["method"] == "parallel"}

    assert wholes(0.05) < wholes(0.2) < wholes(0.4)


def test_links_outside_the_tokens_are_refused():
    table = compared(("s", "a", "a", [(0, 1)]))
    with pytest.raises(WorkerError, match="are outside its tokens"):
        make_suggestions(table, SuggestionConfig())


def test_no_pair_gives_no_row():
    made = make_suggestions(schemas.COMPARED.empty_table(), SuggestionConfig())
    assert made.rows.schema == schemas.SUGGESTIONS
    assert made.rows.num_rows == len(made.reasons) == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SuggestionConfig(("rnadom",)), "did you mean 'random'"),
        (lambda: SuggestionConfig(()), "got none"),
        (lambda: SuggestionConfig(("random", "random")), "named twice"),
        (lambda: SuggestionConfig(mix=-1), "mix must be 0 or more"),
        (lambda: RandomConfig(0.0), "start_probability"),
        (lambda: SuggestionConfig(random=RandomConfig(lengths="empirical")), "golden set"),
        (lambda: RandomConfig(mean_words=0.5), "mean_words"),
        (lambda: RandomConfig(variants=0), "variants"),
        (lambda: AlignedConfig(0), "max_placeholders"),
        (lambda: AlignedConfig(1, 0.0), "max_placeholder_share"),
        (
            lambda: SuggestionConfig(filters=FilterConfig(min_source_words=9, max_source_words=3)),
            "min_source_words",
        ),
        (lambda: FilterConfig(max_masked_share=0), "max_masked_share"),
        (lambda: FilterConfig(min_confidence=2), "min_confidence"),
        (lambda: SuggestionConfig(filters=FilterConfig(min_score=2, max_score=1)), "min_score"),
        (lambda: HintConfig("letter"), "did you mean 'letters'"),
        (lambda: HintConfig(hint_letters=0), "hint_letters"),
    ],
)
def test_settings_are_checked_when_made(make, message):
    with pytest.raises(ConfigError, match=message):
        make()


words = st.lists(
    st.sampled_from(["ab", "c", "漢", ",", "<a_0>", "</a_0>", "3"]), min_size=1, max_size=7
)
texts = st.builds(
    lambda parts, gaps: "".join(a + b for a, b in zip(parts, gaps, strict=False)).strip() or "c",
    words,
    st.lists(st.sampled_from(["", " ", "  "]), min_size=7, max_size=7),
)


@given(
    sides=st.lists(st.tuples(texts, texts), min_size=1, max_size=4),
    share=st.floats(0, 1),
    deletions=st.booleans(),
    seed=st.integers(0, 2**63 - 1),
)
def test_the_original_span_gives_the_masked_text_back(sides, share, deletions, seed):
    table = compared(*((f"s{n}", *pair, "diagonal") for n, pair in enumerate(sides)))
    lists = table["links"].to_pylist()
    keys = pair_keys(table["id"])
    kept = [
        [
            link
            for link in each
            if sampling.units(np.uint64(seed), keys, np.uint64(link["source"]))[row] < share
        ]
        for row, each in enumerate(lists)
    ]
    place = table.schema.get_field_index("links")
    field = table.schema.field(place)
    table = table.set_column(place, field, pa.array(kept, field.type))
    config = SuggestionConfig(
        random=RandomConfig(0.5, variants=3),
        aligned=AlignedConfig(999, 1.0, deletions),
        filters=LOOSE,
        seed=seed,
    )
    made = make_suggestions(table, config)
    by_id = {row["id"]: row for row in table.to_pylist()}
    for row in made.rows.to_pylist():
        pair = by_id[row["id"]]
        carrier = pair["translation"] if row["method"] == "alignment" else pair["target"]
        assert row["masked"].count(MASK) == 1
        assert row["masked"].replace(MASK, carrier[row["start"] : row["end"]]) == carrier
        assert row["suggestion"] in pair["target"]
    alone = [make_suggestions(table[n : n + 1], config).rows for n in range(len(table))]
    assert pa.concat_tables(alone).equals(made.rows)


def test_random_masks_depend_on_the_seed_alone():
    words = " ".join(f"w{n}" for n in range(12))
    table = compared(*((f"s{n}", words, None, []) for n in range(40)))
    made = [make_suggestions(table, SuggestionConfig(("random",), seed=seed)) for seed in (1, 1, 2)]
    one, again, other = (
        {(row["id"], row["start"], row["end"]) for row in each.rows.to_pylist()} for each in made
    )
    assert one == again
    assert len(one & other) < len(one) / 2
