import numpy as np
import pyarrow as pa
import pytest
import regex
from hypothesis import given, strategies

from pairweave.transforms.arrow.flat_columns import texts_of
from pairweave.transforms.kernels.filtering import marks
from pairweave.transforms.kernels.filtering.signs import MOJIBAKE, count_signs
from pairweave.transforms.kernels.text.word_breaks import find_tokens
from pairweave.transforms.text import codepoints
from tests.makers.text_strategies import FRAGMENTS, texts
from tests.oracles import slow_filtering, slow_tokens


def found(text):
    flat = texts_of(pa.array([text]))
    made = marks.find_marks(*flat, codepoints.all_properties())
    data = flat.data.tobytes()
    spans = zip(made.kinds.tolist(), made.starts.tolist(), made.ends.tolist(), strict=True)
    return [(kind, data[start:end].decode()) for kind, start, end in spans], made


def masked(text):
    flat = texts_of(pa.array([text]))
    return marks.mask_texts(*flat, found(text)[1])[0].tobytes().decode()


@pytest.mark.parametrize(
    ("text", "kind", "marked"),
    [
        ("see http://x.de/a?b=1).", marks.ADDRESS, ["http://x.de/a?b=1"]),
        ("WWW.X.DE and xwww.y.de or www. z", marks.ADDRESS, ["WWW.X.DE"]),
        (
            "见https://x.cn/a。好 svn+ssh://h2/b",
            marks.ADDRESS,
            ["https://x.cn/a", "svn+ssh://h2/b"],
        ),
        ("http:// alone and ://x", marks.ADDRESS, []),
        ("a.b+c@d-e.co.uk. 1,5a1@b.de", marks.EMAIL, ["a.b+c@d-e.co.uk", "5a1@b.de"]),
        ("a@b and @home.de %s@x.de", marks.EMAIL, []),
        ("<b>x</B> 1 < 2 > 1 <br/> <a b> <!-- c -->", marks.TAG, ["<b>", "</B>", "<br/>"]),
        ("%s of %1$d, 5 %s {name} {{ x }} {{x}} ${v} $w", marks.PLACEHOLDER, None),
        ("100%% of 5%-a, 50 %ige, 5 %-os, 20%ige, %-encoded", marks.PLACEHOLDER, []),
        ("US$5 A$AP $US $CAN50 $5", marks.PLACEHOLDER, []),
        ("R&brandName; &amp; &#39;", marks.PLACEHOLDER, ["&brandName;"]),
        (
            "&amp; &#39; &#x27; &NBSP; & co; &;",
            marks.ENTITY,
            ["&amp;", "&#39;", "&#x27;", "&NBSP;"],
        ),
        (
            "{n, number} {d , date, short} {Paris, London}",
            marks.PLACEHOLDER,
            ["{n, number}", "{d , date, short}"],
        ),
        ("1,000.50 3rd 10:30 ٣٤ 1\u202f000", marks.NUMBER, None),
        ("%5d %-10s {0:>10} {1} {{ x2 }} <a b='5'> http://x/7 a1@b2.de &#39;", marks.NUMBER, []),
    ],
)
def test_marks_by_hand(text, kind, marked):
    wanted = {
        marks.PLACEHOLDER: [
            *("%s", "%1$d", "%s", "{name}", "{{ x }}", "{{x}}", "${v}", "$w"),
        ],
        marks.NUMBER: ["1,000", "50", "3", "10", "30", "٣٤", "1\u202f000"],
    }
    every = wanted.get(kind) if marked is None else marked
    assert [mark for one, mark in found(text)[0] if one == kind] == every


PLURAL = "{n, plural, offset:1 =0 {no 5} one {<b>{who}</b>} other {{who} and # of 24}} at 7"


def test_sub_messages_of_an_icu_message_are_text_without_numbers():
    assert found(PLURAL)[0] == [
        (marks.PLACEHOLDER, "{n, plural, offset:1 =0 {"),
        (marks.TAG, "<b>"),
        (marks.PLACEHOLDER, "{who}"),
        (marks.TAG, "</b>"),
        (marks.PLACEHOLDER, "{who}"),
        (marks.NUMBER, "7"),
    ]


