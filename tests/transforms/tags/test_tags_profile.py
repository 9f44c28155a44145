import json
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.markup.markup import INDEXED, XLIFF, XML, find_elements, parse_markup
from pairweave.transforms.output.run_files import to_json
from pairweave.transforms.tags.tag_config import TagConfig
from pairweave.transforms.tags.tag_counts import count_shapes
from pairweave.transforms.tags.tag_profile import (
    TagProfile,
    compare,
    jensen_shannon,
    learn_profile,
    read_profile,
)
from pairweave.transforms.tags.tags import inject_tags, symbols
from tests.makers import runs
from tests.oracles import slow_tag_shapes
from tests.transforms.tags.test_tags import INFINITE, some_pairs, table_of

PIECES = ["word ", "two words ", ". ", "<g>", "</g>", "<x/>", "<bx/>", "<ex/>", " "]
NAMES = {"pair": "pair", "self_closing": "self at start", "open": "open", "close": "close"}


def slow_counts(texts):
    counts = Counter()
    for text in texts:
        marked = parse_markup(text, XLIFF)
        elements = find_elements(marked.tags)
        if not elements:
            continue
        counts[f"tags {min(9, len(elements))}"] += 1
        words = slow_tag_shapes.words_of({"source": marked.text, "source_lang": None}, "words")
        ranges = [(e.start, e.end) for e in elements]
        for place, element in enumerate(elements):
            inside = [w for w in words if w["start"] < element.end and w["end"] > element.start]
            form = element.form.value
            if form == "pair" and not inside:
                form = "empty"
            counts[f"form {form}"] += 1
            code = {"empty": "empty at start"}.get(form) or NAMES[form]
            cell = slow_tag_shapes.cell_of(words, code, element.start, element.end)
            if element.start == element.end or form == "pair":
                counts[cell] += 1
            else:  # white space alone: where it starts
                counts[slow_tag_shapes.cell_of(words, code, element.start, element.start)] += 1
            holders = [
                other
                for number, other in enumerate(ranges)
                if number != place and holds(other, ranges[place], number < place)
            ]
            counts[f"depth {('0', '1', '2+')[min(2, len(holders))]}"] += 1
            if place:
                related = any(
                    holds(other, ranges[place], True) or holds(ranges[place], other, False)
                    for other in ranges[:place]
                )
                counts[f"nested {'yes' if related else 'no'}"] += 1
    return counts


def holds(one, other, is_earlier):
    if one[0] == one[1]:
        return False
    if other[0] == other[1]:
        return one[0] < other[0] < one[1]
    return one[0] <= other[0] and other[1] <= one[1] and (one != other or is_earlier)


@given(
    st.lists(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), min_size=1, max_size=4)
)
def test_a_profile_counts_as_its_slow_twin(texts):
    expected = slow_counts(texts)
    if not expected:
        with pytest.raises(ConfigError, match="at least one tag"):
            learn_profile(texts, XLIFF)
        return
    assert learn_profile(texts, XLIFF)["counts"] == dict(sorted(expected.items()))


def test_a_profile_by_hand():
    actual = learn_profile(
        ['(1)<x id="1"/>The <g id="2">green <g id="3">witch</g></g>.', "plain", "<g> a</g> b"],
        XLIFF,
        ['(1)<x id="1"/>Die <g id="2">grüne</g> <g id="2">Hexe</g>.', "schlicht", "<g> a</g> b"],
    )
    assert (actual["texts"], actual["tagged_texts"], actual["tags"]) == (3, 2, 4)
    assert actual["counts"] == {
        "depth 0": 3,
        "depth 1": 1,
        "form pair": 3,
        "form self_closing": 1,
        "nested no": 1,
        "nested yes": 1,
        "point self_closing middle": 1,
        "span 1 middle": 1,
        "span 1 start": 1,
        "span 2 middle": 1,
        "tags 1": 1,
        "tags 3": 1,
    }
    assert [*actual["counts"]] == sorted(actual["counts"])
    assert actual["split"] == [1, 2]  # of g 2 and the g without a key; the target lacks g 3
    assert actual["target"] == {"lacks": 1, "adds": 0}
    assert actual["names"] == {"pair": {"g": 3}, "self_closing": {"x": 1}}
    assert actual["syntax"] == "xliff"


