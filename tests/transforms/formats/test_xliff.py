import pytest

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.markup.markup import Form
from pairweave.transforms.markup.pair_markup import PairMarkup
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.units import CorpusInput, ReadLimits
from tests.makers.reading import corpus, pairs, read_all, reasons, single

HEAD_1 = (
    '<?xml version="1.0"?>\n<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">\n'
    '<file original="a" datatype="html" source-language="en" target-language="de-DE">'
    "<header><note>n</note></header><body><group>\n"
)
TAIL_1 = "</group></body></file></xliff>\n"
HEAD_2 = (
    '<xliff version="2.1" xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang="en-US" '
    'trgLang="de" xmlns:mtc="urn:oasis:names:tc:xliff:matches:2.0">\n<file id="f"><group id="g">\n'
)
TAIL_2 = "</group></file></xliff>\n"


def write(tmp_path, body, version=1, name="a.xlf"):
    head, tail = (HEAD_1, TAIL_1) if version == 1 else (HEAD_2, TAIL_2)
    path = tmp_path / name
    path.write_text(head + body + tail)
    return path


def rows_of(tmp_path, body, version=1, **fields):
    return read_all(single(write(tmp_path, body, version), **fields))


def markup_of(row):
    return PairMarkup.from_json(row["markup"])


def unit(source, target, attributes=""):
    target = "" if target is None else f"<target{attributes}>{target}</target>"
    return f'<trans-unit id="1"><source>{source}</source>{target}</trans-unit>\n'


def segment(source, target, attributes=""):
    target = "" if target is None else f"<target>{target}</target>"
    return f'<unit id="1"><segment{attributes}><source>{source}</source>{target}</segment></unit>\n'


def test_units_of_version_1_are_rows(tmp_path):
    body = unit("a &amp; b", "c") + (
        '<trans-unit id="2"><source>d</source><target>e</target><note>x</note>'
        "<alt-trans><source>no</source><target>nein</target></alt-trans></trans-unit>"
        "<bin-unit id='3'><bin-source><external-file href='x'/></bin-source></bin-unit>"
    )
    rows = rows_of(tmp_path, body)
    assert pairs(rows) == [("a & b", "c"), ("d", "e")]
    assert [row["line"] for row in rows] == [1, 2]


def test_segments_of_version_2_are_rows(tmp_path):
    body = (
        '<unit id="u"><mtc:matches><mtc:match ref="#1"><source>no</source><target>nein</target>'
        "</mtc:match></mtc:matches><notes><note>n</note></notes>"
        "<segment id='1'><source>One. </source><target>Eins. </target></segment>"
        "<ignorable><source>  </source></ignorable>"
        "<segment id='2' state='final'><source>Two.</source><target>Zwei.</target></segment></unit>"
    )
    assert pairs(rows_of(tmp_path, body, 2)) == [("One. ", "Eins. "), ("Two.", "Zwei.")]


def test_a_unit_that_is_cut_gives_a_row_for_each_segment(tmp_path):
    body = (
        "<trans-unit id='1'><source>One. <g id='1'>Two.</g> Three.</source>"
        "<seg-source><mrk mtype='seg' mid='0'>One.</mrk> <mrk mtype='seg' mid='1'>"
        "<g id='1'>Two.</g></mrk> <mrk mtype='seg' mid='2'>Three.</mrk></seg-source>"
        "<target><mrk mtype='seg' mid='1'><g id='1'>Zwei.</g></mrk> "
        "<mrk mtype='seg' mid='0'>Eins.</mrk></target></trans-unit>"
    )
    rows = rows_of(tmp_path, body, inline_tags="index")
    assert [(row["source"], row["target"]) for row in rows] == [
        ("One.", "Eins."),
        ("Two.", "Zwei."),
        ("Three.", None),
    ]
    assert reasons(rows) == [None, None, "untranslated"]
    assert rows[0]["markup"] is None
    assert markup_of(rows[1]).elements[0].source == (0, 4)


