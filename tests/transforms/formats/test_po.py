import gzip
import importlib.util
import re
import tempfile
from pathlib import Path

import polib
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from pairweave.transforms.errors import InputError, WorkerError
from pairweave.transforms.formats.registry import read_unit
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.units import CorpusInput, ReadLimits
from tests.makers.reading import normal, pairs, read_all, read_plan, reasons, single

HEADER = 'msgid ""\nmsgstr ""\n"Language: de\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n\n'


def write(tmp_path, text, name="a.po", header=HEADER):
    path = tmp_path / name
    data = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(header.encode() + data)
    return path


def rows_of(tmp_path, text, **options):
    header = options.pop("header", HEADER)
    return read_all(single(write(tmp_path, text, header=header), **options))


def test_messages_are_pairs_and_the_header_is_none(tmp_path):
    rows = rows_of(
        tmp_path,
        '# a comment\n#: file.c:1\n#, c-format\nmsgctxt "menu"\nmsgid "Open %s"\n'
        'msgstr "%s öffnen"\n\nmsgid ""\n"two "\n"lines\\n"\nmsgstr "zwei" " Zeilen\\n"\n',
    )
    assert pairs(rows) == [("Open %s", "%s öffnen"), ("two lines\n", "zwei Zeilen\n")]
    assert [row["line"] for row in rows] == [10, 13]


def test_a_plural_message_is_two_pairs_with_the_last_form(tmp_path):
    rows = rows_of(
        tmp_path,
        'msgid "%d file"\nmsgid_plural "%d files"\n'
        'msgstr[0] "%d plik"\nmsgstr[1] "%d pliki"\nmsgstr[2] "%d plików"\n'
        'msgid "%d day"\nmsgid_plural "%d days"\nmsgstr[0] "%d 日"\n',
    )
    assert pairs(rows) == [
        ("%d file", "%d plik"),
        ("%d files", "%d plików"),
        ("%d day", "%d 日"),
        ("%d days", "%d 日"),
    ]
    assert [row["line"] for row in rows] == [6, 7, 11, 12]


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        ("nplurals=4; plural=(n%100==1 ? 1 : n%100==2 ? 2 : n%100==3 || n%100==4 ? 3 : 0);", "10"),
        ("nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2);", "01"),
        ("nplurals=1; plural=0;", "00"),
        ("nplurals=6; plural=n==1 ? 0 : 5;", "03"),  # there is no sixth form
        ("nplurals=INTEGER; plural=EXPRESSION;", "03"),
        ("nplurals=2; plural=n/0;", "03"),
        ("nplurals=2; plural=1-n;", "03"),
        ("nplurals=2; plural=0-n;", "03"),
        ("nplurals=2", "03"),
    ],
)
def test_plural_forms_are_those_for_1_and_for_100_by_the_header_s_rule(tmp_path, rule, wanted):
    header = f'msgid ""\nmsgstr "Language: sl\\n"\n"Plural-Forms: {rule}\\n"\n\n'
    forms = "".join(f'msgstr[{number}] "{number}"\n' for number in range(4))
    rows = rows_of(tmp_path, f'msgid "one"\nmsgid_plural "many"\n{forms}', header=header)
    assert pairs(rows) == [("one", wanted[0]), ("many", wanted[1])]


STATES = (
    '#, fuzzy, c-format\n#| msgid "old"\nmsgid "a"\nmsgstr "A"\n\n'
    'msgid "b"\nmsgstr ""\n\n'
    '#~ msgid "c"\n#~ msgstr "C"\n\n'
    '#, fuzzy\n#~| msgid "older"\n#~ msgid "d"\n#~ msgstr ""\n"d2"\n\n'
    'msgid "e"\nmsgstr "E"\n'
)


def test_fuzzy_obsolete_and_untranslated_messages_are_rejected_with_both_sides(tmp_path):
    rows = rows_of(tmp_path, STATES)
    assert reasons(rows) == ["fuzzy", "untranslated", "obsolete", "obsolete", None]
    assert [(row["source"], row["target"]) for row in rows] == [
        ("a", "A"),
        ("b", ""),
        ("c", "C"),
        ("d", "d2"),
        ("e", "E"),
    ]
    assert all(row["id"] for row in rows)
    assert all(row["raw"] is None for row in rows)