@pytest.mark.parametrize("form", ["pair", "self_closing"])
def test_tags_may_be_self_closing_where_a_profile_has_such_tags(form):
    profile = TagProfile(((f"form {form}", 1), ("tags 1", 1)))
    assert TagConfig(profile=profile).self_closing == (form == "self_closing")


def test_the_depth_of_an_element_is_the_number_of_those_round_it():
    text = '<g id="1">a <g id="2">b</g> <g id="3">c</g></g>'
    counts = learn_profile([text], XLIFF)["counts"]
    actual = {name: counts[name] for name in counts if name.startswith(("depth", "nested"))}
    assert actual == {"depth 0": 1, "depth 1": 2, "nested yes": 2}


def test_a_profile_of_texts_with_nine_tags_is_read_again():
    actual = learn_profile(['<x id="1"/> word ' * 9], XLIFF)
    assert actual["counts"]["tags 9"] == 1
    assert TagProfile.from_json(actual).to_json()["counts"] == actual["counts"]


def test_a_pair_is_split_where_one_side_has_it_in_parts_and_the_other_whole():
    three = '<g id="1">a</g> <g id="2">b</g> <g id="3">c</g>'
    for texts in ([three], [f'{three} <g id="3">d</g>']), ([f'{three} <g id="3">d</g>'], [three]):
        assert learn_profile(texts[0], XLIFF, texts[1])["split"] == [1, 3]


def test_jensen_shannon_is_a_distance():
    one, two, three = (np.array(v, float) for v in ([1, 2, 3], [3, 2, 1], [1, 0, 0]))
    assert jensen_shannon(one, one * 7) == 0
    assert jensen_shannon(one, two) == jensen_shannon(two, one)
    assert jensen_shannon(one, three) <= jensen_shannon(one, two) + jensen_shannon(two, three)
    p, q = np.array([0.5, 0.5]), np.array([1.0, 0.0])
    expected = 0.5 * (0.5 * math.log2(0.5 / 0.75) + 0.5 * math.log2(0.5 / 0.25)) + 0.5 * math.log2(
        1 / 0.75
    )
    assert jensen_shannon(p, q) == pytest.approx(math.sqrt(expected))


def profile_of(**shares):
    return TagProfile(tuple(sorted((name.replace("_to_", " "), n) for name, n in shares.items())))


def drawn_counts(table, profile, **settings):
    config = TagConfig(mix=INFINITE, profile=profile, **settings)
    return count_shapes(inject_tags(table, config)[0], table, config)


def test_tags_are_drawn_to_the_profile():
    texts = [
        *["<g>one</g> two <g>three four</g> five"] * 30,
        *["one <x/>two three"] * 20,
        *["one <g>two <g>three</g> four</g> five"] * 30,
        *["one <bx/>two three"] * 10,
    ]
    learnt = learn_profile(texts, XLIFF)
    profile = TagProfile.from_json(learnt)
    table = table_of(
        [(" ".join(f"w{n}" for n in range(12)), " ".join(f"v{n}" for n in range(12)))] * 1500,
        [[(n, n) for n in range(12)]] * 1500,
    )
    drawn = drawn_counts(table, profile)
    distances = compare(profile, drawn)
    assert distances.keys() == {"tags", "form", "span", "point", "depth", "length", "place"}
    assert all(distance < 0.2 for distance in distances.values()), distances
    assert max(distances[name] for name in ("tags", "form")) < 0.05
    uniform = TagConfig(mix=INFINITE, tag_share=0.3)
    other = count_shapes(inject_tags(table, uniform)[0], table, TagConfig(profile=profile))
    for name, distance in compare(profile, other).items():
        assert distance > 2 * distances[name], name


