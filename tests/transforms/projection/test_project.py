"""Projected tags: each occurs once, the text is unchanged, nesting is kept."""

import re
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.kernels.links.projection import CERTAIN
from pairweave.transforms.links.soft_links import SoftLinks, soften
from pairweave.transforms.markup.markup import (
    XLIFF,
    XML,
    Form,
    Kind,
    Marked,
    Tag,
    find_elements,
    is_nested,
    parse_markup,
    strip_markup,
)
from pairweave.transforms.projection.project import (
    RULES,
    cut_tokens,
    lay_out,
    place_tags,
    project_tags,
)
from pairweave.transforms.projection.projection_weights import shipped_weights
from pairweave.transforms.text.tokens import TokenConfig, tokenize
from tests.makers.hmm_corpora import tokens_table
from tests.oracles.slow_projection import place_proportionally

TEXTS = st.text(st.sampled_from("abAB09 .,é漢"), max_size=12)
MARKUP = st.lists(
    TEXTS
    | st.sampled_from(
        ["<b>", "</b>", "<i>", "</i>", "<b><i>", "</i></b>", "<x/>", "<x/><y/>", "<b></b>"]
    ),
    max_size=9,
).map("".join)


def words(text):
    """Return what stands between white space."""
    tokens, start = [], None
    for at, char in enumerate(f"{text} "):
        if char.isspace():
            if start is not None:
                tokens.append((start, at))
            start = None
        elif start is None:
            start = at
    return tokens


@st.composite
def cases(draw):
    source, target = parse_markup(draw(MARKUP)), draw(TEXTS)
    tokens = words(source.text), words(target)
    links = set()
    if all(tokens):
        links = draw(st.sets(st.tuples(*[st.integers(0, len(side) - 1) for side in tokens])))
    soft = SoftLinks.certain(links)
    weights = [draw(st.floats(0, 1)) for _ in links]
    forward = np.array(weights, np.float64)
    return source, target, *tokens, SoftLinks(soft.source, soft.target, forward, soft.reverse)


@given(cases(), st.sampled_from(RULES))
def test_every_tag_stands_in_the_result_once_and_the_text_is_untouched(case, rules):
    source, target, *_ = case
    result = project_tags(*case, rules)
    assert result.text == target
    assert Counter(tag.raw for tag in result.tags) == Counter(tag.raw for tag in source.tags)
    offsets = [tag.offset for tag in result.tags]
    assert offsets == sorted(offsets)
    assert all(0 <= offset <= len(target) for offset in offsets)
    assert strip_markup(str(result)) == target


@given(cases(), st.sampled_from(RULES))
def test_what_nests_in_the_source_nests_in_the_target(case, rules):
    source, *_ = case
    if not is_nested(source.tags):
        return
    result = project_tags(*case, rules)
    assert is_nested(result.tags)
    before, after = (
        sorted((tags[e.opening].name, e.form) for e in find_elements(tags))
        for tags in (source.tags, result.tags)
    )
    assert before == after


@st.composite
def trees(draw):
    """Return properly nested elements with a key of its own for each."""
    text = draw(TEXTS)
    tags = []

    def grow(start, end, depth):
        for _ in range(draw(st.integers(0, 3))):
            if draw(st.booleans()):
                tags.append(Tag(Kind.EMPTY, "x", "", f"<x n='{len(tags)}'/>", start))
                continue
            first, last = sorted(draw(st.tuples(*[st.integers(start, end)] * 2)))
            key = str(len(tags))
            tags.append(Tag(Kind.OPEN, "g", key, f"<g id='{key}'>", first))
            if depth < 3:
                grow(first, last, depth + 1)
            tags.append(Tag(Kind.CLOSE, "g", key, f"</g {key}>", last))
            start = last

    grow(0, len(text), 0)
    return Marked(text, tuple(tags))


