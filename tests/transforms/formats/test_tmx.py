import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.errors import InputError
from pairweave.transforms.formats import tmx
from pairweave.transforms.markup.markup import Kind
from pairweave.transforms.markup.pair_markup import PairMarkup
from pairweave.transforms.markup.segments import escape_text
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.units import ReadLimits
from tests.makers.reading import corpus, pairs, read_all, read_plan, reasons, single

# All that XML 1.0 can carry, with what it must escape or may normalise more often than not.
xml_texts = st.text(
    st.one_of(
        st.sampled_from("<>&\"' \t\r\n]"),
        st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="\ufffe\uffff"),
    )
)

HEAD = '<?xml version="1.0"?>\n<tmx version="1.4"><header srclang="{}"/><body>\n'
TAIL = "</body></tmx>\n"


def tuv(lang, seg, attribute="xml:lang"):
    return f'<tuv {attribute}="{lang}"><seg>{seg}</seg></tuv>'


def tu(*variants):
    return f"<tu>{''.join(tuv(*variant) for variant in variants)}</tu>\n"


def write(tmp_path, *units, srclang="en", name="a.tmx"):
    path = tmp_path / name
    path.write_text(HEAD.format(srclang) + "".join(units) + TAIL, newline="")
    return path


def rows_of(tmp_path, *units, **fields):
    return read_all(single(write(tmp_path, *units), **fields))


def test_each_unit_is_a_row_with_its_number_and_its_own_characters(tmp_path):
    rows = rows_of(
        tmp_path,
        tu(("en", "AT&amp;T &lt;3&#x1F600;"), ("de", "<![CDATA[<x> & y]]>")),
        '<tu tuid="7"><note>a <b>note</b></note><prop type="p">q</prop>'
        '<tuv xml:lang="en"><prop type="p">q</prop><seg> two\n  lines </seg></tuv>'
        '<tuv xml:lang="de"><seg>zwei<!-- c --><?pi x?> Zeilen</seg></tuv></tu>',
    )
    assert pairs(rows) == [
        ("AT&T <3\U0001f600", "<x> & y"),
        (" two\n  lines ", "zwei Zeilen"),
    ]
    assert [row["line"] for row in rows] == [1, 2]


def test_a_prefix_that_is_declared_inside_a_unit_ends_with_its_element(tmp_path):
    source = tuv("en", "a").replace("<tuv", '<tuv xmlns:p="urn:p"')
    rows = rows_of(tmp_path, f"<tu>{source}{tuv('de', 'b')}</tu>", tu(("en", "c"), ("de", "d")))
    assert pairs(rows) == [("a", "b"), ("c", "d")]
    target = tuv("de", "b").replace("<tuv", '<tuv xmlns:p="urn:p"')
    rows = rows_of(tmp_path, f"<tu>{tuv('en', 'a')}{target}</tu>", tu(("en", "c"), ("de", "d")))
    assert pairs(rows) == [("a", "b"), ("c", "d")]


@pytest.mark.parametrize(
    ("wanted", "variants", "found"),
    [
        ("en", ("en-GB", "de"), "en-GB"),
        ("en", ("en-GB", "en", "de"), "en"),
        ("EN", ("en", "de"), "en"),
        ("en-us", ("en_US", "en-GB", "de"), "en_US"),
        ("zh", ("zh-Hans-CN", "de"), "zh-Hans-CN"),
    ],
)
def test_a_language_is_taken_by_its_tag_or_as_the_only_variety(tmp_path, wanted, variants, found):
    path = write(tmp_path, tu(*((lang, f"in {lang}") for lang in variants)))
    rows = read_all(corpus(input=(str(path),), source_lang=wanted, target_lang="de"))
    assert pairs(rows) == [(f"in {found}", "in de")]
    assert rows[0]["source_lang"] == wanted


@pytest.mark.parametrize(
    ("variants", "reason", "detail"),
    [
        (("en-GB", "en-US", "de"), "ambiguous_language", "en could be any of en-GB, en-US"),
        (("en", "en", "de"), "ambiguous_language", "en could be any of en, en"),
        (("fr", "de"), "other_language", "no variant in en; found fr, de"),
        (("eng", "de"), "other_language", "no variant in en"),
        (("en", "fr"), "untranslated", "target: no variant in de; found en, fr"),
        (("en",), "untranslated", "no variant in de"),
        ((), "other_language", "found none"),
    ],
)
def test_a_unit_without_the_languages_is_a_rejected_row(tmp_path, variants, reason, detail):
    good = tu(("en", "good"), ("de", "gut"))
    rows = rows_of(tmp_path, good, tu(*((lang, "x") for lang in variants)))
    assert reasons(rows) == [None, reason]
    assert detail in rows[1]["detail"]
    assert rows[1]["detail"].startswith("line 4: ")