def equal(source, target, kind=marks.PLACEHOLDER):
    """Tell whether all marks of a kind have a counterpart; there must be one."""
    sides = [found(text)[1] for text in (source, target)]
    ours, theirs, every = marks.unmatched(*sides, kind)[:, 0].tolist()
    assert every
    return ours == theirs == 0


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("%s", "%-10s"),
        ("%d", "%05i"),
        ("%.2f", "%5.1e"),
        ("%x", "%#u"),
        ("%s %d", "%2$d %1$s"),
        ("%s %s", "%1$s %2$s"),
        ("%*d %s", "%3$s %2$d"),
        ("%(name)s", "%(name)-5.3s"),
        ("%lu", "%lx"),
        ("{0}", "{0:>10}"),
        ("{0:d}", "{0,10:N2}"),
        ("{name}", "{name!r}"),
        ("{} {}", "{1} {0}"),
        ("{n, number}", "{n}"),
        ("{n, plural, one {a} other {b}}", "{n, plural, other {c}}"),
        ("{{ user }}", "{{user}}"),
        ("{{ user }}", "{{ user|upper }}"),
        ("{% trans  %}", "{%- trans -%}"),
        ("$user", "${user}"),
        ("&brandName;", "x&brandName;"),
        ("#URL1# %{x} #{y}", "#{y} %{x} #URL1#"),
    ],
)
def test_placeholders_with_the_same_argument_and_type_are_equal(source, target):
    assert equal(source, target)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("%s", "%d"),
        ("%d", "%u"),
        ("%d", "%ld"),
        ("%s %d", "%d %s"),
        ("%*d", "%d"),
        ("%1$s", "%2$s"),
        ("%(name)s", "%(Name)s"),
        ("%(name)s", "%(name)d"),
        ("{0}", "{1}"),
        ("{name}", "{nome}"),
        ("{x}", "{{x}}"),
        ("{{x}}", "{{{x}}}"),
        ("{n, plural, one {a} other {b}}", "{m, plural, one {a} other {b}}"),
        ("{{ user }}", "user"),
        ("{% trans %}", "x"),
        ("{% url 'a' %}", "{% url 'b' %}"),
        ("$user", "$User"),
        ("&brandName;", "&markenName;"),
        ("%s", "%%s"),
    ],
)
def test_placeholders_with_another_argument_or_type_differ(source, target):
    assert not equal(source, target)
    assert not equal(target, source)


@pytest.mark.parametrize(
    ("source", "target", "same"),
    [
        ("<B>", "<b>", True),
        ("<br>", "<br/>", True),
        ("<a href='x'>", '<a href="y" title="z">', True),
        ('<x id="1"/>', "<x class=c ID=1 />", True),
        ('<x id="1"/>', '<x id="2"/>', False),
        ("<b>", "</b>", False),
        ("<b>", "<i>", False),
    ],
)
def test_tags_are_equal_by_name_and_id(source, target, same):
    assert equal(source, target, marks.TAG) == same


@given(texts())
def test_marks_are_those_of_the_patterns(text):
    slow, rest = slow_filtering.find_marks(text)
    assert found(text)[0] == slow
    assert masked(text) == rest


MESSAGES = [
    part
    for parts in (
        "%-10s %5.2f %2$s %*d %ld %i %% {0:>10} {a!r} {{{x}}} {{ x|y }} {%- z -%} $US $US5 $name",
        "{n, {n,plural, {s,select,one{ offset:1 =0{ one { other{ }} } {d,date,short} {n,number}",
        "<x id='1'/> <x id=2> </x> &nbsp; &brand; &#39; 5 1,000 5% 7\u00a0% -a ige 10:30 0",
        "http:// s3://b/c www.a.b WWW.C a1@b2.de %s@x.de 1a@b.cd 漢 é \u0301 plural, select,",
    )
    for part in parts.split(" ")
]


def joined(parts):
    choices = [*parts, *parts, *FRAGMENTS, " ", " "]
    return strategies.lists(strategies.sampled_from(choices), max_size=12).map("".join)


messages = joined(MESSAGES)
# Tokens have no sub-messages, and a URL of theirs begins only where a word does.
AS_TOKENS = regex.compile(r"(?i)^(?!.*(?:plural|select|://|www|http))", regex.S)


@given(messages, messages)
def test_marks_of_messages_are_those_of_the_patterns(source, target):
    for text in (source, target):
        slow, rest = slow_filtering.find_marks(text)
        assert found(text)[0] == slow
        assert masked(text) == rest
    sides = [found(text)[1] for text in (source, target)]
    for kind in range(marks.KINDS):
        fast = marks.unmatched(*sides, kind)[:, 0].tolist()
        assert fast == list(slow_filtering.unmatched(source, target, kind))


def token_places(text):
    """Return the tokens that alignment sees, by where they start."""
    languages = np.zeros(1, np.uint8)
    _, *places = find_tokens(*texts_of(pa.array([text])), languages, 0, codepoints.properties())
    return dict(zip(*(each.tolist() for each in places), strict=True))


SIGN = regex.compile(
    r"[0-9][ \u00a0\u202f\u2009]?%|%-[a-z]|[A-Za-z0-9_]\$|\$[A-Z]{1,3}[0-9]*(?![A-Za-z_])"
)


@given(joined(filter(AS_TOKENS.match, MESSAGES)).filter(AS_TOKENS.match))
def test_marks_are_what_tokens_keep_whole_but_for_percent_signs_and_currencies(text):
    places = token_places(text)
    actual = {match[0]: match[1] for match in slow_filtering.matches(text)}
    for start, end in places.items():
        kept = slow_tokens.placeholder_end(text, start)
        if kept is not None and not SIGN.search(text[max(start - 2, 0) : kept + 1]):
            assert actual[start] == kept <= end
    for start, end in actual.items():
        # The letters after a percent sign or a dollar may belong to an address.
        if not SIGN.search(text[max(start - 4, 0) : end]):
            assert end <= places[start]