def ancestors(tags):
    """Return by the raw opening tag of each pair those of the pairs round it."""
    around, result = [], {}
    for tag in tags:
        if tag.kind is Kind.CLOSE:
            around.pop()
        else:
            result[tag.raw] = list(around)
            if tag.kind is Kind.OPEN:
                around.append(tag.raw)
    return result


@given(trees(), TEXTS, st.data(), st.sampled_from(RULES))
def test_an_element_stays_within_the_elements_round_it(source, target, data, rules):
    tokens = words(source.text), words(target)
    links = set()
    if all(tokens):
        links = data.draw(st.sets(st.tuples(*[st.integers(0, len(side) - 1) for side in tokens])))
    result = project_tags(source, target, *tokens, SoftLinks.certain(links), rules)
    before, after = ancestors(source.tags), ancestors(result.tags)
    pairs = {tag.raw for tag in source.tags if tag.kind is Kind.OPEN}
    assert before.keys() == after.keys()
    for raw, around in before.items():
        if raw in pairs:
            assert after[raw] == around
        else:  # an empty tag may fall into a pair it stood beside
            assert set(around) <= set(after[raw])


def projected(source, target, links, rules="best", syntax=XLIFF):
    marked = parse_markup(source, syntax)
    return str(
        project_tags(
            marked, target, words(marked.text), words(target), SoftLinks.certain(links), rules
        )
    )


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize(
    ("source", "target", "links", "expected"),
    [
        # "two and a half cups": each part of the number has a link of its own
        ("<b>two</b> and half cups", "2½ Tassen", [(0, 0), (2, 1), (3, 2)], "<b>2½</b> Tassen"),
        ("two and <b>half</b> cups", "2½ Tassen", [(0, 0), (2, 1), (3, 2)], "<b>2½</b> Tassen"),
        ("<b>ten</b> squared", "10²", [(0, 0), (1, 1)], "<b>10²</b>"),
        ("<b>hydrogen</b> oxide", "H₂O", [(0, 0), (1, 2)], "<b>H₂O</b>"),
        ("<b>2</b>½ cups", "2½ Tassen", [(0, 0), (1, 1), (2, 2)], "<b>2</b>½ Tassen"),
        ("<b>2½</b> cups", "2½ Tassen", [(0, 0), (2, 2)], "<b>2½</b> Tassen"),
    ],
)
def test_no_tag_splits_a_number_unless_one_does_in_the_source(
    rules, source, target, links, expected
):
    marked = parse_markup(source, XML)
    tokens = [
        [token.span() for token in re.finditer(r"\d+|[½²₂]|[^\W\d½²₂]+", text)]
        for text in (marked.text, target)
    ]
    actual = project_tags(marked, target, *tokens, SoftLinks.certain(links), rules)
    assert str(actual) == expected


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("Choose the <b>Edit</b> tab", "Choisissez l'ongletÉdition", {19}),
        ("<b>Value:</b> type", "Valeur:Type", {7}),
        ("the <b>LibreOffice</b> menu", "le menu LibreOffice", set()),
        ("the <b>office</b> page", "la page fr.wiki/LibreOffice", set()),
        ("the <b>ab</b> menu", "le menu a1B eMail", set()),
        ("with <b>Ctrl</b> here", "עםCtrl כאן", {2}),
        ("<b>Ctrl</b> with", "Ctrlसोबत", {4}),
        ("<b>Carefully:</b> you", "జాగ్రత్తగా:మీరు", {11}),
        ("the <b>tab</b>", "ಟ್ಯಾಬ್\u200cನಲ್ಲಿ", {7}),  # "in the tab"
        ("the <b>tab</b>", "ಟ್ಯಾಬ್\u200dನಲ್ಲಿ", set()),
        ("the <b>gvfs</b> module", "מודול שgvfs", {7}),
        ("the <b>gvfs</b> module", "www.שgvfs", set()),
        ("the <b>cafe</b>", "2nd cafe\u0301s में", set()),
        ("the <b>unit</b>", "kΩh", set()),
    ],
)
def test_a_turn_inside_a_token_begins_a_word_unless_the_source_has_it(source, target, expected):
    marked = parse_markup(source, XML)
    tokens = words(marked.text), words(target)
    _, cut = cut_tokens(marked, target, *tokens)
    assert {start for start, _ in cut} - {start for start, _ in tokens[1]} == expected
    assert cut_tokens(marked, target, tokens[0], cut)[1] == cut


