"""Words that no tag may split: where texts may be cut, counts of words, results held by column."""

import pyarrow as pa
import pyarrow.compute as pc
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms import schemas
from pairweave.transforms.arrow.flat_columns import texts_of
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.kernels.text.word_counts import may_have_unspaced_letters
from pairweave.transforms.text import whole_words
from pairweave.transforms.text.tokens import TokenConfig, add_tokens, tokenize
from pairweave.transforms.text.whole_words import (
    ResultCache,
    find_cuts,
    pair_cuts,
    spaced_word_counts,
    word_counts,
)
from tests.makers.cut_texts import WHITESPACE, WORDS, cut, pairs, small_pieces
from tests.makers.hmm_corpora import plain_table
from tests.makers.text_strategies import texts
from tests.oracles import slow_tokens

UNSPACED = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]"
)


@pytest.fixture
def found(monkeypatch):
    """Return the texts in which spans are found."""
    seen = []
    search = whole_words._find_unbroken

    def look(texts, *arguments, **settings):
        seen.append(texts.to_pylist())
        return search(texts, *arguments, **settings)

    monkeypatch.setattr(whole_words, "_find_unbroken", look)
    return seen


def test_cuts_and_words_of_a_table_are_found_once_a_side(found):
    table = plain_table([("don't go", "l'eau est là"), ("a", "b c")])
    pair_cuts(table)
    counts = [
        word_counts(table.column(side), table.column(f"{side}_lang")).tolist()
        for side in ("source", "target")
    ]
    assert found == [table.column(side).to_pylist() for side in ("source", "target")]
    alone = [
        word_counts(pa.array(column), languages)
        for column, languages in (
            (table.column(side).to_pylist(), table.column(f"{side}_lang"))
            for side in ("source", "target")
        )
    ]
    assert counts == [counted.tolist() for counted in alone]


def test_a_column_of_several_chunks_is_found_once(found):
    texts = pa.chunked_array([["don't go"], ["l'eau"]])
    languages = pa.chunked_array([["en"], ["fr"]]).dictionary_encode()
    counts = [word_counts(texts, languages).tolist() for _ in range(2)]
    assert counts == [[2, 1]] * 2
    assert found == [texts.to_pylist()]


def test_another_language_or_setting_is_another_question(found):
    texts = pa.array(["well-known l'eau"])
    cut = tokenize(texts, TokenConfig(), "fr")
    whole = whole_words.find_cuts(texts, cut, "fr")
    parts = whole_words.find_cuts(texts, cut, "fr", compounds=False)
    english = whole_words.find_cuts(texts, cut, "en")
    assert len(found) == 3
    assert not whole.equals(parts)
    assert whole.equals(whole_words.find_cuts(texts, cut, "fr"))
    assert english.equals(whole_words.find_cuts(pa.array(texts.to_pylist()), cut, "en"))


@given(st.lists(st.lists(st.sampled_from(["a", "bc", ""]), max_size=3), max_size=30), st.data())
def test_columns_that_come_and_go_keep_their_own_results(columns, data):
    held = ResultCache(2)
    for lines in columns:
        column = pa.array(lines, pa.string())
        start = data.draw(st.integers(0, len(lines)))
        part = column[start:]
        if data.draw(st.booleans()):
            part = part.dictionary_encode()
        for _ in range(data.draw(st.integers(1, 3))):
            assert held.find([part], None, part.to_pylist) == lines[start:]


def test_what_is_held_goes_at_the_second_asking_and_when_others_come():
    held = ResultCache(2)
    columns = [pa.array([name]) for name in "abc"]
    asked = []

    def ask(place):
        return held.find([columns[place]], None, lambda: asked.append(place) or place)

    assert [ask(place) for place in (0, 0, 0, 1, 2, 0, 2)] == [0, 0, 0, 1, 2, 0, 2]
    assert asked == [0, 0, 1, 2, 0]


