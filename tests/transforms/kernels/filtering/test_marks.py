import pyarrow as pa
import pytest
from hypothesis import given, strategies

from pairweave.transforms.arrow.flat_columns import texts_of
from pairweave.transforms.filtering import scripts
from pairweave.transforms.kernels.filtering import marks
from pairweave.transforms.kernels.filtering.signs import MOJIBAKE, count_signs
from tests.makers.text_strategies import texts
from tests.oracles import slow_filtering


def found(text):
    flat = texts_of(pa.array([text]))
    made = marks.find_marks(*flat, scripts.classes())
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
        ("WWW.X.DE and xwww.y.de", marks.ADDRESS, ["WWW.X.DE"]),
        ("http:// alone", marks.ADDRESS, []),
        ("a.b+c@d-e.co.uk.", marks.EMAIL, ["a.b+c@d-e.co.uk"]),
        ("a@b and @home.de", marks.EMAIL, []),
        ("<b>x</B> 1 < 2 > 1 <br/>", marks.TAG, ["<b>", "</B>", "<br/>"]),
        ("%s of %1$d, 5 %safe {name} {{ x }} {{x}} ${v}", marks.PLACEHOLDER, None),
        ("&amp; &#39; &#x27; & co; &;", marks.ENTITY, ["&amp;", "&#39;", "&#x27;"]),
        ("1,000.50 3rd 10:30 ٣٤ 1\u202f000", marks.NUMBER, None),
    ],
)
def test_marks_by_hand(text, kind, marked):
    wanted = {
        marks.PLACEHOLDER: ["%s", "%1$d", "{name}", "{{x}}", "${v}"],
        marks.NUMBER: ["1,000", "50", "3", "10", "30", "٣٤", "1\u202f000"],
    }
    assert [mark for one, mark in found(text)[0] if one == kind] == (marked or wanted.get(kind, []))


@given(texts())
def test_marks_are_those_of_the_patterns(text):
    slow, rest = slow_filtering.find_marks(text)
    assert found(text)[0] == slow
    assert masked(text) == rest


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
    source, target = (marks.find_marks(*side, scripts.classes()) for side in sides)
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
    assert count_signs(*texts_of(pa.array([text])), scripts.classes())[MOJIBAKE, 0] == traces


def test_brackets_are_counted_by_shape_whatever_their_width():
    texts = texts_of(pa.array(["(a) [b]] {c \uff08d\uff09", ""]))
    signs = count_signs(*texts, scripts.classes())
    assert signs[:MOJIBAKE].T.tolist() == [[4, 3, 1], [0, 0, 0]]
