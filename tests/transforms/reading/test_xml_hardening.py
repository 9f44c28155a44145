"""Malicious, wrong or truncated XML: a test for each case, by the plan, in TMX and XLIFF."""

import gzip
import tracemalloc

import pytest

from pairweave.transforms.errors import InputError, WorkerError
from pairweave.transforms.formats.registry import read_unit
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.reading.xml_stream import MAX_DEPTH, utf8_document
from pairweave.transforms.units import ReadLimits
from tests.makers.reading import pairs, read_all, reasons, single

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
HEADS = {
    "tmx": '<tmx version="1.4"><header srclang="en"/><body>',
    "xlf": '<xliff version="1.2"><file source-language="en" target-language="de"><body>',
}
TAILS = {"tmx": "</body></tmx>", "xlf": "</body></file></xliff>"}


def unit(kind, source, target):
    if kind == "tmx":
        return (
            f'<tu><tuv xml:lang="en"><seg>{source}</seg></tuv>'
            f'<tuv xml:lang="de"><seg>{target}</seg></tuv></tu>\n'
        )
    return f"<trans-unit><source>{source}</source><target>{target}</target></trans-unit>\n"


def document(kind, body, *, doctype="", declaration=DECLARATION):
    return declaration + doctype + HEADS[kind] + "\n" + body + TAILS[kind]


def write(tmp_path, kind, data, name="a"):
    path = tmp_path / f"{name}.{kind}"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def error_of(path, **limits):
    with pytest.raises(InputError) as caught:
        make_plan([single(path)], ReadLimits(**limits))
    assert caught.value.path == path.name
    return caught.value


@pytest.fixture(params=["tmx", "xlf"])
def kind(request):
    return request.param


BILLION_LAUGHS = '<!DOCTYPE x [\n<!ENTITY a "ha">\n' + "".join(
    f'<!ENTITY {new} "{f"&{old};" * 10}">\n'
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "subset",
    [
        pytest.param(BILLION_LAUGHS + "]>\n", id="a billion laughs"),
        pytest.param(f'<!DOCTYPE x [\n<!ENTITY i "{"a" * 50_000}">]>', id="quadratic blow-up"),
        pytest.param('<!DOCTYPE x [\n<!ENTITY i SYSTEM "file:///etc/passwd">]>', id="a local file"),
        pytest.param('<!DOCTYPE x [\n<!ENTITY i SYSTEM "http://localhost:1/">]>', id="an address"),
        pytest.param('<!DOCTYPE x [\n<!ENTITY % p SYSTEM "p.dtd"> %p;]>', id="a parameter entity"),
    ],
)
def test_a_document_that_declares_an_entity_is_refused_at_the_declaration(tmp_path, kind, subset):
    uses = unit(kind, "&i;" * 1_000, "x")
    error = error_of(write(tmp_path, kind, document(kind, uses, doctype=subset)))
    assert error.code == "entities_forbidden"
    assert "line 3: the document declares the entity" in error.message
    assert "write the entity's text where it is used" in error.message


@pytest.mark.parametrize(
    "subset",
    [
        "<!ATTLIST seg evil CDATA 'yes'>",
        "<!ELEMENT seg (#PCDATA)>",
        "<!NOTATION n SYSTEM 'n'>",
        " ",
    ],
)
def test_a_document_type_with_declarations_is_refused(tmp_path, kind, subset):
    text = document(kind, unit(kind, "a", "b"), doctype=f"<!DOCTYPE x [{subset}]>")
    error = error_of(write(tmp_path, kind, text))
    assert error.code == "internal_subset"
    assert "line 2" in error.message


def test_a_document_type_that_names_a_dtd_is_read_and_the_dtd_is_not_loaded(tmp_path, kind):
    (tmp_path / "my.dtd").write_text("<!ENTITY evil 'evil'>")
    doctype = '<!DOCTYPE tmx PUBLIC "-//LISA OSCAR:1998//DTD" "my.dtd">\n'
    path = write(tmp_path, kind, document(kind, unit(kind, "a", "b"), doctype=doctype))
    assert pairs(read_all(single(path))) == [("a", "b")]
    for use in ("&evil;", '<ph x="&evil;"/>', "&nbsp;"):
        error = error_of(
            write(tmp_path, kind, document(kind, unit(kind, f"x{use}", "b"), doctype=doctype))
        )
        assert error.code == "undefined_entity"
        assert "line 4" in error.message


