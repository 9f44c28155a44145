"""``try`` shows what the steps of ``augment`` make of the first pairs of its input."""

import re

import pyarrow.dataset
import pytest

from tests.makers import corpora, runs


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """Return a corpus and a fitted model as flags."""
    directory = tmp_path_factory.mktemp("try")
    corpora.write_corpus(directory, 300)
    given = (
        *("--source_input", directory / "corpus.en", "--source_lang", "en"),
        *("--target_input", directory / "corpus.de", "--target_lang", "de"),
    )
    assert runs.run_here("fit", *given, "--output", directory / "model", "--workers", "1")[0] == 0
    return (*given, "--model", directory / "model")


def blocks(*arguments):
    """Return the lines of each pair that the command shows."""
    status, out, errors = runs.run_here("try", *arguments)
    assert status == 0, errors
    return [block.split("\n") for block in out.strip("\n").split("\n\n")]


def test_rows_and_reasons_are_those_of_a_run(words, tmp_path):
    shown = blocks(*words, "--pairs", "120")
    places = [block[0] for block in shown]
    assert places == [f"corpus.en:{line}" for line in range(1, 121)]
    more = ("--output", tmp_path / "out", "--workers", "1", "--keep_origin", "true")
    assert runs.run_here("augment", *words, *more)[0] == 0
    rows, rejects = (
        pyarrow.dataset.dataset(tmp_path / "out" / name).to_table().to_pylist()
        for name in ("data", "rejects")
    )
    expected = {place: [] for place in places}
    for row in sorted(rows, key=lambda row: row["variant"]):
        texts = [f"  {row['kind']:<8}{row['source']}", f"  {'':<8}{row['target']}"]
        expected.get(f"corpus.en:{row['line']}", []).extend(texts)
    for row in rejects:
        place = f"corpus.en:{row['line']}"
        if place in expected:
            detail = f": {row['detail']}" if row["detail"] else ""
            expected[place].append(f"  rejected by {row['stage']}: {row['reason']}{detail}")
    actual = {block[0]: block[-len(expected[block[0]]) :] for block in shown}
    assert actual == expected
    reasons = {lines[-1].split(": ")[1] for lines in actual.values() if "rejected" in lines[-1]}
    assert {"empty_source", "empty_target", "invalid_utf8", "control_char"} <= reasons


def test_tokens_links_and_phrase_pairs_are_shown(words):
    (block,) = blocks(*words, "--pairs", "2")[1:]
    source, target = (line.split()[1:] for line in block[1:3])
    assert source[0] == "0:The"
    assert target[0] == "0:Das"
    rows = [line for line in block if set(line[-len(target) :]) <= {"■", "·"} and line.strip()]
    assert [row.split()[0] for row in rows] == [token.split(":")[1] for token in source]
    links = {
        (place, column)
        for place, row in enumerate(rows)
        for column, cell in enumerate(row[-len(target) :])
        if cell == "■"
    }
    assert (0, 0) in links
    (phrases,) = [line for line in block if line.startswith("  phrase pairs (")]
    number, listed = re.fullmatch(r"  phrase pairs \((\d+)\): (.*)", phrases).groups()
    assert len(listed.split("; ")) == int(number)
    assert "The = Das" in listed.split("; ")


def test_a_changed_option_is_shown_before_and_after(words):
    change = ("--pairs", "12", "--change", "heuristic=intersection")
    status, out, _ = runs.run_here("try", *words, *change, "max_tokens=3")
    assert status == 0
    assert out.splitlines()[-1] == "1 of 12 pairs are as before"  # the empty one
    changed = out.split("\n\n")[0].split("\n")
    assert changed[1] == " before:"
    after = changed[changed.index(" after:") + 1 :]
    assert "rejected by screen: too_long" in after[-1]
    status, out, _ = runs.run_here("try", *words, "--pairs", "12", "--change", "seed=1")
    assert (status, out) == (0, "12 of 12 pairs are as before\n")


def test_an_aligner_is_fitted_if_none_is_given(words):
    shown = blocks(*words[:-2], "--pairs", "3", "--fit_pairs", "100")
    assert len(shown) == 3
    assert any("■" in line for line in shown[1])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--change", "heuristic"), "--change heuristic: give an option and its value"),
        (("--change", "heuristics=union"), "heuristic"),
        (("--change", "heuristic=none"), "heuristic: "),
        (("--change", "heuristic='union"), "heuristic='union: No closing quotation"),
        (("--change", "pairs=2"), "--change pairs=2: give an option of augment"),
        (("--max_tags", "0"), "max_tags"),
    ],
)
def test_what_cannot_be_tried_is_refused(words, more, message):
    status, out, errors = runs.run_here("try", *words, *more)
    assert (status, out) == (2, "")
    assert message in errors
    assert errors.count("\n") == 1


def test_a_failed_step_is_one_line(tmp_path):
    for name in ("a.en", "a.de"):
        (tmp_path / name).write_text("\n\n")
    words = ("--source_input", tmp_path / "a.en", "--target_input", tmp_path / "a.de")
    status, out, errors = runs.run_here("try", *words, "--source_lang", "en", "--target_lang", "de")
    assert (status, out) == (2, "")
    assert "Traceback" not in errors
    assert errors.splitlines()[-1].startswith("pairweave: there is nothing to fit")


def test_files_without_a_pair_are_refused_also_with_a_model(words, tmp_path):
    (tmp_path / "a.tsv").write_text("")
    model = words[words.index("--model") + 1]
    given = ("--input", tmp_path / "a.tsv", "--source_lang", "en", "--target_lang", "de")
    status, out, errors = runs.run_here("try", *given, "--model", model)
    assert (status, out) == (2, "")
    assert "nothing to try: a.tsv has no pair (0 rows); give files with pairs" in errors


def test_pairs_of_one_place_are_shown_apart(words, tmp_path):
    (tmp_path / "a.tsv").write_text("the red house\tdas rote Haus\nbad\\xff\n")
    given = ("--input", tmp_path / "a.tsv", tmp_path / "a.tsv", "--source_lang", "en")
    shown = blocks(*given, "--target_lang", "de", *words[-2:])
    assert [block[0] for block in shown] == ["a.tsv:1", "a.tsv:1", "a.tsv:2", "a.tsv:2"]
    assert ["duplicate" in block[-1] for block in shown[:2]] == [False, True]
    assert shown[2][1:] == [
        "  raw     bad\\xff",
        "  rejected by read: field_count: 1 fields, expected 2",
    ]


def test_a_changed_list_takes_the_place_of_the_first(words, tmp_path):
    (tmp_path / "one").write_text(f"{corpora.sentence(0)[0]}\n")
    (tmp_path / "two").write_text("nothing of the kind\n")
    more = ("--pairs", "2", "--exclude", tmp_path / "one")
    out = runs.run_well_here("try", *words, *more, "--change", f"exclude={tmp_path / 'two'}")
    assert "rejected by screen: excluded" in out.split(" after:")[0]
    assert "excluded" not in out.split(" after:")[1]
    assert out.splitlines()[-1] == "1 of 2 pairs are as before"


def test_the_terms_of_a_glossary_are_shown_as_the_phrase_pairs_that_are_tagged(words, tmp_path):
    (tmp_path / "terms.tsv").write_text("house\tHaus\ndog\tHund\n")
    more = ("--method", "glossary", "--glossary", tmp_path / "terms.tsv", "--pairs", "40")
    out = runs.run_well_here("try", *words, *more)
    assert "  tagged" in out
    assert "  phrase pairs (1): house = Haus" in out