def test_a_segment_of_the_target_alone_is_rejected_and_not_lost(tmp_path):
    body = (
        "<trans-unit id='1'><source>One.</source>"
        "<seg-source><mrk mtype='seg' mid='0'>One.</mrk></seg-source>"
        "<target><mrk mtype='seg' mid='0'>Eins.</mrk> <mrk mtype='seg' mid='7'>Mehr.</mrk></target>"
        "</trans-unit>"
    )
    rows = rows_of(tmp_path, body)
    assert [(row["source"], row["target"]) for row in rows] == [("One.", "Eins."), (None, "Mehr.")]
    assert reasons(rows) == [None, "missing_field"]


def test_a_unit_that_is_cut_but_not_translated_gives_a_row_for_each_segment(tmp_path):
    cut = SEGMENTS.format("One.", " ", "Two.")
    body = f"<trans-unit><source>One. Two.</source><seg-source>{cut}</seg-source></trans-unit>"
    rows = rows_of(tmp_path, body)
    assert [row["source"] for row in rows] == ["One.", "Two."]
    assert reasons(rows) == ["untranslated"] * 2


CUT = (
    "<trans-unit id='1'><source>{source}</source><seg-source>{source}</seg-source>"
    "<target>{target}</target></trans-unit>"
)
SEGMENTS = "<mrk mtype='seg' mid='0'>{}</mrk>{}<mrk mtype='seg' mid='1'>{}</mrk>"


@pytest.mark.parametrize("sides", ["source", "target", "both"])
def test_text_between_segments_is_in_no_pair_and_reported(tmp_path, sides):
    source, target = (" 2) " if sides in (side, "both") else " " for side in ("source", "target"))
    body = CUT.format(
        source=SEGMENTS.format("One.", source, "Two."),
        target=SEGMENTS.format("Eins.", target, "Zwei."),
    )
    path = write(tmp_path, body * 3 + unit("d", "e"))
    (notice,) = make_plan([single(path)]).notices
    assert (notice.code, notice.count) == ("outside_segments", 3)
    assert notice.message == "text outside of the segments of 3 units is in no pair"
    assert pairs(read_all(single(path)))[-3:] == [("One.", "Eins."), ("Two.", "Zwei."), ("d", "e")]


def test_text_before_white_space_between_segments_is_reported(tmp_path):
    side = "<mrk mtype='seg' mid='0'>{}</mrk> 2) <x id='1'/> "
    body = CUT.format(source=side.format("One."), target=side.format("Eins."))
    codes = [each.code for each in make_plan([single(write(tmp_path, body))]).notices]
    assert "outside_segments" in codes


@pytest.mark.parametrize("between", ["", " \n", "\u3000", "<x id='1'/>", "<ph id='1'>code</ph>"])
def test_white_space_and_tags_between_segments_are_no_text(tmp_path, between):
    body = CUT.format(
        source=SEGMENTS.format("One.", between, "<ph id='2'/>Two."),
        target=SEGMENTS.format("Eins.", between, "<ph id='2'/>Zwei."),
    )
    path = write(tmp_path, body)
    assert [each.code for each in make_plan([single(path)]).notices] == ["tags_stripped"]
    assert len(pairs(read_all(single(path)))) == 2


@pytest.mark.parametrize(
    ("cut", "count"),
    [
        ("<g id='1'>{}</g>", 3),
        (SEGMENTS.format("One.", "<x id='1'/>", "Two.") + "{}", 3),
        ("{}", 0),
        ("<mrk mtype='protected'>{}</mrk>", 3),
    ],
)
def test_tags_outside_of_segments_are_reported_if_tags_are_kept(tmp_path, cut, count):
    side = "<mrk mtype='seg' mid='8'>A<x id='2'/>.</mrk> <mrk mtype='seg' mid='9'>B.</mrk>"
    body = CUT.format(source=side, target=cut.format(side)) * 3
    path = write(tmp_path, body + CUT.format(source=side, target=f"1) <x id='3'/>{side}"))
    for inline_tags, more in (("index", count), ("strip", 0)):
        notices = {n.code: n for n in make_plan([single(path, inline_tags=inline_tags)]).notices}
        assert notices["outside_segments"].count == 1 + more
        assert ("text or tags" in notices["outside_segments"].message) == bool(more)