def test_an_undefined_entity_is_an_error_and_no_text(tmp_path, kind):
    error = error_of(write(tmp_path, kind, document(kind, unit(kind, "A&x;B", "b"))))
    assert error.code == "undefined_entity"
    assert "an entity that XML itself does not define" in error.message
    assert "such as &#160; for &nbsp;" in error.message


def test_a_syntax_error_is_said_as_the_parser_says_it(tmp_path, kind):
    error = error_of(write(tmp_path, kind, document(kind, unit(kind, "a</x>", "b"))))
    assert error.code == "xml_syntax"
    assert error.message.endswith("line 3: mismatched tag")


def test_a_truncated_document_gives_nothing_wherever_it_breaks_off(tmp_path, kind):
    data = document(kind, unit(kind, "one", "eins") + unit(kind, "two", "zwei")).encode()
    for stop in range(len(DECLARATION), len(data) - 1, 7):
        error = error_of(write(tmp_path, kind, data[:stop]))
        assert error.code == "xml_truncated", (stop, error)
        assert "the document ends before its document element does" in error.message
        assert "line " in error.message


def test_a_truncated_gzip_is_one_error_of_the_whole_file(tmp_path, kind):
    data = gzip.compress(document(kind, unit(kind, "one", "eins") * 50).encode())
    path = tmp_path / f"a.{kind}.gz"
    path.write_bytes(data[:-20])
    assert error_of(path).code == "gzip_truncated"
    path.write_bytes(data)
    assert len(read_all(single(path))) == 50


def test_a_compressed_bomb_is_stopped(tmp_path, kind):
    path = tmp_path / f"a.{kind}.gz"
    path.write_bytes(gzip.compress(document(kind, "<!--" + "a" * 2_000_000 + "-->").encode()))
    assert error_of(path, expansion_floor_bytes=1000).code == "expansion_limit"


def test_elements_that_nest_without_end_are_refused(tmp_path, kind):
    deep = unit(kind, "<g>" * 100_000 + "</g>" * 100_000, "b")
    error = error_of(write(tmp_path, kind, document(kind, deep)))
    assert error.code == "xml_too_deep"
    assert f"line 3: elements nest more than {MAX_DEPTH} deep" in error.message


def test_a_segment_over_the_limit_rejects_its_row_and_no_other_in_constant_memory(tmp_path, kind):
    body = unit(kind, "a" * 30_000_000, "b") + unit(kind, "c", "d")
    path = write(tmp_path, kind, document(kind, body))
    del body
    plan = make_plan([single(path)], ReadLimits())
    tracemalloc.start()
    rows = [row for batch in read_unit(plan.units[0], ReadLimits()) for row in batch.to_pylist()]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert reasons(rows) == ["line_too_long", None]
    assert rows[0]["detail"] == "source: 30000000 bytes, max_line_bytes is 1048576"
    assert rows[0]["source"] is None
    assert len(rows[0]["raw"]) == 4096
    assert peak < 24 << 20  # two of the 8 MiB that are read at a time, and little else


def test_the_limit_of_a_segment_counts_bytes_and_markup(tmp_path, kind):
    text = "ü" * 10
    path = write(tmp_path, kind, document(kind, unit(kind, text, "b")))
    at_limit = ReadLimits(max_line_bytes=20)
    assert reasons(read_all(single(path), limits=at_limit)) == [None]
    assert reasons(read_all(single(path), limits=ReadLimits(max_line_bytes=19))) == [
        "line_too_long"
    ]
    path = write(tmp_path, kind, document(kind, unit(kind, text + '<ph id="1" x="1"/>', "b")))
    assert reasons(read_all(single(path), limits=at_limit)) == ["line_too_long"]


@pytest.mark.parametrize(
    "endless", ["<!--" + "a" * 9_000_000, '<ph x="' + "a" * 9_000_000, "<?p " + "a" * 9_000_000]
)
def test_a_tag_or_comment_without_end_is_refused_before_it_is_whole(tmp_path, kind, endless):
    error = error_of(write(tmp_path, kind, document(kind, unit(kind, endless, "b"))))
    assert error.code == "xml_token_too_long"
    assert "line 3" in error.message