def test_an_empty_target_is_untranslated(tmp_path):
    assert reasons(rows_of(tmp_path, tu(("en", "a"), ("de", "")))) == ["untranslated"]
    # A side with nothing but a tag is a translation, though not one of words.
    assert reasons(rows_of(tmp_path, tu(("en", "<ph/>"), ("de", "<ph/>")))) == [None]


def test_the_old_attribute_for_languages_is_read(tmp_path):
    unit = f"<tu>{tuv('EN-US', 'a', 'lang')}{tuv('DE', 'b', 'lang')}</tu>"
    assert pairs(rows_of(tmp_path, unit)) == [("a", "b")]


@pytest.mark.parametrize("source_first", [True, False])
def test_languages_that_nobody_gave_are_those_of_the_file(tmp_path, source_first):
    variants = [("en_US", "yes"), ("de-AT", "Ja")]
    path = write(tmp_path, tu(*(variants if source_first else variants[::-1])), srclang="en")
    rows = read_all(corpus(input=(str(path),), source_lang="und", target_lang="und"))
    assert pairs(rows) == [("yes", "Ja")]
    assert (rows[0]["source_lang"], rows[0]["target_lang"]) == ("en-US", "de-AT")


@pytest.mark.parametrize(
    ("srclang", "variants"), [("*all*", ("en", "de")), ("en", ("en", "de", "fr")), ("en", ("en",))]
)
def test_languages_that_the_file_leaves_open_must_be_given(tmp_path, srclang, variants):
    path = write(tmp_path, tu(*((lang, "x") for lang in variants)), srclang=srclang)
    with pytest.raises(InputError, match="give --source_lang and --target_lang") as caught:
        make_plan([corpus(input=(str(path),), source_lang="und", target_lang="und")])
    assert caught.value.code == "language_not_found"


def test_a_language_that_no_unit_has_is_an_error_that_lists_those_there_are(tmp_path):
    path = write(tmp_path, tu(("en", "x"), ("fr", "y")))
    with pytest.raises(InputError, match="nothing is in de; the file has en, fr"):
        make_plan([single(path)])


CODES = (
    'see <bpt i="1" x="1" type="bold">&lt;b title="<sub>no</sub>"&gt;</bpt>page'
    '<ept i="1">&lt;/b&gt;</ept> <ph x="2"/>9<it pos="end" x="3">&lt;/i&gt;</it>'
    '<hi type="term"> now</hi><ut>{\\f1}</ut>',
    '<it pos="end" x="3"/><ph x="2">&amp;br;</ph><bpt i="4" x="1">{</bpt>Seite<ept i="4">}</ept>'
    '<hi type="term">n</hi> 9<ut/>',
)


def test_native_codes_and_highlights_are_tags_and_the_sides_are_matched_by_x(tmp_path):
    (row,) = rows_of(tmp_path, tu(("en", CODES[0]), ("de", CODES[1])), inline_tags="index")
    assert (row["source"], row["target"]) == ("see page 9 now", "Seiten 9")
    markup = PairMarkup.from_json(row["markup"])
    assert markup.agrees
    actual = [(e.index, e.form, e.name, e.source, e.target) for e in markup.elements]
    assert actual == [
        (0, "pair", "bpt", (4, 8), (0, 5)),
        (1, "self_closing", "ph", (9, 9), (0, 0)),
        (2, "close", "it", (10, 10), (0, 0)),
        (3, "pair", "hi", (10, 14), (5, 6)),
        (4, "self_closing", "ut", (14, 14), (8, 8)),
    ]
    assert markup.indexed("source", row["source"]) == (
        "see <a_0>page</a_0> <a_1/>9</a_2><a_3> now</a_3><a_4/>"
    )
    assert markup.indexed("target", row["target"]) == (
        "</a_2><a_1/><a_0>Seite</a_0><a_3>n</a_3> 9<a_4/>"
    )
    assert markup.source[0].raw == (
        '<bpt i="1" x="1" type="bold">&lt;b title="<sub>no</sub>"&gt;</bpt>'
    )
    assert markup.source[0].kind is Kind.OPEN


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("strip", (("see page 9 now", "Seiten 9"), None)),
        (None, (("see page 9 now", "Seiten 9"), None)),
        ("raw", (CODES, None)),
        ("reject", (CODES, "inline_tags")),
    ],
)
def test_tags_are_left_taken_out_or_a_reason_by_option(tmp_path, mode, expected):
    path = write(
        tmp_path, tu(("en", CODES[0]), ("de", CODES[1])), tu(("en", "a&amp;"), ("de", "b"))
    )
    first, second = read_all(single(path, inline_tags=mode))
    assert ((first["source"], first["target"]), first["reason"]) == expected
    assert (second["source"], second["reason"]) == ("a&", None)


