import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.pipelines.command_line import subcommands
from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.metrics.tags.judgement import (
    COLUMNS,
    JUDGEMENTS,
    SheetRow,
    agree,
    draw_sheet,
    fleiss_kappa,
    read_sheets,
    rows_of,
    write_sheet,
)
from pairweave.transforms.output.finished_run import FinishedRun
from tests.makers import finished_runs
from tests.oracles import slow_tag_metrics

votes = st.integers(2, 4).flatmap(
    lambda people: st.lists(
        st.lists(st.sampled_from(JUDGEMENTS), min_size=people, max_size=people), min_size=1
    )
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("run") / "out")
    finished_runs.write_run(path)
    return path


def sheet_rows(judgements):
    return [
        SheetRow(f"{number:032x}", 0, 3, "pair", "a ⟦b⟧", 'c\t"d"\n⟦e⟧', said)
        for number, said in enumerate(judgements)
    ]


@pytest.fixture
def sheets(tmp_path):
    def write(*people):
        paths = [str(tmp_path / f"{number}.tsv") for number in range(len(people))]
        for path, judgements in zip(paths, people, strict=True):
            write_sheet(path, sheet_rows(judgements))
        return paths

    return write


@given(votes)
def test_kappa_is_that_of_its_definition(said):
    counts = [[row.count(what) for what in JUDGEMENTS] for row in said]
    expected = slow_tag_metrics.kappa(said)
    actual = fleiss_kappa(counts)
    assert actual == (None if expected is None else pytest.approx(expected))


def test_kappa_of_a_case_worked_by_hand():
    # Four tags, three people: 10 correct and 2 incorrect judgements. Agreement within the tags:
    # 1, 1, 1 and 1/3 make 5/6; by chance (10/12)^2 + (2/12)^2 = 13/18. Kappa: (5/6-13/18)/(5/18).
    counts = [[3, 0], [3, 0], [3, 0], [1, 2]]
    assert fleiss_kappa(counts) == pytest.approx((5 / 6 - 13 / 18) / (5 / 18)) == pytest.approx(0.4)


def test_kappa_of_the_textbook_case():
    # Fourteen people put ten subjects into five categories: 0.210.
    counts = [
        *([0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1]),
        *([7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]),
    ]
    assert round(fleiss_kappa(counts), 3) == 0.210


@pytest.mark.parametrize("counts", [[], [[1, 1], [3, 0]]])
def test_kappa_needs_one_number_of_people(counts):
    with pytest.raises(ValueError, match="number of people"):
        fleiss_kappa(counts)


def test_kappa_without_a_second_person_or_a_second_category_is_none():
    assert fleiss_kappa([[1, 0], [0, 1]]) is None
    assert fleiss_kappa([[3, 0], [3, 0]]) is None


def test_shares_are_those_of_the_paper_s_table(sheets):
    # Hanneman and Dinu (2020), table 1, English to German: what each of three people said.
    table = [(484, 22, 8, 18), (501, 17, 7, 7), (501, 17, 4, 10)]
    people = [
        [what for what, times in zip(JUDGEMENTS, row, strict=True) for _ in range(times)]
        for row in table
    ]
    actual = agree(read_sheets(sheets(*people)))
    assert actual.counts == tuple(table)
    assert actual.as_dict()["tags"] == 532
    # The text of section 3.2: 93.1 % correct and 3.5 % incorrect.
    assert round(actual.as_dict()["all"]["correct"], 3) == 0.931
    assert round(actual.as_dict()["all"]["incorrect"], 3) == 0.035


def test_pairs_of_people_are_compared(sheets):
    paths = sheets(
        ["correct", "correct", "unclear", "incorrect"],
        ["correct", "incorrect", "unclear", "impossible"],
        ["Correct ", "correct", "unclear", "incorrect"],
    )
    actual = agree(read_sheets(paths))
    assert actual.pairwise == {(0, 1): (0.5, 0.25), (0, 2): (1.0, 0.0), (1, 2): (0.5, 0.25)}
    assert json.loads(actual.render().split("\n")[-1]) == actual.as_dict()
    assert actual.signature in actual.render()


def test_sheets_may_be_in_any_order(sheets, tmp_path):
    path = sheets(["correct", "unclear"])[0]
    other = str(tmp_path / "turned.tsv")
    write_sheet(other, sheet_rows(["correct", "unclear"])[::-1])
    assert agree(read_sheets([path, other])).pairwise[0, 1] == (1.0, 0.0)


@pytest.mark.parametrize(
    ("judgements", "message"),
    [
        (["correct", ""], r"0\.tsv:4: expected one of correct, inc.*tag 3, found no judgement"),
        (["correct", "rihgt"], r"0\.tsv:4: .*'rihgt'"),
        ([], r"0\.tsv: holds no tag"),
    ],
)
def test_judgements_that_cannot_be_read_are_named_by_file_and_line(sheets, judgements, message):
    with pytest.raises(InputError, match=message):
        read_sheets(sheets(judgements))


