"""Finished units become one table, and units that do not belong together are refused."""

import json
import xml.etree.ElementTree as ET

import pytest

from pairweave.models.translation.translation_pairs import Vocabulary
from pairweave.pipelines import cli
from pairweave.pipelines.ablation import comparison, units
from pairweave.pipelines.ablation.ablation_config import Ablation, read_ablation
from pairweave.pipelines.ablation.comparison import (
    compare_arms,
    read_units,
    report_page,
    write_results,
)
from pairweave.pipelines.ablation.machines import encoded
from pairweave.pipelines.ablation.prepared import prepare
from pairweave.pipelines.ablation.units import make_unit
from pairweave.pipelines.process.file_lock import claimed
from pairweave.transforms.errors import ConfigError, InputError
from tests.makers.ablations import (
    SIZE,
    configuration,
    write_configuration,
    write_pairs,
    write_unit,
)


@pytest.fixture
def made(tmp_path):
    return prepare(Ablation.model_validate(configuration(tmp_path)), tmp_path / "made")


def test_results_have_a_line_for_each_unit_test_set_and_metric(made):
    for arm, seed in made.ablation.units():
        write_unit(made, arm, seed)
    write_results(made, read_units(made))
    text = (made.directory / "results.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    keys = [(row["arm"], row["seed"], row["test"], row["metric"]) for row in rows]
    assert len(set(keys)) == len(keys) == 4 * len(made.ablation.used_metrics)
    assert all(row["signature"] for row in rows)
    bleu = next(row["value"] for row in rows if row["metric"] == "bleu")
    assert 0 < bleu < 100


def test_results_are_of_the_chosen_metrics_whatever_a_unit_was_scored_by(tmp_path):
    value = {**configuration(tmp_path), "metrics": ["chrf", "bleu"]}
    made = prepare(Ablation.model_validate(value), tmp_path / "made")
    row = {"test": "help", "value": 1.0, "signature": "x"}
    for arm, names in (("plain", ("bleu", "chrf", "xml_bleu")), ("own", ("bleu", "xml_bleu"))):
        write_unit(made, arm, 1, scores=[{**row, "metric": name} for name in names])
    units = read_units(made)
    rows = write_results(made, units)
    found = [(row["arm"], row["metric"]) for row in rows]
    assert sorted(found) == [(arm, name) for arm in ("own", "plain") for name in ("bleu", "chrf")]
    assert [row["value"] == 1.0 for row in rows] == [True, True, False, False]
    assert [(row.metric, row.arm) for row in compare_arms(made, units)] == [
        (name, arm) for name in ("chrF", "BLEU") for arm in ("plain", "own")
    ]


def test_a_curve_is_the_mean_over_the_seeds(made):
    for seed, losses in ((1, [4.0, 2.0, 1.0]), (2, [2.0, 1.0, 0.0])):
        write_unit(made, "own", seed, losses={"train": losses, "dev": []})
    curves = comparison._curves(made, read_units(made))
    nothing = {"train": [], "dev": []}
    assert curves == {"plain": nothing, "own": {"train": [3.0, 1.5, 0.5], "dev": []}}


def test_a_table_is_made_of_what_is_there(made):
    write_unit(made, "own", 2)
    assert list(read_units(made)) == [("own", 2)]


@pytest.mark.parametrize("key", ["vocabulary", "data", "tests", "size", "aligner"])
def test_a_unit_of_something_else_is_refused(made, key):
    path = write_unit(made, "own", 1, **{key: "other"})
    with pytest.raises(ConfigError) as caught:
        read_units(made)
    assert str(caught.value).startswith(f"{path}: was trained with another {key} than ")


def test_units_of_two_kinds_of_device_are_refused(made):
    write_unit(made, "plain", 1)
    path = write_unit(made, "own", 1, device="NVIDIA H100 bf16")
    with pytest.raises(ConfigError) as caught:
        read_units(made)
    assert f"{path}: was trained on NVIDIA H100 bf16, but plain-1 on cpu" in str(caught.value)


def test_a_file_under_the_name_of_another_unit_is_refused(made):
    write_unit(made, "own", 1).rename(made.directory / "units" / "own-2.json.gz")
    with pytest.raises(ConfigError, match="belongs to the unit own/1"):
        read_units(made)


def test_units_that_went_on_from_other_weights_are_refused(made):
    write_unit(made, "plain", 1, start_weights="a" * 64)
    path = write_unit(made, "own", 1, start_weights="b" * 64)
    with pytest.raises(ConfigError, match="started from other weights than plain-1") as caught:
        read_units(made)
    assert str(caught.value).startswith(f"{path}: ")


def test_a_damaged_unit_is_named(made):
    write_unit(made, "own", 1).write_bytes(b"\x1f\x8b")
    with pytest.raises(ConfigError, match=r"own-1\.json\.gz: is damaged"):
        read_units(made)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"scores": 5}, "scores: expected a list, found 5"),
        ({"scores": [{"test": "help"}]}, "scores[0].metric: is missing"),
        ({"translations": ["a"]}, "translations: expected an object"),
        ({"translations": {"help": ["a"]}}, "translations: not a line for each segment"),
        ({"translations": {}}, "translations: not a line for each segment"),
        ({"run": {}}, "run.seconds: is missing"),
        ({"losses": None}, "losses: expected an object"),
        ({"device": 5}, "device: expected text, found 5"),
        ({"losses": {"train": [1.0], "dev": ["a"]}}, "losses.dev[0]: expected a number"),
    ],
)
def test_a_wrong_field_of_a_unit_is_named(made, changed, said):
    write_unit(made, "own", 1, **{"device": "cpu", **changed}).rename(
        path := made.directory / "units" / "own-1.json.gz"
    )
    with pytest.raises(ConfigError) as caught:
        read_units(made)
    assert str(caught.value).startswith(f"{path}: {said}")