def test_a_profile_of_one_class_draws_nothing_else():
    profile = profile_of(tags_to_2=1, form_to_self_closing=1)
    profile = TagProfile((*profile.counts, ("point self_closing end", 1)))
    drawn = drawn_counts(some_pairs(100), profile)
    # The end is the end of one tag alone: the other has to stand elsewhere.
    assert drawn["tags 2"] == 100
    assert drawn["form self_closing"] == 200
    assert drawn["point self_closing end"] >= 100


def test_a_pair_whose_phrases_are_unlike_the_profile_takes_what_it_has():
    profile = profile_of(tags_to_1=1, form_to_pair=1)
    profile = TagProfile((*profile.counts, ("span 15+ whole", 3)))
    drawn = drawn_counts(some_pairs(50), profile)
    assert drawn["form pair"] == 50
    assert "span 15+ whole" not in drawn


@pytest.mark.parametrize(
    ("corpus", "syntax", "tags"),
    [("eurlex-dev", XLIFF, 1871), ("glossary-dev", XLIFF, 332)],
)
def test_real_tagged_text_gives_a_profile(shared_data, corpus, syntax, tags):
    lines = [
        (shared_data / "tagged" / f"{corpus}.{language}").read_text().split("\n")[:-1]
        for language in ("en", "de")
    ]
    actual = learn_profile(lines[0], syntax, lines[1], "en")
    assert actual["tags"] == tags
    assert actual["texts"] == len(lines[0])
    profile = TagProfile.from_json(json.loads(to_json(actual)))
    assert sum(profile.shares("form", ("pair", "empty", "self_closing", "open", "close"))) == tags
    assert actual["names"]["pair"].keys() == {"g"}


def test_real_markup_gives_a_profile_and_is_drawn_again(shared_data):
    texts = json.loads((shared_data / "xml" / "enfr.en.json").read_text())["text"]
    learnt = learn_profile(list(texts.values()), XML, language="en")
    assert learnt["tagged_texts"] == 575
    assert learnt["names"]["pair"]["uicontrol"] == 241
    profile = TagProfile.from_json(learnt)
    plain = [text for text in texts.values() if "<" not in text and len(text.split()) > 8][:400]
    links = [[(i, i) for i in range(9)]] * len(plain)
    drawn = drawn_counts(table_of([(t, t) for t in plain], links), profile)
    distances = compare(profile, drawn)
    assert distances["tags"] < 0.25
    assert distances["length"] < 0.25
    assert distances["depth"] < 0.2


def test_names_are_drawn_to_the_profile_and_read_as_they_nest(shared_data):
    texts = json.loads((shared_data / "xml" / "enfr.en.json").read_text())["text"]
    profile = TagProfile.from_json(learn_profile(list(texts.values()), XML, language="en"))
    table = table_of(
        [(" ".join(f"w{n}" for n in range(12)), " ".join(f"v{n}" for n in range(12)))] * 1500,
        [[(n, n) for n in range(12)]] * 1500,
    )
    settings = {"mix": INFINITE, "profile": profile}
    rows, _ = inject_tags(table, TagConfig(representation="raw", **settings))
    indexed, _ = inject_tags(table, TagConfig(**settings))
    assert rows.drop_columns(["source", "target"]).equals(
        indexed.drop_columns(["source", "target"])
    )
    told = Counter()
    for row, other in zip(rows.to_pylist(), indexed.to_pylist(), strict=True):
        for side in ("source", "target"):
            marked, numbered = parse_markup(row[side], XML), parse_markup(other[side], INDEXED)
            places = [(tag.offset, tag.kind) for tag in numbered.tags]
            assert [(tag.offset, tag.kind) for tag in marked.tags] == places
            name_of = {}
            for tag, number in zip(marked.tags, numbered.tags, strict=True):
                assert name_of.setdefault(number.key, tag.name) == tag.name
            if side == "source":
                told.update(
                    f"name {tag['form']} {name_of[str(tag['index'])]}" for tag in row["tags"]
                )
    config = TagConfig(representation="raw", **settings)
    drawn = count_shapes(rows, table, config)
    own = {name: number for name, number in drawn.items() if name.startswith("name ")}
    assert {name: own[name] for name in told if "empty" not in name} == told
    distances = compare(profile, drawn)
    assert distances["name pair"] < 0.05
    alike = dict.fromkeys((name for name in own if name.startswith("name pair")), 1)
    assert compare(profile, alike)["name pair"] > 0.4
    assert {"<uicontrol>", "</uicontrol>"} <= set(symbols(config))
    assert {tag.raw for row in rows["source"].to_pylist() for tag in parse_markup(row).tags} <= set(
        symbols(config)
    )


