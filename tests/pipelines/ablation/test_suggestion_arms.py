"""Arms of suggestions: what models read, stages, hints, metrics, and refusals."""

import json
import re

import pytest
import yaml

from pairweave.models.translation.translation_pairs import Vocabulary
from pairweave.pipelines.ablation.ablation_config import Ablation, read_ablation
from pairweave.pipelines.ablation.comparison import (
    compare_arms,
    read_units,
    report_page,
    write_results,
)
from pairweave.pipelines.ablation.prepared import prepare
from pairweave.transforms.errors import ConfigError
from tests.makers.ablations import configuration, suggestion_configuration, write_golden, write_unit


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a prepared directory of both arms."""
    directory = tmp_path_factory.mktemp("suggestions")
    ablation = Ablation.model_validate(suggestion_configuration(directory))
    return prepare(ablation, directory / "made")


def golden_alone(directory, **changed):
    """Return a configuration without a job."""
    value = suggestion_configuration(directory, **changed)
    value["arms"].pop("made")
    return value


def prepared(tmp_path, value):
    return prepare(Ablation.model_validate(value), tmp_path / "made")


def test_a_model_reads_source_and_masked_translation_and_writes_the_suggestion(made):
    (pairs,) = made.passes("golden")
    assert pairs[0] == ("tree tree tree stone 3000 <sep> Baum <MASK_REP> Baum Stein 3000", "Baum")
    (rows,) = made.passes("made")
    shape = re.compile(r"[a-z ]+ \d{4} <sep> (?:\S+ )*<MASK_REP>(?: \S+)*")
    assert all(shape.fullmatch(text) for text, _ in rows)
    whole = [output for text, output in rows if text.endswith("<sep> <MASK_REP>")]
    assert 0 < len(whole) < len(rows)  # parallel and random
    assert all(len(output.split()) == 5 for output in whole)


def test_symbols_are_pieces_and_no_others_are_learned_from_them(made):
    vocabulary = Vocabulary(made.vocabulary)
    (cut,) = vocabulary.cut(["tree <sep> Baum <MASK_REP> Stein <sep> <NULL_REP>"])
    assert [piece for piece in cut if "<" in piece and piece != "</s>"] == [
        *("<sep>", "<MASK_REP>", "<sep>", "<NULL_REP>")
    ]
    odd = [piece for piece in vocabulary.pieces if "sep" in piece or "MASK" in piece]
    assert odd == ["<sep>", "<MASK_REP>"]


def test_later_stages_are_kept_apart_and_the_updates_are_those_of_the_size(made):
    assert made.passes("made", 1) == made.passes("golden")
    assert made.arms["made"]["stages"] == [{"passes": 1, "steps": 20}, {"passes": 1, "steps": 10}]
    assert [arm.steps(30) for arm in made.ablation.arms.values()] == [[30], [20, 10]]


def test_the_same_pairs_in_other_stages_are_other_data(tmp_path):
    value = golden_alone(tmp_path)
    (golden,) = value["arms"]["golden"]["data"]
    for steps in (5, 10):
        value["arms"][f"twice_{steps}"] = {
            "data": [golden],
            "then": [{"data": [golden], "steps": steps}],
        }
    arms = prepared(tmp_path, value).arms
    assert len({about["data"] for about in arms.values()}) == 3


def test_stages_without_an_update_for_the_first_are_refused(tmp_path):
    value = suggestion_configuration(tmp_path)
    value["arms"]["made"]["then"][0]["steps"] = 30
    with pytest.raises(ValueError, match=r"arms\.made\.then: its stages have all 30 updates"):
        Ablation.model_validate(value)


def test_hints_are_the_first_letters_in_training_but_not_of_an_empty_suggestion(tmp_path):
    value = golden_alone(tmp_path)
    golden = write_golden(tmp_path, "golden", range(3_000, 3_040), empty=(3_001,))
    value["arms"] = {"golden": {"data": [golden], "hint_letters": 2}}
    (pairs,) = prepared(tmp_path, value).passes("golden")
    assert pairs[0][0].endswith(" 3000 <sep> Ba")
    assert pairs[1] == (
        "house tree tree stone 3001 <sep> Haus <MASK_REP> Baum Stein 3001",
        "<NULL_REP>",
    )
    assert sum(text.count("<sep>") for text, _ in pairs) == 2 * len(pairs) - 1


def test_a_unit_scores_suggestions_with_one_reference_or_two(tmp_path):
    value = golden_alone(tmp_path)
    one = value["tests"]["wets"]
    second = tmp_path / "second.tgt"
    second.write_text("Buch\n" * 9 + "\n", encoding="utf-8")  # the last line has one reference
    value["tests"]["wets2"] = {**one, "target": [one["target"], str(second)]}
    made = prepared(tmp_path, value)
    said = ["Buch"] * 10
    for seed in (1, 2):
        write_unit(made, "golden", seed, translations={"wets": said, "wets2": said}, scores=[])
    units = read_units(made)
    rows = write_results(made, units)
    actual = {(row["test"], row["metric"]): row for row in rows if row["seed"] == 1}
    assert len(actual) == 6
    assert actual["wets", "exact_match"]["value"] == 0
    assert actual["wets2", "exact_match"]["value"] == 90
    assert "nrefs:1|" in actual["wets", "suggestion_bleu"]["signature"]
    assert "nrefs:var|" in actual["wets2", "suggestion_bleu"]["signature"]
    page = report_page(made, units, compare_arms(made, units), [])
    assert "exact match, %" in page
    assert "&lt;MASK_REP&gt;" in page


def test_test_sources_in_the_training_data_are_refused_by_name_and_number(tmp_path):
    value = golden_alone(tmp_path)
    write_golden(tmp_path, "golden", range(1_990, 2_003))
    with pytest.raises(ConfigError) as caught:
        prepared(tmp_path, value)
    assert str(caught.value).startswith(
        "tests.wets: 3 of its segments are in the training data of arms.golden, the first "
        "'house tree tree river 2001'"
    )


def test_those_of_a_later_stage_are_refused_too_or_left_out(tmp_path):
    value = golden_alone(tmp_path)
    later = write_golden(tmp_path, "later", range(1_990, 2_003))
    value["arms"]["two"] = {
        **value["arms"]["golden"],
        "then": [{"data": [later], "steps": 5}],
    }
    with pytest.raises(ConfigError, match=r"3 of its .* the training data of arms\.two\.then\[0\]"):
        prepared(tmp_path, value)
    left = prepare(Ablation.model_validate({**value, "overlap": "leave_out"}), tmp_path / "other")
    assert len(left.passes("two", 1)[0]) == 10
    assert left.arms["two"]["left_out"] == {"of the test sets": 3}


def test_a_run_that_fits_an_aligner_on_test_sources_is_refused_even_if_they_are_left_out(tmp_path):
    value = suggestion_configuration(tmp_path, overlap="leave_out")
    (item,) = value["arms"]["made"]["data"]
    text = tmp_path / "train.en"
    lines = text.read_text(encoding="utf-8").splitlines()
    test = (tmp_path / "test.src").read_text(encoding="utf-8").splitlines()
    text.write_text("\n".join([*lines[:-1], test[0]]) + "\n", encoding="utf-8")
    left = prepared(tmp_path, value)  # random masks are of no aligner
    assert left.arms["made"]["left_out"]["of the test sets"] >= 1
    translations = [line.replace("Baum", "Busch") for line in item_lines(tmp_path)]
    (tmp_path / "train.mt").write_text("".join(translations), encoding="utf-8")
    item["options"] |= {
        "methods": "alignment",
        "translation_input": [str(tmp_path / "train.mt")],
        "max_placeholder_share": 1.0,
        "max_masked_share": 1.0,
    }
    value["arms"]["fitted"] = {"data": [{**item, "options": {**item["options"], "aligner": "hmm"}}]}
    with pytest.raises(
        ConfigError, match=r"tests\.wets: 1 of its .* on which its aligner is fitted"
    ):
        prepared(tmp_path, {**value, "arms": {n: value["arms"][n] for n in ("golden", "fitted")}})


def item_lines(directory):
    """Return the lines of the target side."""
    return (directory / "train.de").read_text(encoding="utf-8").splitlines(keepends=True)


def test_examples_with_a_symbol_are_left_out_of_training_and_refused_in_a_test_set(tmp_path):
    value = golden_alone(tmp_path)
    for name in ("golden", "test"):
        path = tmp_path / f"{name}.src"
        first, *others = path.read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text("".join([f"<sep> {first}", *others]), encoding="utf-8")
        if name == "golden":
            made = prepared(tmp_path, value)
            assert list(made.arms["golden"]["left_out"].values()) == [1]
            assert len(made.passes("golden")[0]) == 39
    with pytest.raises(ConfigError, match=r"^tests\.wets: .*test\.src line 1: one of <sep> "):
        prepared(tmp_path, value)


def test_a_line_without_one_mask_is_named(tmp_path):
    value = golden_alone(tmp_path)
    (tmp_path / "golden.mask").write_text("Baum\n" * 40, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"golden\.mask:1: expected one <MASK_REP>, found 0"):
        prepared(tmp_path, value)


def test_a_first_reference_that_is_empty_beside_another_is_refused(tmp_path):
    value = golden_alone(tmp_path)
    one = value["tests"]["wets"]
    none = tmp_path / "none.tgt"
    none.write_text("\n" * 10, encoding="utf-8")
    one["target"] = [str(none), one["target"]]
    with pytest.raises(
        ConfigError, match=r"tests\.wets: .*none\.tgt line 1: is empty, but another"
    ):
        prepared(tmp_path, value)


def test_a_run_of_another_job_is_refused(tmp_path):
    value = suggestion_configuration(tmp_path)
    made = tmp_path / "made" / "runs"
    prepared(tmp_path, value)
    (run,) = made.iterdir()
    manifest = run / "_manifest.json"
    content = json.loads(manifest.read_bytes())
    manifest.write_text(json.dumps({**content, "job": "bitext"}), encoding="utf-8")
    value["arms"]["other"] = {"data": [{"run": str(run)}]}
    with pytest.raises(ConfigError, match=r"arms\.other\.data\[0\]: .*a run of bitext has no sugg"):
        prepared(tmp_path, value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda v: v.update(task="dance"), "task: expected 'translation' or 'suggestion'"),
        (lambda v: v.update(metrics=["bleu"]), "metrics: there is no bleu of the task suggestion"),
        (lambda v: v["tests"]["wets"].pop("masked"), "tests.wets: masked is missing"),
        (lambda v: v["tests"]["wets"].update(syntax="xml"), "tests.wets: syntax is only for tags"),
        (lambda v: v["arms"]["golden"].update(project={}), "arms.golden: project is only for tags"),
        (
            lambda v: v["arms"]["golden"].update(whitespace_shift=True),
            "arms.golden: whitespace_shift is only for tags",
        ),
        (
            lambda v: v.update(attention={"a": {"source": "x", "target": "y"}}),
            "attention: applies to translations",
        ),
        (lambda v: v["arms"]["golden"]["data"][0].pop("masked"), "arms.golden.data[0]: masked is"),
        (lambda v: v["arms"]["golden"]["data"][0].pop("target"), "source and target must be given"),
        (
            lambda v: v["arms"]["golden"].update(hint_letters=0),
            "arms.golden.hint_letters: expected",
        ),
        (lambda v: v["arms"]["golden"].update(data=[{"masked": "x", "run": "y"}]), "masked needs"),
        (
            lambda v: v["arms"]["made"]["then"][0].update(data=[{"pairs": "x.tsv"}]),
            "arms.made.then[0].data[0]: suggestions come from the job suggest, its runs",
        ),
        (
            lambda v: v.update(start={"data": [{"job": "augment"}], "steps": 5}),
            "start.data[0]: suggestions come from the job suggest, its runs",
        ),
    ],
)
def test_what_is_none_of_suggestions_is_refused_with_its_field(tmp_path, change, said):
    refused(tmp_path, suggestion_configuration(tmp_path), change, said)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda v: v["arms"]["own"].update(hint_letters=1),
            "arms.own: hint_letters is only for the task",
        ),
        (
            lambda v: v["arms"]["own"].update(data=[{"job": "suggest"}]),
            "arms.own.data[0]: the job suggest is only for the task suggestion; give task",
        ),
        (
            lambda v: v["tests"]["help"].update(masked="x"),
            "tests.help: masked is only for the task suggestion",
        ),
        (
            lambda v: v["tests"]["help"].update(target=["x", "y"]),
            "tests.help: several references in target is only for the task suggestion",
        ),
    ],
)
def test_what_is_of_suggestions_alone_is_refused_of_translations(tmp_path, change, said):
    refused(tmp_path, configuration(tmp_path), change, said)


def refused(directory, value, change, said):
    """Check that a changed configuration is refused in one line."""
    change(value)
    path = directory / "ablation.yaml"
    path.write_text(yaml.safe_dump(value, sort_keys=False), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        read_ablation(str(path))
    assert str(caught.value).startswith(f"{path}: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