def test_tags_of_version_2_between_segments_are_reported_if_tags_are_kept(tmp_path):
    between = "<ignorable><source> </source><target><ph id='1'/></target></ignorable>"
    body = f"<unit id='u'>{between}<segment><source>a</source><target>b</target></segment></unit>"
    path = write(tmp_path, body * 2, 2)
    (notice,) = make_plan([single(path, inline_tags="index")]).notices
    assert notice.message == "text or tags outside of the segments of 2 units are in no pair"
    assert not make_plan([single(path)]).notices


def test_text_outside_of_segments_that_are_not_used_is_in_the_row(tmp_path):
    cut = "<seg-source>1) <mrk mtype='seg' mid='0'>One.</mrk></seg-source>"
    body = f"<trans-unit><source>1) One.</source>{cut}<target>1) Eins.</target></trans-unit>"
    path = write(tmp_path, body)
    assert not make_plan([single(path)]).notices
    assert pairs(read_all(single(path))) == [("1) One.", "1) Eins.")]


def test_text_of_version_2_between_segments_is_reported(tmp_path):
    between = "<ignorable><source>{}</source><target>{}</target></ignorable>"
    body = (
        f"<unit id='u'>{between.format('1) ', ' ')}"
        "<segment><source>One.</source><target>Eins.</target></segment>"
        f"{between.format(' ', '<ph/>')}{between.format('2) ', '2) ')}"
        "<segment><source>Two.</source><target>Zwei.</target></segment></unit>"
    )
    path = write(tmp_path, f"{body}<unit id='v'>{between.format(' ', ' ')}</unit>{body}", 2)
    (notice,) = make_plan([single(path)]).notices
    assert (notice.code, notice.count) == ("outside_segments", 2)
    assert pairs(read_all(single(path))) == 2 * [("One.", "Eins."), ("Two.", "Zwei.")]


def test_a_segment_without_a_target_does_not_take_that_of_the_text_before_it(tmp_path):
    body = (
        "<unit><ignorable><source>1) </source><target>2) </target></ignorable>"
        "<segment><source>One.</source></segment></unit>"
    )
    (row,) = rows_of(tmp_path, body, 2)
    assert (row["source"], row["target"], row["reason"]) == ("One.", None, "untranslated")


def test_a_segment_inside_of_code_is_none(tmp_path):
    side = "<ph id='1'><mrk mtype='seg' mid='9'>{}</mrk></ph><mrk mtype='seg' mid='0'>{}</mrk>"
    body = (
        f"<trans-unit id='1'><source>A.</source><seg-source>{side.format('x', 'A.')}</seg-source>"
        f"<target>{side.format('x', 'B.')}</target></trans-unit>"
    )
    assert pairs(rows_of(tmp_path, body, inline_tags="strip")) == [("A.", "B.")]


def test_a_unit_whose_target_is_not_cut_or_cut_ambiguously_is_one_row(tmp_path):
    cut = (
        "<seg-source><mrk mtype='seg' mid='0'>A.</mrk>"
        "<mrk mtype='seg' mid='{}'>B.</mrk></seg-source>"
    )
    whole = "<trans-unit><source>A.B.</source>{}<target>C.D.</target></trans-unit>"
    again = (
        "<trans-unit><source>A.B.</source>{}<target><mrk mtype='seg' mid='0'>C.</mrk>"
        "<mrk mtype='seg' mid='0'>D.</mrk></target></trans-unit>"
    )
    for body in (whole.format(cut.format(1)), again.format(cut.format(0))):
        assert pairs(rows_of(tmp_path, body, inline_tags="index")) == [("A.B.", "C.D.")]


@pytest.mark.parametrize(
    ("version", "state", "reason"),
    [
        (1, "new", "untranslated"),
        (1, "needs-translation", "untranslated"),
        (1, "needs-review-translation", "fuzzy"),
        (1, "needs-adaptation", "fuzzy"),
        (1, "translated", None),
        (1, "signed-off", None),
        (1, "final", None),
        (1, "x-mine", None),
        (2, "initial", "untranslated"),
        (2, "translated", None),
        (2, "reviewed", None),
    ],
)
def test_the_state_of_a_translation_decides_whether_it_is_one(tmp_path, version, state, reason):
    write_unit = unit if version == 1 else segment
    body = write_unit("a", "b", f' state="{state}"')
    (row,) = rows_of(tmp_path, body, version)
    assert row["reason"] == reason
    assert reason is None or state in row["detail"]
    take = ("untranslated", "doubtful")
    assert pairs(rows_of(tmp_path, body, version, xliff_take=take)) == [("a", "b")]