def test_sheets_of_other_tags_are_refused(sheets):
    with pytest.raises(InputError, match=r"0\.tsv:4: judges tag 3 of pair 0+1, .*1\.tsv"):
        read_sheets(sheets(["correct", "correct"], ["correct"]))


def test_a_tag_judged_twice_is_refused(tmp_path):
    path = str(tmp_path / "twice.tsv")
    write_sheet(path, sheet_rows(["correct"]) * 2)
    with pytest.raises(InputError, match=r":4: .*again, after line 2"):
        read_sheets([path])


def test_a_sheet_without_its_header_is_refused(tmp_path):
    path = tmp_path / "bad.tsv"
    path.write_text("id,judgement\n1,correct\n")
    with pytest.raises(InputError, match="lacks the columns"):
        read_sheets([str(path)])


def test_a_sheet_is_never_written_over(sheets):
    path = sheets(["correct"])[0]
    with pytest.raises(ConfigError, match="may contain judgements"):
        write_sheet(path, [])


@pytest.mark.parametrize("name", ["sheet.csv", "sheet.XLSX", "sheet.tsv.gz"])
def test_a_sheet_is_not_written_under_the_name_of_another_format(tmp_path, name):
    with pytest.raises(ConfigError, match=f"{name}: a sheet is tab-separated text; give .* .tsv"):
        write_sheet(str(tmp_path / name), sheet_rows(["correct"]))
    assert not any(tmp_path.iterdir())


def filled(path, judgement):
    """Fill in all judgements as a person would."""
    text = path.read_text(encoding="utf-8")
    rows = text.split("\t\n")
    path.write_text(f"\t{judgement}\n".join(rows), encoding="utf-8")


def test_a_drawn_sheet_shows_every_tag_and_is_read_back(run, tmp_path, capsys):
    path = tmp_path / "sheet.tsv"
    arguments = ["judgements", "--sample", run, "--output", str(path)]
    assert subcommands.run("evaluate", arguments) == 0
    assert "7 tags of 4 pairs" in capsys.readouterr().out
    text = path.read_text(encoding="utf-8")
    assert text.startswith("\t".join(COLUMNS))
    assert "<a_" not in text
    with pytest.raises(InputError, match="no judgement"):
        read_sheets([str(path)])
    filled(path, "correct")
    assert subcommands.run("evaluate", ["judgements", "--sheets", str(path)]) == 0
    actual = json.loads(capsys.readouterr().out.strip().split("\n")[-1])
    assert (actual["tags"], actual["all"]["correct"], actual["fleiss_kappa"]) == (7, 1.0, None)


def test_each_tag_is_shown_alone_in_both_texts():
    red = {"index": 0, "form": "pair", "source_start": 4, "source_end": 7}
    dot = {"index": 7, "form": "self_closing", "source_start": 13, "source_end": 13}
    pair = {
        "id": "1f",
        "variant": 2,
        "source": "The <a_0>red</a_0> house<a_7/>.",
        "target": "Das <a_0>rote</a_0> Haus<a_7/>.",
        "tags": [
            {**red, "target_start": 4, "target_end": 8},
            {**dot, "target_start": 13, "target_end": 13},
        ],
    }
    assert list(rows_of(pair)) == [
        SheetRow("1f", 2, 0, "pair", "The ⟦red⟧ house.", "Das ⟦rote⟧ Haus."),
        SheetRow("1f", 2, 7, "self_closing", "The red house⟦⟧.", "Das rote Haus⟦⟧."),
    ]


def test_a_sample_depends_on_the_seed_alone(run, tmp_path):
    drawn = []
    for number, seed in enumerate((1, 1, 2, 3, 4)):
        path = tmp_path / f"{number}.tsv"
        options = ["--number", "1", "--seed", str(seed), "--output", str(path)]
        subcommands.run("evaluate", ["judgements", "--sample", run, *options])
        drawn.append(path.read_text(encoding="utf-8"))
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) > 1


@pytest.mark.parametrize("arguments", [[], ["--sample", "x", "--sheets", "y"], ["--sample", "x"]])
def test_what_is_wanted_must_be_clear(arguments):
    with pytest.raises(ConfigError, match="--s"):
        subcommands.run("evaluate", ["judgements", *arguments])


@pytest.mark.parametrize(
    ("job", "representation"),
    [("augment", "xliff"), ("suggest", "indexed"), ("align", "xliff"), (None, "indexed")],
)
def test_sheets_are_drawn_from_indexed_tags_of_augment_alone(run, job, representation):
    manifest = {"job": job, "configuration": {"representation": representation}}
    with pytest.raises(ConfigError, match=f"this is {job} with {representation}"):
        draw_sheet(FinishedRun(run, manifest), 10, 1)