def test_tags_that_stand_together_stay_together():
    links = [(0, 0), (1, 2), (2, 3)]
    source = '<g id="1">a </g><g id="2">b c</g>'
    assert projected(source, "x u y z", links) in (
        '<g id="1">x </g><g id="2">u y z</g>',
        '<g id="1">x u </g><g id="2">y z</g>',
    )


def test_tags_at_the_edges_of_the_text_stay_there():
    assert projected('<g id="1"> a b </g><ex id="2"/>', " x y ", []) == (
        '<g id="1"> x y </g><ex id="2"/>'
    )


def test_white_space_stays_on_its_side_of_a_tag():
    links = [(0, 0), (1, 2), (2, 1), (3, 3)]
    assert projected('m <g id="1">a </g>b c', "n y x z", links) == 'n y <g id="1">x </g>z'
    assert projected('m <g id="1">a</g> b c', "n y x z", links) == 'n y <g id="1">x</g> z'


def test_a_tag_with_an_id_keeps_its_space_before_a_word_that_only_the_translation_has():
    links = [(0, 0), (0, 1), (1, 2), (2, 3), (3, 5), (4, 6), (5, 7)]
    source = 'Almost <g id="2">64 million </g>children were immunised'
    assert projected(source, "Près de 64 millions de jeunes gens sont là", links) == (
        'Près de <g id="2">64 millions </g>de jeunes gens sont là'
    )


def test_an_empty_tag_at_the_end_stands_after_a_full_stop_that_the_translation_adds():
    source, target = parse_markup('in the city<ex id="2"/>', XLIFF), "dans la ville."
    tokens = words(source.text), [(0, 4), (5, 7), (8, 13), (13, 14)]
    links = SoftLinks.certain([(0, 0), (1, 1), (2, 2)])
    assert str(project_tags(source, target, *tokens, links)) == 'dans la ville.<ex id="2"/>'


def placed(source, target, links, language):
    """Return the target with the tags of an XML source, by the tokens and words of its language."""
    marked = parse_markup(source, XML)
    sides = ((marked.text, "en"), (target, language))
    tokens = [tokenize(pa.array([text]), TokenConfig(), tag)[0].as_py() for text, tag in sides]
    tokens = [[(token["start"], token["end"]) for token in each] for each in tokens]
    return str(project_tags(marked, target, *tokens, SoftLinks.certain(links)))