def test_a_fuzzy_match_is_doubtful(tmp_path):
    body = unit("a", "b", ' state-qualifier="fuzzy-match"')
    assert reasons(rows_of(tmp_path, body)) == ["fuzzy"]


@pytest.mark.parametrize(
    ("target", "detail"), [(None, "line 4: the target is missing"), ("", "the target is empty")]
)
def test_a_missing_or_empty_target_is_untranslated_whatever_is_taken(tmp_path, target, detail):
    (row,) = rows_of(tmp_path, unit("a", target), xliff_take=("untranslated",))
    assert row["reason"] == "untranslated"
    assert detail in row["detail"]
    (row,) = rows_of(tmp_path, segment("a", target), 2)
    assert row["reason"] == "untranslated"


def test_a_target_with_a_tag_alone_is_not_empty(tmp_path):
    assert reasons(rows_of(tmp_path, unit("<x id='1'/>", "<x id='1'/>"), inline_tags="index")) == [
        None
    ]


def test_a_unit_without_a_source_is_rejected(tmp_path):
    body = '<trans-unit id="1"><target>b</target></trans-unit>'
    assert reasons(rows_of(tmp_path, body)) == ["missing_field"]


def test_inline_elements_of_version_1_are_tags(tmp_path):
    source = (
        '<g id="1" ctype="bold">b</g><x id="2"/><bx id="3"/>c<ex id="3"/><bpt id="4">&lt;i></bpt>d'
        '<ept id="4">&lt;/i></ept><ph id="5">{0}<sub>s</sub></ph><it id="6" pos="open">[</it>'
        '<mrk mid="7" mtype="term">e</mrk><bx id="8" rid="9"/>f<ex id="10" rid="9"/>'
    )
    target = (
        '<ex id="10" rid="9"/><mrk mid="7" mtype="term">E</mrk><it id="6" pos="open">[</it>'
        '<ph id="5">{0}</ph><bpt id="4"/>D<ept id="4"/><bx id="3"/>C<ex id="3"/><x id="2"/>'
        '<g id="1">B</g><bx id="8" rid="9"/>'
    )
    (row,) = rows_of(tmp_path, unit(source, source), inline_tags="index")
    assert row["source"] == "bcdef"
    markup = markup_of(row)
    assert markup.agrees
    assert [(e.form, e.name, e.source) for e in markup.elements] == [
        (Form.PAIR, "g", (0, 1)),
        (Form.SELF_CLOSING, "x", (1, 1)),
        (Form.PAIR, "bx", (1, 2)),
        (Form.PAIR, "bpt", (2, 3)),
        (Form.SELF_CLOSING, "ph", (3, 3)),
        (Form.OPEN, "it", (3, 3)),
        (Form.PAIR, "mrk", (3, 4)),
        (Form.PAIR, "bx", (4, 5)),
    ]
    assert markup.indexed("source", row["source"]) == (
        "<a_0>b</a_0><a_1/><a_2>c</a_2><a_3>d</a_3><a_4/><a_5><a_6>e</a_6><a_7>f</a_7>"
    )
    # A pair whose halves stand the wrong way round is two halves, which the source has not.
    (row,) = rows_of(tmp_path, unit(source, target), inline_tags="index")
    assert row["reason"] == "tags_differ"
    (row,) = rows_of(tmp_path, unit(source, target), inline_tags="index", tags_differ="keep")
    assert markup_of(row).indexed("target", row["target"]) == (
        "<a_6>E</a_6><a_5><a_4/><a_3>D</a_3><a_2>C</a_2><a_1/><a_0>B</a_0>"
    )


