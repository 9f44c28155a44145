import gzip

import numpy as np
import pyarrow as pa
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.arrow.flat_columns import texts_of
from pairweave.transforms.kernels.text import clitics, word_breaks
from pairweave.transforms.text import codepoints
from tests.makers.text_strategies import texts
from tests.oracles import slow_tokens
from tests.oracles.slow_tags import below, draw

LANGUAGES = {
    None: clitics.NO_CLITICS,
    "en": clitics.ENGLISH,
    "fr": clitics.FRENCH,
    "it": clitics.ITALIAN,
    "ca": clitics.CATALAN,
    "tr": clitics.TURKISH,
    "fi": clitics.FINNISH,
    "ko": clitics.KOREAN,
}


def spans(lines, language=None, *, words_only=False):
    data, offsets = texts_of(pa.array(lines, pa.string()))
    languages = np.full(len(lines), LANGUAGES[language], np.uint8)
    result, starts, ends = word_breaks.find_tokens(
        data,
        offsets,
        languages,
        int(words_only),
        codepoints.properties(whole_words=words_only),
    )
    pairs = list(zip(starts.tolist(), ends.tolist(), strict=True))
    return [pairs[result[i] : result[i + 1]] for i in range(len(lines))]


def tokens(text, language=None, *, words_only=False):
    return [text[a:b] for a, b in spans([text], language, words_only=words_only)[0]]