def test_the_plan_says_how_many_rows_lose_their_tags(tmp_path):
    path = write(tmp_path, tu(("en", CODES[0]), ("de", "b")), tu(("en", "a"), ("de", "b")))
    (notice,) = make_plan([single(path)]).notices
    assert (notice.code, notice.count) == ("tags_stripped", 1)
    assert "augment --inline_tags index" in notice.message
    assert make_plan([single(path, inline_tags="index")]).notices == ()


def test_sides_with_unlike_tags_are_rejected_or_keep_what_they_share(tmp_path):
    unit = tu(("en", '<ph x="1"/>a<ph x="2"/>'), ("de", 'b<ph x="2"/>'))
    (row,) = rows_of(tmp_path, unit, inline_tags="index")
    assert row["reason"] == "tags_differ"
    assert "1 element is on one side only; the first, in the source" in row["detail"]
    assert row["source"] == '<ph x="1"/>a<ph x="2"/>'
    (row,) = rows_of(tmp_path, unit, inline_tags="index", tags_differ="keep")
    markup = PairMarkup.from_json(row["markup"])
    assert markup.indexed("source", row["source"]) == "a<a_0/>"
    assert markup.indexed("target", row["target"]) == "b<a_0/>"
    assert markup.original("source", row["source"]) == '<ph x="1"/>a<ph x="2"/>'


def test_tags_are_part_of_a_pairs_identity_where_they_are_kept(tmp_path):
    units = [
        tu(("en", f"a{tag}b"), ("de", f"c{tag}")) for tag in ("", '<ph x="1"/>', '<ph x="2"/>')
    ]
    ids = [row["id"] for row in rows_of(tmp_path, *units, inline_tags="index")]
    assert len(set(ids)) == 3
    stripped = [row["id"] for row in rows_of(tmp_path, *units)]
    assert set(stripped) == {ids[0]}


def test_elements_of_another_namespace_are_not_taken_for_tmx(tmp_path):
    unit = (
        '<tu xmlns:o="urn:o"><o:tuv xml:lang="en"><o:seg>no</o:seg></o:tuv>'
        f"{tuv('en', 'a<o:ph>b</o:ph>')}{tuv('de', 'c<o:ph>d</o:ph>')}</tu>"
    )
    (row,) = rows_of(tmp_path, unit, inline_tags="index")
    # Not TMX's ph, whose content would be a native code, but an unknown element round text.
    assert (row["source"], row["target"]) == ("ab", "cd")
    assert PairMarkup.from_json(row["markup"]).elements[0].name == "o:ph"


def test_compressed_memories_are_read(tmp_path):
    path = write(tmp_path, tu(("en", "a"), ("de", "b")))
    packed = tmp_path / "b.tmx.zst"
    packed.write_bytes(zstandard.compress(path.read_bytes()))
    assert pairs(read_all(single(packed))) == [("a", "b")]


@given(st.lists(st.tuples(xml_texts, xml_texts), min_size=1, max_size=9), st.integers(1, 5))
def test_any_text_comes_back_as_it_was(tmp_path_factory, texts, batch_rows):
    units = [tu(("en", escape_text(one)), ("de", escape_text(other))) for one, other in texts]
    path = write(tmp_path_factory.mktemp("tmx"), *units)
    rows = read_all(single(path), limits=ReadLimits(), batch_rows=batch_rows)
    assert [(row["source"], row["target"]) for row in rows] == texts
    assert reasons(rows) == [None if target else "untranslated" for _, target in texts]


def test_a_document_of_another_kind_is_not_a_memory(tmp_path):
    path = tmp_path / "a.tmx"
    path.write_text(f"<memory><body>{tu(('en', 'a'), ('de', 'b'))}</body></memory>")
    with pytest.raises(InputError, match="the document lacks a tmx element, so it is not TMX"):
        make_plan([single(path)], ReadLimits())


def test_a_segment_outside_a_unit_belongs_to_none(tmp_path):
    stray = tuv("de", "stray")
    rows = rows_of(tmp_path, stray, tu(("en", "a"), ("de", "b")), stray, tu(("en", "c")))
    assert pairs(rows) == [("a", "b")]
    assert reasons(rows) == [None, "untranslated"]


def test_a_unit_of_very_many_variants_is_rejected_and_the_next_one_is_not(tmp_path):
    limits = ReadLimits(max_line_bytes=64)
    languages = ["en", "de", *(f"x-{number}" for number in range(tmx.MAX_VARIANTS))]
    # Each variant counts 64 bytes beside those of its text.
    for count, reason in ((128, None), (129, "line_too_long")):
        long = tu(*((language, "word" * 16) for language in languages[:count]))
        path = write(tmp_path, long, tu(("en", "a"), ("de", "b")))
        rows = read_plan(make_plan([single(path)], limits), limits)
        assert reasons(rows) == [reason, None]
    assert "line 3: the unit has more than 16384 bytes" in rows[0]["detail"]