def test_inline_elements_of_version_2_are_tags(tmp_path):
    text = (
        '<pc id="1" dataRefStart="d1">a</pc><ph id="2" equiv="x"/><sc id="3"/>b<ec startRef="3"/>'
        '<sc id="4" isolated="yes"/>c<ec id="5" isolated="yes"/><mrk id="m" type="term">d</mrk>'
        '<sm id="6" type="comment"/>e<em startRef="6"/><cp hex="001a"/>'
    )
    (row,) = rows_of(tmp_path, segment(text, text), 2, inline_tags="index")
    assert row["source"] == "abcde"
    assert markup_of(row).indexed("source", row["source"]) == (
        "<a_0>a</a_0><a_1/><a_2>b</a_2><a_3>c</a_4><a_5>d</a_5><a_6>e</a_6><a_7/>"
    )
    assert markup_of(row).original("source", row["source"]) == text


@pytest.mark.parametrize("inline_tags", ["strip", "index"])
@pytest.mark.parametrize(
    ("cp", "reason"),
    [
        ('<cp hex="001A"/>', None),
        ('<cp hex="10fffe"/>', None),
        ('<cp hex="zz"/>', "wrong_type"),
        ('<cp hex="110000"/>', "wrong_type"),
        ('<cp hex=""/>', "wrong_type"),
        ("<cp/>", "wrong_type"),
    ],
)
def test_a_code_point_of_version_2_is_a_number(tmp_path, cp, reason, inline_tags):
    body = segment("a", "b") + segment(f"a{cp}", f"b{cp}")
    row = rows_of(tmp_path, body, 2, inline_tags=inline_tags)[1]
    assert row["reason"] == reason
    if reason is not None:
        assert f'source: {cp} names no code point; expected such as hex="001A"' in row["detail"]


def test_elements_with_other_identifiers_are_other_elements(tmp_path):
    body = unit('<g id="1">a</g>', '<g id="2">b</g>') + unit('<g id="1">a</g>', "<g>b</g>")
    assert reasons(rows_of(tmp_path, body, inline_tags="index")) == ["tags_differ", None]


def test_elements_that_change_places_are_told_by_their_identifiers(tmp_path):
    body = unit('<g id="1">a</g> <g id="2">b</g>', '<g id="2">B</g> <g id="1">A</g>')
    (row,) = rows_of(tmp_path, body, inline_tags="index")
    assert markup_of(row).indexed("target", row["target"]) == "<a_1>B</a_1> <a_0>A</a_0>"


def test_prefixed_documents_and_documents_without_a_namespace_are_read(tmp_path):
    bare = (
        '<xliff version="1.0"><file source-language="en" target-language="de"><body>'
        "<trans-unit><source>a</source><target>b</target></trans-unit></body></file></xliff>"
    )
    prefixed = (
        '<l:xliff version="1.2" xmlns:l="urn:oasis:names:tc:xliff:document:1.2"><l:file '
        'source-language="en" target-language="de"><l:body><l:trans-unit><l:source>a<l:x id="1"/>'
        '</l:source><l:target>b<l:x id="1"/></l:target></l:trans-unit></l:body></l:file></l:xliff>'
    )
    for name, text in (("a.xlf", bare), ("b.xliff", prefixed)):
        (tmp_path / name).write_text(text)
        assert pairs(read_all(single(tmp_path / name))) == [("a", "b")]


def test_a_file_of_another_language_is_rejected_and_alone_an_error(tmp_path):
    other = HEAD_1.replace("de-DE", "fr").partition("<file")[2]
    both = unit("a", "b") + TAIL_1.replace("</xliff>", "<file") + other + unit("c", "d")
    rows = rows_of(tmp_path, both)
    assert reasons(rows) == [None, "other_language"]
    assert "target: fr, wanted de" in rows[1]["detail"]
    with pytest.raises(InputError, match="nothing is in it; the file has de-DE, fr"):
        make_plan([corpus(input=(str(write(tmp_path, both)),), target_lang="it")])


def test_the_language_of_a_target_beats_that_of_its_file(tmp_path):
    assert reasons(rows_of(tmp_path, unit("a", "b", ' xml:lang="fr"') + unit("c", "d"))) == [
        "other_language",
        None,
    ]