def test_units_of_two_versions_and_curves_of_two_lengths_are_refused(made):
    write_unit(made, "plain", 1, version=2)
    path = write_unit(made, "own", 1, version=1)
    with pytest.raises(ConfigError, match=f"{path}: was trained by another version"):
        read_units(made)
    path = write_unit(made, "own", 1, version=2, losses={"train": [3.0], "dev": []})
    with pytest.raises(ConfigError, match=f"{path}: losses: has another number of points"):
        read_units(made)


@pytest.mark.parametrize(
    ("key", "other", "said"),
    [
        ("device", "NVIDIA A100 bf16", "on another kind of device than own/2 would be"),
        ("start_weights", "0" * 64, "from another start model than own/2 would be"),
        ("version", 9, "by another version of pairweave than own/2 would be"),
    ],
)
def test_a_unit_that_could_not_be_compared_is_not_trained(made, key, other, said):
    made_of = {"device": "cpu x86_64 AVX2 fp32", "start_weights": None, "version": 2}
    now = {**made_of, "arm": "own", "seed": 2}
    units._refuse_other_kind(made, {**now, key: other})  # no unit is finished
    path = write_unit(made, "plain", 2, version=2)
    units._refuse_other_kind(made, now)
    with pytest.raises(ConfigError, match=rf"^{path}: was trained {said} .*{other}"):
        units._refuse_other_kind(made, {**now, key: other})


def test_the_report_names_the_packages_of_all_units(made):
    write_unit(made, "plain", 1)
    write_unit(made, "own", 1, packages={"torch": "2"})
    units = read_units(made)
    assert "torch 1; torch 2" in report_page(made, units, compare_arms(made, units), [])