def split(expected):
    """Return tokens written one after the other, with a bar between."""
    return expected.split("|") if expected else []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        (" \t\u00a0\u200b\u200e\ufeff", ""),
        ("Hello, world!", "Hello|,|world|!"),
        ("The green witch's hat.", "The|green|witch's|hat|."),
        ("state-of-the-art", "state|-|of|-|the|-|art"),
        ("U.S.A. 3.5. e.g.,", "U.S.A|.|3.5|.|e.g|.|,"),
        ("Wait... what?! -- no", "Wait|...|what|?|!|--|no"),
        ("1,234.56 12 % 10:30 3rd", "1,234.56|12|%|10:30|3rd"),
        ("10\u202f000 1\u00a0234\u00a0567,8", "10\u202f000|1\u00a0234\u00a0567,8"),
        ("7\u2007000 7\u2009000 7\u2008000", "7\u2007000|7\u2009000|7|000"),
        ("2010\u00a0100 12 345 1\u00a0234x", "2010|100|12|345|1|234x"),
        ("1\u066b2\u00a0345 12\u066b\u00a0345", "1\u066b2|345|12\u066b|345"),  # a decimal mark
        ("Ça va\u202f?", "Ça|va|?"),
        ("e\u0301te\u0301 \u0301", "e\u0301te\u0301"),
        ("漢字かなカタカナﾊﾟ", "漢|字|か|な|カ|タ|カ|ナ|ﾊﾟ"),
        ("ไทยกำ ລາວ", "ไ|ท|ย|กำ|ລ|າ|ວ"),
        ("ភាសាខ្មែរ", "ភា|សា|ខ្មែ|រ"),
        ("한국어 문장", "한국어|문장"),
        ("नमस्ते क्षेत्र", "नमस्ते|क्षेत्र"),
        ("שלום צה\"ל מרחבא'", "שלום|צה\"ל|מרחבא'"),
        ("مرحبا، عالم", "مرحبا|،|عالم"),
        ("👨\u200d👩\u200d👧🇩🇪🇫🇷👍🏽❤\ufe0f😀😀", "👨\u200d👩\u200d👧|🇩🇪|🇫🇷|👍🏽|❤\ufe0f|😀|😀"),
        ("a \u200d🙂 \u200dℹ", "a|🙂|ℹ"),  # noqa: RUF001 - a pictograph
        ("soft\u00adhyphen zero\u200bwidth", "soft\u00adhyphen|zero|width"),
        ("a\r\n\u0301b", "a|\u0301|b"),
    ],
)  # fmt: skip
def test_words_by_hand(text, expected):
    assert tokens(text) == split(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%s of %(name)s, %1$s%%", "%s|of|%(name)s|,|%1$s|%%"),
        ("%-5.2f %lu %zd %@ %{count}", "%-5.2f|%lu|%zd|%@|%{count}"),
        ("%hhd %lld %hd %hld %dd", "%hhd|%lld|%hd|%|hld|%d|d"),
        ("50% off, 20%ige, 100 % des", "50|%|off|,|20|%|ige|,|100|%|des"),
        ("20%söks 5%dé %dé %d 5%d", "20|%|söks|5|%|dé|%d|é|%d|5|%d"),
        ("{} {0} {name!r:>10} {{ x }}", "{}|{0}|{name!r:>10}|{{ x }}"),
        ("{% endif %} {a b} {{{x}}}", "{% endif %}|{|a|b|}|{{{x}}}"),
        ("${HOME} $name US$5 #{x}", "${HOME}|$name|US|$|5|#{x}"),
        ("#URL1#的 (#num#) %NAME% @HOST@ $VAR$", "#URL1#|的|(|#num#|)|%NAME%|@HOST@|$VAR$"),
        ("C# or F# #one#two #a# 5%OFF% %d%%", "C|#|or|F|#|#|one|#|two|#|a|#|5|%|OFF|%|%d|%%"),
        ("<b>bold</b><br/>", "<b>|bold|</b>|<br/>"),
        ('<a href="x y" id=z>t</a>', "<a href=\"x y\" id=z>|t|</a>"),
        ("<a b='x=y' c=\"d='1'\">t", "<a b='x=y' c=\"d='1'\">|t"),
        ("<a b='<i>'>", "<|a|b|=|'|<i>|'|>"),
        ("<a_3>x</a_3> <MASK_REP>", "<a_3>|x|</a_3>|<MASK_REP>"),
        ("a < b and c > d", "a|<|b|and|c|>|d"),
        ("<b and c>", "<|b|and|c|>"),
        ("R&amp;D &#160; &#xA0; AT&T;", "R|&amp;|D|&#160;|&#xA0;|AT|&|T|;"),
        ("(see https://a.b/c_(d)?e=f#g).", "(|see|https://a.b/c_(d)?e=f#g|)|."),
        ("www.foo.org/x, ftp://h", "www.foo.org/x|,|ftp://h"),
        ("siehe:https://x.y/ü!", "siehe:|https://x.y/ü|!"),
        ("https://x.com/路径 https://x.jpをご覧", "https://x.com/|路|径|https://x.jp|を|ご|覧"),
        ("mailto:first-last+t@mail.example.com.", "mailto:|first-last+t@mail.example.com|."),
        ("联系foo@bar.com谢谢 @user a@b", "联|系|foo@bar.com|谢|谢|@|user|a|@|b"),
        ("%s@example.com", "%s|@|example.com"),
        ("müller@straße.de", "müller@straße.de"),
        ("a@b.c a@b.co", "a|@|b.c|a@b.co"),
        ("{x}\u0301 {y}", "{x}\u0301|{y}"),
    ],
)  # fmt: skip
def test_unbreakable_spans_by_hand(text, expected):
    assert tokens(text) == split(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("open 24/7, 1/2 cup", "open|24/7|,|1/2|cup"),
        ("2018/19 and 24/7/365", "2018/19|and|24/7/365"),
        ("1,000.5/2,000 (3/4)", "1,000.5/2,000|(|3/4|)"),
        ("1\u00a0000/2\u00a0000", "1\u00a0000/2\u00a0000"),
        ("24 / 7 24/ 7 24//7 /7 24/", "24|/|7|24|/|7|24|//|7|/|7|24|/"),
        ("and/or 10/km km/10 A4/5 1st/2nd", "and|/|or|10|/|km|km|/|10|A4|/|5|1st|/|2nd"),
        ("5%/6 {1}/2 x@y.z9/3", "5|%|/|6|{1}|/|2|x@y.z9|/|3"),
        ("1@a.b9/3 ٢٤/٢ 1/٢\u0301", "1@a.b9|/|3|٢٤/٢|1/٢\u0301"),
        ("1/2@x.org 1/2b", "1/|2@x.org|1/2b"),
        ("1\u0301/2 1/\u03012", "1\u0301|/|2|1|/\u0301|2"),
    ],
)  # fmt: skip
def test_a_number_with_slashes_is_split_by_no_tag_but_its_parts_are_aligned(text, expected):
    assert tokens(text, words_only=True) == split(expected)
    assert not any(part.strip("/\u0301") for part in tokens(text) if "/" in part)


