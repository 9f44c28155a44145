# ruff: noqa: RUF001 - marks that look alike are meant
"""Which phrase pairs are drawn, and how often: cases by hand, and the slow twin."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pairweave.transforms.arrow.flat_columns import fields_of, texts_of
from pairweave.transforms.kernels.tags import sound_phrases as kernel
from pairweave.transforms.kernels.text.utf8 import FlatTexts
from pairweave.transforms.links.kept_links import with_links
from pairweave.transforms.links.linked_rows import linked_rows
from pairweave.transforms.links.phrase_extraction import PhraseConfig, extract_phrases
from pairweave.transforms.tags.sound_phrases import keep_sound, mark_roles
from pairweave.transforms.tags.tags import TagConfig, find_taggable, inject_tags
from pairweave.transforms.text.tokens import TokenConfig, tokenize
from tests.makers.read_only import read_only
from tests.oracles import slow_sound_phrases, slow_tags
from tests.transforms.tags.test_tags import INFINITE, linked_pairs, table_of

MARKS = [
    *"\"“”„«»‹›'‘’()[]（）「」《》.。។၊,，:：;?!…—-%&",
    "...",
    "»,",
    "Mr",
    "St.",
    "3",
    "Dr",
    "l'",
    "\u200f",
    ".\u200f",
]
WORDS = [
    "a",
    "Bee",
    "10",
    "été",
    "don't",
    "漢字",
    "x-y",
    "f(x)",
    "it’s",
    "을",
    "파일을",
    "Tab키",
    "を",
]
WORDS += ["設定からも", "USB:n", "Ayarlar'da", "ひらく", "カナ"]


def weights_of(table, **options):
    """Return the phrase pairs that may be tagged with their weights, for each pair."""
    offsets, boxes, weights = find_taggable(table, TagConfig(**options)).phrases
    return [
        {
            tuple(boxes[:, phrase].tolist()): float(weights[phrase])
            for phrase in range(offsets[pair], offsets[pair + 1])
        }
        for pair in range(len(offsets) - 1)
    ]


def expected_weights(pair, *, punctuation):
    """Return what `weights_of` returns, by the slow twin."""
    boxes = [tuple(phrase.values())[:4] for phrase in pair["phrases"]]
    weights = {box: slow_sound_phrases.weight_of(pair, box) for box in boxes}
    return {
        box: weight
        for box, weight in weights.items()
        if weight is not None and (punctuation or slow_tags.holds_words(pair, box))
    }


def count_tokens(text, language):
    """Return how many tokens a text has."""
    return len(tokenize(pa.array([text]), TokenConfig(), language)[0])


def phrases_of(source, target, links=None, languages=("en", "fr")):
    """Return the texts of the sound phrase pairs of a pair, linked in order by default."""
    counts = map(count_tokens, (source, target), languages)
    links = [(word, word) for word in range(min(counts))] if links is None else links
    table = table_of([(source, target)], [links], languages=languages)
    (row,) = table.to_pylist()

    def text(side, first, behind):
        tokens = row[f"{side}_tokens"]
        return row[side][tokens[first]["start"] : tokens[behind - 1]["end"]]

    (result,) = weights_of(table)
    return {
        (text("source", *box[:2]), text("target", *box[2:])): weight
        for box, weight in result.items()
    }


def test_links_of_the_words_beside_a_phrase_pair_settle_its_borders():
    actual = phrases_of("a b c d", "A B C D")
    assert set(actual.values()) == {50.0}
    # The words beside `b` have no link, or one that leads elsewhere.
    actual = phrases_of("a b c d", "A B C D", [(1, 1), (3, 3)])
    assert actual == {("d", "D"): 1.0, ("b", "B"): 0.0}
    actual = phrases_of("a b c d", "A B C D", [(0, 2), (1, 1), (2, 3), (3, 0)])
    assert actual[("a b", "B C")] == 1.0
    assert ("b", "B") in actual
    assert actual[("d", "A")] == 0.0


def test_exchanged_words_settle_a_border():
    actual = phrases_of("the green witch", "la bruja verde", [(0, 0), (1, 2), (2, 1)])
    assert actual[("green witch", "bruja verde")] == 50.0
    assert actual[("witch", "bruja")] == 1.0


@pytest.mark.parametrize(
    ("source", "target", "links"),
    [
        ("click Yes , then", "cliquez Oui puis", [(0, 0), (1, 1), (2, 1), (3, 2)]),
        ("click Yes then", "klicken Ja » dann", [(0, 0), (1, 1), (1, 2), (2, 3)]),
        ("go : now", "geh jetzt", [(0, 0), (1, 0), (2, 1)]),
        ("he said . now", "er sprach ; jetzt", [(0, 0), (1, 1), (2, 2), (3, 3)]),
    ],
)
def test_no_side_alone_has_a_mark_at_an_edge(source, target, links):
    for one, other in phrases_of(source, target, links):
        for place in (0, -1):
            sides = [text[place] if not text[place].isalnum() else None for text in (one, other)]
            assert sides[0] == sides[1]


@pytest.mark.parametrize(
    ("source", "target", "source_marks", "target_marks"),
    [
        ("he said “ go now ” today", "er sprach „ geh jetzt “ heute", "“”", "„“"),
        ('he said " go now " today', "er sprach « geh jetzt » heute", '""', "«»"),
        ("he said ( go now ) today", "er sprach （ geh jetzt ） heute", "()", "（）"),
        ("he said 'go now' today", "er sprach ‚geh jetzt‘ heute", "''", "‚‘"),
        ("see [ the ( big ) tree ] now", "seht [ der ( grosse ) Baum ] jetzt", "[]", "()"),
    ],
)
def test_a_pair_of_quotes_or_brackets_is_never_cut(source, target, source_marks, target_marks):
    actual = phrases_of(source, target)
    assert any(source_marks[0] in one and target_marks[0] in other for one, other in actual)
    for pair in actual:
        for text, (opening, closing) in zip(pair, (source_marks, target_marks), strict=True):
            if opening == closing:
                assert text.count(opening) % 2 == 0
            else:
                assert text.count(opening) == text.count(closing)


def test_an_apostrophe_is_no_quotation_mark():
    actual = phrases_of("the dogs' tails don't hurt", "der Hunde Schwänze tun nicht weh")
    assert any("don't" in one for one, _ in actual)


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("we go . They stay", False),
        ("we go ! they stay", True),
        ("we go? They stay", False),
        ("we go. ” They stay", False),
        ("we met Mr. Smith today", True),
        ("on 3. Oktober we met", True),
        ("in 2008. We met them", False),
        ("by J. Smith we met", True),
        ("wait ... They stay here", True),
        ("for … Next we go", True),
        ("我走。他留", False),
        ("ខ្ញុំទៅ។ អ្នកមក", False),
        ("ငါသွားတယ်။ သူလာတယ်", False),
        ("እኔ እሄዳለሁ። አንተ", False),
        ("Ես գնում եմ։ Դու", False),
    ],
)
def test_a_tag_stays_within_a_sentence(text, inside):
    actual = phrases_of(text, text)
    held = {one for one, _ in actual}
    assert (text in held) == inside
    assert any(" " in one or len(one) > 1 for one in held)


@pytest.mark.parametrize("hidden", ["\u200f", "\ufe0f", "\u200e\u2066"])
@pytest.mark.parametrize("text", ["we go . They stay", "wait... They (stay)", "in U.S. we go!"])
def test_an_invisible_character_at_the_edge_of_a_token_changes_nothing(text, hidden):
    marked = regex.sub(r"(?<=[.!?)])(?!\.)", hidden, text)
    actual = {(one.replace(hidden, ""), other) for one, other in phrases_of(marked, text)}
    assert actual == phrases_of(text, text).keys()


@pytest.mark.parametrize(
    ("language", "text", "begins", "attached"),
    [
        (
            "ko",
            "연락처에서 “파일”을 Tab키로",
            ["연락처", "파일", "Tab"],
            ["에서", "을", "키", "로"],
        ),
        ("ko", "USB를 3.5로", ["USB", "3.5"], ["를", "로"]),
        ("tr", "Ayarlar'da “Kaydet”e basın", ["Ayarlar", "Kaydet"], ["'da", "e"]),
        ("fi", "USB:n “Tallenna” on", ["USB", "Tallenna", "on"], [":n"]),
        ("en", "the user's file isn't", ["user", "file", "is"], ["'s", "n't"]),
        ("fr", "l'hôtel « Oui » d’accueil", ["l'", "hôtel", "Oui", "accueil"], []),
        ("de", "GNOME-Werkzeug „Ja“ oder", ["GNOME", "Werkzeug", "Ja", "oder"], []),
        ("ja", "「保存」を開く。これも", ["保", "開", "こ", "れ"], ["を", "く", "も"]),
        ("zh", "点击“确定”按钮", ["确", "按", "钮"], []),
        ("th", "เปิดไฟล์", ["เ", "ฟ"], []),
    ],
)
def test_a_tag_does_not_open_at_what_is_attached_to_a_word(language, text, begins, attached):
    texts = pa.array([text])
    offsets, tokens = fields_of(tokenize(texts, TokenConfig(), language))
    flat = FlatTexts(*texts_of(texts))
    actual = kernel.mark_tokens(flat, offsets, tokens["start"], tokens["end"], mark_roles())
    words = [text[a:b] for a, b in zip(tokens["start"], tokens["end"], strict=True)]
    flags = dict(zip(words, actual.attached.tolist(), strict=True))
    assert [word for word in words if flags[word]] == attached
    assert not any(flags[word] for word in begins)


def test_a_particle_is_drawn_with_its_noun_and_not_alone():
    links = [(0, 2), (1, 1), (2, 0)]
    actual = phrases_of("open the files", "파일을 열어요", links, ("en", "ko"))
    assert ("the files", "파일을") in actual
    assert not any(other == "을" for _, other in actual)
    actual = phrases_of("파일을 열어요", "open the files", links, ("ko", "en"))
    assert not any(one.startswith("을") for one, _ in actual)


def test_all_phrase_pairs_are_drawn_alike_if_the_options_say_so():
    table = table_of(
        [("they go. We stay", "sie gehen. Wir bleiben")], [[(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]]
    )
    offsets, boxes, weights = find_taggable(table, TagConfig(phrase_pairs="all")).phrases
    assert len(weights) == 0
    assert boxes.shape[1] == 14  # all but the full stop alone
    sound = find_taggable(table, TagConfig()).phrases
    assert sound.boxes.shape[1] < 14
    assert len(sound.weights) == sound.boxes.shape[1]
    assert offsets[-1] == 14


def test_settled_borders_and_confidence_count_together():
    table = table_of([("a b c", "A B C")], [[(0, 0), (1, 1)]])
    uniform, confident = (weights_of(table, draw=draw)[0] for draw in ("uniform", "confident"))
    assert {uniform[(0, 2, 0, 2)], uniform[(1, 2, 1, 2)]} == {1.0}
    assert {box: weight * 100 for box, weight in uniform.items()} == pytest.approx(confident)


def test_a_phrase_pair_with_two_settled_borders_is_drawn_more():
    links = [(0, 0), (1, 1), (2, 2), (5, 5), (7, 7), (8, 8)]
    pairs = [(" ".join(f"{n}w{i}" for i in range(9)),) * 2 for n in range(600)]
    table = table_of(pairs, [links] * len(pairs))
    config = TagConfig(mix=INFINITE, max_tags=1)
    tags = [row["tags"][0] for row in inject_tags(table, config)[0].to_pylist()]
    # [0, 3) and [7, 9) have parts with two settled borders, [5, 6) has none.
    (actual,) = {tuple(sorted(row.items())) for row in weights_of(table)}
    assert sorted({weight for _, weight in actual}) == [0.0, 1.0, 50.0]
    twice = sum(weight for _, weight in actual if weight == 50)
    share = twice / sum(weight for _, weight in actual)
    ends = np.array([(tag["source_start"], tag["source_end"]) for tag in tags])
    texts = [source[start:end] for (source, _), (start, end) in zip(pairs, ends, strict=True)]
    drawn = [tuple(word.split("w")[1] for word in text.split()) for text in texts]
    sure = {
        tuple(str(word) for word in range(box[0], box[1])) for box, weight in actual if weight == 50
    }
    assert sum(words in sure for words in drawn) / len(drawn) == pytest.approx(share, abs=0.06)
    assert ("5",) not in drawn


def test_marks_that_enclose_begin_with_the_bytes_that_are_looked_for():
    points = np.flatnonzero(mark_roles() & kernel.FAMILY)
    actual = {chr(point).encode()[0] for point in points.tolist()}
    assert {byte for byte in actual if byte >= 0x80} <= {0xC2, 0xE2, 0xE3, 0xEF}
    assert {byte for byte in actual if byte < 0x80} == set(b"\"'()[]{}")


@st.composite
def marked_pairs(draw):
    """Draw a PHRASES table of texts with many marks, most of them linked in order."""
    part = st.tuples(st.sampled_from([*MARKS, *WORDS]), st.sampled_from(["", " ", " "]))
    side = st.lists(part.map("".join), min_size=2, max_size=12).map("".join)
    sides = draw(st.lists(st.tuples(side, side), min_size=1, max_size=2))
    languages = draw(st.sampled_from([("en", "fr"), ("ko", "ja"), ("tr", "fi")]))
    links = []
    for pair in sides:
        counts = list(map(count_tokens, pair, languages))
        words = range(min(counts))
        links.append({(word, word) for word in words if draw(st.integers(0, 4))})
        if 0 not in counts:
            edge = st.tuples(*(st.integers(0, count - 1) for count in counts))
            links[-1] |= draw(st.sets(edge, max_size=2))
    return table_of(sides, links, languages=languages)


@example(  # a digit that is younger than Python's own table of Unicode
    table=table_of([("'’'%s", "the 漢字 \U00012550 the")], [{(3, 3)}]),
    punctuation=False,
)
@given(table=st.one_of(marked_pairs(), marked_pairs(), linked_pairs()), punctuation=st.booleans())
def test_phrase_pairs_and_weights_are_those_of_the_slow_twin(table, punctuation):
    config = TagConfig(punctuation_tags=punctuation)
    phrases = find_taggable(
        table, config.changed(phrase_pairs="all", punctuation_tags=True)
    ).phrases
    offsets, boxes, weights = keep_sound(table, phrases, punctuation_tags=punctuation)
    allowed = [
        {tuple(phrases.boxes[:, place].tolist()) for place in range(*bounds)}
        for bounds in zip(phrases.offsets[:-1], phrases.offsets[1:], strict=True)
    ]
    for number, pair in enumerate(table.to_pylist()):
        actual = {
            tuple(boxes[:, place].tolist()): weights[place]
            for place in range(offsets[number], offsets[number + 1])
        }
        expected = expected_weights(pair, punctuation=punctuation)
        assert actual == {box: expected[box] for box in expected if box in allowed[number]}


def classes_of_marks():
    """Return what the slow twin calls the marks of each class; a class has marks of one name."""
    names = {0: {None}}
    for letter in "".join(
        (slow_sound_phrases.QUOTES, *slow_sound_phrases.KINDS, *slow_sound_phrases.OTHERS, "—-%&/*")
    ):
        kind = int(mark_roles()[ord(letter)]) & kernel.MARK
        names.setdefault(kind, set()).add(slow_sound_phrases.mark_of(letter))
    assert all(len(own) == 1 for own in names.values())
    assert len(names) == len(set().union(*names.values()))
    return {kind: next(iter(own)) for kind, own in names.items()}


def cut_at_words(*texts):
    """Return texts, and their words and single marks as tokens."""
    found = [[match.span() for match in regex.finditer(r"\w+|[^\w ]", text)] for text in texts]
    return [*texts], found


CASES = [
    cut_at_words(". ( „ a “ ) .", "(a(b)c)", "“a”b” c”", "x.. Y", "x.!Y", "'a' 'b'", "a' b' c"),
    cut_at_words("a. B", "Art. B", "Arts. B", "abcd. ) C", "漢。b abcd. e", "'a 'b c'", "…⋯"),
    cut_at_words("b", "(" * 40 + "a" + ")" * 40, "(a)" * 70),  # over `DEPTH`; much room
    (["(a) b", "漢。).B", "漢。B"], [[(0, 3), (4, 5)], [(0, 1), (1, 2), (2, 4), (4, 5)], [(0, 2)]]),
    (["ひからも", "ひかに", "ひから", "aเ", "漢a"], [[(0, 1), (1, n)] for n in (4, 3, 3, 2, 2)]),
    (
        ["abc. D", "abcd. D", "ab.. E"],
        [[(0, 4), (5, 6)], [(0, 5), (6, 7)], [(0, 2), (2, 4), (5, 6)]],
    ),
    (
        ["abcd. B", "(a)b"],
        [
            [(0, 4), (4, 5), (5, 5), (6, 6), (6, 7), (7, 7)],
            [(0, 1), (1, 2), (2, 3), (3, 3), (3, 4)],
        ],
    ),
]


@st.composite
def cut_texts(draw):
    """Draw texts with many marks, and tokens of any length, even 0, that have no white space."""
    part = st.tuples(st.sampled_from([*MARKS, *WORDS, "x", "Y"]), st.sampled_from(["", "", " "]))
    texts = draw(
        st.lists(st.lists(part.map("".join), max_size=16).map("".join), min_size=1, max_size=3)
    )
    cuts = []
    for text in texts:
        spaces = {
            place + side for place in range(len(text)) for side in (0, 1) if text[place] == " "
        }
        drawn = draw(st.lists(st.integers(0, len(text)), max_size=2 * len(text)))
        bounds = itertools.pairwise(sorted([*spaces, *drawn]))
        cuts.append([span for span in bounds if text[slice(*span)] != " "])
    return texts, cuts


@pytest.mark.parametrize("case", CASES)
def test_the_punctuation_of_some_tokens_is_that_of_the_slow_twin(case):
    require_punctuation_of_twin(*case)


@given(cut_texts())
def test_the_punctuation_of_tokens_is_that_of_the_slow_twin(drawn):
    require_punctuation_of_twin(*drawn)


def require_punctuation_of_twin(texts, cuts):
    offsets = np.cumsum([0, *map(len, cuts)])
    starts, ends = (
        read_only([span[side] for own in cuts for span in own], np.int32) for side in (0, 1)
    )
    flat = FlatTexts(*texts_of(pa.array(texts)))
    actual = kernel.mark_tokens(flat, offsets, starts, ends, mark_roles())
    names = classes_of_marks()
    for number, (text, tokens) in enumerate(zip(texts, cuts, strict=True)):
        own = slice(offsets[number], offsets[number + 1])
        words = [text[slice(*span)] for span in tokens]
        for last, kinds in ((False, actual.first), (True, actual.last)):
            expected = [slow_sound_phrases.edge_of(word, last=last) for word in words]
            assert [names[kind] for kind in kinds[own].tolist()] == expected
        wordlike = [any(map(slow_sound_phrases.is_word, word)) for word in words]
        assert actual.wordlike[own].tolist() == wordlike
        attached = [slow_sound_phrases.is_attached(text, tokens, n) for n in range(len(tokens))]
        assert actual.attached[own].tolist() == attached
        assert actual.begun[own].tolist() == slow_sound_phrases.sentences(text, tokens)
        enclosed = slice(actual.enclosures[number], actual.enclosures[number + 1])
        pairs = zip(actual.openings[enclosed], actual.closings[enclosed], strict=True)
        expected = slow_sound_phrases.enclosures(text, tokens)
        assert [tuple(map(int, pair)) for pair in pairs] == expected


@settings(max_examples=20)
@given(marked_pairs())
def test_kept_links_give_the_same_draws(table):
    config = TagConfig(mix=1)
    rows = inject_tags(table, config)[0]
    again = extract_phrases(linked_rows(with_links(rows, table), "augment"), PhraseConfig())
    assert inject_tags(again, config)[0].equals(rows)


def test_a_slice_of_a_table_gives_the_same():
    pairs = [(f"a{n} ( b c ) . D e", f"A{n} ( B C ) . D E") for n in range(5)]
    table = table_of(pairs, [[(word, word) for word in range(8)]] * 5)
    assert weights_of(table)[2:4] == weights_of(table.slice(2, 2))


@pytest.mark.slow
def test_real_phrase_pairs_are_judged_as_by_the_slow_twin(shared_data):
    lines = (shared_data / "align" / "enfr.src-tgt").read_text().split("\n")[:60]
    links = (shared_data / "align" / "enfr.mbert-awesome-align").read_text().split("\n")[:60]
    table = table_of(
        [tuple(line.split(" ||| ")) for line in lines],
        [[tuple(map(int, link.split("-"))) for link in line.split()] for line in links],
        tokens="whitespace",
    )
    actual = weights_of(table, words="whitespace", punctuation_tags=True)
    for pair, weights in zip(table.to_pylist(), actual, strict=True):
        assert weights == expected_weights(pair, punctuation=True)
    assert sum(map(len, actual)) > 500