@pytest.mark.parametrize(
    ("names", "settings", "message"),
    [
        ({}, {}, "raw needs a tag profile with"),
        ({"pair": {"g": 1}}, {"syntax": "xliff"}, "the tag profile has xliff tags"),
        ({"open": {"b": 1}}, {}, "tags of form pair, but no names"),
        ({"pair": {"b": 1}}, {"nesting": "free"}, "need proper nesting"),
    ],
)
def test_what_has_no_raw_form_is_refused(names, settings, message):
    value = {"counts": {"tags 1": 1, "form pair": 1}, "split": [0, 0], "names": names}
    value["syntax"] = settings.pop("syntax", "xml")
    with pytest.raises(ConfigError, match=message):
        TagConfig(representation="raw", profile=TagProfile.from_json(value), **settings)


def test_the_symbols_of_raw_tags_are_those_of_the_profile():
    texts = ["see <b>page</b> <i>two</i>", "the <br/>end"]
    profile = TagProfile.from_json(learn_profile(texts, XML, language="en"))
    config = TagConfig(representation="raw", profile=profile)
    assert sorted(symbols(config)) == sorted(["<b>", "</b>", "<i>", "</i>", "<br/>"])


def test_the_command_learns_and_the_job_draws_and_reports(tmp_path):
    (tmp_path / "a.txt").write_text('see <g id="1">page</g>\nthe <x id="1"/>end\n' * 20)
    arguments = ("tags", "profile", "--input", "a.txt", "--output", "profile.json")
    printed = runs.run_well_here(*arguments, cwd=tmp_path)
    assert json.loads(printed.splitlines()[-1])["tags"] == 40
    profile = read_profile(str(tmp_path / "profile.json"))
    assert dict(profile.counts)["form pair"] == 20
    for side in ("en", "de"):
        lines = [
            f"the {side}{n % 17} red house {n} stands in {side}{n % 5} town\n" for n in range(80)
        ]
        (tmp_path / f"c.{side}").write_text("".join(lines))
    job = ("augment", "--source_input", "c.en", "--target_input", "c.de", "--workers", "1")
    job += ("--tag_profile", "profile.json", "--representation", "xliff", "--output", "out")
    runs.run_well_here(*job, cwd=tmp_path)
    manifest = json.loads((tmp_path / "out" / "_manifest.json").read_text())
    assert manifest["tag_profile"]["distance"]["form"] < 0.2
    assert manifest["tag_profile"]["drawn"]["tags 1"] == manifest["counts"]["tagged_rows"]
    assert "tags 1" not in manifest["counts"]
    assert f"tag_profile:{manifest['configuration']['tag_profile'][:12]}" in manifest["signature"]
    assert "Tag profile" in (tmp_path / "out" / "report.html").read_text()
    assert '<g id="1">' in (tmp_path / "out" / "symbols.txt").read_text().split("\n")
    (tmp_path / "a.txt").write_text('see <b>page</b> <i class="x">two</i>\nthe <br>end\n' * 20)
    runs.run_well_here(*arguments[:2], "--syntax", "html", *arguments[2:], cwd=tmp_path)
    job = (*job[: job.index("xliff")], "raw", "--output", "raw")
    runs.run_well_here(*job, cwd=tmp_path)
    manifest = json.loads((tmp_path / "raw" / "_manifest.json").read_text())
    assert manifest["tag_profile"]["distance"]["name pair"] < 0.3
    assert (tmp_path / "raw" / "symbols.txt").read_text() == ("<b>\n<i>\n</b>\n</i>\n<br>\n")
    assert "name pair: distance" in (tmp_path / "raw" / "report.html").read_text()
    status, _, errors = runs.run_here(*job[:-1], "bad", "--inline_tags", "index", cwd=tmp_path)
    assert status == 2
    assert "give --inline_tags strip" in errors


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "found no JSON"),
        ("{}", "not a tag profile of version 1"),
        ('{"tag_profile": 1}', "p.json: counts: is missing; make a profile with"),
        (
            '{"tag_profile": 1, "counts": {"tags 1": -1}, "split": [0, 0]}',
            "p.json: counts.tags 1: expected 0 or more, found -1",
        ),
        ('{"tag_profile": 1, "counts": {"tag 1": 1}, "split": [0, 0]}', "not counts of tag shapes"),
        ('{"tag_profile": 1, "counts": {"tags 1": 1}, "split": [0, 0]}', "at least one tag"),
    ],
)
def test_a_file_that_is_no_profile_is_refused(tmp_path, content, message):
    (tmp_path / "p.json").write_text(content)
    with pytest.raises(ConfigError, match=message):
        read_profile(str(tmp_path / "p.json"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tags",), "usage: pairweave tags"),
        (("tags", "profil"), "did you mean 'profile'"),
        (("tags", "profile", "--input", "none", "--output", "x"), "none"),
        (
            ("tags", "profile", "--input", "a", "--target_input", "b", "--output", "x"),
            "3 is in only one",
        ),
    ],
)
def test_what_the_user_must_mend_is_said(tmp_path, arguments, message):
    (tmp_path / "a").write_text("<g>x</g>\ny\nz\n")
    (tmp_path / "b").write_text("<g>x</g>\ny\n")
    status, out, errors = runs.run_here(*arguments, cwd=tmp_path)
    assert status == 2
    assert message in out + errors