def test_katakana_is_one_word_with_connectors_where_words_are_wanted():
    assert tokens("カナ_ナ a", words_only=True) == ["カナ_ナ", "a"]


@pytest.mark.parametrize(
    ("language", "text", "expected", "words"),
    [
        ("en", "Spain's", "Spain|'s", "Spain's"),
        ("en", "don't can\u2019t", "do|n't|ca|n\u2019t", "don't|can\u2019t"),
        ("en", "I'm we've", "I|'m|we|'ve", "I'm|we've"),
        ("en", "COULDN'T'VE rock'n'roll", "COULD|N'T|'VE|rock'n'roll", "COULDN'T'VE|rock'n'roll"),
        ("fr", "L'inflation", "L'|inflation", "L'|inflation"),
        ("fr", "lorsqu\u2019il n'est", "lorsqu\u2019|il|n'|est", "lorsqu\u2019|il|n'|est"),
        ("fr", "d'aujourd'hui", "d'|aujourd'hui", "d'|aujourd'hui"),
        ("fr", "ç'a Ç'est va'il", "ç'|a|Ç'|est|va'il", "ç'|a|Ç'|est|va'il"),
        ("it", "dell'arte un\u2019altra", "dell'|arte|un\u2019|altra", "dell'|arte|un\u2019|altra"),
        ("ca", "l'home dona'm", "l'|home|dona|'m", "l'|home|dona'm"),
        ("tr", "Ankara'da", "Ankara|'da", "Ankara|'da"),
        ("tr", "O'Reilly\u2019nin", "O'Reilly|\u2019nin", "O'Reilly|\u2019nin"),
        ("fi", "USB:n http://a:b.fi", "USB|:n|http://a:b.fi", "USB|:n|http://a:b.fi"),
        ("ko", "'파일'을 don't", "'|파일|'|을|don't", "'|파일|'|을|don't"),
        ("ko", "Wi-Fi\u2019를", "Wi|-|Fi|\u2019|를", "Wi|-|Fi|\u2019|를"),
        (None, "파일'을", "파일'을", "파일'을"),
        (None, "L'inflation's", "L'inflation's", "L'inflation's"),
    ],
)  # fmt: skip
def test_words_part_at_elisions_clitics_and_suffixes(language, text, expected, words):
    assert tokens(text, language) == split(expected)
    assert tokens(text, language, words_only=True) == split(words)


@given(st.lists(texts(), max_size=3), st.sampled_from(list(LANGUAGES)), st.booleans())
def test_the_kernel_equals_its_slow_twin(lines, language, words_only):
    actual = spans(lines, language, words_only=words_only)
    expected = [slow_tokens.tokens(line, language, words_only=words_only) for line in lines]
    assert actual == expected


PREPENDED = "\u0d4e"
"""A letter that no border may separate from the next one."""


@pytest.mark.parametrize(
    ("language", "letters"),
    [
        ("en", "ns'tn'\u2019treldx"),
        ("fr", "l''\u2019quQçtjax\u0301"),
        ("it", "l''\u2019ax\u0301"),
        ("ca", "dlsn''\u2019ax\u0301"),
        ("tr", "aB''\u2019\u0301"),
        ("fi", "aB::'"),
        ("ko", "파을'\u2019'a"),
    ],
)
def test_words_of_apostrophes_and_letters_that_stay_together_equal_the_slow_twin(language, letters):
    for text in letters, letters + PREPENDED:
        lines = [
            "".join(
                text[below(draw(seed, place), len(text))]
                for place in range(2 + below(draw(seed), 8))
            )
            for seed in range(400)
        ]
        for words_only in (False, True):
            expected = [slow_tokens.tokens(line, language, words_only=words_only) for line in lines]
            assert spans(lines, language, words_only=words_only) == expected