@given(texts(), texts())
def test_unmatched_marks_are_those_left_over_when_equal_ones_are_paired(source, target):
    sides = [found(text)[1] for text in (source, target)]
    for kind in range(marks.KINDS):
        fast = marks.unmatched(*sides, kind)[:, 0].tolist()
        assert fast == list(slow_filtering.unmatched(source, target, kind))


numerals = strategies.text(" .,'\u00a0\u066b:-0015٣a@", max_size=24)


@given(numerals, numerals)
def test_numbers_are_those_of_the_patterns(source, target):
    for text in (source, target):
        slow, rest = slow_filtering.find_marks(text)
        assert found(text)[0] == slow
        assert masked(text) == rest
    sides = [found(text)[1] for text in (source, target)]
    for kind in (marks.NUMBER, marks.ZEROS):
        fast = marks.unmatched(*sides, kind)[:, 0].tolist()
        assert fast == list(slow_filtering.unmatched(source, target, kind))


def test_every_digit_has_its_value():
    every = [chr(point) for point in range(0x110000) if chr(point).isdecimal()]
    assert len(every) > 600
    sides = [texts_of(pa.array(texts)) for texts in (every, [str(int(mark)) for mark in every])]
    source, target = (marks.find_marks(*side, codepoints.all_properties()) for side in sides)
    assert (source.hashes == target.hashes).all()
    assert (source.digits == target.digits).all()
    assert slow_filtering.digit("\U000116db") == "1"


@pytest.mark.parametrize("text", ["1 000", "1,000.50", "02.01.2020", "3.50", "1.0", "7 8"])
def test_numbers_in_whatever_groups_are_masked_alike(text):
    assert masked(f"a {text} b") == masked("a 5 b")


@pytest.mark.parametrize(
    ("source", "target", "unmatched"),
    [
        ("1,000 and 3.5", "1.000 und 3,5", (0, 0, 6)),
        ("in 1999", "in 1998", (1, 1, 2)),
        ("5 5", "5", (1, 0, 3)),
        ("1 000 people", "1.000 Leute", (0, 0, 2)),
        ("1\u00a0000\u00a0000", "1,000,000 and", (0, 0, 2)),
        ("in 2019 1,000 of them", "1 000 im Jahr 2019", (0, 0, 4)),
        ("at 10:30, not 9", "um 10.30, nicht 9", (0, 0, 6)),
        ("at 10:00 with 7", "um 10.00 mit 8", (2, 1, 5)),
        ("2020-01-02", "02.01.2020", (0, 0, 6)),
        ("of 10.10.2020 5", "vom 2020-10-10 5, 7", (0, 1, 9)),
        ("3.50 euros", "3,5 Euro", (0, 0, 4)),
        ("0.500 kg", "0,5 kg", (0, 0, 4)),
        ("0.050 kg of 0 800", "0,05 kg von 0800", (0, 0, 6)),
        ("1.0 or 2.5", "1 oder 2,50", (0, 0, 6)),
        ("1,000.50 and 8", "1 000,5 und 9", (1, 1, 6)),
        ("1000.50 and 8", "1.000,5 und 9", (1, 1, 6)),
        ("1.2.0 and 1", "1.2 und 1", (1, 0, 7)),
        ("1980 to 2019", "1890 bis 2019", (0, 0, 4)),  # the same digits: perhaps another order
        ("٣٤", "34", (0, 0, 2)),
        ("\U0001d7db \U0001d7e1", "3 9", (0, 0, 4)),
    ],
)
def test_numbers_are_equal_by_their_digits(source, target, unmatched):
    sides = [found(text)[1] for text in (source, target)]
    assert tuple(marks.unmatched(*sides, marks.NUMBER)[:, 0]) == unmatched


@pytest.mark.parametrize(
    ("text", "traces"),
    [
        ("CafÃ© â€™ \ufffd \x93", 4),
        ("\u00d0\u00bf\u00d1\u20ac\u00d0\u00b8", 2),
        ("Café “quoted” Ñandú Âge Ðan €5 â", 0),
        ("«\u00a0AMANHÃ\u00a0», a «IRMÃ» de RUÂ«x", 0),
        ("VÃ\u00a0 irmÃ\u00a0 SÃ»r NoÃ«l L\u00c3\u00a0", 5),
        ("MAÇÃ\u00a9", 1),
    ],
)
def test_traces_of_a_wrong_encoding(text, traces):
    assert (
        count_signs(*texts_of(pa.array([text])), codepoints.all_properties())[MOJIBAKE, 0] == traces
    )


def test_brackets_are_counted_by_shape_whatever_their_width():
    texts = texts_of(pa.array(["(a) [b]] {c \uff08d\uff09", ""]))
    signs = count_signs(*texts, codepoints.all_properties())
    assert signs[:MOJIBAKE].T.tolist() == [[4, 3, 1], [0, 0, 0]]