@pytest.mark.parametrize(
    ("language", "source", "expected", "links"),
    [
        ("ja", "Click <gui>Save</gui>.", "「<gui>保存</gui>」を押す。", [(0, 5), (1, 1), (1, 2)]),
        ("zh", "Click <gui>OK</gui>.", "点击“<gui>确定</gui>”。", [(0, 0), (0, 1), (1, 3), (1, 4)]),
        ("zh", "Click <b>OK</b>.", "点击「<b>确定</b>」吧", [(0, 0), (0, 1), (1, 3), (1, 4)]),
        ("fr", "Type <i>=SIGN(-4.5)</i>.", "Tapez « <i>=SIGN(-4.5)</i> ».", [(0, 0)]),
        (
            "de",
            "See <link/> for more information.",
            "Weitere Informationen finden Sie im Abschnitt <link/>.",
            [(0, 2), (2, 0), (3, 1), (4, 6)],
        ),
        (
            "de",
            "See <link/> if that fails.",
            "Falls das misslingt, lesen Sie <link/>.",
            [(0, 4), (0, 5), (1, 0), (2, 1), (3, 2), (4, 6)],
        ),
        ("ja", "See <link/> now.", "今は<link/>を見る。", [(0, 3), (0, 4), (1, 0)]),
        ("ja", "See <link/>.", "<link/>の次を見る。", [(0, 4), (0, 5)]),
        ("ko", "See <link/>.", "<link/>를 봅니다.", [(0, 1)]),
        (
            "de",
            "<b>Shift+Ctrl</b>: turn",
            "<b>Umschalt(Shift)+Strg(Ctrl)</b>: drehen",
            [(0, 2), (2, 7), (4, 10)],
        ),
        ("de", "Press <b>Shift</b>.", "Drück <b>Umschalt (Shift)</b>.", [(0, 0), (1, 1), (1, 3)]),
        ("de", "Press (<b>Shift</b>).", "Drück Taste (<b>Shift</b>).", [(0, 0), (2, 3)]),
        (
            "ja",
            "Select <b>objects</b>.",
            "<b>オブジェクト</b>を選択します。",
            [(0, 7), (0, 8), *((1, one) for one in range(7))],
        ),
        (
            "ja",
            "<b>The photo is large</b> Use a small one.",
            "<b>写真が大です</b> 小さいものを使う。",
            [(1, 0), (2, 5)],
        ),
        (
            "hi",
            "Now <b>double click</b>, then",
            "अब <b>डबल क्लिक करें</b>, फिर",
            [(0, 0), (1, 1), (2, 2), (3, 4), (4, 5)],
        ),
        ("ar", "Who <b>is it</b>?", "من <b>هو</b>؟", [(0, 0), (2, 1)]),
    ],
)
def test_marks_and_holes_of_the_translation_decide_where_links_do_not(
    language, source, expected, links
):
    target = re.sub("<[^>]*>", "", expected)
    assert placed(source, target, links, language) == expected


def test_a_footnote_mark_follows_its_word():
    links = [(0, 0), (1, 1), (2, 4), (3, 3), (4, 2), (5, 5), (6, 6)]
    assert projected('m n a<x id="1"/> b c d e', "p q z y x w v", links) == (
        'p q z y x<x id="1"/> w v'
    )


def test_an_outer_element_grows_to_hold_its_inner_one():
    assert projected('<g id="1">a <g id="2">b</g></g> c', "x y z", [(0, 0), (1, 2), (2, 1)]) == (
        '<g id="1">x y <g id="2">z</g></g>'
    )


def test_overlapping_siblings_are_cut_apart():
    links = [(0, 0), (0, 2), (1, 1), (2, 3)]
    result = projected('<g id="1">a</g> <g id="2">b</g> c', "w x y z", links, "paper")
    assert result == '<g id="1">w </g><g id="2">x</g> y z'


def test_crossing_pairs_of_the_source_may_cross():
    source = '<bx id="1"/>a <g id="2">b<ex id="1"/> c</g>'
    assert projected(source, "x y z", [(0, 0), (1, 1), (2, 2)]) == (
        '<bx id="1"/>x <g id="2">y<ex id="1"/> z</g>'
    )


def test_half_pairs_and_tags_at_one_place_keep_their_order():
    source = 'a <x id="1"/><x id="2"/><bx id="3"/>b</g> c'
    assert projected(source, "x y z", [(0, 0), (1, 1), (2, 2)]) == (
        'x <x id="1"/><x id="2"/><bx id="3"/>y</g> z'
    )


def test_a_tag_inside_a_token_is_placed_by_its_parts():
    assert projected('2014<g id="1">7</g> a', "b 20147", [(0, 1), (1, 0)]) == (
        'b 2014<g id="1">7</g>'
    )
    assert projected('rate<x id="1"/>July', "KursJuli", [(0, 0)]) == 'Kurs<x id="1"/>Juli'
    for text in ('EN<x id="1"/>EN', '  EN<x id="1"/>EN'):
        assert projected(text, "DEDE", [(0, 0)]) == 'DE<x id="1"/>DE'
    links = [(0, 0), (1, 1), (2, 2)]
    assert projected('m a<g id="1">b</g> c', "x yab z", links) == 'x <g id="1">yab</g> z'