def test_a_long_comment_within_the_limit_is_passed_over(tmp_path, kind):
    path = write(tmp_path, kind, document(kind, f"<!--{'a' * 900_000}-->" + unit(kind, "a", "b")))
    assert pairs(read_all(single(path))) == [("a", "b")]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a\0b", "not well-formed"),
        ("a\x01b", "not well-formed"),
        ("a&#0;b", "invalid character number"),
        ("a&#x1F;b", "invalid character number"),
        ("a & b", "not well-formed"),
        ("a < b", "not well-formed"),
        ("<b>", "mismatched tag"),
    ],
)
def test_what_is_not_well_formed_is_an_error_with_file_and_line(tmp_path, kind, text, what):
    error = error_of(write(tmp_path, kind, document(kind, unit(kind, text, "b"))))
    assert error.code == "xml_syntax"
    assert error.message.startswith("line 3: ")
    assert what in error.message


def test_an_empty_file_is_an_error(tmp_path, kind):
    assert error_of(write(tmp_path, kind, b"")).code == "empty_file"


def test_a_document_of_another_kind_is_an_error(tmp_path, kind):
    assert error_of(write(tmp_path, kind, "<html/>")).code == "unsupported_format"
    assert error_of(write(tmp_path, kind, b"PK\x03\x04....")).code == "unsupported_format"
    assert error_of(write(tmp_path, kind, gzip.compress(b"<tmx/>"))).code == "unsupported_format"


ENCODINGS = [
    ("UTF-8", "utf-8", b""),
    ("UTF-8", "utf-8", b"\xef\xbb\xbf"),
    ("UTF-16", "utf-16-le", b"\xff\xfe"),
    ("UTF-16", "utf-16-be", b"\xfe\xff"),
    ("utf-16le", "utf-16-le", b""),
    ("UTF-16BE", "utf-16-be", b"\xfe\xff"),
    ("ISO-8859-1", "latin-1", b""),
    ("windows-1252", "cp1252", b""),
    ("Shift_JIS", "shift_jis", b""),
    ("GB18030", "gb18030", b""),
]


@pytest.mark.parametrize(("declared", "codec", "mark"), ENCODINGS)
@pytest.mark.parametrize("piece", [1, 3, 1 << 20])
def test_encodings_are_read_by_mark_and_declaration(tmp_path, kind, declared, codec, mark, piece):
    word = {"shift_jis": "日本", "gb18030": "中𝄞"}.get(codec, "müde")
    declaration = f"<?xml version='1.0' encoding=\"{declared}\"?>\n"
    data = mark + document(kind, unit(kind, "x", word), declaration=declaration).encode(codec)
    path = write(tmp_path, kind, data)
    assert pairs(read_all(single(path))) == [("x", word)]
    chunks = (data[start : start + piece] for start in range(0, len(data), piece))
    whole = b"".join(utf8_document(chunks, "a"))
    assert whole == b"".join(utf8_document([data], "a"))


def test_utf_16_needs_no_declaration(tmp_path, kind):
    for data in (
        document(kind, unit(kind, "x", "ö𝄞"), declaration="").encode("utf-16"),
        document(kind, unit(kind, "x", "ö𝄞"), declaration="").encode("utf-16-le"),
    ):
        assert pairs(read_all(single(write(tmp_path, kind, data)))) == [("x", "ö𝄞")]


