"""Korean words and what is attached to them: examples, and the kernel beside its slow twin."""

import unicodedata

import numpy as np
import pyarrow as pa
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.arrow.flat_columns import texts_of
from pairweave.transforms.kernels.text import korean, word_breaks
from pairweave.transforms.text import codepoints
from pairweave.transforms.text.korean_endings import ending_table, endings
from pairweave.transforms.text.tokens import TokenConfig, tokenize
from pairweave.transforms.text.whole_words import find_cuts, word_counts
from tests.makers.cut_texts import WORDS, cut
from tests.makers.text_strategies import texts
from tests.oracles import slow_korean, slow_tokens
from tests.oracles.slow_tags import below, draw


def words(text, language="ko"):
    return "|".join(cut([text], WORDS, language)[0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("파일을 연락처에서 메뉴로", "파일|을|연락처|에서|메뉴|로"),  # the file, from contacts, to
        ("화면에서는 창으로도", "화면|에서는|창|으로도"),  # a chain of particles is one
        ("파일들을", "파일|들을"),  # the plural
        ("소프트웨어입니다 폴더라는", "소프트웨어|입니다|폴더|라는"),  # the copula
        ("검색합니다 설정할 표시되는", "검색|합니다|설정|할|표시|되는"),  # a noun as a verb
    ],
)
def test_a_noun_parts_from_what_is_attached_to_it(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    "word",
    [
        *("결과", "속도", "정도", "추가", "높이", "회의", "바로", "또는", "하지만", "번들"),
        *("하는", "원하는", "위한", "있는", "없는", "누르는", "보이는", "작은", "같은", "않을"),
        *("에서는", "으로", "의"),  # a particle after a quotation mark or a placeholder
    ],
)
def test_a_word_that_only_looks_like_a_noun_with_a_particle_is_whole(word):
    assert words(word) == word


def test_a_quotation_mark_before_a_particle_is_none_of_its_word():
    assert words("'파일'을 ‘메뉴’에서") == "'|파일|'|을|‘|메뉴|’|에서"  # noqa: RUF001


def test_a_particle_after_a_number_is_its_own():
    assert words("802.11과 1이라고 2라는") == "802.11|과|1|이라고|2|라는"
    assert words("10도 10만") == "10도|10만"  # ten degrees, a hundred thousand


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("보기을(를) 누릅니다", "보기|을|(|를|)|누릅니다"),  # a noun that ends in a vowel
        ("사용자은(는)", "사용자|은|(|는|)"),
        ("파일를(을) 설정가(이)", "파일|를|(|을|)|설정|가|(|이|)"),
        ("서버과(와) 목록와(과)", "서버|과|(|와|)|목록|와|(|과|)"),
        ("보기을/를", "보기|을|/|를"),
        ("ABC을(를) 100은(는)", "ABC|을|(|를|)|100|은|(|는|)"),
        ("을(를)", "을|(|를|)"),  # after a tag
        ("보기을 (를)", "보기을|(|를|)"),  # a space between them
        ("보기을(를", "보기을|(|를"),
        ("보기을(를 것)", "보기을|(|를|것|)"),
        ("보기을(가)", "보기을|(|가|)"),  # not forms of one particle
        ("높이/가로", "높이|/|가로"),  # height and width
    ],
)
def test_a_particle_whose_other_form_follows_is_one_after_any_sound(text, expected):
    assert words(text) == expected


def test_particles_fit_the_sound_before_them():
    assert words("값은 값는 키는 키은") == "값|은|값는|키|는|키은"
    assert words("파일로 화면로 화면으로") == "파일|로|화면로|화면|으로"


def test_a_word_with_a_false_particle_takes_true_ones():
    assert words("결과는 결과를 추가로") == "결과|는|결과|를|추가|로"
    assert words("단추가 이미지만 카메라는") == "단추|가|이미지|만|카메라|는"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tab키를 GNOME을 F2키", "Tab|키|를|GNOME|을|F2|키"),
        ("A키를 e메일을 C에", "A|키|를|e메일|을|C|에"),  # a letter may be part of a compound
        ("10에서 3개를 2월 100만", "10|에서|3개|를|2월|100만"),  # a counter belongs to its number
        ("https://x.kr/a에서 a@b.kr에", "https://x.kr/a에서|a@b.kr에"),
        ("%s에서 {name}으로 “파일”에서", "%s|에서|{name}|으로|“|파일|”|에서"),
    ],
)
def test_names_part_from_particles_and_numbers_keep_their_counters(text, expected):
    assert words(text) == expected


def test_other_languages_keep_their_words():
    text = "파일을 USB를 a"
    assert words(text, "en") == "파일을|USB를|a"
    assert words(text, "und") == words(text, "ko-KR") == words(text, None) == "파일|을|USB|를|a"