def test_tokens_without_tags_inside_are_not_cut():
    marked = parse_markup("<b>ab</b> cd")
    tokens = [(0, 2), (3, 5)]
    assert cut_tokens(marked, "aB1", tokens, [(0, 3)]) == (tokens, [(0, 3)])


def test_every_token_is_cut_at_all_tags_inside():
    marked = parse_markup("a<x/>b cd<x/>efg<x/>hi")
    cut, _ = cut_tokens(marked, "uv", [(0, 2), (3, 10)], [(0, 2)])
    assert cut == [(0, 1), (1, 2), (3, 5), (5, 8), (8, 10)]


def test_a_target_token_is_cut_where_a_word_may_turn_into_the_next():
    marked = parse_markup("see ab<x/>cd")
    assert cut_tokens(marked, "uV x2 O.K", [(0, 3), (4, 8)], [(0, 2), (3, 5), (6, 9)])[1] == [
        *((0, 1), (1, 2), (3, 4), (4, 5), (6, 8), (8, 9))
    ]


@pytest.mark.parametrize(
    ("source", "target", "links"),
    [
        ("the <g id='1'>cafe</g>s at home", "die cafe\u0301s daheim", [(0, 0), (1, 1), (2, 2)]),
        ("<g id='1'>File</g>s are at us", "schreib kontakt@FooBar.de da", [(0, 1), (2, 0)]),
        ("<g id='1'>File</g>s are at us", "in {nameOf2Files} da", [(0, 1), (2, 0)]),
        (
            "a <g id='1'>GNOME</g>s app <g id='2'>Foo</g>",
            "die https://x.org/FooBar1 da",
            [(0, 0), (2, 1)],
        ),
        ("<g id='1'>Hi</g>s", "x@FooBar.de", [(0, 0)]),
        ("<g id='1'>Good</g>Job", "\U0001f44d\U0001f3fd", [(0, 0)]),
        ("<g id='1'>Ger</g>many", "\U0001f1e9\U0001f1ea", [(0, 0)]),
    ],
)
def test_a_tag_inside_a_word_of_the_source_parts_no_address_placeholder_or_grapheme(
    source, target, links
):
    text = projected(source, target, links)
    for part in (
        *("e\u0301s", "kontakt@FooBar.de", "{nameOf2Files}", "x.org/FooBar1", "x@FooBar.de"),
        *("\U0001f44d\U0001f3fd", "\U0001f1e9\U0001f1ea"),
    ):
        assert (part in target) == (part in text)


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("place", range(4))
def test_no_tag_is_inside_a_character_reference_after_an_address(rules, place):
    # What ends the address is not in its characters, so "www.x.de&gt" and ";" are tokens.
    source = parse_markup("see <g id='1'>there</g>.", XLIFF)
    tokens = [(0, 3), (4, 9), (9, 10)], [(0, 4), (5, 16), (16, 17), (18, 20)]
    links = SoftLinks.certain([(0, 0), (1, place)])
    result = project_tags(source, "sieh www.x.de&gt; da", *tokens, links, rules)
    assert "&gt;" in str(result)


def test_an_address_that_both_texts_have_is_parted_as_in_the_source():
    assert projected("see <g id='1'>http</g>://a.b", "siehe http://a.b", [(0, 0), (1, 1)]) == (
        "siehe <g id='1'>http</g>://a.b"
    )