def test_spans_are_compared_by_length_and_by_place_alone():
    spans = ("span 1 start", 3), ("span 2 end", 1)
    profile = TagProfile((("form pair", 4), *spans, ("tags 1", 4)))
    swapped = {"span 1 end": 1, "span 2 start": 3}
    alike_in_length = {"span 1 middle": 6, "span 2 whole": 2}
    alike_in_place = {"span 3 start": 3, "span 15+ end": 1}
    assert compare(profile, swapped) == {
        "span": 1.0,
        "length": round(jensen_shannon(np.array([3.0, 1.0]), np.array([1.0, 3.0])), 6),
        "place": 0.0,
    }
    assert compare(profile, alike_in_length) == {"span": 1.0, "length": 0.0, "place": 1.0}
    assert compare(profile, alike_in_place) == {"span": 1.0, "length": 1.0, "place": 0.0}


@pytest.mark.parametrize("targets", [[], ["<x/>"], ["<x/>"] * 3])
def test_a_profile_of_other_numbers_of_sources_and_targets_is_refused(targets):
    with pytest.raises(ConfigError, match=f"2 lines of source, {len(targets)} of target"):
        learn_profile(["<x/>", "a"], XLIFF, targets)


def test_the_shapes_of_rows_are_those_in_their_own_texts():
    sizes = [2, 9, 4, 12, 6]
    texts = [(" ".join(["one"] * size), " ".join(["eins"] * size)) for size in sizes]
    table = table_of(texts, [[(n, n) for n in range(size)] for size in sizes])
    config = TagConfig(mix=INFINITE, profile=profile_of(tags_to_2=1, form_to_pair=1))
    rows, _ = inject_tags(table, config)
    ids = table.column("id").to_pylist()
    expected = Counter()
    for row in range(rows.num_rows):
        pair = table.slice(ids.index(rows.column("id")[row].as_py()), 1)
        expected.update(count_shapes(rows.slice(row, 1), pair, config))
    assert expected.total() > 20
    for pairs in table, table.take(list(range(len(sizes)))[::-1]):
        assert count_shapes(rows, pairs, config) == expected