@pytest.mark.parametrize(
    ("declared", "data", "code"),
    [
        ("UTF-16", lambda text: text.encode(), "wrong_encoding"),
        ("UTF-8", lambda text: text.encode("utf-16"), "wrong_encoding"),
        ("ISO-8859-1", lambda text: b"\xef\xbb\xbf" + text.encode(), "wrong_encoding"),
        ("UTF-8", lambda text: text.encode("latin-1"), "invalid_encoding"),
        ("US-ASCII", lambda text: text.encode(), "invalid_encoding"),
        ("UTF-16", lambda text: text.encode("utf-16")[:-1], "invalid_encoding"),
        ("UTF-8", lambda text: text.encode().replace(b"\xc3\xb6", b"\xed\xa0\x80"), None),
        ("UTF-32", lambda text: text.encode("utf-32"), "unsupported_charset"),
        ("EBCDIC-CP-US", lambda text: text.encode(), "unsupported_charset"),
        ("rot13", lambda text: text.encode(), "unsupported_charset"),
        ("nonsense", lambda text: text.encode(), "unsupported_charset"),
    ],
)
def test_an_encoding_that_lies_or_is_unknown_is_an_error(tmp_path, kind, declared, data, code):
    declaration = f'<?xml version="1.0" encoding="{declared}"?>\n'
    text = document(kind, unit(kind, "x", "ö"), declaration=declaration)
    error = error_of(write(tmp_path, kind, data(text)))
    assert error.code == (code or "invalid_encoding")


def test_the_place_of_a_bad_byte_is_that_in_the_file(tmp_path, kind):
    data = document(kind, unit(kind, "x" * 5_000, "b") + unit(kind, "?", "b")).encode()
    place = data.index(b"?<")
    error = error_of(write(tmp_path, kind, data.replace(b"?<", b"\xff<")))
    assert f"byte {place} of the text is not utf-8" in error.message


def test_xml_1_1_and_a_broken_declaration_are_refused(tmp_path, kind):
    body = unit(kind, "a", "b")
    text = document(kind, body, declaration='<?xml version="1.1"?>')
    assert error_of(write(tmp_path, kind, text)).code == "unsupported_format"
    for declaration in ('<?xml encoding="UTF-8"?>', '<?xml version="1.0" evil="x"?>', "\n<?xml?>"):
        text = document(kind, body, declaration=declaration)
        assert error_of(write(tmp_path, kind, text)).code == "xml_syntax"


def test_line_numbers_count_a_declaration_of_several_lines(tmp_path, kind):
    declaration = '<?xml version="1.0"\r\n encoding="UTF-8"\n?>\n'
    text = document(kind, unit(kind, "&x;", "b"), declaration=declaration)
    assert error_of(write(tmp_path, kind, text)).message.startswith("line 5: ")


def test_a_file_that_changed_since_the_plan_is_the_workers_error(tmp_path, kind):
    path = write(tmp_path, kind, document(kind, unit(kind, "a", "b")))
    plan = make_plan([single(path)])
    write(tmp_path, kind, document(kind, "<broken>"))
    with pytest.raises(WorkerError, match=path.name):
        list(read_unit(plan.units[0], ReadLimits()))


def test_a_unit_of_variants_without_end_is_rejected_in_constant_memory(tmp_path):
    limits = ReadLimits(max_line_bytes=100)
    many = "<tu>" + '<tuv xml:lang="fr"><seg>x</seg></tuv>' * 5_000 + "</tu>"
    path = write(tmp_path, "tmx", document("tmx", many + unit("tmx", "a", "b")))
    rows = read_all(single(path), limits=limits)
    assert reasons(rows) == ["line_too_long", None]
    assert rows[0]["detail"] == "line 3: the unit has more than 25600 bytes"


def test_a_unit_of_segments_without_end_is_rejected(tmp_path):
    limits = ReadLimits(max_line_bytes=6_400)
    cut = "".join(f"<mrk mtype='seg' mid='{number}'>x</mrk>" for number in range(101))
    many = (
        f"<trans-unit><source>x</source><seg-source>{cut}</seg-source>"
        f"<target>{cut}</target></trans-unit>"
    )
    path = write(tmp_path, "xlf", document("xlf", many + unit("xlf", "a", "b")))
    assert reasons(read_all(single(path), limits=limits)) == ["line_too_long", None]
    assert len(read_all(single(path))) == 102


@pytest.mark.parametrize("space", ["default", "preserve"])
def test_white_space_is_text_whatever_the_file_says_of_it(tmp_path, kind, space):
    text = " a\n  b\t"
    body = unit(kind, text, text).replace("<tu>", f'<tu xml:space="{space}">')
    body = body.replace("<trans-unit>", f'<trans-unit xml:space="{space}">')
    path = write(tmp_path, kind, document(kind, body))
    assert pairs(read_all(single(path))) == [(text, text)]