def test_a_segment_that_is_too_long_for_the_models_is_refused_before_training(tmp_path):
    value = configuration(tmp_path)
    with (tmp_path / "test.en").open("a") as source, (tmp_path / "test.de").open("a") as target:
        source.write(f"{'tree 7 ' * 300}\n")
        target.write("Baum\n")
    made = prepare(Ablation.model_validate(value), tmp_path / "made")
    said = r"tests\.help: segment 11 has \d+ pieces, and the models of arms\.own read at most 512"
    with pytest.raises(ConfigError, match=said):
        units._check_lengths(made, "own", Vocabulary(made.vocabulary))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (None, r"words\.en: cannot be read: no such file"),
        ("tree\n\n", r"words\.de: ends after line 1, but .*words\.en continues"),
        (
            f"{'tree 7 ' * 300}\n",
            r"attention\.words: .*words\.en line 1 has \d+ pieces, and the attention of the models "
            r"covers at most 512; leave the line out of both files",
        ),
    ],
)
def test_pairs_without_attention_are_refused_before_training(tmp_path, source, said):
    words = write_pairs(tmp_path, "words", range(1), tagged=False)
    files = {side: words[side] for side in ("source", "target")}
    value = configuration(tmp_path, attention={"words": files})
    made = prepare(Ablation.model_validate(value), tmp_path / "made")
    vocabulary = Vocabulary(made.vocabulary)
    pairs = ["tree tree tree tree 0"], ["Baum Baum Baum Baum 0"]
    assert units._attended_pairs(made, vocabulary) == {"words": pairs}
    (tmp_path / "words.en").unlink()
    if source is not None:
        (tmp_path / "words.en").write_text(source)
    with pytest.raises((ConfigError, InputError), match=said):
        units._attended_pairs(made, vocabulary)


def test_a_learning_curve_without_a_segment_that_is_short_enough_is_refused(tmp_path):
    for name, line in (("dev.en", "tree 7 " * 90), ("dev.de", "Baum")):
        (tmp_path / name).write_text(f"{line}\n")
    dev = {"source": str(tmp_path / "dev.en"), "target": str(tmp_path / "dev.de")}
    value = configuration(tmp_path, dev=dev)
    made = prepare(Ablation.model_validate(value), tmp_path / "made")
    said = "dev: no segment has a loss to measure: all are empty or longer than 60 pieces"
    with pytest.raises(ConfigError, match=said):
        units._dev_pairs(made, "own", Vocabulary(made.vocabulary))


def test_an_arm_whose_pairs_are_all_too_long_is_named(tmp_path):
    value = configuration(tmp_path, size={**SIZE, "max_pieces": 4})
    made = prepare(Ablation.model_validate(value), tmp_path / "made")
    said = r"arms\.own: no pair is left to train on: all are empty or longer than 4 pieces"
    with pytest.raises(ConfigError, match=said):
        encoded("arms.own", made.passes("own"), Vocabulary(made.vocabulary), made.ablation.model)


def test_equal_arms_differ_by_nothing_and_the_report_is_well_formed(made):
    for arm, seed in made.ablation.units():
        write_unit(made, arm, seed)
    units = read_units(made)
    rows = compare_arms(made, units)
    own = [row for row in rows if row.arm == "own"]
    assert {(row.difference.mean, row.difference.is_significant) for row in own} == {(0.0, False)}
    assert {row.spread.seeds for row in rows} == {2}
    page = report_page(made, units, rows, ["plain/3"])
    ET.fromstring(page.removeprefix("<!DOCTYPE html>\n"))
    for text in ("Not finished: plain/3", "XML BLEU", "Learning curves", "&lt;a_0&gt;", "Haus"):
        assert text in page


def test_a_difference_is_over_all_seeds(made):
    for arm, seed in made.ablation.units():
        write_unit(made, arm, seed)
    (made.directory / "units" / "own-2.json.gz").unlink()
    write_unit(made, "own", 2, translations={"help": ["Haus"] * 10})
    rows = compare_arms(made, read_units(made))
    (bleu,) = (row for row in rows if (row.metric, row.arm) == ("chrF", "own"))
    assert bleu.difference.mean < -5
    assert bleu.difference.margin > 0
    low, high = bleu.cells()["95 % interval"].split(" to ")
    assert float(low) < bleu.difference.mean < float(high)