@pytest.mark.parametrize(
    ("language", "text", "config", "expected"),
    [
        ("en", "I can't go.", WORDS, [1, 1, 0, 1, 1, 1]),
        ("fr", "l'eau", WORDS, [1, 1, 1]),
        ("en", "a first-class one", WORDS, [1, 1, 0, 0, 1, 1]),
        ("de", "mit OLE-Objekten", WORDS, [1, 1, 1, 1, 1]),
        ("de", "E-Mail-Adresse", WORDS, [1, 0, 0, 1, 1, 1]),
        ("de", "COVID-19 Make-up", WORDS, [1, 0, 0, 1, 0, 0, 1]),
        ("fi", "Super-näppäin USB:n", WORDS, [1, 1, 1, 1, 1, 1]),
        ("hu", "Firefox-ot e-mailt", WORDS, [1, 1, 1, 1, 0, 0, 1]),
        ("tr", "Ayarlar'da", WORDS, [1, 1, 1]),
        ("de", "Vor- und Nach-", WORDS, [1, 0, 1, 1, 0, 1]),
        ("de", "A und -b - -- c", WORDS, [1, 1, 1, 0, 1, 1, 1, 1]),
        ("ja", "オムニチャネル、ア_イ", WORDS, [1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1]),
        ("ja", "カー·ﾊﾟネ", WORDS, [1, 0, 1, 1, 0, 1]),
        ("en", "see #URL1# now", WHITESPACE, [1, 1, 1, 1]),
        ("en", "a#URL1#b", WORDS, [1, 1, 1, 1, 1, 1]),
        ("de", "a %s,b", WHITESPACE, [1, 1, 1]),
        ("de", " ", WORDS, [1]),
        ("en", "2½ ¾", WORDS, [1, 0, 1, 1]),
        ("en", "2¾", WORDS, [1, 0, 1]),  # the last of Latin-1's numerals
        ("en", "2\u2189", WORDS, [1, 0, 1]),  # the last of the number forms
        ("he", "אב\u05beגד", WORDS, [1, 0, 0, 1]),
        ("he", "5²א", WORDS, [1, 0, 0, 1]),
        ("de", "MP3-Player", WORDS, [1, 0, 0, 1]),
        ("de", "OLE-Eis ist", WORDS, [1, 1, 1, 1, 1]),
        ("en", "10² m²", WORDS, [1, 0, 1, 0, 1]),
        ("en", "20 °C 90° n°5", WORDS, [1, 1, 0, 1, 1, 1, 1, 1, 1]),
        ("en", "10⁻⁶ H₂O Na⁺", WORDS, [1, 0, 0, 1, 0, 0, 1, 0, 1]),
        ("en", "¹\u2044₂ 1\u20442 ⅟4", WORDS, [1, 0, 0, 1, 1, 0, 1]),
        ("en", "½-inch 1½-fold", WORDS, [1, 0, 0, 1, 0, 0, 0, 1]),
        ("zh", "5m²的", WORDS, [1, 0, 1, 1]),
        ("am", "፲፱", WORDS, [1, 0, 1]),
        ("en", "1① ①② ❶3 %² ½%", WORDS, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]),
        ("en", "cafe\u0301² 2\u00a0½", WORDS, [1, 0, 1, 1, 1]),
    ],
)
def test_cuts_by_hand(language, text, config, expected):
    lines = pa.array([text])
    cuts = find_cuts(lines, tokenize(lines, config, language), language)
    assert cuts.to_pylist() == [[bool(free) for free in expected]]


@given(
    st.lists(texts(), min_size=1, max_size=3),
    st.sampled_from(["en", "fr", "ca", "de", "fi", "hu", "ko", None]),
    st.data(),
)
def test_a_cut_is_free_if_both_its_borders_are(lines, language, data):
    """Tokens here are any ranges; the spans that must not be split are the slow twin's."""
    spans = []
    for line in lines:
        borders = data.draw(st.lists(st.integers(0, len(line)), unique=True)) if line else []
        borders.sort()
        spans.append(list(zip(borders[::2], borders[1::2], strict=False)))
    tokens = pa.array(
        [[{"start": a, "end": b} for a, b in row] for row in spans], schemas.SPAN_LIST
    )
    expected = []
    for line, row in zip(lines, spans, strict=True):
        whole = slow_tokens.unbroken(line, language)

        def inside(place, whole=whole):
            return any(a < place < b for a, b in whole)

        starts = [not inside(a) for a, _ in row] + [True]
        ends = [True] + [not inside(b) for _, b in row]
        expected.append([a and b for a, b in zip(starts, ends, strict=True)])
    assert find_cuts(pa.array(lines), tokens, language).to_pylist() == expected
    kept = find_cuts(pa.array(lines)[1:], tokens[1:], language).to_pylist()
    assert kept == expected[1:]


def test_pieces_may_be_cut_where_words_end():
    table = add_tokens(pairs(("en", "houses sees", "de", "x{name}y")), small_pieces())
    source, target = pair_cuts(table)
    words = [cut([text], WORDS)[0] for text in ("houses sees", "x{name}y")]
    assert sum(source.to_pylist()[0]) == len(words[0]) + 1
    assert sum(target.to_pylist()[0]) <= len(words[1]) + 1
    assert target.to_pylist()[0][0] is True


def test_cuts_need_the_tokens_of_the_same_texts():
    with pytest.raises(WorkerError, match="2 texts, but tokens of 1"):
        find_cuts(pa.array(["a", "b"]), tokenize(pa.array(["a"]), WORDS))


@given(st.lists(texts(), max_size=4), st.sampled_from(["en", "it", None]))
def test_words_hold_a_letter_or_a_digit(lines, language):
    column = pa.array(lines, pa.string())

    def wordlike(found):
        return sum(regex.search(r"[\p{L}\p{N}]", token) is not None for token in found)

    between_spaces = [wordlike(row) for row in cut(lines, WHITESPACE)]
    assert spaced_word_counts(column).tolist() == between_spaces
    whole = [
        wordlike([line[a:b] for a, b in slow_tokens.unbroken(line, language)]) for line in lines
    ]
    expected = [
        words if UNSPACED.search(line) else min(words, spaced)
        for line, words, spaced in zip(lines, whole, between_spaces, strict=True)
    ]
    assert word_counts(column, language).tolist() == expected


def test_syllables_of_tibetan_are_words():
    assert word_counts(pa.array(["བོད་སྐད་ནི་བཀྲ་ཤིས། བདེ་ལེགས།"]), "bo").tolist() == [7]


def test_english_clitics_are_no_words():
    assert word_counts(pa.array(["I can't, she's 12 %!"]), "en").tolist() == [4]


def test_texts_without_a_letter_of_an_unspaced_script_are_not_looked_at():
    points = pa.array([chr(point) for point in [*range(0xD800), *range(0xE000, 0x110000)]])
    possible = may_have_unspaced_letters(*texts_of(points))
    matches = pc.match_substring_regex(points, whole_words._UNSPACED)
    assert not (matches.to_numpy(zero_copy_only=False) & ~possible).any()
    few = pa.array(["\u201cé\u2026 ŵ", "", "a\u0e01"])
    assert may_have_unspaced_letters(*texts_of(few)).tolist() == [False, False, True]