def test_fuzzy_and_obsolete_messages_are_taken_on_request(tmp_path):
    assert reasons(rows_of(tmp_path, STATES, po_take=("fuzzy",))) == [
        None,
        "untranslated",
        "obsolete",
        "obsolete",
        None,
    ]
    assert reasons(rows_of(tmp_path, STATES, po_take=("obsolete",)))[2:] == [None, "fuzzy", None]
    taken = rows_of(tmp_path, STATES, po_take=("obsolete", "fuzzy"))
    assert reasons(taken) == [None, "untranslated", None, None, None]


def test_escapes_are_resolved_as_gettext_does(tmp_path):
    rows = rows_of(tmp_path, r'msgid "\"a\"\\n\tb\r\n"' + "\n" + r'msgstr "\303\274\xc3\xBC\101"')
    assert pairs(rows) == [('"a"\\n\tb\r\n', "üüA")]


def test_escapes_that_make_controls_or_bad_bytes_reject_the_message(tmp_path):
    rows = rows_of(tmp_path, r'msgid "a\a"' + "\n" + r'msgstr "b"' + "\n")
    assert (rows[0]["reason"], rows[0]["detail"]) == (
        "control_char",
        "source: U+0007 at byte 1 of the text",
    )
    rows = rows_of(tmp_path, r'msgid "a"' + "\n" + r'msgstr "b\377"' + "\n")
    assert (rows[0]["reason"], rows[0]["detail"]) == ("invalid_utf8", "target: 0xFF at byte 1")
    assert rows[0]["source"] == "a"


def test_bad_bytes_reject_the_message_and_are_placed_in_line_and_file(tmp_path):
    rows = rows_of(tmp_path, b'msgid "a"\nmsgstr ""\n"ok"\n"b\xe4d"\n\nmsgid "c"\nmsgstr "d"\n')
    assert reasons(rows) == ["invalid_utf8", None]
    place = len(HEADER) + len('msgid "a"\nmsgstr ""\n"ok"\n') + 2
    assert rows[0]["detail"] == f"target: 0xE4 at byte 2 of the line, byte {place} of the file"
    assert rows[0]["raw"] == b'"b\xe4d"'


def test_long_lines_and_long_messages_are_rejected_in_bounded_memory(tmp_path):
    text = f'msgid "a"\nmsgstr "{"x" * 300}"\n\n' + 'msgid "b"\nmsgstr ""\n' + '"yyyyy"\n' * 30
    path = write(tmp_path, text + '\nmsgid "c"\nmsgstr "d"\n', header="")
    rows = read_all(single(path), limits=ReadLimits(max_line_bytes=100))
    assert reasons(rows) == ["line_too_long", "line_too_long", None]
    assert [row["detail"] for row in rows[:2]] == [
        "target: 309 bytes, max_line_bytes is 100",
        "target: 150 bytes, max_line_bytes is 100",
    ]
    assert [row["source"] for row in rows] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('msgid "a"\nmsgid "b"\n', "line 2: expected msgstr, found 'msgid'"),
        ('msgid "a"\n', "line 2: expected msgstr, found the end"),
        ('msgstr "a"\n', "line 1: expected msgid, found 'msgstr'"),
        ('msgctxt "a"\nmsgctxt "b"\n', "line 2: expected msgid, found 'msgctxt'"),
        ('msgid "a"\nmsgstr "b"\nmsgstr "c"\n', "line 3: expected msgid, found 'msgstr'"),
        ('msgid "a"\nmsgstr[0] "b"\n', "line 2: expected msgstr, found 'msgstr[0]'"),
        ('msgid "a"\nmsgid_plural "b"\nmsgstr "c"\n', r"line 3: expected msgstr\[0\], found 'msgs"),
        (
            'msgid "a"\nmsgid_plural "b"\nmsgstr[0] "c"\nmsgstr[2] "c"\n',
            r"line 4: expected msgstr\[1\], found 'msgstr\[2\]'",
        ),
        ('msgid_plural "a"\n', "line 1: expected msgid"),
        ("msgid a\n", "line 1: expected a string in double quotes, found 'a'"),
        ('msgid "a\n', "line 1: expected a string in double quotes, found '\"a'"),
        ('msgid "a"b\n', "line 1: expected a string in double quotes, found 'b'"),
        ('msgid "a\\"\n', "line 1: expected a string in double quotes"),
        ('msgid "a\\q"\n', r"line 1: expected an escape such as"),
        ('msgid "a\\777"\n', r"line 1: expected an escape such as"),
        ('"a"\n', "line 1: expected a comment, a keyword or a string that continues one"),
        ('domain "a"\n', "line 1: expected a comment, a keyword"),
        ('msgid "a"\nmsgstr "b"\n# c\n"d"\n', "line 4: expected a comment, a keyword"),
        ("msgid\n", "line 1: expected a string in double quotes, found the end"),
    ],
)
def test_syntax_errors_name_line_and_what_was_expected(tmp_path, text, expected):
    with pytest.raises(InputError, match=expected.replace("[0]'", r"\[0\]'")) as caught:
        make_plan([single(write(tmp_path, text, header=""))])
    assert caught.value.code == "po_syntax"
    assert caught.value.path == "a.po"