def test_a_tag_may_stand_before_a_particle_and_in_no_word():
    text = pa.array(["Wi-Fi를 결과는"])
    pieces = pa.array([[{"start": at, "end": at + 1} for at in (*range(6), *range(7, 10))]])
    places = find_cuts(text, pieces, "ko").to_pylist()[0]
    #                 W     i      -      F      i      를    결     과     는
    assert places == [True, False, False, False, False, True, True, False, True, True]
    assert word_counts(text, "ko").tolist() == [2]


def test_a_part_of_a_column_is_cut_as_in_the_whole():
    texts = pa.array(["plain text", "학교에서 결과를", "결과를", "naïve ꀀ", "결과를"])
    languages = pa.array(["und", "ko", "en", "", "und"])
    whole = tokenize(texts, TokenConfig(), languages)
    assert whole.value_lengths().to_pylist() == [2, 4, 1, 2, 2]
    for start in range(len(texts)):
        for length in range(1, len(texts) - start + 1):
            some = [column.slice(start, length) for column in (texts, languages)]
            cut_again = tokenize(some[0], TokenConfig(), some[1])
            assert cut_again.to_pylist() == whole.slice(start, length).to_pylist()


def test_every_listed_ending_can_be_looked_up():
    listed = endings()
    table = ending_table()
    assert len(table.entries) > len(listed) > 1_000
    for word, entry in listed.items():
        cut = entry >> korean.CUT_SHIFT
        assert cut <= len(word), word
        if cut < len(word):
            continue
        [[first, *rest]] = cut_column([f"사전{word}"])
        fits = entry & slow_korean.sound("전")
        assert (first, *rest) == (("사전", word) if fits else (f"사전{word}",)), word


def cut_column(lines):
    return cut(lines, TokenConfig(), "ko")


SYLLABLES = st.sampled_from("결과는파일을에서의높이하다한할되는들만으로키도추가")
PARTICLE = "[을를이가은는과와]"
FORMS = st.from_regex(rf"{PARTICLE}(\({PARTICLE}\)?|/{PARTICLE})", fullmatch=True)
HANGUL = st.lists(
    st.one_of(*[SYLLABLES] * 6, *[st.sampled_from("aZ1½.'- \u0301ᄀㄱ한字カ@/%()")] * 2, FORMS),
    max_size=24,
).map("".join)


def check_split(lines, *, words_only):
    data, offsets = texts_of(pa.array(lines, pa.string()))
    languages = np.zeros(len(lines), np.uint8)
    properties = codepoints.properties(whole_words=words_only)
    whole = word_breaks.find_tokens(data, offsets, languages, int(words_only), properties)
    chosen = np.arange(len(lines)) % 2 == 0
    actual, starts, ends = korean.split_endings(
        data, offsets, chosen, *whole, ending_table(), properties
    )
    pairs = list(zip(starts.tolist(), ends.tolist(), strict=True))
    for row, line in enumerate(lines):
        expected = slow_tokens.tokens(line, words_only=words_only)
        if chosen[row]:
            expected = slow_korean.split(line, expected, endings())
        assert pairs[actual[row] : actual[row + 1]] == expected


@given(st.lists(st.one_of(HANGUL, texts()), max_size=4), st.booleans())
def test_the_kernel_cuts_as_its_twin(lines, words_only):
    check_split(lines, words_only=words_only)


@pytest.mark.parametrize("words_only", [False, True])
def test_letters_that_stay_with_the_next_and_marks_before_syllables_equal_the_twin(words_only):
    letters = "aZé1.:-'\u0d4e\ua960\u1100을를키에서파"
    lines = [
        "".join(
            letters[below(draw(seed, place), len(letters))] for place in range(below(draw(seed), 4))
        )
        + ("을", "키", "파일을", "에서", "은(는)", "이/가", "를/을파")[seed % 7]
        for seed in range(1_000)
    ]
    lines += ["a.Z파일을", "é.a키", "파일에서는(은)", "파일까지는/은"]
    check_split([one for line in lines for one in (line, "")], words_only=words_only)


@given(HANGUL)
def test_no_grapheme_is_split(text):
    clusters = {match.end() for match in regex.finditer(r"\X", text)}
    for token in tokenize(pa.array([text]), WORDS, "ko")[0].as_py():
        assert token["end"] in clusters


def test_endings_follow_the_sound_of_a_syllable_and_none_a_stem_of_verbs():
    """Of the final consonants nj, nh, lh, ss and h, no noun has one."""
    verbal = {"\u11ac", "\u11ad", "\u11b6", "\u11bb", "\u11c2"}
    for point in range(0xAC00, 0xAC00 + 28):
        final = unicodedata.normalize("NFD", chr(point))[2:]
        expected = korean.AFTER_CONSONANT
        if not final:
            expected = korean.AFTER_VOWEL
        elif final == "\u11af":
            expected = korean.AFTER_RIEUL
        elif final in verbal:
            expected = 0
        assert korean._sound(point) == expected