def test_the_report_shows_tagged_and_plain_segments_of_the_first_seed(tmp_path):
    value = configuration(tmp_path)
    value["tests"]["help"] = write_pairs(tmp_path, "more", range(2_000, 2_020))
    made = prepare(Ablation.model_validate(value), tmp_path / "made")
    for arm, seed in made.ablation.units():
        write_unit(made, arm, seed)
    shown = comparison._sentences(made, read_units(made))["help"]
    assert [("<a_0>" in one.source) for one in shown] == [True] * 6 + [False] * 2
    assert len({one.source for one in shown}) == 8
    for one in shown:
        whole = one.reference.split()
        assert one.outputs == dict.fromkeys(("plain", "own"), " ".join(whole[:-1]))


def test_tags_are_projected_onto_what_a_model_writes_without_any(tmp_path):
    value = configuration(tmp_path)
    value["arms"]["plain"]["project"] = {}
    made = prepare(Ablation.model_validate(value), tmp_path / "made")
    seen = []

    def translated(texts):
        seen.extend(texts)
        return [f"<a_3>{text}</a_3>" for text in texts]  # such a tag is text to these models

    test, align = made.tests["help"], made.hmm("plain").align
    outputs = units._translate(made, "plain", test, translated, align)
    assert seen == [source.replace("<a_0>", "").replace("</a_0>", "") for source in test.sources]
    assert [[text.count(tag) for tag in ("<a_0>", "</a_0>", "<a_3>")] for text in outputs] == [
        [text.count("<a_0>"), text.count("</a_0>"), 0] for text in test.sources
    ]


def test_the_learning_curve_of_a_projected_arm_has_no_tags(tmp_path):
    value = configuration(tmp_path, dev=write_pairs(tmp_path, "dev", range(3_000, 3_010)))
    value["arms"]["plain"]["project"] = {}
    made = prepare(Ablation.model_validate(value), tmp_path / "made")
    vocabulary = Vocabulary(made.vocabulary)
    plain, own = (units._dev_pairs(made, arm, vocabulary) for arm in ("plain", "own"))
    tags = {number for number, name in enumerate(vocabulary.pieces) if "a_0>" in name}
    assert len(tags) >= 2
    for side in ("sources", "targets"):
        found = [
            [bool(tags & set(text.tolist())) for text in getattr(one, side)] for one in (plain, own)
        ]
        assert found == [[False] * 10, [number % 2 == 0 for number in range(10)]]


def test_a_finished_unit_is_not_trained_again_and_a_claimed_one_is_left_alone(made):
    path = write_unit(made, "own", 1)
    before = path.read_bytes()
    assert make_unit(made, "own", 1, machine=None)
    assert path.read_bytes() == before
    work = made.directory / "work" / "own-2"
    work.mkdir(parents=True)
    with claimed(work, "move it") as is_ours:
        assert is_ours
        assert not make_unit(made, "own", 2, machine=None)


def test_the_command_merges_without_training(tmp_path, capsys):
    path = write_configuration(tmp_path)
    made = prepare(read_ablation(str(path)), tmp_path / "made")
    write_unit(made, "plain", 1)
    words = ["ablate", "--config", str(path), "--output", str(made.directory)]
    assert cli.main([*words, "--merge_only", "true"]) == 0
    said = capsys.readouterr().out
    assert "1 of 4 units finished" in said
    assert "not finished: own/1, plain/2, own/2" in said
    assert (made.directory / "report.html").exists()


def test_the_command_refuses_an_empty_output(tmp_path, monkeypatch, capsys):
    path = write_configuration(tmp_path)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert cli.main(["ablate", "--config", str(path), "--output", "", "--merge_only", "true"]) == 2
    assert "output: " in capsys.readouterr().err
    assert not list((tmp_path / "here").iterdir())


def test_the_command_refuses_an_unknown_unit_with_status_2(tmp_path, capsys):
    path = write_configuration(tmp_path)
    words = ["ablate", "--config", str(path), "--output", str(tmp_path / "made")]
    assert cli.main([*words, "--only", "gold/1"]) == 2
    assert "--only gold/1: there is no arm 'gold'" in capsys.readouterr().err