def header(charset: str) -> str:
    return HEADER.replace("UTF-8", charset)


@pytest.mark.parametrize("charset", ["ISO-8859-1", "GB2312", "UTF-16", "windows-1252"])
def test_other_character_sets_are_refused(tmp_path, charset):
    path = write(tmp_path, b'msgid "a"\nmsgstr "\xe4"\n', header=header(charset))
    with pytest.raises(InputError, match=f"charset={charset}, only UTF-8") as caught:
        make_plan([single(path)])
    assert caught.value.code == "unsupported_charset"


@pytest.mark.parametrize("charset", ["utf-8", "UTF8", "us-ascii", "CHARSET"])
def test_utf8_and_its_parts_are_read(tmp_path, charset):
    rows = rows_of(tmp_path, 'msgid "a"\nmsgstr "ä"\n', header=header(charset))
    assert pairs(rows) == [("a", "ä")]


def test_a_catalogue_without_header_is_read_as_utf8(tmp_path):
    rows = rows_of(tmp_path, 'msgid "a"\nmsgstr "ä"\n', header="")
    assert pairs(rows) == [("a", "ä")]


def test_a_second_empty_msgid_is_a_row_and_so_is_one_with_a_context(tmp_path):
    text = 'msgid ""\nmsgstr "x"\n\nmsgctxt "c"\nmsgid ""\nmsgstr "y"\n'
    assert pairs(rows_of(tmp_path, text)) == [("", "x"), ("", "y")]


def test_source_language_defaults_to_english(tmp_path):
    path = write(tmp_path, 'msgid "a"\nmsgstr "b"\n')
    [row] = read_all(CorpusInput(target_lang="de", input=(str(path),)))
    assert (row["source_lang"], row["target_lang"]) == ("en", "de")


def test_compressed_marked_and_dos_files_give_the_same_rows(tmp_path):
    plain = write(tmp_path, STATES)
    data = plain.read_bytes()
    rows = read_all(single(plain))
    others = {
        "b.po.gz": gzip.compress(data),
        "c.po.zst": zstandard.compress(data),
        "d.po": b"\xef\xbb\xbf" + data,
        "e.po": data.replace(b"\n", b"\r\n"),
        "f.po": data.rstrip(b"\n"),
    }
    for name, form in others.items():
        (tmp_path / name).write_bytes(form)
        assert normal(read_all(single(tmp_path / name))) == normal(rows)


def test_a_file_that_changed_since_the_plan_is_a_worker_error(tmp_path):
    path = write(tmp_path, 'msgid "a"\nmsgstr "b"\n')
    plan = make_plan([single(path)])
    for text in ('msgid "a"\nmsgstr "c"\n', 'msgid "a"\nmsgstr c"\n\n', 'msgid "a"\n'):
        write(tmp_path, text)
        with pytest.raises(WorkerError, match=r"a\.po"):
            list(read_unit(plan.units[0], ReadLimits()))


words = st.text(st.sampled_from('ab "\\\\nt\\n\\tü€#~[]msgid'), max_size=12)


