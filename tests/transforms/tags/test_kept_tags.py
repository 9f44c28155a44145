"""Pairs with inline tags of their own: those are their tags in the output."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairweave.pipelines.commands.finished import export_command
from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.markup.markup import HTML, INDEXED, find_elements, parse_markup
from pairweave.transforms.markup.pair_markup import PairMarkup, pair_markup
from pairweave.transforms.tags.kept_tags import keep_or_inject_tags, own_symbols
from pairweave.transforms.tags.tag_config import TagConfig
from pairweave.transforms.tags.tags import inject_tags
from tests import check_tagged
from tests.makers import finished_runs, runs
from tests.makers.reading import corpus, read_all
from tests.transforms.tags.test_tags import INFINITE, some_pairs, table_of


def kept_of(markups):
    """Return kept rows of which only the markup matters."""
    lines = [None if markup is None else markup.to_json() for markup in markups]
    return pa.table({"markup": pa.array(lines, pa.string())})


def marked_table(pairs):
    """Return PHRASES rows of pairs with HTML tags, and their markup."""
    sides = [[parse_markup(text, HTML) for text in pair] for pair in pairs]
    texts = [tuple(side.text for side in pair) for pair in sides]
    table = table_of(texts, [[(0, 0)]] * len(pairs))
    return table, [pair_markup(*pair) if any(s.tags for s in pair) else None for pair in sides]


WORDS = ("a <b>green <i>witch</i></b><br> x</p>", "una <b><i>bruja</i> verde</b></p> x<br>")


def test_a_pairs_own_tags_are_its_tagged_row():
    table, markups = marked_table([WORDS])
    rows, without, too_many = keep_or_inject_tags(kept_of(markups), table, TagConfig())
    assert rows.schema.equals(schemas.TAGGED_MARKUP)
    plain, tagged = rows.to_pylist()
    assert (plain["kind"], plain["source"], plain["tags"], plain["markup"]) == (
        "plain",
        "a green witch x",
        [],
        None,
    )
    a, b, c, d = (tag["index"] for tag in tagged["tags"])
    assert len({a, b, c, d} & set(range(10))) == 4
    assert tagged["source"] == f"a <a_{a}>green <a_{b}>witch</a_{b}></a_{a}><a_{c}/> x</a_{d}>"
    assert tagged["target"] == f"una <a_{a}><a_{b}>bruja</a_{b}> verde</a_{a}></a_{d}> x<a_{c}/>"
    assert [tuple(tag.values())[1:] for tag in tagged["tags"]] == [
        ("pair", 2, 13, 4, 15),
        ("pair", 8, 13, 4, 9),
        ("self_closing", 13, 13, 17, 17),
        ("close", 15, 15, 15, 15),
    ]
    markup = PairMarkup.from_json(tagged["markup"])
    assert (
        markup.original("source", plain["source"]),
        markup.original("target", plain["target"]),
    ) == WORDS
    assert not without.any()
    assert not too_many.any()


def test_white_space_is_shifted_and_representations_are_written_for_own_tags_too():
    table, markups = marked_table([("a <b>c</b>", "d <b>e</b>")])
    kept = kept_of(markups)
    rows, *_ = keep_or_inject_tags(kept, table, TagConfig(whitespace_shift=True))
    number = rows.to_pylist()[1]["tags"][0]["index"]
    assert rows.to_pylist()[1]["source"] == f"a<a_{number}> c</a_{number}>"
    rows, *_ = keep_or_inject_tags(kept, table, TagConfig(representation="xliff"))
    assert rows.to_pylist()[1]["target"] == 'd <g id="1">e</g>'


def test_own_tags_get_every_number_alike_whatever_stands_beside_them():
    table, markups = marked_table(
        [(f"a{n} <b>c</b> <i>d</i>", "e <b>f</b> <i>g</i>") for n in range(400)]
    )
    kept = kept_of(markups)
    rows, *_ = keep_or_inject_tags(kept, table, TagConfig(mix=INFINITE, tag_numbers="shuffled"))
    drawn = {row["id"]: [tag["index"] for tag in row["tags"]] for row in rows.to_pylist()}
    counts = np.bincount(np.concatenate(list(drawn.values())), minlength=10)
    assert counts.min() > 50
    assert counts.sum() == 800
    assert all(len(set(numbers)) == 2 for numbers in drawn.values())
    part, *_ = keep_or_inject_tags(
        kept[50:60], table[50:60], TagConfig(mix=INFINITE, tag_numbers="shuffled")
    )
    assert all(
        drawn[row["id"]] == [tag["index"] for tag in row["tags"]] for row in part.to_pylist()
    )
    other, *_ = keep_or_inject_tags(
        kept, table, TagConfig(mix=INFINITE, seed=2, tag_numbers="shuffled")
    )
    again = [[tag["index"] for tag in row["tags"]] for row in other.to_pylist()]
    assert again != list(drawn.values())
    for row in rows.to_pylist():
        markup = PairMarkup.from_json(row["markup"])
        assert [element.index for element in markup.shared] == drawn[row["id"]]


def test_own_tags_in_order_are_numbered_as_the_source_has_them():
    table, markups = marked_table([WORDS])
    config = TagConfig(tag_numbers="in_order")
    tagged = keep_or_inject_tags(kept_of(markups), table, config)[0].to_pylist()[1]
    assert tagged["source"] == "a <a_0>green <a_1>witch</a_1></a_0><a_2/> x</a_3>"
    assert tagged["target"] == "una <a_0><a_1>bruja</a_1> verde</a_0></a_3> x<a_2/>"
    assert [tag["index"] for tag in tagged["tags"]] == [0, 1, 2, 3]


def test_pairs_without_tags_of_their_own_get_exactly_the_rows_they_get_alone():
    table = some_pairs(40)
    own = [number % 3 == 0 for number in range(40)]
    markup = pair_markup(*[parse_markup("<b>w</b>", HTML)] * 2)
    kept = kept_of([markup if is_own else None for is_own in own])
    for config in (TagConfig(), TagConfig(mix=0.3, variants=2), TagConfig(mix=3.0)):
        rows, without, _ = keep_or_inject_tags(kept, table, config)
        alone, alone_without = inject_tags(table, config)
        ids = np.array(table.column("id").to_pylist())
        others = set(ids[~np.array(own)])
        assert [row for row in rows.drop_columns("markup").to_pylist() if row["id"] in others] == [
            row for row in alone.to_pylist() if row["id"] in others
        ]
        assert (without == alone_without)[~np.array(own)].all()
        order = {pair: place for place, pair in enumerate(ids)}
        places = [(order[row["id"]], row["variant"]) for row in rows.to_pylist()]
        assert places == sorted(places)


@pytest.mark.parametrize(("mix", "kinds"), [(0.0, {"plain"}), (INFINITE, {"tagged"})])
def test_the_mix_decides_for_own_tags_as_for_others(mix, kinds):
    table, markups = marked_table([WORDS])
    rows, without, _ = keep_or_inject_tags(kept_of(markups), table, TagConfig(mix=mix))
    assert {row["kind"] for row in rows.to_pylist()} == kinds
    assert not without.any()


def test_more_elements_than_numbers_give_no_tagged_row():
    for count, representation, fits in (
        (10, "indexed", True),
        (11, "indexed", False),
        (10, "xliff", False),
    ):
        table, markups = marked_table([("a" + "<br>" * count, "b" + "<br>" * count)])
        config = TagConfig(representation=representation)
        rows, without, too_many = keep_or_inject_tags(kept_of(markups), table, config)
        assert [row["kind"] for row in rows.to_pylist()] == ["plain"] + ["tagged"] * fits
        assert not without.any()
        assert not too_many.any()
        config = TagConfig(representation=representation, mix=INFINITE)
        rows, without, too_many = keep_or_inject_tags(kept_of(markups), table, config)
        assert without.tolist() == too_many.tolist() == [not fits]


def test_a_pair_too_short_for_a_tag_does_not_have_too_many():
    table = table_of([("a", "b")], [[(0, 0)]])
    rows, without, too_many = keep_or_inject_tags(kept_of([None]), table, TagConfig(mix=INFINITE))
    assert (rows.num_rows, without.tolist(), too_many.tolist()) == (0, [True], [False])


def test_a_pair_whose_tags_one_side_lacks_gets_other_tags():
    table, markups = marked_table(
        [("<br>" + "one two three four five", "uno dos tres cuatro cinco")]
    )
    rows, *_ = keep_or_inject_tags(kept_of(markups), table, TagConfig())
    plain, tagged = rows.to_pylist()
    assert plain["source"] == "one two three four five"
    assert tagged["markup"] is None
    assert tagged["tags"]


def test_symbols_of_own_tags_hold_the_empty_ones():
    assert "<a_9/>" in own_symbols(TagConfig())


def test_symbols_of_own_tags_have_only_numbers_that_a_run_writes():
    names = own_symbols(TagConfig(representation="xliff", max_id=20))
    forms = ('<g id="{}">', '<x id="{}"/>', '<bx id="{}"/>', '<ex id="{}"/>')
    assert {*names} == {form.format(number) for form in forms for number in range(1, 21)} | {"</g>"}


TMX = '<tmx version="1.4"><header srclang="en"/><body>{}</body></tmx>'
UNIT = '<tu><tuv xml:lang="en"><seg>{}</seg></tuv><tuv xml:lang="de"><seg>{}</seg></tuv></tu>\n'
BOLD = '<bpt i="1" x="1">&lt;b&gt;</bpt>{}<ept i="1">&lt;/b&gt;</ept>'


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    directory = tmp_path_factory.mktemp("memory")
    units = []
    for number in range(60):
        source, target = f"the house {number} is very big", f"das Haus {number} ist sehr groß"
        if number % 3 == 0:
            source, target = (
                text.replace(word, BOLD.format(word)) + '<ph x="2"/>'
                for text, word in ((source, "house"), (target, "Haus"))
            )
        units.append(UNIT.format(source, target))
    units.append(UNIT.format('x <ph x="1"/> y', "x y"))
    units.append(UNIT.format("x &lt;a_0&gt; y", "x y"))
    (directory / "a.tmx").write_text(TMX.format("".join(units)), encoding="utf-16")
    runs.run_well_here(
        *("augment", "--input", "a.tmx", "--inline_tags", "index", "--source_lang", "en"),
        *("--target_lang", "de", "--workers", "1", "--output", "out"),
        cwd=directory,
    )
    return directory


def test_a_memory_becomes_tagged_pairs_with_its_own_tags(directory):
    manifest = json.loads((directory / "out" / "_manifest.json").read_text())
    assert manifest["rejected"] == {"tags_differ": 1, "reserved_token": 1}
    (reading,) = json.loads((directory / "out" / "_plan.json").read_text())["reading"]
    assert (reading["format"], reading["inline_tags"]) == ("tmx", "index")
    (name,) = (path.name for path in (directory / "out").glob("data/part-*.parquet"))
    rows = pq.read_table(directory / "out" / "data" / name).to_pylist()
    own = [row for row in rows if row["markup"] is not None]
    assert len(own) == 20
    for row in rows:
        if row["markup"] is None:
            check_tagged.check_row(row, check_tagged.Counter(), crossing=False)
    for row in own:
        for side in ("source", "target"):
            actual = [
                (e.start, e.end) for e in find_elements(parse_markup(row[side], INDEXED).tags)
            ]
            assert actual == [(tag[f"{side}_start"], tag[f"{side}_end"]) for tag in row["tags"]]
        first, second = (tag["index"] for tag in row["tags"])
        assert row["source"].startswith(f"the <a_{first}>house</a_{first}> ")
        assert row["target"].endswith(f" ist sehr groß<a_{second}/>")
    rejects = pq.read_table(directory / "out" / "rejects" / name).to_pylist()
    # What is rejected stands there with its tags.
    assert {row["reason"]: row["source"] for row in rejects} == {
        "tags_differ": 'x <ph x="1"/> y',
        "reserved_token": "x <a_0> y",
    }
    assert "<a_1/>" in (directory / "out" / "symbols.txt").read_text().split("\n")


def test_an_aligned_memory_has_no_tags_in_its_texts(directory):
    runs.run_well_here(
        *("align", "--input", "a.tmx", "--source_lang", "en", "--target_lang", "de"),
        *("--workers", "1", "--output", "aligned"),
        cwd=directory,
    )
    (path,) = (directory / "aligned").glob("data/part-*.parquet")
    table = pq.read_table(path)
    assert table.schema.remove_metadata().equals(schemas.ALIGNED)
    assert "the house 0 is very big" in table.column("source").to_pylist()
    done = finished_runs.export_pairs(
        str(directory / "aligned"), "xliff", str(directory / "aligned.xlf")
    )
    assert done.rows == table.num_rows


def test_the_command_exports_markup_too(directory, capsys):
    words = [str(directory / "out"), "--format", "tmx", "--output", str(directory / "exported")]
    assert export_command.main("export", [*words, "--rows", "all"]) == 0
    path, rows = capsys.readouterr().out.splitlines()
    assert path == str(directory / "exported" / "pairs.tmx")
    (part,) = (directory / "out").glob("data/part-*.parquet")
    assert rows == f"{pq.read_metadata(part).num_rows} rows"
    assert export_command.main("export", [*words[:2], "tsv", *words[3:], "--rows", "tagged"]) == 0
    kinds = pq.read_table(part).column("kind").to_pylist()
    assert capsys.readouterr().out.splitlines()[1] == f"{kinds.count('tagged')} rows"


@pytest.mark.parametrize("form", ["tmx", "xliff", "xliff2", "po", "html", "lxm"])
def test_a_run_is_exported_and_read_again(directory, form):
    output = str(directory / f"as {form}")
    done = finished_runs.export_pairs(str(directory / "out"), form, output)
    fields = {"source_lang": "en", "target_lang": "de", "inline_tags": "index"}
    if form == "lxm":
        source, target = done.paths
        fields |= {"format": "lxm", "source_input": (source,), "target_input": (target,)}
    else:
        fields |= {"input": done.paths, "inline_syntax": "html" if form == "html" else None}
    rows = read_all(corpus(**fields))
    assert len(rows) == done.rows
    assert all(row["reason"] is None for row in rows)
    (part,) = (directory / "out").glob("data/part-*.parquet")
    tagged = [row for row in pq.read_table(part).to_pylist() if row["kind"] == "tagged"]
    for before, after in zip(tagged, rows, strict=True):
        markup = PairMarkup.from_json(after["markup"])
        assert parse_markup(before["source"], HTML).text == after["source"]
        assert len(markup.shared) == len({tag["index"] for tag in before["tags"]})
        if before["markup"] is not None:
            written = markup.original("source", after["source"])
            assert {
                "tmx": '<bpt i="1" x="1">&lt;b&gt;</bpt>',
                "xliff": '<bpt id="1">',
                "xliff2": '<pc id="1"',
            }.get(form, "<b>house</b>") in written
    with pytest.raises(ConfigError, match="already exists"):
        finished_runs.export_pairs(str(directory / "out"), form, output)


def test_rows_that_a_format_cannot_carry_are_refused_or_left_out(directory, capsys):
    for name, text in (("en", "the <b> is a tag"), ("de", "das <b> ist ein Tag")):
        (directory / f"odd.{name}").write_text(f"{text}\nfine\n")
    words = ["--source_input", "odd.en", "--target_input", "odd.de", "--model", "odd model"]
    languages = ["--source_lang", "en", "--target_lang", "de", "--workers", "1"]
    fit = [*words[:4], *languages, "--output", "odd model"]
    runs.run_well_here("fit", *fit, cwd=directory)
    runs.run_well_here("align", *words, *languages, "--output", "odd", cwd=directory)
    capsys.readouterr()
    words = [str(directory / "odd"), "--format", "po", "--output", str(directory / "odd po")]
    with pytest.raises(
        ConfigError, match="the tag '<b>' in the source would be read differently as html"
    ):
        export_command.main("export", words)
    with pytest.raises(ConfigError, match="--unfit escape: po has no escapes"):
        export_command.main("export", [*words, "--unfit", "escape"])
    with pytest.raises(ConfigError, match="--inline_syntax: tmx has elements for tags"):
        export_command.main("export", [*words[:2], "tmx", *words[3:], "--inline_syntax", "xml"])
    assert export_command.main("export", [*words, "--unfit", "leave_out"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "1 row, 1 left out"
    words[-1] += " 2"
    assert export_command.main("export", [*words, "--inline_syntax", "xliff"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "2 rows"