def test_no_clitic_is_cut_off_a_letter_that_stays_with_it():
    assert tokens(f"a{PREPENDED}n't", "en") == [f"a{PREPENDED}n't"]
    assert tokens(f"{PREPENDED}an't", "en") == [f"{PREPENDED}a", "n't"]


def test_a_word_is_split_sixteen_times_at_most():
    assert tokens("l'" * 20 + "eau", "fr") == ["l'"] * 16 + ["l'" * 4 + "eau"]
    assert tokens("파'을" * 10, "ko") == ["파", "'", *["을파", "'"] * 7, "을파'을파'을"]


@given(texts(), st.sampled_from(list(LANGUAGES)))
def test_no_token_splits_a_grapheme_cluster_or_touches_white_space(text, language):
    borders = {0, *(match.end() for match in regex.finditer(r"\X", text))}
    last = 0
    for start, end in spans([text], language)[0]:
        assert last <= start < end
        assert {start, end} <= borders
        assert not regex.match(r"\p{White_Space}", text[start])
        last = end


@given(texts(), st.sampled_from(list(LANGUAGES)))
def test_ink_outside_tokens_only_rides_on_white_space(text, language):
    inside = {i for a, b in spans([text], language)[0] for i in range(a, b)}
    for match in regex.finditer(r"\X", text):
        white = regex.match(r"\p{White_Space}", match[0])
        if not white and not regex.fullmatch(
            r"[\p{Cc}\p{Cf}\p{DI}\p{White_Space}\p{M}\p{Grapheme_Extend}]*", match[0]
        ):
            assert set(range(*match.span())) <= inside, match[0]


@given(st.lists(texts(), min_size=1, max_size=4), st.sampled_from(list(LANGUAGES)))
def test_a_text_is_cut_alike_alone_and_among_others(lines, language):
    assert spans(lines, language) == [spans([line], language)[0] for line in lines]


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("parallel/newstest.en-de.en.gz", "en"),
        ("parallel/newstest.en-de.de.gz", None),
        ("parallel/newstest.en-fr.fr.gz", "fr"),
        ("tagged/glossary-dev.hu", None),
        ("tagged/glossary-dev.en", "en"),
        ("wets/en2de.dev.mask", None),
    ],
)
def test_real_text_is_cut_as_by_the_slow_twin(shared_data, name, language):
    lines = read_lines(shared_data / name)
    lines = lines[:: len(lines) // 80]
    assert spans(lines, language) == [slow_tokens.tokens(line, language) for line in lines]


def test_on_real_text_borders_are_word_boundaries_to_another_implementation(shared_data):
    lines = read_lines(shared_data / "parallel" / "newstest.en-de.de.gz")[::50]
    boundary = regex.compile(r"(?w)\b")
    wordy = regex.compile(r"(?w)\b\w+\b")
    for line, actual in zip(lines, spans(lines), strict=True):
        boundaries = {match.start() for match in boundary.finditer(line)}
        assert {place for span in actual for place in span} <= boundaries, line
        words = {match.span() for match in wordy.finditer(line)}
        plain = {span for span in words if not regex.search(r"[\d@/]|www", line)}
        assert plain <= set(actual), line


HOSTILE = [
    *(")", "(", "{", "{{x", "<a ", "<a b='", "@", "a@", "a@b."),
    *("%(", "&a", "a:\u0301", "a.", "'a"),
]


@pytest.mark.parametrize("part", HOSTILE)
def test_hostile_text_takes_linear_time(part):
    text = "http://x" + part * 200_000
    for language in ("en", "it"):
        actual = spans([text], language)[0]
        assert actual[0][0] == 0


def read_lines(path):
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return data.decode().split("\n")[:-1]