@pytest.mark.parametrize("links", [[], [(0, 5)]])
def test_the_third_of_three_equal_names_is_tagged_without_a_link(links):
    source = 'Press A then A then <g id="1">A</g> now'
    assert projected(source, "A und A und A drücken", links) == (
        'A und A und <g id="1">A</g> drücken'
    )


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("MENU", "menu"),
        ("\uff2d\uff25\uff2e\uff35", "menu"),
        ("İndir", "indir"),
        ("2019", "٢٠١٩"),
    ],
)
def test_a_name_is_the_same_in_another_case_or_width_or_script_of_digits(name, same):
    actual = projected(f'open the <g id="1">{name}</g> now', f"{same} jetzt doch starten", [(3, 1)])
    assert actual == f'<g id="1">{same}</g> jetzt doch starten'


@pytest.mark.parametrize(
    ("source", "target", "links", "is_certain"),
    [
        ('Open the <g id="1">file</g>', "Öffnen", [], False),
        ('Open the <g id="1">file</g>', "", [], False),
        ('Open the <g id="1">file</g>', "Datei", [(2, 0)], True),
        ('<g id="1">Open</g>', "Öffnen", [], True),
        ('<g id="1">Open</g>!', "", [], False),
        ('¡<g id="1">Open</g>', "", [], False),
    ],
)
def test_the_only_place_of_words_without_links_is_doubtful(source, target, links, is_certain):
    marked = parse_markup(source)
    sides = words(marked.text), words(target)
    placed = place_tags(marked, target, *sides, SoftLinks.certain(links))
    assert len(set(placed.confidences)) == 1
    highest = shipped_weights().confidence(CERTAIN)
    assert (placed.confidences[0] == highest) == is_certain


def test_empty_sides_are_no_fault():
    assert projected('<g id="1">a</g><x id="2"/>', "", []) == '<g id="1"></g><x id="2"/>'
    assert projected('<g id="1"></g><x id="2"/>', "x y", []).replace("</g>", "").count("<") == 2
    assert projected("a", "x", []) == "x"


@pytest.mark.parametrize("link", [(-1, 0), (2, 0), (0, -1), (0, 1)])
def test_links_outside_the_tokens_are_refused(link):
    with pytest.raises(WorkerError, match="numbered from 0"):
        projected('<g id="1">a</g> b', "x", [link])


def test_unknown_rules_are_refused():
    with pytest.raises(ConfigError, match="rules"):
        projected("a", "x", [], "good")


def test_proportional_places_keep_the_order():
    assert str(place_proportionally(parse_markup("<b>ab</b>cd"), "abcdefgh")) == "<b>abcd</b>efgh"
    assert str(place_proportionally(parse_markup("<x/>"), "ab")) == "<x/>ab"


def identities(tags):
    """Return each tag's number by what it is: name, key, form, which of several, which end."""
    seen, result = Counter(), {}
    for element in find_elements(tags):
        first = tags[element.first]
        base = first.name, first.key, element.form
        for end, number in (("opening", element.opening), ("closing", element.closing)):
            if number is not None:
                result[(*base, seen[base], end)] = number
        seen[base] += 1
    return result


def test_real_tags_go_where_translators_put_them(shared_data):
    folder = shared_data / "tagged"
    pairs = [
        tuple(parse_markup(line, XLIFF) for line in lines)
        for name in ("eurlex", "glossary")
        for lines in zip(
            *(
                (folder / f"{name}-dev.{side}").read_text(encoding="utf-8").split("\n")[:-1]
                for side in ("en", "hu")
            ),
            strict=True,
        )
    ]
    cut = []
    for source, target in pairs:
        one, other = cut_tokens(source, target.text, words(source.text), words(target.text))
        cut.append((source.text, one, target.text, other))
    table = tokens_table(cut)
    links = soften(fit(table, HmmConfig()).with_threshold(0.05).align(table))
    right = total = 0
    for (source, target), (_, one, _, other), soft in zip(pairs, cut, links, strict=True):
        result = project_tags(source, target.text, one, other, soft)
        assert strip_markup(str(result), XLIFF) == target.text
        assert Counter(tag.raw for tag in result.tags) == Counter(tag.raw for tag in source.tags)
        if all(element.form is Form.PAIR for element in find_elements(source.tags)):
            assert is_nested(result.tags) >= is_nested(source.tags)
        made, gold = identities(result.tags), identities(target.tags)
        for name in made.keys() & gold.keys():
            total += 1
            right += result.tags[made[name]].offset == target.tags[gold[name]].offset
    assert right / total > 0.95