def test_the_language_of_a_target_is_not_that_of_the_next_unit(tmp_path):
    body = unit("a", "b", ' xml:lang="fr"') + unit("c", None)
    assert reasons(rows_of(tmp_path, body)) == ["other_language", "untranslated"]


def test_a_file_that_states_no_language_is_in_any(tmp_path):
    without = HEAD_1.replace(' target-language="de-DE"', "").partition("<file")[2]
    path = write(tmp_path, unit("a", "b") + TAIL_1.replace("</xliff>", "<file") + without)
    text = path.read_text().replace("de-DE", "fr").replace(TAIL_1, unit("c", "d") + TAIL_1)
    path.write_text(text)
    rows = read_all(single(path))
    assert reasons(rows) == ["other_language", None]
    assert pairs(rows) == [("c", "d")]


def test_languages_that_nobody_gave_are_those_of_the_file(tmp_path):
    path = write(tmp_path, segment("a", "b"), 2)
    rows = read_all(CorpusInput(input=(str(path),), source_lang="und", target_lang="und"))
    assert (rows[0]["source_lang"], rows[0]["target_lang"]) == ("en-US", "de")


def test_languages_that_nobody_gave_and_the_file_has_several_of_stay_unknown(tmp_path):
    for language in ('target-language="fr"', ""):
        other = HEAD_1.replace('target-language="de-DE"', language).partition("<file")[2]
        both = unit("a", "b") + TAIL_1.replace("</xliff>", "<file") + other + unit("c", "d")
        path = write(tmp_path, both)
        rows = read_all(CorpusInput(input=(str(path),), source_lang="und", target_lang="und"))
        assert pairs(rows) == [("a", "b"), ("c", "d")]
        assert {row["target_lang"] for row in rows} == {"und"}


def test_xliff_states_that_nobody_knows_are_refused():
    with pytest.raises(ConfigError, match="xliff_take: input should be 'untranslated' or 'doubt"):
        make_plan([corpus(input=("a.xlf",), xliff_take=("new",))])


NOT_TRANSLATED = (
    '<trans-unit id="2" translate="no"><source>x.c</source></trans-unit>'
    '<trans-unit id="3" translate="no"><source>y.c</source><target></target></trans-unit>'
    '<trans-unit id="4" translate="no"><source>a</source><target>b</target></trans-unit>'
    '<group translate="no"><trans-unit id="5"><source>z.c</source></trans-unit>'
    '<trans-unit id="6" translate="yes"><source>c</source></trans-unit></group>'
    '<trans-unit id="7" translate="no"><source>w.c</source></trans-unit>'
)


def test_segments_that_are_not_to_be_translated_are_no_pairs_without_a_target(tmp_path):
    path = write(tmp_path, unit("d", "e") + NOT_TRANSLATED + unit("f", None))
    plan = make_plan([single(path)])
    assert plan.rows == 4
    (notice,) = plan.notices
    assert (notice.code, notice.count) == ("not_for_translation", 4)
    rows = read_all(single(path))
    assert [row["source"] for row in rows] == ["d", "a", "c", "f"]
    assert reasons(rows) == [None, None, "untranslated", "untranslated"]


def test_a_target_over_the_limit_is_rejected_even_if_it_is_not_to_be_translated(tmp_path):
    code = f"<ph id='1'>{'x' * 100}</ph>"
    path = write(tmp_path, unit("a", code).replace("<trans-unit", '<trans-unit translate="no"'))
    assert reasons(read_all(single(path), limits=ReadLimits(max_line_bytes=50))) == [
        "line_too_long"
    ]


def test_a_notice_on_many_files_is_one(tmp_path):
    paths = [write(tmp_path, unit("d", "e") + NOT_TRANSLATED, name=f"{n}.xlf") for n in range(5)]
    plan = make_plan([corpus(input=tuple(map(str, paths)))])
    (notice,) = (each for each in plan.notices if each.code == "not_for_translation")
    assert notice.file.endswith("0.xlf and 4 other files")
    assert notice.count == 20
    said = "no pair is made of 20 segments without a target, marked as not to be translated"
    assert notice.message == said