@settings(max_examples=60)
@given(st.lists(st.tuples(words.filter(bool), words, st.none() | words), max_size=6))
def test_what_polib_writes_is_read_back(messages):
    catalogue = polib.POFile(wrapwidth=20)
    catalogue.metadata = {"Content-Type": "text/plain; charset=UTF-8"}
    expected = []
    for number, (source, target, plural) in enumerate(messages):
        entry = polib.POEntry(msgid=source, msgctxt=str(number), comment=source)
        if plural:
            entry.msgid_plural, entry.msgstr_plural = plural, {0: "one", 1: target}
            expected += [(source, "one"), (plural, target)]
        else:
            entry.msgstr = target
            expected.append((source, target))
        catalogue.append(entry)
    with tempfile.TemporaryDirectory() as name:
        rows = read_all(single(write(Path(name), str(catalogue), header="")))
    assert [(row["source"], row["target"]) for row in rows] == expected
    assert reasons(rows) == [None if target else "untranslated" for _, target in expected]


def catalogues() -> list[Path]:
    root = Path(importlib.util.find_spec("django").origin).parent
    names = [f"conf/locale/{lang}/LC_MESSAGES/django.po" for lang in ("de", "pl", "ja", "ar")]
    names += [f"contrib/admin/locale/{lang}/LC_MESSAGES/django.po" for lang in ("fr", "sr")]
    return [root / name for name in names]


# By the rules of the catalogues. In Polish, the last form is that of fractions.
MANY = {"de": (0, 1), "pl": (0, 2), "ja": (0, 0), "ar": (1, 5), "fr": (0, 1), "sr": (0, 2)}


def test_real_catalogues_are_read_as_polib_reads_them():
    pytest.importorskip("django", reason="needs the extra demo: its catalogues are the test's text")
    seen = 0
    for path in catalogues():
        expected = []
        for entry in polib.pofile(str(path), encoding="utf-8"):
            state = "obsolete" if entry.obsolete else "fuzzy" if "fuzzy" in entry.flags else None
            forms = [(entry.msgid, entry.msgstr)]
            if entry.msgid_plural:
                one, many = MANY[path.parents[1].name]
                forms = [(entry.msgid, entry.msgstr_plural[one])]
                forms.append((entry.msgid_plural, entry.msgstr_plural[many]))
            expected.extend(
                (source, target, state or (None if target else "untranslated"))
                for source, target in forms
            )
        rows = read_plan(make_plan([single(path)]), batch_rows=50)
        actual = [(row["source"], row["target"], row["reason"]) for row in rows]
        assert sorted(actual, key=str) == sorted(expected, key=str)
        seen += len(actual)
        lines = path.read_text(encoding="utf-8").split("\n")
        for row in rows:
            assert re.match(r"(#~ )?msgid", lines[row["line"] - 1])
    assert seen > 1500


def test_a_first_message_without_text_is_no_header_if_it_is_obsolete_or_has_a_context(tmp_path):
    rows = rows_of(tmp_path, '#~ msgid ""\n#~ msgstr "x"\n\nmsgid "a"\nmsgstr "b"\n', header="")
    assert reasons(rows) == ["obsolete", None]
    rows = rows_of(tmp_path, 'msgctxt "c"\nmsgid ""\nmsgstr "y"\n', header="")
    assert pairs(rows) == [("", "y")]


@pytest.mark.parametrize(
    "message", [b'msgid "a\xff"\nmsgstr "b"\n', b'msgid "a"\nmsgstr "b\xff"\n']
)
@pytest.mark.parametrize("flag", [b"", b"#, fuzzy\n"])
def test_bad_bytes_on_either_side_are_the_reason_whatever_the_state(tmp_path, flag, message):
    assert reasons(rows_of(tmp_path, flag + message)) == ["invalid_utf8"]


def test_a_comment_inside_an_obsolete_message_is_no_string(tmp_path):
    rows = rows_of(tmp_path, '#~ # said by a user\n#~ msgid "a"\n#~ msgstr "b"\n#~\n#~ #: f.c:1\n')
    assert pairs(rows) == []
    assert [(row["source"], row["target"]) for row in rows] == [("a", "b")]


def test_the_first_bad_line_of_a_text_is_the_reason(tmp_path):
    (row,) = rows_of(tmp_path, b'msgid ""\n"a\xff"\n"b\x01"\nmsgstr "c"\n')
    assert row["reason"] == "invalid_utf8"
    (row,) = rows_of(tmp_path, b'msgid "a\x01"\nmsgstr ""\n')
    assert row["reason"] == "control_char"