@pytest.mark.parametrize(
    ("tagged", "target", "parts"),
    [
        ("x rate<b/>July y", "a rateJuly b", ["a", "rate", "July", "b"]),  # the same word
        ("x rate<b/>July y", "a rateJuni b", ["a", "rate", "Juni", "b"]),  # begins alike
        ("x Kurs<b/>July y", "a tauxJuly b", ["a", "taux", "July", "b"]),  # ends alike
        ("x rate<b/>. y", "a taux. b", ["a", "taux", ".", "b"]),  # a mark of one character
        ("x rate<b/>s y", "a tauxs b", ["a", "tauxs", "b"]),  # one letter says nothing
        ("x r<b/>ate y", "a repas b", ["a", "repas", "b"]),
        ("x rate<b/>July y", "a tauxJuin b", ["a", "taux", "Juin", "b"]),  # a capital
        ("x rate<b/>July y", "a tauxjuin b", ["a", "tauxjuin", "b"]),
    ],
)
def test_a_tag_inside_a_word_cuts_the_word_that_may_be_its_translation(tagged, target, parts):
    source = parse_markup(tagged)
    _, actual = cut_tokens(source, target, words(source.text), words(target))
    assert [target[start:end] for start, end in actual] == parts
    assert all(isinstance(at, int) for token in actual for at in token)


def test_the_order_of_tags_says_where_each_tag_of_the_source_went():
    source = parse_markup("<b>a</b> <i>b</i> <u>c</u>")
    tokens = [(0, 1), (2, 3), (4, 5)]
    links = SoftLinks.certain([(0, 1), (1, 2), (2, 0)])
    placed = place_tags(source, "C A B", tokens, tokens, links)
    assert str(placed.marked) == "<u>C</u> <b>A</b> <i>B</i>"
    assert placed.order == (2, 3, 4, 5, 0, 1)


@pytest.mark.parametrize(
    ("source", "target", "cut_source", "cut_target"),
    [
        ("a<x/>b c", "ab c", ["a", "b", "c"], ["a", "b", "c"]),  # parts of one letter
        ("Wi<x/>Fi b", "X-Ray b", ["Wi", "Fi", "b"], ["X-Ray", "b"]),
        ("a <x/>b<y/>c", "d ef", ["a", "b", "c"], ["d", "ef"]),  # a tag before a word, too
        ("<x/>was wo", "was?Wo b", ["was", "wo"], ["was?", "Wo", "b"]),
    ],
)
def test_tokens_are_cut_where_tags_may_belong(source, target, cut_source, cut_target):
    marked = parse_markup(source)
    texts = marked.text, target
    tokens = [[match.span() for match in re.finditer(r"\S+", text)] for text in texts]
    cut = cut_tokens(marked, target, *tokens)
    assert [
        [text[start:end] for start, end in side] for text, side in zip(texts, cut, strict=True)
    ] == [cut_source, cut_target]


def test_links_of_cut_tokens_keep_the_probability_of_each_direction():
    links = SoftLinks(np.array([0]), np.array([0]), np.array([0.9]), np.array([0.3]))
    masses = lay_out(parse_markup("rate<x/>July"), "KursJuli", [(0, 8)], [(0, 8)], links)[2]
    assert list(zip(masses.sources.tolist(), masses.targets.tolist(), strict=True)) == [
        (0, 0),
        (1, 1),
    ]
    assert masses.forward.tolist() == [900, 900]
    assert masses.reverse.tolist() == [300, 300]
